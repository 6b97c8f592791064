"""`SelfPlayTrainer`: a model learns from games against itself, in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evallearn.errors import Diverged, SpecError
from evallearn.evaluators.net import NetEval
from evallearn.train.models import Model
from evallearn.train.models.net import NetModel
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.episodes import EpisodeLearner, require_episodes
from evallearn.train.selfplay.merging import MergingLearner
from evallearn.train.selfplay.rounds import RoundsLearner
from evallearn.train.selfplay.settings import USUAL_ROUNDS, SelfPlaySettings
from evallearn.train.training import Loop, Progress, Training, last_game


class SelfPlayTrainer:
    """Learns a model from games against itself. `training` is the last state at which all was well."""

    training: Training

    def __init__(
        self,
        model: Model | NetModel,
        settings: SelfPlaySettings | None = None,
        *,
        teacher: NetEval | None = None,
        threads: int | None = None,
    ) -> None:
        """Store the model and its settings.

        settings: what is None there, the model says, or else is usual. teacher: a net that plays and judges while a
        net learns; None: the model itself. threads: those in which a net plays, None: as many as there are cores.

        Raises SpecError for what cannot work, before anything is played.
        """
        self.model = model
        self.settings = check_training(model, settings, teacher)
        self.learner: EpisodeLearner | MergingLearner | RoundsLearner
        if isinstance(model, NetModel):
            self.learner = RoundsLearner(model, self.settings, teacher=teacher, threads=threads)
        elif self.settings.learners > 1 and isinstance(model, PatternModel):
            self.learner = MergingLearner(model, self.settings)
        else:
            self.learner = EpisodeLearner(model, self.settings)

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

        A net plays whole rounds, so that there may be some games more. checkpoint: goes on from this file if it is
        there, and writes it about `every` so many seconds, at the end, and at Ctrl-C. Games that are learned in two
        pieces give the same weights as in one. Raises Diverged where the weights grow without bound, which carries the
        last stable training; DataError where another process learns with that checkpoint.
        """
        limit = last_game(games, seconds)
        if isinstance(self.learner, RoundsLearner):
            self.learner.limit = games
        loop = Loop(self.learner, self.model.game.name, self._keep, on_progress)
        try:
            loop.run(limit, seconds, checkpoint, every)
        except Diverged as error:
            error.training = self.training
            raise
        return self.training

    def _keep(self, now: Progress) -> None:
        settings = self.settings
        details = {"method": settings.target, "games": now.games, "moves": now.moves, "seed": settings.seed}
        if isinstance(self.learner, RoundsLearner):
            details |= {"depth": settings.depth, "steps": self.learner.steps}
        self.training = Training(now, details, self.model.freezer())


def check_training(
    model: Model | NetModel, settings: SelfPlaySettings | None = None, teacher: NetEval | None = None
) -> SelfPlaySettings:
    """Return the settings with what suits the model for each None. Raises SpecError for what the model cannot learn."""
    suited, kind = (settings or SelfPlaySettings()).suited(model), type(model).__name__
    if suited.learners > 1 and not isinstance(model, PatternModel):
        raise SpecError(f"learners={suited.learners}: {kind} does not merge; take 1")
    if isinstance(model, NetModel):
        model.searches(suited.target or "td", suited.depth or 1)
        return suited
    if teacher is not None:
        raise SpecError(f"teacher={teacher.name!r}: {kind} learns from its own games alone; leave the teacher out")
    if suited.rounds != USUAL_ROUNDS:
        raise SpecError(f"rounds={suited.rounds}: {kind} learns after every game; leave the rounds out")
    require_episodes(model, model.hooks(), suited)
    return suited
