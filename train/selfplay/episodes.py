"""Games of one model against itself, in one kernel: `EpisodeLearner`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.rng import scramble
from evallearn.errors import SpecError
from evallearn.evaluators.features import half_range
from evallearn.train.models import Model
from evallearn.train.selfplay.checkpoints import read_checkpoint, save_checkpoint
from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, DEEPEST, RESIGN_PLAYTHROUGH, SelfPlaySettings
from evallearn.train.targets import lambda_errors

HERE = Path(__file__).parent
COUNTERS = ("counter", "games", "moves", "errors")


class EpisodeLearner:
    """A model, and games against itself that change it. The same seed gives the same weights, however it is cut."""

    def __init__(self, model: Model, settings: SelfPlaySettings, kernels: Any = None) -> None:
        """settings: without a None; kernels: those of another learner of a model of the same kind.

        Raises SpecError for a game whose games against itself would be others than those of its searches.
        """
        require_episodes(model, settings)
        self.model, self.settings = model, settings
        hooks, rules = model.hooks(), model.game.rules
        assert rules is not None
        self.parts = hooks.parts
        self.io = self._record()
        self.trail = np.zeros(rules.max_plies + 1, hooks.row)
        self.rows = np.zeros(rules.max_actions, hooks.row)
        self.kernels = kernels or _kernels(model, settings)

    def _record(self) -> np.ndarray:
        """What the kernel carries with it."""
        game, settings = self.model.game, self.settings
        rules = game.rules
        assert rules is not None
        plies, actions = (rules.max_plies + 1,), (rules.max_actions,)
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)), ("counter", "u8"), ("games", "i8"), ("moves", "i8"), ("errors", "f8"),
            ("step", "f8"), ("depth", "i8"), ("lambda_", "f8"), ("epsilon", "f8"), ("target_epsilon", "f8"),
            ("adversary_share", "f8"), ("adversary_cell", "i8"), ("max_opening_plies", "i8"),
            ("skips_openings", "i8"), ("resign_threshold", "f8"),
            ("actions", "i4", actions), ("values", "f8", actions), ("cell", "i4", actions), ("is_same", "i1", actions),
            ("child_group", "i8", actions), ("below", "i4", (DEEPEST, *actions)),
            ("mover", "i4", plies), ("group", "i8", plies), ("trace", "f8", plies), ("td_error", "f8", (*plies, 1)),
        ]  # fmt: skip
        io = np.zeros(1, np.dtype(fields, align=True))
        io["words"], io["counter"] = game.encode(game.initial()), scramble(settings.seed)
        for name in (
            "lambda_", "epsilon", "target_epsilon", "adversary_share", "max_opening_plies", "resign_threshold",
        ):  # fmt: skip
            io[name] = getattr(settings, name)
        io["adversary_cell"] = max(0, settings.adversary_cell or 0)
        io["skips_openings"] = not settings.train_on_openings
        return io

    def learn(self, games: int) -> None:
        """Play so many games against itself."""
        from evallearn.compiled.specialise import COMPILE_ERRORS, explain_failure

        settings, first = self.settings, self.games
        steps, depths = settings.steps(first, games, self.parts), settings.depths(first, games)
        try:
            self.kernels.learn(self.io, *self.model.arrays, self.trail, self.rows, steps, depths)
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.model.game.name}.rules") from None

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
    def errors(self) -> float:
        """The sum of |backup - value| over all moves."""
        return float(self.io["errors"][0])

    @property
    def weights(self) -> np.ndarray:
        return self.model.weights

    # --- checkpoints -------------------------------------------------------------------------------------------------
    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        return {**self.model.identity(), **self.settings.to_json()}

    def counters(self) -> dict[str, Any]:
        return {name: self.io[name][0].item() for name in COUNTERS}

    def load_counters(self, counters: dict[str, Any]) -> None:
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


def require_episodes(model: Model, settings: SelfPlaySettings) -> None:
    """Refuse, up front, what cannot be learned in the episode kernel."""
    game, rules = model.game, model.game.rules
    assert rules is not None
    if rules.clock is not None:
        raise SpecError(f"the rules of {game.name} look back, which games against itself do not: use selfplay and fit")
    if settings.adversary_share and (settings.adversary_cell >= game.n_cells or rules.contents is not None):  # type: ignore[operator]  # no None
        raise SpecError(
            f"adversary_cell={settings.adversary_cell} is no cell that an adversary sees in {game.name}: give one of "
            f"its {game.n_cells} cells, if its rules have no `contents`, or no adversary_share"
        )


def _kernels(model: Model, settings: SelfPlaySettings) -> Any:
    from evallearn.compiled.bits import jitable
    from evallearn.compiled.hooks import bindings
    from evallearn.compiled.specialise import announce, specialise
    from evallearn.train.draws import uniform

    game, hooks = model.game, model.hooks()
    rules, scale = game.rules, half_range(game)
    assert rules is not None
    adversary, deep = bool(settings.adversary_share), settings.depth > 1
    ends = bindings(rules, "result", "is_terminal", "to_play", "utility_mover")
    own = {"read": hooks.read, "predict": hooks.predict, "SCALE": scale}
    one_ply: Any = specialise(HERE / "one_ply_kernel.py", **ends, **own, cell=hooks.cell, ADVERSARY=adversary)
    further: Any = specialise(HERE / "fixed_depth_kernel.py", **ends, **own, actions=rules.actions) if deep else None
    module: Any = specialise(
        HERE / "episode_kernel.py",
        **bindings(rules, "State", "actions", "result", "is_terminal", "to_play"),
        **{name: getattr(hooks, name) for name in ("read", "predict", "prefetch", "update")},
        **{name: getattr(one_ply, name) for name in ("choose", "backup", "adversarial")},
        choose_deep=further.choose_deep if deep else one_ply.choose,
        lambda_errors=jitable(lambda_errors),
        uniform=uniform,
        N_WORDS=rules.n_words,
        N_ROW=hooks.row.shape[0],
        ADVERSARY=adversary,
        DEEP=deep,
        ADVERSARY_WEIGHT=ADVERSARY_WEIGHT,
        RESIGN_PLAYTHROUGH=RESIGN_PLAYTHROUGH,
    )
    announce(f"games of {game.name} against itself", module.learn)
    return module
