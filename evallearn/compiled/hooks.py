"""What a kernel is given in place of a rule that a game does not have."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.core.rules import Rules

PLAYERS = Path(__file__).with_name("players_kernel.py")


@jitable
def utility_mover(s):
    return np.float32(0)


@jitable
def features_mover(s, out):
    pass


@jitable
def bounds_mover(s):
    return np.float32(0), np.float32(0)


@jitable
def eval_bounds_mover(s, params):
    return np.float32(0), np.float32(0)


@jitable
def utility_player(s, player):
    return np.float32(0)


@jitable
def features_player(s, player, out):
    pass


@jitable
def won_player(s, player):
    return 0.0


@jitable
def active_features(s, player, places, values):
    return 0


@jitable
def chances(s, out, probabilities):
    return 0


@jitable
def viewer(s):
    return 0


@jitable
def cells(s, out):
    pass


@jitable
def contents(s, out):
    pass


@jitable
def clock(s):
    return 0


@jitable
def noisy_actions(s, out):
    return 0


@jitable
def forcing(s):
    return False


@jitable
def may_pass(s):
    return False


@jitable
def passed(s):
    return s


@jitable
def quiet_value(s, left, ply, alpha, beta, ctx, params):
    return np.float32(0)


@jitable
def note_node(s, value, alpha, beta, params):
    pass


STAND_INS = {  # compiled and never asked
    "utility_mover": utility_mover,
    "features_mover": features_mover,
    "bounds_mover": bounds_mover,
    "eval_bounds_mover": eval_bounds_mover,
    "utility_player": utility_player,
    "features_player": features_player,
    "won_player": won_player,
    "active_features": active_features,
    "chances": chances,
    "viewer": viewer,
    "cells": cells,
    "contents": contents,
    "clock": clock,
    "noisy_actions": noisy_actions,
    "forcing": forcing,
    "may_pass": may_pass,
    "passed": passed,
    "quiet_value": quiet_value,
    "note_node": note_node,
}


def utility_to_any(rules: Rules) -> Any:
    """utility_player(s, player) of any game: its own, or made from the mover's."""
    if rules.utility_player is not None:
        return rules.utility_player
    from evallearn.compiled.specialise import specialise

    return specialise(PLAYERS, to_play=rules.to_play, utility_mover=rules.utility_mover).utility_player


def bindings(rules: Rules, *names: str) -> dict[str, Any]:
    """The rules of these names, or what stands in for them, as a kernel template wants them."""
    return {name: getattr(rules, name) or STAND_INS[name] for name in names}
