"""Trainers of nets from games against themselves, in scikit-learn's manner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from evallearn.core.game import Game
from evallearn.errors import SpecError
from evallearn.train.training import Loop, Progress, last_game


class SelfTaughtTrainer(ABC):
    """Plays until a limit, in small bites. After `fit`: games_, moves_ and `progress_`, the last report."""

    @abstractmethod
    def learner(self, game: Game) -> Any:
        """Return a new Learner of the game. What cannot work is refused here, not after hours of learning."""

    @abstractmethod
    def keep(self, learner: Any) -> None:
        """Take over what was learned: all is well so far."""

    def fit(
        self,
        game: Game,
        *,
        games: int | None = None,
        seconds: float | None = None,
        checkpoint: Path | None = None,
        every: float = 60.0,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Play until so many games in all, or for so many seconds from now.

        checkpoint: goes on from this file if it is there, and writes it about `every` so many seconds, at the end, and
        at Ctrl-C. Games that are learned in two pieces give the same weights as in one. Raises Diverged where the
        weights grow without bound; what is kept is then that of the last report at which all was well; DataError where
        another process learns with that checkpoint.
        """
        limit, learner = last_game(games, seconds), self.learner(game)

        def keep(now: Progress) -> None:
            self.games_, self.moves_ = learner.games, learner.moves
            self.keep(learner)

        loop = Loop(learner, game.name, keep, on_progress)
        try:
            loop.run(limit, seconds, checkpoint, every)
        except SpecError:
            self.recover(learner)
            raise
        finally:
            self.progress_ = loop.now
        return self

    def recover(self, learner: Any) -> None:  # noqa: B027  # most have kept nothing
        """Take over what a learner that diverged has kept itself."""
