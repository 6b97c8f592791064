from typing import Any

import pytest

from evallearn.core.rules import Rules
from evallearn.games.tic_tac_toe.rules import RULES, State, key, phase

SIZES: dict[str, Any] = {"n_actions": 9, "max_actions": 9, "max_plies": 9}


def actions(s: Any, out: Any) -> int:
    return 0


def result(s: Any, a: int) -> Any:
    return s


is_terminal = to_play = RULES.is_terminal  # not defined here


def test_rules_of_a_module_are_what_it_defines_and_what_is_named():
    rules = Rules.of(__name__, is_terminal=is_terminal, to_play=to_play, phase=phase, key=key, **SIZES)
    assert (rules.State, rules.actions, rules.result, rules.to_play) == (State, actions, result, to_play)
    assert rules.utility_mover is None


def test_functions_that_are_only_imported_must_be_named():
    with pytest.raises(TypeError, match="'is_terminal', 'to_play', 'phase', and 'key'"):
        Rules.of(__name__, **SIZES)
