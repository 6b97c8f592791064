"""Temporal differences on pattern tables: the state of a learner, its kernel, and its checkpoints.

Both players share the tables. In each position of a game against itself the value V(s) to the mover is moved towards
what one ply of look-ahead says,

    target = max over actions a of -V(result(s, a)), a finished game counting as what it is,

whether that action is played or, for exploration, another one. At the end of the game every position learns, the last
one first: with lambda above 0 also from lambda**n of the errors n plies later, as far as the moves between were the
best ones (the forward view of Sutton 1988). V is tanh of the sum of weights; the step is the error times alpha, shared
out to all places: the gradient of the log loss.

With `noise` the target counts random moves in, as if both players made that share of their moves at random,

    target = (1 - noise) * max over a of q(a) + noise * mean over a of q(a), where q(a) = -V(result(s, a)),

so that a position is worth less in which a slip is the end. An error later counts as much as its move is likely then,
1 - noise + noise/n for the best of n and noise/n for another (tree backup: Precup, Sutton & Singh 2000): with noise 0
that is 1 and 0 again, and what is learned is what the moves are worth, not what exploration made of them.

With `hunts` one of the players is a hunter in that share of the games: it also minds how much is left of the `prey`, a
cell as the player sees it who moves next, and gives up to HUNGER of a win for each 1 less. Targets do not hunt. Two
players who both think that few discs are good never find out how they come to have none; a hunter shows them.

With `depth` above 1 the target is what alpha-beta of that depth says with the tables themselves, in all games or in the
last ones, `deep_games`. The plain version takes minimax: the value and the first best action are the same.

With `learn_openings` off nothing is learned from the random moves that open a game: such positions teach little of what
searches and games meet later, and take a third of the time. `decided` ends games sooner: nine of ten, once a position
and its best action are worth more than that to either player. The others go on, so that wrong judgements are found out.

With `coherence` every weight has a step of its own, smaller where its errors cancel out (Beal & Smith, "Temporal
coherence and prediction decay in TD learning", 1999), but never smaller than the part `least`: or else sums from the
time when all targets were guesses could stop it for good.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evallearn.core.rng import scramble
from evallearn.core.settings import (
    DERIVED_SEED,
    GAMES,
    GAMES_OR_NONE,
    OPENING_PLIES,
    SHARE,
    STEP,
    check_ranges,
    number,
    whole,
)
from evallearn.errors import SpecError
from evallearn.evaluators.features import half_range
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.patterns import cell_hash
from evallearn.evaluators.squash import squash
from evallearn.train.checkpoints import read_checkpoint, save_checkpoint

TEMPLATE = Path(__file__).with_name("td_kernel.py")
DEEPEST = 12
"""Plies; a target that costs more than a million positions teaches too little."""
HUNGER = 0.2
"""How much of a win a hunter gives at most for each 1 that is less in its prey; each draws its own."""
PLAYED_OUT = 0.1
"""Share of games that go on where `decided` ends the others."""
MOST_LEARNERS = 64
"""Each has tables of its own."""
COUNTERS = ("counter", "games", "moves", "errors")


@dataclass(frozen=True, kw_only=True)
class TdSettings:
    """How to learn; see the module's text."""

    alpha: float = 1.0
    """Which part of an error one step takes away, about."""
    half_life: int = 0
    """Games after which the step is half as large, a third after twice as many; 0: it stays."""
    horizon: int = 0
    """The game at which the step has shrunk, in a straight line, to nothing; 0: it does not."""
    lambda_: float = 0.0
    epsilon: float = 0.1
    """Share of random moves."""
    noise: float = 0.0
    """Share of random moves that targets count in."""
    hunts: float = 0.0
    """Share of games in which one of the players hunts."""
    prey: int = -1
    """The cell that hunters mind."""
    opening_plies: int = 8
    """Each game opens with 0 to so many random moves."""
    learn_openings: bool = True
    """Whether those teach, too."""
    decided: float = 1.0
    """What a position must be worth for a game to end; 1: games are played out."""
    coherence: bool = False
    least: float = 0.0
    """Which part of the step coherence leaves to every weight."""
    depth: int = 1
    """Plies of look-ahead behind a target."""
    deep_games: int = 0
    """The last games up to the horizon that look `depth` plies ahead, with a step that begins anew; 0: all do."""
    learners: int = 1
    """How many learn side by side; see `td_team.py`."""
    exchange: int = 20_000
    """Games of all learners, about, after which they put together what they have learned."""
    seed: int = 1

    RANGES: ClassVar = {
        "alpha": STEP, "half_life": GAMES_OR_NONE, "horizon": GAMES_OR_NONE, "lambda_": number(at_least=0, below=1),
        "epsilon": SHARE, "noise": SHARE, "hunts": SHARE, "prey": whole(-1, 2**20), "opening_plies": OPENING_PLIES,
        "decided": number(above=0, at_most=1), "least": SHARE, "depth": whole(1, DEEPEST), "deep_games": GAMES_OR_NONE,
        "learners": whole(1, MOST_LEARNERS), "exchange": GAMES, "seed": DERIVED_SEED,
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)
        shallow = self.depth == 1  # deep targets know the value of the best action alone
        for name, value, ok, remedy in (
            ("noise", self.noise, shallow or not self.noise, "0 with depth above 1"),
            ("hunts", self.hunts, shallow or not self.hunts, "0 with depth above 1"),
            ("prey", self.prey, self.prey >= 0 or not self.hunts, "the cell to hunt, or no hunts"),
            ("deep_games", self.deep_games, self.deep_games <= self.horizon, "as many games as horizon at most"),
            ("exchange", self.exchange, self.exchange >= self.learners, "as many games as there are learners, or more"),
        ):
            if not ok:
                raise SpecError(f"{name}={value!r}: give {remedy}")

    @property
    def deep_from(self) -> int:
        """The first game that looks `depth` plies ahead."""
        return self.horizon - self.deep_games if self.deep_games else 0

    def gone(self, games: int) -> float:
        """How much of the step is gone in that game, in a straight line: all of it before the deep games, then anew."""
        since = games - self.deep_from
        return since * inverse(self.deep_games or self.horizon) if since >= 0 else games * inverse(self.deep_from)


def inverse(games: int) -> float:
    """1 / games; 0 stands for never."""
    return 1.0 / games if games else 0.0


class TdLearner:
    """Weights, and games against itself that change them. The same seed gives the same weights, however it is cut."""

    def __init__(self, layout: Layout, settings: TdSettings, kernels: Any = None) -> None:
        """kernels: those of another learner of the same layout.

        Raises SpecError for a game that has no compiled floor with cells, or no two movers in turn.
        """
        game, rules = layout.game, layout.game.rules
        if rules is None or rules.cells is None or rules.utility_mover is None:
            raise SpecError(
                f"{game.name} has no rules with cells, seen by the mover: pattern tables learn on the compiled floor "
                "of a two-player zero-sum game without chance"
            )
        if rules.clock is not None:
            raise SpecError(
                f"the rules of {game.name} look back, which games against itself do not: use selfplay and fit"
            )
        if settings.hunts and (settings.prey >= game.n_cells or rules.contents is not None):
            raise SpecError(
                f"prey={settings.prey} is no cell that a hunter sees in {game.name}: give one of its {game.n_cells} "
                "cells, if its rules have no `contents`, or no hunts"
            )
        self.layout, self.settings = layout, settings
        n, places, plies = layout.n_groups * layout.entries, len(layout.places), (rules.max_plies + 1,)
        self.weights = np.zeros(n, np.float32)
        self.memory = np.zeros((n if settings.coherence else 1, 2), np.float32)
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)), ("counter", "u8"), ("games", "i8"), ("moves", "i8"), ("errors", "f8"),
            ("alpha", "f8"), ("decay", "f8"), ("cooling", "f8"), ("rate", "f8"), ("lambda_", "f8"),
            ("epsilon", "f8"), ("opening", "i8"), ("actions", "i4", (rules.max_actions,)),
            ("values", "f8", (rules.max_actions,)), ("movers", "i4", plies), ("starts", "i8", plies),
            ("gaps", "f8", plies), ("likely", "f8", plies),
            ("noise", "f8"), ("hunts", "f8"), ("prey", "i8"), ("left", "i4", (rules.max_actions,)),
            ("least", "f8"), ("deep", "i8"), ("depth", "i8"), ("deep_from", "i8"), ("deep_cooling", "f8"),
            ("skips", "i8"), ("decided", "f8"),
            ("below", "i4", (DEEPEST, rules.max_actions)),
        ]  # fmt: skip
        self.box = np.zeros(1, np.dtype(fields, align=True))
        self.box["words"] = game.encode(game.initial())
        self.box["counter"] = scramble(settings.seed)
        self.box["alpha"], self.box["lambda_"] = settings.alpha, settings.lambda_
        self.box["decay"], self.box["cooling"] = inverse(settings.half_life), inverse(settings.deep_from)
        self.box["least"], self.box["deep"], self.box["deep_from"] = settings.least, settings.depth, settings.deep_from
        self.box["deep_cooling"] = inverse(settings.deep_games or settings.horizon)
        self.box["noise"], self.box["hunts"], self.box["prey"] = settings.noise, settings.hunts, max(0, settings.prey)
        self.box["epsilon"], self.box["opening"] = settings.epsilon, settings.opening_plies
        self.box["skips"], self.box["decided"] = not settings.learn_openings, settings.decided
        self.params = layout.record()
        self.trail = np.zeros((rules.max_plies + 1, places), np.int32)
        self.rows = np.zeros((rules.max_actions, places), np.int32)
        self.kernels = kernels or self._kernels()

    def _kernels(self) -> Any:
        from evallearn.compiled.bits import jitable
        from evallearn.compiled.hooks import bindings
        from evallearn.compiled.memory import fetch
        from evallearn.compiled.specialise import announce, specialise
        from evallearn.evaluators.patterns import kernels
        from evallearn.train.draws import uniform

        game, layout = self.layout.game, self.layout
        rules, scale = game.rules, half_range(game)
        assert rules is not None
        patterns = kernels(layout, scale)
        module: Any = specialise(
            TEMPLATE,
            **bindings(rules, "State", "actions", "result", "is_terminal", "to_play", "utility_mover"),
            look=patterns.look,
            group=patterns.group,
            uniform=uniform,
            squash=jitable(squash),
            fetch=fetch,
            N_WORDS=rules.n_words,
            N_PLACES=len(layout.places),
            ENTRIES=layout.entries,
            SCALE=scale,
            COHERENCE=self.settings.coherence,
            HUNGER=HUNGER,
            PLAYED_OUT=PLAYED_OUT,
        )
        announce(f"the learner of {game.name} patterns", module.learn)
        return module

    def learn(self, games: int) -> None:
        """Play so many games against itself."""
        from evallearn.compiled.specialise import COMPILE_ERRORS, explain_failure

        try:
            self.kernels.learn(self.box, self.weights, self.memory, self.params, self.trail, self.rows, int(games))
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.layout.game.name}.rules") from None

    @property
    def games(self) -> int:
        return int(self.box["games"][0])

    @property
    def moves(self) -> int:
        return int(self.box["moves"][0])

    @property
    def errors(self) -> float:
        """The sum of |target - V(s)| over all moves."""
        return float(self.box["errors"][0])

    def tables(self) -> np.ndarray:
        """float32[n_groups, entries], a copy."""
        return self.weights.reshape(self.layout.n_groups, self.layout.entries).copy()

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def recipe(self) -> dict[str, Any]:
        """What a checkpoint must have in common with whoever goes on from it."""
        layout = self.layout
        return {
            "game": layout.game.name,
            "cells": cell_hash(layout.game),
            "patterns": [list(p) for p in layout.patterns],
            "by": [layout.by_phase, layout.by_player],
            **asdict(self.settings),
        }

    def save(self, path: Path) -> None:
        """All that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "pattern", self.recipe(), self.counters(), self.tensors())

    def restore(self, path: Path) -> None:
        """Raises DataError for a file that is no checkpoint, or one of other settings."""
        counters, tensors = read_checkpoint(path, "pattern", self.recipe(), self.counters(), self.tensors())
        self.weights, self.memory = tensors["weights"], tensors["memory"]
        for name, value in counters.items():
            self.box[name] = value

    def counters(self) -> dict[str, Any]:
        return {name: self.box[name][0].item() for name in COUNTERS}

    def tensors(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "memory": self.memory}
