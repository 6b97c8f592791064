"""The command `evallearn rollout`."""

from __future__ import annotations

from dataclasses import asdict
from time import perf_counter

import click

from evallearn.arena.rollout import RolledOut, roll_out
from evallearn.cli.common import GAME, console, in_range, json_option, out, report, workers_option
from evallearn.cli.positions import PositionCommand, position_argument, position_of, roll_option
from evallearn.core.game import Game
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.play.seats import default_agent, make_evaluator
from evallearn.search.dice.rollout import MOVES

MOST_OUTCOMES = 12
"""Utilities that are listed; 2048 has thousands."""


@click.command(name="rollout", cls=PositionCommand)
@click.argument("game", type=GAME)
@position_argument
@click.option(
    "--eval", "evaluator", metavar="EVAL",
    help="Who plays all sides and judges the luck: handwritten:NAME, zoo:NAME, a .safetensors file, solved:EVAL.  "
    "[default: the game's last heuristic]",
)  # fmt: skip
@click.option("--games", type=click.IntRange(2, 10**7), default=1296, show_default=True, help="Games to play.")
@click.option(
    "--truncate",
    type=in_range(MOVES),
    metavar="MOVES",
    help="Cut each game after so many moves, and ask the evaluator.",
)
@roll_option
@click.option("--seed", type=in_range(SEED), default=1, show_default=True, help="Of the dice.")
@workers_option
@json_option
def command(
    game: Game,
    position: str | None,
    evaluator: str | None,
    games: int,
    truncate: int | None,
    roll: tuple[int, int] | None,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Play POSITION (or the start) of a game with dice to the end, again and again, and average the results.

    The mean tells what it is worth to the player to move. The evaluator chooses every move, looking at the position
    after it. The luck of every roll, as the same evaluator judges it, is taken off: the mean stays what it is, and
    its standard error becomes much smaller.

    Example: evallearn rollout backgammon 4HPwATDgc/ABMA --eval handwritten:positional --games 360
    """
    s = position_of(game, position, roll)
    judge = make_evaluator(evaluator or default_agent(game), game, trust=FULL_TRUST)
    start = perf_counter()
    found = roll_out(game, judge, s, games=games, seed=seed, truncate=truncate, workers=workers)
    seconds = perf_counter() - start
    figures: dict[str, object] = {
        "game": game.name,
        "position": game.to_text(s),
        "eval": judge.name,
        "seed": seed,
        "truncate": truncate,
        **asdict(found),
        "outcomes": {f"{value:g}": n for value, n in found.outcomes.items()},
        "seconds": seconds,
    }
    report(figures, json_to, lambda: show(found, judge.name, seconds))


def show(found: RolledOut, judge: str, seconds: float) -> None:
    """Print the value, the same without taking luck off, and how games ended."""
    out.print(
        f"{found.value:+.4f} +- {found.standard_error:.4f} to player {found.player}, luck off "
        f"({found.games} games by {judge})"
    )
    out.print(
        f"{found.plain_value:+.4f} +- {found.plain_standard_error:.4f} as it came; taking luck off left "
        f"{found.variance_ratio:.1%} of the variance"
    )
    ends = [f"{value:g} in {n}" for value, n in found.outcomes.items()]
    more = f", and {len(ends) - MOST_OUTCOMES} more" if len(ends) > MOST_OUTCOMES else ""
    if ends:
        out.print(f"ended with {', '.join(ends[:MOST_OUTCOMES])}{more}")
    if found.cut:
        out.print(f"cut: {found.cut}")
    console.print(f"{seconds:.1f} s", style="dim")
