"""The command `evallearn selfplay`."""

from __future__ import annotations

from pathlib import Path

import click

from evallearn.agents import SearchAgent, default_limits, parse_evaluator, parse_limits
from evallearn.cli.common import (
    GAME,
    in_range,
    json_option,
    out,
    progress_bars,
    report,
    setting_options,
    workers_option,
)
from evallearn.core.game import Game
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.data import RecordSettings, generate_records


@click.command(name="selfplay")
@click.argument("game", type=GAME)
@click.option(
    "--out", "folder", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the records."
)
@setting_options(RecordSettings, "games")
@click.option(
    "--eval",
    "evaluator",
    default="zero",
    show_default=True,
    metavar="EVAL",
    help="Who plays: zero, handwritten:NAME, zoo:NAME or a .safetensors file.",
)
@click.option("--limit", help="depth=4, nodes=20000, time=0.1, or several.  [default: a depth that suits the game]")
@setting_options(RecordSettings, "opening_plies", "epsilon", "quiet", auto={"opening_plies": "what suits the game"})
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@workers_option
@json_option
def command(
    game: Game,
    folder: Path,
    games: int,
    evaluator: str,
    limit: str | None,
    opening_plies: int | None,
    epsilon: float,
    quiet: bool,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Play GAME against itself and keep one record per ply. The same command resumes what was interrupted.

    Example: evallearn selfplay othello --out runs/mine --games 1000 --eval handwritten:mobility --limit depth=3
    """
    limits = default_limits(game) if limit is None else parse_limits(limit)
    agent = SearchAgent(game, parse_evaluator(evaluator, game, trust=FULL_TRUST), limits, random_ties=True)
    plies = game.opening_plies if opening_plies is None else opening_plies
    config = RecordSettings(games=games, seed=seed, opening_plies=plies, epsilon=epsilon, quiet=quiet)
    with progress_bars() as steps, steps.step(f"self-play {game.name} ({agent.name})", games) as move:
        manifest = generate_records(
            folder,
            game,
            [agent] * game.n_players,
            config,
            workers=workers,
            on_progress=lambda done, total, n: move(done, total),
        )
    figures = {
        "game": game.name,
        "folder": str(folder),
        "games": manifest.games,
        "records": manifest.records,
        "checksum": manifest.checksum,
    }
    report(
        figures,
        json_to,
        lambda: out.print(
            f"{manifest.games} games, {manifest.records} records in {folder} (checksum {manifest.checksum[:12]})"
        ),
    )
