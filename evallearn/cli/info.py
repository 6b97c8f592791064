"""evallearn info"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from evallearn.checked import read_checked
from evallearn.cli.common import json_option, out, report
from evallearn.errors import DataError
from evallearn.evaluators import read_header


@click.command(name="info")
@click.argument("path", type=click.Path(path_type=Path))
@json_option
def command(path: Path, json_to: str | None) -> None:
    """What is in an evaluator file, a folder of records or a run.

    Example: evallearn info runs/connect_four-seed1/evaluators/linear.safetensors
    """
    figures = folder_info(path) if path.is_dir() else read_header(path)
    report(figures, json_to, lambda: out.print_json(json.dumps(figures)))


def folder_info(path: Path) -> dict[str, Any]:
    """The manifest of the records, or the result of the run."""
    if (path / "result.json").exists():
        return read_checked(path / "result.json", "the command of this run writes it again")
    from evallearn.data import Dataset

    if not (path / "records").exists() and not (path / "manifest.json").exists():
        raise DataError(f"{path} holds neither records nor a finished run: give a folder made by selfplay or learn")
    dataset = Dataset([path])
    return {
        "records": dataset.n_records,
        "games": dataset.n_games,
        "features": list(dataset.feature_names),
        "checksum": dataset.checksum,
    }
