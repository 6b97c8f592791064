"""What `check_game` asks of a game that tells what is won already (`Game.won`): it is won for certain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evallearn.core.game import Game, State

Expect = Callable[[bool, str, str, str], bool]


def check_won(game: Game, histories: Sequence[Sequence[State]], expect: Expect) -> None:
    """Report through `expect` where a move lowers what is won, or where it is not the utility at the end."""
    if not expect(
        not game.zero_sum, "won", "is for games in which no player's gain is another's loss, and zero_sum is True",
        "leave it out, or declare zero_sum = False",
    ):  # fmt: skip
        return
    for history in histories:
        for player in range(game.n_players):
            _check_history(game, history, player, expect)


def _check_history(game: Game, history: Sequence[State], player: int, expect: Expect) -> None:
    low, high = game.utility_range
    before = low
    for s in history:
        try:
            won = float(game.won(s, player))
        except Exception as error:  # whatever a user's game raises is the finding
            expect(
                False, "won", f"raised {type(error).__name__}: {error} in position {game.to_text(s)!r}",
                "answer a number for every position",
            )  # fmt: skip
            return
        here = f"{won} to player {player} in {game.to_text(s)!r}"
        expect(
            won >= before, "won", f"fell from {before} to {here}",
            "tell only what no later move takes away, from the worst utility on",
        )  # fmt: skip
        if game.is_terminal(s):
            value = game.utility(s, player)
            expect(
                won == value, "won", f"gave {here}, where the game is over and worth {value}",
                "make it the utility there",
            )  # fmt: skip
        else:
            expect(
                won < high, "won", f"gave {here}, which goes on",
                f"leave something to come: less than {high}, the best of utility_range",
            )  # fmt: skip
        before = won
