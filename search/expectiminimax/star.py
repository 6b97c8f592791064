"""Star1 and Star2: alpha-beta through the dice (Ballard 1983; Hauk, Buro & Schaeffer 2004), on the Python backend.

A roll is worth the mean of its outcomes, and each of these lies between the worst loss and the best win. So once some
outcomes are known, the others can move the mean only so far: often not into the window, and then the rest is cut
(Star1). Star2 looks at one action after each outcome first: what it is worth is a bound of that outcome, since who
chooses there can only do better; with such bounds for all outcomes the mean is often decided.

It is the same algorithm as the kernel of tree_kernel.py, node for node, and the kernel's oracle.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rng import GOLDEN, drawn, scramble
from evallearn.core.search import IsCutoff
from evallearn.search.common.deepening import Line
from evallearn.search.expectiminimax.plain import LEFT_OUT, Filtered

Pruning = Literal["star2", "star1", "none"]
EXACT, LOWER, UPPER = 1, 2, 3
SLACK = 2.0**-44
"""Of the largest utility, per outcome: far more than the rounding of a sum, so that a bound never excludes the sum."""
SALT = 0x57A2
"""Anything, mixed twice: keys are often one small number mixed once, and must not meet seeds or other keys."""


class Found(NamedTuple):
    """What a position is worth to the root's player, the line that leads to it, and how uncertain a sample makes it."""

    value: float
    line: Line = ()
    variance: float = 0.0


class Stored(NamedTuple):
    """What the table knows of a position."""

    depth: int
    bound: int
    proven: bool
    """No evaluator was asked: true for every greater depth too."""
    found: Found
    action: Action | None


@dataclass(slots=True)
class Outcome:
    """One outcome of a roll, and what is known of its value."""

    state: State
    p: float
    slot: int
    """Its number among all outcomes: what was best after it elsewhere is tried first."""
    low: float
    high: float
    settled: bool = False
    variance: float = 0.0


@dataclass
class Roll:
    """All outcomes of a roll: what is known of their mean, and what each must be worth to change anything."""

    outcomes: list[Outcome]
    largest: float
    throws: int = 0
    """How many were drawn; 0 if these are all outcomes."""
    least: float = field(init=False, default=0.0)
    most: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.slack = len(self.outcomes) * (SLACK * self.largest)
        for o in self.outcomes:
            self.least += o.p * o.low
            self.most += o.p * o.high

    def note_low(self, o: Outcome, v: float) -> None:
        self.least += o.p * (v - o.low)
        o.low = v

    def note_high(self, o: Outcome, v: float) -> None:
        self.most += o.p * (v - o.high)
        o.high = v

    def settle(self, o: Outcome, v: float) -> None:
        self.note_low(o, v)
        self.note_high(o, v)
        o.settled = True

    def decided(self, alpha: float, beta: float) -> tuple[Found, int] | None:
        """Return a bound of the mean that lies outside the window, if one is known."""
        if self.most + self.slack <= alpha:
            return Found(self.most + self.slack), UPPER
        if self.least - self.slack >= beta:
            return Found(self.least - self.slack), LOWER
        return None

    def lowest_needed(self, o: Outcome, alpha: float) -> float:
        """If `o` is worth no more than this, the roll is worth no more than alpha, however the mean is rounded."""
        return (alpha - 2 * self.slack - (self.most - o.p * o.high)) / o.p

    def highest_needed(self, o: Outcome, beta: float) -> float:
        """If `o` is worth at least this, the roll is worth at least beta."""
        return (beta + 2 * self.slack - (self.least - o.p * o.low)) / o.p

    def mean(self) -> Found:
        """Return the mean, added up in the order of the outcomes, as without pruning; `variance` is that of the mean.

        Of drawn outcomes: their spread among each other, which holds the errors of their own values, and what is
        missing of these where an outcome was drawn more than once.
        """
        mean = variance = 0.0
        for o in self.outcomes:
            mean += o.p * o.low
        for o in self.outcomes:
            weight = o.p
            if self.throws:
                away = o.low - mean
                variance += o.p * away * away / (self.throws - 1)
                weight -= 1.0 / self.throws
            variance += o.p * weight * o.variance
        return Found(mean, (), variance)


class Star(Filtered):
    """See `Expectiminimax` for what it promises."""

    prunes = True

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        pruning: Pruning,
        table: bool,
        samples: int | None,
        width: int | None,
        is_cutoff: IsCutoff,
    ) -> None:
        super().__init__(game, evaluator, width=width, is_cutoff=is_cutoff)
        self.pruning, self.use_table, self.samples = pruning, table, samples
        self.worst, self.best = map(float, game.utility_range)

    def begin(self, s: State, seed: int | None) -> None:
        self.table: dict[State, Stored] = {}
        self.best_after: dict[tuple[int, int], Action] = {}
        """(ply, slot) -> the last best action there."""
        self.stream = scramble(scramble((seed or 0) + SALT))
        self.drawn = self.sampled = False
        """Whether any outcomes were drawn so far; in the finished iterations."""
        self.variances = [0.0] * len(self.ranks)

    def standard_error(self, best: int) -> float | None:
        return math.sqrt(self.variances[best]) if self.sampled else None

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        """Search the root actions, the best of the last iteration first; return their values and lines.

        Ties go to the lower rank: its window includes the tie.
        """
        actions, ranks = self.game.actions(s), self.ranks
        found = {}
        best, best_index = -math.inf, -1
        for i in self.root_order()[: self.root_width(s, depth)]:
            alpha = best
            if self.all_values or self.pruning == "none":
                alpha = -math.inf
            elif best_index >= 0 and ranks[i] < ranks[best_index]:
                alpha = math.nextafter(best, -math.inf)
            found[i] = self.value(self.game.result(s, actions[i]), depth - 1, 1, alpha, math.inf)
            v = found[i].value
            if v > best or (v == best and ranks[i] < ranks[best_index]):
                best, best_index = v, i
        self.sampled = self.drawn
        self.variances = [found[i].variance if i in found else 0.0 for i in range(len(actions))]
        return [(found[i].value, found[i].line) if i in found else LEFT_OUT for i in range(len(actions))]

    def value(self, s: State, depth: int, ply: int, alpha: float, beta: float, slot: int = 0) -> Found:
        """To the root's player; fail-soft: exact if alpha < v < beta, a bound of the window's end otherwise."""
        self.budget.spend()
        game = self.game
        if game.is_terminal(s):
            self.ended += 1
            return Found(game.utility(s, self.player))
        if self.is_cutoff(s, depth):
            self.eval_calls += 1
            return Found(self.evaluator.evaluate(s, self.player))
        stored = self.table.get(s)
        if stored and (stored.depth == depth or (stored.proven and stored.depth < depth)):
            v = stored.found.value
            if stored.bound == EXACT or (stored.bound == LOWER and v >= beta) or (stored.bound == UPPER and v <= alpha):
                self.recalled += not stored.proven
                return stored.found
        before = self.eval_calls + self.recalled
        action = None
        if game.to_play(s) == CHANCE:
            found, bound = self._mean(s, depth, ply, alpha, beta)
        else:
            found, bound, action = self._choice(s, depth, ply, alpha, beta, slot)
        if self.use_table:
            line = (action,) if bound == EXACT and action is not None else ()
            known = Found(found.value, line, found.variance)
            self.table[s] = Stored(depth, bound, self.eval_calls + self.recalled == before, known, action)
        return found

    # --- a player chooses --------------------------------------------------------------------------------------------
    def _choice(
        self, s: State, depth: int, ply: int, alpha: float, beta: float, slot: int
    ) -> tuple[Found, int, Action | None]:
        """Alpha-beta; inside, as the mover sees it."""
        sign = 1 if self.game.to_play(s) == self.player else -1
        low_mover, high_mover = (alpha, beta) if sign == 1 else (-beta, -alpha)
        best_mover, best, best_action = -math.inf, Found(0.0), None
        for a in self._ordered(s, depth, ply, slot):
            window = (low_mover, high_mover) if sign == 1 else (-high_mover, -low_mover)
            found = self.value(self.game.result(s, a), depth - 1, ply + 1, *window)
            v = sign * found.value
            if v > best_mover:
                best_mover, best_action = v, a
                best = Found(found.value, (a, *found.line), found.variance)
                if self.pruning != "none":
                    low_mover = max(low_mover, v)
                    if v >= high_mover:
                        break
        self.best_after[ply, slot] = best_action
        bound = EXACT if alpha < best.value < beta else UPPER if best.value <= alpha else LOWER
        return best, bound, best_action

    def _ordered(self, s: State, depth: int, ply: int, slot: int) -> Sequence[Action]:
        """Return the actions in search order.

        The table's action comes first, then the last best one after the same outcome at this ply, then the others in
        their own order.
        """
        actions = list(self.passing(s, depth))
        if self.pruning != "none":
            stored = self.table.get(s)
            for a in (self.best_after.get((ply, slot)), stored.action if stored else None):
                if a in actions:
                    actions.remove(a)
                    actions.insert(0, a)
        return actions

    # --- the dice choose ---------------------------------------------------------------------------------------------
    def _mean(self, s: State, depth: int, ply: int, alpha: float, beta: float) -> tuple[Found, int]:
        roll = self._roll(s)
        if self.pruning == "star2" and (alpha > -math.inf or beta < math.inf):
            for o in roll.outcomes:
                self._probe(roll, o, depth, ply, alpha, beta)
                if bound := roll.decided(alpha, beta):
                    return bound
        for o in roll.outcomes:
            if not o.settled:
                low, high = roll.lowest_needed(o, alpha), roll.highest_needed(o, beta)
                v, _, o.variance = self.value(o.state, depth, ply + 1, low, high, o.slot)
                roll.settle(o, v)
                if bound := roll.decided(alpha, beta):
                    return bound
        return roll.mean(), EXACT

    def _probe(self, roll: Roll, o: Outcome, depth: int, ply: int, alpha: float, beta: float) -> None:
        """Settle the outcome if it is a leaf; else bound it by one action, if such a bound can cut."""
        game = self.game
        if game.is_terminal(o.state) or self.is_cutoff(o.state, depth):
            v = self.value(o.state, depth, ply + 1, -math.inf, math.inf).value
            roll.settle(o, v)
            return
        chooser = game.to_play(o.state)
        if chooser == CHANCE or (beta == math.inf if chooser == self.player else alpha == -math.inf):
            return
        self.budget.spend()
        child = game.result(o.state, self._ordered(o.state, depth, ply + 1, o.slot)[0])
        if chooser == self.player:
            v = self.value(child, depth - 1, ply + 2, -math.inf, roll.highest_needed(o, beta)).value
            roll.note_low(o, max(v, o.low))
        else:
            v = self.value(child, depth - 1, ply + 2, roll.lowest_needed(o, alpha), math.inf).value
            roll.note_high(o, min(v, o.high))

    def _roll(self, s: State) -> Roll:
        """Return the outcomes, or a sample of them with their shares of the throws."""
        chances = self.game.chances(s)
        throws = self.samples if self.samples and self.samples < len(chances) else 0
        odds = [p for _, p in chances]
        if throws:
            odds = [n / throws for n in self._throw(s, odds, throws)]
        outcomes = [
            Outcome(self.game.result(s, outcome), p, slot, self.worst, self.best)
            for slot, ((outcome, _), p) in enumerate(zip(chances, odds, strict=True))
            if p
        ]
        return Roll(outcomes, max(abs(self.worst), abs(self.best)), throws)

    def _throw(self, s: State, odds: list[float], throws: int) -> list[int]:
        """How often each outcome came. It follows from the seed and the position alone, not from the way here."""
        self.drawn = True
        counts = [0] * len(odds)
        stream = scramble(self._key(s) ^ self.stream)
        for j in range(throws):
            counts[drawn(scramble(stream + (j + 1) * GOLDEN), odds)] += 1
        return counts

    def _key(self, s: State) -> int:
        """Return what the throws at `s` depend on: the key of the compiled backend, if there is one."""
        rules = self.game.rules
        if rules is None:
            return int.from_bytes(hashlib.blake2b(self.game.to_text(s).encode(), digest_size=8).digest(), "little")
        import numpy as np

        with np.errstate(over="ignore"):
            return int(rules.key(rules.State(*map(np.uint64, self.game.encode(s)))))
