"""Every kind of file that evallearn reads, with texts in it that would start a program, import a module or open a file.

Nothing of that happens: the text is refused in a sentence, or it is only a name. A program that starts and a module
that is imported write to the file `ran`; the evaluator `outside` tells who opens it.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from strangers import GAME, KINDS, MATCH, SLOW, loaded_game, saved_game

import evallearn
from evallearn.arena.ladder import known_agents
from evallearn.cli import common, run
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST, NO_TRUST, Trust, is_inside
from evallearn.errors import SpecError
from evallearn.evaluators import LinearEval, save
from evallearn.play import Session, load_game, save_game
from evallearn.play.seats import make_agent

TEXTS = {
    "cmd": "cmd:stranger@depth=1",
    "uci": "uci:stranger@depth=1",
    "gtp": "gtp:stranger",
    "gnubg": "gnubg:0",
    "module": "stranger_module:Game",
    "path": "{outside}/eval.safetensors@depth=1",
    "way out": "../outside/eval.safetensors",
    "link": "files/link.safetensors",
    "linked folder": "files/linked/eval.safetensors",
    "behind a search": "alphabeta:{outside}/eval.safetensors@depth=1",
    "behind tables": "solved:{outside}/eval.safetensors",
}
"""What a file may ask for."""


@pytest.fixture(autouse=True)
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In `here` with a folder `files`; a program and a module `stranger`, and an evaluator outside. Who opens that?"""
    for name in ("here/files", "outside", "bin"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(common.out, "width", 500)
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path / "data"))
    save(LinearEval.zero(GAME), tmp_path / "outside" / "eval.safetensors")
    Path("files/link.safetensors").symlink_to(tmp_path / "outside" / "eval.safetensors")
    Path("files/linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    program = tmp_path / "bin" / "stranger"
    program.write_text(f"#!/bin/sh\necho program >> '{tmp_path}/ran'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("stranger_module", "gnubg_nn"):
        (tmp_path / "bin" / f"{name}.py").write_text(
            f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n"
        )
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(program.parent)
    paths, safe_open = list[str](), safetensors.safe_open

    def watched(path: Any, *args: Any, **kwargs: Any) -> Any:
        if os.path.realpath(path).startswith(os.path.realpath(tmp_path / "outside")):
            paths.append(str(path))
        return safe_open(path, *args, **kwargs)

    monkeypatch.setattr(safetensors, "safe_open", watched)
    return paths


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


FEW = ("cmd", "module", "path", "link")


def cases() -> Iterator[Any]:
    """Every kind of file with every text; those that only repeat what others tell take the marker `long`."""
    for kind, (make, told) in {**KINDS, **SLOW}.items():
        for name, text in TEXTS.items():
            quick = name in FEW and kind not in SLOW
            marks = [] if quick or kind == "saved game: seats" else [pytest.mark.long]
            yield pytest.param(make, text, told, id=f"{kind}-{name}", marks=marks)


@pytest.mark.parametrize(("make", "text", "told"), list(cases()))
def test_no_file_starts_a_program_imports_a_module_or_opens_a_file(
    make: Callable[[str], list[str]],
    text: str,
    told: str,
    opened: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = text.format(outside=tmp_path / "outside")
    command = make(text)
    monkeypatch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: Path("files"))
    typed(monkeypatch, "load files/game.json\n1\nquit\n")
    capsys.readouterr()
    assert run(command) in (0, 2)
    assert told.format(text=text) in "".join(capsys.readouterr())
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert opened == []


# --- what is refused, and how it is allowed --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cmd:stranger@depth=1", "'cmd:stranger@depth=1' starts a program"),
        ("gnubg:0", "'gnubg:0' imports the module gnubg_nn"),
        ("/x/eval.safetensors@depth=1", "'/x/eval.safetensors' opens a file outside of the folder 'files'"),
        ("mcts:files/link.safetensors", "'files/link.safetensors' opens a file outside of the folder 'files'"),
    ],
)
def test_the_refusal_names_the_place_and_the_option(text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = evallearn.get_game("backgammon" if text == "gnubg:0" else "tic_tac_toe")
    save_game(Session(game, (None, None)), Path("files/game.json"))
    data = json.loads(Path("files/game.json").read_text())
    Path("files/game.json").write_text(json.dumps({**data, "seats": ["you", text]}))
    assert run(["play", game.name, "--load", "files/game.json"]) == 2
    remedy = "which a text in a file may not: if you want to play against it, name it with --opponent"
    assert f"files/game.json: seat 2: {told}, {remedy}" in capsys.readouterr().err


def test_the_option_allows_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """So does its name at the start, for games that are loaded at the board; the command that is printed says it."""
    program = "import json, sys; [print(json.loads(line)['legal'][0]) for line in sys.stdin]"
    engine = f'cmd:{sys.executable} -u -c "{program}"'
    saved_game(f"{engine}@depth=1")
    typed(monkeypatch, "5\nload files/game.json\n6\n")
    assert run(["play", "tic_tac_toe", "--opponent", engine, "--limit=depth=1", "--no-verdict"]) == 0
    told = capsys.readouterr()
    assert "error" not in told.out + told.err
    command = shlex.split(next(line for line in told.out.splitlines() if line.startswith("the game is kept: "))[18:])
    assert command[-6:-2] == ["--you", "1", "--opponent", f"{engine}@depth=1"]
    typed(monkeypatch, "9\n")
    assert run([*command[1:-2], "--no-verdict"]) == 0
    assert "the machine plays 2" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["solved:" * 5000 + "zero", "x" * 5000, "x" * 5000 + ".safetensors", "files/" * 900])
def test_a_seat_that_is_absurd_is_refused_at_the_board(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the game that is played there goes on."""
    command = loaded_game(text)
    typed(monkeypatch, "load files/game.json\n1\n")
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "files/game.json: seat 2: " in told
    assert "the machine plays" in told


def test_files_in_the_folder_of_the_file_may_be_opened(opened: list[str]) -> None:
    save(LinearEval.zero(GAME), Path("files/eval.safetensors"))
    for text in ("files/eval.safetensors@depth=1", str(Path("files/eval.safetensors").resolve())):
        saved_game(text)
        session = load_game(Path("files/game.json"), GAME, partial(make_agent, game=GAME))
        assert session.seats[1] is not None
    assert opened == []


# --- the parsers -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", [t for name, t in TEXTS.items() if name != "module"])
def test_a_reader_that_says_nothing_is_refused(text: str, tmp_path: Path, opened: list[str]) -> None:
    with pytest.raises(SpecError, match="which a text in a file may not: if you wrote it yourself, pass trust="):
        evallearn.parse_agent(text.format(outside=tmp_path / "outside"), GAME)
    assert opened == []
    assert not (tmp_path / "ran").exists()


def test_get_game_imports_a_module_only_if_a_person_wrote_its_name(tmp_path: Path) -> None:
    before = [*sys.path]
    with pytest.raises(SpecError, match="'stranger_module:Game' imports the module stranger_module, which a text in"):
        evallearn.get_game("stranger_module:Game")
    assert not (tmp_path / "ran").exists()
    assert sys.path == before
    with pytest.raises(SpecError, match="unknown class in module stranger_module"):
        evallearn.get_game("stranger_module:Game", trust=FULL_TRUST)
    assert (tmp_path / "ran").exists()


def test_a_text_in_a_file_may_name_what_is_shipped() -> None:
    for text in ("random", "zero", "handwritten:lines", "zoo:linear", "mcts:zero@nodes=5", "flat@nodes=2"):
        evallearn.parse_agent(text, GAME, trust=NO_TRUST)
    assert evallearn.get_game("matches,piles=3-4-5,k=3").name == "matches,piles=3-4-5,k=3"


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("files/a.safetensors", True),
        ("files/no/such/file", True),
        ("files/../files/a", True),
        ("files/../a", False),
        ("filesystem/a", False),
        ("files/link.safetensors", False),
        ("files/linked/../a", False),
        ("/", False),
        ("", False),
        ("files/\0", False),
        ("files/\ud800", False),
        ("files/loop", True),  # it leads nowhere
    ],
)
def test_is_inside_resolves_links(path: str, inside: bool) -> None:
    Path("files/loop").symlink_to("loop")
    assert is_inside(path, "files") == inside
    assert Trust(folder=Path("files")).may_open(path) == inside
    assert is_inside(Path("files").resolve() / "a", "files")


def test_a_ladder_takes_files_for_files(tmp_path: Path, opened: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """Whatever they are called, and not those that are links to somewhere else."""
    caplog.set_level("INFO", "evallearn")
    zero = LinearEval.zero(GAME)
    for i, path in enumerate(("cmd:stranger ", "mcts:zero", "files", "a@nodes=x")):
        weights = np.full_like(zero.tensors()["weights"], i + 1)
        save(LinearEval(GAME, weights, zero.tensors()["bias"]), Path(path, "eval.safetensors"))
    found = known_agents(GAME, Limits(depth=1), Path())
    names = ("./cmd:stranger /eval", "./mcts:zero/eval", "files/eval", "a@nodes=x/eval")
    assert {f"{name}.safetensors@depth=1" for name in names} < set(found)
    assert not (tmp_path / "ran").exists()
    assert opened == []
    assert "left out: files/link.safetensors is a link to a file outside of ." in caplog.text


def test_a_match_writes_to_no_file_outside_of_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    precious = tmp_path / "outside" / "precious"
    precious.write_text("a line without an end")
    Path("files/sets.jsonl").symlink_to(precious)
    for terms in (False, True):
        if terms:  # the terms of that very match, so that only the games are strange
            assert run([*MATCH, "--run=other"]) == 0
            shutil.copy("other/match.json", "files/match.json")
        assert run([*MATCH, "--run=files"]) == 2
        assert "files/sets.jsonl links to a file outside of its folder: choose another" in capsys.readouterr().err
    assert precious.read_text() == "a line without an end"
