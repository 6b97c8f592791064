"""A net as a model: `NetModel`, TD-Gammon's way.

torch learns from rounds of games in minibatches. It is the running average of the weights that plays the next round,
frozen (`frozen_net.py`), and that is what is learned: it is less noisy than the weights themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evallearn.core.digest import tensors_digest
from evallearn.core.game import Game
from evallearn.core.settings import Settings, number, setting
from evallearn.errors import SpecError
from evallearn.evaluators.features import feature_hash
from evallearn.evaluators.net import ACTIVATIONS, NetEval, levels_of
from evallearn.train.models.frozen_net import FrozenNet
from evallearn.train.models.linear import require_searching
from evallearn.train.models.net_learner import NetLearner, first_net, widened
from evallearn.train.models.net_torch import check_hidden
from evallearn.train.targets import SEARCH_TARGETS


@dataclass(frozen=True, kw_only=True)
class NetSettings(Settings):
    """What a net looks like, and how its weights are averaged."""

    hidden: tuple[int, ...] | None = setting(
        None, "Units of one or two hidden layers.", auto="80, or those of the net to begin with"
    )
    activation: str = setting("relu", f"{', '.join(ACTIVATIONS)}.", choices=ACTIVATIONS)
    per_phase: bool = setting(True, "A net of its own for every phase of the game.")
    ema_decay: float = setting(
        0.999, "What a step keeps of the running average of the weights.", number(at_least=0, below=1)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden is not None:
            check_hidden(self.hidden)


class NetModel:
    """A net that learns in rounds of games, from (position, target) rows."""

    targets: tuple[str, ...] = ("td", "expectation", *(target for target in SEARCH_TARGETS if target != "td"))

    def __init__(
        self,
        game: Game,
        *,
        start: NetEval | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str = "relu",
        per_phase: bool = True,
        ema_decay: float = 0.999,
        seed: int = 1,
        device: str | None = None,
    ) -> None:
        """Set up the net.

        start: the net to begin with, which grows to `hidden`; None: random weights. The next four are those of
        NetSettings. seed: of the weights. device: where torch learns; None: on a GPU if there is one.

        Raises SpecError for a game in which nets cannot learn from games against themselves.
        """
        require_nets(game)
        require_net_of(game, start, "net to begin with")
        self.game, self.given, self.seed = game, start, seed
        usual = start.hidden if start else (80,)
        self.settings = NetSettings(
            hidden=tuple(hidden) if hidden else usual, activation=activation, per_phase=per_phase, ema_decay=ema_decay
        )
        assert self.settings.hidden is not None
        if start is None:
            outputs = len(levels_of(game)) - 1
            self.start = first_net(
                game, self.settings.hidden, outputs, activation=activation, per_phase=per_phase, seed=seed
            )
        else:
            self.start = widened(start, self.settings.hidden, seed)
        self.outputs = self.start.outputs
        self.learner = NetLearner(self.start, ema_decay=ema_decay, device=device)

    def usual(self, target: str) -> dict[str, object]:
        """Return the settings of self-play that suit the target."""
        searched, dice = target in SEARCH_TARGETS and target != "td", self.game.has_chance
        return {
            "step_size": 2e-3,
            "depth": 2 if searched else 1,
            "lambda_": 0.6 if target == "expectation" else 0.7,
            "epsilon": 0.0 if dice else 0.05,
            "max_opening_plies": 0 if dice else 2 * self.game.opening_plies,
            "train_on_openings": not searched,
        }

    def searches(self, target: str, depth: int) -> bool:
        """Return whether alpha-beta chooses the moves: also where only a search knows which positions have occurred.

        Raises SpecError where the game or the net does not allow that.
        """
        rules = self.game.rules
        assert rules is not None
        if depth == 1 and target in ("td", "expectation") and rules.clock is None:
            return False
        require_searching(self.game, "use target td with depth 1")
        if self.outputs > 1:
            raise SpecError(
                f"{self.game.name} ends with one of {self.outputs + 1} results, and a search compares single values: "
                "use target td with depth 1"
            )
        return True

    def frozen(self, teacher: NetEval | None, target: str, depth: int) -> FrozenNet:
        """Return what plays and judges: the net, or its teacher. Raises SpecError as `searches` does."""
        require_net_of(self.game, teacher, "teacher")
        searches = self.searches(target, depth)
        return FrozenNet(teacher or self.start, searches=searches, every_node=target == "treestrap")

    # --- learning ----------------------------------------------------------------------------------------------------
    @property
    def weights(self) -> np.ndarray:
        """All of them in a row, for whoever asks how large they are."""
        return np.concatenate([t.ravel() for t in self.learner.tensors().values()])

    def update(self, x: np.ndarray, phase: np.ndarray, targets: np.ndarray, step: float) -> float:
        """Make one step of Adam; return the mean loss before it: the cross-entropies of the outputs, added up.

        x: float32[n, n_features]; phase: int64[n]; targets: float32[n, outputs], probabilities.
        """
        return self.learner.learn(x, phase, targets, step)

    def averaged(self) -> NetEval:
        """Return the net of the averaged weights: who plays, and what is learned."""
        return NetEval(self.game, self.learner.averaged(), self.start.activation)

    # --- checkpoints and evaluators ----------------------------------------------------------------------------------
    def identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        begun = tensors_digest(self.given.tensors()) if self.given else None
        own = {"features": feature_hash(self.game), "start": begun, "net_seed": self.seed}
        return {"game": self.game.name, **own, **self.settings.to_json()}

    def state(self) -> dict[str, np.ndarray]:
        """Return everything a checkpoint needs, copied."""
        return {**self.learner.tensors(), **self.learner.moments()}

    def load_state(self, tensors: Mapping[str, np.ndarray], steps: int) -> None:
        """Go on from what `state` returned, after so many steps."""
        self.learner.restore(dict(tensors), steps)

    def freezer(self) -> Callable[[Mapping[str, object]], NetEval]:
        """Copy the averaged weights; return a function of metadata that makes their evaluator."""
        tensors, game, activation = self.learner.averaged(), self.game, self.start.activation
        return lambda metadata: NetEval(game, tensors, activation, metadata)

    def evaluator(self, metadata: Mapping[str, object] | None = None) -> NetEval:
        """Freeze the averaged weights."""
        return self.freezer()(metadata or {})


def require_nets(game: Game) -> None:
    """Refuse, up front, a game in which nets cannot learn from games against themselves."""
    rules = game.rules
    if rules is None or game.n_players != 2 or not game.zero_sum or not game.feature_names:
        raise SpecError(
            f"{game.name} is no two-player zero-sum game with features on the compiled backend: nets learn against "
            "themselves only there; use selfplay and fit"
        )


def require_net_of(game: Game, net: NetEval | None, role: str) -> None:
    """Refuse a net of another game."""
    if net is not None and net.game.name != game.name:
        raise SpecError(f"the {role} is one of {net.game.name}, not of {game.name}")
