"""Exact values of every position that a game can reach, if they fit in memory: the ground truth for searches.

Without dice by retrograde analysis: from the ends of the game back to whoever can force them. It needs no depth and
does not mind cycles; play that never ends is worth the middle of the utilities (a draw, as a rule). With dice by value
iteration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.errors import SearchError

MOST_SWEEPS = 100_000
PRECISION = 1e-14
"""Value iteration ends when a sweep changes no value by more than this part of the utility range."""


@dataclass(frozen=True)
class Graph:
    """The positions by number, in the order in which they were found, and the moves between them."""

    numbers: dict[State, int]
    players: list[int]
    """To play; CHANCE for a roll."""
    children: list[list[int]]
    """After each action, or outcome of a roll, in the game's order; none where the game is over."""
    odds: list[list[float]]
    """The probabilities of the children of a roll."""
    utilities: list[float | None]
    """To player 0, where the game is over."""


class Solution:
    """The true value of every position that can be reached from where the solver began."""

    def __init__(self, game: Game, graph: Graph, values: Sequence[float], plies: Sequence[int | None]) -> None:
        self.game, self._graph, self._values, self._plies = game, graph, values, plies

    def __repr__(self) -> str:
        return f"<Solution of {self.game.name}: {len(self):,} positions>"

    def __len__(self) -> int:
        """How many positions there are, the finished ones included."""
        return len(self._values)

    def __iter__(self) -> Iterator[State]:
        """Return an iterator over the positions, those near the beginning first."""
        return iter(self._graph.numbers)

    def __contains__(self, s: State) -> bool:
        return s in self._graph.numbers

    def value(self, s: State, player: int) -> float:
        """Return what `s` is worth to `player` if both play as well as one can."""
        value = self._values[self._number(s)]
        return (value if player == 0 else -value) + 0.0  # 0.0, never -0.0

    def plies(self, s: State) -> int | None:
        """Plies until the end if the one who is better off hurries and the other delays.

        None where nobody can force anything (a draw may take any time), and in games with dice.
        """
        return self._plies[self._number(s)]

    def solved(self, s: State) -> dict[Action, float] | None:
        """Return what `Game.solved` promises: the value of every action to the player to move, the best one first.

        Of equal ones the quickest win comes first, and the longest resistance. None for a position that is not here.
        """
        if s not in self._graph.numbers:
            return None
        player = self.game.to_play(s)
        found = []
        for i, a in enumerate(self.game.actions(s)):
            t = self.game.result(s, a)
            found.append((-self.value(t, player), self._patience(t, player), i, a))
        return {a: 0.0 - lost for lost, _, _, a in sorted(found, key=lambda row: row[:3])}

    def best(self, s: State) -> Action:
        """Return the action that keeps the value and makes headway; of equal ones the first.

        Raises SearchError if the game is over or waits for the dice.
        """
        number = self._number(s)
        if self._graph.players[number] == CHANCE or not self._graph.children[number]:
            why = "waits for the dice" if self._graph.children[number] else "is over"
            raise SearchError(f"{self.game.name} position {self.game.to_text(s)!r} {why}: there is nothing to choose")
        return next(iter(self.solved(s) or ()))

    def _patience(self, s: State, player: int) -> int:
        """Less is better for `player`: plies to a win, minus plies to a loss."""
        plies = self.plies(s) or 0
        return plies if self.value(s, player) > middle(self.game) else -plies

    def _number(self, s: State) -> int:
        if s not in self._graph.numbers:
            raise SearchError(
                f"{self.game.name} position {self.game.to_text(s)!r} is not in this solution of {len(self)} positions: "
                "solve from a position before it"
            )
        return self._graph.numbers[s]


def middle(game: Game) -> float:
    """Half way between loss and win: what play without an end is worth."""
    return sum(game.utility_range) / 2


def solve(game: Game, *, start: State = None, max_states: int = 1_000_000) -> Solution:
    """Solve a game of one player, or of two (zero-sum), with or without dice, from `start` or from its beginning.

    With dice the game must come to an end with certainty, however it is played: the values are exact to about 1e-12.
    Raises SearchError where there are more than `max_states` positions.
    """
    if game.n_players > 2 or (game.n_players == 2 and not game.zero_sum):
        why = f"has {game.n_players} players" if game.n_players > 2 else "is not zero-sum"
        raise SearchError(f"the solver needs one player, or two in a zero-sum game; {game.name} {why}: use max^n")
    graph = explore(game, game.initial() if start is None else start, max_states)
    if game.has_chance:
        return Solution(game, graph, iterate_values(game, graph), [None] * len(graph.players))
    return Solution(game, graph, *retrograde(graph, middle(game)))


def explore(game: Game, start: State, max_states: int) -> Graph:
    """All positions that can be reached, breadth first."""
    graph = Graph({start: 0}, [], [], [], [])
    queue = deque([start])
    while queue:
        s = queue.popleft()
        over, player = game.is_terminal(s), game.to_play(s)
        rolls = game.chances(s) if player == CHANCE and not over else ()
        after = [] if over else [game.result(s, a) for a in ([o for o, _ in rolls] or game.actions(s))]
        for t in after:
            if t not in graph.numbers:
                graph.numbers[t] = len(graph.numbers)
                queue.append(t)
        if len(graph.numbers) > max_states:
            raise SearchError(
                f"{game.name} has more than {max_states:,} positions after {game.to_text(start)!r}: raise max_states, "
                "begin nearer to the end, or search instead of solving"
            )
        graph.players.append(player)
        graph.children.append([graph.numbers[t] for t in after])
        graph.odds.append([p for _, p in rolls])
        graph.utilities.append(game.utility(s, 0) if over else None)
    return graph


# --- without dice ----------------------------------------------------------------------------------------------------
def retrograde(graph: Graph, endless: float) -> tuple[list[float], list[int | None]]:
    """(values to player 0, plies to the end), where play without an end is worth `endless`.

    Each player in turn takes what it can force, the best utilities first: that many positions are then decided, and the
    others are not, so that a next utility can only be forced among them. What nobody can force remains endless.
    """
    n = len(graph.players)
    values, plies = [endless] * n, [None] * n  # type: list[float], list[int | None]
    parents: list[list[int]] = [[] for _ in range(n)]
    for i, below in enumerate(graph.children):
        for j in below:
            parents[j].append(i)
    ends: dict[float, list[int]] = {}
    for i, utility in enumerate(graph.utilities):
        if utility is not None:
            ends.setdefault(utility, []).append(i)
    for forcing, worth in ((0, 1), (1, -1)):
        open_moves = [len(below) for below in graph.children]
        for utility in sorted((u for u in ends if worth * (u - endless) > 0), key=lambda u: -worth * u):
            _force(graph, parents, open_moves, forcing, ends[utility], utility, values, plies)
    for i in ends.get(endless, ()):
        plies[i] = 0
    return values, plies


def _force(
    graph: Graph,
    parents: list[list[int]],
    open_moves: list[int],
    forcing: int,
    ends: list[int],
    utility: float,
    values: list[float],
    plies: list[int | None],
) -> None:
    """Give `utility` to all positions from which player `forcing` can reach one of the ends, the nearest first.

    open_moves: how many moves of each position do not lead to what is forced already.
    """
    queue = deque(ends)
    for i in ends:
        values[i], plies[i] = utility, 0
    while queue:
        j = queue.popleft()
        for i in parents[j]:
            open_moves[i] -= 1
            if plies[i] is None and (graph.players[i] == forcing or open_moves[i] == 0):
                values[i], plies[i] = utility, (plies[j] or 0) + 1
                queue.append(i)


# --- with dice -------------------------------------------------------------------------------------------------------
def iterate_values(game: Game, graph: Graph) -> list[float]:
    """Every value from those one move later, all at once, until no sweep changes them."""
    inner = [i for i, below in enumerate(graph.children) if below]
    first = np.cumsum([0, *(len(graph.children[i]) for i in inner)])[:-1]
    to = np.array([j for i in inner for j in graph.children[i]], np.int64)
    odds = np.array([p for i in inner for p in graph.odds[i] or [1.0] * len(graph.children[i])])
    players = np.array([graph.players[i] for i in inner])
    values: np.ndarray = np.array([middle(game) if u is None else u for u in graph.utilities])
    if not inner:
        return list(values.tolist())
    low, high = game.utility_range
    for _ in range(MOST_SWEEPS):
        below = values[to]
        mean = np.add.reduceat(odds * below, first)
        best = np.where(players == 0, np.maximum.reduceat(below, first), np.minimum.reduceat(below, first))
        new = np.where(players == CHANCE, mean, best)
        change = np.abs(new - values[inner]).max()
        values[inner] = new
        if change <= PRECISION * (high - low):
            return list(values.tolist())
    raise SearchError(f"the values of {game.name} have not settled after {MOST_SWEEPS:,} sweeps: use expectiminimax")
