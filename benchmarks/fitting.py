"""How long does it take to fit 10 million records of 32 features, and how much memory?

The records are made on the way, chunk by chunk from a seed, and made again in every pass, so no method can hold them;
the time to make them is counted, and shown by itself; on a busy machine look at the CPU's. Each method runs in its own
process, so that peaks do not mix.

    python benchmarks/fitting.py --records 10000000 --phases 1 --json fitting.json
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from evallearn.train import Batch, LinearFitter

METHODS = ("ridge", "lasso", "elasticnet", "logistic", "wdl", "sgd")
ROWS = 65536
"""Records of a batch, as `Dataset` has them."""
GAME_LENGTH = 40
TARGET_SECONDS, TARGET_MB = 60.0, 1500.0


class Synthetic:
    """Counts from 0 to 15 as features, every other one without meaning; outcomes drawn from known weights."""

    checksum = "synthetic"

    def __init__(self, n: int, n_features: int, n_phases: int, draws: float) -> None:
        self.n, self.n_features, self.n_phases, self.draws = n, n_features, n_phases, draws
        self.feature_names = tuple(f"f{i}" for i in range(n_features))
        self.weights = (np.resize([0.05, 0.0, -0.03, 0.0], n_features)).astype(np.float32)
        self.seconds = 0.0
        """What it took to make records, in all passes."""

    def batches(self, split: str) -> Iterator[Batch]:
        for start in range(0, self.n, ROWS):
            before = time.perf_counter()
            batch = self._batch(start, min(ROWS, self.n - start))
            self.seconds += time.perf_counter() - before
            yield batch

    def _batch(self, start: int, n: int) -> Batch:
        rng = np.random.Generator(np.random.SFC64(start))
        x = (np.frombuffer(rng.bytes(n * self.n_features), np.uint8) & 15).astype(np.float32).reshape(n, -1)
        u = rng.random((2, n), dtype=np.float32)
        win = (1.0 + np.tanh((x - np.float32(7.5)) @ self.weights)) / 2.0
        y = np.where(u[0] < win, np.float32(1.0), np.float32(-1.0)) * (u[1] >= self.draws)
        number = np.arange(start, start + n)
        return Batch(x, number % GAME_LENGTH * self.n_phases // GAME_LENGTH, y, number // GAME_LENGTH)


def measure(method: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fit in this process: seconds, peak memory, and the cosine between learned and true weights."""
    stream = Synthetic(options.records, options.features, options.phases, options.draws)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, worked = time.perf_counter(), time.process_time()
    fitted = LinearFitter(method=method, tapered=options.tapered, epochs=options.epochs).fit(stream)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found, true = fitted.weights_.mean(axis=0), stream.weights.astype(np.float64)
    return {
        "method": method,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(worked, 1),
        "seconds_making_records": round(stream.seconds, 1),
        "passes": fitted.n_iter_,
        "peak_mb": round(peak),
        "mb_before": round(before),
        "dropped": len(fitted.dropped_),
        "cosine": float(found @ true / np.linalg.norm(found) / np.linalg.norm(true)),
        "met": seconds < TARGET_SECONDS and peak < TARGET_MB,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--phases", type=int, default=1)
    parser.add_argument("--draws", type=float, default=0.2, help="share of games without a winner")
    parser.add_argument("--epochs", type=int, default=LinearFitter().epochs, help="of sgd")
    parser.add_argument("--tapered", action="store_true")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--one", choices=METHODS, help=argparse.SUPPRESS)  # this process is a child
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options)))
        return 0
    rows = []
    for method in options.methods:
        done = subprocess.run([sys.executable, *sys.argv, "--one", method], capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
        rows.append(json.loads(done.stdout))
        r = rows[-1]
        print(
            f"{method:11} {r['seconds']:6.1f} s, {r['cpu_seconds']:.1f} s of CPU "
            f"({r['seconds_making_records']:.1f} s making records), "
            f"{r['passes']:2} passes, peak {r['peak_mb']:4} MB ({r['mb_before']} MB before), "
            f"{r['dropped']:2} features dropped, cosine with the truth {r['cosine']:.5f}: "
            f"{'met' if r['met'] else 'MISSED'}",
            flush=True,
        )
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
