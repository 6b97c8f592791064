"""One table: what each target teaches a linear evaluator in each game, everything else being the same.

    python benchmarks/targets.py [--games connect_four,othello] [--targets td,treestrap] [--run runs/targets]

Each cell: two generations from no knowledge (the first evaluator generates or begins the second), so many games each,
searches of depth 2; then a match against the best hand-written heuristic at equal nodes, every opening from both seats.
Cells that are done are kept in the folder, so that the same command goes on where it stopped. Writes table.md there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from evallearn import get_game, load
from evallearn.agents import SearchAgent, parse_evaluator
from evallearn.arena import MatchSettings, play_match
from evallearn.core.files import write_json
from evallearn.core.search import Limits
from evallearn.runs import learn
from evallearn.train.targets import LINEAR_TARGETS, SEARCH_TARGETS

# game: (games a generation, best hand-written heuristic, pairs of the match, nodes a move)
PLAN = {
    "connect_four": (4000, "threats", 400, 2000),
    "othello": (3000, "mobility", 400, 2000),
    "checkers": (1500, "positional", 300, 2000),
    "chess": (1000, "positional", 100, 1000),
}
GENERATIONS = 2
HERE = Path(__file__).parent


def cell(name: str, target: str, folder: Path, workers: int) -> dict[str, Any]:
    game, (games, rival, pairs, nodes) = get_game(name), PLAN[name]
    path = folder / f"{name}-{target}.json"
    if path.exists():
        return json.loads(path.read_text())
    start = time.perf_counter()
    kind, stage = ("online", "selfplay") if target in SEARCH_TARGETS else ("records", "fit")
    learned = learn(
        game, HERE / f"targets_{kind}.toml", games=games, settings={f"{stage}.target": target},
        folder=folder / f"{name}-{target}", workers=workers,
    )  # fmt: skip
    minutes = (time.perf_counter() - start) / 60
    evaluator = load(learned.files["linear"])
    limits = Limits(nodes=nodes)
    agents = [
        SearchAgent(game, e, limits, name=n)
        for e, n in ((evaluator, target), (parse_evaluator(f"handwritten:{rival}", game), rival))
    ]
    found = play_match(game, *agents, MatchSettings(pairs=pairs, opening_plies=game.opening_plies), workers=workers)
    elo = found.elo
    row = {"elo": elo.elo, "low": elo.low, "high": elo.high, "games": GENERATIONS * games,
           "positions": learned.records, "minutes": minutes, "match": found.games, "nodes": nodes,
           "rival": rival}  # fmt: skip
    write_json(path, row)
    return row


def in_words(row: dict[str, Any]) -> str:
    return (
        f"{row['elo']:+.0f} ({row['low']:+.0f} to {row['high']:+.0f}); "
        f"{row['positions'] / 1000:,.0f}k positions, {60 * row['minutes']:.0f} s"
    )


def table(folder: Path) -> str:
    rows = [f"| target | {' | '.join(PLAN)} |", "|---" * (1 + len(PLAN)) + "|"]
    for target in LINEAR_TARGETS:
        cells = []
        for name in PLAN:
            path = folder / f"{name}-{target}.json"
            cells.append(in_words(json.loads(path.read_text())) if path.exists() else "")
        rows.append(f"| `{target}` | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default=",".join(PLAN))
    parser.add_argument("--targets", default=",".join(LINEAR_TARGETS))
    parser.add_argument("--run", type=Path, default=Path("runs/targets"))
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    options.run.mkdir(parents=True, exist_ok=True)
    for name in options.games.split(","):
        for target in options.targets.split(","):
            print(f"{name:14} {target:10} {in_words(cell(name, target, options.run, options.workers))}", flush=True)
            (options.run / "table.md").write_text(table(options.run))
    return 0


if __name__ == "__main__":
    sys.exit(main())
