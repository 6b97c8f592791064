"""The ways to learn linear weights: each takes one pass of sums over the records, most of them more passes after it.

Every method answers with standardised coefficients per phase; `train/fit/linear.py` turns them into an evaluator's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from evallearn.core.settings import PENALTY, SEED, check_ranges, number, whole
from evallearn.errors import unknown
from evallearn.train.fit.constraints import Tied, gather, shared, taper_map
from evallearn.train.fit.newton import Rows, Sums, Triple, logistic_sums, newton, solve_ridge
from evallearn.train.fit.sparse import select
from evallearn.train.fit.stream import RecordStream, Summary, check_same_length, chunks

METHODS = ("ridge", "logistic", "sgd", "lasso", "elasticnet", "wdl", "ordinal")
HALF = 0.5
"""2 logistic(z) - 1 = tanh(z / 2): what turns log odds into the argument of tanh."""
REFIT = 1.0
"""The ridge penalty, in records, of the fit on features that lasso has selected: only against collinear ones."""


@dataclass(frozen=True)
class Settings:
    """What `LinearFitter` was told, checked."""

    method: str
    alpha: float
    phase_alpha: float
    l1_ratio: float
    relax: bool
    tapered: bool
    tied: Tied | None
    epochs: int
    seed: int
    max_iter: int
    tol: float

    RANGES: ClassVar = {
        "alpha": PENALTY, "phase_alpha": PENALTY, "l1_ratio": number(above=0, at_most=1), "epochs": whole(1, 10_000),
        "seed": SEED, "max_iter": whole(1, 10**6), "tol": number(above=0, at_most=1),
    }  # fmt: skip

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown("method", str(self.method), METHODS)
        check_ranges(self)

    def newton(
        self, sums: Sums, prior: np.ndarray, penalty: np.ndarray, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, int]:
        """Return (theta, passes), with the patience that was asked for."""
        return newton(sums, prior, penalty, max_iter=self.max_iter, tol=self.tol, start=start)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a method has learned."""

    theta: np.ndarray
    """float64[n_phases, n_features + 1]: standardised weights and the constant."""
    n_iter: int
    """Passes over the records after the first."""
    scale: float | None = HALF
    """What turns them into the argument of tanh; None: the one with the least log loss is still to be found."""
    kept: np.ndarray | None = None
    """bool[n_features]: the features that were selected."""
    draw_margin: float = 0.0
    model: Any = None
    """The PooledSgd that can learn on."""


def records(stream: RecordStream, summary: Summary) -> Iterator[Triple]:
    """Yield (features, phase, outcome): a further pass over the training records, which `summarise` has checked."""
    seen = 0
    for b in stream.batches("train"):
        seen += len(b.outcome)
        yield from chunks(b)
    check_same_length(seen, summary.n_records)


# --- penalties: the constant of all phases together is always free ---------------------------------------------------
def common_penalty(d: int, alpha: float) -> np.ndarray:
    return np.append(np.full(d - 1, alpha), 0.0)


def taper_penalty(d: int, settings: Settings, extra: int = 0) -> np.ndarray:
    """Return the penalty for (half the change, the middle, extra).

    The change is penalised as a phase's distance from the others.
    """
    return np.concatenate([np.full(d, settings.phase_alpha), common_penalty(d, settings.alpha), np.zeros(extra)])


def tapers(settings: Settings, summary: Summary) -> bool:
    return settings.tapered and len(summary.gram) > 1


# --- least squares ---------------------------------------------------------------------------------------------------
def fit_ridge(stream: RecordStream, summary: Summary, settings: Settings) -> Fitted:
    everything = np.ones(len(summary.mean), bool)
    return Fitted(_pooled_ridge(summary, settings, everything), 0, scale=None)


def fit_lasso(stream: RecordStream, summary: Summary, settings: Settings) -> Fitted:
    """Select the features for all phases together; then, if `relax`, fit those that are left by ridge."""
    l1_ratio = 1.0 if settings.method == "lasso" else settings.l1_ratio
    common = select(summary, settings.alpha, l1_ratio)
    kept = common != 0.0
    constant = (summary.target[:, -1].sum() - summary.gram[:, -1, :-1].sum(axis=0) @ common) / summary.n_records
    start = None if settings.relax else np.append(common, constant)
    return Fitted(_pooled_ridge(summary, replace(settings, alpha=REFIT), kept, start), 0, scale=None, kept=kept)


def _pooled_ridge(
    summary: Summary, settings: Settings, kept: np.ndarray, common: np.ndarray | None = None
) -> np.ndarray:
    """Return float64[n_phases, n_features + 1].

    common: the coefficients of all phases together, if they are known.
    """
    some = np.append(kept, True)
    gram, target = summary.gram[:, some][:, :, some], summary.target[:, some]
    p, d = target.shape
    theta = np.zeros((p, len(some)))
    if tapers(settings, summary) and common is None:
        maps = taper_map(p, d)
        theta[:, some] = maps @ solve_ridge(*gather(maps, gram, target), taper_penalty(d, settings))
        return theta
    if common is None:
        one = solve_ridge(gram.sum(axis=0), target.sum(axis=0), common_penalty(d, settings.alpha))
    else:
        one = common[some]
    theta[:, some] = one
    if p > 1:
        for k in range(p):
            own = solve_ridge(gram[k], target[k] - gram[k] @ one, np.full(d, settings.phase_alpha))
            theta[k, some] += own
    return theta


# --- logistic regression ---------------------------------------------------------------------------------------------
def fit_logistic(stream: RecordStream, summary: Summary, settings: Settings) -> Fitted:
    def rows() -> Iterator[Triple]:
        for x, phase, y in records(stream, summary):
            yield summary.design(x), (1.0 + y) / 2.0, phase

    if getattr(stream, "accumulates", False):
        share = information(summary)
        settings = replace(settings, alpha=settings.alpha * share, phase_alpha=settings.phase_alpha * share)
    return newton_phases(rows, summary, settings)


def information(summary: Summary) -> float:
    """Return what a record tells about log odds, as a share of what one with even chances tells.

    Penalties count such records. Where utility accumulates, the best is only a bound, as in 2048, and what is still to
    come may be a two-hundredth of it: penalties as they are would leave nothing of the weights.
    """
    share = (1.0 + summary.target[:, -1].sum() / summary.n_records) / 2.0
    return float(4.0 * share * (1.0 - share))


def newton_phases(rows: Rows, summary: Summary, settings: Settings) -> Fitted:
    """Fit all phases together, then each with a penalty on its distance; or the two ends of the taper at once."""
    p, d = summary.target.shape

    def sums(theta: np.ndarray) -> Triple:
        return logistic_sums(rows, theta)

    first = first_step(summary, settings)
    if tapers(settings, summary):
        maps = taper_map(p, d)
        nothing, start = np.zeros((1, 2 * d)), np.append(np.zeros(d), first)[None]
        found, n = settings.newton(shared(sums, maps), nothing, taper_penalty(d, settings), start=start)
        return Fitted(maps @ found[0], n)
    theta, n = settings.newton(sums, np.zeros((1, d)), common_penalty(d, settings.alpha), start=first[None])
    if p > 1:
        theta, more = settings.newton(sums, np.tile(theta, (p, 1)), np.full(d, settings.phase_alpha))
        n += more
    return Fitted(theta, n)


def first_step(summary: Summary, settings: Settings) -> np.ndarray:
    """Return float64[n_features + 1]: where Newton's first step from nothing leads; it is known without a pass."""
    gram, target = summary.gram.sum(axis=0), summary.target.sum(axis=0)
    return 2.0 * solve_ridge(gram, target, common_penalty(len(target), 4.0 * settings.alpha))
