"""Why an evaluator says what it says of one position: what each feature adds, or the value without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game, State
from evallearn.core.result import Result
from evallearn.errors import DataError
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.linear import LinearEval

Kind = Literal["terminal", "solved", "sum", "occlusion", "closed"]
"""How a value was taken apart.

terminal: the game is over, the value is the utility.
solved: the evaluator knows the value from a table; there are no parts.
sum: the effects add up to the unsquashed value.
occlusion: each effect is the unsquashed value less what it would be if that feature alone were neutral; they need not
    add up to anything.
closed: the evaluator says nothing about itself.
"""


@dataclass(frozen=True)
class Part:
    """What one feature does to the value to the player of the explanation."""

    name: str
    feature: float | None
    """The feature itself; None for the constant, and where it is not known."""
    weight: float | None
    """Of a linear evaluator, in this phase of the game."""
    effect: float
    """On the unsquashed value: above 0 it speaks for the player."""


@dataclass(frozen=True)
class Explanation(Result):
    """What an evaluator says of a position, and why. Values are utilities to the player that is named."""

    name: str
    kind: Kind
    player: int
    """Who is to move, or will be after the roll: `value` and all parts are to this player."""
    value: float
    values: tuple[float, ...]
    """To every player."""
    raw: float | None
    """The unsquashed value in units: the sum of the effects where kind is "sum". None if the evaluator does not say."""
    middle: float
    scale: float
    """value = middle + scale * squash(unit * raw)."""
    won: float | None
    """What the player has won already, where utility accumulates; `middle` and `scale` are of what is between that
    and the best utility. Else None."""
    unit: float
    """Of a sum: what 1 of its weights is worth before the squashing, as in a heuristic that is written in pawns."""
    squash: str
    """tanh; or clip, where raw is a value already and is only kept between loss and win."""
    phase: int
    neutral: str
    """What a feature is set to by occlusion: zero, or mean."""
    parts: tuple[Part, ...]
    """The largest effect first."""


def explain(evaluator: Evaluator, s: State, *, name: str = "", means: Sequence[float] | None = None) -> Explanation:
    """Explain the value of `s` to the player to move: what each feature does to it.

    means: the mean of every feature, as `feature_means` finds it, to which occlusion sets a feature; without them 0.
    """
    game = evaluator.game
    if means is not None and len(means) != len(game.feature_names):
        raise DataError(
            f"{len(means)} means for the {len(game.feature_names)} features of {game.name}: give one for each"
        )
    over = game.is_terminal(s)
    player = game.to_play(s) if over else game.observer(s)
    kind, raw, parts = ("terminal", None, []) if over else _taken_apart(evaluator, s, player, means)
    won = game.won(s, player) if game.has("won") else None
    low, high = game.utility_range if won is None else (won, game.utility_range[1])
    return Explanation(
        name=name or evaluator.name,
        kind=kind,
        player=player,
        value=evaluator.evaluate(s, player),
        values=tuple(evaluator.evaluate(s, p) for p in range(game.n_players)),
        raw=raw,
        middle=(low + high) / 2,
        scale=(high - low) / 2,
        won=won,
        unit=evaluator.unit if kind == "sum" else 1.0,
        squash=_squash(evaluator),
        phase=0 if over else game.phase(s),
        neutral="zero" if means is None else "mean",
        parts=tuple(sorted(parts, key=lambda p: -abs(p.effect))),
    )


def _squash(evaluator: object) -> str:
    while hasattr(evaluator, "below"):  # a layer over another evaluator
        evaluator = evaluator.below
    return str(getattr(evaluator, "squash", "tanh"))


def _taken_apart(
    evaluator: Evaluator, s: State, player: int, means: Sequence[float] | None
) -> tuple[Kind, float | None, list[Part]]:
    told = evaluator.explain(s, player)
    if set(told) == {"solved"}:  # what a SolvedEval says of a position in its table
        return "solved", None, []
    if told:
        seen = seen_features(evaluator.game, s, player)
        weights = _weights(evaluator, evaluator.game.phase(s))
        parts = [Part(n, seen.get(n), weights.get(n), effect / evaluator.unit) for n, effect in told.items()]
        return "sum", sum(told.values()) / evaluator.unit, parts
    if isinstance(evaluator, FeatureEval):
        return _occluded(evaluator, s, player, means)
    return "closed", None, []


def seen_features(game: Game, s: State, player: int) -> dict[str, float]:
    """Return {feature name: its value to `player` in the unfinished position}, rounded to float32 as evaluators do."""
    seen = np.asarray(game.features(s, player), np.float32).tolist()
    return dict(zip(game.feature_names, seen, strict=True))


def _weights(evaluator: Evaluator, phase: int) -> dict[str, float]:
    if not isinstance(evaluator, LinearEval):
        return {}
    weights = (evaluator.weights[phase] / np.float32(evaluator.unit)).tolist()
    return dict(zip(evaluator.game.feature_names, weights, strict=True))


def _occluded(
    evaluator: FeatureEval, s: State, player: int, means: Sequence[float] | None
) -> tuple[Kind, float, list[Part]]:
    """Make each feature in turn neutral, all others as they are, and return the differences."""
    game, phase = evaluator.game, evaluator.game.phase(s)
    seen = seen_features(game, s, player)
    x = list(seen.values())
    raw = evaluator.raw(x, phase)
    neutral = np.zeros(len(x), np.float32) if means is None else np.asarray(means, np.float32)
    parts = []
    for i, (name, feature) in enumerate(seen.items()):
        without = [*x[:i], float(neutral[i]), *x[i + 1 :]]
        parts.append(Part(name, feature, None, raw - evaluator.raw(without, phase)))
    return "occlusion", raw, parts
