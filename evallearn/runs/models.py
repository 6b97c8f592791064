"""The models of self-play stages by name: what can be chosen, and how each is made."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.settings import Settings, setting
from evallearn.errors import EvaluatorError
from evallearn.evaluators import LinearEval
from evallearn.evaluators.net import NetEval
from evallearn.train.models.net import NetSettings
from evallearn.train.models.patterns import PatternSettings

if TYPE_CHECKING:  # each option imports its model when it makes one
    from evallearn.train.models import Model
    from evallearn.train.models.net import NetModel


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Settings):
    """What a recipe says of a model: the arguments of its class."""

    kind: ClassVar[str] = ""

    @abstractmethod
    def build(self, game: Game, start: Evaluator | None, seed: int) -> Model | NetModel:
        """Return the model of a game, which begins with `start`, if that is given; refuse one that does not fit."""

    def given(self) -> dict[str, Any]:
        """Return the options that are not None."""
        return {k: v for k, v in vars(self).items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class LinearOptions(ModelOptions):
    """A linear evaluator."""

    kind: ClassVar[str] = "linear"
    features: tuple[str, ...] | None = setting(None, "Features that may get a weight.", auto="all")
    per_phase: bool = setting(True, "Weights of their own for every phase.")
    temporal_coherence: bool = setting(False, "Give every weight a step of its own.")

    def build(self, game: Game, start: Evaluator | None, seed: int) -> Model:
        from evallearn.train.models.linear import LinearModel

        if start is not None and not isinstance(start, LinearEval):
            raise unfit(start, "start", "give a linear one")
        return LinearModel(game, start=start, **self.given())


@dataclass(frozen=True, kw_only=True)
class PatternOptions(ModelOptions, PatternSettings):
    """Pattern tables."""

    kind: ClassVar[str] = "patterns"
    patterns: str | None = setting(None, "A pattern set of the game.", auto="its first")

    def build(self, game: Game, start: Evaluator | None, seed: int) -> Model:
        from evallearn.train.models.patterns import PatternModel

        if start is not None:
            raise unfit(start, "start", "tables begin with nothing; leave it out")
        return PatternModel(game, **self.given())


@dataclass(frozen=True, kw_only=True)
class NetOptions(ModelOptions, NetSettings):
    """A net."""

    kind: ClassVar[str] = "net"

    def build(self, game: Game, start: Evaluator | None, seed: int) -> NetModel:
        from evallearn.train.models.net import NetModel

        return NetModel(game, start=as_net(start, "start"), seed=seed, **self.given())


USUAL_MODEL = LinearOptions()
MODELS: dict[str, type[ModelOptions]] = {kind.kind: kind for kind in (LinearOptions, PatternOptions, NetOptions)}


def as_net(evaluator: Evaluator | None, what: str) -> NetEval | None:
    """Refuse what is no net."""
    if evaluator is not None and not isinstance(evaluator, NetEval):
        raise unfit(evaluator, what, "give a net that `evallearn learn --recipe net` made")
    return evaluator


def unfit(evaluator: Evaluator, what: str, remedy: str) -> EvaluatorError:
    """Return the error of an evaluator that a model cannot use."""
    kind = getattr(evaluator, "kind", "function")
    return EvaluatorError(f"{what}: {evaluator.name} is a {kind} evaluator: {remedy}")
