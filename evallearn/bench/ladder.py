"""What each refinement of alpha-beta saves: the nodes to a fixed depth, the switches turned on one after the other.

No step may change the answer: the values and actions of all steps are compared, and a difference is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from evallearn.compiled.game import CompiledGame
from evallearn.core.result import Result
from evallearn.core.search import Limits, Search
from evallearn.errors import EvallearnError
from evallearn.evaluators import heuristic
from evallearn.registry import get_game
from evallearn.search import AlphaBeta

SWITCHES = ("table", "killers", "history", "pvs", "aspiration", "noisy_first", "order_by_eval")
NAMES = {
    "table": "+ transposition table",
    "killers": "+ killer moves",
    "history": "+ history",
    "pvs": "+ PVS",
    "aspiration": "+ aspiration windows",
    "noisy_first": "+ captures first",
    "order_by_eval": "+ order by the evaluator",
}
ONLY_BY_EVAL = "alpha-beta, only the order by the evaluator"
"""A step aside: the next one goes on from alpha-beta without it."""
TABLE_BITS = 20
"""A million entries: the ladder measures the idea, not a table that is too small."""


@dataclass(frozen=True)
class Suite:
    """Fixed positions of a game in its notation, and a depth that takes seconds without any refinement."""

    game: str
    heuristic: str
    depth: int
    minimax_nodes: int | None
    """What minimax without pruning would visit to that depth (`unpruned` counts it again); None: not counted."""
    positions: tuple[str, ...]


SUITES = (
    Suite(
        "connect_four", "threats", 11, 12_501_236_416,
        (
            "", "53", "4421", "766544", "44634322", "7644462311", "676665343424", "67656664432311",
            "5757763533226211", "767775655654322411",
        ),
    ),
    Suite(
        "othello", "mobility", 8, 1_486_033_341,
        (
            "---------------------------OX------XO--------------------------- X",
            "-------------O-----X-O-----XXO-----XOO-------O------------------ X",
            "---------XXX-------XXO----OOOX-----XXOX------XO----------------- X",
            "--OX-------OX---XXXXX------OXOX---OXO-O--OX-XO--O--------------- X",
            "-------------O----OOOOO--XXOO---XXOOOO--XOOOX---X-XXO-----X-OO-- X",
            "O-------XOOO-X---XOOO--X-OXOXOX--XOXOOO-XXXOOOX-----OO------X-O- X",
            "----OOOO---XXX-O--XXXXO-O-XOOOOOXXXOOXX-XOOOOXX-O--O-X----O----- X",
            "-O-X------OXOO---OXXOO---XOXOX--XOXOOOOOOOOXXX--OOOOXXOO-O-O-X-X X",
            "---OOOOO-O-OOOOO--OOOOOX-OXXXOX-OOOOOXO--OXXOOX--OOO-XXXXO----XO X",
            "OX---OXXOOOOOOXXOXO-XX-XOXOOOO--OXXOOOOO-X-XOX-XX-XOOOX--XOOOOO- X",
        ),
    ),
    Suite(
        "checkers", "material", 11, 1_271_064_744,
        (
            "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12",
            "B:W18,21,23,24,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,12",
            "B:W20,21,23,24,25,26,27,29,30,31,32:B1,2,3,4,6,7,8,11,13,14,16",
            "B:W23,24,25,26,28,29,30,31,32:B1,2,3,4,6,8,11,14,16,21",
            "B:W17,19,21,22,24,26,27,28,31,32:B1,2,4,5,7,8,9,10,11,20",
            "B:W15,21,22,23,26,27,28,31,32:B1,3,4,5,7,8,12,16,20",
            "B:W21,24,26,27,30,32:B1,4,5,9,10,14",
            "B:W11,12,19,25,29,30,31:B1,2,3,4,6,21,27,28",
            "B:W19,20,25,28,29:B2,4,7,9,12",
            "B:W25:B2,4,6,9,13,15,K32",
        ),
    ),
    Suite(
        "chess", "material", 5, 480_105_451,
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One rung: what all positions of a suite took together."""

    name: str
    nodes: int
    leaf_calls: int | None
    """Calls of UTILITY or EVAL."""
    seconds: float | None
    """CPU time; None where the nodes are only counted."""
    saving: float | None
    """The part of the nodes that the step before took and this one does not; below 0 it takes more."""


def unpruned(suite: Suite) -> int:
    """Count the nodes of plain minimax, by perft: one iteration, every line to the end or to the depth.

    Perft does not see repetitions and goes on where chess is drawn by a rule: in these positions that is no difference
    to speak of.
    """
    game = CompiledGame(get_game(suite.game))
    return sum(game.perft(game.from_text(text), d) for text in suite.positions for d in range(suite.depth + 1))


def climb(suite: Suite) -> Iterator[Step]:
    """Yield the steps of the ladder, as they are done; all but the first deepen iteratively, each iteration counts."""
    game = get_game(suite.game)
    evaluator = heuristic(game, suite.heuristic)
    assert suite.minimax_nodes is not None
    yield (step := Step("minimax", suite.minimax_nodes, None, None, None))
    given: dict[str, list[object]] = {}
    for name, settings, aside in rungs(noisy=game.rules is not None and game.rules.noisy_actions is not None):
        search = AlphaBeta(game, evaluator, table_bits=TABLE_BITS, **settings)
        found, given[name] = measure(name, search, suite, step.nodes)
        yield found
        if given[name] != given["alpha-beta"]:
            raise EvallearnError(
                f"{name!r} changed the answers of {suite.game}: {given['alpha-beta']} became {given[name]}; report this"
            )
        step = step if aside else found


def rungs(noisy: bool) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield (name, switches, whether the next one goes on without it) of every step but minimax."""
    switched = dict.fromkeys(SWITCHES, False)
    yield "alpha-beta", dict(switched), False
    yield ONLY_BY_EVAL, {**switched, "order_by_eval": True}, True
    for switch in SWITCHES:
        if switch != "noisy_first" or noisy:
            switched[switch] = True
            yield NAMES[switch], dict(switched), False


def measure(name: str, search: Search, suite: Suite, before: int | None, rounds: int = 1) -> tuple[Step, list[object]]:
    """Measure the search on all positions, against a step that took `before` nodes; return its answers, too."""
    states = [search.game.from_text(text) for text in suite.positions]
    times = []
    for _ in range(rounds):
        start = process_time()
        found = [search.search(s, Limits(depth=suite.depth)) for s in states]
        times.append(process_time() - start)
    nodes, leaf_calls = (sum(getattr(result, what) for result in found) for what in ("nodes", "leaf_calls"))
    saving = None if before is None else 1 - nodes / before
    return Step(name, nodes, leaf_calls, min(times), saving), [(r.value, r.action) for r in found]


@dataclass(frozen=True)
class Ladder(Result):
    """What each refinement saves in the positions of one suite."""

    game: str
    eval: str
    depth: int
    positions: tuple[str, ...]
    steps: tuple[Step, ...]


def ladder_of(suite: Suite, steps: Sequence[Step]) -> Ladder:
    """Return the steps with what they were measured on."""
    return Ladder(suite.game, suite.heuristic, suite.depth, suite.positions, tuple(steps))
