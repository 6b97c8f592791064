"""`SelfPlayTrainer`: a model learns from games against itself, in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evallearn.errors import Diverged, SpecError
from evallearn.train.models import Model
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.episodes import EpisodeLearner
from evallearn.train.selfplay.rounds import MergingLearner
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.training import Loop, Progress, Training, last_game


class SelfPlayTrainer:
    """Learns a model from games against itself. `training` is the last state at which all was well."""

    training: Training

    def __init__(self, model: Model, settings: SelfPlaySettings | None = None) -> None:
        """Store the model and its settings.

        settings: what is None there, the model says, or else is usual.

        Raises SpecError for what cannot work, before anything is played.
        """
        self.model = model
        self.settings = (settings or SelfPlaySettings()).suited(model)
        self.learner: EpisodeLearner | MergingLearner
        if self.settings.learners == 1:
            self.learner = EpisodeLearner(model, self.settings)
        elif isinstance(model, PatternModel):
            self.learner = MergingLearner(model, self.settings)
        else:
            raise SpecError(f"learners={self.settings.learners}: {type(model).__name__} does not merge; take 1")

    def fit(
        self,
        *,
        games: int | None = None,
        seconds: float | None = None,
        checkpoint: Path | None = None,
        every: float = 60.0,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Training:
        """Play until so many games in all, or for so many seconds from now; return what was learned.

        checkpoint: goes on from this file if it is there, and writes it about `every` so many seconds, at the end, and
        at Ctrl-C. Games that are learned in two pieces give the same weights as in one. Raises Diverged where the
        weights grow without bound, which carries the last stable training; DataError where another process learns with
        that checkpoint.
        """
        limit = last_game(games, seconds)
        loop = Loop(self.learner, self.model.game.name, self._keep, on_progress)
        try:
            loop.run(limit, seconds, checkpoint, every)
        except Diverged as error:
            error.training = self.training
            raise
        return self.training

    def _keep(self, now: Progress) -> None:
        details = {"method": self.settings.target, "games": now.games, "moves": now.moves, "seed": self.settings.seed}
        self.training = Training(now, details, self.model.freezer())
