"""Chess: `game.py` is the way in."""

from evallearn.games.chess.game import Chess

__all__ = ["Chess"]
