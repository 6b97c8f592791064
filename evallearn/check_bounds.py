"""What `check_game` asks of a game that offers bounds (`Game.bounds`): its games stay within them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evallearn.core.game import Game, State

Expect = Callable[[bool, str, str, str], bool]


def check_bounds(game: Game, histories: Sequence[Sequence[State]], expect: Expect) -> None:
    """Report through `expect` where a move widens the bounds, a result lies outside, or the players disagree."""
    for history in histories:
        for player in range(game.n_players):
            _check_history(game, history, player, expect)


def _check_history(game: Game, history: Sequence[State], player: int, expect: Expect) -> None:
    before = -math.inf, math.inf
    for s in history:
        try:
            low, high = game.bounds(s, player)
        except Exception as error:  # whatever a user's game raises is the finding
            expect(
                False, "bounds", f"raised {type(error).__name__}: {error} in position {game.to_text(s)!r}",
                "answer (low, high) for every position",
            )  # fmt: skip
            return
        here = f"({low}, {high}) to player {player} in {game.to_text(s)!r}"
        expect(low <= high, "bounds", f"gave {here}", "give the lower one first, and no NaN")
        expect(
            before[0] <= low and high <= before[1], "bounds", f"widened from {before} to {here}",
            "make them hold for every position that can follow",
        )  # fmt: skip
        if game.zero_sum and game.n_players == 2:
            theirs = game.bounds(s, 1 - player)
            expect(
                (-theirs[1], -theirs[0]) == (low, high), "bounds", f"gave {here}, {theirs} to the other player",
                "give each player the opposite of the other's",
            )  # fmt: skip
        before = low, high
    if history and game.is_terminal(history[-1]):
        value = game.utility(history[-1], player)
        expect(
            before[0] <= value <= before[1], "bounds",
            f"gave {before} to player {player} in {game.to_text(history[-1])!r}, which is worth {value}",
            "make them hold the utility of every end that can follow",
        )  # fmt: skip
