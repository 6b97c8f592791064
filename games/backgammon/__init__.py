"""Backgammon: `game.py` is the way in."""

from evallearn.games.backgammon.game import Backgammon

__all__ = ["Backgammon"]
