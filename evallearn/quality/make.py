"""How a suite is made: positions out of games, valued by a search deeper than any in which an evaluator is tested.

Drawn: each game begins with the game's usual number of random plies; then every fifth move, on average, is random and
the others are those of a shallow search with an evaluator, equal ones at random. So positions are neither all sensible
nor all nonsense. From each game comes one position of its first, one of its middle and one of its last third. They are
all different, unfinished, and leave the mover at least two actions.

Valued: by the game itself where it knows (`Game.solved`), or else by a search. Without dice, with two players, every
action is searched on its own, so that one proven win does not keep the search from proving another. A position is
exact if the values of all its actions are proven.

The same seed gives the same suite for any number of workers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from evallearn.agents import SearchAgent
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.search import Limits, Search
from evallearn.core.workers import imap, keep_workers
from evallearn.data.boards import on_fastest_backend
from evallearn.errors import SearchError, SpecError
from evallearn.quality.playing import dice_of, random_action
from evallearn.quality.suite import Item, Suite
from evallearn.search import search_for
from evallearn.search.exact.solver import Solution, solve

EXPLORATION = 0.2
"""The share of random moves."""
LONGEST = 400
"""Plies after which a game is left."""
PER_GAME = 3
FEWEST_GAMES, MOST_GAMES = 8, 2000
"""Of one round."""
SELDOM, DRY_ROUNDS = 0.02, 3
"""New positions per game, and rounds in a row with fewer: then the game has no more, or none worth waiting for."""
MOST_SOLVED = 300_000
"""Positions of a game that is solved whole: some seconds, and some hundred megabytes."""
SAMPLE = 5
"""Positions by which a fitting depth is found."""
DEEPEST = 12
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Drawn:
    """A position as it came up in a game."""

    position: str
    ply: int


def make_suite(
    game: Game,
    evaluator: Evaluator,
    limits: Limits | None,
    *,
    positions: int = 500,
    seed: int = 1,
    workers: int = 1,
    on_drawn: Progress | None = None,
    on_judged: Progress | None = None,
) -> Suite:
    """Return positions of the game, valued within `limits` with this evaluator; without limits: solved.

    There are fewer than asked for where the game has no more.

    Raises SpecError for a limit in seconds (it would not repeat), and where the game cannot be solved.
    """
    if limits is not None and limits.seconds is not None:
        raise SpecError(f"limits {limits}: by time no suite repeats; give a depth, or nodes")
    judge = Judge(game, evaluator, limits)
    judge.prepare()
    drawn = draw(game, evaluator, positions, seed=seed, workers=workers, on_progress=on_drawn)
    if not drawn:
        raise SpecError(f"no position of {game.name} came up in which somebody had a choice: there is nothing to judge")
    items: list[Item | None] = [None] * len(drawn)
    for done, (i, item) in enumerate(imap(judge, drawn, workers), 1):
        items[i] = item
        if on_judged:
            on_judged(done, len(drawn))
    return Suite(game, tuple(item for item in items if item is not None), judge.name)


def fitting_depth(evaluator: Evaluator, states: Sequence[State], nodes: int, *, most: int = DEEPEST) -> int:
    """Return the deepest search that takes at most so many nodes for a position, on average over the first few.

    By nodes, not by the clock: so it is the same on every machine.
    """
    search = search_for(evaluator.game, evaluator, sound=True)
    depth = 1
    while depth < most:
        limits = Limits(depth=depth + 1, nodes=10 * nodes)
        found = [search.search(s, limits, action_values=True) for s in states[:SAMPLE]]
        if sum(r.nodes for r in found) > nodes * len(found) or not any(r.depth > depth for r in found):
            break
        depth += 1
    return depth


def reference_depth(evaluator: Evaluator, states: Sequence[State], nodes: int) -> int:
    """Return the same for a reference: even if possible, so that lines end with the same player to move as at the root.

    Many evaluators overrate the player who has just moved; after an odd number of plies that would be the one whose
    choices are to be valued.
    """
    depth = fitting_depth(evaluator, states, nodes)
    return depth - depth % 2 if depth > 1 and evaluator.game.n_players == 2 else depth


# --- positions -------------------------------------------------------------------------------------------------------
def draw(
    game: Game,
    evaluator: Evaluator,
    positions: int,
    *,
    seed: int = 1,
    workers: int = 1,
    on_progress: Progress | None = None,
) -> list[Drawn]:
    """Return different positions out of games, by the ply at which they came up; fewer if no more can be found."""
    play = GamePlayer(game, evaluator, seed)
    play.prepare()
    found: dict[State, Drawn] = {}
    games = dry = 0
    new_per_game = float(PER_GAME)
    with keep_workers():
        while len(found) < positions and dry < DRY_ROUNDS:
            wanted = math.ceil((positions - len(found)) / max(new_per_game, SELDOM))
            batch, before = range(games, games + min(max(wanted, FEWEST_GAMES), MOST_GAMES)), len(found)
            per_game = dict(imap(play, batch, workers))
            for number in range(len(batch)):  # in this order, whichever was played first
                for new in per_game[number]:
                    found.setdefault(game.from_text(new.position), new)
            games, new_per_game = batch.stop, (len(found) - before) / len(batch)
            dry = dry + 1 if new_per_game < SELDOM else 0
            if on_progress:
                on_progress(min(len(found), positions), positions)
    return sorted(list(found.values())[:positions], key=lambda d: (d.ply, d.position))


@dataclass
class GamePlayer:
    """Plays game number n and picks a position from each of its thirds. It can be sent to a worker."""

    game: Game
    evaluator: Evaluator
    seed: int
    _tools: tuple[SearchAgent, Game] | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_tools": None}

    def prepare(self) -> tuple[SearchAgent, Game]:
        """Return the agent and the fast rules; kernels are compiled here, before workers would all do it."""
        if self._tools is None:
            limits = Limits(depth=1 if self.game.has_chance or self.game.n_players != 2 else 2)
            agent = SearchAgent(self.game, self.evaluator, limits, random_ties=True)
            agent.prepare()
            self._tools = agent, on_fastest_backend(self.game)
        return self._tools

    def __call__(self, number: int) -> list[Drawn]:
        agent, game = self.prepare()
        rng = dice_of(self.seed, number)
        s, seen, ply = game.initial(), [], 0
        while ply < LONGEST and not game.is_terminal(s):
            rolls = game.to_play(s) == CHANCE
            if not rolls and len(game.actions(s)) > 1:
                seen.append((ply, s))
            free = rolls or ply < game.opening_plies or rng.random() < EXPLORATION
            a = random_action(game, s, rng) if free else agent.choose(s, rng.getrandbits(32)).action
            s, ply = game.result(s, a), ply + 1
        return [Drawn(self._text(t), at) for at, t in _one_of_each_third(seen, ply, rng)]

    def _text(self, s: State) -> str:
        return self.game.to_text(self.game.without_history(s))


def _one_of_each_third(seen: list[tuple[int, State]], plies: int, rng: random.Random) -> list[tuple[int, State]]:
    parts: list[list[tuple[int, State]]] = [[], [], []]
    for ply, s in seen:
        parts[3 * ply // plies].append((ply, s))
    return [rng.choice(part) for part in parts if part]


# --- values of actions -----------------------------------------------------------------------------------------------
@dataclass
class Judge:
    """Values every action of a position. It can be sent to a worker, which compiles, or solves, anew."""

    game: Game
    evaluator: Evaluator
    limits: Limits | None
    """None: solve the game."""
    _search: Search | None = field(default=None, init=False, repr=False)
    _solution: Solution | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_search": None, "_solution": None}

    @property
    def name(self) -> str:
        """What the values come from, in words."""
        return "exact" if self.limits is None else f"{self.limits} with the {self.evaluator.name} evaluator"

    def prepare(self) -> None:
        """Compile the search, or solve the game, once and early."""
        if self.limits is not None and self._search is None:
            self._search = search_for(self.game, self.evaluator, sound=True)
        elif self.limits is None and self._solution is None and self.game.solved(self._first()) is None:
            self._solve()

    def _first(self) -> State:
        """Return a decision at the beginning."""
        s = self.game.initial()
        while self.game.to_play(s) == CHANCE:
            s = self.game.result(s, self.game.chances(s)[0][0])
        return s

    def _solve(self) -> Solution:
        if self._solution is None:
            try:
                self._solution = solve(self.game, max_states=MOST_SOLVED)
            except SearchError as error:
                raise SpecError(f"exact values are out of reach ({error}): judge by a search, as depth=10") from None
        return self._solution

    def __call__(self, drawn: Drawn) -> Item:
        self.prepare()
        s = self.game.from_text(drawn.position)
        values, exact = self.values(s)
        ordered = {a: float(values[a]) for a in self.game.actions(s)}
        best = max(ordered.values())
        return Item(state=s, player=self.game.to_play(s), value=best, values=ordered, ply=drawn.ply, exact=exact)

    def values(self, s: State) -> tuple[dict[Action, float], bool]:
        """Return the value of every action to the player to move, and whether all are proven."""
        known = self.game.solved(s)
        if known is None and self.limits is None:
            known = self._solve().solved(s)
            if known is None:
                raise SpecError(
                    f"{self.game.name} position {self.game.to_text(s)!r} cannot be reached: it is not solved"
                )
        if known is not None:
            return dict(known), True
        two_sided = self.game.n_players == 2 and self.game.zero_sum and not self.game.has_chance
        deeper = self.limits is not None and (self.limits.depth is None or self.limits.depth > 1)
        return self._each(s) if two_sided and deeper else self._all(s)

    def _each(self, s: State) -> tuple[dict[Action, float], bool]:
        """Search each action on its own, a ply less deep: it may be proven while others are not."""
        assert self._search is not None
        assert self.limits is not None
        game, player, depth = self.game, self.game.to_play(s), self.limits.depth
        limits = replace(self.limits, depth=depth - 1) if depth else self.limits
        values, exact = {}, True
        for a in game.actions(s):
            t = game.result(s, a)
            if game.is_terminal(t):
                values[a] = game.utility(t, player)
                continue
            found = self._search.search(t, limits)
            if not found.depth and not found.exact:
                raise self._too_little(s)
            values[a] = found.value if found.player == player else 0.0 - found.value
            exact = exact and found.exact
        return values, exact

    def _all(self, s: State) -> tuple[dict[Action, float], bool]:
        """Search all actions at once."""
        assert self._search is not None
        assert self.limits is not None
        found = self._search.search(s, self.limits, action_values=True)
        if found.action_values is None:
            raise self._too_little(s)
        ends = all(self.game.is_terminal(self.game.result(s, a)) for a in self.game.actions(s))
        proven = found.exact and (self.game.has_chance or self.game.n_players == 1)
        return dict(found.action_values), ends or proven

    def _too_little(self, s: State) -> SpecError:
        where = f"{self.game.name} position {self.game.to_text(s)!r}"
        return SpecError(f"limits {self.limits}: not one ply of {where} fits in: give more")
