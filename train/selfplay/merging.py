"""Several learners side by side, a core for each: `MergingLearner`.

Each plays games of its own with a model of its own. After `merge_every` games in all the models are merged. Who plays
what is settled by the seed, so the weights do not depend on how many threads there are.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.rng import scramble
from evallearn.train.models.merge import MergedTables
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.selfplay.episodes import COUNTERS, EpisodeLearner
from evallearn.train.selfplay.settings import SelfPlaySettings


def learner_seed(seed: int, number: int) -> int:
    """Return the seed of one of several learners."""
    return scramble(seed + (number << 32)) >> 1


class MergingLearner:
    """A model, and games of several learners that change it, in rounds of `merge_every` games."""

    rolls_back = False

    def __init__(self, model: PatternModel, settings: SelfPlaySettings) -> None:
        """Set up the learners of a model.

        settings: without a None. Raises SpecError as EpisodeLearner and MergedTables do.
        """
        n, self.settings = settings.learners, settings
        self.merged = MergedTables(model, n)
        self.members: list[EpisodeLearner] = []
        for number, one in enumerate(self.merged.models):
            own = settings.of_learner(number, learner_seed(settings.seed, number))
            self.members.append(EpisodeLearner(one, own, self.members[0].episodes.kernels if self.members else None))
        self.threads = min(n, os.cpu_count() or 1)

    def learn(self, games: int) -> None:
        """Play so many games against itself, or some more: whole rounds, also where Ctrl-C comes in the middle."""
        wanted = self.games + games
        with ThreadPoolExecutor(self.threads) as pool, ThreadPoolExecutor(1) as conductor:
            while self.games < wanted:
                finish(conductor.submit(self._round, pool))

    def _round(self, pool: ThreadPoolExecutor) -> None:
        """Let all play their share of games, and merge."""
        assert self.settings.merge_every is not None
        share = self.settings.merge_every // self.settings.learners
        list(pool.map(lambda member: member.learn(share), self.members))
        self.merged.merge(pool)

    @property
    def step(self) -> str:
        return self.members[0].step

    @property
    def games(self) -> int:
        return sum(m.games for m in self.members)

    @property
    def moves(self) -> int:
        return sum(m.moves for m in self.members)

    @property
    def nodes(self) -> int:
        return sum(m.nodes for m in self.members)

    @property
    def errors(self) -> float:
        """The sum of |backup - value| over all moves."""
        return sum(m.errors for m in self.members)

    @property
    def weights(self) -> np.ndarray:
        """Of all, since they were merged last."""
        return self.members[0].weights

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _identity(self) -> dict[str, Any]:
        return {**self.members[0].identity(), **self.settings.to_json()}

    def _counters(self) -> dict[str, Any]:
        found = [member.counters() for member in self.members]
        return {name: [counters[name] for counters in found] for name in COUNTERS}

    def save(self, path: Path) -> None:
        """Write all that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "self-play", self._identity(), self._counters(), self.members[0].model.state())

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint. Raises DataError for a file that is none, or one of other settings."""
        like = self.members[0].model.state()
        counters, tensors = read_checkpoint(path, "self-play", self._identity(), self._counters(), like)
        self.merged.load_state(tensors)
        for i, member in enumerate(self.members):
            member.load_counters({name: values[i] for name, values in counters.items()})


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
