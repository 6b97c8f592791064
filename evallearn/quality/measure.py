"""The figures of an evaluator on a suite.

Of choices, where the suite knows the value of every action: the evaluator searches `depth` plies (1: it takes the
action after which it values the position highest), with the settings with which agents search the game, if they are
sound. Of values, everywhere: what the evaluator itself says of the position, without any search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.search import Limits
from evallearn.quality.figures import (
    SAME,
    Figure,
    agreement,
    bounded_mean,
    correlation,
    kendall,
    kept,
    loss,
    outcomes,
    plain,
    share,
    spearman,
)
from evallearn.quality.suite import Item, Suite
from evallearn.search import search_for
from evallearn.train.fit.metrics import Metrics, measure
from evallearn.train.fit.stream import ArrayStream

CLEAR = 0.1
"""A share of a win: where the reference is only an estimate, its sign is taken for certain from here on."""
NARROW = 0.2
"""Where no reference value reaches this share of a win, shares of a win say nothing: points are played for."""
BINS = 10
Choices = Sequence[tuple[Item, np.ndarray, np.ndarray]]
PARTS = ("early", "middle", "late")


@dataclass(frozen=True)
class PhaseErrors:
    """Sign errors in one part of the game."""

    phase: str
    """early (ply 0-11)."""
    errors: Figure
    """The share of positions of which the evaluator takes the wrong side to be better; a value of 0 counts half."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How well an evaluator values the positions of a suite. What makes no sense, or is not known, is None."""

    positions: int
    depth: int
    random: Mapping[str, float]
    """agreement, kept and loss of who chooses at random: what an evaluator must beat."""
    agreement: Figure | None
    """Share of positions in which the chosen action is as good as the best."""
    kept: Figure | None
    """Share in which it keeps the outcome: of those with exact values."""
    loss: Figure | None
    """What the chosen action gives away, in units of utility."""
    order: Figure | None
    """Kendall's tau-b between the evaluator's ordering of the actions and the reference's, mean over positions."""
    correlation: Figure | None
    """Spearman's correlation, over positions, between the evaluator's value and the reference's."""
    brier: Figure | None
    """Mean of (p - q)^2, where p and q are the values as probabilities of a win."""
    signs: Figure | None
    """The share of sign errors, over all phases."""
    phases: tuple[PhaseErrors, ...]
    calibration: Metrics | None
    slope: float | None
    """Of the reference's value on the evaluator's: below 1 the evaluator is overconfident, above 1 too modest."""
    losses: tuple[float, ...]
    """What was given away, position by position: for comparing two evaluators on the same suite."""
    most_lost: float
    """The most that a choice of the suite could give away."""
    left_out: tuple[str, ...]
    """Why a figure is None, in sentences."""

    def to_json(self) -> JsonDict:
        figures = ("agreement", "kept", "loss", "order", "correlation", "brier", "signs")
        return {
            "positions": self.positions,
            "depth": self.depth,
            "random": dict(self.random),
            **{name: plain(getattr(self, name)) for name in figures},
            "phases": [{"phase": p.phase, **p.errors.to_json()} for p in self.phases],
            "calibration": self.calibration.to_json() if self.calibration else None,
            "slope": self.slope,
            "left_out": list(self.left_out),
        }


def measured(evaluator: Evaluator, suite: Suite, *, depth: int = 1, seed: int = 0) -> Measured:
    """Return all figures of the evaluator on the suite; `seed` is that of the correlation's bootstrap."""
    choices = _choices(evaluator, suite, depth)
    said = np.array([evaluator.evaluate(item.state, item.player) for item in suite.items], np.float64)
    left_out = no_sides(suite)
    values = NO_VALUES if left_out is not None else _values(suite, said)
    truth = np.array([item.value for item in suite.items])
    follows = correlation(spearman, said, truth, seed=seed)
    reasons = [left_out, *_why_none(suite), None if follows else NO_SPREAD]
    chosen = _choice_figures(suite, choices)
    return Measured(
        positions=len(suite.items),
        depth=depth,
        correlation=follows,
        left_out=tuple(reason for reason in reasons if reason),
        random=_random(suite, choices),
        losses=_losses(suite.game, choices),
        most_lost=_most_lost(choices),
        agreement=chosen["agreement"],
        kept=chosen["kept"],
        loss=chosen["loss"],
        order=chosen["order"],
        **values,
    )


class Values(TypedDict):
    """The figures of a comparison of values."""

    brier: Figure | None
    signs: Figure | None
    phases: tuple[PhaseErrors, ...]
    calibration: Metrics | None
    slope: float | None


NO_VALUES: Values = {"brier": None, "signs": None, "phases": (), "calibration": None, "slope": None}
NO_SPREAD = "The correlation of values is left out: the reference has the same value for all positions."


def no_sides(suite: Suite) -> str | None:
    """Say why values cannot be taken for chances to win, if they cannot."""
    game = suite.game
    if game.n_players != 2 or not game.zero_sum:
        who = "one player" if game.n_players == 1 else f"{game.n_players} players"
        return f"Outcome, Brier score, calibration and sign errors are left out: {game.name} has {who}, not two sides."
    if np.abs(_shares(game, [item.value for item in suite.items])).max() < NARROW:
        return (
            "Outcome, Brier score, calibration and sign errors are left out: no value of this suite comes near a win "
            "or a loss, as in a game for points."
        )
    return None


def _why_none(suite: Suite) -> list[str]:
    why = []
    if not any(item.values for item in suite.items):
        why.append("Figures of choices are left out: the suite has values of positions only, not of actions.")
    elif not suite.n_exact and no_sides(suite) is None:
        why.append("Outcome kept is left out: no position of the suite has exact values.")
    return why


# --- choices ---------------------------------------------------------------------------------------------------------
def _choices(evaluator: Evaluator, suite: Suite, depth: int) -> Choices:
    """Return (item, the evaluator's values of its actions, what they are worth) where that is known."""
    search = search_for(suite.game, evaluator, sound=True)
    found = []
    for item in suite.items:
        if item.values is not None:
            looks = search.search(item.state, Limits(depth=depth), action_values=True).action_values or {}
            found.append((item, np.array([looks[a] for a in item.values]), np.array([*item.values.values()])))
    return found


def _choice_figures(suite: Suite, choices: Choices) -> dict[str, Figure | None]:
    low, high = suite.game.utility_range
    same, middle = SAME * (high - low), (low + high) / 2
    outcome = [kept(v, t, same, middle) for item, v, t in choices if item.exact] if not no_sides(suite) else []
    return {
        "agreement": share([agreement(v, t, same) for _, v, t in choices]),
        "kept": share(outcome),
        "loss": bounded_mean(_losses(suite.game, choices), 0.0, _most_lost(choices)),
        "order": bounded_mean([kendall(v, t, same) for _, v, t in choices], -1.0, 1.0),
    }


def _losses(game: Game, choices: Choices) -> tuple[float, ...]:
    same = SAME * (game.utility_range[1] - game.utility_range[0])
    return tuple(loss(v, t, same) for _, v, t in choices)


def _most_lost(choices: Choices) -> float:
    """Return the widest choice; 1 where no choice matters, so that the loss of 0 has a scale."""
    return max((float(t.max() - t.min()) for _, _, t in choices), default=0.0) or 1.0


def _random(suite: Suite, choices: Choices) -> dict[str, float]:
    """Return the same figures if all actions had equal values."""
    alike = [(item, np.zeros(len(t)), t) for item, _, t in choices]
    figures = _choice_figures(suite, alike)
    return {name: f.value for name, f in figures.items() if f is not None and name != "order"}


# --- values ----------------------------------------------------------------------------------------------------------
def _shares(game: Game, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return values as shares of a win, in [-1, 1]."""
    low, high = game.utility_range
    return (np.asarray(values, np.float64) - (low + high) / 2) / ((high - low) / 2)


def _values(suite: Suite, said: np.ndarray) -> Values:
    v, truth = _shares(suite.game, said), _shares(suite.game, [item.value for item in suite.items])
    errors = _sign_errors(suite, v, truth)
    return {
        "brier": share((v - truth) ** 2 / 4.0),
        "signs": share(errors),
        "phases": _by_phase(suite, errors),
        "calibration": calibration(v, truth),
        "slope": float((v * truth).sum() / (v * v).sum()) if v.any() else None,
    }


def calibration(v: np.ndarray, truth: np.ndarray) -> Metrics:
    """Return the metrics of training, with the reference's value (a share of a win) in the place of the outcome."""
    n = len(v)
    clipped = np.clip(truth, -1.0, 1.0)
    stream = ArrayStream(v[:, None], clipped, game=np.arange(n), feature_names=("value",), test_share=0.0)
    return measure(lambda features, phase: features[:, 0], stream, "train", bins=BINS)


def _sign_errors(suite: Suite, v: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return 1 where the evaluator takes the wrong side to be better, 1/2 where it says 0, NaN where neither is."""
    least = np.array([SAME if item.exact else CLEAR for item in suite.items])
    errors = (1.0 - np.sign(truth) * outcomes(v, SAME)) / 2.0
    return np.where(np.abs(truth) > least, errors, np.nan)


def _by_phase(suite: Suite, errors: np.ndarray) -> tuple[PhaseErrors, ...]:
    found = []
    names = phases_of(suite)
    for name in sorted({n for n in names if n}, key=names.index):
        rows = np.array([n == name for n in names])
        if (figure := share(errors[rows])) is not None:
            found.append(PhaseErrors(name, figure))
    return tuple(sorted(found, key=lambda p: _rank(p.phase)))


def phases_of(suite: Suite) -> list[str]:
    """Return the part of the game each position is from: thirds of the suite by ply, or the game's own phases.

    It is empty where there is nothing to tell apart.
    """
    plies = [item.ply for item in suite.items]
    known = sorted(ply for ply in plies if ply is not None)
    if len(known) < len(plies) or not known:
        game = suite.game
        return [f"phase {game.phase(item.state)}" if game.n_phases > 1 else "" for item in suite.items]
    n = len(known)
    if known[0] == known[-1]:
        return [""] * n
    starts = known[0], known[n // 3], known[2 * n // 3]
    ends = starts[1] - 1, starts[2] - 1, known[-1]
    names = [f"{part} (ply {a}-{b})" for part, a, b in zip(PARTS, starts, ends, strict=True)]
    return [names[(ply >= starts[1]) + (ply >= starts[2])] for ply in plies if ply is not None]


def _rank(phase: str) -> tuple[int, str]:
    """Return a sort key: early before middle before late, phase 9 before phase 10."""
    word, _, rest = phase.partition(" ")
    return (PARTS.index(word) if word in PARTS else int(rest)), phase
