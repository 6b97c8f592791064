"""What a match has shown: counted set by set, returned as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from evallearn.arena.bootstrap import Mean, bootstrap_mean, control_variate
from evallearn.arena.openings import Opening
from evallearn.arena.records import GameRecord
from evallearn.arena.seating import Played, SetScore, by_game, score_set
from evallearn.arena.sprt import Sprt, SprtState
from evallearn.arena.stats import EloEstimate, elo_from_pairs
from evallearn.arena.stopped import elo_after_sprt
from evallearn.core.digest import plain_json
from evallearn.core.game import Action, Game, State
from evallearn.core.json_shapes import JsonDict

CURVE_POINTS = 20
"""Of the picture of how the Elo settled."""


@dataclass(frozen=True)
class Forfeit:
    """A game that an engine lost by failing."""

    number: int
    agent: str
    why: str


@dataclass(frozen=True)
class Luck:
    """The margin with the luck of the dice taken off."""

    margin: Mean
    slope: float
    """Which share of the measured luck was taken off."""
    variance_ratio: float
    """Variance of the adjusted sets over that of the plain ones: a quarter means as much as four times the games."""


@dataclass(frozen=True)
class StopEffect:
    """An SPRT stops a match at a moment when it looks clear: figures that do not know of it lie too far out."""

    elo_corrected: bool
    """False: the match is too lopsided, or too short, to be corrected; its Elo lies too far out."""
    elo_as_counted: float
    """Elo and interval as they would be without a test."""
    low_as_counted: float
    high_as_counted: float
    uncorrected: tuple[str, ...]
    """The fields of the result that the stop affects, and that are not corrected."""


@dataclass(frozen=True)
class MatchResult:
    """What A and B did; wins, losses, score, Elo and margin are A's, and tuples are (A, B)."""

    game: str
    names: tuple[str, str]
    seed: int
    opening_plies: int
    by_game: bool
    """True if each game is won, drawn or lost; else wins, draws and losses count sets: who had more utility?"""
    games: int
    wins: int
    draws: int
    losses: int
    pair_counts: tuple[int, ...]
    """Sets in which A made 0, 1/4, 1/2, 3/4 and all of the points."""
    elo: EloEstimate
    """Where an SPRT was applied, corrected for the stop, unless `stop` says otherwise."""
    stop: StopEffect | None
    """What the SPRT did to the figures; None without one."""
    margin: Mean
    """Two players, zero-sum: the mean utility to A (points per game). Else the mean of A's utilities less B's."""
    luck: Luck | None
    """The same with the luck of the dice taken off, where an evaluator measured it."""
    sprt: SprtState | None
    sprt_terms: Sprt | None
    distinct_games: int
    """Different openings or moves; games that differ only in the seats, or by mirroring, are one."""
    pairs_asked: int
    """More than were played if the game has no more different openings, or if the SPRT has decided."""
    moves: tuple[int, int]
    nodes: tuple[int, int]
    seconds: tuple[float, float]
    """Spent choosing, by the clock; compiling is left out."""
    forfeits: tuple[Forfeit, ...]
    adjudicated: dict[str, int]
    """How many games ended by each rule of adjudication."""
    curve: tuple[tuple[int, float, float, float], ...] = field(repr=False)
    """(sets, Elo, low, high) as the match went on."""
    records: tuple[GameRecord, ...] = field(default=(), repr=False)
    """Every game, if `keep_games` asked for them."""

    def __repr__(self) -> str:
        a, b = self.names
        won = f"{a} won {self.wins}, drew {self.draws}, lost {self.losses} against {b}"
        return f"<match of {self.game}: {won}; {self.elo}>"

    @property
    def score(self) -> float:
        """Mean points of A, 0 to 1."""
        return self.elo.score

    @property
    def nodes_per_move(self) -> tuple[float, float]:
        """Mean positions visited for a move."""
        return self.nodes[0] / max(1, self.moves[0]), self.nodes[1] / max(1, self.moves[1])

    @property
    def seconds_per_move(self) -> tuple[float, float]:
        """Mean wall time for a move."""
        return self.seconds[0] / max(1, self.moves[0]), self.seconds[1] / max(1, self.moves[1])

    def to_json(self) -> JsonDict:
        """Return everything, in plain lists, numbers and texts: ready for json.dump."""
        more = {name: getattr(self, name) for name in ("nodes_per_move", "seconds_per_move")}
        data = {**asdict(self), **more, **asdict(self.elo)}  # elo, low, high, score, pairs side by side
        terms = data.pop("sprt_terms")
        if terms and data["sprt"]:
            data["sprt"] |= terms
        if not self.records:
            del data["records"]
        return plain_json(data)


class Tally:
    """The sets of a match so far, in the order of their numbers."""

    def __init__(self, game: Game, names: tuple[str, str], sprt: Sprt | None, of: int) -> None:
        self.game, self.names, self.sprt_terms, self.of = game, names, sprt, of
        """of: how many sets there may be."""
        self.games = 0
        self.scores: list[SetScore] = []
        self.counts = [0, 0, 0, 0, 0]
        self.results: Counter[int] = Counter()
        self.moves, self.nodes, self.seconds = [0, 0], [0, 0], [0.0, 0.0]
        self.forfeits: list[Forfeit] = []
        self.forfeits_in_a_row = [0, 0]
        self.adjudicated: Counter[str] = Counter()
        self._different: set[int] = set()
        self._curve: list[tuple[int, float, float, float]] = []

    def add(self, opening: Opening, played: Sequence[Played]) -> None:
        """Count the next set."""
        score = score_set(self.game, played)
        self.scores.append(score)
        self.counts[round(4 * score.points)] += 1
        self.results.update(score.results)
        for g in played:
            self._book(g)
            self._different.add(self._key(opening.state, g.actions))
        n = len(self.scores)
        if n == self.of or n * CURVE_POINTS // self.of > (n - 1) * CURVE_POINTS // self.of:
            elo = self.elo
            self._curve.append((n, elo.elo, elo.low, elo.high))

    def _key(self, s: State, actions: Sequence[Action]) -> int:
        """Return a key of the game; from an opening that is its own mirror image, a mirrored game has the same key."""
        path = [self.game.images(s)]
        if len(set(path[0])) == len(path[0]):
            return hash((s, tuple(actions)))
        for a in actions:
            s = self.game.result(s, a)
            path.append(self.game.images(s))
        return hash(min(zip(*path, strict=True)))

    def _book(self, g: Played) -> None:
        for side in (0, 1):
            self.moves[side] += g.moves[side]
            self.nodes[side] += g.nodes[side]
            self.seconds[side] += g.seconds[side]
            if side in g.seats:
                self.forfeits_in_a_row[side] = self.forfeits_in_a_row[side] + 1 if g.forfeited_by == side else 0
        kind, _, why = g.end.partition(": ")
        if g.forfeited_by is not None:
            self.forfeits.append(Forfeit(self.games, self.names[g.forfeited_by], why))
        elif kind == "adjudicated":
            self.adjudicated[why] += 1
        self.games += 1

    @property
    def sets(self) -> int:
        """Sets counted so far."""
        return len(self.scores)

    @property
    def elo(self) -> EloEstimate:
        return elo_from_pairs(self.counts)

    @property
    def sprt(self) -> SprtState | None:
        """Where the SPRT stands; None if there is none."""
        return self.sprt_terms.test(self.counts) if self.sprt_terms and self.scores else None

    def result(self, *, seed: int, opening_plies: int, asked: int, records: Sequence[GameRecord]) -> MatchResult:
        """Return the figures."""
        plain = self.elo
        end = (self.sets, plain.elo, plain.low, plain.high)
        elo, stop = self._corrected(plain)
        return MatchResult(
            game=self.game.name,
            names=self.names,
            seed=seed,
            opening_plies=opening_plies,
            by_game=by_game(self.game),
            games=self.games,
            wins=self.results[1],
            draws=self.results[0],
            losses=self.results[-1],
            pair_counts=tuple(self.counts),
            elo=elo,
            stop=stop,
            margin=bootstrap_mean([s.margin for s in self.scores], seed=seed),
            luck=self._luck(seed),
            sprt=self.sprt,
            sprt_terms=self.sprt_terms,
            distinct_games=len(self._different),
            pairs_asked=asked,
            moves=(self.moves[0], self.moves[1]),
            nodes=(self.nodes[0], self.nodes[1]),
            seconds=(self.seconds[0], self.seconds[1]),
            forfeits=tuple(self.forfeits),
            adjudicated=dict(sorted(self.adjudicated.items())),
            curve=tuple(self._curve if self._curve[-1:] == [end] else [*self._curve, end]),
            records=tuple(records),
        )

    def _corrected(self, plain: EloEstimate) -> tuple[EloEstimate, StopEffect | None]:
        """Return the Elo, and what the SPRT did to the figures."""
        if self.sprt_terms is None:
            return plain, None
        found, state = elo_after_sprt(self.counts, self.sprt_terms), self.sprt
        stopped = state is not None and state.decision is not None
        fields = ("score", "margin", "luck", "curve") if stopped else ()
        left = fields if found or not stopped else ("elo", "nelo", "los", *fields)
        return found or plain, StopEffect(found is not None, plain.elo, plain.low, plain.high, left)

    def _luck(self, seed: int) -> Luck | None:
        """Return the margin without luck; None where a game has no luck of its own, forfeited or adjudicated."""
        lucks = [s.luck for s in self.scores if s.luck is not None]
        if len(lucks) < len(self.scores) or len(lucks) < 2:
            return None
        found = control_variate([s.margin for s in self.scores], lucks)
        return Luck(found.mean(seed=seed), found.slope, found.variance_ratio)
