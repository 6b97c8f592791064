"""Adds a trained Eval to the zoo, with its card: a match against every hand-written heuristic, and its calibration.

    python benchmarks/zoo_card.py connect_four linear runs/connect_four-seed1/evaluators/linear.safetensors
    python benchmarks/zoo_card.py othello patterns o.safetensors --minutes 30 --limit nodes=2000 --pairs 400

Of an Eval in a run of `evallearn learn` the command, the records and the minutes are read from the run; else the
command is the one in the file's header, and --minutes must be given. --out writes elsewhere than into evallearn/zoo.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from evallearn import get_game
from evallearn.agents import parse_limits
from evallearn.core.checked import read_checked
from evallearn.errors import EvallearnError, SpecError
from evallearn.evaluators import FeatureEval, load_evaluator
from evallearn.evaluators.zoo import zoo_folder
from evallearn.quality.card import PAIRS, add_to_zoo, make_card


def origin(evaluator: FeatureEval, path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Command, minutes and what was learned from: as given, or by the run, or by the file's header."""
    made, result = evaluator.made, path.parent.parent / "result.json"
    run = read_checked(result, "the command of its run writes it again") if result.is_file() else {}
    seconds = sum(run.get("seconds", {}).values())
    command = options.command or run.get("command") or made.get("command")
    minutes = options.minutes if options.minutes is not None else seconds / 60 if run else None
    if command is None or minutes is None:
        raise SpecError(f"{path} does not tell its {'command' if command is None else 'minutes'}: give it as an option")
    counts = {"games": sum(g.get("games", 0) for g in run["generations"]), "records": run["records"]} if run else made
    learned_from = {k: int(counts[k]) for k in ("games", "records", "moves") if k in counts}
    return {"command": command, "minutes": minutes, "learned_from": learned_from}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", type=get_game)
    parser.add_argument("name")
    parser.add_argument("file", type=Path)
    parser.add_argument("--command", help="What made the file.")
    parser.add_argument("--minutes", type=float, help="How long that took, by the clock.")
    parser.add_argument("--limit", type=parse_limits, help="Of both sides, such as nodes=2000 or depth=4.")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=1, help="Of the openings.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=zoo_folder())
    options = parser.parse_args()
    evaluator = load_evaluator(options.file, options.game)
    card = make_card(
        evaluator, options.name, **origin(evaluator, options.file, options), limits=options.limit,
        pairs=options.pairs, seed=options.seed, workers=options.workers,
    )  # fmt: skip
    path = add_to_zoo(evaluator, card, options.out)
    print(json.dumps(json.loads(path.with_suffix(".json").read_text()), indent=2))


if __name__ == "__main__":
    try:
        main()
    except EvallearnError as error:
        sys.exit(f"error: {error}")
