"""Games of a net against itself in which alpha-beta chooses the moves, and what they teach: `--target` and `--depth`.

The searches are those of linear models (`selfplay/searches.py`, `selfplay/settings.py`): a small depth, then the game's
quiescence, the net at the end of every line. Rows of positions and chances come out, as from `neural_play.py`:

td          every position of the game: the lambda-return of the searches' values. One ply is done without a search
rootstrap   the same with lambda 0: what the search said of the position, and no more
tdleaf      the leaf from which the value of a search came: the lambda-return from the next decision on, since at the
            leaf the net says that value already. No row for a leaf where the game is over, or before a move that was
            not the best
treestrap   every node of the tree where the net could be asked: what the search said of it. A bound counts only where
            the net breaks it. Of more than MOST nodes of a search so many are drawn

A net predicts P(utility >= level), and a search compares values. What a root should expect are those
at the leaf of its line, turned where the other player is to move there; at the end of the game the result. Of an inner
node pruning leaves no line, only a value or a bound v. There the net's own p count, with as many games won (or lost)
as make up for the difference: p + w (1 - p), or p - w p, whose mean is v. With one output both are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.evaluator import EvalKernel
from evallearn.evaluators.net import NetEval
from evallearn.train.leaves import search_options, search_record
from evallearn.train.models.linear import require_searching
from evallearn.train.neural_play import Actor, Rows, joined
from evallearn.train.selfplay.searches import searching_kernels

HERE = Path(__file__).parent
MOST = 256
"""Nodes of one search that are learned: more of the same tree say little that is new."""
NODES = 0xD6E8FEB86659FD93
"""Takes the draws of nodes away from those of the game; any odd number would do."""


class SearchingActor(Actor):
    """Plays games with the weights that it was given last, and searches every move."""

    bite = 4

    def __init__(
        self,
        net: NetEval,
        *,
        target: str,
        depth: int,
        lambda_: float,
        epsilon: float,
        opening_plies: int,
        seed: int,
        threads: int = 1,
    ) -> None:
        """Raise SpecError for a game in which alpha-beta cannot teach."""
        game, rules = net.game, net.game.rules
        require_searching(game, "use --target td with --depth 1")
        assert rules is not None
        self.target = target
        super().__init__(
            net,
            lambda_=0.0 if target == "rootstrap" else lambda_,
            epsilon=epsilon,
            opening_plies=opening_plies,
            seed=seed,
            threads=threads,
        )
        self.box["depth"] = depth
        self.ctx = search_record(game, search_options(game))
        self.playing = self._playing(net)

    def _playing(self, net: NetEval) -> Any:
        from evallearn.compiled.hooks import bindings
        from evallearn.compiled.specialise import announce, specialise
        from evallearn.train.draws import begin_game, uniform

        rules, own, note_node = self.rules, net.kernel(), None
        assert own is not None
        if self.target == "treestrap":
            notes: Any = specialise(
                HERE / "neural_notes_kernel.py",
                evaluate_mover=own.evaluate_mover,
                uniform=uniform,
                N_WORDS=rules.n_words,
                OUTPUTS=net.outputs,
                MOST=MOST,
            )
            note_node = notes.note_node
            own = EvalKernel(params=self.params, evaluate_player=own.evaluate_player, evaluate_mover=notes.judge_mover)
        module: Any = specialise(
            HERE / "neural_search_kernel.py",
            **bindings(rules, "State", "result", "to_play", "is_terminal"),
            **searching_kernels(self.game, own, note_node),
            **{name: getattr(self.kernels, name) for name in ("judge", "ended", "teach")},
            uniform=uniform,
            begin_game=begin_game,
            NODES=np.uint64(NODES),
            N_WORDS=rules.n_words,
            OUTPUTS=net.outputs,
            HAS_CLOCK=rules.clock is not None,
            LEAVES=self.target == "tdleaf",
            EVERY_NODE=self.target == "treestrap",
        )
        announce(f"searched games of {self.game.name} nets", module.play_games)
        return module

    def publish(self, net: NetEval) -> None:
        """Let these weights play from now on."""
        super().publish(net)
        if self.target == "treestrap":
            self.params = with_notes(self.params, self.rules.n_words, net.outputs)

    def _play(self, first: int, games: int) -> Rows:
        io, ctx, params, found = self.box.copy(), self.ctx.copy(), self.params.copy(), []
        rules, k = self.rules, self.outputs
        past = np.zeros((rules.clock_limit + 2, rules.n_words), np.uint64)
        most = int(io["longest"][0]) * (MOST if self.target == "treestrap" else 1)
        while games:
            room = 2 * most
            words, targets = np.empty((room, rules.n_words), np.uint64), np.empty((room, k), np.float32)
            sides, followed, leaves = (np.empty(room, np.int8) for _ in range(3))
            played, rows = self.playing.play_games(
                io, ctx, params, past, first, games, most, words, sides, followed, leaves, targets
            )
            found.append(Rows(words[:rows].copy(), targets[:rows].copy()))  # not the room that was left
            first, games = first + played, games - played
        return joined(found)


def with_notes(params: np.ndarray, n_words: int, outputs: int) -> np.ndarray:
    """Return the net's record, and room for the nodes of a search."""
    own = params.dtype
    fields: list[Any] = [  # first, so that Numba does not take the record for the net's own with something behind it
        ("counter", "u8"), ("notes", "i8"), ("noted", "u8", (MOST, n_words)), ("lessons", "f4", (MOST, outputs)),
        *((name, own[name]) for name in own.names or ()),
    ]  # fmt: skip
    wider = np.zeros(1, np.dtype(fields, align=True))
    for name in own.names or ():
        wider[name] = params[name]
    return wider
