"""Several learners of the same pattern tables side by side, a core for each: `TdTeam`.

Each plays games of its own. After `exchange` games in all they put together what they have learned since the last time:
a weight becomes the mean of theirs, each counting as much as it has learned there (the sum of its |errors|), so that
what only one of them has seen is kept whole; the sums of coherence add up. Then all go on from the same tables. Who
plays what is settled by the seed, so the weights do not depend on how many threads there are.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.memory import require_memory
from evallearn.core.rng import scramble
from evallearn.errors import SpecError
from evallearn.evaluators.layout import Layout
from evallearn.train.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.td import COUNTERS, TdLearner, TdSettings

TEMPLATE = Path(__file__).with_name("td_team_kernel.py")
WEIGHT = 12
"""Bytes of a weight and of its two sums."""
PIECE = 1 << 20
"""Weights that are put together at a time."""


def member_settings(settings: TdSettings, number: int) -> TdSettings:
    """Of one learner: a seed of its own, and its share of all games."""
    n = settings.learners
    return replace(
        settings,
        learners=1,
        seed=scramble(settings.seed + (number << 32)) >> 1,
        horizon=-(-settings.horizon // n),
        half_life=-(-settings.half_life // n),
        deep_games=settings.deep_games // n,
    )


class TdTeam:
    """Weights, and games of several learners that change them, in rounds of `exchange` games."""

    def __init__(self, layout: Layout, settings: TdSettings) -> None:
        """Raises SpecError as TdLearner does, and without coherence, whose sums tell who has learned what."""
        if not settings.coherence:
            raise SpecError(
                f"learners={settings.learners} need the sums that coherence keeps: switch it on, or take 1 learner"
            )
        self.layout, self.settings = layout, settings
        size = layout.n_groups * layout.entries * WEIGHT
        require_memory((settings.learners + 1) * size, f"learners={settings.learners}")
        n, one = settings.learners, TdLearner(layout, member_settings(settings, 0))
        self.members = [one, *(TdLearner(layout, member_settings(settings, i), one.kernels) for i in range(1, n))]
        self.all_weights = np.zeros((n, *one.weights.shape), np.float32)
        self.all_memory = np.zeros((n, *one.memory.shape), np.float32)
        for member, weights, memory in zip(self.members, self.all_weights, self.all_memory, strict=True):
            member.weights, member.memory = weights, memory
        self.known = np.zeros_like(one.memory)
        """The sums of coherence when they last met."""
        self.threads = min(settings.learners, os.cpu_count() or 1)
        self.kernels = self._kernels()

    def _kernels(self) -> Any:
        from evallearn.compiled.specialise import specialise

        return specialise(TEMPLATE, N=self.settings.learners)

    def learn(self, games: int) -> None:
        """Play so many games against itself, or some more: whole rounds, also where Ctrl-C comes in the middle."""
        wanted = self.games + games
        with ThreadPoolExecutor(self.threads) as pool, ThreadPoolExecutor(1) as conductor:
            while self.games < wanted:
                finish(conductor.submit(self._round, pool))

    def _round(self, pool: ThreadPoolExecutor) -> None:
        """All play their share of games, and meet."""
        share = self.settings.exchange // self.settings.learners
        list(pool.map(lambda member: member.learn(share), self.members))
        self._meet(pool)

    def _meet(self, pool: ThreadPoolExecutor) -> None:
        def piece(first: int) -> None:
            self.kernels.meet(self.all_weights, self.all_memory, self.known, first, first + PIECE)

        list(pool.map(piece, range(0, len(self.known), PIECE)))

    @property
    def games(self) -> int:
        return sum(m.games for m in self.members)

    @property
    def moves(self) -> int:
        return sum(m.moves for m in self.members)

    @property
    def errors(self) -> float:
        """The sum of |target - V(s)| over all moves."""
        return sum(m.errors for m in self.members)

    @property
    def weights(self) -> np.ndarray:
        """Of all, since they last met."""
        return self.members[0].weights

    @property
    def memory(self) -> np.ndarray:
        return self.members[0].memory

    def tables(self) -> np.ndarray:
        """float32[n_groups, entries], a copy."""
        return self.members[0].tables()

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _recipe(self) -> dict[str, Any]:
        return {**self.members[0].recipe(), **asdict(self.settings)}

    def _counters(self) -> dict[str, Any]:
        return {name: [m.box[name][0].item() for m in self.members] for name in COUNTERS}

    def save(self, path: Path) -> None:
        """All that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "pattern", self._recipe(), self._counters(), self.members[0].tensors())

    def restore(self, path: Path) -> None:
        """Raises DataError for a file that is no checkpoint, or one of other settings."""
        first = self.members[0]
        counters, tensors = read_checkpoint(path, "pattern", self._recipe(), self._counters(), first.tensors())
        self.known[:] = tensors["memory"]
        for i, member in enumerate(self.members):
            member.weights[:], member.memory[:] = tensors["weights"], tensors["memory"]
            for name, values in counters.items():
                member.box[name] = values[i]


def finish(work: Future[None]) -> None:
    """Wait for the end of it; a Ctrl-C that comes meanwhile is heard then, and once, however often it comes."""
    interrupted = False
    while not work.done():
        try:
            wait([work])
        except KeyboardInterrupt:
            interrupted = True
    work.result()
    if interrupted:
        raise KeyboardInterrupt
