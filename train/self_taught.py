"""What all trainers share that learn from games against themselves: limits, reports, checkpoints, divergence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np

from evallearn.core.game import Game
from evallearn.core.locks import hold_file
from evallearn.errors import SpecError

TICK = 0.5
"""Seconds between two reports, about: so soon Ctrl-C is heard."""
LARGE = 1 << 24
"""Bytes of weights above which a copy for every report would cost more than the learning."""
RARELY = 60
"""Copies of those are taken after so many times the time that a copy takes."""
LARGEST = 1e4
"""A weight beyond this is no longer learning: tanh is flat from 8 on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the learning is; rates are those since the last report."""

    games: int
    moves: int
    seconds: float
    games_per_second: float
    moves_per_second: float
    error: float
    """The mean |target - value| since the last report, as a share of a win."""


class Learner(Protocol):
    """Weights, and games that change them."""

    settings: Any
    """With `alpha`."""

    @property
    def games(self) -> int: ...
    @property
    def moves(self) -> int: ...
    @property
    def errors(self) -> float: ...
    @property
    def weights(self) -> np.ndarray: ...
    def learn(self, games: int) -> None:
        """Play so many games, or some more where they come in rounds."""

    def save(self, path: Path) -> None: ...
    def restore(self, path: Path) -> None: ...


class SelfTaughtTrainer(ABC):
    """Plays until a limit, in small bites. After `fit`: games_, moves_ and `progress_`, the last report."""

    @abstractmethod
    def learner(self, game: Game) -> Any:
        """A new Learner of the game. What cannot work is refused here, not after hours of learning."""

    @abstractmethod
    def keep(self, learner: Any) -> None:
        """Take over what was learned: all is well so far."""

    def fit(
        self,
        game: Game,
        *,
        games: int | None = None,
        seconds: float | None = None,
        checkpoint: Path | None = None,
        every: float = 60.0,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Play until so many games in all, or for so many seconds from now.

        checkpoint: goes on from this file if it is there, and writes it about `every` so many seconds, at the end, and
        at Ctrl-C. Games that are learned in two pieces give the same weights as in one. Raises SpecError where the
        weights grow without bound; what is kept is then that of the last report at which all was well; DataError where
        another process learns with that checkpoint.
        """
        limit = last_game(games, seconds)
        with hold_file(checkpoint) if checkpoint else nullcontext():
            return self._fit(game, limit, seconds, checkpoint, every, on_progress)

    def _fit(
        self,
        game: Game,
        limit: int,
        seconds: float | None,
        checkpoint: Path | None,
        every: float,
        on_progress: Callable[[Progress], None] | None,
    ) -> Self:
        learner: Learner = self.learner(game)
        if checkpoint is not None and checkpoint.exists():
            learner.restore(checkpoint)
        self._keep(learner)
        self.progress_ = Progress(learner.games, learner.moves, 0.0, 0.0, 0.0, 0.0)  # if there is nothing left to do
        start = saved = perf_counter()
        try:
            size = 1
            while learner.games < limit and (seconds is None or perf_counter() - start < seconds):
                taken = self._tick(game, learner, min(size, limit - learner.games), start, on_progress)
                size = max(1, min(2 * size, int(size * TICK / max(taken, 1e-6))))
                if checkpoint is not None and perf_counter() - saved > every:
                    self._refuse_divergence(game, learner)
                    learner.save(checkpoint)
                    saved = perf_counter()
            self._refuse_divergence(game, learner)
            self._keep(learner)
        except KeyboardInterrupt:
            self._keep(learner)
            if checkpoint is not None:
                learner.save(checkpoint)
            raise
        if checkpoint is not None:
            learner.save(checkpoint)
        return self

    def _tick(
        self, game: Game, learner: Learner, games: int, start: float, on_progress: Callable[[Progress], None] | None
    ) -> float:
        """So many games, or some more, and a report; how many seconds they took."""
        first, moves, errors, before = learner.games, learner.moves, learner.errors, perf_counter()
        learner.learn(games)
        now = perf_counter()
        taken, games, played = max(now - before, 1e-9), learner.games - first, learner.moves - moves
        if learner.weights.nbytes <= LARGE or now >= self._due:
            self._refuse_divergence(game, learner)
            self._keep(learner)
        error = (learner.errors - errors) / max(1, played)
        self.progress_ = Progress(learner.games, learner.moves, now - start, games / taken, played / taken, error)
        if on_progress is not None:
            on_progress(self.progress_)
        return taken

    def _keep(self, learner: Learner) -> None:
        before = perf_counter()
        self.games_, self.moves_ = learner.games, learner.moves
        self.keep(learner)
        self._due = perf_counter() + RARELY * (perf_counter() - before)

    def _refuse_divergence(self, game: Game, learner: Learner) -> None:
        largest = float(np.maximum(learner.weights.max(), -learner.weights.min()))
        if not largest <= LARGEST:  # so that NaN is refused too
            raise SpecError(
                f"alpha={learner.settings.alpha:g} made a weight of {game.name} grow to {largest:g} in game "
                f"{learner.games:,}: lower alpha; the weights of game {self.games_:,} are kept"
            )


def last_game(games: int | None, seconds: float | None) -> int:
    """The number of games at which to stop; refuses limits that are none."""
    if games is None and seconds is None:
        raise SpecError("no end was given: name games, seconds or both")
    if games is not None and games < 1:
        raise SpecError(f"games={games!r} teach nothing: give 1 or more")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise SpecError(f"seconds={seconds!r} do not work: give a number above 0")
    return games if games is not None else 1 << 62
