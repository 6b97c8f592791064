"""examples/gnubg_program.py: Debian's GNU Backgammon by our questions; with a stand-in where it is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evallearn.agents import parse_agent
from evallearn.core.trust import FULL_TRUST
from evallearn.registry import get_game

SCRIPT = Path(__file__).parents[2] / "examples" / "gnubg_program.py"
PROGRAM = Path("/usr/games/gnubg")
STAND_IN = """
def command(text): print("a banner", text)
def cubeinfo(*numbers): return numbers
def positionfromid(name): return name
def findbestmove(board, cube, context, dice):
    assert board == "4HPwATDgc/ABMA", board
    assert context["plies"] == 2 and context["cubeful"] == 0
    return {(6, 1): (8, 7, 13, 7), (5, 2): (25, 20, 2, 0, 0, 0)}[dice]
"""


def asked(position: str, legal: list[str], limits: str = "depth=3") -> str:
    return json.dumps({"game": "backgammon", "position": position, "legal": legal, "limits": limits, "seed": 1})


def test_it_asks_for_the_best_play_and_writes_it_as_we_do(tmp_path):
    (tmp_path / "gnubg.py").write_text(STAND_IN)
    questions = [
        asked("4HPwATDgc/ABMA:61", ["8/7 13/7", "24/17"]),
        asked("4HPwATDgc/ABMA:52 O", ["bar/20 2/off", "bar/20"]),
        asked("4HPwATDgc/ABMA:11", ["the only one"], ""),
    ]
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], input="\n".join(questions), text=True, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    answers = [json.loads(line)["move"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert answers == ["8/7 13/7", "bar/20 2/off", "the only one"]


@pytest.mark.skipif(not PROGRAM.exists(), reason="Debian's gnubg is not installed")
def test_the_program_plays():
    game = get_game("backgammon")
    agent = parse_agent(f"cmd:{PROGRAM} -t -q -r -p {SCRIPT}@depth=1", game, trust=FULL_TRUST)
    try:
        agent.prepare()
        s = game.from_text("4HPwATDgc/ABMA:31")
        assert game.action_to_text(s, agent.choose(s, 1).action) == "8/5 6/5"
    finally:
        agent.close()
