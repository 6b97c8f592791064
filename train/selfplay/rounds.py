"""A net learns from rounds of games against itself: `RoundsLearner`.

Threads play a round in the episode kernel with the averaged weights of the round before, while torch learns from the
last one. Who plays which game is settled by the seed, so the weights do not depend on how many threads there are.

A teacher, another net, may play and judge instead, while this one only learns: so a net of other sizes begins where
another one ended.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evallearn.core.digest import tensors_digest
from evallearn.errors import DataError, Diverged
from evallearn.evaluators.net import TENSORS, NetEval
from evallearn.train.models.frozen_net import MAX_NODES
from evallearn.train.models.net import NetModel
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.selfplay.episodes import Episodes
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.training import LARGEST

COUNTERS = ("games", "moves", "rounds", "steps", "errors")
REPLAY = ("replay.sizes", "replay.words", "replay.targets")
"""Tensors of a checkpoint that are longer or shorter from one to the next: the rows of the rounds before."""
EARLY_ROUNDS, EARLY_SHARE = 20, 5
"""The first rounds have a fifth of the games: a net that knows nothing should not teach itself for long."""
LONGEST = 1000
"""Decisions of a game; a longer one is broken off there, and its last position teaches what the net expected."""
SHORT, SEARCHED = 128, 4
"""Games that a thread plays at a time, by one ply and by searches: whoever is ready first takes the next ones."""


@dataclass(frozen=True)
class Lessons:
    """What games teach, in the order of the games."""

    words: np.ndarray
    """uint64[n, n_words]: positions."""
    targets: np.ndarray
    """float32[n, outputs]: the probabilities that should have been expected."""

    def __len__(self) -> int:
        return len(self.words)

    def shuffled(self, rng: np.random.Generator) -> Lessons:
        """Return the same in another order, so that neighbours are no longer of the same game."""
        order = rng.permutation(len(self))
        return Lessons(self.words[order], self.targets[order])

    @staticmethod
    def joined(found: list[Lessons]) -> Lessons:
        """Return all of them, one after the other."""
        return Lessons(np.concatenate([one.words for one in found]), np.concatenate([one.targets for one in found]))


class State(NamedTuple):
    """Everything that changes, between two rounds."""

    counters: dict[str, Any]
    tensors: dict[str, np.ndarray]


class RoundsLearner:
    """A net, and rounds of games against itself that change it. The same seed gives the same net, however it is cut."""

    rolls_back = True

    def __init__(
        self, model: NetModel, settings: SelfPlaySettings, *, teacher: NetEval | None = None, threads: int | None = None
    ) -> None:
        """Set up the players.

        settings: without a None. teacher: who plays; None: the net itself. threads: None: as many as there are cores.

        Raises SpecError for a target that the game or the net does not allow.
        """
        self.model, self.settings, self.teacher = model, settings, teacher
        self.threads = threads or os.cpu_count() or 1
        assert model.game.rules is not None
        player = model.frozen(teacher, settings.target or "td", settings.depth or 1)
        self.longest = min(LONGEST, model.game.rules.max_plies)
        self.episodes = Episodes(player, settings, longest=self.longest)
        self.player, self.bite = player, SEARCHED if player.searches else SHORT
        self.games = self.moves = self.rounds = self.steps = 0
        self.errors = 0.0
        self.limit: int | None = None
        """The game after which no round need be played in advance."""
        self.behind = model.averaged()
        self.replay: list[Lessons] = []
        self.coming: Future[Lessons] | None = None
        self.pool = ThreadPoolExecutor(1)
        self.good = self._state()

    @property
    def step(self) -> str:
        """Its step size, for messages."""
        return f"step_size={self.settings.schedule.initial:g}"

    @property
    def weights(self) -> np.ndarray:
        return self.model.weights

    def round_size(self, rounds: int) -> int:
        """Return the number of games of the round after so many."""
        n, early = self.settings.rounds.games, rounds < EARLY_ROUNDS and not (self.model.given or self.teacher)
        return max(1, n // EARLY_SHARE) if early else n

    def learn(self, games: int) -> None:
        """Play and learn from rounds of games until there are so many more."""
        import torch

        wanted, threads = self.games + games, torch.get_num_threads()
        torch.set_num_threads(1)  # more threads would add in another order
        try:
            while self.games < wanted:
                self._round()
        finally:
            torch.set_num_threads(threads)

    def _round(self) -> None:
        """Learn from a round while the next one is played, with the weights from before."""
        size = self.round_size(self.rounds)
        coming, self.coming = self.coming, None
        lessons = coming.result() if coming else self.play(self.behind, self.games, size, self.rounds)
        behind = self.model.averaged()
        if self.limit is None or self.games + size < self.limit:
            following = self.games + size, self.round_size(self.rounds + 1), self.rounds + 1
            self.coming = self.pool.submit(self.play, behind, *following)
        self.replay = [*self.replay, lessons][-self.settings.rounds.replay :]
        loss = self._learn(Lessons.joined(self.replay), size)
        self.games, self.moves, self.rounds = self.games + size, self.moves + len(lessons), self.rounds + 1
        self.errors += loss * len(lessons)
        self.behind = behind
        largest = float(np.abs(self.weights).max())
        if not largest <= LARGEST:  # so that NaN is refused too
            raise self._diverged(f"a weight of {self.model.game.name} grow to {largest:g}")
        self.good = self._state()

    # --- games -------------------------------------------------------------------------------------------------------
    def play(self, net: NetEval, first: int, games: int, rounds: int) -> Lessons:
        """Return the lessons of a round with these weights, in an order that no two neighbours share."""
        record = self.player.record_of(self.teacher or net)
        bites = [(n, min(self.bite, first + games - n)) for n in range(first, first + games, self.bite)]
        if self.threads == 1 or len(bites) == 1:
            found = [self._bite(record, *bite) for bite in bites]
        else:
            with ThreadPoolExecutor(self.threads) as pool:  # kernels let go of the interpreter
                found = list(pool.map(lambda bite: self._bite(record, *bite), bites))
        return Lessons.joined(found).shuffled(np.random.default_rng([self.settings.seed, rounds]))

    def _bite(self, record: np.ndarray, first: int, games: int) -> Lessons:
        """Return the lessons of the games of these numbers, in their order."""
        own, episodes, found = record.copy(), self.episodes.copy(), list[Lessons]()
        most = self.longest * (MAX_NODES if self.player.every_node else 1)
        room = 2 * most if self.player.searches else 80 * games + most
        while games:
            words, targets, _ = self.player.room(room)
            own["lessons"] = 0
            played = episodes.play((words, targets, own), first, games, most)
            n = int(own["lessons"][0])
            found.append(Lessons(words[:n].copy(), targets[:n].copy()))  # not the room that was left
            first, games = first + played, games - played
        return Lessons.joined(found)

    # --- learning ----------------------------------------------------------------------------------------------------
    def _learn(self, lessons: Lessons, games: int) -> float:
        """Make all passes over the lessons, after so many new games; return the mean loss of the first pass."""
        if not len(lessons):
            return 0.0
        settings, total = self.settings, 0.0
        rounds, schedule = settings.rounds, settings.schedule
        pieces = max(1, round(len(lessons) / rounds.batch_size))
        for epoch in range(rounds.epochs):
            if epoch or len(self.replay) > 1:
                lessons = lessons.shuffled(np.random.default_rng([settings.seed, self.rounds, epoch]))
            batches = zip(np.array_split(lessons.words, pieces), np.array_split(lessons.targets, pieces), strict=True)
            for k, (words, targets) in enumerate(batches):
                step = schedule.step_at(self.games + games * (epoch + k / pieces) / rounds.epochs)
                loss = self.model.update(*self.player.inputs(words), targets, step)
                self.steps += 1
                total += loss * len(words) if epoch == 0 else 0.0
                if not math.isfinite(loss):
                    raise self._diverged(f"the loss {loss}")
        return total / len(lessons)

    def _diverged(self, what: str) -> Diverged:
        """Go back to the last whole round; return what to raise."""
        steps = self.steps
        self._load(self.good)
        return Diverged(
            f"{self.step} made {what} in step {steps:,}: lower it; the weights of game {self.games:,} are kept"
        )

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        taught = tensors_digest(self.teacher.tensors()) if self.teacher else None
        return {**self.model.identity(), "teacher": taught, **self.settings.to_json()}

    def _state(self) -> State:
        """Return a copy of everything that changes, between two rounds."""
        tensors, behind = self.model.state(), self.behind.tensors()
        tensors |= {f"behind.{k}": behind[k] for k in TENSORS}
        old = self.replay if self.settings.rounds.replay > 1 else []
        rows = Lessons.joined([Lessons(*self.player.room(0)[:2]), *old])
        sizes = np.array([len(lessons) for lessons in old], np.int64)
        tensors |= dict(zip(REPLAY, (sizes, rows.words, rows.targets), strict=True))
        return State({name: getattr(self, name) for name in COUNTERS}, tensors)

    def _load(self, state: State) -> None:
        """Go on from what `_state` returned."""
        tensors = state.tensors
        for name, value in state.counters.items():
            setattr(self, name, value)
        self.model.load_state(tensors, self.steps)
        behind = {k: tensors[f"behind.{k}"] for k in TENSORS}
        self.behind = NetEval(self.model.game, behind, self.model.start.activation)
        self.replay, self.coming = split_lessons(*(tensors[name] for name in REPLAY)), None
        self.good = state

    def save(self, path: Path) -> None:
        """Write all that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "self-play", self._identity(), *self.good)

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint. Raises DataError for a file that is no checkpoint, or one of other settings."""
        try:
            self._load(State(*read_checkpoint(path, "self-play", self._identity(), *self.good, growing=REPLAY)))
        except ValueError as error:
            raise DataError(f"{path} {error}") from None


def split_lessons(sizes: np.ndarray, words: np.ndarray, targets: np.ndarray) -> list[Lessons]:
    """Return the rounds of those sizes. Raises ValueError where the three do not fit together."""
    if (sizes < 0).any() or not sizes.sum() == len(words) == len(targets):
        raise ValueError(f"holds {len(words)} positions for rounds of {sizes.tolist()}: delete it to begin anew")
    cuts = np.cumsum(sizes)[:-1]
    return [Lessons(*piece) for piece in zip(np.split(words, cuts), np.split(targets, cuts), strict=True)][: len(sizes)]
