"""What the bounds of a game save: the nodes to a fixed depth near the end of games, where bounds can decide.

The evaluator alone, the evaluator clipped into the bounds (`BoundedEval`), and the same with the tree pruned by them.
Clipping may change an answer for the better; pruning may not: its answers are compared, and a difference is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from evallearn.bench.ladder import TABLE_BITS, Step, Suite, measure
from evallearn.errors import EvallearnError
from evallearn.evaluators import BoundedEval, heuristic
from evallearn.registry import get_game
from evallearn.search import AlphaBeta

ROUNDS = 3
"""They take milliseconds: the best time counts."""
SUITES = (
    Suite(
        "connect_four", "threats", 14, None,
        (
            "526452561362276547", "367774542722127342", "23721121632526677512", "36635621646472563372",
            "7767545615776322652233", "3474373373553177557562", "362556446163461551322336",
            "532144764564634466353163", "43174373544772573623361666", "74427672251736142134726576",
        ),
    ),
    Suite(
        "pacman", "hungry", 20, None,
        (
            "%%%%%%%%%%%/%---------%/%-%%-%-%%-%/%--P----.-%/%-%%-%-%%-%/%---------%/%%%%%%%%%%% "
            "ghosts=b4N@f6 score=24",
            "%%%%%%%%%%%/%---------%/%-%%-%-%%.%/%-----P---%/%-%%-%-%%-%/%---.---.-%/%%%%%%%%%%% "
            "ghosts=j4N@f6 score=24 moves=14",
            "%%%%%%%%%%%/%----P----%/%-%%-%-%%-%/%--..-----%/%-%%-%-%%.%/%--.--.---%/%%%%%%%%%%% "
            "ghosts=j4N@f6 score=34 moves=10",
            "%%%%%%%%%/%-------%/%-------%/%---.---%/%----P--%/%-------%/%%%%%%%%% ghosts=d3N@e2 score=16",
            "%%%%%%%%%/%.------%/%--P----%/%.------%/%-------%/%------.%/%%%%%%%%% ghosts=c2N@e2 score=54 moves=14",
            "%%%%%%%%%/%------.%/%-------%/%.------%/%.-.-P.-%/%-------%/%%%%%%%%% ghosts=f3N@e2 score=34 moves=10",
            "%%%%%%%%%%/%o--%--.-%/%-%-%-%%-%/%-%---%%-%/%---P----%/%%%%%%%%%% ghosts=e4W@i2 score=24",
        ),
    ),
)  # fmt: skip


def compare(suite: Suite) -> Iterator[Step]:
    """Yield the three steps, as they are done; each but the first says what it saves of the one before."""
    game = get_game(suite.game)
    alone = heuristic(game, suite.heuristic)
    searches = {
        "the evaluator alone": AlphaBeta(game, alone, table_bits=TABLE_BITS),
        "clipped into the bounds": AlphaBeta(game, BoundedEval(alone), table_bits=TABLE_BITS, bounds=False),
        "pruned by the bounds": AlphaBeta(game, BoundedEval(alone), table_bits=TABLE_BITS),
    }
    nodes, answers = None, []
    for name, search in searches.items():
        step, given = measure(name, search, suite, nodes, ROUNDS)
        yield step
        nodes = step.nodes
        answers.append(given)
    if answers[1] != answers[2]:
        raise EvallearnError(f"bounds changed the answers of {suite.game}: {answers[1]} became {answers[2]}; report it")
