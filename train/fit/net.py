"""The neural fitter: a small net from the same records, with torch, in memory that does not grow with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from evallearn.core.game import Game
from evallearn.core.settings import DERIVED_SEED, STEP, check_ranges, number, whole
from evallearn.errors import DataError, unknown
from evallearn.evaluators.net import ACTIVATIONS, NetEval
from evallearn.train.fit.blas import one_blas_thread
from evallearn.train.fit.metrics import predict_net
from evallearn.train.fit.stream import RecordBatch, RecordStream, Summary, check_fits, check_same_length, summarise
from evallearn.train.models.net_torch import arrays, check_hidden, cross_entropy, first_tensors, learnable, logits
from evallearn.train.validation import ValidationStream

if TYPE_CHECKING:
    import torch

OnEpoch = Callable[[int, int, float, float], None]
"""on_epoch(epoch, of, train loss, validation loss), after each epoch; epochs count from 1."""
FLOOR = 0.01
"""The learning rate falls along a cosine to this share of its first value."""
DECAYED = ("w1", "d1", "w2", "w3")
"""Tensors to which the weight decay applies."""
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Standardised features float32[n, n_features], phase int64[n], probability of a win float32[n, 1]."""


class NetFitter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fits a NetEval of one output to the outcomes of games: cross-entropy, a draw being half a win.

    Phases share all weights and have biases of their own in the first layer. Adam with a falling learning rate;
    minibatches from a shuffle buffer of bounded size. A tenth of the training games is held back, and the epoch with
    the least loss there is kept: the test split has no say in what it then measures. The same seed and records give
    the same bytes: one thread, and generators of its own.
    """

    RANGES: ClassVar = {
        "epochs": whole(1, 10_000), "patience": whole(1, 10_000), "batch_size": whole(1, 2**20),
        "learning_rate": STEP, "weight_decay": number(at_least=0, at_most=1e9), "shuffle_rows": whole(1, 2**30),
        "seed": DERIVED_SEED,
    }  # fmt: skip

    def __init__(
        self,
        *,
        hidden: tuple[int, ...] = (32, 16),
        activation: str = "relu",
        epochs: int = 20,
        patience: int = 5,
        batch_size: int = 1024,
        learning_rate: float = 5e-3,
        weight_decay: float = 1e-3,
        shuffle_rows: int = 1 << 18,
        seed: int = 0,
    ) -> None:
        """Only store the settings; `fit` checks them.

        hidden: units in one or two hidden layers.
        activation: of these units; see `NetEval`.
        epochs: passes over the training records, at most.
        patience: stop after this many epochs in a row without a better validation loss.
        batch_size: records per step.
        learning_rate: the first one.
        weight_decay: AdamW's, on weights and on what a phase adds to the common bias.
        shuffle_rows: records in the shuffle buffer; records of one game lie together, so it must hold many games.
        """
        self.hidden = hidden
        self.activation = activation
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.shuffle_rows = shuffle_rows
        self.seed = seed

    def fit(self, stream: RecordStream, on_epoch: OnEpoch | None = None) -> NetFitter:
        """Learn from the train split; the test split is not read."""
        import torch

        learned_from = ValidationStream(stream)

        self._check_settings()
        with one_blas_thread():
            summary = summarise(learned_from)
        learned_from.require_records()
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # more threads would add in another order, and a net this small gains nothing
        try:
            best = self._train(learned_from, summary, on_epoch)
        finally:
            torch.set_num_threads(threads)
        self.tensors_ = _fold(best, summary)
        self.n_records_, self.n_features_in_, self.n_phases_ = summary.n_records, stream.n_features, stream.n_phases
        self.feature_names_, self.data_checksum_ = tuple(stream.feature_names), stream.checksum
        return self

    def predict(self, features: np.ndarray, phase: np.ndarray) -> np.ndarray:
        """Return the value of each row to its player to move, float64[n]."""
        check_is_fitted(self)
        return predict_net(self.tensors_, self.activation, features, phase)

    def evaluator(self, game: Game, metadata: Mapping[str, Any] | None = None) -> NetEval:
        """Return the evaluator for a game with these features.

        `metadata` adds to the origin that its file tells.
        """
        check_is_fitted(self)
        check_fits(self.feature_names_, self.n_phases_, game)
        origin = {
            "trainer": type(self).__name__,
            "settings": self.get_params(),
            "records": self.n_records_,
            "data_checksum": self.data_checksum_,
            "best_epoch": self.best_epoch_,
        }
        return NetEval(game, self.tensors_, self.activation, {**origin, **(metadata or {})})

    # --- training --------------------------------------------------------------------------------------------------
    def _train(self, stream: ValidationStream, summary: Summary, on_epoch: OnEpoch | None) -> dict[str, np.ndarray]:
        import torch

        first = first_tensors(stream.n_features, self.hidden, 1, activation=self.activation, seed=self.seed)
        # Phases share the bias b1 and add d1: a phase without records keeps the common one.
        net = learnable({**first, "d1": np.zeros((stream.n_phases, self.hidden[0]))})
        decayed = [t for k, t in net.items() if k in DECAYED]
        plain = [t for k, t in net.items() if k not in DECAYED]
        groups = [{"params": decayed, "weight_decay": self.weight_decay}, {"params": plain, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=self.learning_rate, fused=True)
        self.history_: list[dict[str, Any]] = []
        self.best_epoch_, best_loss, best = 0, math.inf, arrays(net)
        for epoch in range(1, self.epochs + 1):
            train_loss = self._epoch(stream, summary, net, optimizer, epoch)
            validation_loss = self._validation_loss(stream, summary, net)
            if not math.isfinite(train_loss + validation_loss):
                raise DataError(
                    f"the loss became {train_loss + validation_loss} in epoch {epoch}: "
                    f"lower learning_rate (now {self.learning_rate:g})"
                )
            self.history_.append({"epoch": epoch, "train_loss": train_loss, "validation_loss": validation_loss})
            if on_epoch is not None:
                on_epoch(epoch, self.epochs, train_loss, validation_loss)
            if validation_loss < best_loss:
                self.best_epoch_, best_loss, best = epoch, validation_loss, arrays(net)
            elif epoch - self.best_epoch_ >= self.patience:
                break
        return best

    def _epoch(
        self, stream: RecordStream, summary: Summary, net: dict[str, torch.Tensor], optimizer: Any, epoch: int
    ) -> float:
        """Make one pass over the training records; return its mean loss."""
        seen, total = 0, 0.0
        rng = np.random.default_rng([self.seed, epoch])
        for rows in self._minibatches(stream, summary, rng):
            done = (epoch - 1 + seen / summary.n_records) / self.epochs
            for group in optimizer.param_groups:
                group["lr"] = self.learning_rate * (FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * done)) / 2)
            optimizer.zero_grad()
            loss = self._loss(net, rows)
            loss.backward()
            optimizer.step()
            seen += len(rows[2])
            total += float(loss.detach()) * len(rows[2])
        check_same_length(seen, summary.n_records)
        return total / seen

    def _minibatches(self, stream: RecordStream, summary: Summary, rng: np.random.Generator) -> Iterator[Rows]:
        """Yield the training records in random order, as far as a buffer of shuffle_rows allows."""
        pool: list[Rows] = []
        for b in stream.batches("train"):
            pool.append(_standardise(b, summary))
            if sum(len(q) for _, _, q in pool) >= self.shuffle_rows:
                rows = _shuffle(pool, rng)
                half = max(len(rows[2]) // 2, 1)  # the other half stays and meets the games that come
                yield from self._cut((rows[0][:half], rows[1][:half], rows[2][:half]))
                pool = [(rows[0][half:].copy(), rows[1][half:].copy(), rows[2][half:].copy())]
        if sum(len(q) for _, _, q in pool):
            yield from self._cut(_shuffle(pool, rng))

    def _cut(self, rows: Rows) -> Iterator[Rows]:
        """Return even pieces of about batch_size: a last piece of three records would be a step of pure noise."""
        pieces = math.ceil(len(rows[2]) / self.batch_size)
        yield from zip(*(np.array_split(column, pieces) for column in rows), strict=True)

    def _check_settings(self) -> None:
        check_hidden(self.hidden)
        if self.activation not in ACTIVATIONS:
            raise unknown("activation", self.activation, ACTIVATIONS)
        check_ranges(self)

    def _loss(self, net: dict[str, torch.Tensor], rows: Rows) -> torch.Tensor:
        import torch

        x, phase, q = rows
        z = logits({**net, "b1": net["b1"] + net["d1"]}, self.activation, torch.from_numpy(x), phase)
        return cross_entropy(z, torch.from_numpy(q))

    def _validation_loss(self, stream: RecordStream, summary: Summary, net: dict[str, torch.Tensor]) -> float:
        import torch

        seen, total = 0, 0.0
        with torch.no_grad():
            for b in stream.batches("validation"):
                seen += len(b.outcome)
                total += float(self._loss(net, _standardise(b, summary))) * len(b.outcome) if len(b.outcome) else 0.0
        return total / seen


def _fold(net: dict[str, np.ndarray], summary: Summary) -> dict[str, np.ndarray]:
    """Return the tensors of a NetEval, which sees raw features: scaling goes into w1, the means and phases into b1."""
    w1 = net["w1"].astype(np.float64) * summary.inverse_scale[:, None]
    b1 = net["b1"].astype(np.float64) + net["d1"] - summary.mean @ w1[0]
    folded = {"w1": w1, "b1": b1, **{k: net[k] for k in ("w2", "b2", "w3", "b3")}}
    return {k: np.ascontiguousarray(t, np.float32) for k, t in folded.items()}


def _standardise(b: RecordBatch, summary: Summary) -> Rows:
    x = (b.features - summary.mean.astype(np.float32)) * summary.inverse_scale.astype(np.float32)
    return x, np.asarray(b.phase, np.int64), (1.0 + b.outcome.astype(np.float32)[:, None]) / 2.0


def _shuffle(pool: list[Rows], rng: np.random.Generator) -> Rows:
    order = rng.permutation(sum(len(q) for _, _, q in pool))
    x, phase, q = (np.concatenate([rows[i] for rows in pool])[order] for i in range(3))
    return x, phase, q
