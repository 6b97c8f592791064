"""What are the pieces of chess worth? Learned from zero by TreeStrap, then by texel from games of what was learned.

    python benchmarks/material.py [--games 4000] [--depth 2] [--records 6000] [--seed 1]

An evaluator of the five kinds of pieces, of where kings stand and of passed pawns, the same in all phases, begins with
weights of 0 and plays against itself: with pieces alone it could not mate, and a queen more would be a draw; and what a
pawn is worth that will soon be a queen would be booked on all pawns. Then it plays games that are recorded, and the
outcomes are fitted where all exchanges are over. Books say 1, 3, 3, 5, 9.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time

import numpy as np

from evallearn import get_game
from evallearn.agents import SearchAgent
from evallearn.core.search import Limits
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.evaluators import LinearEval
from evallearn.train import ArrayStream, LinearFitter
from evallearn.train.leaves import QuietStream
from evallearn.train.models.linear import LinearModel
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import Progress

PIECES = ("pawns", "knights", "bishops", "rooks", "queens")
OTHERS = ("king_centre", "lone_king", "passed_pawns", "passed_advance")
BOOK = np.array([1.0, 3.0, 3.0, 5.0, 9.0])
REPORT_EVERY = 20.0
"""Seconds between two lines."""


def tell(name: str, weights: np.ndarray) -> None:
    ratio = weights / weights[0]
    worst = float(np.max(np.abs(ratio / BOOK - 1.0)))
    order = ratio[0] < min(ratio[1], ratio[2]) and max(ratio[1], ratio[2]) < ratio[3] < ratio[4]
    shown = ", ".join(f"{piece} {r:.2f}" for piece, r in zip(PIECES, ratio, strict=True))
    print(f"{name}: {shown}; {'in order' if order else 'NOT in order'}, {worst:.0%} from the books at most", flush=True)


def by_treestrap(options: argparse.Namespace) -> LinearEval:
    game = get_game("chess")
    model = LinearModel(game, features=PIECES + OTHERS, per_phase=False)
    settings = SelfPlaySettings(
        target="treestrap", depth=options.depth, epsilon=options.epsilon, max_opening_plies=options.max_opening_plies,
        seed=options.seed, schedule=Schedule(initial=options.step_size, shape="linear", games=options.games),
    )  # fmt: skip
    start, last = time.perf_counter(), [0.0]

    def report(now: Progress) -> None:
        if now.seconds - last[0] > REPORT_EVERY:
            last[0] = now.seconds
            tell(f"{now.seconds:5.0f} s, {now.games:,} games", model.weights[0, :5])

    training = SelfPlayTrainer(model, settings).fit(games=options.games, on_progress=report)
    seconds = time.perf_counter() - start
    tell(
        f"treestrap, {training.games:,} games, {training.moves:,} moves, {seconds / 60:.1f} min",
        model.weights[0, :5],
    )
    return model.evaluator({"name": "material"})


def by_texel(evaluator: LinearEval, options: argparse.Namespace) -> None:
    game, start = evaluator.game, time.perf_counter()
    agent = SearchAgent(game, evaluator, Limits(depth=2), random_ties=True)
    config = RecordSettings(games=options.records, seed=options.seed, opening_plies=12, epsilon=0.0)
    with tempfile.TemporaryDirectory() as folder:
        generate_records(folder, game, [agent, agent], config, workers=options.workers)
        batches = list(QuietStream(Dataset(folder, game=game), evaluator).batches("all"))
    x, y, of = (np.concatenate([getattr(b, k) for b in batches]) for k in ("features", "outcome", "game"))
    columns = [game.feature_names.index(name) for name in PIECES + OTHERS]
    fitted = LinearFitter().fit(ArrayStream(x[:, columns], y, game=of, test_share=0.0))
    seconds = time.perf_counter() - start
    tell(f"texel, {options.records:,} games, {len(y):,} positions, {seconds / 60:.1f} min", fitted.weights_[0, :5])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--step-size", type=float, default=0.05)
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--max-opening-plies", type=int, default=12)
    parser.add_argument("--records", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    by_texel(by_treestrap(options), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
