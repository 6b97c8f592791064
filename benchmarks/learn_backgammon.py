"""Learns the backgammon net of the zoo from nothing: runs of `evallearn td`, each from where the last one ended.

    python benchmarks/learn_backgammon.py --out net.safetensors --run runs/backgammon

A net of one hidden layer learns by lambda-returns of its games, with steps that stay large. Then it teaches a larger
one of two layers, which learns from means over all rolls with the luck taken off, several times from each round of
games; and that one goes on by itself, and grows. The same command makes the same weights, whatever the number of
threads; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strength_command import ended

from evallearn import get_game
from evallearn.evaluators import save_evaluator
from evallearn.runs.td import TdRun
from evallearn.train.neural import NeuralTrainer

GAME = "backgammon,features=tesauro"
ROUNDS: dict[str, Any] = {"batch_size": 512, "games_per_round": 1000, "final_rate": 0.1}
EXACT: dict[str, Any] = {"exact_from": 0.0, "lambda_": 0.6, "games_per_round": 4000, "epochs": 8}
"""Where targets are means over all rolls, positions are dear, and each is learned from several times."""


@dataclass(frozen=True)
class Stage:
    """Games, and what differs from the usual settings."""

    games: int
    settings: dict[str, Any]
    begins_anew: bool = False
    """The net from before is the teacher of a new one, instead of going on itself."""


STAGES = (
    Stage(300_000, {"hidden": (160,), "seed": 1, "horizon": 0}),
    Stage(20_000, {"hidden": (256, 32), "seed": 2} | EXACT, begins_anew=True),
    *(Stage(20_000, {"learning_rate": 1e-3, "seed": seed} | EXACT) for seed in (3, 4, 5)),
    # A net that has become good learns from many games at once, or it would learn a few by heart.
    Stage(
        48_000,
        EXACT
        | {"games_per_round": 24_000, "remembered": 2, "epochs": 5}
        | {"hidden": (400, 64), "learning_rate": 1e-3, "seed": 1001},
    ),
    Stage(
        64_000,
        EXACT
        | {"lambda_": 0.7, "games_per_round": 8000, "remembered": 5, "epochs": 2}
        | {"learning_rate": 7e-4, "seed": 7},
    ),
)


def learn(folder: Path, out: Path) -> None:
    """Stage after stage, then the file."""
    game, net, games, moves = get_game(GAME), None, 0, 0
    for number, stage in enumerate(STAGES, 1):
        role = "teacher" if stage.begins_anew else "start"
        trainer = NeuralTrainer(**{**ROUNDS, "horizon": stage.games, **stage.settings, role: net})
        TdRun(game, folder / f"stage-{number}", trainer).learn(games=stage.games, seconds=None, on_look=tell)
        net = trainer.net_
        games, moves = games + trainer.games_, moves + trainer.moves_
    made = {"method": "td", "games": games, "moves": moves, "seed": STAGES[0].settings["seed"]}
    save_evaluator(trainer.evaluator(made).halved(), out)


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the .safetensors file to write")
    parser.add_argument("--run", type=Path, required=True, help="folder for the runs")
    options = parser.parse_args(words)
    return ended(lambda: learn(options.run, options.out))


def tell(point: dict[str, object]) -> None:
    print(f"{point['games']:>11,} games {point['seconds']:7.0f} s  loss {point['loss']:.4f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
