"""Stages in which a model learns while it plays: files, curve, page, resumption, and what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from evallearn import get_game
from evallearn.cli import run
from evallearn.core.checksum import with_checksum
from evallearn.evaluators import LinearEval, PatternEval, heuristic, load_evaluator, save
from evallearn.games.othello import Othello
from evallearn.report import render
from evallearn.runs import Recipe, Run
from evallearn.runs.curve import Recorder
from evallearn.runs.learning import finish
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer

TTT = get_game("tic_tac_toe")
OWN = """
help = "A linear evaluator that learns while it plays, and one that goes on."
[[stage]]
verb = "selfplay"
games = 40
pairs = 4
depth = 1
[[stage]]
verb = "selfplay"
start = "previous"
games = 8
pairs = 0
depth = 1
"""


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What it says of an error, in a line."""
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return " ".join(error.split())


def learn(folder: Path, *more: str) -> int:
    path = folder / "own.toml"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(OWN)
    return run(["learn", "tic_tac_toe", f"--recipe={path}", f"--run={folder / 'run'}", "--workers=1", *more])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    made = tmp_path_factory.mktemp("selfplay")
    assert learn(made) == 0
    return made


# --- a run -----------------------------------------------------------------------------------------------------------
def test_a_run_leaves_evaluators_curves_and_a_page(folder):
    assert {p.name for p in (folder / "run").iterdir()} == {
        ".lock", "run.json", "result.json", "report.html", "steps", "evaluators", "selfplay-0", "selfplay-1",
    }  # fmt: skip
    assert {p.name for p in (folder / "run/evaluators").iterdir()} == {"linear-0.safetensors", "linear.safetensors"}
    result = json.loads((folder / "run/result.json").read_text())
    points = result["curves"]["linear-0"]["points"]
    games = [point["games"] for point in points]
    assert (games[-1], games) == (40, sorted(set(games)))
    assert points[0]["last"] is None
    assert all(point["last"]["games"] == point["fixed"]["games"] == 8 for point in points[1:])
    assert result["curves"]["linear-0"]["opponent"] == "handwritten:squares"
    assert result["curves"]["linear"]["points"][-1]["fixed"] is None
    assert (result["games"], result["ladder"], result["generations"]) == (48, [], [])
    first, last = (load_evaluator(folder / f"run/evaluators/{x}.safetensors", TTT) for x in ("linear-0", "linear"))
    assert (first.metadata["games"], last.metadata["games"], last.metadata["method"]) == (40, 8, "treestrap")
    assert first.tensors()["weights"].tobytes() != last.tensors()["weights"].tobytes()


def test_the_page_shows_the_curves(folder):
    page = (folder / "run/report.html").read_text()
    for words in ("Games against itself", "Strength", "Progress", "Loss", "After 8 games against itself linear was"):
        assert words in page


def test_headlines_of_curves():
    point = {"games": 5000, "moves": 9, "seconds": 3.0, "loss": 0.5, "games_per_second": 4.0}
    for points, said in ((0.5, "net beats &lt;b&gt;"), (-0.5, "net loses to"), (0.001, "net is as good as")):
        met = {"points": points, "standard_error": 0.01, "games": 8}
        curves = {"net": {"opponent": "<b>", "points": [{**point, "fixed": met, "last": None}]}}
        page = render({"game": "pig", "seed": 1, "run": "r", "curves": curves})
        assert f"After 5,000 games against itself {said}" in page


def test_a_rerun_does_nothing_and_other_settings_are_refused(folder, capsys):
    before = {p: p.read_bytes() for p in (folder / "run/evaluators").iterdir()}
    assert learn(folder) == 0
    assert "the opponent is handwritten:squares" in capsys.readouterr().out
    assert {p: p.read_bytes() for p in before} == before
    assert learn(folder, "--set", "1.epsilon=0.5") == 2
    assert "holds a run with 1.epsilon=None, you asked for 0.5: choose another --run" in told(capsys)


def test_what_was_stopped_goes_on_with_curve_and_weights(folder, tmp_path, monkeypatch):
    def stop(self: Recorder, training: Any) -> None:
        measure(self, training)
        if training.games >= 15:
            raise KeyboardInterrupt

    measure = Recorder._measure
    monkeypatch.setattr(Recorder, "_measure", stop)
    assert learn(tmp_path) == 130
    assert (tmp_path / "run/selfplay-0/checkpoint.safetensors").exists()
    monkeypatch.setattr(Recorder, "_measure", measure)
    assert learn(tmp_path) == 0
    for name in ("linear-0", "linear"):
        found = [load_evaluator(f / f"run/evaluators/{name}.safetensors", TTT).tensors() for f in (folder, tmp_path)]
        assert found[0]["weights"].tobytes() == found[1]["weights"].tobytes()
    curve = json.loads((tmp_path / "run/selfplay-0/curve.json").read_text())["curve"]
    assert [p["games"] for p in curve] == sorted({p["games"] for p in curve})
    assert not (tmp_path / "run/selfplay-0/checkpoint.safetensors").exists()


def test_without_a_checkpoint_the_curve_begins_anew(tmp_path):
    (tmp_path / "last.safetensors").write_bytes(b"damaged")
    (tmp_path / "curve.json").write_text("{")
    recorder = Recorder(TTT, tmp_path, None, 2, 1, 8)
    recorder.read(goes_on=False)
    assert (recorder.points, list(tmp_path.iterdir())) == ([], [])


def test_minutes_end_a_stage_too(tmp_path):
    recipe = Recipe.load("online", TTT, {"minutes": 0.0001, "gate.generations": 1, "gate.pairs": 2, "ladder.pairs": 0})
    result = finish(Run(TTT, tmp_path, recipe))
    assert result.games > 0
    assert result.generations[0].elo is None


# --- pattern tables --------------------------------------------------------------------------------------------------
def test_tables_are_those_of_the_trainer(tmp_path):
    game = Othello()
    given = {"games": 30, "selfplay.model.patterns": "straight-3", "selfplay.pairs": 0}
    result = finish(Run(game, tmp_path, Recipe.load("patterns", game, given), 7))
    settings = SelfPlaySettings(schedule=Schedule(shape="linear", games=30), seed=7)
    wanted = SelfPlayTrainer(PatternModel(game, "straight-3"), settings).fit(games=30).evaluator
    found = load_evaluator(result.files["patterns"], game)
    assert isinstance(found, PatternEval)
    assert isinstance(wanted, PatternEval)
    assert found.tables.tobytes() == wanted.tables.tobytes()
    assert (
        found.metadata["command"]
        == result.command
        == (
            "evallearn learn othello --recipe=patterns --seed=7 --games=30 --set "
            "selfplay.model.patterns=straight-3 --set selfplay.pairs=0"
        )
    )


def test_what_was_learned_before_it_diverged_is_kept(tmp_path, capsys):
    words = ["games=400", "model.patterns=straight-3", "schedule.initial=3e5", "pairs=0"]
    arguments = ["learn", "othello", "--recipe=patterns", f"--run={tmp_path}", *(f"--set=selfplay.{w}" for w in words)]
    assert run(arguments) == 2
    assert "lower it" in told(capsys)
    file = tmp_path / "evaluators/patterns.safetensors"
    assert not file.exists() or load_evaluator(file, Othello()).metadata["games"] > 0


# --- nets ------------------------------------------------------------------------------------------------------------
def test_a_net_teaches_a_larger_one_which_goes_on(tmp_path):
    small = {f"{i}.{key}": 20 for i in range(7) for key in ("games", "rounds.games")}
    small |= {f"{i}.pairs": 0 for i in range(7)} | {"5.model.hidden": "auto"}
    nets = {"0.model.hidden": 8, "1.model.hidden": [16, 8], "1.model.activation": "sigmoid"}
    recipe = Recipe.load("td-gammon", TTT, small | nets)
    result = finish(Run(TTT, tmp_path, recipe))
    found = [load_evaluator(tmp_path / f"evaluators/net-{i}.safetensors", TTT) for i in range(6)]
    found.append(load_evaluator(result.files["net"], TTT))
    assert [net.hidden for net in found] == [(8,), *[(16, 8)] * 6]
    assert [net.activation for net in found] == ["relu", *["sigmoid"] * 6]
    assert [net.metadata["method"] for net in found] == ["td", *["expectation"] * 6]
    assert result.games >= 140
    whole = tmp_path / "evaluators/net-5.safetensors"
    assert Path(result.files["net"]).stat().st_size < whole.stat().st_size  # numbers of two bytes


# --- TensorBoard -----------------------------------------------------------------------------------------------------
def test_tensorboard_that_is_not_installed_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert learn(tmp_path, "--tensorboard") == 2
    said = "--tensorboard needs the package tensorboard, which is not installed: pip install tensorboard"
    assert said in told(capsys)


def test_events_hold_every_point_of_the_curve(tmp_path):
    class Events:
        def __init__(self) -> None:
            self.seen: list[tuple[str, float, int]] = []

        def add_scalar(self, tag: str, value: float, step: int) -> None:
            self.seen.append((tag, value, step))

        def flush(self) -> None: ...

    evaluator = heuristic(TTT, "lines")
    recorder = Recorder(TTT, tmp_path, evaluator, 4, 1, 16, events=Events())
    recorder.read(goes_on=False)
    for games in (8, 16):
        recorder.look(Trained(games, evaluator))
    tags = [tag for tag, *_ in recorder.events.seen]
    assert tags.count("points_per_game/fixed") == tags.count("loss") == 2
    assert tags.count("points_per_game/last") == 1  # at first there is no last measurement
    assert recorder.points[1].last.points == 0.0


class Trained:
    """A training as far as a recorder asks."""

    def __init__(self, games: int, evaluator: LinearEval) -> None:
        from evallearn.train.training import Progress

        self.progress, self.evaluator, self.games = Progress(games, 9 * games, 1.0, 8.0, 72.0, 0.5), evaluator, games


# --- what it refuses -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("0.opponent=handwritten:liens", "did you mean"),
        ("0.start=nowhere.safetensors", "no evaluator file nowhere.safetensors"),
        ("0.model.kind=patterns", "tic_tac_toe declares no pattern sets"),
        ("0.model.features=liens", "unknown feature of tic_tac_toe 'liens'"),
        ("0.target=expect", "unknown target 'expect'"),
    ],
)
def test_bad_settings_end_with_2(words, said, tmp_path, capsys):
    assert learn(tmp_path, "--set", words) == 2
    assert said in told(capsys)
    assert not list(tmp_path.glob("run/selfplay-0/checkpoint*"))


def test_evaluators_that_do_not_fit_the_model_end_with_2(tmp_path, capsys):
    for field in ("start", "teacher"):
        words = [
            "learn",
            "tic_tac_toe",
            "--recipe=net",
            f"--run={tmp_path / field}",
            f"--set=selfplay.{field}=zoo:linear",
        ]
        assert run(words) == 2
        said = f"{field}: linear is a linear evaluator: give a net that `evallearn learn --recipe net` made"
        assert said in told(capsys)
    game = get_game("connect_four")
    file = save(heuristic(game, "lines"), tmp_path / "e.safetensors")
    words = ["learn", "connect_four", "--recipe=patterns", f"--run={tmp_path / 'run'}", f"--set=selfplay.start={file}"]
    assert run([*words, "--set=selfplay.pairs=0"]) == 2
    assert "is a linear evaluator: tables begin with nothing; leave it out" in told(capsys)


def test_opponents_without_compiled_backend_end_with_2(tmp_path, capsys):
    pytest.importorskip("gnubg_nn")
    words = ["learn", "backgammon,features=tesauro", "--recipe=net", f"--run={tmp_path}"]
    assert run([*words, "--set=selfplay.opponent=gnubg:0"]) == 2
    assert "opponent gnubg:0 has no compiled backend: quick matches need one; choose another" in told(capsys)


DAMAGED = {
    "{": "is damaged (it is not JSON)",
    "{}": "is damaged (it has no checksum, as files of earlier versions)",
    json.dumps(with_checksum({"curve": 3})): "holds what is no learning curve",
    json.dumps(with_checksum({"curve": [1]})): "holds what is no learning curve",
    json.dumps(with_checksum({"curve": [{"games": 1}]})): "holds what is no learning curve",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_curve_is_told_and_begins_anew_without_losing_what_was_learned(text, folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "run/selfplay-0/curve.json"
    path.write_text(text)
    assert learn(tmp_path) == 2
    assert f"curve.json {DAMAGED[text]}: delete it: the learning goes on, and its curve begins anew" in told(capsys)
    path.unlink()  # the remedy
    assert learn(tmp_path) == 0


def test_a_damaged_model_of_the_last_measurement_is_told(folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "run/selfplay-0/last.safetensors").write_bytes(b"damaged")
    assert learn(tmp_path) == 2
    assert "or delete it: the next model is then compared with none" in told(capsys)
    (tmp_path / "run/selfplay-0/last.safetensors").unlink()  # the remedy
    assert learn(tmp_path) == 0
