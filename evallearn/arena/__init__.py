"""The arena: who is stronger, by how much, and how sure that is."""

from evallearn.arena.adjudication import Adjudication
from evallearn.arena.bootstrap import Mean, bootstrap_mean
from evallearn.arena.match import MatchConfig, play_match
from evallearn.arena.openings import Opening, openings
from evallearn.arena.ratings import Rating, bradley_terry
from evallearn.arena.records import GameRecord
from evallearn.arena.result import MatchResult, Tally
from evallearn.arena.sprt import Sprt, SprtState
from evallearn.arena.stats import (
    EloEstimate,
    elo_from_games,
    elo_from_pairs,
    elo_of_score,
    score_interval,
    score_of_elo,
)
from evallearn.arena.tournament import TournamentResult, match_folder, play_tournament

__all__ = [
    "Adjudication",
    "EloEstimate",
    "GameRecord",
    "MatchConfig",
    "MatchResult",
    "Mean",
    "Opening",
    "Rating",
    "Sprt",
    "SprtState",
    "Tally",
    "TournamentResult",
    "bootstrap_mean",
    "bradley_terry",
    "elo_from_games",
    "elo_from_pairs",
    "elo_of_score",
    "match_folder",
    "openings",
    "play_match",
    "play_tournament",
    "score_interval",
    "score_of_elo",
]
