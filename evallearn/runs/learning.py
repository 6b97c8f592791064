"""`learn`: a run of a recipe, from its first stage to its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evallearn import __version__
from evallearn.agents import parse_evaluator
from evallearn.core.checksum import write_checked
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.locks import hold_folder
from evallearn.core.workers import keep_workers
from evallearn.data import Dataset
from evallearn.errors import SpecError
from evallearn.evaluators import FeatureEval, LinearEval
from evallearn.registry import get_game
from evallearn.runs.budget import choose
from evallearn.runs.ladder import equal_time, find_alarms, find_reference
from evallearn.runs.recipe import Recipe
from evallearn.runs.result import LearnResult, Row, weights_of
from evallearn.runs.run import Run
from evallearn.runs.stages import Course, run_stages
from evallearn.train import measure, predictor


def learn(
    game: Game | str,
    recipe: str | Path | Recipe = "linear",
    *,
    games: int | None = None,
    minutes: float | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    folder: Path | str | None = None,
    workers: int = 1,
) -> LearnResult:
    """Learn an evaluator by a recipe; the same call resumes what was interrupted.

    Parameters
    ----------
    game : a game, or the name of one.
    recipe : its name, its file, or a recipe that `Recipe.load` made.
    games : of every stage that plays.
    minutes : that the stages share.
    settings : what is to be different, as {"fit.target": "blend"}.
    seed : the same seed gives the same evaluators.
    folder : of the run; None: runs/GAME-seedN, with the name of the recipe unless it is linear.
    workers : processes or threads; the result is the same for any number.

    Returns
    -------
    LearnResult, whose `files` name the evaluators.

    Raises
    ------
    SpecError for what the recipe or the game cannot do, DataError for a folder that another run has, or is using.
    """
    found = get_game(game) if isinstance(game, str) else game
    given = {k: v for k, v in (("games", games), ("minutes", minutes)) if v is not None} | {**(settings or {})}
    if isinstance(recipe, Recipe) and given:
        raise SpecError(f"{', '.join(given)}: a Recipe is settled already; give them to Recipe.load")
    if not isinstance(recipe, Recipe):
        recipe = Recipe.load(recipe, found, given)
    place = Path(folder) if folder is not None else run_folder(found, recipe, seed)
    return finish(suited(Run(found, place, recipe, seed, workers)))


def run_folder(game: Game, recipe: Recipe, seed: int) -> Path:
    """Return the folder of a run for which none was named."""
    of = "" if recipe.name == "linear" else f"{file_name(recipe.name)}-"
    return Path("runs") / f"{file_name(game.name)}-{of}seed{seed}"


def suited(run: Run) -> Run:
    """Return the run with numbers that suit the speed of the game, where they must."""
    recipe, measured = choose(run.game, run.folder, run.recipe, run.seed, run.workers)
    return replace(run, recipe=recipe, measured=measured)


def finish(run: Run) -> LearnResult:
    """Run every step; return (and write as result.json) what the report shows. Raises DataError for a folder in use."""
    with hold_folder(run.folder), keep_workers():
        return _finish(run)


def _finish(run: Run) -> LearnResult:
    run.open()
    ladder = bool(run.recipe.ladder.pairs)
    course = Course(run, find_reference(run) if ladder else None)
    run_stages(course)
    rows, timed = list[Row](), list[Row]()
    if course.reference is not None:
        rows = [*course.reference.rows]
        rows += [replace(course.reference.meet(run, e), name=name) for name, e in course.learned.items()]
        timed = equal_time(run, course.learned, course.reference)
    dataset = run.dataset(course.taught)
    alarms = find_alarms(run, course.learned, dataset)
    result = summarise(course, rows, timed, alarms, dataset)
    write_checked(run.folder / "result.json", result.to_json())
    return result


def summarise(
    course: Course, rows: list[Row], timed: list[Row], alarms: list[dict[str, str]] | None, dataset: Dataset | None
) -> LearnResult:
    """Return the result of the run."""
    run = course.run
    found = {p.stem: run.read_step(p) for p in sorted((run.folder / "steps").glob("*.json"))}
    promoted = [g.generation for g in course.generations if g.promoted]
    linear = course.learned.get("linear")
    return LearnResult(
        evallearn=__version__,
        game=run.game.name,
        recipe=run.recipe.name,
        run=str(run.folder),
        seed=run.seed,
        command=run.command,
        settings=run.recipe.flat(),
        measured=run.measured,
        games=course.games,
        records=course.positions,
        seconds={name: step["seconds"] for name, step in found.items() if step is not None},
        files=files(run, course.learned),
        reference=course.reference.name if course.reference else "",
        ladder=sorted(rows, key=lambda r: r.elo),
        equal_time=timed,
        generations=course.generations,
        champion=max(promoted, default=None),
        stopped=course.stopped,
        curves=course.curves,
        fits=fits(course, dataset),
        weights=weights_of(linear, dataset) if isinstance(linear, LinearEval) else None,
        alarms=alarms,
    )


def files(run: Run, learned: Mapping[str, FeatureEval]) -> dict[str, str]:
    """Return the files that a reader of the run needs."""
    found = {name: str(run.evaluator_path(name)) for name in learned}
    return found | {"result": str(run.folder / "result.json"), "report": str(run.folder / "report.html")}


def fits(course: Course, dataset: Dataset | None) -> dict[str, Any]:
    """Return how well evaluators predict held-out games: those that were fitted, and the reference beside them."""
    found: dict[str, Any] = dict(course.fits)
    if course.reference is not None and dataset is not None:
        by_hand = parse_evaluator(course.reference.name, course.run.game)
        if isinstance(by_hand, FeatureEval):
            found[course.reference.name] = {"metrics": measure(predictor(by_hand), dataset).to_json()}
    return found
