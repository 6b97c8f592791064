"""What a net loses when it is quantised, and what it gains: both on the same positions of the same games."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from time import thread_time

import numpy as np

from evallearn.core.game import CHANCE, Game, State
from evallearn.core.shares import Share, share_of
from evallearn.errors import SpecError
from evallearn.evaluators import FeatureEval

TEMPLATE = Path(__file__).with_name("choices_kernel.py")
GAMES = 32
"""Games that are played side by side."""
EXPLORATION = 0.1
"""Share of random moves, so that no two games are the same."""
ROUNDS, LEAST = 5, 100_000
"""Speed is the best of so many rounds, with so many evaluations at least."""


@dataclass(frozen=True)
class Positions:
    """Of games that an evaluator played against itself, in the order in which they came up."""

    words: np.ndarray
    """uint64[n, n_words]"""
    rolls: np.ndarray
    """int64[n]: where the dice are rolled, the number of the outcome that fell."""

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Loss:
    """By how much two evaluators differ."""

    positions: int
    mean: float
    """Mean difference of the values, whatever the sign."""
    largest: float
    changed: float
    """Share of the positions in which the one-ply choice is another."""
    changed_low: float
    """The 95 % interval of that share, by boards: the positions of a game have much in common."""
    changed_high: float
    per_second: tuple[float, float]
    """Evaluations in a second of CPU time, measured in turn."""

    @property
    def speedup(self) -> float:
        return self.per_second[1] / self.per_second[0]


class Chooser:
    """An evaluator with a search of one ply, many positions at a time."""

    def __init__(self, evaluator: FeatureEval) -> None:
        """Compile the kernel. Raises SpecError for an evaluator without one."""
        from evallearn.compiled.specialise import announce, specialise

        game, kernel = evaluator.game, evaluator.kernel()
        rules = game.rules
        if kernel is None or rules is None:
            raise SpecError(
                f"{game.name} is no two-player zero-sum game on the compiled backend: write its `rules` first"
            )
        self.module = specialise(TEMPLATE, rules, evaluate_player=kernel.evaluate_player)
        announce(f"the {evaluator.kind} evaluator of {game.name}", self.module.choose)
        self.params = kernel.params.copy()
        self.buffer = np.zeros(max(rules.max_actions, rules.max_outcomes), np.int32)
        self.odds = np.zeros(max(1, rules.max_outcomes))

    def choose(self, at: Positions) -> tuple[np.ndarray, np.ndarray, int]:
        """Return float64[n] values to who decides, int64[n] numbers of the best actions, and how often it evaluated."""
        values, best = np.empty(len(at)), np.empty(len(at), np.int64)
        eval_calls = self.module.choose(at.words, at.rolls, self.params, self.buffer, self.odds, values, best)
        return values, best, int(eval_calls)


def played(game: Game, chooser: Chooser, n: int, seed: int = 1) -> Positions:
    """Return positions of games that the evaluator plays against itself after a random opening.

    The same seed gives the same positions.
    """
    rng, words, rolls = random.Random(seed), list[np.ndarray](), list[int]()
    boards: list[tuple[State, int]] = [(game.initial(), 0)] * GAMES
    while len(words) < n:
        fell = [_roll(game, s, rng) for s, _ in boards]
        now = Positions(np.array([game.encode(s) for s, _ in boards], np.uint64), np.array(fell, np.int64))
        words += list(now.words)
        rolls += fell
        best = chooser.choose(now)[1].tolist()
        boards = [
            _after(game, s, ply, roll, move, rng) for (s, ply), roll, move in zip(boards, fell, best, strict=True)
        ]
    return Positions(np.array(words[:n]), np.array(rolls[:n], np.int64))


def _roll(game: Game, s: State, rng: random.Random) -> int:
    """Return the number of the outcome that falls in `s`; 0 where none does."""
    if game.to_play(s) != CHANCE:
        return 0
    odds = [p for _, p in game.chances(s)]
    return rng.choices(range(len(odds)), odds)[0]


def _after(game: Game, s: State, ply: int, roll: int, best: int, rng: random.Random) -> tuple[State, int]:
    """Return the board one decision on, and how many there were; a new one where the game is over."""
    if game.to_play(s) == CHANCE:
        s = game.result(s, game.chances(s)[roll][0])
    choices = game.actions(s)
    explores = ply < 2 * game.opening_plies or rng.random() < EXPLORATION
    s = game.result(s, rng.choice(choices) if explores else choices[best])
    return (game.initial(), 0) if game.is_terminal(s) else (s, ply + 1)


def measure_loss(one: FeatureEval, other: FeatureEval, n: int, seed: int = 1) -> Loss:
    """Measure how `other` differs from `one` on n positions of games that `one` plays against itself."""
    choosers = Chooser(one), Chooser(other)
    at = played(one.game, choosers[0], n, seed)
    (values, best, eval_calls), (others, others_best, _) = (chooser.choose(at) for chooser in choosers)
    times = -(-LEAST // eval_calls)
    many = Positions(np.tile(at.words, (times, 1)), np.tile(at.rolls, times))
    seconds = [[_timed(chooser, many) for chooser in choosers] for _ in range(ROUNDS)]
    fastest = np.min(seconds, axis=0)
    difference = np.abs(values - others)
    changed = _changed(best != others_best)
    return Loss(
        positions=n,
        mean=float(difference.mean()),
        largest=float(difference.max()),
        changed=changed.value,
        changed_low=changed.low,
        changed_high=changed.high,
        per_second=(eval_calls * times / fastest[0], eval_calls * times / fastest[1]),
    )


def _changed(differs: np.ndarray) -> Share:
    """Return the share that differs, by boards: position i was met on board i % GAMES, see `played`."""
    board = np.arange(len(differs)) % GAMES
    found = share_of(np.bincount(board, differs), np.bincount(board))
    assert found is not None  # a measurement has positions
    return found


def _timed(chooser: Chooser, at: Positions) -> float:
    start = thread_time()
    chooser.choose(at)
    return thread_time() - start
