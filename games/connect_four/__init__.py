"""Connect Four: `game.py` is the way in."""

from evallearn.games.connect_four.game import ConnectFour

__all__ = ["ConnectFour"]
