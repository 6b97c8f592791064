"""How long until the first searched move? Cold (empty kernel cache) and warm (a second process), for each game.

python benchmarks/start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from time import perf_counter

CODE = """
import evallearn as e
game = e.get_game({game!r})
search = e.AlphaBeta(game, e.heuristic(game, next(iter(game.heuristics))))
search.search(game.initial(), e.Limits(depth=4))
"""
WARM = 5
"""Warm starts; the best counts, because machines are noisy."""


def start(game: str, cache: str) -> float:
    """Seconds from the start of a Python process to its end, one searched move later."""
    before = perf_counter()
    environment = {**os.environ, "EVALLEARN_CACHE": cache}
    subprocess.run([sys.executable, "-P", "-c", CODE.format(game=game)], check=True, env=environment)
    return perf_counter() - before


def main() -> None:
    print("game           cold s  warm s   (process start to the first searched move)")
    for game in ("tic_tac_toe", "connect_four", "othello"):
        with tempfile.TemporaryDirectory() as cache:
            cold = start(game, cache)
            warm = min(start(game, cache) for _ in range(WARM))
        print(f"{game:14} {cold:6.2f}  {warm:6.2f}")


if __name__ == "__main__":
    main()
