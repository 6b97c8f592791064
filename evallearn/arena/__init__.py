"""The arena: who is stronger, by how much, and how sure that is."""

from evallearn.arena.match import GameRecord, MatchResult, play_match
from evallearn.arena.openings import openings
from evallearn.arena.stats import EloEstimate, elo_from_pairs, elo_of_score, score_interval, score_of_elo

__all__ = [
    "EloEstimate",
    "GameRecord",
    "MatchResult",
    "elo_from_pairs",
    "elo_of_score",
    "openings",
    "play_match",
    "score_interval",
    "score_of_elo",
]
