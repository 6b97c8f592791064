"""Verdicts on moves: was a move minimax-optimal, and is that proven or estimated.

An action is optimal if no other one of the position has a higher value to the player who moved. The values are those of
the search that suits the game, every root action searched with an open window: minimax (alpha-beta), expected value
where dice are rolled (expectiminimax), the mover's own part of the vector with more players (max^n).

A single value is proven

- if the game itself knows it (`Game.solved`: a closed form, an endgame table), or
- if the move ends the game, or
- if the search reached the end of the game on every line it needed, so that it called no evaluator, or
- in two-player zero-sum games without dice, if it is the utility of the best win or of the worst loss. An evaluator
lies strictly between these, so only the ends of games can have led there.

The best value is proven if nothing was estimated, if all moves are proven to lose, or if it is that of the best win,
for then no other can be higher. "Optimal" and "not optimal" are proven if both values are. A win may be found before
the search has seen the end of the move that was played, and that move may win too, only later: it is then searched
further on its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.search import plies_to_end, search_for
from evallearn.search.common.requirements import is_minimax

SAME = 1e-9
"""Values closer than this part of the utility range are the same: sums over dice are rounded."""
LONGEST_LINE = 10
"""Moves of a line that is followed through a solved game."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of every legal action of a position. Values are utilities to `player`, who is to move."""

    player: int
    values: Mapping[Action, float]
    best: Action
    line: tuple[Action, ...]
    """What is expected to be played, `best` first; it ends where dice are rolled."""
    depth: int | None
    """Plies that were searched; None if the game itself knows the values."""
    complete: bool
    """True if no evaluator was called: all values are proven."""

    @property
    def value(self) -> float:
        """Of the best action."""
        return self.values[self.best]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a move was worth to the player who made it."""

    player: int
    action: Action
    value: float
    value_proven: bool
    best: Action
    best_value: float
    best_proven: bool
    line: tuple[Action, ...]
    """What should have been played, `best` first."""
    optimal: bool
    depth: int | None
    """Plies that were searched; None if the game itself knows the values."""
    indifferent: bool
    """True if all moves are proven to have the same value."""
    plies: int | None = None
    """Plies to the end of the game, if the move is proven to win or to lose and a small search found how soon."""
    best_plies: int | None = None
    """The same of the best move."""

    @property
    def proven(self) -> bool:
        """True if optimal, or not optimal, is certain."""
        return self.value_proven and self.best_proven

    @property
    def loss(self) -> float:
        """What the move gave away: 0 if it was optimal."""
        return 0.0 if self.optimal else self.best_value - self.value


class Judge:
    """Analyses positions under its own limits, whoever plays. Where the game knows the values, nothing is searched."""

    def __init__(self, game: Game, evaluator: Evaluator, limits: Limits) -> None:
        self.game, self.evaluator, self.limits = game, evaluator, limits
        low, high = game.utility_range
        self.same = SAME * (high - low)
        self.certain = (low, high) if is_minimax(game) else ()
        """Values that are proven wherever they occur."""
        self._search: Search | None = None
        self._last: tuple[State, Analysis] | None = None

    def analyse(self, s: State) -> Analysis:
        """Return the values of all legal actions of `s`, where a player is to move."""
        if self._last is None or self._last[0] != s:
            self._last = s, self._solve(s) or self._searched(s)
        return self._last[1]

    def judge(self, s: State, a: Action) -> Verdict:
        """Return the verdict on the legal action `a` in `s`."""
        known = self.analyse(s)
        value, proven, depth = known.values[a], self.is_proven(s, a, known), known.depth
        best_proven = self.best_is_proven(s, known)
        if best_proven and not proven and self.certain:
            value, proven, depth = self._look_further(s, a, known)
        return Verdict(
            player=known.player,
            action=a,
            value=value,
            value_proven=proven,
            best=known.best,
            best_value=known.value,
            best_proven=best_proven,
            line=known.line,
            optimal=known.value - value <= self.same,
            depth=depth,
            indifferent=all(
                known.value - v <= self.same and self.is_proven(s, b, known) for b, v in known.values.items()
            ),
            plies=self.plies(s, a, value) if proven else None,
            best_plies=self.plies(s, known.best, known.value) if best_proven else None,
        )

    def plies(self, s: State, a: Action, value: float) -> int | None:
        """Return the plies from `s` to the end after `a`, which is proven to win or to lose; None where unknown."""
        if value not in self.certain or self._search is None:  # where the game knows, nothing is searched
            return None
        return plies_to_end(self.game, self._search, s, a, value)

    def is_proven(self, s: State, a: Action, known: Analysis) -> bool:
        """Return True if the value of `a` in `s` is certain."""
        return known.complete or known.values[a] in self.certain or self.game.is_terminal(self.game.result(s, a))

    def best_is_proven(self, s: State, known: Analysis) -> bool:
        """Return True if it is certain that the best action has its value and that no other has a higher one."""
        highest = known.value == self.game.utility_range[1]
        return known.complete or known.value in self.certain or (highest and self.is_proven(s, known.best, known))

    # --- the game knows --------------------------------------------------------------------------------------------
    def _solve(self, s: State) -> Analysis | None:
        values = self.game.solved(s)
        if values is None:
            return None
        line = self._solved_line(s)
        return Analysis(self.game.to_play(s), values, line[0], line, None, True)

    def _solved_line(self, s: State) -> tuple[Action, ...]:
        """Return the first best action of each position, as far as the game knows, or until dice are rolled."""
        line: list[Action] = []
        while not self.game.is_terminal(s) and self.game.to_play(s) != CHANCE and len(line) < LONGEST_LINE:
            values = self.game.solved(s)
            if values is None:
                break
            line.append(max(values, key=values.__getitem__))
            s = self.game.result(s, line[-1])
        return tuple(line)

    # --- a search finds out ----------------------------------------------------------------------------------------
    def prepare(self) -> None:
        """Compile, or fetch from the disk, the search: before somebody waits for it."""
        if type(self.game).solved is Game.solved:  # a game that knows all needs none
            self._searcher()

    def _searcher(self) -> Search:
        if self._search is None:
            self._search = search_for(self.game, self.evaluator, sound=True)
        return self._search

    def _run(self, s: State) -> SearchResult:
        """Search at least one ply, whatever the limits."""
        found: SearchResult = self._searcher().search(s, self.limits, action_values=True)
        if found.depth == 0:
            found = self._searcher().search(s, Limits(depth=1), action_values=True)
        return found

    def _searched(self, s: State) -> Analysis:
        found = self._run(s)
        assert found.action_values is not None  # at depth 1 and more they are there
        complete = found.exact and found.value not in self.certain  # otherwise a win alone may have ended the search
        line = _whole_line(self.game, s, found.pv)
        return Analysis(found.player, found.action_values, found.action, line, found.depth, complete)

    def _look_further(self, s: State, a: Action, known: Analysis) -> tuple[float, bool, int | None]:
        """Return (value, proven, plies) of an action beyond the depth that was enough for the best one."""
        found = self._run(self.game.result(s, a))
        value = found.value if found.player == known.player else 0.0 - found.value
        return value, found.exact, found.depth + 1


def _whole_line(game: Game, s: State, line: Sequence[Action]) -> tuple[Action, ...]:
    """Return the line as far as it can be played: a table may have cut it short, but never made it wrong."""
    whole: list[Action] = []
    for a in line:
        if game.is_terminal(s) or a not in game.actions(s):
            break
        whole.append(a)
        s = game.result(s, a)
    return tuple(whole)


def mean_loss(verdicts: Sequence[Verdict]) -> float:
    """Return what the moves gave away on average; NaN without any."""
    return math.fsum(v.loss for v in verdicts) / len(verdicts) if verdicts else math.nan
