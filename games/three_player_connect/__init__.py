"""Three-player connect: `game.py` is the way in."""

from evallearn.games.three_player_connect.game import ThreePlayerConnect

__all__ = ["ThreePlayerConnect"]
