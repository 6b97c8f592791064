"""How strong is chess with an evaluator? Tactics, a ladder against GNU Chess, a match at equal nodes.

    python benchmarks/chess_strength.py wac    [EVAL] [--nodes N]              how many of 300 tactical positions?
    python benchmarks/chess_strength.py ladder [EVAL] [--nodes N] [--depths 2 3 4]    against `gnuchess --uci`
    python benchmarks/chess_strength.py match  [EVAL] [--nodes N] [--pairs P]  against handwritten:positional

EVAL is a .safetensors file or handwritten:NAME. `wac` and `ladder` read ../shared/reference; the ladder plays its 30
openings with both colours. Everything is the agents' own: the search with the settings of the game, one thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from strength_command import run, show

from evallearn import get_game, parse_agent, play_match
from evallearn.agents import Agent
from evallearn.arena import MatchResult, MatchSettings
from evallearn.core.game import State
from evallearn.core.shares import counted
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError

REFERENCE = Path(__file__).resolve().parents[2] / "shared/reference/chess"
WAC, OPENINGS = "chess_wac.epd", "chess_openings_30.fen"
GAME = get_game("chess")
RIVAL = "handwritten:positional"
FEN_FIELDS = 4
"""Of an EPD line: the board, who moves, castling, en passant; operations follow."""


class Problem(NamedTuple):
    """A position of a test suite; it is solved by any of the best moves, or by none of those to avoid."""

    name: str
    state: State
    best: frozenset[int]
    avoid: frozenset[int]

    def solved_by(self, a: int) -> bool:
        """True if the move is right."""
        return a in self.best if self.best else a not in self.avoid


def read_epd(path: Path) -> Iterator[Problem]:
    """The problems of an EPD file: the operations bm (best moves), am (moves to avoid) and id."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split(maxsplit=FEN_FIELDS)
        if not fields:
            continue
        said = (part.strip().partition(" ") for part in " ".join(fields[FEN_FIELDS:]).split(";"))
        operations = {name: value for name, _, value in said}
        if not operations.keys() & {"bm", "am"}:
            raise DataError(f"{path}:{number}: no best move (bm) and none to avoid (am): give one of them")
        s = GAME.from_text(" ".join(fields[:FEN_FIELDS]))
        best, avoid = (
            frozenset(GAME.action_from_text(s, move) for move in operations.get(name, "").split())
            for name in ("bm", "am")
        )
        yield Problem(operations.get("id", str(number)).strip('"'), s, best, avoid)


def unsolved(agent: Agent, problems: list[Problem]) -> list[str]:
    """The names of the problems in which the agent errs."""
    return [p.name for p in problems if not p.solved_by(agent.choose(p.state, 1).action)]


def wac(given: argparse.Namespace) -> None:
    """Win at Chess (Reinfeld): 300 positions with a winning move, and a few with one to avoid."""
    problems = list(read_epd(needed(WAC)))
    missed = unsolved(parse_agent(f"{given.eval}@nodes={given.nodes}", GAME, trust=FULL_TRUST), problems)
    solved, n = len(problems) - len(missed), len(problems)
    print(f"WAC: {solved} of {n} solved, {counted(solved, n)}, by {given.eval} with {given.nodes} nodes")
    if given.names:
        print("not solved:", " ".join(missed))


def ladder(given: argparse.Namespace) -> None:
    """A line per depth of GNU Chess."""
    path = needed(OPENINGS)
    for depth in given.depths:
        config = MatchSettings(openings=path, pairs=len(path.read_text().split("\n")))
        show(play(given, f"uci:gnuchess --uci@depth={depth}", config))


def match(given: argparse.Namespace) -> None:
    """Against the hand-written evaluator."""
    show(play(given, f"{given.rival}@nodes={given.nodes}", MatchSettings(pairs=given.pairs, seed=given.seed)))


def play(given: argparse.Namespace, rival: str, config: MatchSettings) -> MatchResult:
    """A match of the evaluator at --nodes."""
    mine = parse_agent(f"{given.eval}@nodes={given.nodes}", GAME, trust=FULL_TRUST)
    return play_match(GAME, mine, parse_agent(rival, GAME, trust=FULL_TRUST), config, workers=given.workers)


def needed(name: str) -> Path:
    """A file of the reference data."""
    if not (REFERENCE / name).exists():
        raise DataError(f"{REFERENCE / name} is absent: this benchmark needs the reference data in ../shared/reference")
    return REFERENCE / name


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("eval", nargs="?", default=RIVAL)
    parser.add_argument("--nodes", type=int, default=20_000, help="positions per move")
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3, 4], help="ladder: of GNU Chess")
    parser.add_argument("--rival", default=RIVAL, help="match: against whom")
    parser.add_argument("--pairs", type=int, default=200, help="match: openings, each played twice")
    parser.add_argument("--seed", type=int, default=1, help="match: of the openings")
    parser.add_argument("--names", action="store_true", help="wac: name those that were not solved")
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args(words)


COMMANDS = {"wac": wac, "ladder": ladder, "match": match}


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    return run(COMMANDS, arguments(words))


if __name__ == "__main__":
    sys.exit(main())
