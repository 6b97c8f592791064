"""What all evaluators on named features share: the way from a state to a value, and the identity of the features.

    features seen by the mover -> raw number (linear, ...) -> tanh -> the open interval between loss and win

Where utility accumulates (`Game.won`) that interval begins at what is won: the number says which share of what is left
up to the best utility is still to come.

The compiled backend does the same arithmetic in the same order, so both backends agree to the last bit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import Game, State
from evallearn.core.json_shapes import Json, JsonDict
from evallearn.errors import EvaluatorError, GameError
from evallearn.evaluators.squash import SQUASHES, to_value

EVAL_TEMPLATE = Path(__file__).with_name("eval_kernel.py")
LONG_GAME = 120
"""Plies of a game that `feature_hash` looks at, at most: enough to see every feature; chess is slow in plain Python."""


def fixed_positions(game: Game) -> Iterator[State]:
    """Yield the positions of eight games that are always the same, to see what a game shows."""
    lcg = 1
    for _ in range(8):
        s = game.initial()
        for _ in range(LONG_GAME):
            if game.is_terminal(s):
                break
            yield s
            lcg = (lcg * 6364136223846793005 + 1442695040888963407) % 2**64
            choices = game.actions(s) or [outcome for outcome, _ in game.chances(s)]
            s = game.result(s, choices[(lcg >> 33) % len(choices)])


def _feature_hash(game: Game) -> str:
    parts: list[str | bytes] = [repr((game.name, tuple(game.feature_names), game.n_phases))]
    for s in fixed_positions(game):
        seen = game.features(s, game.observer(s))
        if not np.isfinite(seen).all():
            raise not_finite(game, s, seen)
        parts.append(np.asarray(seen, "<f4").tobytes() + bytes([game.phase(s) % 256]))
    return digest(*parts)[:12]


def not_finite(game: Game, s: State, seen: Sequence[float]) -> GameError:
    """Return the error for features that are no numbers: a search that meets such a value may never end."""
    name, value = next((n, x) for n, x in zip(game.feature_names, seen, strict=True) if not math.isfinite(x))
    return GameError(
        f"feature {name!r} of {game.name} is {value} in position {game.to_text(s)!r}: correct the feature function (a "
        "division by zero?)"
    )


def feature_hash(game: Game) -> str:
    """Return twelve digits that change whenever any feature computes something else.

    They are made of the features' values along eight fixed games.
    """
    plain: Game = getattr(game, "plain", game)
    if vars(plain):  # what it computes may depend on how this one was built
        return _feature_hash(plain)
    return _feature_hash_of_class(type(plain))


@lru_cache
def _feature_hash_of_class(game_class: type[Game]) -> str:
    return _feature_hash(game_class())


def half_range(game: Game) -> float:
    """Return half the way from the worst loss to the best win: what tanh is multiplied with."""
    low, high = game.utility_range
    return (high - low) / 2


Field: TypeAlias = tuple[str, str] | tuple[str, str, tuple[int, ...]]
"""Of a record: its name, its type and its shape."""


class FeatureEval(Evaluator):
    """An evaluator that sees a state only by what the game shows of it: named features, or the cells of its board."""

    kind: str
    template: Path
    """Its arithmetic for the compiled backend: raw(params, phase), where params.x are the features."""
    squash: str = "tanh"
    """What makes a value of the raw number: a name in SQUASHES."""

    def __init__(self, game: Game, metadata: Json | None = None) -> None:
        self.require(game)
        self.game, self.metadata = game, dict(metadata or {})
        self.name = str(self.metadata.get("name", self.kind))
        self.middle, self.scale = sum(game.utility_range) / 2, half_range(game)
        self.two_sided = game.n_players == 2 and game.zero_sum
        self.accumulates = game.has("won")
        if self.accumulates and game.zero_sum:
            raise EvaluatorError(f"{game.name} is zero-sum, and nothing is won for certain there: leave out `won`")

    def require(self, game: Game) -> None:
        """Refuse a game that does not show what this evaluator needs to see."""
        if not game.feature_names:
            raise EvaluatorError(f"{game.name} has no features: give it feature_names and features(s, player)")

    def observe(self, s: State, seen_by: int) -> tuple[Sequence[float], int]:
        """Return what `raw` needs to know of `s`."""
        return np.asarray(self.game.features(s, seen_by), np.float32).tolist(), self.game.phase(s)

    def identity(self) -> JsonDict:
        """Return names and hash of what it sees: it fits no game that computes something else."""
        return {"names": list(self.game.feature_names), "hash": feature_hash(self.game)}

    def share(self, x: Sequence[float], phase: int) -> float:
        """Return which part of all that could still come will come to whoever sees `x`: strictly between 0 and 1."""
        raw = self.raw(x, phase)
        return raw if math.isnan(raw) else 0.5 + 0.5 * SQUASHES[self.squash](raw)

    def value(self, x: Sequence[float], phase: int) -> float:
        """Return what features `x` are worth to whoever sees them, where utility does not accumulate."""
        raw = self.raw(x, phase)
        return raw if math.isnan(raw) else self.middle + to_value(raw, self.scale, self.squash)

    @abstractmethod
    def raw(self, x: Sequence[float], phase: int) -> float:
        """Return the unsquashed value of features `x` (already rounded to float32)."""

    @abstractmethod
    def tensors(self) -> dict[str, np.ndarray]:
        """Return the learned numbers as they are stored in a file: float32, unless `files.TYPES` says otherwise."""

    def evaluate(self, s: State, player: int) -> float:
        game = self.game
        if game.is_terminal(s):
            return game.utility(s, player)
        seen_by = game.observer(s) if self.two_sided else player
        if self.accumulates:
            won, best = game.won(s, player), float(game.utility_range[1])
            value = won + (best - won) * self.share(*self.observe(s, seen_by))
        else:
            value = self.value(*self.observe(s, seen_by))
        if math.isnan(value):
            raise not_finite(game, s, game.features(s, seen_by))
        return (value if player == seen_by else -value) + 0.0  # 0.0, never -0.0

    def evaluate_batch(self, states: Sequence[State], players: Sequence[int]) -> np.ndarray:
        if self.game.rules is None or self.game.rules.features_mover is None:
            return super().evaluate_batch(states, players)
        from evallearn.evaluators.batch import evaluate_many

        return evaluate_many(self, states, players)

    def kernel(self) -> EvalKernel | None:
        rules = self.game.rules
        if rules is None:
            return None
        from evallearn.compiled.bits import jitable
        from evallearn.compiled.specialise import specialise

        arithmetic = specialise(self.template, N_FEATURES=len(self.game.feature_names))
        by_mover = rules.features_mover is not None
        module = specialise(
            EVAL_TEMPLATE,
            rules,
            raw=arithmetic.raw,
            squash=jitable(SQUASHES[self.squash]),
            SCALE=self.scale,
            MIDDLE=self.middle,
            BEST=float(self.game.utility_range[1]),
            TWO_SIDED=self.two_sided,
            ACCUMULATES=self.accumulates,
        )
        return EvalKernel(
            params=self._params(),
            evaluate_player=module.evaluate_player,
            evaluate_mover=module.evaluate_mover if by_mover else None,
        )

    def _params(self) -> np.ndarray:
        tensors = self.tensors()
        fields: list[Field] = [(k, t.dtype.str[1:], t.shape) for k, t in tensors.items()]
        params = np.zeros(1, np.dtype([*fields, ("x", "f4", (len(self.game.feature_names),))], align=True))
        for k, t in tensors.items():
            params[k] = t
        return params
