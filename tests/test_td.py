"""evallearn td, as a user meets it: curve, resumption, page, and what it refuses."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from test_report import assert_self_contained

from evallearn.cli import run
from evallearn.core.checked import with_checksum
from evallearn.evaluators import LinearEval, load_evaluator, save_evaluator
from evallearn.evaluators.net import NetEval
from evallearn.registry import get_game
from evallearn.report.curve import render_td
from evallearn.runs.td import TdRun
from evallearn.train.neural import NeuralTrainer

TTT = get_game("tic_tac_toe")
SMALL = ("--hidden", "8", "--games-per-round", "40", "--batch-size", "32", "--pairs", "4", "--threads", "1")


def td(folder: Path, games: int = 48, *more: str) -> int:
    return run(["td", "tic_tac_toe", "--run", str(folder), "--games", str(games), *SMALL, *more])


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What it says of an error, in a line."""
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return " ".join(error.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 48 games."""
    made = tmp_path_factory.mktemp("td") / "run"
    assert td(made) == 0
    return made


# --- a run -----------------------------------------------------------------------------------------------------------
def test_a_run_leaves_net_checkpoint_curve_and_page(folder):
    files = {".lock", "checkpoint.safetensors", "net.safetensors", "last.safetensors", "curve.json", "report.html"}
    assert {p.name for p in folder.iterdir()} == files
    curve = json.loads((folder / "curve.json").read_text())["curve"]
    games = [point["games"] for point in curve]
    assert (games[0], games[-1]) == (8, 48)
    assert games == sorted(set(games))
    assert "last" not in curve[0]
    assert all(point["last"]["games"] == point["fixed"]["games"] == 8 for point in curve[1:])
    assert all(0 < point["loss"] < 1 and point["games_per_second"] > 0 for point in curve)
    assert [p["seconds"] for p in curve] == sorted(p["seconds"] for p in curve)
    net = load_evaluator(folder / "net.safetensors", TTT)
    assert isinstance(net, NetEval)
    assert (net.h1, net.made["games"], net.made["method"]) == (8, 48, "td")
    assert net.made["command"].split()[0] == "evallearn"


def test_json_has_the_figures_and_the_terminal_the_last_point(tmp_path, capsys):
    assert td(tmp_path / "a", 16, "--json", "--opponent", "handwritten:lines") == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["game"], figures["seed"], figures["opponent"]) == ("tic_tac_toe", 1, "handwritten:lines")
    assert figures["settings"]["hidden"] == [8]
    assert figures["curve"][-1]["games"] == 16
    assert td(tmp_path / "a", 16, "--opponent", "handwritten:lines") == 0  # nothing is left to do
    shown = capsys.readouterr().out
    assert "16 games" in shown
    assert "the opponent is handwritten:lines" in shown
    assert "net.safetensors" in shown


def test_a_rerun_goes_on_with_curve_and_net(tmp_path, folder, capsys):
    assert td(tmp_path / "a", 24, "--horizon", "0") == 0
    assert td(tmp_path / "a", 48, "--horizon", "0") == 0
    assert td(tmp_path / "b", 48, "--horizon", "0") == 0
    assert "going on from" in capsys.readouterr().err
    curves = [json.loads((tmp_path / x / "curve.json").read_text())["curve"] for x in "ab"]
    points = [{p["games"]: p["fixed"] for p in curve} for curve in curves]  # when it looks depends on the clock
    assert {24, 48} <= set(points[0])
    assert all(points[0][games] == points[1][games] for games in set(points[0]) & set(points[1]))
    nets = [load_evaluator(tmp_path / x / "net.safetensors", TTT) for x in "ab"]
    assert nets[0].tensors()["w1"].tobytes() == nets[1].tensors()["w1"].tobytes()


def test_without_a_checkpoint_the_curve_begins_anew(tmp_path):
    assert td(tmp_path, 16) == 0
    (tmp_path / "checkpoint.safetensors").unlink()
    assert td(tmp_path, 16, "--seed", "2") == 0
    curve = json.loads((tmp_path / "curve.json").read_text())["curve"]
    assert [p["games"] for p in curve] == sorted({p["games"] for p in curve})
    assert "last" not in curve[0]


def test_it_begins_with_a_net_of_another_run(folder, tmp_path):
    assert td(tmp_path / "b", 8, "--start", str(folder / "net.safetensors"), "--learning-rate", "1e-9") == 0
    first, second = (load_evaluator(path / "net.safetensors", TTT) for path in (folder, tmp_path / "b"))
    assert np.abs(first.tensors()["w1"] - second.tensors()["w1"]).max() < 1e-6


def test_a_net_of_another_run_teaches_a_larger_one(folder, tmp_path):
    assert td(tmp_path / "b", 8, "--teacher", str(folder / "net.safetensors"), "--hidden", "16,8") == 0
    assert load_evaluator(tmp_path / "b" / "net.safetensors", TTT).h2 == 8


def test_minutes_end_a_run_too(tmp_path, capsys):
    assert run(["td", "tic_tac_toe", "--run", str(tmp_path), "--minutes", "0.0001", *SMALL]) == 0
    assert json.loads((tmp_path / "curve.json").read_text())["curve"]


# --- the page --------------------------------------------------------------------------------------------------------
def test_page_shows_curve_settings_and_words(folder):
    page = (folder / "report.html").read_text()
    for words in ("Learning curve", "Strength", "Progress", "Loss", "games per round", "After 48 games against itself"):
        assert words in page
    assert_self_contained(page)


def test_page_of_the_same_figures_is_the_same_and_holds_out_without_them():
    point = {"games": 5000, "moves": 9, "seconds": 3.0, "loss": 0.5, "games_per_second": 4.0, "steps": 2}
    met = {"points": 0.5, "standard_error": 0.01, "games": 8}
    figures = {"game": "pig", "seed": 1, "run": "r", "opponent": "<b>", "curve": [{**point, "fixed": met}]}
    page = render_td(figures)
    assert page == render_td(figures)
    assert "the net beats &lt;b&gt;" in page
    assert_self_contained(page)
    worse = {**figures, "curve": [{**point, "fixed": {**met, "points": -0.5}}]}
    assert "loses to" in render_td(worse)
    even = {**figures, "curve": [{**point, "fixed": {**met, "points": 0.001}}]}
    assert "is as good as" in render_td(even)
    assert "A net after 5,000 games against itself" in render_td({**figures, "curve": [point]})
    assert render_td({})


# --- TensorBoard -----------------------------------------------------------------------------------------------------
def test_tensorboard_that_is_not_installed_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert td(tmp_path, 8, "--tensorboard") == 2
    assert "--tensorboard needs the package tensorboard, which is not installed: pip install tensorboard" in told(
        capsys
    )


def test_tensorboard_gets_event_files(tmp_path):
    pytest.importorskip("tensorboard")
    assert td(tmp_path, 8, "--tensorboard") == 0
    assert list((tmp_path / "events").glob("events.out.*"))


def test_events_hold_every_point_of_the_curve(tmp_path):
    class Events:
        def __init__(self) -> None:
            self.seen: list[tuple[str, float, int]] = []

        def add_scalar(self, tag: str, value: float, step: int) -> None:
            self.seen.append((tag, value, step))

        def flush(self) -> None:
            pass

    trainer = NeuralTrainer(hidden=(8,), games_per_round=40, batch_size=32, threads=1)
    made = TdRun(TTT, tmp_path, trainer, pairs=4, events=Events())
    curve = made.learn(games=16, seconds=None)["curve"]
    assert ("loss", curve[-1]["loss"], 16) in made.events.seen
    assert ("points_per_game/last", curve[-1]["last"]["points"], 16) in made.events.seen
    assert len(made.events.seen) == 4 * len(curve) - 1  # at first there is no last look


# --- what it refuses -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--hidden", "eighty"), "--hidden 'eighty': give the units of one or two layers, as in 80 or 160,32"),
        (("--hidden", "12"), "hidden=(12,): give one or two multiples of 8, 4096 at most, such as 80"),
        (("--hidden", "8,8,8"), "hidden=(8, 8, 8): give"),
        (("--activation", "tanh"), "activation='tanh': give one of relu, clipped, sigmoid"),
        (("--lambda", "2"), "'--lambda': 2.0 is not in the range 0<=x<=1"),
        (("--lambda", "nan"), "'--lambda': 'nan' is no number"),
        (("--exact-from", "2"), "'--exact-from': 2"),
        (("--target", "leaf"), "target='leaf': give one of td, tdleaf, rootstrap, treestrap"),
        (("--depth", "0"), "'--depth': 0 is not in the range 1<=x<=120"),
        (
            ("--target", "tdleaf", "--exact-from", "0.5"),
            "exact_from=0.5: give 1, or td with a",
        ),
        (("--learning-rate", "0"), "'--learning-rate': 0"),
        (("--final-rate", "0"), "'--final-rate': 0"),
        (("--horizon", "-1"), "'--horizon': -1"),
        (("--epsilon", "-1"), "'--epsilon': -1"),
        (("--opening-plies", "-1"), "'--opening-plies': -1"),
        (("--batch-size", "0"), "'--batch-size': 0"),
        (("--epochs", "0"), "'--epochs': 0"),
        (("--games-per-round", "0"), "'--games-per-round': 0"),
        (("--games", "0"), "--games"),
        (("--minutes", "0"), "--minutes"),
        (("--pairs", "1"), "--pairs"),
        (("--seed", "4294967296"), "'--seed': 4294967296 is not in the range 0<=x<=4294967295"),
        (("--opponent", "handwritten:liens"), "did you mean"),
        (("--start", "nowhere.safetensors"), "no evaluator file nowhere.safetensors"),
    ],
    ids=str,
)
def test_bad_options_end_with_2(more, message, tmp_path, capsys):
    assert td(tmp_path / "run", 8, *more) == 2
    assert message in told(capsys)
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_opponents_without_compiled_floor_end_with_2(tmp_path, capsys):
    pytest.importorskip("gnubg_nn")
    words = ["td", "backgammon,features=tesauro", "--run", str(tmp_path), "--games", "8", "--opponent", "gnubg:0"]
    assert run(words) == 2
    assert "opponent gnubg:0 has no compiled floor: quick matches need one; choose another" in told(capsys)


def test_games_that_nets_cannot_learn_end_with_2(tmp_path, capsys):
    assert run(["td", "2048", "--run", str(tmp_path), "--games", "8"]) == 2
    assert "2048 is no two-player zero-sum game with features on the compiled floor" in told(capsys)


def test_searched_targets_of_games_with_dice_end_with_2(tmp_path, capsys):
    assert run(["td", "pig", "--run", str(tmp_path), "--games", "8", "--target", "tdleaf"]) == 2
    assert "pig has no rules with features, seen by the mover" in (words := told(capsys))
    assert "without chance; use --target td with --depth 1" in words


def test_a_run_with_searches_tells_so(tmp_path, capsys):
    assert td(tmp_path / "a", 16, "--target", "treestrap", "--depth", "2", "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["settings"]["target"], figures["settings"]["depth"]) == ("treestrap", 2)
    assert load_evaluator(tmp_path / "a" / "net.safetensors", TTT).made["method"] == "treestrap"
    assert "treestrap" in (tmp_path / "a" / "report.html").read_text()


@pytest.mark.parametrize("option", ["--start", "--teacher"])
def test_another_kind_of_eval_in_place_of_a_net_ends_with_2(option, tmp_path, capsys):
    file = save_evaluator(LinearEval.from_heuristic(TTT, "lines"), tmp_path / "e.safetensors")
    assert td(tmp_path / "run", 8, option, str(file)) == 2
    assert f"{option} {file} is a linear Eval: give a net that `evallearn td` made" in told(capsys)


def test_other_settings_for_the_same_folder_end_with_2(folder, capsys):
    assert td(folder, 48, "--lambda", "0.1") == 2
    assert "was made with lambda_ 0.7, now 0.1: give the same settings, or delete it to begin anew" in told(capsys)


DAMAGED = {
    "{": "is damaged (it is not JSON)",
    "{}": "is damaged (it has no checksum, as files of earlier versions)",
    json.dumps(with_checksum({"curve": 3})): "holds what is no learning curve",
    json.dumps(with_checksum({"curve": [1]})): "holds what is no learning curve",
    json.dumps(with_checksum({"curve": [{"games": 1}]})): "holds what is no learning curve",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_curve_is_told_and_begins_anew_without_losing_what_was_learned(text, folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "run")
    path = tmp_path / "run" / "curve.json"
    path.write_text(text)
    assert td(tmp_path / "run", 48) == 2
    told_once = told(capsys)
    assert f"curve.json {DAMAGED[text]}: delete it: the learning goes on, and its curve begins anew" in told_once
    path.unlink()  # the remedy
    assert td(tmp_path / "run", 48) == 0
    (point,) = json.loads(path.read_text())["curve"]
    assert point["games"] == 48
    assert "last" in point
    weights = [load_evaluator(place / "net.safetensors", TTT).tensors()["w1"] for place in (folder, tmp_path / "run")]
    assert weights[0].tobytes() == weights[1].tobytes()


def test_a_damaged_net_of_the_last_look_is_told_before_anything_is_played(folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "run")
    (tmp_path / "run" / "last.safetensors").write_bytes(b"damaged")
    assert td(tmp_path / "run", 48) == 2
    assert "make it again; or delete it: the next net is then compared with none" in told(capsys)
    (tmp_path / "run" / "last.safetensors").unlink()  # the remedy
    assert td(tmp_path / "run", 48) == 0


def test_divergence_ends_with_2_and_leaves_the_last_good_net(tmp_path, capsys):
    assert td(tmp_path, 400, "--learning-rate", "1e6") == 2
    assert "learning_rate=1e+06 made a weight of tic_tac_toe grow to" in told(capsys)
    net = load_evaluator(tmp_path / "net.safetensors", TTT)
    assert net.made["games"] == 0
