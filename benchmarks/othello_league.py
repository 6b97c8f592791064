"""How strong is a pattern evaluator of Othello among the published 1-ply players?

    python benchmarks/othello_league.py FILE [--games 10000]      FILE against SWH, and against all on the Lucas boards
    python benchmarks/othello_league.py NAME                      a published player in its place, e.g. SWH
    python benchmarks/othello_league.py --check                   does this league give the published figures?

(a) The Othello League: from the start, colours in turn, both make 10 % of their moves at random, against the
weighted-piece counter SWH. (b) 1,000 boards of Lucas, both colours, no chance: against each of the other players. All
look one ply ahead and take the best position after their move, the earliest of equal ones; a finished game counts as
what it is.
The players are read from ../shared/reference; where they are absent, it says so and ends.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from strength_command import ended

from evallearn.core.shares import Share, share_of
from evallearn.errors import EvaluatorError, unknown
from evallearn.evaluators import PatternEval, load_evaluator
from evallearn.games.othello import Othello
from evallearn.games.othello.rules import RULES, State

REFERENCE = Path(__file__).resolve().parents[2] / "shared/reference/othello"
RANDOM_RATE = 0.1
FINISHED = 1e6
"""Weighs the result of a finished game above any evaluator."""
N_CELLS = Othello.n_cells
BEST = "JaskowskiSzubert2015CoCMAES-4+2x2"

actions, result, is_terminal = RULES.actions, RULES.result, RULES.is_terminal
cells, phase, utility_mover = RULES.cells, RULES.phase, RULES.utility_mover


@dataclass(frozen=True)
class Player:
    """An n-tuple network: the value of a board is the sum of weights[group, start + what the cells hold]."""

    name: str
    cells: np.ndarray
    """int64[n_places, longest]: squares, or other cells of the game; -1 after the last."""
    strides: np.ndarray
    """int64[n_places, longest]: how far a cell that holds one more moves along the weights."""
    starts: np.ndarray
    """int64[n_places]."""
    weights: np.ndarray
    """float64[n_groups, n_weights]; of several groups the phase chooses."""
    digits: np.ndarray
    """int64[2, 3]: for Black and White, what an empty square, an opposing and an own disc count, after a move."""
    signs: np.ndarray
    """float64[2]: for Black and White, whether more is better."""

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.cells, self.strides, self.starts, self.weights, self.digits, self.signs


# --- reading players -------------------------------------------------------------------------------------------------
OWN_HIGH = [1, 0, 2]
"""Published tables count white 0, empty 1, black 2."""
OWN_LOW = [1, 2, 0]


def read_counter(path: Path) -> Player:
    """A weighted-piece counter: 64 numbers, own minus opposing discs."""
    weights = np.array(path.read_text().split(), np.float64)
    table = np.stack([-weights, 0 * weights, weights], axis=1)
    squares = np.arange(64)[:, None]
    digits = np.array([OWN_HIGH] * 2)
    return Player(path.stem, squares, squares**0, 3 * squares[:, 0], table.reshape(1, -1), digits, np.ones(2))


def read_ntuple(path: Path) -> Player:
    """`# name mode=`, the count; per tuple `size places`, the squares of each place, then its 3**size weights."""
    lines = path.read_text().splitlines()
    negated = "mode=BOARD_INVERSION" not in lines[0]
    numbers = iter(" ".join(lines[1:]).split())
    squares, strides, starts, weights = list[list[int]](), list[list[int]](), list[int](), list[float]()
    for _ in range(int(next(numbers))):
        size, places = int(next(numbers)), int(next(numbers))
        squares += [[int(next(numbers)) for _ in range(size)] for _ in range(places)]
        strides += [[3**k for k in reversed(range(size))]] * places
        starts += [len(weights)] * places
        weights += [float(next(numbers)) for _ in range(3**size)]
    digits = np.array([OWN_HIGH, OWN_LOW if negated else OWN_HIGH])
    signs = np.array([1.0, -1.0 if negated else 1.0])
    return Player(path.stem, padded(squares), padded(strides), np.array(starts), np.array([weights]), digits, signs)


def of_eval(evaluator: PatternEval) -> Player:
    """Our evaluator judges as the player who is to move next sees it: own discs 1, those of the one who moved 2."""
    layout = evaluator.layout
    places = [list(place) for _, place in layout.places]
    strides = [[int(layout.codes[cell, 1, p]) for cell in place] for p, place in enumerate(places)]
    starts = np.array([layout.starts[pattern] for pattern, _ in layout.places])
    weights = evaluator.unit * evaluator.tables.astype(np.float64)
    digits = np.array([[0, 1, 2]] * 2)
    return Player(evaluator.name, padded(places), padded(strides), starts, weights, digits, -np.ones(2))


def padded(rows: list[list[int]]) -> np.ndarray:
    longest = max(map(len, rows))
    return np.array([row + [-1] * (longest - len(row)) for row in rows])


def published() -> dict[str, Player]:
    """All players that are there, by name."""
    folder = REFERENCE / "othello_players"
    counters = [read_counter(path) for path in sorted(folder.glob("*.wpc"))]
    return {p.name: p for p in counters + [read_ntuple(path) for path in sorted(folder.glob("*.ntuple"))]}


def lucas_boards() -> np.ndarray:
    """uint64[n, 3]: own, opposing and who is to move."""
    game = Othello()
    lines = (REFERENCE / "othello_lucas_boards.txt").read_text().split("\n")
    return np.array([game.encode(game.from_text(line)) for line in lines if line.strip()], np.uint64)


# --- games -----------------------------------------------------------------------------------------------------------
@njit
def board_value(after, player, seen):
    """What the position after a move is worth to the one who made it: to the next player its discs are the 2."""
    places, strides, starts, weights, digits, signs = player
    colour = 1 - np.int64(after.player)
    table = weights[phase(after)] if len(weights) > 1 else weights[0]
    cells(after, seen)
    for square in range(64):
        seen[square] = digits[colour, seen[square]]
    total = 0.0
    for p in range(len(starts)):
        index = starts[p]
        for k in range(places.shape[1]):
            if places[p, k] < 0:
                break
            index += strides[p, k] * seen[places[p, k]]
        total += table[index]
    return signs[colour] * total


@njit
def choose(s, player, moves, seen):
    """The action that leads to the best position."""
    best, chosen = -np.inf, moves[0]
    for i in range(actions(s, moves)):
        after = result(s, moves[i])
        value = -FINISHED * utility_mover(after) if is_terminal(after) else board_value(after, player, seen)
        if value > best:
            best, chosen = value, moves[i]
    return chosen


@njit
def play(boards, first, second, random_rate, seed):
    """float64[2 * boards]: what `first` scores from each board, as Black and then as White."""
    np.random.seed(seed)
    moves, seen = np.zeros(64, np.int32), np.zeros(N_CELLS, np.int32)
    scores = np.zeros(2 * len(boards))
    for game in range(2 * len(boards)):
        side = np.uint64(game & 1)
        s = State(boards[game // 2, 0], boards[game // 2, 1], boards[game // 2, 2])
        while not is_terminal(s):
            if random_rate > 0 and np.random.random() < random_rate:
                a = moves[np.random.randint(actions(s, moves))]
            elif s.player == side:
                a = choose(s, first, moves, seen)
            else:
                a = choose(s, second, moves, seen)
            s = result(s, a)
        utility = utility_mover(s) if s.player == side else -utility_mover(s)
        scores[game] = 0.5 + 0.5 * utility
    return scores


def league(player: Player, swh: Player, games: int, seed: int = 1) -> Share:
    """(a): the score against SWH."""
    start = np.array([Othello().encode(Othello().initial())] * (games // 2), np.uint64)
    scores = play(start, player.arrays, swh.arrays, RANDOM_RATE, seed)
    found = share_of(scores)
    assert found is not None  # there are games
    return found


def on_boards(player: Player, others: list[Player], boards: np.ndarray) -> dict[str, float]:
    """(b): the score against each of the others but itself."""
    return {
        other.name: float(play(boards, player.arrays, other.arrays, 0.0, 0).mean())
        for other in others
        if other.name != player.name
    }


# --- the command -----------------------------------------------------------------------------------------------------
def measure(player: Player, games: int) -> None:
    """Both leagues, a line for each opponent."""
    players = published()
    score = league(player, players["SWH"], games)
    print(f"{player.name}: {score} against SWH, 1-ply, 10 % random moves, {games} games")
    scores = on_boards(player, list(players.values()), lucas_boards())
    for name, one in sorted(scores.items(), key=lambda kv: kv[1]):
        print(f"    {name:<42} {one:.4f}")
    print(f"{player.name}: {np.mean(list(scores.values())):.4f} on average over {len(scores)} on the Lucas boards")


def check() -> None:
    """The figures of the literature: All2 has 0.960 against SWH; CoCMAES-4+2x2 0.820 and SWH 0.286 on the boards."""
    players, boards = published(), lucas_boards()
    score = league(players["Jaskowski2014All2"], players["SWH"], 20_000)
    print(f"All2 against SWH: {score}, published 0.960")
    for name, known in ((BEST, 0.820), ("JaskowskiSzubert2015CoCMAES-4", 0.755), ("SWH", 0.286)):
        mean = np.mean(list(on_boards(players[name], list(players.values()), boards).values()))
        print(f"{name} on the Lucas boards: {mean:.4f} over {len(players) - 1} others, published {known:.3f} over 17")


def find(text: str) -> Player:
    """A published player of that name, or a file."""
    players = published()
    if text in players:
        return players[text]
    if not Path(text).exists():
        raise unknown("player or file", text, players)
    evaluator = load_evaluator(Path(text), Othello())
    if not isinstance(evaluator, PatternEval):
        raise EvaluatorError(
            f"{text} is a {evaluator.kind} evaluator, and this league plays only patterns: give one of those"
        )
    return of_eval(evaluator)


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", nargs="?", help="a .safetensors file, or the name of a published player")
    parser.add_argument("--games", type=int, default=10_000, help="against SWH")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(words)
    if not REFERENCE.is_dir():
        print(f"{REFERENCE} is not there: nothing was measured")
        return 0
    if options.check or options.player is None:
        return ended(check)
    return ended(lambda: measure(find(options.player), options.games))


if __name__ == "__main__":
    sys.exit(main())
