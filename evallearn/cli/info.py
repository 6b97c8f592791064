"""The command `evallearn info`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evallearn.cli.common import GAME, json_option, out, report
from evallearn.core.checksum import read_checked
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.errors import DataError
from evallearn.evaluators import verified_header
from evallearn.games import GAMES
from evallearn.registry import load


@click.command(name="info")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--game", type=GAME, help="Does it fit this game of yours?  [default: the shipped game that it names]")
@json_option
def command(path: Path, game: Game | None, json_to: str | None) -> None:
    """Show what is in an evaluator file, a folder of records or a run. What is damaged is refused.

    An evaluator file must also fit its game, as where it is loaded: a shipped one, or your own, if you name it.

    Example: evallearn info runs/connect_four-seed1/evaluators/linear.safetensors
    """
    figures = folder_info(path, game) if path.is_dir() else evaluator_info(path, game)
    by_code = not out.encoding.startswith("utf")
    report(figures, json_to, lambda: out.print_json(json.dumps(figures), ensure_ascii=by_code))


def evaluator_info(path: Path, game: Game | None) -> JsonDict:
    """Return the header of an evaluator file that can be loaded."""
    header = verified_header(path)
    if game is not None or header["game"].partition(",")[0] in GAMES:
        load(path, game)
    return dict(header)


def folder_info(path: Path, game: Game | None) -> JsonDict:
    """Return what the records are, or the result of the run."""
    if (path / "result.json").exists():
        return read_checked(path / "result.json", "the command of this run writes it again")
    from evallearn.data import Dataset

    if not (path / "records").exists() and not (path / "manifest.json").exists():
        raise DataError(f"{path} holds neither records nor a finished run: give a folder made by selfplay or learn")
    dataset = Dataset([path], game=game)
    dataset.verify()
    return {
        "records": dataset.n_records,
        "games": dataset.n_games,
        "features": list(dataset.feature_names),
        "checksum": dataset.checksum,
    }
