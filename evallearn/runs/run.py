"""A run: its folder and its steps, each of which leaves its result there.

A step whose result is there is not done again: a run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import logging
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from evallearn.agents import Agent, SearchAgent, default_limits
from evallearn.arena import MatchSettings, play_match
from evallearn.core.checksum import read_checked, write_checked
from evallearn.core.digest import json_digest, plain_json, weights_mark
from evallearn.core.evaluator import Evaluator
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.json_shapes import has_shape
from evallearn.core.search import Limits
from evallearn.core.settings import SEED
from evallearn.data import Dataset
from evallearn.errors import DataError, EvaluatorError
from evallearn.evaluators import FeatureEval, LinearEval, feature_hash, load_evaluator, save
from evallearn.registry import spec_of
from evallearn.runs.curve import Point
from evallearn.runs.fitting import Move
from evallearn.runs.recipe import Recipe
from evallearn.runs.result import ROW, Row
from evallearn.runs.stage_settings import SelfPlay
from evallearn.train.models.linear import require_searching

log = logging.getLogger(__name__)
Step = Callable[[str], AbstractContextManager[Move]]
"""step(title): shown to the person who waits."""
RUN = "run.json"


@contextmanager
def silent(title: str) -> Iterator[Move]:
    """Show nothing, as a Step."""
    yield lambda done, total: None


@dataclass
class Run:
    """A folder in which the steps of one run leave their results."""

    game: Game
    folder: Path
    recipe: Recipe
    seed: int = 1
    workers: int = 1
    step: Step = silent
    measured: Mapping[str, Any] | None = None
    """What was measured, and which settings were chosen by it (runs/budget.py)."""
    on_point: Callable[[Point], None] = lambda point: None
    """Hears of every measurement of a model that plays against itself."""
    tensorboard: bool = False

    def __post_init__(self) -> None:
        SEED.require("seed", self.seed)

    @property
    def command(self) -> str:
        """What makes this run again, in another folder, without a measurement."""
        return learn_command(self.game, self.recipe, self.seed, (self.measured or {}).get("chosen", {}))

    @property
    def terms(self) -> dict[str, Any]:
        """What every step depends on, as run.json holds it."""
        known = {"game": self.game.name, "game_version": self.game.version, "recipe": self.recipe.name}
        return plain_json({**known, "seed": self.seed, **self.recipe.flat()})

    def open(self) -> None:
        """Create the folder, or make sure that it holds this very run."""
        check_learnable(self.game, self.recipe)
        found, steps = read_run(self.folder), list((self.folder / "steps").glob("*.json"))
        if found is not None:
            for key, value in self.terms.items():
                if found.get(key) != value:
                    raise DataError(
                        f"{self.folder} holds a run with {key}={found.get(key)!r}, you asked for {value!r}: "
                        "choose another --run, or remove the folder"
                    )
        elif steps and not any(map(self.read_step, steps)):
            raise DataError(f"{self.folder} holds steps of another run, and no {RUN}: remove it, or choose another")
        else:
            write_checked(self.folder / RUN, self.terms | ({"measured": self.measured} if self.measured else {}))

    def once(
        self,
        name: str,
        title: str,
        work: Callable[[Move], dict[str, Any]],
        whole: Callable[[dict[str, Any]], bool] = lambda found: True,
    ) -> dict[str, Any]:
        """Return the result of `work`, computed now or found from before, with the seconds it took.

        A result from before counts only if it can be read and what the step made is still there: `whole(result)`.
        """
        path = self.folder / "steps" / f"{name}.json"
        found = self.read_step(path)
        if found is not None and whole(found):
            return found
        start = perf_counter()
        with self.step(title) as move:
            result = work(move)
        result["seconds"] = perf_counter() - start
        write_checked(path, result, json_digest(self.terms))
        return result

    def read_step(self, path: Path) -> dict[str, Any] | None:
        """Return the result of a step of this run; None where it is to be done: it was not, or its file is damaged."""
        if not path.exists():
            return None
        try:
            found = read_checked(path, "the step is done again", json_digest(self.terms))
        except DataError as error:
            log.warning("%s", error)
            return None
        return found if isinstance(found.get("seconds"), float) else None

    # --- files -------------------------------------------------------------------------------------------------------
    def evaluator_path(self, name: str) -> Path:
        return self.folder / "evaluators" / f"{name}.safetensors"

    def is_whole(self, path: Path) -> bool:
        """Return True if the evaluator is there and can be used."""
        try:
            load_evaluator(path, self.game)
        except EvaluatorError:
            return False
        return True

    def records(self, generation: int) -> Path:
        return self.folder / f"generation-{generation}"

    def dataset(self, generations: list[int]) -> Dataset | None:
        """Return the records of these generations; None if there are none."""
        folders = [self.records(g) for g in generations]
        return Dataset(folders, game=self.game) if folders and all(f.exists() for f in folders) else None

    def keep(self, evaluator: FeatureEval, name: str) -> None:
        """Save the evaluator under another name, unless it is there."""
        path = self.evaluator_path(name)
        try:
            there = weights_mark(load_evaluator(path, self.game)) == weights_mark(evaluator)
        except EvaluatorError:
            there = False
        if not there:
            renamed = copy(evaluator)
            renamed.metadata = {**evaluator.metadata, "name": name}
            save(renamed, path)

    # --- matches -----------------------------------------------------------------------------------------------------
    def limits(self, depth: int | None) -> Limits:
        """Return limits of this depth, or of the one that suits the game."""
        return default_limits(self.game) if depth is None else Limits(depth=depth)

    def agent(self, evaluator: Evaluator, limits: Limits) -> SearchAgent:
        """Return the evaluator as a player of the run's matches."""
        return SearchAgent(self.game, evaluator, limits, name=f"{evaluator.name}@{limits}")

    def match(self, a: Agent, b: Agent, pairs: int, title: str, *, kind: str = "match", seed: int | None = None) -> Row:
        """Play A against B; return a row of the ladder, from A's side. kind: what the step's name begins with."""
        key = file_name(f"{kind}-{a.name}-{b.name}")
        weights = "".join(weights_mark(getattr(agent, "evaluator", None)) for agent in (a, b))
        folder = self.folder / "matches" / f"{key}{weights.replace(' #', '-')}"  # where a match that was killed goes on

        def work(move: Move) -> dict[str, Any]:
            config = MatchSettings(
                pairs=pairs, opening_plies=self.game.opening_plies, seed=self.seed if seed is None else seed
            )
            found = play_match(
                self.game, a, b, config, workers=self.workers, folder=folder,
                on_progress=lambda tally: move(tally.sets, tally.of),
            )  # fmt: skip
            return Row.of(found).to_json()

        row = self.once(key, title, work, lambda found: has_shape(found, ROW))
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # unless other matches wait there
        return Row(**{k: row[k] for k in ROW})


def learn_command(game: Game, recipe: Recipe, seed: int, chosen: Mapping[str, Any]) -> str:
    """Return the command that makes a run, with all that was given or chosen."""
    words = [] if recipe.name == "linear" else [f"--recipe={recipe.source}"]
    words.append(f"--seed={seed}")
    words += [f"--{key}={value}" for key, value in recipe.given.items() if "." not in key]
    named = {recipe.dotted(key): value for key, value in chosen.items()}
    for key, value in {**{k: v for k, v in recipe.given.items() if "." in k}, **named}.items():
        words += ["--set", f"{key}={value}"]
    return shlex.join(["evallearn", "learn", spec_of(game), *words])


def check_learnable(game: Game, recipe: Recipe) -> None:
    """Refuse what cannot be learned, before anything is played."""
    from evallearn.train.selfplay.trainer import check_training

    models = [stage.model.kind for stage in recipe.stages if isinstance(stage, SelfPlay)]
    if "linear" in models:
        require_searching(game, "use --recipe linear")
    if models != ["patterns"] * len(recipe.stages):
        LinearEval.zero(game)  # refuses a game without features
        feature_hash(game)  # refuses features that are no numbers
    for stage in recipe.stages:
        if isinstance(stage, SelfPlay):
            check_training(stage.model.build(game, None, 1), stage.learning)


def read_run(folder: Path) -> dict[str, Any] | None:
    """Read run.json, or return None if there is none. Raises DataError where it is damaged."""
    path = folder / RUN
    if not path.exists():
        return None
    return read_checked(
        path, "delete it, and the command of this run, with all its numbers, writes it again and goes on"
    )
