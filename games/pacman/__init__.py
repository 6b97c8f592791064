"""Pacman: `game.py` is the way in."""

from evallearn.games.pacman.game import Pacman

__all__ = ["Pacman"]
