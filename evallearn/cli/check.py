"""The command `evallearn check`."""

from __future__ import annotations

from dataclasses import asdict

import click

from evallearn.check import check_game
from evallearn.cli.common import GAME, in_range, json_option, out, report
from evallearn.core.game import Game
from evallearn.core.settings import SEED


@click.command(name="check")
@click.argument("game", type=GAME)
@click.option("--games", type=click.IntRange(1, 10**6), default=10, show_default=True, help="Random games to play.")
@click.option("--seed", type=in_range(SEED), default=0, show_default=True)
@click.option("--every", type=click.IntRange(1, 10**6), default=1, help="Look at every n-th position only.")
@json_option
def command(game: Game, games: int, seed: int, every: int, json_to: str | None) -> None:
    """Verify that GAME (a name, or your own module:Class) keeps the contract, on both backends.

    A check cannot see hidden information: a game that has it must declare hidden_information = True, and is refused.

    Example: evallearn check mygame:MyGame
    """
    done = check_game(game, games=games, seed=seed, every=every)
    backends = " and ".join(done.backends)
    report(
        asdict(done),
        json_to,
        lambda: out.print(
            f"ok {done.game}: {done.games} random games, {done.positions} positions, backends: {backends}"
        ),
    )
