"""Nets that learn by temporal differences from games against themselves: TD-Gammon's way, in batches.

Rounds of games are played by compiled threads (`neural_play.py`); torch learns from a round in minibatches
(`neural_net.py`) while the next one is already being played with the weights from before it. So both cores work, and
the same seed still gives the same weights: who plays which game is settled beforehand, however many threads there are.
It is the running average of the weights that plays; or another net, the `teacher`, plays and judges, while this one
only learns: so a wider or deeper net begins where a smaller one ended. A net to begin with may also grow: new units
begin unheard.

How it learns is said by `NeuralSettings` (neural_settings.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from evallearn.core.digest import tensors_digest
from evallearn.core.game import Game
from evallearn.errors import DataError, Diverged, SpecError
from evallearn.evaluators.features import feature_hash
from evallearn.evaluators.net import TENSORS, NetEval, levels_of
from evallearn.train.neural_net import NetLearner, first_net, widened
from evallearn.train.neural_play import Actor, Rows, joined, require_neural
from evallearn.train.neural_search import SearchingActor
from evallearn.train.neural_settings import NeuralSettings
from evallearn.train.self_taught import SelfTaughtTrainer
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.training import LARGEST

COUNTERS = ("games", "moves", "rounds", "steps", "errors")
KEPT = ("kept.sizes", "kept.words", "kept.targets")
"""Tensors of a checkpoint that are longer or shorter from one to the next: the rows of the rounds before."""
EARLY_ROUNDS, EARLY_SHARE = 20, 5
"""The first rounds have a fifth of the games: a net that knows nothing should not teach itself for long."""


class NeuralLearner:
    """A net, and rounds of games against itself that change it. The same seed gives the same net, however it is cut."""

    def __init__(
        self,
        game: Game,
        settings: NeuralSettings,
        *,
        start: NetEval | None = None,
        teacher: NetEval | None = None,
        limit: int | None = None,
        threads: int = 1,
        device: str | None = None,
    ) -> None:
        """Set up the net and what learns it.

        teacher: who plays, None: the net itself. limit: the game after which no round need be played in advance.
        """
        require_neural(game)
        self.game, self.settings, self.given, self.teacher, self.limit = game, settings, start, teacher, limit
        for role, net in (("net to begin with", start), ("teacher", teacher)):
            if net and net.game.name != game.name:
                raise SpecError(f"the {role} is one of {net.game.name}, not of {game.name}")
            if net and net.outputs != (wanted := len(levels_of(game)) - 1):
                raise SpecError(
                    f"the {role} has {net.outputs} output; nets of {game.name} that learn by playing have {wanted}: "
                    "give one that learned so, not from records"
                )
        if start is None:
            shape: dict[str, Any] = {"activation": settings.activation, "split": settings.split}
            self.start = first_net(game, settings.hidden, len(levels_of(game)) - 1, **shape, seed=settings.seed)
        else:
            self.start = widened(start, settings.hidden, settings.seed)
        self.net = NetLearner(self.start, averaging=settings.averaging, device=device)
        self.actor = self._actor(threads)
        self.games = self.moves = self.rounds = self.steps = 0
        self.errors = 0.0
        self.behind = self.net.averaged()
        self.kept: list[Rows] = []
        self.coming: Future[Rows] | None = None
        self.pool = ThreadPoolExecutor(1)
        self.good = self._state()

    def _actor(self, threads: int) -> Actor:
        settings, player = self.settings, self.teacher or self.start
        given: dict[str, Any] = {
            "lambda_": settings.lambda_, "epsilon": settings.epsilon, "opening_plies": settings.opening_plies,
            "seed": settings.seed, "threads": threads,
        }  # fmt: skip
        if settings.searches:
            return SearchingActor(player, target=settings.target, depth=settings.depth, **given)
        return Actor(player, **given)

    @property
    def step(self) -> str:
        """Its step size, for messages."""
        return f"learning_rate={self.settings.learning_rate:g}"

    @property
    def weights(self) -> np.ndarray:
        """All of them in a row, for whoever asks how large they are."""
        return np.concatenate([t.ravel() for t in self.net.tensors().values()])

    def round_size(self, rounds: int) -> int:
        """Return the number of games of the round after so many."""
        n, early = self.settings.games_per_round, rounds < EARLY_ROUNDS and not (self.given or self.teacher)
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
        rows = coming.result() if coming else self._play(self.behind, self.games, size, self.rounds)
        behind = self.net.averaged()
        if self.limit is None or self.games + size < self.limit:
            following = self.games + size, self.round_size(self.rounds + 1), self.rounds + 1
            self.coming = self.pool.submit(self._play, behind, *following)
        self.kept = [*self.kept, rows][-self.settings.remembered :]
        loss = self._learn(joined(self.kept), size)
        self.games, self.moves, self.rounds = self.games + size, self.moves + len(rows), self.rounds + 1
        self.errors += loss * len(rows)
        self.behind = behind
        largest = float(np.abs(self.weights).max())
        if not largest <= LARGEST:  # so that NaN is refused too
            raise self._diverged(f"a weight of {self.game.name} grow to {largest:g}")
        self.good = self._state()

    def _play(self, tensors: dict[str, np.ndarray], first: int, games: int, rounds: int) -> Rows:
        """Return the games of a round with these weights, in an order that no two neighbours share."""
        self.actor.publish(self.teacher or NetEval(self.game, tensors, self.start.activation))
        rows = self.actor.play(first, games, exact=self.settings.done(first) >= self.settings.exact_from < 1)
        return rows.shuffled(np.random.default_rng([self.settings.seed, rounds]))

    def _learn(self, rows: Rows, games: int) -> float:
        """Make all passes over the rows, after so many new games; return the mean loss of the first pass."""
        if not len(rows):
            return 0.0
        total, passes = 0.0, self.settings.epochs
        pieces = max(1, round(len(rows) / self.settings.batch_size))
        for epoch in range(passes):
            if epoch or len(self.kept) > 1:
                rows = rows.shuffled(np.random.default_rng([self.settings.seed, self.rounds, epoch]))
            batches = zip(np.array_split(rows.words, pieces), np.array_split(rows.targets, pieces), strict=True)
            for k, (words, targets) in enumerate(batches):
                x, phase = self.actor.inputs(words)
                rate = self.settings.rate(self.games + games * (epoch + k / pieces) / passes)
                loss = self.net.learn(x, phase, targets, rate)
                self.steps += 1
                total += loss * len(words) if epoch == 0 else 0.0
                if not math.isfinite(loss):
                    raise self._diverged(f"the loss {loss}")
        return total / len(rows)

    def _diverged(self, what: str) -> Diverged:
        return Diverged(
            f"learning_rate={self.settings.learning_rate:g} made {what} in step {self.steps:,}: lower it; the weights "
            f"of game {self.good['counters']['games']:,} are kept"
        )

    def evaluator(self, made: Mapping[str, Any] | None = None) -> NetEval:
        """Return the net after the last whole round."""
        tensors = {k: self.good["tensors"][f"average.{k}"] for k in TENSORS}
        return NetEval(self.game, tensors, self.start.activation, made)

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _recipe(self) -> dict[str, Any]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        nets = {"start": self.given, "teacher": self.teacher}
        begun = {role: tensors_digest(net.tensors()) if net else None for role, net in nets.items()}
        return {"game": self.game.name, "features": feature_hash(self.game), **begun, **asdict(self.settings)}

    def _state(self) -> dict[str, Any]:
        """Return a copy of everything that changes, between two rounds."""
        tensors = {**self.net.tensors(), **self.net.moments()}
        tensors |= {f"behind.{k}": t for k, t in self.behind.items()}
        old = self.kept if self.settings.remembered > 1 else []
        sizes = np.array([len(rows) for rows in old], np.int64)
        rows = joined([Rows.empty(self.game, self.start.outputs), *old])
        tensors |= {"kept.sizes": sizes, "kept.words": rows.words, "kept.targets": rows.targets}
        return {"counters": {name: getattr(self, name) for name in COUNTERS}, "tensors": tensors}

    def save(self, path: Path) -> None:
        """Write all that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "net", self._recipe(), self.good["counters"], self.good["tensors"])

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint. Raises DataError for a file that is no checkpoint, or one of other settings."""
        state = self.good
        counters, tensors = read_checkpoint(path, "net", self._recipe(), state["counters"], state["tensors"], KEPT)
        for name, value in counters.items():
            setattr(self, name, value)
        self.behind = {k: tensors[f"behind.{k}"] for k in TENSORS}
        self.net.restore(tensors, self.steps)
        self.kept = split_rows(path, *(tensors[name] for name in KEPT))
        self.good = self._state()


def split_rows(path: Path, sizes: np.ndarray, words: np.ndarray, targets: np.ndarray) -> list[Rows]:
    """Return the rounds of those sizes. Raises DataError where the three do not fit together."""
    if (sizes < 0).any() or not sizes.sum() == len(words) == len(targets):
        raise DataError(f"{path} holds {len(words)} positions for rounds of {sizes.tolist()}: delete it to begin anew")
    cuts = np.cumsum(sizes)[:-1]
    return [Rows(*piece) for piece in zip(np.split(words, cuts), np.split(targets, cuts), strict=True)][: len(sizes)]


class NeuralTrainer(SelfTaughtTrainer):
    """Learns a net from games against itself, by TD(lambda) or from its own searches.

    After `fit`: net_, games_, steps_, progress_, and moves_, the positions that were learned. The error in a report is
    the mean cross-entropy of the outputs, added up.
    """

    def __init__(
        self,
        *,
        hidden: tuple[int, ...] | None = None,
        activation: str = "relu",
        split: bool = True,
        lambda_: float = 0.7,
        target: str = "td",
        depth: int | None = None,
        exact_from: float = 1.0,
        epsilon: float | None = None,
        opening_plies: int | None = None,
        learning_rate: float = 2e-3,
        final_rate: float = 0.05,
        horizon: int = 0,
        averaging: float = 0.999,
        batch_size: int = 256,
        epochs: int = 1,
        remembered: int = 1,
        games_per_round: int = 500,
        seed: int = 1,
        start: NetEval | None = None,
        teacher: NetEval | None = None,
        threads: int | None = None,
        device: str | None = None,
    ) -> None:
        """Store the settings: those of NeuralSettings, and the following.

        hidden: None: 80 units, or as many as the net to begin with has. depth: None: 1 for td, else 2.
        epsilon, opening_plies: None: none where there are dice, else 0.05 and twice what opens a match.
        start: the net to begin with, which grows to `hidden`. teacher: who plays and judges; None: the net itself.
        threads: that play; None: as many as there are cores.
        device: where torch learns; None: on a GPU if there is one.
        """
        self.hidden, self.activation, self.split, self.lambda_ = hidden, activation, split, lambda_
        self.target, self.depth = target, depth
        self.exact_from, self.epsilon, self.opening_plies = exact_from, epsilon, opening_plies
        self.learning_rate, self.final_rate, self.horizon = learning_rate, final_rate, horizon
        self.averaging = averaging
        self.batch_size, self.epochs, self.remembered = batch_size, epochs, remembered
        self.games_per_round, self.seed = games_per_round, seed
        self.start, self.teacher, self.threads, self.device = start, teacher, threads, device

    @property
    def plies(self) -> int:
        """The depth, or what suits the target."""
        return self.depth if self.depth is not None else 1 if self.target == "td" else 2

    def learner(self, game: Game) -> NeuralLearner:
        usual = self.start.hidden if self.start else NeuralSettings.hidden
        settings = NeuralSettings(
            hidden=usual if self.hidden is None else tuple(self.hidden),
            activation=self.activation, split=self.split, lambda_=self.lambda_,
            target=self.target, depth=self.plies, exact_from=self.exact_from,
            learning_rate=self.learning_rate, final_rate=self.final_rate,
            epsilon=(0.0 if game.has_chance else 0.05) if self.epsilon is None else self.epsilon,
            opening_plies=(0 if game.has_chance else 2 * game.opening_plies)
            if self.opening_plies is None
            else self.opening_plies,
            horizon=self.horizon, averaging=self.averaging, batch_size=self.batch_size, epochs=self.epochs,
            remembered=self.remembered, games_per_round=self.games_per_round, seed=self.seed,
        )  # fmt: skip
        threads = self.threads or os.cpu_count() or 1
        return NeuralLearner(
            game, settings, start=self.start, teacher=self.teacher, limit=self.limit_, threads=threads,
            device=self.device,
        )  # fmt: skip

    def fit(self, game: Game, *, games: int | None = None, **more: Any) -> Self:
        """See SelfTaughtTrainer; games come in rounds, so that there may be some more."""
        self.limit_ = games
        return super().fit(game, games=games, **more)

    def keep(self, learner: NeuralLearner) -> None:
        counters = learner.good["counters"]
        self.net_, self.steps_ = learner.evaluator(), counters["steps"]
        self.games_, self.moves_ = counters["games"], counters["moves"]

    def recover(self, learner: NeuralLearner) -> None:
        """Keep the weights of the last whole round; the message says which weights are kept."""
        self.keep(learner)

    def evaluator(self, made: Mapping[str, Any] | None = None) -> NetEval:
        """Return the net that was learned."""
        details = {
            "method": self.target, "depth": self.plies, "games": self.games_, "moves": self.moves_, "seed": self.seed,
            **(made or {}),
        }  # fmt: skip
        tensors = self.net_.tensors()
        return NetEval(self.net_.game, {k: tensors[k] for k in TENSORS}, self.net_.activation, details)
