"""evallearn play at a real terminal: whole games, typed key by key into a pseudo-terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from toys import python_path

from evallearn.games.matches import Matches
from evallearn.games.matches.solver import closed_form

pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")

PATIENCE = 120.0
"""Seconds until a test gives up: kernels may have to be compiled first."""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
FAST = ("--limit", "nodes=20000", "--judge", "nodes=50000", "--seed", "1")


class Terminal:
    """A program at a terminal of 100 columns, and the person before it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.fd, inside = pty.openpty()
        command = [sys.executable, "-m", "evallearn", "play", *arguments]
        # Whoever opens a terminal as the first of a session gets its Ctrl-C.
        launch = f"import os; os.open(os.ttyname(0), os.O_RDWR); os.execv({sys.executable!r}, {command!r})"
        self.program = subprocess.Popen(
            [sys.executable, "-S", "-c", launch],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "50", "PYTHONPATH": python_path()},
            start_new_session=True,
        )
        os.close(inside)
        self.buffer = ""

    def read_until(self, end: str) -> str:
        """All that appears up to `end`."""
        deadline = time.monotonic() + PATIENCE
        while end not in self.buffer:
            assert time.monotonic() < deadline, f"waited in vain for {end!r} after {self.buffer!r}"
            if select.select([self.fd], [], [], 1.0)[0]:
                self._read()
        text, _, self.buffer = self.buffer.partition(end)
        return text

    def _read(self) -> None:
        data = os.read(self.fd, 65536)
        if not data:
            raise EOFError(self.buffer)
        self.buffer = ESCAPES.sub("", self.buffer + data.decode("utf-8", "replace"))

    def type(self, line: str, until: str = "you> ") -> str:
        """What appears after a line until the next prompt."""
        os.write(self.fd, f"{line}\n".encode())
        return self.read_until(until)

    def end(self, key: bytes) -> tuple[int, str]:
        """Press a key; the exit code, and what came last.

        It is pressed again where nothing happens: a Ctrl-C just before the program listens is heard with the next key.
        """
        deadline = time.monotonic() + PATIENCE
        with suppress(OSError, EOFError):  # Linux says OSError when the program has gone
            while time.monotonic() < deadline:
                os.write(self.fd, key)
                while select.select([self.fd], [], [], 2.0)[0]:
                    self._read()
        return self.program.wait(PATIENCE), self.buffer

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self.fd)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(tmp_path, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


CTRL_C, CTRL_D = b"\x03", b"\x04"


def test_a_whole_game_of_matches_is_won_move_by_move(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    game = Matches()
    s = game.initial()
    person = terminal("matches", *FAST)
    person.read_until("you> ")
    assert "illegal action 1:9: a move takes 1 to 3; legal: 1:1..3 2:1..3 3:1..3" in person.type("1:9")
    told = person.type("1:3")
    assert "1:3 is not minimax-optimal (proven), worth -1, a loss: 2 given away" in told
    assert "better: 1:1, worth +1, a win; then " in told
    assert "taken back: 1:3 " in person.type("undo")
    assert "saved in start.json" in person.type("save start.json")
    told = ""
    while not game.is_terminal(s):
        forced = "the only move is" in told
        expected = " is the only move" if forced else " is minimax-optimal (proven), worth +1, a win"
        winning = next(a for a in game.actions(s) if not closed_form(game.result(s, a)))
        move = game.action_to_text(s, winning)
        s = game.result(s, winning)
        told = person.type(move, "> ")
        assert f"{move}{expected}" in told
        answer = re.search(r"the machine plays (\S+)", told)
        assert answer or game.is_terminal(s)
        s = game.result(s, game.action_from_text(s, answer[1])) if answer else s
    assert "you have won: +1 to you, -1 to the machine" in told
    assert re.search(r"your moves with a choice: (\d+) of \1 minimax-optimal, mean loss 0", told)
    assert "3 (7) ||||| ||" in person.type("load start.json")
    assert "over> " not in person.buffer
    assert person.end(CTRL_D)[0] == 0
    assert (tmp_path / "start.json").exists()


def test_a_game_of_connect_four_with_all_its_troubles(terminal: Callable[..., Terminal]) -> None:
    person = terminal("connect_four", "--position", "172747", *FAST)  # 3 wins at once; else the machine does, with 7
    person.read_until("you> ")
    assert "no legal action '8'; legal: 4 3 5 2 6 1 7" in person.type("8")
    assert "5 is not minimax-optimal (proven), worth -1, a loss" in person.type("5", "over> ")
    assert "taken back: 5 7" in person.type("undo")
    assert "saved in four.json" in person.type("save four.json")
    assert "3 is minimax-optimal (proven), worth +1, a win" in person.type("3", "over> ")
    assert "four.json: 0 plies" in person.type("load four.json")
    assert "cannot read gone.json" in person.type("load gone.json")
    assert "1  2  3  4  5  6  7" in person.type("moves")
    told = person.type("3", "over> ")
    assert "you have won: +1 to you, -1 to the machine" in told
    assert "1 of 1 minimax-optimal" in told
    code, told = person.end(b"quit\n")
    assert (code, "goodbye" in told) == (0, True)


@pytest.mark.long  # the kernel of checkers takes long to compile
def test_a_whole_game_of_checkers_with_all_its_troubles(terminal: Callable[..., Terminal]) -> None:
    person = terminal("checkers", "--position", "B:W28:B15,20", *FAST)
    person.read_until("you> ")
    told = person.type("15-20")
    assert "illegal move 15-20" in told
    assert "legal: 15-18 20-24 15-19" in told
    assert "20-24 is not minimax-optimal (proven), worth -1, a loss" in person.type("20-24", "over> ")
    assert "taken back: 20-24 28x19x10" in person.type("undo")
    assert "saved in draughts.json" in person.type("save draughts.json")
    assert "15-18 is minimax-optimal (proven), worth +1, a win" in person.type("15-18")
    assert "draughts.json: 0 plies" in person.type("load draughts.json")
    assert "cannot read gone.json" in person.type("load gone.json")
    assert "15-19 is minimax-optimal (proven), worth +1, a win" in person.type("15-19")
    told = person.type("moves")
    assert "19x28" in told
    told = person.type("20x27", "over> ")
    assert "you have won: +1 to you, -1 to the machine" in told
    assert "2 of 2 minimax-optimal" in told
    code, told = person.end(b"quit\n")
    assert (code, "goodbye" in told) == (0, True)


@pytest.mark.long
def test_ctrl_c_leaves_with_130_and_says_how_to_go_on(terminal: Callable[..., Terminal]) -> None:
    person = terminal("matches", *FAST)
    person.read_until("you> ")
    person.type("1:1")
    code, told = person.end(CTRL_C)
    assert code == 130
    assert "the game is kept: evallearn play" in told
    assert "stopped by Ctrl-C" in told
    assert "Traceback" not in told
