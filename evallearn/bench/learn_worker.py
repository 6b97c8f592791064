"""One process of `evallearn bench learn`: reads numbers of games from the standard input, answers learning moves/s.

It runs with any version of evallearn on its path, so it knows the learner of before as well.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

from evallearn import get_game


def learner(name: str, patterns: str) -> Any:
    """Return what learns these tables with the settings that suit them."""
    game = get_game(name)
    try:
        from evallearn.train.models.patterns import PatternModel
        from evallearn.train.selfplay.trainer import SelfPlayTrainer
    except ImportError:  # before the episode kernel
        return import_module("evallearn.train.patterns").PatternTrainer(patterns).learner(game)
    return SelfPlayTrainer(PatternModel(game, patterns)).learner


def main() -> None:
    it = learner(*sys.argv[1:3])
    for line in sys.stdin:
        moves, before = it.moves, time.process_time()
        it.learn(int(line))
        print((it.moves - moves) / (time.process_time() - before), flush=True)


if __name__ == "__main__":
    main()
