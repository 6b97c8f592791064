"""The command `evallearn perft`."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import click

from evallearn.cli.common import GAME, console, json_option, report
from evallearn.cli.positions import position_of
from evallearn.core.game import Game, State


def plain_perft(game: Game, s: State, depth: int) -> int:
    """Return the number of positions at exactly `depth`, by the Python backend."""
    if depth == 0:
        return 1
    return sum(plain_perft(game, child, depth - 1) for child in game.perft_children(s))


@click.command(name="perft")
@click.argument("game", type=GAME)
@click.argument("depth", type=click.IntRange(0, 60))
@click.option("--position", metavar="TEXT", help="Start from this position instead of the initial one.")
@click.option("--plain", is_flag=True, help="Count on the Python backend.")
@json_option
def command(game: Game, depth: int, position: str | None, plain: bool, json_to: str | None) -> None:
    """Count the positions that lie exactly DEPTH plies ahead; games that ended earlier count nothing.

    Example: evallearn perft othello 9
    """
    s = position_of(game, position)
    count: Callable[[], int]
    if game.rules is None or plain:
        plain, count = True, lambda: plain_perft(game, s, depth)
    else:
        from evallearn.compiled.game import CompiledGame

        fast = CompiledGame(game)
        fast.perft(s, 0)  # compile outside the clock
        count = lambda: fast.perft(s, depth)  # noqa: E731  # a def would need two names
    start = perf_counter()
    n = count()
    seconds = perf_counter() - start

    def people() -> None:
        console.print(f"{seconds:.3f} s, {n / max(seconds, 1e-9) / 1e6:.1f} M positions/s", style="dim")
        print(n)

    report({"game": game.name, "depth": depth, "count": n, "seconds": seconds}, json_to, people)
