"""The whole loop, small: every step is there, a rerun resumes, another configuration is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evallearn import get_game, load
from evallearn.cli import run
from evallearn.core.digest import weights_mark
from evallearn.core.game import Game
from evallearn.errors import DataError, SpecError
from evallearn.runs import Recipe, Run, learn
from evallearn.runs.fitting import Move
from evallearn.runs.learning import finish

TTT = get_game("tic_tac_toe")
SET = {"gate.generations": 2, "generate.depth": 2, "gate.depth": 2, "gate.pairs": 20, "ladder.depth": 2,
       "ladder.pairs": 20, "ladder.milliseconds": 1.0}  # fmt: skip
ARGUMENTS = ["learn", "tic_tac_toe", "--games=200", *(f"--set={name}={value}" for name, value in SET.items())]


def job(folder: Path, seed: int = 1, game: Game = TTT, **more: Any) -> Run:
    """A small run of the recipe linear."""
    return Run(game, folder, Recipe.load("linear", game, {"games": 200, **SET}), seed, **more)


def without_clock(result: dict) -> dict:  # type: ignore[type-arg]
    """What must be the same in every run: all but times and the folder."""

    def clean(x: object) -> object:
        if isinstance(x, dict):
            return {k: clean(v) for k, v in x.items() if "seconds" not in k and k not in ("files", "run", "file")}
        return [clean(v) for v in x] if isinstance(x, list) else x

    return {k: clean(v) for k, v in result.items() if k not in ("seconds", "files", "run", "equal_time")}


def test_learn_does_every_step_and_a_rerun_does_none(tmp_path: Path) -> None:
    titles: list[str] = []

    class Recorder:
        def __init__(self, title: str) -> None:
            titles.append(title)

        def __enter__(self):  # type: ignore[no-untyped-def]
            return lambda done, total: None

        def __exit__(self, *error: object) -> None: ...

    run = job(tmp_path / "run", step=Recorder)
    result = finish(run)
    first = result.to_json()
    assert {row["name"] for row in first["ladder"]} == {
        "random",
        "handwritten:squares",
        "handwritten:lines",
        "linear",
        "neural",
    }
    for row in first["ladder"]:
        assert row["low"] <= row["elo"] <= row["high"]
        assert row["distinct_games"] <= row["games"]
    assert {row["name"] for row in first["equal_time"]} == {"linear", "neural"}
    assert first["records"] == sum(g["records"] for g in first["generations"])
    assert any("generate 1" in t for t in titles)
    assert not (tmp_path / "run" / "matches").exists()
    for g in first["generations"]:
        assert g["gate"]["low"] <= g["gate"]["elo"] <= g["gate"]["high"]
        assert g["gate"]["games"] == g["gate"]["wins"] + g["gate"]["draws"] + g["gate"]["losses"]
    assert first["generations"][0]["gate"]["opponent"] == "zero"
    assert first["generations"][first["champion"]]["promoted"]
    best = load(tmp_path / "run" / "evaluators" / f"linear-{first['champion']}.safetensors")
    assert weights_mark(load(first["files"]["linear"])) == weights_mark(best)
    for name in ("linear", "neural"):
        evaluator = load(first["files"][name])
        assert evaluator.metadata["data_checksum"]
        assert evaluator.metadata["metrics"]["n_records"] > 0
    assert isinstance(first["alarms"], list)
    titles.clear()
    assert finish(run) == result
    assert repr(run.recipe) == "<recipe linear: generate, fit, gate, neural>"
    assert repr(result).startswith("<linear run of tic_tac_toe in ")
    assert " Elo against handwritten:" in repr(result)
    assert titles == []


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    job(tmp_path).open()
    with pytest.raises(DataError, match="holds a run with seed=1, you asked for 2: choose another --run"):
        job(tmp_path, 2).open()
    with pytest.raises(DataError, match="holds a run with game='tic_tac_toe', you asked for 'othello'"):
        job(tmp_path, game=get_game("othello")).open()
    for recipe, given, said in (
        ("online", {}, "recipe='linear', you asked for 'online'"),
        ("linear", {"games": 200, **SET, "generate.depth": 3}, "generate.depth=2, you asked for 3"),
    ):
        with pytest.raises(DataError, match=f"holds a run with {said}: choose another --run"):
            Run(TTT, tmp_path, Recipe.load(recipe, TTT, given)).open()


def test_what_a_recipe_has_settled_is_not_given_again(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="games: a Recipe is settled already; give them to Recipe.load"):
        learn("tic_tac_toe", Recipe.load("linear", TTT), games=100, folder=tmp_path)


def test_a_damaged_run_json_is_written_again_without_losing_a_step(tmp_path: Path) -> None:
    run, path = job(tmp_path), tmp_path / "run.json"
    run.open()
    run.once("match-a-b", "", lambda move: {"score": 0.5})
    good = path.read_text()
    for damaged in ("{", "[]", "{}", good.replace('"seed": 1', '"seed": 2')):
        path.write_text(damaged)
        with pytest.raises(
            DataError, match=r"run\.json is damaged \(.*\): delete it, and the command of this run, with"
        ):
            run.open()
    path.unlink()  # the remedy
    with pytest.raises(DataError, match=r"holds steps of another run, and no run\.json: remove it, or choose another"):
        job(tmp_path, 2).open()
    run.open()
    assert path.read_text() == good
    assert run.once("match-a-b", "", lambda move: {"score": 0.7})["score"] == 0.5


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("0.5", "0.6"), lambda text: "[" * 100_000, lambda text: "{}"]
)
def test_a_damaged_step_is_told_and_done_again(
    change: Callable[[str], str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_of = job(tmp_path)
    run_of.once("match-a-b", "", lambda move: {"score": 0.5})
    path = tmp_path / "steps" / "match-a-b.json"
    path.write_text(change(path.read_text()))
    assert run_of.once("match-a-b", "", lambda move: {"score": 0.7})["score"] == 0.7
    assert "match-a-b.json is damaged" in caplog.text
    assert ": the step is done again" in caplog.text
    assert run_of.once("match-a-b", "", lambda move: {"score": 0.9})["score"] == 0.7


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:  # type: ignore[type-arg]
    """The folder of a run, for copies, and its result."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return folder, finish(job(folder)).to_json()


def test_what_was_lost_or_damaged_is_made_again(tmp_path: Path, finished: tuple[Path, dict]) -> None:  # type: ignore[type-arg]
    folder, first = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    run = job(tmp_path)
    assert run.command.startswith("evallearn learn tic_tac_toe --seed=1 --games=200 --set gate.generations=2")
    shutil.rmtree(tmp_path / "generation-1")
    (tmp_path / "evaluators" / "linear-0.safetensors").unlink()
    (tmp_path / "evaluators" / "linear.safetensors").unlink()
    (tmp_path / "evaluators" / "neural.safetensors").write_bytes(b"cut")
    for name, text in (
        ("fit-linear-1", "{}"),
        ("gate-0-linear-0@depth=2-zero@depth=2", ""),
        ("generate-0", "7"),
        ("match-random-handwritten_squares@depth=2", "["),
    ):
        assert (tmp_path / "steps" / f"{name}.json").exists()
        (tmp_path / "steps" / f"{name}.json").write_text(text)
    assert without_clock(finish(run).to_json()) == without_clock(first)


def test_a_gate_that_was_stopped_goes_on(tmp_path: Path, finished: tuple[Path, dict]) -> None:  # type: ignore[type-arg]
    _, whole = finished

    @contextmanager
    def stops(title: str) -> Iterator[Move]:
        def move(done: int, total: int) -> None:
            if title.startswith("gate 1") and done == 5:
                raise KeyboardInterrupt

        yield move

    with pytest.raises(KeyboardInterrupt):
        finish(job(tmp_path / "cut", step=stops))
    kept = next((tmp_path / "cut" / "matches").glob("gate-1-*/sets.jsonl"))
    assert len(kept.read_text().splitlines()) >= 5
    assert without_clock(finish(job(tmp_path / "cut")).to_json()) == without_clock(whole)


@pytest.mark.long
def test_learn_survives_kill_9_and_equals_an_uninterrupted_run_with_more_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for moment in ("generation-0/records/*.parquet", "steps/fit-linear-0.json"):
        command = [sys.executable, "-m", "evallearn", *ARGUMENTS, "--workers=1"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]
        end = time.monotonic() + 120
        while not list(Path("runs/tic_tac_toe-seed1").glob(moment)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert run([*ARGUMENTS, "--workers=1", "--json", "out.json"]) == 0
    resumed = json.loads(Path("out.json").read_text())
    assert run([*ARGUMENTS, "--run", "whole", "--json", "whole.json", "--workers=2"]) == 0
    whole = json.loads(Path("whole.json").read_text())
    assert without_clock(resumed) == without_clock(whole)
    page = Path(resumed["files"]["report"]).read_text()
    assert "<svg" in page
    for key in ("ladder", "records", "seconds", "files"):
        assert resumed[key]
    assert "report:" in capsys.readouterr().out
