"""2048: `game.py` is the way in."""

from evallearn.games.twenty_forty_eight.game import TwentyFortyEight

__all__ = ["TwentyFortyEight"]
