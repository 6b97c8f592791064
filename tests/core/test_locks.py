"""Locks: one process at a time in a folder that is resumed; the second is told before it plays anything."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from toys import python_path

from evallearn.cli import run
from evallearn.core.locks import hold_file, hold_folder
from evallearn.errors import DataError

HOLD = """
import sys, time
from pathlib import Path
from evallearn.core.locks import hold_folder
with hold_folder(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def process(*words: object, **given: object) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, killed at the end."""
    started = subprocess.Popen(
        [sys.executable, *map(str, words)], env={**os.environ, "PYTHONPATH": python_path()}, text=True, **given
    )  # type: ignore[call-overload]
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_another_process_is_named_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with process("-c", HOLD, folder, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        for _ in range(2):  # who looks changes nothing
            message = rf"run is in use by process {owner.pid}: wait until that ends, or choose another folder"
            with pytest.raises(DataError, match=message), hold_folder(folder):
                pass
        owner.kill()
        owner.wait()
        with hold_folder(folder):
            assert (folder / ".lock").read_bytes()[1:].decode() == str(os.getpid())


def test_a_process_keeps_itself_out_too_and_lets_go_at_the_end(tmp_path: Path) -> None:
    for hold, other in ((hold_folder, "folder"), (hold_file, "file")):
        path = tmp_path / other
        for _ in range(2):
            with hold(path):
                message = (
                    rf"{other} is in use by process {os.getpid()}: wait until that ends, or choose another {other}"
                )
                with pytest.raises(DataError, match=message), hold(path):
                    pass
        with pytest.raises(KeyboardInterrupt), hold(path):
            raise KeyboardInterrupt
        with hold(path):
            pass


def test_a_lock_that_nobody_signed_is_a_lock(tmp_path: Path) -> None:
    with hold_folder(tmp_path):
        for text in (b"", b"\0", b"\0x"):
            (tmp_path / ".lock").write_bytes(text)
            with pytest.raises(DataError, match="is in use by another process: wait until"), hold_folder(tmp_path):
                pass


QUICK = ("--limit=depth=1", "--workers=1", "--pairs=2")
TWO = ("random", "zero", "--game=tic_tac_toe", *QUICK)
COMMANDS = {
    "match": (["match", *TWO, "--run=folder"], "folder"),
    "tournament": (["tournament", *TWO], "runs/matches/*"),
    "ladder": (["ladder", "tic_tac_toe", *QUICK], "runs/matches/*"),
    "learn": (["learn", "tic_tac_toe", "--games=100", "--run=folder"], "folder"),
    "selfplay": (["selfplay", "tic_tac_toe", "--out=folder", "--games=4", "--limit=depth=1", "--workers=1"], "folder"),
    "patterns": (["learn", "connect_four", "--recipe=patterns", "--run=folder", "--games=1"], "folder"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_second_command_is_refused_before_it_plays(
    name: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, held = COMMANDS[name]
    if "*" in held:  # the folder is named after the terms: the first one to be played
        monkeypatch.setattr(
            "evallearn.arena.tournament.match_folder", lambda base, game, two, config: base / two[1].name
        )
        held = held.replace("*", "zero@depth=1")
    with hold_folder(Path(held)):
        before = sorted(Path().rglob("*"))
        assert run(words) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert f"{held} is in use by process {os.getpid()}: wait until that ends, or choose another" in told
        assert sorted(Path().rglob("*")) == before


def test_a_tournament_looks_at_all_its_matches_before_it_plays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "random", "zero", "handwritten:lines", "--game=tic_tac_toe", *QUICK]
    assert run(words) == 0
    folders = sorted(Path("runs/matches").iterdir())
    assert len(folders) == 3
    for folder in folders:
        (folder / "sets.jsonl").unlink()
    capsys.readouterr()
    for folder in folders:
        with hold_folder(folder):
            assert run(words) == 2
            assert f"{folder} is in use by process" in " ".join(capsys.readouterr().err.split())
    assert not list(Path("runs/matches").glob("*/sets.jsonl"))
    assert run(words) == 0


MATCH = ["match", "zero@depth=5", "random", "--game=othello", "--pairs=400", "--workers=1", "--run=folder"]


def test_two_matches_in_one_folder_do_not_play_everything_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first is killed in the end: then the second command goes on where it was."""
    sets = Path("folder/sets.jsonl")
    with process("-m", "evallearn", *MATCH, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as first:
        deadline = time.monotonic() + 120
        while not sets.exists() or not sets.read_bytes().count(b"\n"):
            assert first.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert run(MATCH) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert told == f"error: folder is in use by process {first.pid}: wait until that ends, or choose another folder"
        assert first.poll() is None
        first.kill()
        first.wait()
    done = sets.read_bytes().count(b"\n")
    assert run([*MATCH[:4], f"--pairs={done + 1}", *MATCH[5:]]) == 0
    assert sets.read_bytes().count(b"\n") == done + 1


def test_a_folder_that_was_made_for_the_lock_alone_goes_with_it(tmp_path: Path) -> None:
    with suppress(ValueError), hold_folder(tmp_path / "new"):
        raise ValueError
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with hold_folder(tmp_path / "old"):
        pass
    assert (tmp_path / "old").exists()
