"""An evaluator over many states at once, on the compiled backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import State

TEMPLATE = Path(__file__).with_name("batch_kernel.py")


def evaluate_many(evaluator: Evaluator, states: Sequence[State], players: Sequence[int]) -> np.ndarray:
    """Return float32[n]: the same numbers as `evaluate`, one by one."""
    game = evaluator.game
    assert game.rules is not None
    words = np.array([game.encode(s) for s in states], np.uint64).reshape(len(states), game.rules.n_words)
    sign = np.array([1 if game.to_play(s) == p else -1 for s, p in zip(states, players, strict=True)], np.float32)
    values: np.ndarray = sign * evaluate_words(evaluator, words)
    if game.rules.clock is not None:  # the words do not remember what stood on the board before
        values *= [not (game.history(s) and game.is_terminal(s)) for s in states]
    return values + np.float32(0)  # 0.0, never -0.0


def evaluate_words(evaluator: Evaluator, words: np.ndarray) -> np.ndarray:
    """Return float32[n]: the value of each encoded state (uint64[n, n_words]) to its player to move."""
    rules, kernel = evaluator.game.rules, evaluator.kernel()
    assert rules is not None
    assert kernel is not None
    module = specialise(TEMPLATE, rules, evaluate_mover=kernel.evaluate_mover)
    announce(f"the {evaluator.name} evaluator of {evaluator.game.name}", module.evaluate_rows)
    out = np.empty(len(words), np.float32)
    try:
        module.evaluate_rows(np.ascontiguousarray(words), kernel.params.copy(), out)
    except COMPILE_ERRORS as error:
        raise explain_failure(error, f"{evaluator.game.name}.rules") from None
    return out
