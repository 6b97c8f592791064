"""One process of `evallearn bench learn`: reads amounts of work from the standard input, answers its speed.

It runs with any version of evallearn on its path, so it knows the learners of before as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from evallearn import get_game

Turn = Callable[[int], int]
"""Do so much work; return how many moves or nodes that was."""


def searching(name: str, heuristic: str) -> Turn:
    """Return what searches the positions of a random game, each to a number of nodes."""
    import numpy as np

    from evallearn import AlphaBeta, Limits
    from evallearn.agents import parse_evaluator

    game, rng = get_game(name), np.random.default_rng(1)
    search, s, states = AlphaBeta(game, parse_evaluator(f"handwritten:{heuristic}", game)), game.initial(), []
    for _ in range(8):
        states.append(s)
        actions = list(game.actions(s))
        s = game.result(s, actions[rng.integers(len(actions))])
    return lambda nodes: sum(search.search(s, Limits(nodes=nodes)).nodes for s in states)


def learning(kind: str, name: str, what: str) -> Turn:
    """Return what plays games against itself and learns, with the settings that suit it."""
    game = get_game(name)
    try:
        learner = _learner(kind, game, what)
    except ImportError:  # before the episode kernel
        learner = _learner_before(kind, game, what)

    def turn(games: int) -> int:
        before = learner.moves
        learner.learn(games)
        return int(learner.moves - before)

    return turn


def _learner(kind: str, game: Any, what: str) -> Any:
    from evallearn.train.models.linear import LinearModel
    from evallearn.train.models.net import NetModel
    from evallearn.train.models.patterns import PatternModel
    from evallearn.train.selfplay.settings import SelfPlaySettings
    from evallearn.train.selfplay.trainer import SelfPlayTrainer

    if kind == "patterns":
        return SelfPlayTrainer(PatternModel(game, what)).learner
    model: Any = LinearModel(game) if kind == "linear" else NetModel(game)
    return SelfPlayTrainer(model, SelfPlaySettings(target=what)).learner


def _learner_before(kind: str, game: Any, what: str) -> Any:
    if kind == "patterns":
        return import_module("evallearn.train.patterns").PatternTrainer(what).learner(game)
    if kind == "linear":
        return import_module("evallearn.train.online_trainer").OnlineTrainer(what).learner(game)
    trainer = import_module("evallearn.train.neural").NeuralTrainer(target=what)
    trainer.limit_ = None
    return trainer.learner(game)


def main() -> None:
    kind, name, what = sys.argv[1:4]
    turn = searching(name, what) if kind == "search" else learning(kind, name, what)
    for line in sys.stdin:
        before = time.process_time()
        done = turn(int(line))
        print(done / (time.process_time() - before), flush=True)


if __name__ == "__main__":
    main()
