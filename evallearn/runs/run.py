"""A run: its folder and its steps, each of which leaves its result there.

A step whose result is there is not done again: a run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from evallearn.agents import Agent, SearchAgent, default_limits
from evallearn.arena import MatchConfig, play_match
from evallearn.core.checked import read_checked, write_checked
from evallearn.core.digest import json_digest, plain_json, weights_mark
from evallearn.core.evaluator import Evaluator
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.core.shapes import has_shape
from evallearn.data import Dataset, SelfPlayConfig, read_manifest, run_selfplay
from evallearn.errors import DataError, EvaluatorError
from evallearn.evaluators import FeatureEval, LinearEval, feature_hash, load_evaluator, save_evaluator
from evallearn.runs.config import LearnConfig, learn_command
from evallearn.runs.fitting import Move, fit_evaluator
from evallearn.runs.rows import ROW, ladder_row
from evallearn.train.models.linear import require_searching
from evallearn.train.targets import SEARCH_TARGETS

log = logging.getLogger(__name__)
TAUGHT = {"games": int, "records": int, "nodes": int, "error": float, "generator": str}
FITTED = {"metrics": {"log_loss": (float, None), "baseline_log_loss": (float, None)}}
"""What a step of learning while playing, and one of fitting, leaves at least."""
Step = Callable[[str], AbstractContextManager[Move]]
"""step(title): shown to the person who waits."""
RUN = "run.json"
SHARDS = 64
"""Files of records in a generation, at least, where the game has no compiled rules."""


@contextmanager
def silent(title: str) -> Iterator[Move]:
    """Show nothing, as a Step."""
    yield lambda done, total: None


@dataclass
class Run:
    """A folder in which the steps of one run leave their results."""

    game: Game
    folder: Path
    config: LearnConfig
    workers: int = 1
    step: Step = silent
    measured: Mapping[str, Any] | None = None
    """What was measured, and which settings were chosen by it (runs/budget.py)."""

    @property
    def command(self) -> str:
        """What makes this run again, in another folder."""
        return learn_command(self.game, self.config)

    @property
    def terms(self) -> dict[str, Any]:
        """What every step depends on, as run.json holds it."""
        return plain_json({"game": self.game.name, "game_version": self.game.version, **asdict(self.config)})

    def open(self) -> None:
        """Create the folder, or make sure that it holds this very run."""
        check_learnable(self.game, self.config)
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

    # --- the steps ---------------------------------------------------------------------------------------------------
    def candidate(self, generation: int, incumbent: Evaluator) -> tuple[FeatureEval, dict[str, Any]]:
        """Learn a generation's candidate from the incumbent; return it and the facts about it."""
        if self.config.target in SEARCH_TARGETS:
            return self.teach(generation, incumbent)
        played = self.selfplay(generation, incumbent)
        evaluator, fitted = self.fit(f"linear-{generation}", self.kept(generation), "logistic")
        losses = {k: fitted["metrics"][k] for k in ("log_loss", "baseline_log_loss")}
        return evaluator, {**{k: v for k, v in played.items() if k != "seconds"}, **losses}

    def teach(self, generation: int, incumbent: Evaluator) -> tuple[FeatureEval, dict[str, Any]]:
        """Play games in which the evaluator learns; its steps shrink to nothing at the end of the generation."""
        from evallearn.train.models.linear import LinearModel
        from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
        from evallearn.train.selfplay.trainer import SelfPlayTrainer

        config, name = self.config, f"linear-{generation}"
        path, resume = self.evaluator_path(name), self.folder / f"{name}.resume"
        assert isinstance(incumbent, LinearEval)
        shape = "constant" if config.rate == "constant" else "linear"
        settings = SelfPlaySettings(
            target=config.target, depth=self.limits(config.depth).depth or 1, lambda_=config.trace,
            epsilon=config.exploration, max_opening_plies=config.random_plies, seed=config.seed * 1000 + generation,
            schedule=Schedule(initial=config.alpha, shape=shape, games=config.games),
        )  # fmt: skip
        model = LinearModel(self.game, start=incumbent, temporal_coherence=config.rate == "coherence")
        trainer = SelfPlayTrainer(model, settings)

        def work(move: Move) -> dict[str, Any]:
            training = trainer.fit(
                games=config.games, checkpoint=resume, on_progress=lambda now: move(now.games, config.games)
            )
            save_evaluator(training.freeze({"name": name, "command": self.command, "seed": config.seed}), path)
            # Each move is a position that taught, as a record is; only that nobody wrote it down.
            return {"games": training.games, "records": training.moves, "nodes": trainer.learner.nodes,
                    "error": training.progress.error, "generator": incumbent.name}  # fmt: skip

        title = f"{config.target} {generation} (from {incumbent.name})"
        facts = self.once(
            f"teach-{generation}", title, work, lambda found: has_shape(found, TAUGHT) and self.is_whole(path)
        )
        resume.unlink(missing_ok=True)
        return load_evaluator(path, self.game), {k: v for k, v in facts.items() if k != "seconds"}

    def evaluator_path(self, name: str) -> Path:
        return self.folder / "evaluators" / f"{name}.safetensors"

    def is_whole(self, path: Path) -> bool:
        """Return True if the evaluator is there and can be used."""
        try:
            load_evaluator(path, self.game)
        except EvaluatorError:
            return False
        return True

    def kept(self, generation: int) -> list[int]:
        """Return the generations whose records teach this one, itself included.

        The first one knows nothing: its games teach the next one, and are then left behind.
        """
        return list(range(min(generation, 1), generation + 1))

    def dataset(self, generation: int) -> Dataset | None:
        """Return the records that teach this generation; None if it learns without any."""
        folders = [self.records(g) for g in self.kept(generation)]
        return Dataset(folders, game=self.game) if all(f.exists() for f in folders) else None

    def selfplay(self, generation: int, evaluator: Evaluator) -> dict[str, Any]:
        """Play one generation of games, all by the same evaluator."""
        config = self.config
        settings = SelfPlayConfig(
            games=config.games,
            seed=config.seed * 1000 + generation,
            random_plies=self.opening_plies,
            exploration=config.exploration,
            games_per_shard=self.games_per_shard,
        )
        agent = SearchAgent(self.game, evaluator, self.limits(config.depth), random_ties=True)

        def work(move: Move) -> dict[str, Any]:
            manifest = run_selfplay(
                self.records(generation), self.game, [agent] * self.game.n_players, settings, workers=self.workers,
                on_progress=lambda done, total, records: move(done, total),
            )  # fmt: skip
            return {"games": manifest.games, "records": manifest.records, "checksum": manifest.checksum,
                    "generator": agent.name}  # fmt: skip

        def whole(found: dict[str, Any]) -> bool:
            manifest = read_manifest(self.records(generation))
            made = manifest is not None and manifest.checksum == found.get("checksum")
            return made and has_shape(found, {"games": int, "records": int, "generator": str})

        return self.once(f"selfplay-{generation}", f"self-play {generation} ({agent.name})", work, whole)

    @property
    def games_per_shard(self) -> int:
        """How many games a kill may lose: few where a game takes seconds, without compiled rules."""
        usual = SelfPlayConfig.games_per_shard
        return usual if self.game.rules is not None else max(1, min(usual, self.config.games // SHARDS))

    def records(self, generation: int) -> Path:
        return self.folder / f"generation-{generation}"

    def limits(self, depth: int | None) -> Limits:
        """Return limits of this depth, or of the one that suits the game."""
        return default_limits(self.game) if depth is None else Limits(depth=depth)

    @property
    def match_limits(self) -> Limits:
        """Of both sides of a match at equal depth."""
        return self.limits(self.config.match_depth)

    @property
    def opening_plies(self) -> int:
        return self.game.opening_plies if self.config.random_plies is None else self.config.random_plies

    def fit(self, name: str, generations: list[int], made_by: str) -> tuple[FeatureEval, dict[str, Any]]:
        """Learn the evaluator `name` from these generations' records."""
        path = self.evaluator_path(name)
        target = self.config.target if made_by != "mlp" else "outcome"

        def work(move: Move) -> dict[str, Any]:
            dataset = Dataset([self.records(g) for g in generations], game=self.game)
            evaluator, details = fit_evaluator(
                made_by, dataset, self.game, seed=self.config.seed, on_progress=move, target=target,
                blend=self.config.blend, made={"name": name, "command": self.command},
            )  # fmt: skip
            save_evaluator(evaluator, path)
            return {**details, "file": str(path)}

        details = self.once(f"fit-{name}", f"fit {name}", work, lambda f: has_shape(f, FITTED) and self.is_whole(path))
        return load_evaluator(path, self.game), details

    def keep(self, evaluator: FeatureEval, name: str) -> None:
        """Save the evaluator under another name, unless it is there."""
        path = self.evaluator_path(name)
        try:
            there = weights_mark(load_evaluator(path, self.game)) == weights_mark(evaluator)
        except EvaluatorError:
            there = False
        if not there:
            renamed = copy(evaluator)
            renamed.made = {**evaluator.made, "name": name}
            save_evaluator(renamed, path)

    def match(
        self, a: Agent, b: Agent, pairs: int, title: str, *, kind: str = "match", seed: int | None = None
    ) -> dict[str, Any]:
        """Play A against B; return a row of the ladder, from A's side. kind: what the step's name begins with."""
        key = file_name(f"{kind}-{a.name}-{b.name}")
        weights = "".join(weights_mark(getattr(agent, "evaluator", None)) for agent in (a, b))
        folder = self.folder / "matches" / f"{key}{weights.replace(' #', '-')}"  # where a match that was killed goes on

        def work(move: Move) -> dict[str, Any]:
            config = MatchConfig(
                pairs=pairs, random_plies=self.opening_plies, seed=self.config.seed if seed is None else seed
            )
            found = play_match(
                self.game, a, b, config, workers=self.workers, folder=folder,
                on_progress=lambda tally: move(tally.sets, tally.of),
            )  # fmt: skip
            return ladder_row(found)

        row = self.once(key, title, work, lambda found: has_shape(found, ROW))
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # unless other matches wait there
        return row


def check_learnable(game: Game, config: LearnConfig) -> None:
    """Refuse what cannot be learned, before anything is played."""
    if config.target in SEARCH_TARGETS:
        require_searching(game, "use --target outcome")
    LinearEval.zero(game)  # refuses a game without features
    feature_hash(game)  # refuses features that are no numbers


def read_run(folder: Path) -> dict[str, Any] | None:
    """Read run.json, or return None if there is none. Raises DataError where it is damaged."""
    path = folder / RUN
    if not path.exists():
        return None
    return read_checked(
        path, "delete it, and the command of this run, with all its numbers, writes it again and goes on"
    )
