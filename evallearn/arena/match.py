"""Matches: paired openings with seats swapped, so that neither side owes anything to luck or to the first move.

What chance there is depends on the match's seed, the pair and the ply, never on who plays or where they sit: an agent
that meets itself plays each pair's game twice and comes out exactly even, even if it plays at random.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import count
from time import perf_counter
from typing import Any

from evallearn.agents import Agent
from evallearn.arena.openings import Referee, mix, openings, referee_of
from evallearn.arena.stats import EloEstimate, elo_from_pairs
from evallearn.errors import GameError, IllegalAction, SpecError
from evallearn.protocols import CHANCE, Action, Game, State
from evallearn.workers import check_workers, imap

PAIRS_PER_JOB = 4
"""Few, so that progress is seen; enough that passing them to a worker (0.1 ms) does not count."""


# --- the result ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game of a match, in the game's own notation."""

    pair: int
    opening: str
    players: tuple[str, str]
    """The agents that were player 0 and player 1."""
    actions: tuple[str, ...]
    """After the opening."""
    utility: float
    """To player 0."""


@dataclass(frozen=True)
class MatchResult:
    """What A and B did; wins, losses, score and Elo are A's, and tuples are (A, B)."""

    game: str
    names: tuple[str, str]
    seed: int
    random_plies: int
    wins: int
    draws: int
    losses: int
    pair_counts: tuple[int, ...]
    """Pairs in which A made 0, 1/2, 1, 3/2, 2 points."""
    elo: EloEstimate
    distinct_games: int
    """Different openings or moves; two games that differ only in the seats are one."""
    pairs_asked: int
    """More than were played if the game has no more different openings of this length."""
    moves: tuple[int, int]
    nodes: tuple[int, int]
    seconds: tuple[float, float]
    """Spent choosing, by the clock; compiling is left out."""
    records: tuple[GameRecord, ...] = field(default=(), repr=False)
    """Every game, if `keep_games` asked for them."""

    @property
    def games(self) -> int:
        """Two per pair."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean points of A per game, 0 to 1."""
        return self.elo.score

    @property
    def nodes_per_move(self) -> tuple[float, float]:
        """Mean positions visited for a move."""
        return self.nodes[0] / max(1, self.moves[0]), self.nodes[1] / max(1, self.moves[1])

    @property
    def seconds_per_move(self) -> tuple[float, float]:
        """Mean wall time for a move."""
        return self.seconds[0] / max(1, self.moves[0]), self.seconds[1] / max(1, self.moves[1])

    def to_json(self) -> dict[str, Any]:
        """Everything, in plain lists, numbers and texts: ready for json.dump."""
        more = {name: getattr(self, name) for name in ("games", "nodes_per_move", "seconds_per_move")}
        data = {**asdict(self), **more, **asdict(self.elo)}  # elo, low, high, score, pairs side by side
        if not self.records:
            del data["records"]
        return json.loads(json.dumps(data))  # type: ignore[no-any-return]


# --- play ------------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Played:
    """One game as a worker sends it back; lists are [A, B]."""

    actions: tuple[Action, ...]
    utility: float
    """To A."""
    moves: list[int]
    nodes: list[int]
    seconds: list[float]


@dataclass
class Table:
    """Where two agents play. It travels to workers by pickle and builds its referee where it arrives."""

    game: Game
    agents: tuple[Agent, Agent]
    seed: int
    _referee: Referee | None = field(default=None, init=False, repr=False)
    _warm: set[int] = field(default_factory=set, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_referee": None, "_warm": set()}

    def __call__(self, job: Sequence[tuple[int, State]]) -> list[Played]:
        """Plays each (pair, opening) twice: A is player 0, then player 1."""
        return [self.play(s, pair, seat_of_a) for pair, s in job for seat_of_a in (0, 1)]

    def play(self, s: State, pair: int, seat_of_a: int) -> Played:
        """One game from `s`."""
        referee = self._referee = self._referee or referee_of(self.game)
        actions: list[Action] = []
        played = Played((), 0.0, [0, 0], [0, 0], [0.0, 0.0])
        pair_seed = mix(mix(self.seed) + pair)
        for ply in count():
            player, legal = referee.look(s)
            if not legal:
                break
            seed = mix(pair_seed + ply)
            a = referee.roll(s, seed) if player == CHANCE else self._choose(s, player ^ seat_of_a, seed, played)
            if a not in legal:
                raise self._illegal(s, a, legal, player ^ seat_of_a)
            s = referee.after(s, a)
            actions.append(a)
        played.actions, played.utility = tuple(actions), self.game.utility(s, seat_of_a)
        return played

    def _choose(self, s: State, side: int, seed: int, played: Played) -> Action:
        """The move of A (side 0) or B, on the books of `played`."""
        agent = self.agents[side]
        start = perf_counter()
        found = agent.choose(s, seed)
        seconds = perf_counter() - start
        if id(agent) not in self._warm:  # the first move may compile kernels: believe the search's own clock
            self._warm.add(id(agent))
            seconds = min(seconds, found.seconds)
        played.moves[side] += 1
        played.nodes[side] += found.nodes
        played.seconds[side] += seconds
        return found.action  # type: ignore[no-any-return]

    def _illegal(self, s: State, a: Action, legal: Sequence[Action], side: int) -> IllegalAction:
        texts = " ".join(self.game.action_to_text(s, x) for x in legal)
        return IllegalAction(
            f"agent {self.agents[side].name} chose the illegal action {a!r} in {self.game.name} position "
            f"{self.game.to_text(s)!r}; legal: {texts}"
        )


def play_match(
    game: Game,
    a: Agent,
    b: Agent,
    *,
    pairs: int,
    random_plies: int,
    seed: int,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
    keep_games: bool = False,
) -> MatchResult:
    """A against B, 2 * pairs games: each random opening twice, with seats swapped.

    A game with fewer different openings of that length gets fewer pairs: see `pairs` and `pairs_asked` of the result.
    The same seed gives the same result (but for `seconds`) with any number of workers, unless time limits an agent.
    `on_progress(games done, games in all)` is called as they finish.
    """
    game = getattr(game, "plain", game)  # of a CompiledGame: the referee compiles its own
    _check(game, (a, b), pairs, random_plies)
    check_workers(workers)
    starts = openings(game, pairs, random_plies, seed)
    for agent in (a, b):
        agent.prepare()  # here first: it is told, and done once instead of in every worker
    size = 1 if workers == 1 else min(PAIRS_PER_JOB, -(-len(starts) // (4 * workers)))
    numbered = list(enumerate(starts))
    jobs = [numbered[i : i + size] for i in range(0, len(starts), size)]
    played: dict[int, list[Played]] = {}
    done = 0
    with closing(imap(Table(game, (a, b), seed), jobs, workers)) as results:
        for index, games in results:
            played[index] = games
            done += len(games)
            if on_progress:
                on_progress(done, 2 * len(starts))
    in_order = [g for index in sorted(played) for g in played[index]]
    names = a.name, b.name
    records = [_record(game, names, starts[i // 2], i, g) for i, g in enumerate(in_order)] if keep_games else []
    given = {"names": names, "seed": seed, "random_plies": random_plies, "pairs_asked": pairs}
    return _summary(game, starts, in_order, records=tuple(records), **given)


def _check(game: Game, agents: tuple[Agent, Agent], pairs: int, random_plies: int) -> None:
    if game.n_players != 2 or not game.zero_sum:
        why = f"has {game.n_players} players" if game.n_players != 2 else "is not zero-sum"
        raise GameError(
            f"a match needs a two-player zero-sum game; {game.name} {why}: "
            "compare its agents by their mean utility over games with every seating"
        )
    for name, value, least in (("pairs", pairs, 1), ("random_plies", random_plies, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise SpecError(f"{name}={value!r}: give a whole number of {least} or more")
    for agent in agents:
        if agent.game.name != game.name:
            raise SpecError(f"agent {agent.name} plays {agent.game.name}, but the match is {game.name}: rebuild it")


def _summary(game: Game, starts: Sequence[State], played: Sequence[Played], **given: Any) -> MatchResult:
    points = [0.5 + 0.5 * ((g.utility > 0) - (g.utility < 0)) for g in played]
    pair_points = Counter(x + y for x, y in zip(points[::2], points[1::2], strict=True))
    pair_counts = tuple(pair_points[x / 2] for x in range(5))
    return MatchResult(
        game=game.name,
        wins=points.count(1.0),
        draws=points.count(0.5),
        losses=points.count(0.0),
        pair_counts=pair_counts,
        elo=elo_from_pairs(pair_counts),
        distinct_games=len({(starts[i // 2], g.actions) for i, g in enumerate(played)}),
        moves=_by_side(g.moves for g in played),
        nodes=_by_side(g.nodes for g in played),
        seconds=_by_side(g.seconds for g in played),
        **given,
    )


def _by_side(figures: Iterable[Sequence[Any]]) -> tuple[Any, Any]:
    of_a, of_b = zip(*figures, strict=True)
    return sum(of_a), sum(of_b)


def _record(game: Game, names: tuple[str, str], start: State, number: int, played: Played) -> GameRecord:
    """Game `number` of the match in text: the even ones have A as player 0."""
    s, texts = start, []
    for a in played.actions:
        texts.append(game.action_to_text(s, a))
        s = game.result(s, a)
    players = names if number % 2 == 0 else (names[1], names[0])
    return GameRecord(number // 2, game.to_text(start), players, tuple(texts), game.utility(s, 0))
