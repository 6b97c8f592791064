"""Where games are played: what a worker does with an opening. The job interface of the arena is `Table.__call__`.

What chance there is depends on the match's seed, the set and the ply, never on who plays or where they sit: an agent
that meets itself plays the same game in every seating and comes out exactly even, even if it plays at random; and with
dice, whoever sits on a seat gets that seat's dice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from evallearn.agents import Agent, SearchAgent
from evallearn.arena.adjudication import NO_ADJUDICATION, Adjudication, Watch
from evallearn.arena.compiled_match import CompiledMatch, plays_in_kernel
from evallearn.arena.openings import Opening, draw, mix
from evallearn.arena.seating import Played, Seats, seatings
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game
from evallearn.core.search import SearchResult
from evallearn.data.boards import Board, board_of, on_fastest_backend
from evallearn.errors import EngineError, IllegalAction

MAX_PLIES = 100_000
"""Of a game that never ends: no shipped game lasts a tenth of it."""


@dataclass
class Table:
    """Two agents, the seed, and how games may end. It travels by pickle, and builds its board where it arrives."""

    game: Game
    agents: tuple[Agent, Agent]
    seed: int
    adjudication: Adjudication = NO_ADJUDICATION
    judge: Evaluator | None = None
    """Whose opinion says how lucky the dice were."""
    quick: bool = False
    """Play whole games in one kernel, where the agents can: the same games, but compiling that takes some seconds."""
    _here: _Here | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_here": None}

    def __call__(self, job: Sequence[tuple[int, Opening]]) -> list[list[Played]]:
        """Play each (number of the set, opening) from every seating."""
        ways = seatings(self.game.n_players)
        return [[self.play(opening, number, seats) for seats in ways] for number, opening in job]

    def play(self, opening: Opening, number: int, seats: Seats) -> Played:
        """Play one game of set `number` and return it."""
        here = self._here = self._here or _Here(self)
        if here.compiled:
            return here.compiled.play(opening.state, seats)
        played = Played(seats, [], [], [0, 0], [0, 0], [0.0, 0.0])
        game = _Game(self, here, opening, mix(mix(self.seed) + number), played)
        game.play()
        return played

    def close(self) -> None:
        """End what the agents have started."""
        for agent in self.agents:
            agent.close()


class _Here:
    """What a process needs to play, built once."""

    def __init__(self, table: Table) -> None:
        self.board = board_of(on_fastest_backend(table.game))
        self.compiled = _compiled(table) if table.quick and not str(table.adjudication) else None
        self.followers = [a for a in {id(a): a for a in table.agents}.values() if a.follows]
        self.agents, self.warm = table.agents, [False, False]
        """warm: who of A and B has moved before."""
        self.rolls: Rolls | None = None
        if table.judge is not None:
            from evallearn.search.dice.luck import Rolls

            self.rolls = Rolls(table.game, table.judge)

    def first(self, agent: Agent, found: SearchResult) -> float:
        """Return the seconds of an agent's first move by the search's own clock, since it may have compiled kernels."""
        for side in (0, 1):
            self.warm[side] |= self.agents[side] is agent
        return found.seconds


def _compiled(table: Table) -> CompiledMatch | None:
    """Return the kernel for whole games, if both agents are quick searches."""
    agents = [a for a in table.agents if isinstance(a, SearchAgent) and not a.draws]
    if len(agents) < 2:
        return None
    a, b = (agent.built() for agent in agents)
    limits = agents[0].limits, agents[1].limits
    if not (plays_in_kernel(a, limits[0]) and plays_in_kernel(b, limits[1])):
        return None
    return CompiledMatch(table.game, (a, b), limits)  # type: ignore[arg-type]  # alpha-beta, as was just found


class _Game:
    """One game while it is played."""

    def __init__(self, table: Table, here: _Here, opening: Opening, seed: int, played: Played) -> None:
        self.table, self.here, self.opening, self.seed, self.played = table, here, opening, seed, played
        self.side = 0
        """Whose turn it is, or was."""
        best = table.game.utility_range[1]
        self.watch = Watch(table.adjudication, best) if str(table.adjudication) else None
        self.luck = 0.0

    def play(self) -> None:
        board, played = self.here.board, self.played
        board.reset(self.opening.state)
        try:
            for agent in self.here.followers:
                self.side = int(agent is self.table.agents[1])
                agent.begin(self.opening.actions or ())
            self._plies(board)
        except EngineError as error:
            played.end, played.forfeited_by = f"forfeit: {error}", self.side
            played.utilities = _forfeited(self.table.game, played.seats, self.side)
        if self.here.rolls and not played.end:
            played.luck = self.luck

    def _plies(self, board: Board) -> None:
        """Play to the end by the rules, or by adjudication; an engine that fails raises EngineError.

        A quick search takes 50 microseconds, so each one counts here: one call of the board for each ply, no more.
        """
        table, here, played, seed = self.table, self.here, self.played, self.seed
        seats, actions, agents = played.seats, played.actions, table.agents
        moves, nodes, seconds, warm = played.moves, played.nodes, played.seconds, here.warm
        plain = not (here.followers or self.watch)
        n = len(board.look())
        for ply in count():
            if n == 0:
                break
            player = board.player
            found = None
            if player == CHANCE:
                a = self._roll(board, mix(seed + ply))
            else:
                self.side = side = seats[player]
                agent, s = agents[side], board.state()
                start = perf_counter()
                found = agent.choose(s, mix(seed + ply))
                seconds[side] += perf_counter() - start if warm[side] else here.first(agent, found)
                moves[side] += 1
                nodes[side] += found.nodes
                a = found.action
            if not plain:
                self._notify(board, a)
            n = board.step(a)
            if n < 0:
                raise self._illegal(board, a)
            actions.append(a)
            if n and self.watch and found is not None and self._adjudicated(found):
                return
            if ply >= MAX_PLIES:
                raise IllegalAction(f"a game of {table.game.name} did not end in {MAX_PLIES} plies: mend its rules")
        played.utilities = board.utilities()

    def _roll(self, board: Board, seed: int) -> Action:
        a = draw(board.choices(), board.probabilities(), seed)
        if self.here.rolls:
            self.luck += self.here.rolls.luck(board.state(), a)
        return a

    def _adjudicated(self, found: SearchResult) -> bool:
        assert self.watch is not None
        ended = self.watch.saw(found)
        if ended is None:
            return False
        self.played.end, self.played.utilities = f"adjudicated: {ended[0]}", [ended[1], 0.0 - ended[1]]
        return True

    def _notify(self, board: Board, a: Action) -> None:
        side, legal = self.side, a in board.choices()
        for agent in self.here.followers if legal else ():
            self.side = int(agent is self.table.agents[1])
            agent.played(board.state(), a)
        self.side = side

    def _illegal(self, board: Board, a: Action) -> IllegalAction:
        game, s = self.table.game, board.state()
        texts = " ".join(game.action_to_text(s, x) for x in board.choices())
        return IllegalAction(
            f"agent {self.table.agents[self.side].name} chose the illegal action {a!r} in {game.name} position "
            f"{game.to_text(s)!r}; legal: {texts}"
        )


def _forfeited(game: Game, seats: Seats, side: int) -> list[float]:
    """Return the utilities of a forfeited game.

    The offender's seats lose (in a game of points: the worst there is), the others share what they lose.
    """
    worst = game.utility_range[0] if game.scored else max(game.utility_range[0], -1.0)
    losers = sum(s == side for s in seats)
    rest = len(seats) - losers
    gain = -worst * losers / rest if rest and game.zero_sum else 0.0
    return [worst if s == side else gain for s in seats]
