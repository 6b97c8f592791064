"""Tesauro's pubeval, the public-domain yardstick of backgammon programs, and matches against it.

Its score of a position after a move is linear in 122 inputs. It has two sets of weights, one for races; which of them
counts is decided by the position before the move, so that it is a player, and no evaluator of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.agents import Agent, SearchAgent, zero_evaluator
from evallearn.compiled.specialise import specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Game
from evallearn.core.rng import SplitMix64, scramble
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import DataError
from evallearn.games.backgammon.moves import BAR, CHECKERS, OFF, Side, State, is_race, turns

TEMPLATE = Path(__file__).with_name("pubeval_kernel.py")
FILES = ("WT.race", "WT.cntc")
INPUTS = 122


def read_weights(folder: Path) -> np.ndarray:
    """float64[2, 122]: for races and for contact."""
    found = []
    for path in (folder / name for name in FILES):
        try:
            found.append(np.array(path.read_text().split(), np.float64))
        except ValueError as error:
            raise DataError(f"{path}: {error}: give {INPUTS} numbers") from None
        if found[-1].shape != (INPUTS,):
            raise DataError(f"{path} holds {len(found[-1])} numbers: give {INPUTS}")
    return np.array(found)


# --- the Python backend ----------------------------------------------------------------------------------------------
def score(own: Side, opp: Side, weights: np.ndarray) -> float:
    """Of the position after a move of the player who has `own`."""
    total = 0.0
    for p in range(24, 0, -1):
        k, n = 5 * (24 - p), own[p]
        if n == 0:
            total += weights[k] if opp[25 - p] == 1 else 0.0
        elif n == 1:
            total += weights[k + 1]
        else:
            total += weights[k + 2]
            total += weights[k + 3] if n == 3 else weights[k + 4] * ((n - 3) / 2) if n > 3 else 0.0
    total += weights[120] * (opp[BAR] / 2)
    return float(total + weights[121] * (own[OFF] / CHECKERS))


def plain_move(s: State, weights: np.ndarray) -> int:
    """The first of the moves with the highest score; the last checker is borne off in any case."""
    chosen = weights[0] if is_race(s.own, s.opp) else weights[1]
    after = turns(s.own, s.opp, s.dice)
    return max(after, key=lambda a: np.inf if after[a][0][OFF] == CHECKERS else score(*after[a], chosen))


def play_plain(game: Game, agents: tuple[Agent, Agent], seed: int, seat: int) -> float:
    """The points of agents[0], who is player `seat`: the oracle of the kernel, and for agents that it cannot play."""
    s, dice = game.initial(), SplitMix64(seed)
    while not game.is_terminal(s):
        player = game.to_play(s)
        if player == CHANCE:
            chances = game.chances(s)
            a: Any = chances[dice.index(chances)][0]
        else:
            a = agents[int(player != seat)].choose(s, 1).action
        s = game.result(s, a)
    return game.utility(s, seat)


# --- the compiled backend --------------------------------------------------------------------------------------------
class Kernels:
    """Games between the evaluator and pubeval in one call each."""

    def __init__(self, game: Game, kernel: EvalKernel, weights: np.ndarray) -> None:
        rules = game.rules
        assert rules is not None
        self.run: Any = specialise(TEMPLATE, rules, evaluate_player=kernel.evaluate_player)
        self.game, self.params, self.weights = game, kernel.params.copy(), weights
        self.row, self.odds = np.zeros(rules.max_actions, np.int32), np.zeros(rules.max_outcomes)

    def choose(self, s: State) -> int:
        """Pubeval's move."""
        return int(self.run.choose(self._words(s), self.row, self.weights))

    def play(self, seed: int, seat: int) -> float:
        """The points of the evaluator, which is player `seat`."""
        words, begin = self._words(self.game.initial()), np.uint64(SplitMix64(seed).state)
        return float(self.run.play(words, seat, begin, self.row, self.odds, self.params, self.weights))

    def _words(self, s: Any) -> np.ndarray:
        return np.array(self.game.encode(s), np.uint64)


@dataclass
class PubevalAgent(Agent):
    """Pubeval as a player among others."""

    game: Game
    weights: np.ndarray
    name: str = "pubeval"

    def __post_init__(self) -> None:
        kernel = zero_evaluator(self.game).kernel()
        assert kernel is not None
        self.kernels = Kernels(self.game, kernel, self.weights)

    def choose(self, s: Any, seed: int) -> SearchResult:
        a = self.kernels.choose(s)
        return SearchResult(a, 0.0, s.player, 1, 1, (a,), False, 0.0)


def greedy_eval(agent: Agent) -> Evaluator | None:
    """The evaluator of an agent that only takes the best position after its move, if kernels know it."""
    plain = isinstance(agent, SearchAgent) and agent.limits == Limits(depth=1) and not agent.search
    return agent.evaluator if plain and agent.evaluator.kernel() is not None else None  # type: ignore[attr-defined]  # a SearchAgent


def play_pairs(game: Game, agent: Agent, weights: np.ndarray, pairs: int, seed: int) -> np.ndarray:
    """float64[pairs, 2]: the agent's points, with the same dice from either seat."""
    evaluator = greedy_eval(agent)
    seeds = [scramble(scramble(seed) + number) for number in range(pairs)]
    if evaluator is not None:
        kernel = evaluator.kernel()
        assert kernel is not None
        kernels = Kernels(game, kernel, weights)
        return np.array([[kernels.play(each, seat) for seat in (0, 1)] for each in seeds])
    rivals = agent, PubevalAgent(game, weights)
    return np.array([[play_plain(game, rivals, each, seat) for seat in (0, 1)] for each in seeds])
