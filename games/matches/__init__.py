"""Matches: `game.py` is the way in."""

from evallearn.games.matches.game import Matches

__all__ = ["Matches"]
