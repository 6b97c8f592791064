"""Tic-tac-toe: `game.py` is the way in."""

from evallearn.games.tic_tac_toe.game import TicTacToe

__all__ = ["TicTacToe"]
