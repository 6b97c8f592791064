"""Every kind of file that the program reads: how a small one is made, what is read of it, how one is forged."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forgery import forge_bearoff, forge_checkpoint, forge_evaluator, forge_json, forge_sets, forge_shard
from mutants import Kind
from nets import random_net
from rich.console import Console
from toys import LINES, Takeaway

from evallearn.agents import RandomAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.formats import read_games, write_games
from evallearn.arena.match import kept_games
from evallearn.arena.openings import openings, read_openings
from evallearn.arena.quick_match import QuickMatch
from evallearn.cli import zoo as zoo_command
from evallearn.cli.info import folder_info
from evallearn.compiled.kept import CheckedFile
from evallearn.core.checksum import write_checked
from evallearn.core.digest import json_digest
from evallearn.core.files import write_json
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.evaluators import LinearEval, heuristic, load_evaluator, read_card, save
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.patterns import PatternEval
from evallearn.evaluators.quantised import quantise
from evallearn.games.backgammon import bearoff
from evallearn.games.checkers import table as checkers_table
from evallearn.play import Session, load_game, save_game
from evallearn.quality import make_suite, read_suite, write_suite
from evallearn.registry import get_game
from evallearn.runs import Recipe, Run
from evallearn.runs.curve import Point, Recorder
from evallearn.train.models.linear import LinearModel
from evallearn.train.models.net import NetModel
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.settings import Rounds, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer

TTT, C4 = get_game("tic_tac_toe"), get_game("connect_four")


# --- matches ---------------------------------------------------------------------------------------------------------
def match_in(folder: Path, game: Game) -> dict[str, Any]:
    """The figures of a match of six sets, played or gone on with; without the times."""
    two = RandomAgent(game), RandomAgent(game, "other")
    found = play_match(game, *two, MatchSettings(pairs=6, opening_plies=1, seed=2), folder=folder, keep_games=True)
    return {k: v for k, v in found.to_json().items() if not k.startswith("seconds")}


def match_kind(name: str, file: str, game: Game) -> Kind:
    def make(folder: Path) -> Path:
        match_in(folder, game)
        return folder / file

    forge = forge_sets if file == "sets.jsonl" else forge_json
    return Kind(name, make, lambda file: match_in(file.parent, game), promised=True, forge=forge)


def replay_kind() -> Kind:
    """Games that were cut off at the end are missing, as if they had not been played yet; no other may have changed."""
    kind = match_kind("sets.jsonl, replay", "sets.jsonl", TTT)
    return replace(
        kind,
        read=lambda file: [str(record.to_json()) for record in kept_games(file.parent, TTT)],
        fits=lambda first, found: set(found) <= set(first),
    )


# --- runs ------------------------------------------------------------------------------------------------------------
SMALL = Recipe.load("linear", TTT, {"games": 100})


def run_json(folder: Path) -> Path:
    Run(TTT, folder, SMALL).open()
    return folder / "run.json"


def step(file: Path) -> Any:
    """A step of a run: read, or done again, which gives the same."""
    two = RandomAgent(TTT), RandomAgent(TTT, "other")
    row = Run(TTT, file.parents[1], SMALL).match(*two, 2, "match")
    return {key: value for key, value in row.reversed().to_json().items() if not key.startswith("seconds")}


def forge_step(file: Path, rng: random.Random) -> None:
    forge_json(file, rng, json_digest(Run(TTT, file.parents[1], SMALL).terms))


def step_json(folder: Path) -> Path:
    run_json(folder)
    file = folder / "steps" / "match-random-other.json"
    step(file)
    return file


def result_json(folder: Path) -> Path:
    data = {"game": "x", "seconds": {"a": 1.5}, "ladder": [{"name": "linear", "elo": 54.25, "wins": 3}], "stop": None}
    write_checked(folder / "result.json", data)
    return folder / "result.json"


def recorder(folder: Path) -> Recorder:
    return Recorder(TTT, folder, None, pairs=2, seed=1, games=100)


def curve_json(folder: Path) -> Path:
    curve, met = recorder(folder), QuickMatch(0.25, 0.125, 1000)
    for games in (40, 80, 120):
        curve.points.append(
            Point(games=games, moves=9 * games, seconds=games / 8, loss=0.5, games_per_second=8.0, last=met)
        )
    curve.write()
    return folder / "curve.json"


def curve_of(file: Path) -> Any:
    curve = recorder(file.parent)
    curve.read(goes_on=True)
    return curve.points


# --- checkpoints -----------------------------------------------------------------------------------------------------
@cache
def learner(kind: str) -> Any:
    """One for all mutants: kernels are compiled or loaded once."""
    if kind == "patterns":
        return SelfPlayTrainer(PatternModel(C4, LINES), SelfPlaySettings(max_opening_plies=4)).learner
    if kind == "team":
        return SelfPlayTrainer(PatternModel(C4, LINES), SelfPlaySettings(learners=2, merge_every=10)).learner
    if kind == "search":
        model = LinearModel(C4, temporal_coherence=True)
        return SelfPlayTrainer(model, SelfPlaySettings(max_opening_plies=4)).learner
    settings = SelfPlaySettings(rounds=Rounds(games=20, replay=2), epsilon=0.1)
    it: Any = SelfPlayTrainer(NetModel(TTT, hidden=(8,)), settings).learner
    it.limit = 60
    return it


def checkpoint_kind(kind: str) -> Kind:
    def make(folder: Path) -> Path:
        it = learner(kind)
        it.learn(20)
        it.save(folder / "x.resume")
        return folder / "x.resume"

    def read(file: Path) -> Any:
        """Everything that was restored, as it would be saved."""
        it = learner(kind)
        it.restore(file)
        it.save(file.with_name("again"))
        return file.with_name("again").read_bytes()

    return Kind(f"checkpoint, {kind}", make, read, promised=True, forge=forge_checkpoint)


# --- Evaluators and tables -------------------------------------------------------------------------------------------
def clipped() -> LinearEval:
    evaluator = heuristic(TTT, "lines")
    return LinearEval(TTT, evaluator.weights, evaluator.bias, squash="clip")


def random_patterns() -> PatternEval:
    rng, layout = np.random.default_rng(5), Layout.of(C4, LINES)
    return PatternEval.from_weights(layout, rng.normal(size=(layout.n_groups, layout.entries)))


EVALS = {
    "linear": lambda: heuristic(TTT, "lines"),
    "linear, clipped": clipped,
    "net": lambda: random_net(TTT),
    "net of two layers": lambda: random_net(TTT, (8, 8)),
    "net of half bytes": lambda: random_net(TTT).halved(),
    "quantised": lambda: quantise(random_net(TTT)),
    "patterns": random_patterns,
}


def evaluator_kind(name: str) -> Kind:
    def make(folder: Path) -> Path:
        return save(EVALS[name](), folder / "e.safetensors")  # type: ignore[no-untyped-call]

    def read(file: Path) -> Any:
        evaluator = load_evaluator(file, C4 if name == "patterns" else TTT)
        value = evaluator.evaluate(evaluator.game.initial(), 0)
        return value, {k: (t.dtype.str, t.shape, t.tobytes()) for k, t in evaluator.tensors().items()}

    return Kind(f"evaluator, {name}", make, read, promised=True, forge=forge_evaluator)


def checkers_file(folder: Path) -> Path:
    codes = np.random.default_rng(1).integers(0, 3, checkers_table.offsets(2)[checkers_table.NOTHING]).astype(np.uint8)
    table = checkers_table.EndgameTable(2, checkers_table.pack(codes))
    return checkers_table.save_table(table, folder / "checkers-2.table")


SHAPES = {"two": (20, 20), "home": (30, 5), "first": (10, 5)}
"""Of bear-off tables that are read quickly."""


def bearoff_file(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    parts = {name: rng.random(shape, np.float32) for name, shape in SHAPES.items()}
    return bearoff.save(bearoff.Bearoff(**parts), folder / "backgammon.table")


def bearoff_of(file: Path) -> Any:
    table = bearoff.load(file)
    return [getattr(table, name).tobytes() for name in SHAPES]


def card_file(folder: Path) -> Path:
    shown = json.loads((ZOO / "connect_four" / "linear.json").read_text())
    save(LinearEval.zero(C4), folder / "connect_four" / "mine.safetensors")
    write_json(folder / "connect_four" / "mine.json", shown | {"name": "mine"})
    return folder / "connect_four" / "mine.json"


ZOO = Path(zoo_command.__file__).parents[1] / "zoo"


def card_of(file: Path) -> Any:
    """The card, and what the command shows of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: file.parents[1])
        patch.setattr(zoo_command, "out", Console(quiet=True))
        card = read_card("connect_four/mine")
        zoo_command.show(card)
        zoo_command.out.print(zoo_command.overview([card]))
        return card


# --- records ---------------------------------------------------------------------------------------------------------
CONFIG = RecordSettings(games=8, games_per_shard=4, seed=3, opening_plies=1)


def records_in(folder: Path) -> Any:
    return generate_records(folder, TTT, [RandomAgent(TTT)] * 2, CONFIG)


def records_kind(name: str, file: str, *, manifest: bool = True, again: bool = False) -> Kind:
    def make(folder: Path) -> Path:
        records_in(folder)
        if not manifest:
            (folder / "manifest.json").unlink()
        return folder / file

    def read(path: Path) -> Any:
        folder = path.parents[0 if path.suffix == ".json" else 1]
        if again:  # the same command once more
            return records_in(folder).to_json()
        data = Dataset([folder], game=TTT)
        return data.n_games, data.n_records, str(data.origin), [str(record) for record in data.records()]

    listed = file == "manifest.json"
    forge = forge_json if listed else forge_shard
    return Kind(name, make, read, promised=True, again=listed, forge=forge)


# --- kernels ---------------------------------------------------------------------------------------------------------
CODE = {"code": bytes(range(256)) * 3, "key": (1, "a")}


def kernel_of(file: Path) -> Any:
    """The machine code that is kept, or what is compiled where that is damaged; and what the next process finds."""
    kept = CheckedFile(str(file.parent), "kernel", 7)
    if (found := kept.load("signature")) is None:
        kept.save("signature", CODE)
        found = kept.load("signature")
    return found, CheckedFile(str(file.parent), "kernel", 7).load("signature")


def kernel_kind(suffix: str) -> Kind:
    def make(folder: Path) -> Path:
        CheckedFile(str(folder), "kernel", 7).save("signature", CODE)
        return folder / f"kernel.{suffix}"

    return Kind(f"kernel, {suffix}", make, kernel_of, promised=True, again=True)


# --- what people write -----------------------------------------------------------------------------------------------
def games_kind(suffix: str, game: Game) -> Kind:
    def make(folder: Path) -> Path:
        two = RandomAgent(game), RandomAgent(game, "other")
        found = play_match(game, *two, MatchSettings(pairs=2, opening_plies=2, seed=2), keep_games=True)
        cut = [
            replace(r, actions=r.actions[:30], utilities=(0.0, 0.0), end="adjudicated: plies=30") for r in found.records
        ]
        write_games(folder / f"x{suffix}", game, found.records if game is TTT else cut)
        return folder / f"x{suffix}"

    return Kind(f"games, {suffix}", make, lambda file: [r.to_json() for r in read_games(file, game)], promised=False)


def suite_file(folder: Path) -> Path:
    suite = make_suite(TTT, LinearEval.zero(TTT), Limits(depth=2), positions=12)
    write_suite(suite, folder / "suite.jsonl")
    return folder / "suite.jsonl"


def openings_file(folder: Path) -> Path:
    lines = [TTT.to_text(opening.state) for opening in openings(TTT, 12, 2, 1)]
    (folder / "openings.txt").write_text("# mine\n" + "\n".join(lines) + "\n")
    return folder / "openings.txt"


def saved_file(folder: Path) -> Path:
    session = Session(TTT, (None, RandomAgent(TTT)), seed=5)
    for _ in range(4):
        if session.step() is None:
            session.play(TTT.actions(session.state)[0])
    save_game(session, folder / "saved.json")
    return folder / "saved.json"


def saved_of(file: Path) -> Any:
    session = load_game(file, TTT, lambda text, trust: RandomAgent(TTT, text))
    return session.state, session.seed, session.number, len(session.plies)


# --- all of them -----------------------------------------------------------------------------------------------------
KINDS = [
    match_kind("sets.jsonl", "sets.jsonl", TTT),
    match_kind("sets.jsonl, moves as text", "sets.jsonl", Takeaway()),
    replay_kind(),
    match_kind("match.json", "match.json", TTT),
    Kind("run.json", run_json, lambda file: Run(TTT, file.parent, SMALL).open(), promised=True, forge=forge_json),
    Kind("steps/*.json", step_json, step, promised=True, again=True, forge=forge_step),
    Kind("result.json", result_json, lambda file: folder_info(file.parent, None), promised=True, forge=forge_json),
    Kind("curve.json", curve_json, curve_of, promised=True, forge=forge_json),
    *(checkpoint_kind(kind) for kind in ("patterns", "team", "search", "net")),
    *(evaluator_kind(name) for name in EVALS),
    Kind("table, checkers", checkers_file, lambda f: checkers_table.load_table(f).packed.tobytes(), promised=True),
    Kind("table, backgammon", bearoff_file, bearoff_of, promised=True, forge=forge_bearoff),
    Kind("card of the zoo", card_file, card_of, promised=False),
    records_kind("manifest.json", "manifest.json"),
    records_kind("manifest.json, selfplay", "manifest.json", again=True),
    records_kind("shard", "records/shard-000000.parquet"),
    records_kind("shard, no manifest", "records/shard-000000.parquet", manifest=False),
    records_kind("shard, selfplay", "records/shard-000000.parquet", again=True),
    *(kernel_kind(suffix) for suffix in ("nbi", "1.nbc")),
    *(games_kind(suffix, TTT) for suffix in (".jsonl", ".json", ".txt")),
    games_kind(".pgn", get_game("chess")),
    games_kind(".pdn", get_game("checkers")),
    Kind("suite", suite_file, lambda file: [str(item) for item in read_suite(file, TTT).items], promised=False),
    Kind("openings", openings_file, lambda file: read_openings(file, TTT), promised=False),
    Kind("saved game", saved_file, saved_of, promised=False),
]


# --- and who reads them ----------------------------------------------------------------------------------------------
READERS: dict[str, str | tuple[str, ...]] = {
    "data/dataset.py": ("shard",),
    "data/manifest.py": ("manifest.json", "manifest.json, selfplay"),
    "data/shards.py": ("shard", "shard, no manifest", "shard, selfplay"),
    "evallearn/agents/cmd.py": "no file: what a program answers, see tests/agents",
    "evallearn/arena/formats.py": tuple(f"games, {suffix}" for suffix in (".jsonl", ".json", ".txt", ".pgn", ".pdn")),
    "evallearn/arena/journal.py": ("match.json", "sets.jsonl", "sets.jsonl, moves as text", "sets.jsonl, replay"),
    "evallearn/arena/openings.py": ("openings",),
    "evallearn/report/template.py": "no file of a stranger: what is shipped with it",
    "evallearn/core/checksum.py": ("sets.jsonl", "steps/*.json"),
    "evallearn/cli/info.py": ("result.json",),
    "evallearn/compiled/bindings.py": "our own source: the names that a template declares",
    "evallearn/compiled/fingerprint.py": "our own source: the key of a kernel, not a value",
    "evallearn/compiled/kept.py": ("kernel, nbi", "kernel, 1.nbc"),
    "evallearn/compiled/specialise.py": "asks whether the index of a kernel is there, for a message",
    "evallearn/core/digest.py": "what the others parse with",
    "evallearn/evaluators/files.py": tuple(f"evaluator, {name}" for name in EVALS),
    "evallearn/evaluators/zoo.py": ("card of the zoo",),
    "evallearn/runs/run.py": ("run.json", "steps/*.json"),
    "evallearn/runs/curve.py": ("curve.json",),
    "evallearn/runs/recipe.py": "written by people, without a checksum: see tests/runs/test_recipe.py",
    "evallearn/quality/card.py": ("result.json",),
    "evallearn/cli/zoo.py": "the card that it has just written",
    "evallearn/core/locks.py": "the number of a process, for a message: see tests/core/test_locks.py",
    "evallearn/play/saved.py": ("saved game",),
    "evallearn/quality/suite.py": ("suite",),
    "evallearn/core/workers.py": "no file: what our own processes send each other",
    "games/backgammon/bearoff.py": ("table, backgammon",),
    "games/checkers/table.py": ("table, checkers",),
    "train/selfplay/checkpoints.py": tuple(f"checkpoint, {kind}" for kind in ("patterns", "team", "search", "net")),
}
"""{module: the kinds that it reads, or why they are none of these}"""
