"""Pig: `game.py` is the way in."""

from evallearn.games.pig.game import Pig

__all__ = ["Pig"]
