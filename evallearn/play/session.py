"""A game at the board: who is to move, what was played, verdicts, taking back.

There is no input or output: a terminal, a web page or a test asks, and shows the answers.

Dice and ties come from the seed, the number of the game and the number of the ply. So the same seed and the same moves
give the same game, and whoever takes a move back meets the same dice again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rng import scramble
from evallearn.core.search import SearchResult
from evallearn.errors import GameError, IllegalAction
from evallearn.play.seats import Seats
from evallearn.play.verdict import Judge, Verdict
from evallearn.search import Ending, ending


@dataclass(frozen=True, slots=True)
class Ply:
    """One action of a player, or one roll of the dice."""

    before: State
    action: Action
    player: int
    """A seat, or CHANCE."""
    thought: SearchResult | None = None
    """What the agent found that chose it."""
    verdict: Verdict | None = None
    """On a person's move, if there is a judge and there was a choice."""


class Session:
    """One game from its start to its end, and the next ones after it."""

    def __init__(
        self,
        game: Game,
        seats: Seats,
        *,
        judge: Judge | None = None,
        start: State | None = None,
        seed: int = 0,
        number: int = 0,
    ) -> None:
        """Set up the game; seats: one entry per player, None for a person.

        number: how many games were played before with this seed.
        """
        self.game, self.seats, self.judge, self.seed, self.number = game, seats, judge, seed, number
        self.start: State = game.initial() if start is None else start
        if game.is_terminal(self.start):
            raise GameError(
                f"the game is over in {game.name} position {game.to_text(self.start)!r}: start from another position"
            )
        for agent in seats:
            if agent and agent.follows and self.start != game.initial():
                raise GameError(
                    f"{agent.name} follows a game move by move, and cannot begin in {game.to_text(self.start)!r}: "
                    "start from the initial position, or choose another opponent"
                )
        self.state = self.start
        self.plies: list[Ply] = []

    # --- whose turn ------------------------------------------------------------------------------------------------
    @property
    def people(self) -> list[int]:
        """The seats that people take."""
        return [player for player, agent in enumerate(self.seats) if agent is None]

    @property
    def is_over(self) -> bool:
        return self.game.is_terminal(self.state)

    @property
    def waits_for(self) -> int | None:
        """The seat of the person who is to move; None if the dice, an agent or nobody is."""
        player = self.game.to_play(self.state)
        return player if not self.is_over and player != CHANCE and self.seats[player] is None else None

    # --- plies -----------------------------------------------------------------------------------------------------
    def step(self) -> Ply | None:
        """Play the next ply if the dice or an agent make it; return None if a person is to move or the game is over."""
        if self.is_over or self.waits_for is not None:
            return None
        player, seed = self.game.to_play(self.state), self._seed()
        if player == CHANCE:
            return self._add(Ply(self.state, self._roll(seed), CHANCE))
        agent = self.seats[player]
        assert agent is not None
        if agent.follows:  # all of it: a move may have been taken back
            agent.begin([ply.action for ply in self.plies])
        thought = agent.choose(self.state, seed)
        return self._add(Ply(self.state, thought.action, player, thought))

    def ending(self, ply: Ply) -> Ending:
        """Return what is known of the end that the agent expects which made this ply."""
        agent = self.seats[ply.player]
        assert agent is not None
        assert ply.thought is not None
        return ending(self.game, agent.built(), ply.before, ply.thought)

    def read(self, text: str) -> Action:
        """Return the legal action that a person's text says. Raises BadNotation or IllegalAction."""
        if self.is_over:
            raise IllegalAction(f"{text!r} cannot be played: the game is over")
        return self.game.action_from_text(self.state, text)

    def play(self, a: Action) -> Ply:
        """Play a person's move, and return it with its verdict."""
        player = self.waits_for
        if player is None:
            raise IllegalAction(f"no person is to move in {self.game.name} position {self.game.to_text(self.state)!r}")
        self.game.result(self.state, a)  # an illegal one is refused before it gets a verdict
        verdict = self.judge.judge(self.state, a) if self.judge and self._has_choice(self.state) else None
        return self._add(Ply(self.state, a, player, verdict=verdict))

    def undo(self) -> Sequence[Ply]:
        """Take back the last move of a person and all that followed; return these plies, oldest first."""
        last = next((i for i in reversed(range(len(self.plies))) if self._by_a_person(self.plies[i])), None)
        if last is None:
            raise GameError("there is no move of yours to take back: play one first")
        taken = self.plies[last:]
        del self.plies[last:]
        self.state = taken[0].before
        return taken

    def restore(self, plies: Sequence[Ply]) -> None:
        """Put these plies, which lead from the start, on the board."""
        self.plies, self.state = [], self.start
        for ply in plies:
            self._add(ply)

    def legal(self) -> list[str]:
        """Return the legal moves in notation, sorted as people do it: 9-13 before 10-14."""
        moves = (self.game.action_to_text(self.state, a) for a in self.game.actions(self.state))
        return sorted(moves, key=lambda text: [(len(part), part) for part in re.findall(r"[0-9]+|[^0-9]+", text)])

    def next(self, seats: Seats | None = None) -> Session:
        """Begin a new game from the same start, with other dice."""
        return Session(
            self.game,
            self.seats if seats is None else seats,
            judge=self.judge,
            start=self.start,
            seed=self.seed,
            number=self.number + 1,
        )

    def verdicts(self, player: int) -> list[Verdict | None]:
        """Return the verdicts on each move of `player` with a choice; None where there is none."""
        return [ply.verdict for ply in self.plies if ply.player == player and self._has_choice(ply.before)]

    def prepare(self) -> None:
        """Compile, or fetch from the disk, what the agents and the judge need: before somebody waits for a move."""
        for agent in self.seats:
            if agent:
                agent.prepare()
        if self.judge:
            self.judge.prepare()

    def _has_choice(self, s: State) -> bool:
        return len(self.game.actions(s)) > 1

    def _by_a_person(self, ply: Ply) -> bool:
        return ply.player != CHANCE and self.seats[ply.player] is None

    def _add(self, ply: Ply) -> Ply:
        self.state = self.game.result(self.state, ply.action)
        self.plies.append(ply)
        return ply

    def _seed(self) -> int:
        return scramble(self.seed ^ scramble((self.number << 32) + len(self.plies) + 1))

    def _roll(self, seed: int) -> Action:
        rolls = self.game.chances(self.state)
        return random.Random(seed).choices([outcome for outcome, _ in rolls], [p for _, p in rolls])[0]
