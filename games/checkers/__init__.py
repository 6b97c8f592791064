"""Checkers, or English draughts: `game.py` is the way in."""

from evallearn.games.checkers.game import Checkers

__all__ = ["Checkers"]
