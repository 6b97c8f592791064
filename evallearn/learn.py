"""The whole loop: self-play -> records -> fit -> match, generation after generation, then the ladder.

Each step leaves its result in the run's folder, and a step whose result is there is not done again: a run that was
stopped goes on where it stopped.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evallearn import __version__
from evallearn.agents import Agent, RandomAgent, SearchAgent, parse_evaluator
from evallearn.arena import play_match
from evallearn.atomic import write_json
from evallearn.data import Dataset, SelfPlayConfig, run_selfplay
from evallearn.errors import DataError, SpecError
from evallearn.evaluators import FeatureEval, load_evaluator, save_evaluator
from evallearn.protocols import Evaluator, Game, Limits
from evallearn.train import measure, predictor
from evallearn.workers import keep_workers

Move = Callable[[int, int], None]
"""move(done, total): how far a step has come."""
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
    """Rounds of self-play; the first plays without knowledge, each later one with the Eval of the round before."""
    games: int = 12000
    """Games of self-play in each generation."""
    depth: int = 4
    """Plies that self-play looks ahead."""
    exploration: float = 0.02
    """Share of random actions in self-play."""
    random_plies: int | None = None
    """Random plies that open each game; None: what suits the game."""
    match_depth: int = 4
    """Plies that both sides of a match look ahead."""
    match_pairs: int = 1000
    """Openings of each match of the ladder; each is played twice, with seats swapped."""
    match_milliseconds: float = 2.0
    """Time per move of the matches at equal time."""

    def __post_init__(self) -> None:
        whole = {"generations": 1, "games": 10, "depth": 1, "match_depth": 1, "match_pairs": 1, "seed": 0}
        for name, least in whole.items():
            if getattr(self, name) < least:
                raise SpecError(f"{name}={getattr(self, name)}: give a whole number of {least} or more")
        if self.match_milliseconds <= 0:
            raise SpecError(f"match_milliseconds={self.match_milliseconds}: give a number above 0")


@dataclass
class Run:
    """A folder in which the steps of one run leave their results."""

    game: Game
    folder: Path
    config: LearnConfig
    workers: int = 1
    step: Step = silent

    def open(self) -> None:
        """Create the folder, or make sure that it holds this very run."""
        wanted = {"game": self.game.name, "game_version": self.game.version, **asdict(self.config)}
        path = self.folder / "run.json"
        if path.exists():
            try:
                found = json.loads(path.read_text())
            except ValueError:
                raise DataError(
                    f"{path} is damaged: remove the folder {self.folder}, or choose another --run"
                ) from None
            for key, value in wanted.items():
                if found.get(key) != value:
                    raise DataError(
                        f"{self.folder} holds a run with {key}={found.get(key)!r}, you asked for {value!r}: "
                        "choose another --run, or remove the folder"
                    )
        else:
            write_json(path, wanted)

    def once(self, name: str, title: str, work: Callable[[Move], dict[str, Any]]) -> dict[str, Any]:
        """The result of `work`, computed now or found from before, with the seconds it took."""
        path = self.folder / "steps" / f"{name}.json"
        if path.exists():
            try:
                return dict(json.loads(path.read_text()))
            except ValueError:
                path.unlink()  # half-written by another program: the step is simply done again
        start = perf_counter()
        with self.step(title) as move:
            result = work(move)
        result["seconds"] = perf_counter() - start
        write_json(path, result)
        return result

    # --- the steps ---------------------------------------------------------------------------------------------------
    def selfplay(self, generation: int, evaluator: Evaluator) -> dict[str, Any]:
        """One generation of games, all by the same Eval."""
        config = self.config
        settings = SelfPlayConfig(
            games=config.games,
            seed=config.seed * 1000 + generation,
            random_plies=self.opening_plies,
            exploration=config.exploration,
        )
        agent = SearchAgent(self.game, evaluator, Limits(depth=config.depth), random_ties=True)

        def work(move: Move) -> dict[str, Any]:
            manifest = run_selfplay(
                self.records(generation), self.game, [agent, agent], settings, workers=self.workers,
                on_progress=lambda done, total, records: move(done, total),
            )  # fmt: skip
            return {"games": manifest.games, "records": manifest.records, "checksum": manifest.checksum,
                    "generator": agent.name}  # fmt: skip

        return self.once(f"selfplay-{generation}", f"self-play {generation} ({agent.name})", work)

    def records(self, generation: int) -> Path:
        return self.folder / f"generation-{generation}"

    @property
    def opening_plies(self) -> int:
        return self.game.opening_plies if self.config.random_plies is None else self.config.random_plies

    def fit(self, name: str, generations: list[int], made_by: str) -> tuple[FeatureEval, dict[str, Any]]:
        """Learn the Eval `name` from these generations' records."""
        path = self.folder / "evaluators" / f"{name}.safetensors"

        def work(move: Move) -> dict[str, Any]:
            dataset = Dataset([self.records(g) for g in generations], game=self.game)
            evaluator, details = fit_evaluator(
                made_by, dataset, self.game, seed=self.config.seed, on_progress=move,
                made={"name": name, "command": f"evallearn learn {self.game.name} --seed {self.config.seed}"},
            )  # fmt: skip
            save_evaluator(evaluator, path)
            return {**details, "file": str(path)}

        details = self.once(f"fit-{name}", f"fit {name}", work)
        return load_evaluator(path, self.game), details

    def match(self, a: Agent, b: Agent, pairs: int, title: str) -> dict[str, Any]:
        """A against B; a row of the ladder, from A's side."""

        def work(move: Move) -> dict[str, Any]:
            found = play_match(
                self.game, a, b, pairs=pairs, random_plies=self.opening_plies, seed=self.config.seed,
                workers=self.workers, on_progress=move,
            )  # fmt: skip
            return ladder_row(found)

        key = f"match-{a.name}-{b.name}".replace("/", "_").replace(":", "_")
        return self.once(key, title, work)


def ladder_row(found: Any) -> dict[str, Any]:
    """What the ladder says about a match, from A's side."""
    elo = found.elo
    return {
        "name": found.names[0].partition("@")[0], "opponent": found.names[1].partition("@")[0],
        "limit": found.names[0].partition("@")[2],
        "elo": elo.elo, "low": elo.low, "high": elo.high, "score": found.score,
        "games": found.games, "distinct_games": found.distinct_games,
        "wins": found.wins, "draws": found.draws, "losses": found.losses,
        "nodes_per_move": list(found.nodes_per_move), "seconds_per_move": list(found.seconds_per_move),
    }  # fmt: skip


def reversed_row(row: dict[str, Any]) -> dict[str, Any]:
    """The same match, told from the other side."""
    return {
        **row,
        "name": row["opponent"], "opponent": row["name"], "score": 1 - row["score"],
        "elo": -row["elo"], "low": -row["high"], "high": -row["low"], "wins": row["losses"], "losses": row["wins"],
        "nodes_per_move": row["nodes_per_move"][::-1], "seconds_per_move": row["seconds_per_move"][::-1],
    }  # fmt: skip


def fit_evaluator(
    method: str,
    dataset: Dataset,
    game: Game,
    *,
    seed: int,
    made: dict[str, Any],
    on_progress: Move = lambda done, total: None,
) -> tuple[FeatureEval, dict[str, Any]]:
    """Learn by `method` (ridge, logistic or mlp) and measure on the games that were held out."""
    evaluator: FeatureEval
    details: dict[str, Any] = {}
    if method == "mlp":
        from evallearn.train import MlpTrainer

        net = MlpTrainer(seed=seed).fit(dataset, on_epoch=lambda epoch, of, train, test: on_progress(epoch, of))
        evaluator = net.evaluator(game, made)
        details["history"] = net.history_
    else:
        from evallearn.train import LinearEvalTrainer

        evaluator = LinearEvalTrainer(method=method).fit(dataset).evaluator(game, made)
    metrics = measure(predictor(evaluator), dataset).to_json()
    summary = ("log_loss", "baseline_log_loss", "brier", "sign_accuracy", "calibration_error", "n_records")
    evaluator.made |= {"seed": seed, "method": method, "metrics": {k: metrics[k] for k in summary}}
    return evaluator, {**details, "metrics": metrics}


def learn(run: Run) -> dict[str, Any]:
    """Do all of it; returns (and writes as result.json) what the report shows."""
    with keep_workers():
        return _learn(run)


def _learn(run: Run) -> dict[str, Any]:
    run.open()
    game, config = run.game, run.config
    depth = Limits(depth=config.match_depth)
    reference, rows = find_reference(run, depth)
    rival = reference.name.partition("@")[0]
    evaluator: Evaluator = parse_evaluator("zero", game)
    generations, last = [], config.generations - 1
    for generation in range(config.generations):
        played = run.selfplay(generation, evaluator)
        name = "linear" if generation == last else f"linear-{generation}"
        # The first generation knows nothing: its games teach the next one, and are then left behind.
        evaluator, fitted = run.fit(name, list(range(min(generation, 1), generation + 1)), "logistic")
        row = run.match(
            SearchAgent(game, evaluator, depth, name=f"{name}@{depth}"), reference, config.match_pairs,
            f"match {name} - {rival}",
        )  # fmt: skip
        losses = {k: fitted["metrics"][k] for k in ("log_loss", "baseline_log_loss")}
        curve = {k: row[k] for k in ("elo", "low", "high")}
        generations.append(
            {"generation": generation, **{k: v for k, v in played.items() if k != "seconds"}, **curve, **losses}
        )
        if generation == last:
            rows.append(row)
    neural, _ = run.fit("neural", list(range(min(last, 1), last + 1)), "mlp")
    rows.append(
        run.match(SearchAgent(game, neural, depth, name=f"neural@{depth}"), reference, config.match_pairs,
                  f"match neural - {rival}")
    )  # fmt: skip
    timed = equal_time(run, {"linear": evaluator, "neural": neural}, reference)
    result = summarise(run, rival, rows, timed, generations)
    write_json(run.folder / "result.json", result)
    return result


def find_reference(run: Run, limits: Limits) -> tuple[SearchAgent, list[dict[str, Any]]]:
    """The best hand-written heuristic, by matches among them; and the ladder's rows of the others and of random."""
    game = run.game
    names = [f"handwritten:{h}" for h in game.heuristics] or ["zero"]
    agents = {n: SearchAgent(game, parse_evaluator(n, game), limits, name=f"{n}@{limits}") for n in names}
    best = names[0]

    def row(a: str, b: str) -> dict[str, Any]:
        return run.match(agents[a], agents[b], run.config.match_pairs, f"match {a} - {b}")

    for name in names[1:]:
        if row(best, name)["score"] < 0.5:
            best = name
    rows = [run.match(RandomAgent(game), agents[best], max(1, run.config.match_pairs // 5), f"match random - {best}")]
    for name in names:
        if name != best:
            later = names.index(name) > names.index(best)
            rows.append(reversed_row(row(best, name)) if later else row(name, best))
    rows.append({"name": best, "elo": 0.0, "low": 0.0, "high": 0.0, "score": 0.5, "games": 0, "distinct_games": 0,
                 "wins": 0, "draws": 0, "losses": 0, "limit": str(limits)})  # fmt: skip
    return agents[best], rows


def equal_time(run: Run, learned: dict[str, Evaluator], reference: SearchAgent) -> list[dict[str, Any]]:
    """The learned Evals against the reference with the same time for each move."""
    limits = Limits(seconds=run.config.match_milliseconds / 1000)
    name = reference.name.partition("@")[0]
    opponent = SearchAgent(run.game, reference.evaluator, limits, name=f"{name}@{limits}")
    pairs = max(1, run.config.match_pairs // 5)
    return [
        run.match(
            SearchAgent(run.game, e, limits, name=f"{n}@{limits}"), opponent, pairs, f"match {n} - {name}, equal time"
        )
        for n, e in learned.items()
    ]


def summarise(
    run: Run, reference: str, rows: list[dict[str, Any]], timed: list[dict[str, Any]], generations: list[dict[str, Any]]
) -> dict[str, Any]:
    """The result of the run, in plain JSON types."""
    steps = {p.stem: json.loads(p.read_text()) for p in sorted((run.folder / "steps").glob("*.json"))}
    last = run.config.generations - 1
    dataset = Dataset([run.records(g) for g in range(min(last, 1), last + 1)], game=run.game)
    linear = load_evaluator(run.folder / "evaluators" / "linear.safetensors", run.game)
    by_hand = parse_evaluator(reference, run.game)
    assert isinstance(by_hand, FeatureEval)
    fits = {name: steps[f"fit-{name}"] for name in ("linear", "neural")}
    fits[reference] = {"metrics": measure(predictor(by_hand), dataset).to_json()}
    files = {name: str(run.folder / "evaluators" / f"{name}.safetensors") for name in ("linear", "neural")}
    files |= {"result": str(run.folder / "result.json"), "report": str(run.folder / "report.html")}
    tensors = linear.tensors()
    return {
        "evallearn": __version__,
        "game": run.game.name,
        "run": str(run.folder),
        "seed": run.config.seed,
        "command": shlex.join(["evallearn", "learn", run.game.name, "--seed", str(run.config.seed)]),
        "settings": {**asdict(run.config), "random_plies": run.opening_plies},
        "records": sum(g["records"] for g in generations),
        "seconds": {name: step["seconds"] for name, step in steps.items()},
        "files": files,
        "reference": reference,
        "ladder": sorted(rows, key=lambda r: r["elo"]),
        "equal_time": timed,
        "generations": generations,
        "fits": fits,
        "weights": {
            "features": list(run.game.feature_names),
            "weights": tensors["weights"].tolist(),
            "bias": tensors["bias"].tolist(),
            "spread": feature_spread(dataset),
        },
    }


def feature_spread(dataset: Dataset) -> list[float]:
    """The standard deviation of each feature in the records."""
    n, total, squares = 0, np.zeros(dataset.n_features), np.zeros(dataset.n_features)
    for batch in dataset.batches("train"):
        x = batch.features.astype(np.float64)
        n, total, squares = n + len(x), total + x.sum(axis=0), squares + (x**2).sum(axis=0)
    return np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0)).tolist()  # type: ignore[no-any-return]
