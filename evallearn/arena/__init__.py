"""The arena: who is stronger, by how much, and how sure that is."""

from evallearn.arena.adjudication import Adjudication as Adjudication
from evallearn.arena.bootstrap import bootstrap_mean as bootstrap_mean
from evallearn.arena.match import MatchSettings as MatchSettings
from evallearn.arena.match import play_match as play_match
from evallearn.arena.openings import openings as openings
from evallearn.arena.result import MatchResult as MatchResult
from evallearn.arena.result import Tally as Tally
from evallearn.arena.sprt import Sprt as Sprt
from evallearn.arena.sprt import SprtState as SprtState
from evallearn.arena.tournament import TournamentResult as TournamentResult
from evallearn.arena.tournament import match_folder as match_folder
from evallearn.arena.tournament import play_tournament as play_tournament
