"""Games of a net against itself, thousands at a time, for a learner that works in batches.

Each decision of a game becomes a row: the position before the roll or the move, and the chances of every result that
its player should have expected there. That is

    with lambda 0: what the net says of the position after the best move (TD(0): Sutton 1988, Tesauro 1992),
    with lambda 1: how the game ended,
    between: the lambda-return, from the end of the game back; after a move that was not the best (`epsilon`, random
    openings) it is cut, since what followed is not what the position was worth.

`exact` rows learn the mean over all rolls instead of the one that fell, with lambda as well: where m(s) is that mean
and v(s) what the net says of s, the target of the position s[t] is

    m(s[t]) + lambda * (m(s[t+1]) - v(s[t+1])) + lambda**2 * (m(s[t+2]) - v(s[t+2])) + ...

so that the luck of the dice is taken off, and what is left is how far the net contradicts itself further on; lambda 1
is a rollout of one game with its luck taken off. Such a target may lie a little outside 0 to 1, which does not matter
to the gradient of a cross-entropy, while cutting it off would make rare results too likely.

Each game has random numbers of its own, so that the same games are played by any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.game import Game
from evallearn.core.rng import scramble
from evallearn.errors import SpecError
from evallearn.evaluators.net import NetEval

TEMPLATE = Path(__file__).with_name("neural_play_kernel.py")
DICE = Path(__file__).parent / "selfplay" / "dice_kernel.py"
LONGEST = 1000
"""Decisions of a game; a longer one is broken off there, and its last position teaches what the net expected."""
BITE = 64
"""Games that a thread plays at a time: whoever is ready first takes the next ones."""


@dataclass(frozen=True)
class Rows:
    """What games teach, in the order of the games."""

    words: np.ndarray
    """uint64[n, n_words]: positions."""
    targets: np.ndarray
    """float32[n, outputs]: the chances that should have been expected."""

    @classmethod
    def empty(cls, game: Game, outputs: int) -> Rows:
        """Return rows of which there are none yet."""
        assert game.rules is not None
        return cls(np.zeros((0, game.rules.n_words), np.uint64), np.zeros((0, outputs), np.float32))

    def __len__(self) -> int:
        return len(self.words)

    def shuffled(self, rng: np.random.Generator) -> Rows:
        """Return the same in another order, so that neighbours are no longer of the same game."""
        order = rng.permutation(len(self))
        return Rows(self.words[order], self.targets[order])


def joined(found: list[Rows]) -> Rows:
    """Return all of them, one after the other."""
    return Rows(np.concatenate([r.words for r in found]), np.concatenate([r.targets for r in found]))


class Actor:
    """Plays games with the weights that it was given last."""

    bite = BITE

    def __init__(
        self, net: NetEval, *, lambda_: float, epsilon: float, opening_plies: int, seed: int, threads: int = 1
    ) -> None:
        """Raise SpecError for a game that nets cannot learn against themselves."""
        game, rules = net.game, net.game.rules
        require_neural(game)
        assert rules is not None
        self.game, self.rules, self.threads = game, rules, threads
        self.kernels = _kernels(net)
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)), ("counter", "u8"), ("seed", "u8"), ("lambda_", "f8"), ("epsilon", "f8"),
            ("opening", "i8"), ("longest", "i8"), ("exact", "i8"), ("n", "i8"), ("depth", "i8"), ("nodes", "i8"),
            ("actions", "i4", (rules.max_actions,)),
            ("outcomes", "i4", (max(1, rules.max_outcomes),)), ("odds", "f8", (max(1, rules.max_outcomes),)),
            ("lower", "f8", (net.outputs,)), ("now", "f8", (net.outputs,)), ("best", "f8", (net.outputs,)),
            ("average", "f8", (net.outputs,)),
        ]  # fmt: skip
        self.box = np.zeros(1, np.dtype(fields, align=True))
        self.box["words"], self.box["seed"] = game.encode(game.initial()), scramble(seed)
        self.box["lambda_"], self.box["epsilon"], self.box["opening"] = lambda_, epsilon, opening_plies
        self.box["longest"] = min(LONGEST, rules.max_plies)
        self.box["lower"] = net.levels[:-1]
        self.publish(net)

    def publish(self, net: NetEval) -> None:
        """Let these weights play from now on."""
        self.params, self.outputs = net.params(), net.outputs

    def play(self, first: int, games: int, *, exact: bool = False) -> Rows:
        """Return the games of these numbers."""
        self.box["exact"] = exact
        bites = [(n, min(self.bite, first + games - n)) for n in range(first, first + games, self.bite)]
        return joined(self._share(lambda bite: self._play(*bite), bites))

    def _play(self, first: int, games: int) -> Rows:
        box, params, found = self.box.copy(), self.params.copy(), []
        longest, n, k = int(box["longest"][0]), self.rules.n_words, self.outputs
        while games:
            room = 80 * games + longest
            words, sides = np.empty((room, n), np.uint64), np.empty(room, np.int8)
            followed, targets = np.empty(room, np.int8), np.empty((room, k), np.float32)
            played, rows = self.kernels.play_games(box, params, first, games, words, sides, followed, targets)
            found.append(Rows(words[:rows], targets[:rows]))
            first, games = first + played, games - played
        return joined(found)

    def inputs(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the net sees of the positions, float32[n, n_features], and their phases, int64[n]."""
        x = np.empty((len(words), len(self.game.feature_names)), np.float32)
        phases = np.empty(len(words), np.int64)
        self.kernels.inputs(np.ascontiguousarray(words), x, phases)
        return x, phases

    def _share(self, work: Any, pieces: list[Any]) -> list[Any]:
        """Return work(piece) of all pieces, in order; kernels let go of the interpreter, so threads suffice."""
        if self.threads == 1 or len(pieces) == 1:
            return [work(piece) for piece in pieces]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, pieces))


def require_neural(game: Game) -> None:
    """Refuse, up front, a game in which nets cannot learn against themselves."""
    rules = game.rules
    if rules is None or game.n_players != 2 or not game.zero_sum or not game.feature_names:
        raise SpecError(
            f"{game.name} is no two-player zero-sum game with features on the compiled floor: nets learn against "
            "themselves only there; use selfplay and fit"
        )


def _kernels(net: NetEval) -> Any:
    from evallearn.compiled.hooks import bindings, utility_to_any
    from evallearn.compiled.specialise import announce, specialise
    from evallearn.train.draws import begin_game, uniform

    game, rules = net.game, net.game.rules
    assert rules is not None
    eyes = net.kernels()
    module: Any = specialise(
        TEMPLATE,
        **bindings(rules, "State", "actions", "result", "is_terminal", "to_play", "phase", "chances"),
        **{name: getattr(eyes, name) for name in ("predict_outcomes", "see", "sees")},
        utility_player=utility_to_any(rules),
        rolled=specialise(DICE, **bindings(rules, "chances", "result"), uniform=uniform).rolled,
        uniform=uniform,
        begin_game=begin_game,
        N_WORDS=rules.n_words,
        OUTPUTS=net.outputs,
        HAS_CHANCE=game.has_chance,
    )
    announce(f"games of {game.name} nets", module.play_games)
    return module
