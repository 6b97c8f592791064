"""What does a match of quick games cost besides its searches? On one core, every finished set written to a folder.

The same match twice: as the command plays it, with whole games in one kernel, and move by move, as agents that are no
quick searches have to play. "Searching" is the time spent inside the agents.

    python benchmarks/arena.py --games 1000 --depth 2
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import evallearn.arena.match as match
from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchSettings, play_match
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EvallearnError

BEST_OF = 5
"""Runs of each; the quickest counts, because a busy machine only ever adds to it."""


def measure(game_name: str, names: list[str], games: int, *, quick: bool) -> dict[str, float]:
    """Seconds of a match and of the choosing in it, in one run."""
    match.QUICK_SETS = 1 if quick else games
    game = get_game(game_name)
    agents = parse_agent(names[0], game, trust=FULL_TRUST), parse_agent(names[1], game, trust=FULL_TRUST)
    play_match(game, *agents, MatchSettings(pairs=2))  # kernels are compiled before the clock runs
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        found = play_match(game, *agents, MatchSettings(pairs=games // 2), folder=Path(folder))
        total = perf_counter() - start
    return {"games": found.games, "moves": sum(found.moves), "seconds": total, "searching": sum(found.seconds)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        names = [f"handwritten:{h}@depth={options.depth}" for h in list(get_game(options.game).heuristics)[:2]]
        runs = [(measure(options.game, names, options.games, quick=True),
                 measure(options.game, names, options.games, quick=False)) for _ in range(BEST_OF)]  # fmt: skip
    except EvallearnError as error:
        print(error, file=sys.stderr)
        return 2
    quick, slow = (min(side, key=lambda run: run["seconds"]) for side in zip(*runs, strict=True))
    if options.json:
        print(json.dumps({"whole games": quick, "move by move": slow}, indent=2))
        return 0
    for name, run in (("whole games in one kernel", quick), ("move by move", slow)):
        rest = run["seconds"] - run["searching"]
        print(
            f"{name}: {run['games']} games in {run['seconds']:.2f} s, searching {run['searching']:.2f} s "
            f"({1e6 * run['searching'] / run['moves']:.1f} us a move), the rest {rest:.2f} s "
            f"({1e6 * rest / run['games']:.0f} us a game, {rest / run['searching']:.0%} of the searching)"
        )
    print(f"the whole match takes {quick['seconds'] / slow['searching']:.0%} of what its searches take one by one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
