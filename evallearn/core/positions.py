"""Positions as people write them."""

from __future__ import annotations

from evallearn.core.game import Game, State

START = "start"
"""The position in which the game begins. No game may use this word for another one; `check_game` looks."""


def read_position(game: Game, text: str) -> State:
    """Return the position that `text` says: `start`, or one in the game's notation. Raises BadNotation."""
    return game.initial() if text.strip() == START else game.from_text(text)
