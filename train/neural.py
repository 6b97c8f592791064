"""Nets that learn by temporal differences from games against themselves: TD-Gammon's way, in batches.

Rounds of games are played by compiled threads (`neural_play.py`); torch learns from a round in minibatches
(`neural_net.py`) while the next one is already being played with the weights from before it. So both cores work, and
the same seed still gives the same weights: who plays which game is settled beforehand, however many threads there are.
It is the running average of the weights that plays.

The rate falls along a cosine to `final_rate` of itself at the game `horizon`. From `exact_from` of the horizon on a
position learns what all rolls lead to on average, instead of the one that fell (exact one-ply expectation).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from evallearn.errors import SpecError
from evallearn.evaluators.features import feature_hash
from evallearn.evaluators.net import ACTIVATIONS, LANES, TENSORS, NetEval, levels_of
from evallearn.protocols import Game
from evallearn.search.common import MAX_DEPTH
from evallearn.train.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.neural_net import NetLearner, first_net
from evallearn.train.neural_play import Actor, Rows, require_neural
from evallearn.train.neural_search import SearchingActor
from evallearn.train.searching import TARGETS
from evallearn.train.self_taught import LARGEST, SelfTaughtTrainer

COUNTERS = ("games", "moves", "rounds", "steps", "errors")
EARLY_ROUNDS, EARLY_SHARE = 20, 5
"""The first rounds have a fifth of the games: a net that knows nothing should not teach itself for long."""


@dataclass(frozen=True, kw_only=True)
class NeuralSettings:
    """How to learn; see the module's text."""

    hidden: tuple[int, ...] = (80,)
    """Units of one or two hidden layers."""
    activation: str = "relu"
    split: bool = True
    """A net of its own for every phase of the game."""
    lambda_: float = 0.7
    target: str = "td"
    """What a game teaches: td, or what alpha-beta finds (`neural_search.py`): tdleaf, rootstrap, treestrap."""
    depth: int = 1
    """Plies that its searches look ahead, before quiescence; with td and 1 there is no search."""
    exact_from: float = 1.0
    """The share of the horizon after which targets are exact one-ply expectations; 1: never."""
    epsilon: float = 0.0
    """Share of random moves."""
    opening_plies: int = 0
    """Each game opens with 0 to so many random moves."""
    learning_rate: float = 2e-3
    final_rate: float = 0.05
    """What is left of the rate at the horizon."""
    horizon: int = 0
    """The game at which the rate has fallen; 0: it stays."""
    averaging: float = 0.999
    """How much of the running average of the weights a step keeps; it plays, and is what is learned."""
    batch_size: int = 256
    games_per_round: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        units = bool(self.hidden) and all(h > 0 and h % LANES == 0 for h in self.hidden)
        for name, value, ok, remedy in (
            ("hidden", self.hidden, units and len(self.hidden) <= 2, f"one or two multiples of {LANES}, such as 80"),
            ("activation", self.activation, self.activation in ACTIVATIONS, f"one of {', '.join(ACTIVATIONS)}"),
            ("target", self.target, self.target in TARGETS, f"one of {', '.join(TARGETS)}"),
            ("depth", self.depth, 1 <= self.depth <= MAX_DEPTH, f"1 to {MAX_DEPTH} plies"),
            ("lambda", self.lambda_, 0 <= self.lambda_ <= 1, "a number from 0 to 1"),
            ("exact_from", self.exact_from, 0 <= self.exact_from <= 1, "a share from 0 to 1"),
            ("exact_from", self.exact_from, not self.searches or self.exact_from == 1, "1, or td with a depth of 1"),
            ("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "a number from 0 to 1"),
            ("opening_plies", self.opening_plies, self.opening_plies >= 0, "0 or more plies"),
            ("learning_rate", self.learning_rate, 0 < self.learning_rate < math.inf, "a number above 0"),
            ("final_rate", self.final_rate, 0 < self.final_rate <= 1, "a share above 0, 1 at most"),
            ("horizon", self.horizon, self.horizon >= 0, "0 or more games"),
            ("averaging", self.averaging, 0 <= self.averaging < 1, "a number from 0 to below 1"),
            ("batch_size", self.batch_size, self.batch_size >= 1, "1 or more"),
            ("games_per_round", self.games_per_round, self.games_per_round >= 1, "1 or more"),
            ("seed", self.seed, 0 <= self.seed < 2**63, "a whole number from 0 to 2**63 - 1"),
        ):
            if not ok:
                raise SpecError(f"{name}={value!r} does not work: give {remedy}")

    @property
    def searches(self) -> bool:
        """Whether alpha-beta chooses the moves."""
        return self.target != "td" or self.depth > 1

    def done(self, games: int) -> float:
        """The share of the horizon that is behind us."""
        return min(1.0, games / self.horizon) if self.horizon else 0.0

    def rate(self, games: int) -> float:
        """The step of Adam after so many games."""
        wave = (1.0 + math.cos(math.pi * self.done(games))) / 2.0
        return self.learning_rate * (self.final_rate + (1.0 - self.final_rate) * wave)


class NeuralLearner:
    """A net, and rounds of games against itself that change it. The same seed gives the same net, however it is cut."""

    def __init__(
        self,
        game: Game,
        settings: NeuralSettings,
        *,
        start: NetEval | None = None,
        limit: int | None = None,
        threads: int = 1,
        device: str | None = None,
    ) -> None:
        """limit: the game after which no round need be played in advance."""
        require_neural(game)
        self.game, self.settings, self.limit = game, settings, limit
        outputs = len(levels_of(game)) - 1
        self.start = start or first_net(
            game, settings.hidden, outputs, activation=settings.activation, split=settings.split, seed=settings.seed
        )
        self.begun = start is not None
        if self.start.game.name != game.name:
            raise SpecError(f"the net to begin with is one of {self.start.game.name}, not of {game.name}")
        self.net = NetLearner(self.start, averaging=settings.averaging, device=device)
        self.actor = self._actor(threads)
        self.games = self.moves = self.rounds = self.steps = 0
        self.errors = 0.0
        self.behind = self.net.averaged()
        self.coming: Future[Rows] | None = None
        self.pool = ThreadPoolExecutor(1)
        self.good = self._state()

    def _actor(self, threads: int) -> Actor:
        settings = self.settings
        given: dict[str, Any] = {
            "lambda_": settings.lambda_, "epsilon": settings.epsilon, "opening_plies": settings.opening_plies,
            "seed": settings.seed, "threads": threads,
        }  # fmt: skip
        if settings.searches:
            return SearchingActor(self.start, target=settings.target, depth=settings.depth, **given)
        return Actor(self.start, **given)

    @property
    def weights(self) -> np.ndarray:
        """All of them in a row, for whoever asks how large they are."""
        return np.concatenate([t.ravel() for t in self.net.tensors().values()])

    def round_size(self, rounds: int) -> int:
        """Games of the round after so many."""
        n = self.settings.games_per_round
        return max(1, n // EARLY_SHARE) if rounds < EARLY_ROUNDS else n

    def learn(self, games: int) -> None:
        """Rounds of games until there are so many more."""
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
        loss = self._learn(rows)
        self.games, self.moves, self.rounds = self.games + size, self.moves + len(rows), self.rounds + 1
        self.errors += loss * len(rows)
        self.behind = behind
        largest = float(np.abs(self.weights).max())
        if not largest <= LARGEST:  # so that NaN is refused too
            raise self._diverged(f"a weight of {self.game.name} grow to {largest:g}")
        self.good = self._state()

    def _play(self, tensors: dict[str, np.ndarray], first: int, games: int, rounds: int) -> Rows:
        """The games of a round with these weights, in an order that no two neighbours share."""
        self.actor.publish(NetEval(self.game, tensors, self.start.activation))
        rows = self.actor.play(first, games)
        order = np.random.default_rng([self.settings.seed, rounds]).permutation(len(rows))
        words, targets = rows.words[order], rows.targets[order]
        if self.settings.done(first) >= self.settings.exact_from < 1:
            targets = self.actor.look_ahead(words)
        return Rows(words, targets)

    def _learn(self, rows: Rows) -> float:
        """One pass over the rows, if there are any; the mean loss."""
        if not len(rows):
            return 0.0
        rate, total = self.settings.rate(self.games), 0.0
        pieces = max(1, round(len(rows) / self.settings.batch_size))
        for words, targets in zip(
            np.array_split(rows.words, pieces), np.array_split(rows.targets, pieces), strict=True
        ):
            x, phase = self.actor.inputs(words)
            loss = self.net.learn(x, phase, targets, rate)
            self.steps += 1
            total += loss * len(words)
            if not math.isfinite(loss):
                raise self._diverged(f"the loss {loss}")
        return total / len(rows)

    def _diverged(self, what: str) -> SpecError:
        return SpecError(
            f"learning_rate={self.settings.learning_rate:g} made {what} in step {self.steps:,}: lower it; the weights "
            f"of game {self.good['counters']['games']:,} are kept"
        )

    def evaluator(self, made: Mapping[str, Any] | None = None) -> NetEval:
        """The net after the last whole round."""
        tensors = {k: self.good["tensors"][f"average.{k}"] for k in TENSORS}
        return NetEval(self.game, tensors, self.start.activation, made)

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _recipe(self) -> dict[str, Any]:
        """What a checkpoint must have in common with whoever goes on from it."""
        begun = {k: t.tobytes().hex()[:64] for k, t in self.start.tensors().items()} if self.begun else {}
        return {"game": self.game.name, "features": feature_hash(self.game), "start": begun, **asdict(self.settings)}

    def _state(self) -> dict[str, Any]:
        """A copy of everything that changes, between two rounds."""
        tensors = {**self.net.tensors(), **self.net.moments()}
        tensors |= {f"behind.{k}": t for k, t in self.behind.items()}
        return {"counters": {name: getattr(self, name) for name in COUNTERS}, "tensors": tensors}

    def save(self, path: Path) -> None:
        """All that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "net", self._recipe(), self.good["counters"], self.good["tensors"])

    def restore(self, path: Path) -> None:
        """Raises DataError for a file that is no checkpoint, or one of other settings."""
        wanted = dict.fromkeys(COUNTERS)
        counters, tensors = read_checkpoint(path, "net", self._recipe(), wanted, self.good["tensors"])
        for name, value in counters.items():
            setattr(self, name, value)
        self.behind = {k: tensors[f"behind.{k}"] for k in TENSORS}
        self.net.restore(tensors, self.steps)
        self.good = self._state()


class NeuralTrainer(SelfTaughtTrainer):
    """Learns a net from games against itself, by TD(lambda) or from its own searches.

    After `fit`: net_, games_, steps_, progress_, and moves_, the positions that were learned. The error in a report is
    the mean cross-entropy of the outputs, added up.
    """

    def __init__(
        self,
        *,
        hidden: tuple[int, ...] = (80,),
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
        games_per_round: int = 500,
        seed: int = 1,
        start: NetEval | None = None,
        threads: int | None = None,
        device: str | None = None,
    ) -> None:
        """Those of NeuralSettings, and:

        depth: None: 1 for td, else 2.
        epsilon, opening_plies: None: none where there are dice, else 0.05 and twice what opens a match.
        start: the net to begin with; its sizes count. threads: that play; None: as many as there are cores.
        device: where torch learns; None: on a GPU if there is one.
        """
        self.hidden, self.activation, self.split, self.lambda_ = hidden, activation, split, lambda_
        self.target, self.depth = target, depth
        self.exact_from, self.epsilon, self.opening_plies = exact_from, epsilon, opening_plies
        self.learning_rate, self.final_rate, self.horizon = learning_rate, final_rate, horizon
        self.averaging = averaging
        self.batch_size, self.games_per_round, self.seed = batch_size, games_per_round, seed
        self.start, self.threads, self.device = start, threads, device

    @property
    def plies(self) -> int:
        """The depth, or what suits the target."""
        return self.depth if self.depth is not None else 1 if self.target == "td" else 2

    def learner(self, game: Game) -> NeuralLearner:
        settings = NeuralSettings(
            hidden=tuple(self.hidden), activation=self.activation, split=self.split, lambda_=self.lambda_,
            target=self.target, depth=self.plies, exact_from=self.exact_from,
            learning_rate=self.learning_rate, final_rate=self.final_rate,
            epsilon=(0.0 if game.has_chance else 0.05) if self.epsilon is None else self.epsilon,
            opening_plies=(0 if game.has_chance else 2 * game.opening_plies)
            if self.opening_plies is None
            else self.opening_plies,
            horizon=self.horizon, averaging=self.averaging, batch_size=self.batch_size,
            games_per_round=self.games_per_round, seed=self.seed,
        )  # fmt: skip
        threads = self.threads or os.cpu_count() or 1
        return NeuralLearner(game, settings, start=self.start, limit=self.limit_, threads=threads, device=self.device)

    def fit(self, game: Game, *, games: int | None = None, **more: Any) -> Self:
        """See SelfTaughtTrainer; games come in rounds, so that there may be some more."""
        self.limit_ = games
        return super().fit(game, games=games, **more)

    def keep(self, learner: NeuralLearner) -> None:
        counters = learner.good["counters"]
        self.net_, self.steps_ = learner.evaluator(), counters["steps"]
        self.games_, self.moves_ = counters["games"], counters["moves"]

    def _tick(self, game: Game, learner: Any, *more: Any) -> float:
        try:
            return super()._tick(game, learner, *more)
        except SpecError:  # it diverged: the message says which weights are kept
            self.keep(learner)
            raise

    def evaluator(self, made: Mapping[str, Any] | None = None) -> NetEval:
        """The net that was learned."""
        details = {
            "method": self.target, "depth": self.plies, "games": self.games_, "moves": self.moves_, "seed": self.seed,
            **(made or {}),
        }  # fmt: skip
        tensors = self.net_.tensors()
        return NetEval(self.net_.game, {k: tensors[k] for k in TENSORS}, self.net_.activation, details)
