"""Linear Evals that learn from their own searches while they play: TD(lambda), TDLeaf, RootStrap and TreeStrap.

An Eval plays against itself with alpha-beta of a small depth, ended by the game's quiescence, and its weights change
from move to move. What a position should be worth is the *target*:

td          what the next positions of the game were worth to the Eval, and the outcome (Sutton 1988): the lambda-return
tdleaf      the same of the searches' values, learned where they come from: at the leaves (Baxter, Tridgell & Weaver)
rootstrap   what the search said of the position
treestrap   what the search said of it, and of every node of its tree; where pruning left a bound, only if the Eval
            breaks it (Veness, Silver, Uther & Blair 2009); where quiescence would go on, not at all

After a move that was not the best, td and tdleaf take what the search said instead of what followed.

The step is that of the log loss of tanh, normalised: features count by their root mean square in the positions seen so
far, and no step takes away more than `alpha` of an error. TreeStrap takes the mean over the nodes of a search. With
`coherence` every weight has a step of its own, smaller where its errors cancel out (Beal & Smith 1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evallearn.core.digest import tensors_digest
from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game
from evallearn.core.rng import scramble
from evallearn.core.settings import DERIVED_SEED, GAMES_OR_NONE, OPENING_PLIES, SHARE, STEP, check_ranges, number, whole
from evallearn.errors import SpecError, unknown
from evallearn.evaluators import LinearEval
from evallearn.evaluators.features import feature_hash
from evallearn.evaluators.squash import squash
from evallearn.search.common.requirements import MAX_DEPTH
from evallearn.train.leaves import search_options, search_record
from evallearn.train.searching import require_searching, searching_kernels
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.selfplay.settings import inverse
from evallearn.train.targets import SEARCH_TARGETS

HERE = Path(__file__).parent
COUNTERS = ("counter", "games", "moves", "nodes", "errors")
LEARNED = ("weights", "bias", "net", "total", "squares", "inverse", "seen")
"""What of the Eval's record a checkpoint holds."""


@dataclass(frozen=True, kw_only=True)
class OnlineSettings:
    """How to learn; see the module's text."""

    target: str = "treestrap"
    depth: int = 2
    """Plies that its searches look ahead, before quiescence."""
    alpha: float = 1.0
    """Which part of an error one step takes away, about."""
    half_life: int = 0
    """Games after which the step is half as large, a third after twice as many; 0: it stays."""
    horizon: int = 0
    """The game at which the step has shrunk, in a straight line, to nothing; 0: it does not."""
    lambda_: float = 0.0
    epsilon: float = 0.1
    """Share of random moves."""
    opening_plies: int = 8
    """Each game opens with 0 to so many random moves."""
    coherence: bool = False
    seed: int = 1
    only: tuple[str, ...] = ()
    """The features that may get a weight; none named: all."""
    by_phase: bool = True
    """Weights of their own for every phase of the game."""

    RANGES: ClassVar = {
        "depth": whole(1, MAX_DEPTH), "alpha": STEP, "half_life": GAMES_OR_NONE, "horizon": GAMES_OR_NONE,
        "lambda_": number(at_least=0, below=1), "epsilon": SHARE, "opening_plies": OPENING_PLIES,
        "seed": DERIVED_SEED,
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.target not in SEARCH_TARGETS:
            raise unknown("target of games against itself", self.target, SEARCH_TARGETS)


def require_online(game: Game) -> None:
    """Refuse, up front, a game in which an Eval cannot learn while it plays."""
    require_searching(game, "use --target outcome")


def used_features(game: Game, only: Sequence[str]) -> np.ndarray:
    """bool[n_features]: those that are named, or all."""
    for name in only:
        if name not in game.feature_names:
            raise unknown(f"feature of {game.name}", name, game.feature_names)
    return np.array([not only or name in only for name in game.feature_names])


class OnlineLearner:
    """Weights, and games against itself that change them. The same seed gives the same weights, however it is cut."""

    def __init__(self, game: Game, settings: OnlineSettings, start: LinearEval | None = None) -> None:
        """start: the weights to begin with; None: 0."""
        require_online(game)
        self.game, self.settings = game, settings
        self.start = start or LinearEval.zero(game)
        if self.start.squash != "tanh":
            raise SpecError(f"the Eval to begin with has squash={self.start.squash!r}: learning by td needs tanh")
        if self.start.game.name != game.name:
            raise SpecError(f"the Eval to begin with is one of {self.start.game.name}, not of {game.name}")
        self.params, self.io_box = self._params(), self._io()
        self.kernels = self._kernels()

    def _params(self) -> np.ndarray:
        """The Eval's record: its weights, and what it notes."""
        n, p = len(self.game.feature_names), self.game.n_phases
        fields: list[Any] = [
            ("weights", "f8", (p, n)), ("bias", "f8", (p,)), ("x", "f4", (n,)),
            ("gradient", "f8", (p, n + 1)), ("notes", "i8"), ("net", "f8", (p, n + 1)), ("total", "f8", (p, n + 1)),
            ("squares", "f8", (n,)), ("inverse", "f8", (n,)), ("seen", "f8"), ("used", "i1", (n,)),
        ]  # fmt: skip
        params = np.zeros(1, np.dtype(fields, align=True))
        params["used"] = used_features(self.game, self.settings.only)
        params["weights"], params["bias"] = self.start.weights, self.start.bias
        return params

    def _io(self) -> np.ndarray:
        rules, settings = self.game.rules, self.settings
        assert rules is not None
        plies = rules.max_plies + 1
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)), ("counter", "u8"), ("games", "i8"), ("moves", "i8"), ("nodes", "i8"),
            ("errors", "f8"), ("alpha", "f8"), ("decay", "f8"), ("cooling", "f8"), ("rate", "f8"), ("best", "f4"),
            ("lambda_", "f8"), ("epsilon", "f8"), ("opening", "i8"), ("depth", "i8"),
            ("movers", "i1", (plies,)), ("strayed", "i1", (plies,)), ("turned", "i1", (plies,)),
            ("phases", "i2", (plies,)), ("values", "f8", (plies,)), ("searched", "f8", (plies,)),
            ("targets", "f8", (plies,)),
        ]  # fmt: skip
        box = np.zeros(1, np.dtype(fields, align=True))
        box["words"] = self.game.encode(self.game.initial())
        box["counter"] = scramble(settings.seed)
        box["alpha"], box["lambda_"], box["epsilon"] = settings.alpha, settings.lambda_, settings.epsilon
        box["decay"], box["cooling"] = inverse(settings.half_life), inverse(settings.horizon)
        box["opening"], box["depth"] = settings.opening_plies, settings.depth
        return box

    def _kernels(self) -> Any:
        from evallearn.compiled.bits import jitable
        from evallearn.compiled.hooks import bindings
        from evallearn.compiled.specialise import announce, specialise
        from evallearn.train.draws import uniform

        game, target = self.game, self.settings.target
        rules, kernel, n = game.rules, self.start.kernel(), len(game.feature_names)
        assert rules is not None
        assert kernel is not None
        sizes = {"N_FEATURES": n, "SCALE": self.start.scale}
        notes: Any = specialise(
            HERE / "notes_kernel.py",
            evaluate_mover=kernel.evaluate_mover,
            phase=rules.phase,
            COHERENCE=self.settings.coherence,
            BY_PHASE=self.settings.by_phase,
            N_PHASES=game.n_phases,
            **sizes,
        )
        own = EvalKernel(params=self.params, evaluate_player=kernel.evaluate_player, evaluate_mover=notes.judge)
        searching = searching_kernels(game, own, notes.note_node if target == "treestrap" else None)
        names = ("State", "result", "is_terminal", "to_play", "utility_mover", "phase")
        module: Any = specialise(
            HERE / "online_kernel.py",
            **bindings(rules, *names),
            **searching,
            **{k: getattr(notes, k) for k in ("note", "take", "see")},
            **sizes,
            evaluate_mover=kernel.evaluate_mover,
            raw=specialise(self.start.template, N_FEATURES=n).raw,
            squash=jitable(squash),
            uniform=uniform,
            N_WORDS=rules.n_words,
            HAS_CLOCK=rules.clock is not None,
            LEAVES=target == "tdleaf",
            WAITS=target in ("td", "tdleaf"),
            EVERY_NODE=target == "treestrap",
        )
        self.box = search_record(game, search_options(game))
        self.rows = np.zeros((rules.max_plies + 1 if target in ("td", "tdleaf") else 1, n), np.float32)
        self.past = np.zeros((rules.clock_limit + 2, rules.n_words), np.uint64)
        announce(f"the {target} learner of {game.name}", module.learn)
        return module

    def learn(self, games: int) -> None:
        """Play so many games against itself."""
        from evallearn.compiled.specialise import COMPILE_ERRORS, explain_failure

        try:
            self.kernels.learn(self.io_box, self.box, self.params, self.rows, self.past, int(games))
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.game.name}.rules") from None

    def __getattr__(self, name: str) -> Any:
        """games, moves, nodes and errors, the sum of |target - value| over all moves."""
        if name in COUNTERS and "io_box" in self.__dict__:
            return self.io_box[name][0].item()
        raise AttributeError(name)

    @property
    def step(self) -> str:
        """Its step size, for messages."""
        return f"alpha={self.settings.alpha:g}"

    @property
    def weights(self) -> np.ndarray:
        """float64[n_phases, n_features], the learner's own."""
        weights: np.ndarray = self.params["weights"][0]
        return weights

    def evaluator(self, made: dict[str, Any]) -> LinearEval:
        """The Eval as it is now."""
        return LinearEval(self.game, self.weights, self.params["bias"][0], made)

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def _recipe(self) -> dict[str, Any]:
        """What a checkpoint must have in common with whoever goes on from it."""
        begun = tensors_digest(self.start.tensors())
        return {"game": self.game.name, "features": feature_hash(self.game), "start": begun, **asdict(self.settings)}

    def _counters(self) -> dict[str, Any]:
        return {name: self.io_box[name][0].item() for name in COUNTERS}

    def _tensors(self) -> dict[str, np.ndarray]:
        return {name: np.atleast_1d(self.params[name][0]) for name in LEARNED}

    def save(self, path: Path) -> None:
        """All that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "search", self._recipe(), self._counters(), self._tensors())

    def restore(self, path: Path) -> None:
        """Raises DataError for a file that is no checkpoint, or one of other settings."""
        counters, tensors = read_checkpoint(path, "search", self._recipe(), self._counters(), self._tensors())
        for name, value in counters.items():
            self.io_box[name] = value
        for name, tensor in tensors.items():
            self.params[name] = tensor
