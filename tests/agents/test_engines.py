"""Programs that play: good ones, and every way to be a bad one. No test leaves a process behind."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agents.fakes import SHORT, TTT, cmd, eventually, gone, heard, last_moves, play, zombie

from evallearn.agents import CmdAgent, parse_agent
from evallearn.agents.process import EngineProcess, Failure, Silence, find_program
from evallearn.core.game import Game
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EngineError, SpecError
from evallearn.games.backgammon import Backgammon
from evallearn.games.pig import Pig
from evallearn.games.three_player_connect import ThreePlayerConnect


# --- cmd: good ones --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", [TTT, Backgammon(), Pig(), ThreePlayerConnect()], ids=repr)
def test_a_program_plays_any_game(game: Game) -> None:
    assert play(game, cmd("good", game), plies=12) == last_moves(game, plies=12)


@pytest.mark.parametrize("mode", ["banner", "flood", "json"])
def test_a_banner_a_flood_of_stderr_and_json_are_understood(mode: str) -> None:
    agent = cmd(mode)
    found = agent.choose(TTT.initial(), 0)
    assert found.value == (0.25 if mode == "json" else 0.0)
    assert (found.player, found.pv, found.exact) == (0, (found.action,), False)
    assert play(TTT, agent) == last_moves(TTT)


def test_the_question_holds_all_that_an_author_may_want() -> None:
    agent = cmd("note", limits="@nodes=50,time=0.1")
    s = TTT.result(TTT.initial(), TTT.actions(TTT.initial())[4])
    agent.choose(s, 77)
    asked = json.loads(heard(agent)[-1])
    assert asked == {
        "game": "tic_tac_toe",
        "position": TTT.to_text(s),
        "legal": [TTT.action_to_text(s, a) for a in TTT.actions(s)],
        "player": 1,
        "limits": "nodes=50,time=0.1",
        "seed": 77,
    }


def test_the_example_of_the_guide_plays(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    example = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    assert example
    (tmp_path / "my_engine.py").write_text(example[1])
    agent = parse_agent(f"cmd:{sys.executable} {tmp_path}/my_engine.py@depth=1", TTT, trust=FULL_TRUST)
    assert play(TTT, agent) == play(TTT, agent)


# --- cmd: bad ones ---------------------------------------------------------------------------------------------------
FAILURES = {
    "abort": r"was ended by signal 6 in tic_tac_toe position '.*': run '.*' by hand to see why$",
    "hang": r"gave no answer in time in .*, or allow it more than timeout=0.3 seconds$",
    "mute": "closed its output in tic_tac_toe",
    "illegal": "answered 'z9', which is no legal move, in tic_tac_toe position",
    "garbage": "which is no legal move",
    "empty": "answered '', which is no legal move",
    "half": """which is not {"move": "...", "value": number}""",
    "list": "which is not",
    "infinite": "which is not",
    "huge": "which is not",
    "deep": "which is not",
}


UNREADABLE = ("list", "infinite", "huge", "deep")


@pytest.mark.parametrize("mode", [pytest.param(m, marks=pytest.mark.long) if m in UNREADABLE else m for m in FAILURES])
def test_a_failure_is_told_and_a_fresh_process_plays_on(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.agents.process.GRACE", 0.2)
    agent = cmd(mode, options=f",{SHORT}")
    agent.prepare()
    pid = agent._process.pid
    with pytest.raises(EngineError, match=FAILURES[mode]) as raised:
        agent.choose(TTT.initial(), 0)
    assert str(raised.value).startswith(f"agent {agent.name} ")
    assert agent._process is None
    assert gone(pid)
    agent.prepare()
    assert agent._process.pid != pid


def test_a_crash_tells_the_last_words_and_the_game_can_be_played_on() -> None:
    agent = cmd("crash")
    s = TTT.initial()
    for _ in range(2):
        s = TTT.result(s, agent.choose(s, 0).action)
    with pytest.raises(
        EngineError, match="ended with exit code 3 in .*; the last line of its stderr: 'Traceback: no su"
    ):
        agent.choose(s, 0)
    assert agent.choose(s, 0).action in TTT.actions(s)


def test_a_program_that_never_answers_is_refused_at_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.agents.engine.STARTING", 0.3)
    with pytest.raises(EngineError, match="ended with exit code 1 at its start; .*stderr: 'no licence': run"):
        cmd("exit").prepare()
    with pytest.raises(EngineError, match="gave no answer in time at its start"):
        cmd("sleep", options=f",{SHORT}").prepare()
    with pytest.raises(EngineError, match="gave no (answer|legal move) in time .*at its start"):
        cmd("babble", options=f",{SHORT}").prepare()


@pytest.mark.long
def test_what_an_engine_says_at_its_start_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.agents.engine.STARTING", 1.5)  # enough for Python on a busy machine
    with pytest.raises(EngineError, match=r"gave no legal move in time \(it said 'still no move'\) at its start"):
        cmd("babble", options=f",{SHORT}").prepare()


def test_a_file_that_is_no_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "engine"
    script.write_text("no program at all")
    with pytest.raises(SpecError, match="cannot be run as it is: chmod [+]x it, or name what runs it"):
        parse_agent(f"cmd:{script}@depth=1", TTT, trust=FULL_TRUST)
    script.chmod(0o755)
    with pytest.raises(EngineError, match="(cannot be started .Exec format error.|exit code 127) at its start"):
        parse_agent(f"cmd:{script}@depth=1", TTT, trust=FULL_TRUST).prepare()
    monkeypatch.chdir(tmp_path)
    for path in (os.environ["PATH"], "", ".", f".{os.pathsep}{os.environ['PATH']}"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(SpecError, match="program 'engine' cannot be run as it is: write ./engine"):
            parse_agent("cmd:engine@depth=1", TTT, trust=FULL_TRUST)


# --- processes -------------------------------------------------------------------------------------------------------
def test_an_agent_travels_without_its_process() -> None:
    agent = cmd("pid")
    mine = agent.choose(TTT.initial(), 0).value
    other = pickle.loads(pickle.dumps(agent))
    assert (other.name, other.argv, other._process) == (agent.name, agent.argv, None)
    assert other.choose(TTT.initial(), 0).value != mine
    assert agent.choose(TTT.initial(), 0).value == mine == agent._process.pid
    assert os.getsid(agent._process.pid) == agent._process.pid  # Ctrl-C in our terminal is not for it


def test_a_process_ends_with_close_or_with_its_agent() -> None:
    for leave in (CmdAgent.close, lambda agent: None):
        agent = cmd("good")
        agent.prepare()
        pid = agent._process.pid
        leave(agent)
        agent = None
        gc.collect()
        assert gone(pid)


def test_ctrl_c_in_the_middle_of_a_move_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = cmd("good")
    agent.prepare()
    pid = agent._process.pid

    def interrupt(deadline: float) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(agent, "_hear", interrupt)
    with pytest.raises(KeyboardInterrupt):
        agent.choose(TTT.initial(), 0)
    assert gone(pid)


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit()"])
def test_a_process_does_not_outlive_ours(end: str) -> None:
    script = (
        "import os, sys; from evallearn.agents.process import EngineProcess\n"
        "p = EngineProcess([sys.executable, '-S', '-c', 'import sys; sys.stdin.read()'])\n"
        f"print(p.pid, flush=True); {end}"
    )
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert eventually(lambda: gone(int(done.stdout)) or zombie(int(done.stdout)))


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: print('info depth 1')"])
def test_neither_a_deaf_program_nor_an_endless_talker_blocks_us(code: str) -> None:
    process = EngineProcess([sys.executable, "-S", "-c", code])
    process.send("x" * 1_000_000)  # more than any pipe holds
    deadline = time.monotonic() + 0.3
    with pytest.raises(Silence):
        list(iter(lambda: process.line(deadline), None))
    process.end()
    assert gone(process.pid)
    assert not any(thread.is_alive() for thread in process._threads)


def test_a_program_that_has_ended_stays_ended() -> None:
    process = EngineProcess([sys.executable, "-S", "-c", "print('bye')"])
    assert process.line(time.monotonic() + 10) == "bye"
    for _ in range(2):
        with pytest.raises(Failure, match="ended with exit code 0"):
            process.line(time.monotonic() + 10)
        process.forget()
    process.end("quit")
    with pytest.raises(Failure, match="was ended"):
        process.line(time.monotonic() + 10)


def test_what_a_program_has_started_ends_with_it() -> None:
    code = "import subprocess as s; p = s.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    process = EngineProcess([sys.executable, "-c", code])
    grandchild = int(process.line(time.monotonic() + 10))
    process.end()
    assert eventually(lambda: gone(grandchild) or zombie(grandchild))


def test_programs_are_found_in_path_and_where_debian_puts_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "marvin").write_text("#!/bin/sh\n")
    (games / "marvin").chmod(0o755)
    monkeypatch.setattr("evallearn.agents.process.MORE_FOLDERS", (str(games),))
    assert find_program("marvin") == str(games / "marvin")
    with pytest.raises(SpecError, match="no program 'marvn' in PATH nor in .*games: install it, or give its path"):
        find_program("marvn")
