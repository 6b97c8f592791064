"""What all training by games against itself shares: limits, reports, checkpoints, and what happens at divergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from evallearn.core.locks import hold_file
from evallearn.errors import Diverged, SpecError
from evallearn.evaluators.features import FeatureEval

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
    """How far the training is; rates are those since the last report."""

    games: int
    moves: int
    seconds: float
    games_per_second: float
    moves_per_second: float
    error: float
    """The mean |target - value| since the last report, as a share of a win."""


Freeze = Callable[[Mapping[str, Any]], FeatureEval]


@dataclass(frozen=True)
class Training:
    """A state of a training: how far it was, and the evaluator of its weights."""

    progress: Progress
    metadata: Mapping[str, Any]
    """What the evaluator tells of how it was made."""
    _freeze: Freeze = field(repr=False)

    @property
    def games(self) -> int:
        return self.progress.games

    @property
    def moves(self) -> int:
        return self.progress.moves

    @property
    def moves_per_second(self) -> float:
        return self.progress.moves_per_second

    @property
    def evaluator(self) -> FeatureEval:
        """The weights, frozen."""
        return self.freeze()

    def freeze(self, metadata: Mapping[str, Any] | None = None) -> FeatureEval:
        """Return the evaluator, which tells `metadata` besides."""
        return self._freeze({**self.metadata, **(metadata or {})})


class Learner(Protocol):
    """Weights, and games that change them. The same seed gives the same weights, however the games are cut."""

    rolls_back: bool
    """Whether its weights are those of the last good round after it raised Diverged."""

    @property
    def step(self) -> str:
        """Its step size as it was set, for messages: `step_size=4`."""

    @property
    def games(self) -> int: ...
    @property
    def moves(self) -> int: ...
    @property
    def errors(self) -> float:
        """The sum of |target - value| over all moves."""

    @property
    def weights(self) -> np.ndarray: ...
    def learn(self, games: int) -> None:
        """Play so many games, or some more where they come in rounds."""

    def save(self, path: Path) -> None: ...
    def restore(self, path: Path) -> None: ...


@dataclass
class Loop:
    """Plays until a limit, in small pieces, and keeps what was learned as long as all is well."""

    learner: Learner
    game: str
    keep: Callable[[Progress], None]
    """Takes over the weights as they are."""
    on_progress: Callable[[Progress], None] | None = None
    now: Progress = field(default=Progress(0, 0, 0.0, 0.0, 0.0, 0.0), init=False)
    """The last report."""
    kept: Progress = field(default=Progress(0, 0, 0.0, 0.0, 0.0, 0.0), init=False)
    _due: float = field(default=0.0, init=False)

    def run(self, limit: int, seconds: float | None, checkpoint: Path | None, every: float) -> None:
        """Play until game `limit`, or for so many seconds; `checkpoint` is read if it is there, and written."""
        with hold_file(checkpoint) if checkpoint else nullcontext():
            if checkpoint is not None and checkpoint.exists():
                self.learner.restore(checkpoint)
            self.now = Progress(self.learner.games, self.learner.moves, 0.0, 0.0, 0.0, 0.0)
            self._keep()
            try:
                self._play(limit, seconds, checkpoint, every)
            except Diverged:
                if self.learner.rolls_back:
                    self._keep()
                raise
            except KeyboardInterrupt:
                self._keep()
                if checkpoint is not None:
                    self.learner.save(checkpoint)
                raise
            if checkpoint is not None:
                self.learner.save(checkpoint)

    def _play(self, limit: int, seconds: float | None, checkpoint: Path | None, every: float) -> None:
        learner, size = self.learner, 1
        start = saved = perf_counter()
        while learner.games < limit and (seconds is None or perf_counter() - start < seconds):
            taken = self._tick(min(size, limit - learner.games), start)
            size = max(1, min(2 * size, int(size * TICK / max(taken, 1e-6))))
            if checkpoint is not None and perf_counter() - saved > every:
                self._refuse_divergence()
                learner.save(checkpoint)
                saved = perf_counter()
        self._refuse_divergence()
        self._keep()

    def _tick(self, games: int, start: float) -> float:
        """Play so many games, or some more, and report; return how many seconds they took."""
        learner = self.learner
        first, moves, errors, before = learner.games, learner.moves, learner.errors, perf_counter()
        learner.learn(games)
        now = perf_counter()
        taken, games, played = max(now - before, 1e-9), learner.games - first, learner.moves - moves
        error = (learner.errors - errors) / max(1, played)
        if small := learner.weights.nbytes <= LARGE or now >= self._due:
            self._refuse_divergence()
        self.now = Progress(learner.games, learner.moves, now - start, games / taken, played / taken, error)
        if small:
            self._keep()
        if self.on_progress is not None:
            self.on_progress(self.now)
        return taken

    def _keep(self) -> None:
        before = perf_counter()
        self.now = replace(self.now, games=self.learner.games, moves=self.learner.moves)  # Ctrl-C comes between reports
        self.keep(self.now)
        self.kept = self.now
        self._due = perf_counter() + RARELY * (perf_counter() - before)

    def _refuse_divergence(self) -> None:
        weights = self.learner.weights
        largest = float(np.maximum(weights.max(), -weights.min()))
        if not largest <= LARGEST:  # so that NaN is refused too
            raise Diverged(
                f"{self.learner.step} made a weight of {self.game} grow to {largest:g} in game "
                f"{self.learner.games:,}: lower it; the weights of game {self.kept.games:,} are kept"
            )


def last_game(games: int | None, seconds: float | None) -> int:
    """Return the number of games at which to stop; refuse limits that are none."""
    if games is None and seconds is None:
        raise SpecError("no end was given: name games, seconds or both")
    if games is not None and games < 1:
        raise SpecError(f"games={games!r} teach nothing: give 1 or more")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise SpecError(f"seconds={seconds!r} do not work: give a number above 0")
    return games if games is not None else 1 << 62
