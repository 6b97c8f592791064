"""Othello: `game.py` is the way in."""

from evallearn.games.othello.game import Othello

__all__ = ["Othello"]
