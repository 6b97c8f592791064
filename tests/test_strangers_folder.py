"""Commands in a folder whose owner wants to run something: a module there for every name that Python could import."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from toys import python_path

from evallearn.agents import RandomAgent
from evallearn.cli import run
from evallearn.data import RecordSettings, generate_records
from evallearn.games.tic_tac_toe import TicTacToe

EARLY = "import importlib.util, runpy, sys; print(*sys.modules)"
"""What `python -m` itself imports from the current folder, before any code of ours runs."""
GAME = "from evallearn.games.tic_tac_toe import TicTacToe\nclass Mine(TicTacToe): name = 'mine'; rules = None\n"
MODULE = "open({log!r}, 'a').write({name!r} + ' ')\nraise SystemExit(3)\n"
SCRIPT = [str(Path(sysconfig.get_path("scripts")) / "evallearn")]
AS_MODULE = [sys.executable, "-m", "evallearn"]
FIT = ["records", "--game=tic_tac_toe", "--out=a.safetensors"]
MATCH = ["random", "random", "--pairs=8", "--workers=2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands are started: modules with the names of all that is installed, a game, and records.

    `log` beside it names the modules that ran.
    """
    early = subprocess.run([sys.executable, "-S", "-c", EARLY], capture_output=True, text=True, check=True).stdout
    names = {name for name in {*sys.stdlib_module_names, *packages_distributions()} if name.isidentifier()}
    specs = {name: PathFinder.find_spec(name) for name in names - {"evallearn", *early.split()}}
    names = {name for name, spec in specs.items() if spec and spec.origin}  # a namespace package hides nobody
    assert {"numba", "numpy", "click", "json", "torch", "multiprocessing", "typing", "__future__"} <= names
    found = tmp_path_factory.mktemp("stranger")
    for name in names:
        (found / f"{name}.py").write_text(MODULE.format(log=str(found.with_name("log")), name=name))
    (found / "mine.py").write_text(GAME)
    generate_records(found / "records", game := TicTacToe(), [RandomAgent(game)] * 2, RecordSettings(games=100))
    return found


@pytest.fixture
def more(folder: Path) -> Iterator[None]:
    """Modules that Python looks for where they are not installed, too."""
    names = {*sys.stdlib_module_names, "sitecustomize", "usercustomize", "tensorboard", "yaml", "gnubg_nn"}
    added = [path for name in names if not PathFinder.find_spec(name) and not (path := folder / f"{name}.py").exists()]
    for path in added:
        path.write_text(MODULE.format(log=str(folder.with_name("log")), name=path.stem))
    yield
    for path in added:
        path.unlink()


def check_that_nothing_ran(folder: Path, command: list[str]) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    log = folder.with_name("log")
    ran = log.read_text() if log.exists() else ""
    log.unlink(missing_ok=True)
    assert (done.returncode, ran) == (0, ""), done.stderr


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param([*SCRIPT, "analyse", "connect_four", "44", "--depth=1"], id="script"),
        pytest.param([*AS_MODULE, "analyse", "connect_four", "44", "--depth=1"], id="module"),
        pytest.param([*AS_MODULE, "match", *MATCH, "--game=tic_tac_toe"], id="workers of the module"),
        pytest.param([*SCRIPT, "match", *MATCH, "--game=tic_tac_toe"], id="workers", marks=pytest.mark.long),
        pytest.param([*SCRIPT, "fit", *FIT, "--method=ridge"], id="scikit-learn"),
        pytest.param([*SCRIPT, "fit", *FIT, "--method=net"], id="torch", marks=pytest.mark.long),
    ],
)
def test_a_shipped_game_imports_nothing_from_the_current_folder(folder: Path, command: list[str]) -> None:
    check_that_nothing_ran(folder, command)


@pytest.mark.parametrize("command", [["check", "mine:Mine"], ["match", *MATCH, "--game=mine:Mine"]], ids=" ".join)
def test_a_game_of_the_current_folder_imports_nothing_else_from_it(folder: Path, command: list[str]) -> None:
    check_that_nothing_ran(folder, [*SCRIPT, *command])


def test_a_module_of_the_current_folder_comes_after_what_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert run(["check", "json:Mine"]) == 2
    assert f"unknown class in module json ({sys.modules['json'].__file__}) 'Mine'" in capsys.readouterr().err
    assert sys.path[-1] == str(folder)


def test_a_shipped_game_leaves_the_path_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = [*sys.path]
    assert run(["perft", "tic_tac_toe", "1"]) == 0
    assert sys.path == before


CHECKOUT = "import sys\ndef main(): print(sys.path[0] == {folder!r}, sys.path[-1] == {folder!r})\n"


@pytest.mark.parametrize(
    ("installed", "options", "told"),
    [(True, [], "False False"), (False, [], "False True"), (False, ["-P"], "False False")],
)
def test_a_checkout_that_is_not_installed_stays_on_the_path_but_last(
    tmp_path: Path, installed: bool, options: list[str], told: str
) -> None:
    """Its workers must find it. With -P it must be there by other means, here by PYTHONPATH."""
    here, package = tmp_path / "here", tmp_path / ("lib" if installed else "here") / "evallearn"
    here.mkdir()
    package.mkdir(parents=True)
    package.joinpath("__init__.py").touch()
    ours = Path(sys.modules["evallearn"].__path__[0]) / "__main__.py"
    package.joinpath("__main__.py").write_text(ours.read_text())
    package.joinpath("cli.py").write_text(CHECKOUT.format(folder=str(here)))
    path = {"PYTHONPATH": python_path(tmp_path / "lib", package.parent, tmp_path)} if installed or options else {}
    command = [sys.executable, "-S", *options, "-m", "evallearn"]
    done = subprocess.run(command, cwd=here, env={**os.environ, **path}, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == told, done.stderr
