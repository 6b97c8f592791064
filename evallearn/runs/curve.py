"""The learning curve of a model that plays against itself.

Every so many games it meets, one ply ahead and from both seats, the model of the last measurement and an opponent that
never changes: is it still getting better, and how good is it?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from evallearn.arena.quick_match import QuickMatch, quick_match
from evallearn.core.checksum import read_checked, write_checked
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import has_shape, rows
from evallearn.core.result import Result
from evallearn.errors import DataError, EvaluatorError, SpecError
from evallearn.evaluators import FeatureEval, load_evaluator, save
from evallearn.train.training import Training

MEASUREMENTS = 20
"""In a stage whose games are known."""
SECONDS = 30.0
"""Between two measurements where they are not."""
MET = {"points": float, "standard_error": float, "games": int}
POINT = {"games": int, "moves": int, "seconds": float, "loss": float, "games_per_second": float,
         "last": (MET, None), "fixed": (MET, None)}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Point(Result):
    """A measurement."""

    games: int
    moves: int
    seconds: float
    loss: float
    """The mean error since the last report, as a share of a win."""
    games_per_second: float
    last: QuickMatch | None = None
    """Against the model of the measurement before."""
    fixed: QuickMatch | None = None
    """Against the opponent."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Point:
        """Return the point that a file tells, which has the shape POINT."""
        met = {k: QuickMatch(**{n: told[k][n] for n in MET}) for k in ("last", "fixed") if told[k] is not None}
        return cls(**{**{k: told[k] for k in POINT}, **met})


@dataclass
class Recorder:
    """Measures a model while it learns: a folder with `curve.json` and `last.safetensors`."""

    game: Game
    folder: Path
    opponent: Evaluator | None
    pairs: int
    """Of a quick match; 0: none is played."""
    seed: int
    games: int | None
    """Of the whole stage, if that is known."""
    on_point: Callable[[Point], None] = lambda point: None
    events: Any = None
    """Something with add_scalar(tag, value, step), as TensorBoard's writer."""
    points: list[Point] = field(default_factory=list)

    def read(self, goes_on: bool) -> None:
        """Read the curve so far; where learning begins anew, so does the curve."""
        path, last = self.folder / "curve.json", self.folder / "last.safetensors"
        if not goes_on:
            path.unlink(missing_ok=True)
            last.unlink(missing_ok=True)
        try:
            self._last()
        except EvaluatorError as error:
            raise DataError(f"{error}; or delete it: the next model is then compared with none") from None
        if path.exists():
            remedy = "delete it: the learning goes on, and its curve begins anew"
            told = read_checked(path, remedy).get("curve")
            if not has_shape(told, [POINT]):
                raise DataError(f"{path} holds what is no learning curve: {remedy}")
            self.points = [Point.of(point) for point in rows(told)]
        self._due = (self.points[-1].games if self.points else 0, perf_counter())
        self.spent = self.points[-1].seconds if self.points else 0.0

    def look(self, training: Training, *, at_end: bool = False) -> None:
        """Add a point if one is due; at the end one is, unless there is one already."""
        games, seconds = self._due
        now = training.progress
        due = (
            now.games - games >= max(1, self.games // MEASUREMENTS)
            if self.games
            else perf_counter() - seconds > SECONDS
        )
        if (at_end or due) and (not self.points or self.points[-1].games < now.games):
            self._due = (now.games, perf_counter())
            self._measure(training)

    def _last(self) -> FeatureEval | None:
        path = self.folder / "last.safetensors"
        return load_evaluator(path, self.game) if path.exists() else None

    def _measure(self, training: Training) -> None:
        now, model = training.progress, training.evaluator
        last = self._last() if self.pairs else None
        point = Point(
            games=now.games, moves=now.moves, seconds=self.spent + now.seconds, loss=now.error,
            games_per_second=now.games_per_second, last=self._meet(model, last), fixed=self._meet(model, self.opponent),
        )  # fmt: skip
        self.points.append(point)
        if self.pairs:
            save(model, self.folder / "last.safetensors")
        self.write()
        self._tell_events(point)
        self.on_point(point)

    def _meet(self, model: FeatureEval, other: Evaluator | None) -> QuickMatch | None:
        if other is None or not self.pairs:
            return None
        plies = 0 if self.game.has_chance else 2 * self.game.opening_plies
        return quick_match(model, other, pairs=self.pairs, seed=self.seed, opening_plies=plies)

    def write(self) -> None:
        write_checked(self.folder / "curve.json", {"curve": [asdict(point) for point in self.points]})

    def _tell_events(self, point: Point) -> None:
        if self.events is None:
            return
        for tag, value in (
            ("loss", point.loss),
            ("games_per_second", point.games_per_second),
            ("points_per_game/last", point.last and point.last.points),
            ("points_per_game/fixed", point.fixed and point.fixed.points),
        ):
            if value is not None:
                self.events.add_scalar(tag, value, point.games)
        self.events.flush()


def events_of(folder: Path) -> Any:
    """Return TensorBoard's writer; refuse in one sentence where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise SpecError(
            "--tensorboard needs the package tensorboard, which is not installed: pip install tensorboard, or leave it "
            "out"
        ) from None
    return SummaryWriter(str(folder))
