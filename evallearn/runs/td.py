"""A net that learns by self-play and is measured: a folder with checkpoint, net and curve, which a rerun continues.

Every so many games the net meets the one of the last measurement and a fixed opponent, one ply ahead with the same dice
from both seats: is it still getting better, and how good is it?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from evallearn._version import __version__
from evallearn.agents import parse_evaluator
from evallearn.arena.quick_match import quick_match
from evallearn.core.checked import read_checked, write_checked
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.locks import hold_folder
from evallearn.core.shapes import ALL, has_shape
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError, EvaluatorError, SpecError
from evallearn.evaluators import load_evaluator, save_evaluator
from evallearn.evaluators.net import NetEval
from evallearn.train.neural import NeuralTrainer
from evallearn.train.training import Progress

LOOKS = 20
"""Measurements in a run whose games are known."""
LOOK_SECONDS = 30.0
"""Between two measurements where they are not."""
OnLook = Callable[[dict[str, Any]], None]


@dataclass
class TdRun:
    """One folder: `checkpoint.safetensors`, `net.safetensors`, `last.safetensors`, `curve.json`."""

    game: Game
    folder: Path
    trainer: NeuralTrainer
    opponent: str = ""
    """Whom the net meets, as a person wrote it; empty: the game's first hand-written heuristic, if it has one."""
    pairs: int = 500
    """Of a quick match, each played from both seats."""
    command: str = ""
    events: Any = None
    """Something with add_scalar(tag, value, step), as TensorBoard's writer."""
    curve: list[dict[str, Any]] = field(default_factory=list)

    def learn(
        self,
        *,
        games: int | None,
        seconds: float | None,
        on_progress: Callable[[Progress], None] | None = None,
        on_look: OnLook | None = None,
    ) -> dict[str, Any]:
        """Learn until so many games in all, or for so many seconds from now; return the figures of the run."""
        self.opponent = self.opponent or next((f"handwritten:{name}" for name in self.game.heuristics), "")
        rival = parse_evaluator(self.opponent, self.game, trust=FULL_TRUST) if self.opponent else None
        if rival is not None and rival.kernel() is None:
            raise SpecError(
                f"opponent {self.opponent} has no compiled floor: quick matches need one; choose another, and play it "
                "in `evallearn match` afterwards"
            )
        with hold_folder(self.folder):
            return self._learn(rival, games, seconds, on_progress, on_look)

    def _learn(
        self,
        rival: Evaluator | None,
        games: int | None,
        seconds: float | None,
        on_progress: Callable[[Progress], None] | None,
        on_look: OnLook | None,
    ) -> dict[str, Any]:
        self._read()
        spent = self.curve[-1]["seconds"] if self.curve else 0.0
        start, every = perf_counter(), max(1, games // LOOKS) if games else 0
        looked = [self.curve[-1]["games"] if self.curve else 0, start]

        def progress(now: Progress) -> None:
            if on_progress is not None:
                on_progress(now)
            if now.games - looked[0] >= every if every else perf_counter() - looked[1] > LOOK_SECONDS:
                looked[:] = [now.games, perf_counter()]
                self._look(now, spent + now.seconds, rival, on_look)

        checkpoint = self.folder / "checkpoint.safetensors"
        try:
            self.trainer.fit(self.game, games=games, seconds=seconds, checkpoint=checkpoint, on_progress=progress)
        except SpecError:
            if hasattr(self.trainer, "net_"):  # it diverged: the net from before that is the result
                save_evaluator(self.trainer.evaluator(self._made()), self.folder / "net.safetensors")
            raise
        now = self.trainer.progress_
        if not self.curve or self.curve[-1]["games"] < now.games:
            self._look(now, spent + now.seconds, rival, on_look)
        return self.figures()

    def _read(self) -> None:
        """Read the curve so far; without a checkpoint the learning begins anew, and so does the curve."""
        path = self.folder / "curve.json"
        if not (self.folder / "checkpoint.safetensors").exists():
            for name in ("curve.json", "last.safetensors"):
                (self.folder / name).unlink(missing_ok=True)
        try:
            self._last()
        except EvaluatorError as error:
            raise DataError(f"{error}; or delete it: the next net is then compared with none") from None
        if path.exists():
            remedy = "delete it: the learning goes on, and its curve begins anew"
            self.curve = read_checked(path, remedy).get("curve", [])
            if not isinstance(self.curve, list) or not all(map(is_point, self.curve)):
                raise DataError(f"{path} holds what is no learning curve: {remedy}")

    def _last(self) -> NetEval | None:
        """Return the net of the last measurement, if there is one."""
        path = self.folder / "last.safetensors"
        return load_evaluator(path, self.game) if path.exists() else None  # type: ignore[return-value]  # a net

    def write_curve(self) -> None:
        write_checked(self.folder / "curve.json", {"curve": self.curve})

    def _look(self, now: Progress, seconds: float, rival: Evaluator | None, on_look: OnLook | None) -> None:
        """Add a point to the curve; the net is kept beside it."""
        net = self.trainer.evaluator(self._made())
        point: dict[str, Any] = {
            "games": now.games, "moves": now.moves, "seconds": seconds, "loss": now.error,
            "games_per_second": now.games_per_second, "steps": self.trainer.steps_,
        }  # fmt: skip
        before = self._last()
        if before is not None:
            point["last"] = self._quick_match(net, before)
        if rival is not None:
            point["fixed"] = self._quick_match(net, rival)
        self.curve.append(point)
        save_evaluator(net, self.folder / "net.safetensors")
        save_evaluator(net, self.folder / "last.safetensors")
        self.write_curve()
        self._tell_events(point)
        if on_look is not None:
            on_look(point)

    def _quick_match(self, net: NetEval, other: Evaluator) -> dict[str, float]:
        plies = 0 if self.game.has_chance else 2 * self.game.opening_plies
        return asdict(quick_match(net, other, pairs=self.pairs, seed=self.trainer.seed, opening_plies=plies))

    def _made(self) -> dict[str, Any]:
        return {"name": "net", "command": self.command}

    def _tell_events(self, point: dict[str, Any]) -> None:
        if self.events is None:
            return
        for key in ("loss", "games_per_second"):
            self.events.add_scalar(key, point[key], point["games"])
        for key in ("last", "fixed"):
            if key in point:
                self.events.add_scalar(f"points_per_game/{key}", point[key]["points"], point["games"])
        self.events.flush()

    def figures(self) -> dict[str, Any]:
        """Return what the run has reached, for scripts and the page."""
        net = self.trainer.net_
        return {
            "evallearn": __version__, "game": self.game.name, "run": self.folder.name, "seed": self.trainer.seed,
            "command": self.command, "opponent": self.opponent, "curve": self.curve,
            "settings": {
                "hidden": list(net.hidden), "activation": net.activation, "nets": net.nets,
                "outputs": net.outputs, "target": self.trainer.target, "depth": self.trainer.plies,
                "lambda": self.trainer.lambda_, "learning rate": self.trainer.learning_rate,
                "exact from": self.trainer.exact_from, "batch size": self.trainer.batch_size,
                "epochs": self.trainer.epochs, "games per round": self.trainer.games_per_round,
                "remembered rounds": self.trainer.remembered,
            },
            "files": {"net": "net.safetensors", "checkpoint": "checkpoint.safetensors", "report": "report.html"},
        }  # fmt: skip


PLAYED = {"points": float, "standard_error": float, "games": int}
POINT = {"games": int, "moves": int, "seconds": float, "loss": float, "games_per_second": float, "steps": int}
"""Of a learning curve."""


def is_point(point: Any) -> bool:
    """Return True for a point of a learning curve, as a page can draw it."""
    return has_shape(point, POINT) and has_shape({k: point[k] for k in ("last", "fixed") if k in point}, {ALL: PLAYED})


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
