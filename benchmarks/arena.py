"""What does the arena cost? Everything but the searches themselves, in a match of quick games on one core.

Also what the command does: every finished set is written to the match's folder.

    python benchmarks/arena.py --games 1000 --depth 2
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchConfig, play_match
from evallearn.errors import EvallearnError

BEST_OF = 5
"""Runs; the least overhead counts, because a busy machine only ever adds to it."""


def measure(game_name: str, a: str, b: str, games: int) -> dict[str, float]:
    """Seconds of a match and of the choosing in it, in one run."""
    game = get_game(game_name)
    agents = parse_agent(a, game), parse_agent(b, game)
    play_match(game, *agents, MatchConfig(pairs=2))  # kernels are compiled before the clock runs
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        found = play_match(game, *agents, MatchConfig(pairs=games // 2), folder=Path(folder))
        total = perf_counter() - start
    search = sum(found.seconds)
    moves = sum(found.moves)
    return {
        "games": found.games, "seconds": total, "search": search, "overhead": (total - search) / search,
        "search_us_per_move": 1e6 * search / moves, "overhead_us_per_move": 1e6 * (total - search) / moves,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        names = [f"handwritten:{h}@depth={options.depth}" for h in list(get_game(options.game).heuristics)[:2]]
        runs = [measure(options.game, *names, options.games) for _ in range(BEST_OF)]
    except (EvallearnError, TypeError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(runs, indent=2))
        return 0
    for run in sorted(runs, key=lambda r: r["overhead"]):
        print(
            f"{run['games']} games in {run['seconds']:.2f} s; searching {run['search']:.2f} s "
            f"({run['search_us_per_move']:.1f} us a move); overhead {run['overhead']:.1%} "
            f"({run['overhead_us_per_move']:.1f} us a move)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
