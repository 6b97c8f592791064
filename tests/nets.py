"""Nets with random weights."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from evallearn.core.game import Game
from evallearn.evaluators.net import TENSORS, NetEval, levels_of


def random_net(
    game: Game, hidden: tuple[int, ...] = (8,), activation: str = "relu", *, per_phase: Collection[str] = (),
    size: float = 0.3, outputs: int | None = None, seed: int = 0,
) -> NetEval:  # fmt: skip
    """Return a net whose tensors `per_phase` have a part for each phase."""
    rng, f, outs = np.random.default_rng(seed), len(game.feature_names), outputs or len(levels_of(game)) - 1
    h1, h2 = (*hidden, 0)[:2]
    shapes = dict(zip(TENSORS, ((f, h1), (h1,), (h1, h2), (h2,), (h2 or h1, outs), (outs,)), strict=True))
    parts = {k: game.n_phases if k in per_phase else 1 for k in TENSORS}
    return NetEval(game, {k: rng.normal(0, size, (parts[k], *shape)) for k, shape in shapes.items()}, activation)
