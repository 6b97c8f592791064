"""Learns the backgammon net of the zoo from nothing: four runs of `evallearn td`, each from where the last one ended.

    python benchmarks/learn_backgammon.py --out net.safetensors --run runs/backgammon

The rate hardly falls in the first, by half in the second, and to nearly nothing in the others; the last one learns
from means over all rolls. The same command makes the same weights, whatever the number of threads; a run that was
stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from evallearn import get_game
from evallearn.errors import EvallearnError
from evallearn.evaluators import load_evaluator, save_evaluator
from evallearn.learn.td import TdRun
from evallearn.train.neural import NeuralTrainer

GAME = "backgammon,features=tesauro"
ROUNDS: dict[str, Any] = {"batch_size": 512, "games_per_round": 1000, "final_rate": 0.02}
EXACT = {"batch_size": 256, "games_per_round": 500}
"""Where targets are means over all rolls, positions are dear."""
STAGES: tuple[tuple[int, dict[str, Any]], ...] = (
    (360_000, {"hidden": (160,), "horizon": 2_400_000, "seed": 1}),
    (360_000, {"learning_rate": 1.5e-3, "horizon": 800_000, "seed": 2}),
    (160_000, {"learning_rate": 8e-4, "horizon": 160_000, "seed": 3}),
    (25_000, {"learning_rate": 1e-3, "horizon": 25_000, "exact_from": 0.0, "lambda_": 0.0, "seed": 4} | EXACT),
)
"""Games, and what differs from the usual settings."""


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the .safetensors file to write")
    parser.add_argument("--run", type=Path, required=True, help="folder for the runs")
    options = parser.parse_args(words)
    game, net = get_game(GAME), None
    try:
        for number, (games, settings) in enumerate(STAGES, 1):
            trainer = NeuralTrainer(**{**ROUNDS, **settings}, start=net)
            run = TdRun(game, options.run / f"stage-{number}", trainer)
            figures = run.learn(games=games, seconds=None, on_look=tell)
            net = load_evaluator(run.folder / figures["files"]["net"], game)
        save_evaluator(net, options.out)  # type: ignore[arg-type]  # the stages have made one
    except EvallearnError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def tell(point: dict[str, object]) -> None:
    print(f"{point['games']:>11,} games {point['seconds']:7.0f} s  loss {point['loss']:.4f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
