"""The one formula of all targets, against what each of them says in its own words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit

from evallearn.compiled.bits import jitable
from evallearn.errors import SpecError
from evallearn.train.reference.td_lambda import lambda_returns
from evallearn.train.targets import LEARN_AT, TARGETS, Target, lambda_errors, returns

FROM_RESULT = ("outcome", "texel")
FROM_SEARCH = ("rootstrap", "treestrap")


@dataclass
class Episode:
    """A game of random figures, all as their own mover sees them; a single output is a value, several are chances."""

    mover: np.ndarray
    value: np.ndarray
    search: np.ndarray
    result: np.ndarray
    """Of the game, to player 0."""
    followed: np.ndarray
    """1.0 where the best move was made."""


def episode(outputs: int, length: int, seed: int, *, cut: bool) -> Episode:
    rng = np.random.default_rng(seed)
    value, search = rng.uniform(0, 1, (2, length, outputs))
    followed = np.where(rng.random(length) < 0.3, 0.0, 1.0) if cut else np.ones(length)
    return Episode(rng.integers(0, 2, length), value, search, rng.uniform(0, 1, outputs), followed)


def turned(x: np.ndarray) -> np.ndarray:
    """The other player's view."""
    return -x if len(x) == 1 else 1 - x[::-1]


def seen(e: Episode, x: np.ndarray, of: int, by: int) -> np.ndarray:
    return x if of == by else turned(x)


def backup_of(target: Target, e: Episode) -> np.ndarray:
    """What each decision is compared with."""
    rows = []
    for t, mover in enumerate(e.mover):
        result = seen(e, e.result, 0, mover)
        following = seen(e, e.value[t + 1], e.mover[t + 1], mover) if t + 1 < len(e.mover) else result
        row = {"result": result, "next": following, "search": e.search[t], "expectation": e.search[t]}[target.backup]
        if target.backup == "next" and not e.followed[t]:
            row = e.search[t]
        rows.append((1 - target.outcome_share) * row + target.outcome_share * result)
    return np.array(rows)


def in_its_own_words(name: str, e: Episode, lambda_: float) -> np.ndarray:
    """What the target says, without the formula."""
    rows, end = [], len(e.mover)
    for t, mover in enumerate(e.mover):
        result = seen(e, e.result, 0, mover)
        stops = [k for k in range(t, end) if not e.followed[k]]
        last = stops[0] if stops else end - 1
        later = [seen(e, e.value[k], e.mover[k], mover) for k in range(t, last + 1)]
        if name in FROM_RESULT:
            row = result
        elif name in FROM_SEARCH:
            row = e.search[t]
        elif name == "blend":
            row = 0.5 * e.search[t] + 0.5 * result
        elif name == "expectation":
            row = e.search[t] + sum(
                lambda_ ** (k - t) * (seen(e, e.search[k], e.mover[k], mover) - seen(e, e.value[k], e.mover[k], mover))
                for k in range(t + 1, last + 1)
            )
        else:  # the definition of the lambda-return, as long as best moves were made
            final = seen(e, e.search[last], e.mover[last], mover) if stops else result
            row = lambda_returns(np.array([*later, final]), lambda_)[0]
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("cut", [False, True])
def test_formula_says_what_every_target_says_in_its_own_words(name: str, outputs: int, cut: bool) -> None:
    target = TARGETS[name]
    for seed, length in enumerate((1, 2, 9)):
        e = episode(outputs, length, seed, cut=cut)
        for lambda_ in {target.lambda_, 1.0} if target.lambda_ else {0.0}:
            found = returns(backup_of(target, e), e.value, e.followed, e.mover, lambda_)
            assert np.allclose(found, in_its_own_words(name, e, lambda_), atol=1e-12)


def test_outcomes_are_the_lambda_return_of_lambda_1() -> None:
    e = episode(1, 12, 5, cut=False)
    ends = returns(backup_of(TARGETS["outcome"], e), e.value, e.followed, e.mover, 0.0)
    assert np.allclose(returns(backup_of(TARGETS["td"], e), e.value, e.followed, e.mover, 1.0), ends, atol=1e-12)


def test_errors_reach_back_as_far_as_moves_are_likely() -> None:
    errors = np.array([[0.0], [1.0]])
    lambda_errors(errors, np.array([0.8, 1.0]), np.array([0, 1]), 0.5, 0, 2)
    assert errors[:, 0].tolist() == pytest.approx([-0.4, 1.0])


def test_only_the_decisions_that_were_named_change() -> None:
    errors = np.ones((4, 1))
    lambda_errors(errors, np.ones(4), np.zeros(4, int), 0.5, 1, 3)
    assert errors[:, 0].tolist() == [1.0, 1.5, 1.0, 1.0]


@pytest.mark.parametrize("outputs", [1, 3])
def test_compiled_formula_is_the_plain_one_bit_for_bit(outputs: int) -> None:
    compiled, e = njit(jitable(lambda_errors)), episode(outputs, 40, 7, cut=True)
    plain, fast = (e.search - e.value for _ in range(2))
    lambda_errors(plain, e.followed, e.mover, 0.7, 3, 40)
    compiled(fast, e.followed, e.mover, 0.7, 3, 40)
    assert plain.tobytes() == fast.tobytes()


def test_targets_that_make_no_sense_are_refused() -> None:
    assert {target.learn_at for target in TARGETS.values()} == set(LEARN_AT)
    with pytest.raises(SpecError, match="unknown backup 'past'"):
        Target(backup="past")
    with pytest.raises(SpecError, match="lambda=1.5: give a number from 0 to 1"):
        Target(lambda_=1.5)
