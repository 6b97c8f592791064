"""Every command prints in ASCII where the terminal can do no more; files stay UTF-8."""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from evallearn.agents import RandomAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.cli import COMMANDS, common, live, run
from evallearn.cli.common import progress_bars
from evallearn.cli.screen import INSTEAD, Screen, shown
from evallearn.evaluators import heuristic, save
from evallearn.games.tic_tac_toe import TicTacToe

ROOT = Path(__file__).parents[1]
READ = set("↑↓←\u2028\u2029\ud800\udfff\x7f\x9f\ufeff")
"""Characters that are read, and never printed."""
NAMED = "a_very_long_name_of_é.safetensors"
FEW = "--workers=1 --limit=depth=1"
TABLE: dict[str, str | tuple[str, ...]] = {
    "games": ("", "connect_four"),
    "check": "tic_tac_toe --games=1",
    "play": "tic_tac_toe --you=none --opponent=random --seed=1",
    "moves": "connect_four 44455",
    "analyse": "tic_tac_toe start --depth=2",
    "rollout": "pig --help",
    "suite": "tic_tac_toe --out=suite.jsonl --positions=8 --by=depth=2 --seed=1 --workers=1",
    "quality": "handwritten:lines handwritten:squares --game=tic_tac_toe --suite=suite.jsonl --workers=1",
    "explain": (
        "zoo:connect_four/linear 44455",
        "handwritten:lines a_very_long_name_of_é.safetensors start --game=tic_tac_toe",
    ),
    "perft": "tic_tac_toe 2",
    "tables": "backgammon --help",
    "selfplay": f"tic_tac_toe --out=records --games=30 --seed=1 {FEW}",
    "features": "tic_tac_toe records",
    "fit": "records --game=tic_tac_toe --out=fitted.safetensors",
    "recipes": ("", "linear"),
    "quantise": "--help",
    "match": f"random handwritten:lines --game=tic_tac_toe --pairs=3 --run=match --games=match.jsonl {FEW}",
    "tournament": f"random zero handwritten:lines --game=tic_tac_toe --pairs=2 --run=tournament {FEW}",
    "ladder": f"tic_tac_toe --pairs=1 --run=ladder --runs=none {FEW}",
    "replay": "match.jsonl --game=tic_tac_toe",
    "learn": "--help",
    "bench": "--help",
    "zoo": ("", "connect_four/linear"),
    "info": ("records", "a_very_long_name_of_é.safetensors"),
}
"""{command: its arguments}; they run in this order, in one folder."""


class Terminal:
    """Streams that can show one encoding only, and fail at all else."""

    def __init__(self, patch: pytest.MonkeyPatch, encoding: str) -> None:
        self.encoding, self.raw = encoding, {"stdout": io.BytesIO(), "stderr": io.BytesIO()}
        for name, raw in self.raw.items():
            patch.setattr(sys, name, io.TextIOWrapper(raw, encoding, "strict", write_through=True))

    def text(self, name: str = "stdout") -> str:
        return self.raw[name].getvalue().decode(self.encoding)


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An evaluator whose name and note need more than ASCII."""
    monkeypatch.chdir(tmp_path)
    evaluator = heuristic(TicTacToe(), "lines")
    evaluator.metadata["note"] = "é → \N{SNOWMAN}"
    save(evaluator, tmp_path / NAMED)
    return NAMED


# --- commands --------------------------------------------------------------------------------------------------------
def test_every_command_prints_in_ascii(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(TABLE) == set(COMMANDS)
    for command, some in TABLE.items():
        for words in [some] if isinstance(some, str) else some:
            terminal = Terminal(monkeypatch, "ascii")
            assert run([command, *words.split()]) == 0, (command, words, terminal.text("stderr"))
            assert terminal.text().isascii()
            assert terminal.text("stderr").isascii()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "cp437", "utf-8"])
def test_what_a_terminal_can_show_is_shown(encoding: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch, encoding)
    assert run(["explain", named, "handwritten:squares", "x...o....", "--game=tic_tac_toe"]) == 0
    told = terminal.text()
    assert ("█" if encoding in ("cp437", "utf-8") else "#") in told
    assert ("é" if encoding != "ascii" else "\\u00e9") in told
    assert ("a_very_long_nam" + ("…" if encoding in ("cp1252", "utf-8") else "~")) in told
    rows = [line for line in told.splitlines() if "-0." in line and "|" in line]
    assert len(rows) >= 2
    assert len({len(row) for row in rows}) == 1  # nothing is shifted


def test_what_is_printed_as_json_can_be_read_again(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch, "ascii")
    assert run(["info", named]) == 0
    assert json.loads(terminal.text())["made"]["note"] == "é → \N{SNOWMAN}"


def test_errors_are_told_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["match", "é", "random", "--game=tic_tac_toe"], ["games", "--é"], ["é"], ["info", "\udcff"]):
        terminal = Terminal(monkeypatch, "ascii")
        assert run(words) == 2
        assert ("\\u00e9" if "\udcff" not in words else "\\udcff") in terminal.text("stderr")


def test_paths_that_are_no_text_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch, "utf-8")
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "\udcff.jsonl"
    assert run(["suite", "tic_tac_toe", f"--out={out}", "--positions=3", "--by=depth=1", "--workers=1"]) == 0
    assert out.exists()
    assert "\\udcff.jsonl" in terminal.text()


# --- live output -----------------------------------------------------------------------------------------------------
def test_live_tables_and_bars_are_drawn_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch, "ascii")
    run(["games", "--help"])  # which sets up the streams
    console = Screen(stderr=True, force_terminal=True, color_system=None)
    monkeypatch.setattr(common, "console", console)
    monkeypatch.setattr(live, "console", console)
    game = TicTacToe()
    with live.live_board() as saw:
        play_match(game, RandomAgent(game), RandomAgent(game, "é"), MatchSettings(pairs=2), on_progress=saw)
    with progress_bars() as steps, steps.step("games", 10) as move:
        move(3, None)
    with console.status("thinking"):
        pass
    console.print(Table("±", title="±"), Text("…" * 3))
    told = terminal.text("stderr")
    assert told.isascii()
    for part in ("won", "\\u00e9", "games", "thinking", "+-", "~~~"):
        assert part in told


def test_texts_are_printed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """uci:a:b names no picture."""
    terminal = Terminal(monkeypatch, "utf-8")
    Screen().print("uci:a:b :smile: [red] 12")
    assert terminal.text() == "uci:a:b :smile: [red] 12\n"


# --- the table of characters, and files ------------------------------------------------------------------------------
def sources() -> Iterator[tuple[Path, str]]:
    for folder in ("evallearn", "games", "search", "data", "train"):
        for path in (ROOT / folder).rglob("*.py"):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path, path.read_text(encoding="utf-8")


def test_every_character_of_our_own_has_one_in_ascii() -> None:
    """But for those of pages."""
    used = {}
    for path, text in sources():
        if text.isascii() or (path.parent.name == "report" and path.name != "words.py"):
            continue
        tree = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                used |= {c: f"{path}:{node.lineno}" for c in node.value if not c.isascii()}
    assert len(used) > 5
    assert set(used) <= set(INSTEAD) | READ, used
    assert all(text.isascii() for text in INSTEAD.values())


def test_files_are_read_and_written_as_utf8() -> None:
    """Whatever the locale says."""
    calls = [(path, line) for path, text in sources() for line in text.splitlines() if "_text(" in line]
    calls = [(path, line) for path, line in calls if ".read_text(" in line or ".write_text(" in line]
    assert len(calls) >= 3
    assert [call for call in calls if "encoding=" not in call[1]] == []


def test_shown_keeps_what_can_be_shown() -> None:
    assert shown("é█±…", "ascii") == "\\u00e9#+-~"
    assert shown("é█±…", "latin-1") == "é#±~"
    assert shown("\U0001f600\udc80", "utf-8") == "\U0001f600\\udc80"
    assert shown("\U0001f600", "ascii") == "\\ud83d\\ude00"
