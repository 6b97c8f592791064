"""Games in which a net learns from its own searches, in plain Python: the oracle of `neural_search_kernel.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.core.game import State
from evallearn.evaluators.net import NetEval
from evallearn.train.draws import Draws
from evallearn.train.neural_plain import PlainActor, Row, turned
from evallearn.train.neural_search import MOST, NODES
from evallearn.train.selfplay.searches_plain import PlainSearches


class PlainSearchingActor(PlainActor):
    """The games and targets of `SearchingActor`, slowly."""

    def __init__(self, net: NetEval, *, target: str, depth: int, lambda_: float, **more: Any) -> None:
        super().__init__(net, lambda_=0.0 if target == "rootstrap" else lambda_, **more)
        self.target, self.searches = target, PlainSearches(net.game, net, depth, Draws(0))
        self.noted: list[Row] = []
        self.notes = 0
        self.node_draws = Draws(0)
        if target == "treestrap":
            self.searches.searching.note = self.note_node

    def note_node(self, s: State, value: float, alpha: float, beta: float) -> None:
        player = self.game.to_play(s)
        said = self.net.evaluate(s, player)
        if (value >= beta and value < said) or (value <= alpha and value > said):
            return
        self.notes += 1
        row = s, towards(self, self.judge(s, player), value)
        if self.notes <= MOST:
            self.noted.append(row)
        elif (place := int(self.node_draws.uniform() * self.notes)) < MOST:
            self.noted[place] = row

    def play(self, number: int, *, exact: bool = False) -> list[Row]:
        """Return the rows of one game."""
        game, draws = self.game, Draws(0)
        draws.begin_game(number, self.seed)
        self.searches.draws = draws
        opening, s, ply = int(draws.uniform() * (self.opening_plies + 1)), game.initial(), 0
        rows, kept = list[Row](), list[Any]()
        while not game.is_terminal(s):
            actions = list(game.actions(s))
            if ply < opening:
                chosen = int(draws.uniform() * len(actions))
            else:
                self.searches.shuffle(actions)
                self.noted, self.notes, self.node_draws.counter = [], 0, draws.counter ^ NODES
                best, _, line = self.searches.search(s, actions)
                rows += self.noted
                leaf = self.searches.leaf_of(s, line)
                expected = np.array(self.judge(leaf, game.to_play(s)), np.float32)
                explores = self.epsilon > 0 and draws.uniform() < self.epsilon
                chosen = int(draws.uniform() * len(actions)) if explores else best
                kept.append((s, leaf, expected, chosen == best))
            s, ply = game.result(s, actions[chosen]), ply + 1
        return rows if self.target == "treestrap" else self.lessons(kept)

    def lessons(self, kept: list[Any]) -> list[Row]:
        """Return the rows that are learned.

        kept: (state, leaf, its chances to the mover of the state, whether the best move was played).
        """
        game, targets = self.game, [expected for _, _, expected, _ in kept]
        for t in range(len(kept) - 2, -1, -1):
            if kept[t][3]:
                later = self.seen_by(kept[t][0], targets[t + 1], kept[t + 1][0])
                mixed = (1.0 - self.lambda_) * targets[t].astype(float) + self.lambda_ * later
                targets[t] = mixed.astype(np.float32)
        if self.target != "tdleaf":
            return [(s, target) for (s, _, _, _), target in zip(kept, targets, strict=True)]
        return [
            (leaf, self.seen_by(leaf, targets[t + 1], kept[t + 1][0]).astype(np.float32))
            for t, (_, leaf, _, followed) in enumerate(kept[:-1])
            if followed and not game.is_terminal(leaf)
        ]

    def seen_by(self, s: State, p: np.ndarray, other: State) -> np.ndarray:
        """Return chances to the mover of `other`, to that of `s`."""
        same = self.game.to_play(s) == self.game.to_play(other)
        return p.astype(float) if same else np.array(turned(p.tolist()))


def towards(actor: PlainActor, p: list[float], value: float) -> np.ndarray:
    """Return the chances p with as many games won or lost as make their mean `value`, float32[outputs]."""
    worth, low, high = (actor.worth(chances) for chances in (p, [0.0] * len(p), [1.0] * len(p)))
    won = (value - worth) / (high - worth) if value > worth else 0.0
    lost = (worth - value) / (worth - low) if value < worth else 0.0
    return np.array([chance + won * (1.0 - chance) - lost * chance for chance in p], np.float32)
