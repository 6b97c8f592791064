"""A net that plays with weights that stand still, and writes down what its games teach: `FrozenNet`.

A net foretells P(utility >= level) for every level, and learns in minibatches. So the episode kernel plays a round with
the weights of before, and writes lessons (position, probabilities), from which torch learns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evallearn.compiled.learning_records import LessonRecord
from evallearn.evaluators.features import half_range
from evallearn.evaluators.net import NetEval
from evallearn.train.models import Arrays, ModelHooks

TEMPLATE = Path(__file__).with_name("frozen_net_kernel.py")
MAX_NODES = 256
"""Nodes of one search that are learned: more of the same tree say little that is new."""
NODE_DRAWS = 0xD6E8FEB86659FD93
"""Keeps the random numbers of nodes apart from those of the game; any odd number would do."""


class FrozenNet:
    """What the episode kernel asks of a net."""

    def __init__(self, net: NetEval, *, searches: bool = False, every_node: bool = False) -> None:
        """Set up the player.

        searches: whether alpha-beta chooses its moves; every_node: whether the nodes of the search are lessons.
        """
        self.game, self.net, self.searches, self.every_node = net.game, net, searches, every_node
        assert net.game.rules is not None
        self.n_words, self.outputs = net.game.rules.n_words, net.outputs
        self.module = self._specialised()
        self.record = self.record_of(net)

    def _specialised(self) -> Any:
        from evallearn.compiled.specialise import specialise

        rules = self.game.rules
        assert rules is not None
        return specialise(
            TEMPLATE,
            rules,
            self.net.kernels(),
            MAX_NODES=MAX_NODES,
            NODE_DRAWS=np.uint64(NODE_DRAWS),
            OUTPUTS=self.outputs,
            SCALE=half_range(self.game),
        )

    def record_of(self, net: NetEval) -> np.ndarray:
        """Return the record of a net of the same sizes."""
        return net.params(LessonRecord, words=self.n_words, nodes=MAX_NODES if self.every_node else 1)

    def room(self, rows: int) -> Arrays:
        """Return arrays for so many lessons, and the record."""
        words, targets = np.empty((rows, self.n_words), np.uint64), np.empty((rows, self.outputs), np.float32)
        return words, targets, self.record

    @property
    def arrays(self) -> Arrays:
        """Return what hooks get, with room for no lesson."""
        return self.room(0)

    def hooks(self) -> ModelHooks:
        """Return what plays inside the episode kernel."""
        own: dict[str, Any] = {"OUTPUTS": self.outputs}
        own |= {} if self.searches else {"evaluate_mover": None}
        return ModelHooks.of(self.module, np.dtype((np.uint64, (self.n_words,))), **own)

    def inputs(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the net sees of the positions, float32[n, n_features], and their phases, int64[n]."""
        x = np.empty((len(words), len(self.game.feature_names)), np.float32)
        phases = np.empty(len(words), np.int64)
        self.module.inputs(np.ascontiguousarray(words), x, phases)
        return x, phases
