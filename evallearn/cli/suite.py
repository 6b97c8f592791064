"""The command `evallearn suite`."""

from __future__ import annotations

from pathlib import Path

import click

from evallearn.agents import parse_limits
from evallearn.cli.common import GAME, Steps, console, in_range, json_option, out, progress_bars, report, workers_option
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.search import Limits
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.play.seats import default_agent, make_evaluator
from evallearn.quality import Suite, make_suite, reference_depth, write_suite
from evallearn.quality.make import SAMPLE, draw

COMPILED_NODES, PLAIN_NODES = 100_000, 2_000
"""For each position, on average, unless `--by` says otherwise: a fraction of a second."""
EXACT = "exact"


@click.command(name="suite")
@click.argument("game", type=GAME)
@click.option(
    "--out", "path", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The .jsonl file to write."
)
@click.option("--positions", type=click.IntRange(1, 1_000_000), default=500, show_default=True)
@click.option(
    "--by",
    metavar="LIMITS",
    help="How the judge searches: depth=10 or nodes=100000; exact: only what is solved.  [default: a depth that takes "
    "a fraction of a second for each position]",
)
@click.option(
    "--eval",
    "evaluator",
    metavar="EVAL",
    help="With which the judge searches: zero, handwritten:NAME or a file.  [default: the game's last heuristic]",
)
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@workers_option
@json_option
def command(
    game: Game,
    path: Path,
    positions: int,
    by: str | None,
    evaluator: str | None,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Make positions of GAME with the value of every move, for `evallearn quality`.

    They come from games with random openings, one random move in five and the others by a shallow search: one position
    from each third of a game, all different, unfinished, with a choice. A deep search judges every move; what it proves
    is marked as exact.

    Example: evallearn suite connect_four --out c4.jsonl --positions 500 --by depth=10
    """
    judge = make_evaluator(evaluator or default_agent(game), game, trust=FULL_TRUST)
    with progress_bars() as steps:
        made = made_suite(steps, game, judge, by, positions=positions, seed=seed, workers=workers)
    write_suite(made, path)
    report(suite_facts(made, path), json_to, lambda: show(made, path, positions))


def made_suite(
    steps: Steps, game: Game, judge: Evaluator, by: str | None, *, positions: int, seed: int, workers: int
) -> Suite:
    """Make a new suite, with progress; `by` is as on the command line."""
    limits = None if by == EXACT else parse_limits(by) if by else usual_limits(game, judge, seed)
    with steps.step("draw positions", positions) as drawn, steps.step("judge them", positions) as judged:
        return make_suite(
            game,
            judge,
            limits,
            positions=positions,
            seed=seed,
            workers=workers,
            on_drawn=drawn,
            on_judged=judged,
        )


def usual_limits(game: Game, judge: Evaluator, seed: int) -> Limits:
    """Return a depth that takes a fraction of a second for each position."""
    states = [game.from_text(d.position) for d in draw(game, judge, SAMPLE, seed=seed)]
    return Limits(depth=reference_depth(judge, states, nodes_for(judge)))


def nodes_for(judge: Evaluator) -> int:
    """Return the number of nodes that a search visits in a fraction of a second."""
    return PLAIN_NODES if judge.kernel() is None else COMPILED_NODES


def suite_facts(suite: Suite, path: Path | None) -> JsonDict:
    """Return what a suite is, in figures."""
    return {
        "game": suite.game.name,
        "file": None if path is None else str(path),
        "by": suite.by,
        "positions": len(suite.items),
        "exact": suite.n_exact,
    }


def show(suite: Suite, path: Path, wanted: int) -> None:
    if len(suite.items) < wanted:
        console.print(f"no more than {len(suite.items)} different positions were found, not {wanted}")
    out.print(f"{path}: {len(suite.items)} positions of {suite.game.name}, judged by {suite.by}; {suite.n_exact} exact")
