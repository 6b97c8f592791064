"""Games of one model against itself, in one kernel: `EpisodeLearner`."""

from __future__ import annotations

import copy
from pathlib import Path
from types import ModuleType
from typing import Self

import numpy as np

from evallearn.compiled.learning_records import EpisodeRecord
from evallearn.core.evaluator import EvalKernel
from evallearn.core.rng import scramble
from evallearn.errors import SpecError
from evallearn.evaluators.features import half_range
from evallearn.train.leaves import search_options, search_record
from evallearn.train.models import Arrays, Model, ModelHooks
from evallearn.train.models.frozen_net import FrozenNet
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.selfplay.searches import searching_kernels
from evallearn.train.selfplay.settings import DEEPEST, SelfPlaySettings
from evallearn.train.targets import TARGETS

HERE = Path(__file__).parent
COUNTERS = ("counter", "games", "moves", "nodes", "errors")


class Episodes:
    """Games of a model against itself in one kernel, and the memory that it needs."""

    def __init__(
        self,
        model: Model | FrozenNet,
        settings: SelfPlaySettings,
        *,
        longest: int = 0,
        kernels: ModuleType | None = None,
    ) -> None:
        """Build the kernels and their records, for a model and settings.

        settings: without a None. longest: decisions after which a game is broken off; 0: no game is. kernels: those of
        other episodes of a model of the same kind.

        Raises SpecError for a game whose games against itself would be others than those of its searches.
        """
        self.game, self.settings, hooks = model.game, settings, model.hooks()
        require_episodes(model, hooks, settings)
        rules = self.game.rules
        assert rules is not None
        self.in_rounds = isinstance(model, FrozenNet)
        self.parts, plies = hooks.parts, (longest or rules.max_plies) + 1
        self.io = self._record(plies, hooks.OUTPUTS)
        self.trail, self.rows = np.zeros(plies, hooks.row), np.zeros(rules.max_actions, hooks.row)
        self.history = np.zeros((rules.clock_limit + 2, rules.n_words), np.uint64)
        searches = hooks.evaluate_mover is not None
        self.box = search_record(self.game, search_options(self.game)) if searches else np.zeros(1)
        self.kernels = kernels or _kernels(model, hooks, settings)

    def _record(self, plies: int, outputs: int) -> np.ndarray:
        """Return what the kernel carries with it."""
        game, settings, rules = self.game, self.settings, self.game.rules
        assert rules is not None
        io = EpisodeRecord.one(
            words=rules.n_words, width=rules.max_actions, plies=plies, deepest=DEEPEST, outputs=outputs,
            rolls=max(1, rules.max_outcomes),
        )  # fmt: skip
        io["words"] = game.encode(game.initial())
        io["counter"] = io["seed"] = scramble(settings.seed)
        for name in (
            "lambda_", "epsilon", "target_epsilon", "adversary_share", "max_opening_plies", "resign_threshold",
        ):  # fmt: skip
            io[name] = getattr(settings, name)
        io["adversary_cell"] = max(0, settings.adversary_cell or 0)
        io["skips_openings"], io["longest"] = not settings.train_on_openings, plies - 1
        return io

    def copy(self) -> Self:
        """Return the same with memory of its own, for another thread."""
        other = copy.copy(self)
        for name in ("io", "trail", "rows", "history", "box"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def play(self, arrays: Arrays, first: int, games: int, room: int = 0) -> int:
        """Play these games; return how many: fewer where the lessons of a game, `room` at most, might not fit."""
        from evallearn.compiled.specialise import COMPILE_ERRORS, explain_failure

        depths = self.settings.depths(first, games)
        steps = np.zeros(games) if self.in_rounds else self.settings.steps(first, games, self.parts)
        self.io["games"], self.io["room"] = first, room
        try:
            return int(
                self.kernels.learn(self.io, self.box, *arrays, self.trail, self.rows, self.history, steps, depths)
            )
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.game.name}.rules") from None


class EpisodeLearner:
    """A model, and games against itself that change it. The same seed gives the same weights, however it is cut."""

    rolls_back = False

    def __init__(self, model: Model, settings: SelfPlaySettings, kernels: ModuleType | None = None) -> None:
        """Set up the games: see `Episodes`."""
        self.model, self.settings = model, settings
        self.episodes = Episodes(model, settings, kernels=kernels)
        self.io = self.episodes.io

    def learn(self, games: int) -> None:
        """Play so many games against itself."""
        self.episodes.play(self.model.arrays, self.games, games)

    @property
    def step(self) -> str:
        """Its step size, for messages."""
        return f"step_size={self.settings.schedule.initial:g}"

    @property
    def games(self) -> int:
        return int(self.io["games"][0])

    @property
    def moves(self) -> int:
        return int(self.io["moves"][0])

    @property
    def nodes(self) -> int:
        """Of all searches."""
        return int(self.io["nodes"][0])

    @property
    def errors(self) -> float:
        """The sum of |backup - value| over all moves."""
        return float(self.io["errors"][0])

    @property
    def weights(self) -> np.ndarray:
        return self.model.weights

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        return {**self.model.identity(), **self.settings.to_json()}

    def counters(self) -> dict[str, object]:
        return {name: self.io[name][0].item() for name in COUNTERS}

    def load_counters(self, counters: dict[str, object]) -> None:
        for name, value in counters.items():
            self.io[name] = value

    def save(self, path: Path) -> None:
        """Write all that `restore` needs to go on as if nothing had happened."""
        save_checkpoint(path, "self-play", self.identity(), self.counters(), self.model.state())

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint. Raises DataError for a file that is none, or one of other settings."""
        counters, tensors = read_checkpoint(path, "self-play", self.identity(), self.counters(), self.model.state())
        self.model.load_state(tensors)
        self.load_counters(counters)


def require_episodes(model: Model | FrozenNet, hooks: ModelHooks, settings: SelfPlaySettings) -> None:
    """Refuse, up front, what cannot be learned in the episode kernel."""
    game, rules, searches = model.game, model.game.rules, hooks.evaluate_mover is not None
    assert rules is not None
    if rules.clock is not None and not searches:
        raise SpecError(f"the rules of {game.name} look back, which games against itself do not: use selfplay and fit")
    for name in ("adversary_share", "target_epsilon") if searches or isinstance(model, FrozenNet) else ():
        if value := getattr(settings, name):
            raise SpecError(f"{name}={value!r}: give 0 for a model whose moves are searched, or a net")
    if settings.adversary_share and (settings.adversary_cell >= game.n_cells or rules.contents is not None):  # type: ignore[operator]  # no None
        raise SpecError(
            f"adversary_cell={settings.adversary_cell} is no cell that an adversary sees in {game.name}: give one of "
            f"its {game.n_cells} cells, if its rules have no `contents`, or no adversary_share"
        )


def _kernels(model: Model | FrozenNet, hooks: ModelHooks, settings: SelfPlaySettings) -> ModuleType:
    from evallearn.compiled.specialise import announce, specialise
    from evallearn.search.common.repetition import repetition_kernels

    game, target = model.game, TARGETS[settings.target or "td"]
    rules, searches = game.rules, hooks.evaluate_mover is not None
    assert rules is not None
    adversary, deep = bool(settings.adversary_share), (settings.depth or 1) > 1 and not searches
    scale = half_range(game)
    one_ply = specialise(HERE / "one_ply_kernel.py", rules, hooks, SCALE=scale, ADVERSARY=adversary)
    further = specialise(HERE / "fixed_depth_kernel.py", rules, hooks, SCALE=scale) if deep else None
    policy = _search_policy(model, hooks, target.learn_at == "tree") if searches else one_ply
    module = specialise(
        HERE / "episode_kernel.py",
        rules,
        hooks,
        one_ply,
        specialise(HERE / "dice_kernel.py", rules),
        repetition_kernels(rules),
        begin=policy.begin,
        choose=policy.choose,
        read_leaf=policy.read_leaf,
        choose_deep=further.choose_deep if further else None,
        N_ROW=hooks.row.shape[0],
        SCALE=scale,
        SEARCHES=searches,
        DEEP=deep,
        ADVERSARY=adversary,
        EXPECTS=target.backup == "expectation",
        NEXT=searches and target.backup == "next",
        LEAVES=searches and target.learn_at == "leaf",
        AT_ONCE=searches and target.backup == "search",
        EVERY_NODE=searches and target.learn_at == "tree",
    )
    announce(f"games of {game.name} against itself", module.learn)
    return module


def _search_policy(model: Model | FrozenNet, hooks: ModelHooks, every_node: bool) -> ModuleType:
    """Return search_policy_kernel.py for the model's own searches."""
    from evallearn.compiled.specialise import specialise

    game = model.game
    assert game.rules is not None
    own = EvalKernel(params=model.arrays[2], evaluate_player=None, evaluate_mover=hooks.evaluate_mover)  # type: ignore[arg-type]  # not asked
    searching = searching_kernels(game, own, hooks.on_node if every_node else None)
    return specialise(HERE / "search_policy_kernel.py", game.rules, hooks, *searching, SCALE=half_range(game))
