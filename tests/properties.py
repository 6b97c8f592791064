"""What the property tests of searches share: random trees for Hypothesis, and the searches, each built once."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hashed_trees import HashedDice, HashedTree, Shape
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn import CHANCE, AlphaBeta, Expectiminimax, Game, LinearEval, SearchResult, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import State

OFF = {"table": False, "killers": False, "history": False, "pvs": False, "aspiration": False, "noisy_first": False}
WAYS: dict[str, dict[str, Any]] = {
    "bare": OFF,
    "table": {**OFF, "table": True, "table_bits": 8},
    "ordered": {**OFF, "killers": True, "history": True, "noisy_first": True},
    "pvs": {**OFF, "pvs": True},
    "pvs, ordered": {**OFF, "killers": True, "history": True, "pvs": True},
    "aspiration": {**OFF, "aspiration": True},
    "pvs, aspiration, table": {**OFF, "pvs": True, "aspiration": True, "table": True, "table_bits": 8},
    "all": {"table_bits": 10},
}
"""Settings of alpha-beta that must not change its answer; small tables, so that entries are overwritten."""
PRUNING = ("none", "star1", "star2")

seeds = st.integers(0, 2**32)
ties = st.none() | st.integers(0, 3)
shapes = st.builds(
    Shape,
    branching=st.integers(1, 5),
    levels=st.integers(1, 5),
    grain=st.sampled_from([0, 1, 20]),
    eval_grain=st.sampled_from([0, 1, 20]),
    ends=st.integers(0, 2),
    random_mover=st.integers(0, 1),
    width=st.sampled_from([0, 0, 1, 3, 6]),
    uniform=st.integers(0, 1),
    chance=st.integers(0, 5),
    noisy=st.integers(0, 4),
    forced=st.integers(0, 2),
    passing=st.sampled_from((0, 0, 4, 8)),
    order=st.just(0),
)


def few_or_many(few: int, many: int) -> Any:
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])


def for_all(examples: int, check: Callable[..., None], **strategies: Any) -> None:
    """Hypothesis with the same examples in every run."""
    settings(max_examples=examples, derandomize=True, database=None)(given(**strategies)(check))()


def answer(found: SearchResult) -> tuple[float, Any]:
    return found.value, found.action


# --- who is searched -------------------------------------------------------------------------------------------------
@cache
def fast(name: str) -> tuple[Game, LinearEval]:
    """A game on compiled rules (check_game shows that they equal the plain ones), and its last heuristic."""
    plain: Any = {"hashed_tree": HashedTree, "hashed_dice": HashedDice}.get(name)
    game = CompiledGame(plain() if plain else get_game(name))
    return game, heuristic(game, list(game.heuristics)[-1])


@cache
def alphabeta(name: str, way: str, backend: Any) -> AlphaBeta:
    game, evaluator = fast(name)
    return AlphaBeta(game, evaluator, backend=backend, **WAYS[way])


@cache
def expectiminimax(name: str, pruning: Any, backend: Any, table: bool = False) -> Expectiminimax:
    game, evaluator = fast(name)
    return Expectiminimax(game, evaluator, pruning=pruning, backend=backend, table=table)


def position(game: Game, seed: int, longest: int = 60) -> State:
    """A random unfinished position in which a player is to move."""
    rng = random.Random(seed)
    s = found = game.initial()
    for _ in range(rng.randrange(4, longest)):
        if game.is_terminal(s):
            break
        if game.to_play(s) != CHANCE:
            found = s
        s = game.result(s, rng.choice(list(game.actions(s)) or [outcome for outcome, _ in game.chances(s)]))
    return found
