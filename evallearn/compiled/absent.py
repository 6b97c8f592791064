"""What a kernel is given in place of a rule that a game does not have: it is compiled and never asked."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.protocols import Rules


@jitable
def utility_mover(s):
    return np.float32(0)


@jitable
def features_mover(s, out):
    pass


@jitable
def utility_player(s, player):
    return np.float32(0)


@jitable
def features_player(s, player, out):
    pass


@jitable
def chances(s, out, probabilities):
    return 0


@jitable
def clock(s):
    return 0


@jitable
def noisy_actions(s, out):
    return 0


STAND_INS = {
    "utility_mover": utility_mover,
    "features_mover": features_mover,
    "utility_player": utility_player,
    "features_player": features_player,
    "chances": chances,
    "clock": clock,
    "noisy_actions": noisy_actions,
}


def bindings(rules: Rules, *names: str) -> dict[str, Any]:
    """The rules of these names, or what stands in for them, as a kernel template wants them."""
    return {name: getattr(rules, name) or STAND_INS[name] for name in names}
