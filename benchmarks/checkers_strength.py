"""How strong is checkers with an evaluator? Endgames with a known value, and matches at equal nodes.

    python benchmarks/checkers_strength.py endgames [EVAL] [--nodes N]            how often is the exact value kept?
    python benchmarks/checkers_strength.py match    [EVAL] [--nodes N] [--pairs P]  against both hand-written ones

EVAL is a .safetensors file or handwritten:NAME. `endgames` takes the 1,500 positions of up to four pieces of
../shared/reference; the search knows no endgame table. A table is built for the judge alone, who looks up what each
move leads to: a move errs if the opponent can then reach more than before.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from strength_command import run, show

from evallearn import get_game, parse_agent, play_match
from evallearn.agents import Agent
from evallearn.arena import MatchSettings
from evallearn.core.shares import counted
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError
from evallearn.games.checkers.moves import State
from evallearn.games.checkers.table import EndgameTable, build_table

SAMPLE = Path(__file__).resolve().parents[2] / "shared/reference/checkers/checkers_egdb_sample_dev.csv"
GAME = get_game("checkers")
RIVALS = tuple(f"handwritten:{name}" for name in GAME.heuristics)
VALUES = {"win": 1, "draw": 0, "loss": -1}
WORDS = {value: word for word, value in VALUES.items()}


class Ending(NamedTuple):
    """A position and its value to the player to move."""

    state: State
    value: int


def read_sample(path: Path) -> Iterator[Ending]:
    """The rows of a CSV file: fen, value_for_side_to_move."""
    with open(path, newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            value = row.get("value_for_side_to_move")
            if value not in VALUES:
                raise DataError(f"{path}:{number}: the value is {value!r}: give one of {', '.join(VALUES)}")
            yield Ending(GAME.from_text(row["fen"]), VALUES[value])  # type: ignore[arg-type]  # of checkers


def value_after(table: EndgameTable, s: State, a: int) -> int:
    """What the move is worth to the player who makes it."""
    after = GAME.result(s, a)
    if GAME.is_terminal(after):
        return round(GAME.utility(after, s.player))
    return -(table.value(after) or 0)  # type: ignore[arg-type]  # of checkers


def mistakes(agent: Agent, endings: list[Ending], table: EndgameTable) -> list[tuple[Ending, int]]:
    """(ending, what is left of its value) for each in which the agent's move gives something away."""
    chosen = ((e, value_after(table, e.state, agent.choose(e.state, 1).action)) for e in endings)
    return [(e, left) for e, left in chosen if left != e.value]


def endgames(given: argparse.Namespace) -> None:
    """The share of moves that keep the value, and what the others give away."""
    if not SAMPLE.exists():
        raise DataError(f"{SAMPLE} is absent: this benchmark needs the reference data in ../shared/reference")
    endings = [e for e in read_sample(SAMPLE) if not GAME.is_terminal(e.state)]  # in a few there is no move to choose
    wrong = mistakes(parse_agent(f"{given.eval}@nodes={given.nodes}", GAME, trust=FULL_TRUST), endings, build_table())
    kept, n = len(endings) - len(wrong), len(endings)
    print(f"endgames: {kept} of {n} kept, {counted(kept, n)}, by {given.eval} with {given.nodes} nodes")
    for (before, after), times in Counter((WORDS[e.value], WORDS[left]) for e, left in wrong).most_common():
        print(f"  {before} became {after}: {times}")
    for e, _ in wrong if given.names else ():
        print("  ", GAME.to_text(e.state), WORDS[e.value])


def match(given: argparse.Namespace) -> None:
    """A line per hand-written heuristic."""
    config = MatchSettings(pairs=given.pairs, seed=given.seed)
    for rival in given.rivals:
        agents = (parse_agent(f"{who}@nodes={given.nodes}", GAME, trust=FULL_TRUST) for who in (given.eval, rival))
        show(play_match(GAME, *agents, config, workers=given.workers))


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("eval", nargs="?", default=RIVALS[-1])
    parser.add_argument("--nodes", type=int, default=20_000, help="positions per move")
    parser.add_argument("--rivals", nargs="+", default=RIVALS, help="match: against whom")
    parser.add_argument("--pairs", type=int, default=500, help="match: openings, each played twice")
    parser.add_argument("--seed", type=int, default=1, help="match: of the openings")
    parser.add_argument("--names", action="store_true", help="endgames: show the positions that went wrong")
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args(words)


COMMANDS = {"endgames": endgames, "match": match}


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    return run(COMMANDS, arguments(words))


if __name__ == "__main__":
    sys.exit(main())
