"""The four verbs of a recipe: generate, fit, selfplay, gate.

candidate    the newest evaluator
previous     who plays next: the candidate, or after a gate whoever won it; at first nobody, which `zero` stands for
promoted     the gate's match has made it sure enough that the candidate is better (Gate.promote_above)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from evallearn.agents import SearchAgent, parse_evaluator
from evallearn.core.evaluator import Evaluator
from evallearn.core.json_shapes import has_shape
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.data import RecordSettings, generate_records, read_manifest
from evallearn.errors import Diverged, SpecError
from evallearn.evaluators import FeatureEval, load_evaluator, save
from evallearn.evaluators.net import NetEval
from evallearn.runs.curve import Recorder, events_of
from evallearn.runs.fitting import Move, fit_evaluator
from evallearn.runs.ladder import Reference
from evallearn.runs.models import as_net
from evallearn.runs.result import Curve, Generation
from evallearn.runs.run import Run
from evallearn.runs.stage_settings import Fit, Gate, Generate, SelfPlay, Stage
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import Training

GENERATED = {"games": int, "records": int, "generator": str}
FITTED = {"metrics": {"log_loss": (float, None), "baseline_log_loss": (float, None)}}
"""What a step of fitting leaves at least."""
TAUGHT = {"games": int, "records": int, "error": float, "generator": str}
SHARDS = 64
"""Files of records in a generation, at least, where the game has no compiled rules."""


@dataclass
class Course:
    """How far a run has come."""

    run: Run
    reference: Reference | None = None
    previous: Evaluator | None = None
    number: int = -1
    """Of the generation that is under way: one for each stage that plays, and one for each time that a loop is run."""
    records: list[int] = field(default_factory=list)
    """Generations whose games were kept."""
    taught: list[int] = field(default_factory=list)
    """Those of them that the last fit has learned from."""
    learned: dict[str, FeatureEval] = field(default_factory=dict)
    """By their kind: what the run has made of each."""
    names: list[str] = field(default_factory=list)
    """Of all evaluators that it has made."""
    facts: dict[str, Any] = field(default_factory=dict)
    """About the generation that is under way."""
    fits: dict[str, dict[str, Any]] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)
    generations: list[Generation] = field(default_factory=list)
    games: int = 0
    positions: int = 0
    """Records, and moves that taught without one."""
    stopped: str | None = None


def run_stages(course: Course) -> None:
    """Run all stages of the recipe, and keep the newest evaluator of each kind by its name alone."""
    loops = [*course.run.recipe.loops()]
    gated = {_kind(stage) for block, gate in loops if gate for _, stage in block}
    last = {
        kind: number for number, stage in enumerate(course.run.recipe.stages) if (kind := _kind(stage)) not in gated
    }
    for block, gate in loops:
        if gate is not None:
            evolve(course, [stage for _, stage in block], gate)
            continue
        for number, stage in block:
            if isinstance(stage, Generate | SelfPlay):
                course.number, course.facts = course.number + 1, {}
            run_stage(course, stage, is_last=last.get(_kind(stage)) == number)
    for kind, evaluator in course.learned.items():
        if evaluator.name != kind:
            course.run.keep(evaluator, kind)


def run_stage(course: Course, stage: Stage, *, is_last: bool = False) -> None:
    """Run one stage; what it makes is the previous one for those that follow.

    is_last: nothing later makes an evaluator of this kind, so its name has no number.
    """
    if isinstance(stage, Generate):
        course.number += course.number in course.records
        generate(course, stage)
        return
    while (name := f"{_kind(stage)}-{course.number}") in course.names and not is_last:
        course.number += 1
    course.names.append(name)
    made = learned_by(course, stage, _kind(stage) if is_last else name)
    course.learned[_kind(stage)] = course.previous = made


def learned_by(course: Course, stage: Stage, name: str) -> FeatureEval:
    """Return the evaluator that a stage makes."""
    if isinstance(stage, Fit):
        return fit(course, stage, name)
    assert isinstance(stage, SelfPlay)
    return selfplay(course, stage, name)


def _kind(stage: Stage) -> str:
    """Return what the evaluator of a stage is called; empty for a stage that makes none."""
    return stage.kind if isinstance(stage, Fit) else stage.model.kind if isinstance(stage, SelfPlay) else ""


# --- generation after generation -------------------------------------------------------------------------------------
def evolve(course: Course, block: list[Stage], gate: Gate) -> None:
    """Run the stages again and again; at the end the evaluator that nobody replaced is the previous one."""
    run, since = course.run, len(course.generations)
    kind = next(_kind(stage) for stage in reversed(block) if _kind(stage))
    champion, fitted = course.previous, course.fits.get(kind)
    while len(course.generations) - since < gate.generations:
        course.number, course.facts, course.previous = course.number + 1, {}, champion
        for stage in block:
            run_stage(course, stage)
        candidate = course.learned[kind]
        row = play_gate(run, gate, course.number, candidate, champion or parse_evaluator("zero", run.game))
        strength: dict[str, Any] = {}
        if course.reference is not None:
            met = course.reference.meet(run, candidate)
            strength = {"elo": met.elo, "low": met.low, "high": met.high}
        # There must be something to keep, so the first one takes the place of no knowledge in any case.
        promoted = champion is None or row.los > gate.promote_above
        course.generations.append(
            Generation(generation=course.number, promoted=promoted, gate=row, **course.facts, **strength)
        )
        if promoted:
            champion, fitted = candidate, course.fits.get(kind)
        if idle(course.generations[since:]) >= gate.patience:
            break
    course.previous, course.stopped = champion, early_end(course.generations[since:], gate)
    if isinstance(champion, FeatureEval):
        course.learned[kind] = champion
    if fitted is not None:
        course.fits[kind] = fitted


def play_gate(run: Run, gate: Gate, number: int, candidate: Evaluator, incumbent: Evaluator) -> Any:
    """Play the match that decides.

    Its openings are drawn for this generation alone: a candidate that is lucky with some openings keeps no
    advantage in the next gate, nor in the ladder, whose openings are others.
    """
    limits = run.limits(gate.depth)
    title = f"gate {number}: {candidate.name} - {incumbent.name}"
    a, b = run.agent(candidate, limits), run.agent(incumbent, limits)
    return run.match(a, b, gate.pairs, title, kind=f"gate-{number}", seed=run.seed * 1000 + 1 + number)


def idle(generations: list[Generation]) -> int:
    """Count the generations in a row, up to the last, that brought nothing."""
    return len(list(takewhile(lambda g: not g.promoted, reversed(generations))))


def early_end(generations: list[Generation], gate: Gate) -> str | None:
    """Say why there are fewer generations than were asked for."""
    if len(generations) == gate.generations:
        return None
    return f"stopped after {len(generations)} generations: {idle(generations)} in a row brought no better evaluator"


# --- generate, fit ---------------------------------------------------------------------------------------------------
def generate(course: Course, stage: Generate) -> None:
    """Play games, all by the same evaluator, and keep a record of each ply."""
    run, number = course.run, course.number
    evaluator = named(course, stage.player) or parse_evaluator("zero", run.game)
    nodes = stage.nodes is not None
    limits = Limits(depth=stage.depth, nodes=stage.nodes) if nodes else run.limits(stage.depth)
    settings = RecordSettings(
        games=stage.games,
        seed=stage.seed(run.seed, number),
        opening_plies=run.game.opening_plies if stage.opening_plies is None else stage.opening_plies,
        epsilon=stage.epsilon,
        quiet=stage.quiet,
        games_per_shard=games_per_shard(run, stage),
    )
    agent, folder = SearchAgent(run.game, evaluator, limits, random_ties=True), run.records(number)

    def work(move: Move) -> dict[str, Any]:
        manifest = generate_records(
            folder, run.game, [agent] * run.game.n_players, settings, workers=run.workers,
            on_progress=lambda done, total, records: move(done, total),
        )  # fmt: skip
        return {"games": manifest.games, "records": manifest.records, "checksum": manifest.checksum,
                "generator": agent.name}  # fmt: skip

    def whole(found: dict[str, Any]) -> bool:
        manifest = read_manifest(folder)
        return has_shape(found, GENERATED) and manifest is not None and manifest.checksum == found.get("checksum")

    found = run.once(f"generate-{number}", f"generate {number} ({agent.name})", work, whole)
    course.records.append(number)
    course.facts |= {k: found[k] for k in ("games", "records", "checksum", "generator")}
    course.games, course.positions = course.games + found["games"], course.positions + found["records"]


def games_per_shard(run: Run, stage: Generate) -> int:
    """Return how many games a kill may lose: few where a game takes seconds, without compiled rules."""
    usual = RecordSettings.games_per_shard
    return usual if run.game.rules is not None else max(1, min(usual, stage.games // SHARDS))


def fit(course: Course, stage: Fit, name: str) -> FeatureEval:
    """Learn an evaluator from the records.

    The first games, by nobody who knows anything, teach the next evaluator too, and are then left behind.
    """
    run, records, path = course.run, course.records, course.run.evaluator_path(name)
    course.taught = records[1:] or records if stage.generations is None else records[-stage.generations :]
    dataset = run.dataset(course.taught)
    assert dataset is not None

    def work(move: Move) -> dict[str, Any]:
        evaluator, details = fit_evaluator(
            stage.method, dataset, run.game, seed=run.seed, on_progress=move, target=stage.target,
            outcome_share=stage.outcome_share, alpha=stage.penalty, tapered=stage.tapered,
            metadata={"name": name, "command": run.command},
        )  # fmt: skip
        save(evaluator, path)
        return {**details, "file": str(path)}

    found = run.once(f"fit-{name}", f"fit {name}", work, lambda f: has_shape(f, FITTED) and run.is_whole(path))
    course.fits[stage.kind] = found
    course.facts |= {k: found["metrics"][k] for k in FITTED["metrics"]}
    return load_evaluator(path, run.game)


# --- selfplay --------------------------------------------------------------------------------------------------------
def selfplay(course: Course, stage: SelfPlay, name: str) -> FeatureEval:
    """Play games from which a model learns at once."""
    run, number, path = course.run, course.number, course.run.evaluator_path(name)
    seed = stage.seed(run.seed, number)
    learning = SelfPlaySettings(**{**vars(stage.learning), "seed": seed})
    start = named(course, stage.start or "")
    folder = run.folder / f"selfplay-{number}"
    opponent, called = rival(course, stage)
    recorder = Recorder(run.game, folder, opponent, stage.pairs, seed, stage.games, run.on_point)
    metadata = {"name": name, "command": run.command, "seed": run.seed}

    def write(training: Training) -> None:
        evaluator = training.freeze(metadata)
        save(evaluator.halved() if stage.halved and isinstance(evaluator, NetEval) else evaluator, path)

    def work(move: Move) -> dict[str, Any]:
        checkpoint = folder / "checkpoint.safetensors"
        trainer = trainer_of(course, stage, learning, start)
        recorder.events = events_of(folder / "events") if run.tensorboard else None
        recorder.read(checkpoint.exists())
        left = None if stage.minutes is None else max(1.0, 60 * stage.minutes - recorder.spent)

        def progress(now: Any) -> None:
            move(now.games, stage.games or 0)
            recorder.look(trainer.training)

        folder.mkdir(parents=True, exist_ok=True)
        try:
            training = trainer.fit(games=stage.games, seconds=left, checkpoint=checkpoint, on_progress=progress)
        except Diverged as error:
            if error.training.games:  # what was learned until then is worth keeping
                write(error.training)
            raise
        recorder.look(training, at_end=True)
        write(training)
        checkpoint.unlink(missing_ok=True)
        return {"games": training.games, "records": training.moves, "error": training.progress.error,
                "generator": start.name if start else "nothing"}  # fmt: skip

    def whole(found: dict[str, Any]) -> bool:
        return has_shape(found, TAUGHT) and run.is_whole(path)

    found = run.once(f"selfplay-{name}", f"self-play {name}", work, whole)
    recorder.read(goes_on=True)
    course.curves[name] = Curve(opponent=called, points=recorder.points)
    course.facts |= {k: found[k] for k in ("games", "records", "generator")}
    course.games, course.positions = course.games + found["games"], course.positions + found["records"]
    return load_evaluator(path, run.game)


def trainer_of(course: Course, stage: SelfPlay, learning: SelfPlaySettings, start: Evaluator | None) -> SelfPlayTrainer:
    """Return the trainer of the stage's model. Raises EvaluatorError for an evaluator that does not fit it."""
    model = stage.model.build(course.run.game, start, learning.seed)
    teacher = as_net(named(course, stage.teacher or ""), "teacher")
    return SelfPlayTrainer(model, learning, teacher=teacher, threads=course.run.workers)


def rival(course: Course, stage: SelfPlay) -> tuple[Evaluator | None, str]:
    """Return the opponent of quick matches, and its name: as given, or the first heuristic that is compiled."""
    game = course.run.game
    if not stage.pairs:
        return None, ""
    if stage.opponent is not None:
        found = named(course, stage.opponent)
        if found is None or found.kernel() is None:
            raise SpecError(
                f"opponent {stage.opponent} has no compiled backend: quick matches need one; choose another, and play "
                f"it "
                "in `evallearn match` afterwards"
            )
        return found, stage.opponent
    for name in (f"handwritten:{heuristic}" for heuristic in game.heuristics):
        if (found := parse_evaluator(name, game)).kernel() is not None:
            return found, name
    return None, ""


def named(course: Course, text: str) -> Evaluator | None:
    """Return the evaluator that a setting names; None for none, and where there is no previous one."""
    if text in ("", "previous"):
        return course.previous if text else None
    return parse_evaluator(text, course.run.game, trust=FULL_TRUST)
