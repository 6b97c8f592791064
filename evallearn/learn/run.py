"""A run: its configuration, its folder, and its steps, each of which leaves its result there.

A step whose result is there is not done again: a run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from evallearn.agents import Agent, SearchAgent, default_limits
from evallearn.arena import MatchConfig, MatchResult, play_match
from evallearn.arena.journal import weights_mark
from evallearn.atomic import file_name, write_json
from evallearn.data import Dataset, SelfPlayConfig, read_manifest, run_selfplay
from evallearn.errors import DataError, EvaluatorError, unknown
from evallearn.evaluators import FeatureEval, LinearEval, feature_hash, load_evaluator, save_evaluator
from evallearn.learn.fitting import Move, fit_evaluator
from evallearn.protocols import Evaluator, Game, Limits
from evallearn.registry import spec_of
from evallearn.search.common import MAX_DEPTH
from evallearn.settings import PAIRS, SEED, SHARE, STEP, check_ranges, number, whole
from evallearn.train.online import require_online
from evallearn.train.targets import ONLINE_TARGETS, check_target
from evallearn.train.td import TdSettings

RATES = ("constant", "decay", "coherence")
Step = Callable[[str], AbstractContextManager[Move]]
"""step(title): shown to the person who waits."""


@contextmanager
def silent(title: str) -> Iterator[Move]:
    """A Step that shows nothing."""
    yield lambda done, total: None


@dataclass(frozen=True)
class LearnConfig:
    """What a run does. It is stored in the run's folder: another configuration needs another folder."""

    seed: int = 1
    """The same seed gives the same records, Evals and matches (but for those at equal time)."""
    generations: int = 3
    """Rounds of self-play, at most; the first plays without knowledge, each later one with the best Eval so far."""
    patience: int = 3
    """So many generations in a row without a better Eval end the run early."""
    gate: float = 0.95
    """How sure a match must make it that a candidate is better than the incumbent, for it to take its place."""
    target: str = "outcome"
    """What a position should be worth: see train/targets.py."""
    blend: float = 0.5
    """With target blend: the share of the outcome."""
    trace: float = 0.7
    """With td and tdleaf: lambda, how far what happens later reaches back."""
    rate: str = "decay"
    """Of an Eval that learns while it plays: whether its steps are `constant`, shrink to nothing in the course of a
    generation (`decay`), or shrink and also differ by weight (`coherence`)."""
    alpha: float | None = None
    """Which part of an error such a step takes away; None: what suits the target."""
    games: int = 12000
    """Games of self-play in each generation."""
    depth: int | None = None
    """Plies that self-play looks ahead; None: what suits the game, 4 for alpha-beta, 1 with dice."""
    exploration: float = 0.02
    """Share of random actions in self-play."""
    random_plies: int | None = None
    """Random plies that open each game; None: what suits the game."""
    match_depth: int | None = None
    """Plies that both sides of a match look ahead; None: what suits the game."""
    match_pairs: int = 1000
    """Openings of each match of the ladder; each is played twice, with seats swapped."""
    match_milliseconds: float = 2.0
    """Time per move of the matches at equal time."""

    RANGES: ClassVar = {
        "seed": SEED, "generations": whole(1, 1000), "patience": whole(1, 1000), "gate": number(at_least=0.5, below=1),
        "blend": SHARE, "trace": TdSettings.RANGES["lambda_"], "alpha": STEP, "games": whole(100, 10**9),
        "depth": whole(1, MAX_DEPTH), "exploration": SHARE, "random_plies": SelfPlayConfig.RANGES["random_plies"],
        "match_depth": whole(1, MAX_DEPTH), "match_pairs": PAIRS, "match_milliseconds": number(above=0, at_most=1e9),
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)
        check_target(self.target, self.blend)
        if self.rate not in RATES:
            raise unknown("rate", self.rate, RATES)


@dataclass
class Run:
    """A folder in which the steps of one run leave their results."""

    game: Game
    folder: Path
    config: LearnConfig
    workers: int = 1
    step: Step = silent

    @property
    def command(self) -> str:
        """What makes this run again, in another folder."""
        changed = [(f.name, getattr(self.config, f.name)) for f in fields(self.config)]
        options = [f"--{n.replace('_', '-')}={v}" for n, v in changed if n == "seed" or v != getattr(LearnConfig, n)]
        return shlex.join(["evallearn", "learn", spec_of(self.game), *options])

    def open(self) -> None:
        """Create the folder, or make sure that it holds this very run."""
        if self.config.target in ONLINE_TARGETS:
            require_online(self.game)
        feature_hash(self.game)  # refuses features that are no numbers, before anything is played
        wanted = {"game": self.game.name, "game_version": self.game.version, **asdict(self.config)}
        path = self.folder / "run.json"
        if path.exists():
            found = read_object(path)
            if found is None:
                raise DataError(f"{path} is damaged: remove the folder {self.folder}, or choose another --run")
            for key, value in wanted.items():
                if found.get(key) != value:
                    raise DataError(
                        f"{self.folder} holds a run with {key}={found.get(key)!r}, you asked for {value!r}: "
                        "choose another --run, or remove the folder"
                    )
        elif (self.folder / "steps").exists():
            raise DataError(f"{self.folder} holds steps of a run but no run.json: remove it, or choose another --run")
        else:
            write_json(path, wanted)

    def once(
        self,
        name: str,
        title: str,
        work: Callable[[Move], dict[str, Any]],
        whole: Callable[[dict[str, Any]], bool] = lambda found: True,
    ) -> dict[str, Any]:
        """The result of `work`, computed now or found from before, with the seconds it took.

        A result from before counts only if it can be read and what the step made is still there: `whole(result)`.
        """
        path = self.folder / "steps" / f"{name}.json"
        found = read_object(path)
        if found is not None and "seconds" in found and whole(found):
            return found
        start = perf_counter()
        with self.step(title) as move:
            result = work(move)
        result["seconds"] = perf_counter() - start
        write_json(path, result)
        return result

    # --- the steps ---------------------------------------------------------------------------------------------------
    def candidate(self, generation: int, incumbent: Evaluator) -> tuple[FeatureEval, dict[str, Any]]:
        """What a generation learns, starting from the incumbent; and what is told about it."""
        if self.config.target in ONLINE_TARGETS:
            return self.teach(generation, incumbent)
        played = self.selfplay(generation, incumbent)
        evaluator, fitted = self.fit(f"linear-{generation}", self.kept(generation), "logistic")
        losses = {k: fitted["metrics"][k] for k in ("log_loss", "baseline_log_loss")}
        return evaluator, {**{k: v for k, v in played.items() if k != "seconds"}, **losses}

    def teach(self, generation: int, incumbent: Evaluator) -> tuple[FeatureEval, dict[str, Any]]:
        """Games in which the Eval learns while it plays; its steps shrink to nothing at the end of the generation."""
        from evallearn.train.online_trainer import OnlineTrainer

        config, name = self.config, f"linear-{generation}"
        path, resume = self.evaluator_path(name), self.folder / f"{name}.resume"
        assert isinstance(incumbent, LinearEval)
        trainer = OnlineTrainer(
            config.target, depth=self.limits(config.depth).depth or 1, alpha=config.alpha, lambda_=config.trace,
            epsilon=config.exploration,
            horizon=0 if config.rate == "constant" else config.games, coherence=config.rate == "coherence",
            opening_plies=config.random_plies, seed=config.seed * 1000 + generation, start=incumbent,
        )  # fmt: skip

        def work(move: Move) -> dict[str, Any]:
            trainer.fit(
                self.game, games=config.games, checkpoint=resume, on_progress=lambda now: move(now.games, config.games)
            )
            save_evaluator(trainer.evaluator({"name": name, "command": self.command, "seed": config.seed}), path)
            # Each move is a position that taught, as a record is; only that nobody wrote it down.
            return {"games": trainer.games_, "records": trainer.moves_, "nodes": trainer.nodes_,
                    "error": trainer.progress_.error, "generator": incumbent.name}  # fmt: skip

        title = f"{config.target} {generation} (from {incumbent.name})"
        facts = self.once(f"teach-{generation}", title, work, lambda found: self.is_whole(path))
        resume.unlink(missing_ok=True)
        return load_evaluator(path, self.game), {k: v for k, v in facts.items() if k != "seconds"}

    def evaluator_path(self, name: str) -> Path:
        return self.folder / "evaluators" / f"{name}.safetensors"

    def is_whole(self, path: Path) -> bool:
        """True if the Eval is there and can be used."""
        try:
            load_evaluator(path, self.game)
        except EvaluatorError:
            return False
        return True

    def kept(self, generation: int) -> list[int]:
        """The generations whose records teach this one, itself included.

        The first one knows nothing: its games teach the next one, and are then left behind.
        """
        return list(range(min(generation, 1), generation + 1))

    def dataset(self, generation: int) -> Dataset | None:
        """The records that teach this generation; None if it learns without any."""
        folders = [self.records(g) for g in self.kept(generation)]
        return Dataset(folders, game=self.game) if all(f.exists() for f in folders) else None

    def selfplay(self, generation: int, evaluator: Evaluator) -> dict[str, Any]:
        """One generation of games, all by the same Eval."""
        config = self.config
        settings = SelfPlayConfig(
            games=config.games,
            seed=config.seed * 1000 + generation,
            random_plies=self.opening_plies,
            exploration=config.exploration,
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
            return manifest is not None and manifest.checksum == found.get("checksum")

        return self.once(f"selfplay-{generation}", f"self-play {generation} ({agent.name})", work, whole)

    def records(self, generation: int) -> Path:
        return self.folder / f"generation-{generation}"

    def limits(self, depth: int | None) -> Limits:
        """This depth, or the one that suits the game."""
        return default_limits(self.game) if depth is None else Limits(depth=depth)

    @property
    def match_limits(self) -> Limits:
        """Of both sides of a match at equal depth."""
        return self.limits(self.config.match_depth)

    @property
    def opening_plies(self) -> int:
        return self.game.opening_plies if self.config.random_plies is None else self.config.random_plies

    def fit(self, name: str, generations: list[int], made_by: str) -> tuple[FeatureEval, dict[str, Any]]:
        """Learn the Eval `name` from these generations' records."""
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

        details = self.once(f"fit-{name}", f"fit {name}", work, lambda f: "metrics" in f and self.is_whole(path))
        return load_evaluator(path, self.game), details

    def keep(self, evaluator: FeatureEval, name: str) -> None:
        """Save the Eval under another name, unless it is there."""
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
        """A against B; a row of the ladder, from A's side. kind: what the step's name begins with."""
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

        row = self.once(key, title, work)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # unless other matches wait there
        return row


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in the file, or None if there is none."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def ladder_row(found: MatchResult) -> dict[str, Any]:
    """What the ladder says about a match, from A's side."""
    elo = found.elo
    return {
        "name": found.names[0].partition("@")[0], "opponent": found.names[1].partition("@")[0],
        "limit": found.names[0].partition("@")[2],
        "elo": elo.elo, "low": elo.low, "high": elo.high, "los": elo.los, "score": found.score,
        "games": found.games, "distinct_games": found.distinct_games,
        "wins": found.wins, "draws": found.draws, "losses": found.losses,
        "nodes_per_move": list(found.nodes_per_move), "seconds_per_move": list(found.seconds_per_move),
    }  # fmt: skip


def reversed_row(row: dict[str, Any]) -> dict[str, Any]:
    """The same match, told from the other side."""
    return {
        **row,
        "name": row["opponent"], "opponent": row["name"], "score": 1 - row["score"], "los": 1 - row["los"],
        "elo": -row["elo"], "low": -row["high"], "high": -row["low"], "wins": row["losses"], "losses": row["wins"],
        "nodes_per_move": row["nodes_per_move"][::-1], "seconds_per_move": row["seconds_per_move"][::-1],
    }  # fmt: skip
