"""How good do pattern tables become by self-play alone, and how fast do they learn?

    python benchmarks/ntuples.py connect_four --minutes 10 [--depth 6] [--out c4.safetensors]
    python benchmarks/ntuples.py connect_four --file c4.safetensors         measures a file, learns nothing

Connect Four against exact values (BitBully): in how many of 812 positions the choice keeps the outcome, 1-ply and by
alpha-beta; in how many of 67,557 positions after 8 plies the evaluator has the right sign (draws left out). The data
are read from ../shared/reference; where they are absent, it says so and ends. `othello_league.py` measures Othello.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from evallearn import get_game
from evallearn.core.game import Game, State
from evallearn.core.search import Limits
from evallearn.core.shares import Share, counted
from evallearn.evaluators import PatternEval, load_evaluator, save
from evallearn.evaluators.batch import evaluate_words
from evallearn.search import AlphaBeta
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import Progress

REFERENCE = Path(__file__).resolve().parents[2] / "shared/reference"
REPORT_EVERY = 30.0
"""Seconds between two lines."""


# --- Connect Four ----------------------------------------------------------------------------------------------------
def solved_positions(game: Game) -> list[tuple[State, dict[Any, int]]]:
    """(position, 1, 0 or -1 of every move)."""
    found = []
    with open(REFERENCE / "connect_four/c4_allmoves_dev.csv", newline="") as file:
        for row in csv.DictReader(file):
            s = game.from_text(row["moves"])
            scores = {a: int(row[f"m{game.action_to_text(s, a)}"]) for a in game.actions(s)}
            found.append((s, {a: (v > 0) - (v < 0) for a, v in scores.items()}))
    return found


def keeps_by_one_ply(evaluator: PatternEval, positions: list[tuple[State, dict[Any, int]]]) -> Share:
    """The share of positions in which the action with the best evaluator after it keeps the outcome."""
    game, kept = evaluator.game, 0
    after = [game.result(s, a) for s, values in positions for a in values]
    worth = iter((-evaluator.evaluate_batch(after, [game.to_play(s) for s in after])).tolist())
    for _, values in positions:
        seen = {a: next(worth) for a in values}
        kept += values[max(seen, key=seen.__getitem__)] == max(values.values())
    return counted(kept, len(positions))


def keeps_by_search(evaluator: PatternEval, positions: list[tuple[State, dict[Any, int]]], depth: int) -> Share:
    """The same for alpha-beta of that depth."""
    search = AlphaBeta(evaluator.game, evaluator)
    kept = [values[search.search(s, Limits(depth=depth)).action] == max(values.values()) for s, values in positions]
    return counted(sum(kept), len(kept))


def right_signs(evaluator: PatternEval) -> Share:
    """The share of the won and lost positions after 8 plies whose sign the evaluator has."""
    game, words, signs = evaluator.game, [], []
    with gzip.open(REFERENCE / "connect_four/c4_8ply_67557.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            words.append(game.encode(game.from_text(row["moves"])))
            signs.append(np.sign(int(row["score"])))
    values, wanted = evaluate_words(evaluator, np.array(words, np.uint64)), np.array(signs)
    decided = wanted != 0
    right = np.sign(values)[decided] == wanted[decided]
    return counted(int(right.sum()), len(right))


def measure_connect_four(evaluator: PatternEval, depth: int) -> None:
    positions = solved_positions(evaluator.game)
    print(f"1-ply keeps the outcome in {keeps_by_one_ply(evaluator, positions)} of {len(positions)} positions")
    print(f"alpha-beta depth {depth} keeps it in {keeps_by_search(evaluator, positions, depth)}")
    print(f"right sign in {right_signs(evaluator)} of the decided positions after 8 plies")


# --- learning --------------------------------------------------------------------------------------------------------
def learn(game: Game, options: argparse.Namespace) -> PatternEval:
    shape = "linear" if options.games else "constant"
    schedule = Schedule(initial=options.step_size, shape=shape, games=options.games or 0, half_life=options.half_life)
    model = PatternModel(game, options.set, temporal_coherence=options.temporal_coherence)
    how = SelfPlaySettings(
        schedule=schedule, lambda_=options.lambda_, epsilon=options.epsilon, seed=options.seed,
        max_opening_plies=options.max_opening_plies,
    )  # fmt: skip
    trainer = SelfPlayTrainer(model, how)
    positions = solved_positions(game) if game.name == "connect_four" and REFERENCE.is_dir() else None
    last, cpu = [0.0, 0], time.process_time()

    def tell(now: Progress) -> None:
        if now.seconds - last[0] < REPORT_EVERY:
            return
        rate = (now.moves - last[1]) / (now.seconds - last[0])
        last[:] = now.seconds, now.moves
        kept = f", 1-ply keeps {keeps_by_one_ply(model.evaluator(), positions)}" if positions else ""
        print(f"{now.seconds:6.0f} s  {now.games:10,} games  {rate:9,.0f} moves/s  {now.error:.4f}{kept}", flush=True)

    seconds = None if options.games else 60 * options.minutes
    training = trainer.fit(games=options.games, seconds=seconds, on_progress=tell)
    used = time.process_time() - cpu
    print(f"{training.games:,} games, {training.moves:,} moves, {used:.0f} s of one core with all reports")
    return model.evaluator({"name": "patterns"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=["connect_four", "othello"])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--games", type=int, help="instead of minutes; the step shrinks to nothing at the end")
    parser.add_argument("--set")
    parser.add_argument("--file", type=Path, help="measure this evaluator")
    parser.add_argument("--out", type=Path, help="keep what was learned")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--temporal-coherence", action=argparse.BooleanOptionalAction)
    for name in ("step-size", "lambda", "epsilon"):
        parser.add_argument(f"--{name}", type=float, dest="lambda_" if name == "lambda" else name.replace("-", "_"))
    for name, usual in (("half-life", 0), ("seed", 1), ("max-opening-plies", None)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    options = parser.parse_args()
    game = get_game(options.game)
    if not REFERENCE.is_dir():
        print(f"{REFERENCE} is not there: nothing was measured")
        return 0
    evaluator = load_evaluator(options.file, game) if options.file else learn(game, options)
    assert isinstance(evaluator, PatternEval)
    if options.out:
        path = save(evaluator, options.out)
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    if game.name == "connect_four":
        measure_connect_four(evaluator, options.depth)
    return 0


if __name__ == "__main__":
    sys.exit(main())
