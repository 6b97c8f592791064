"""Fake engines as agents, games that they play, and what is left of their processes."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from evallearn.agents import Agent, EngineAgent, parse_agent
from evallearn.core.game import CHANCE, Game
from evallearn.core.trust import FULL_TRUST
from evallearn.games.chess import Chess
from evallearn.games.othello import Othello
from evallearn.games.tic_tac_toe import TicTacToe

ENGINES = Path(__file__).parent / "engines"
PYTHON = f"{shlex.quote(sys.executable)} -S -E"
"""Without site-packages: it starts sooner."""
TTT, OTHELLO, CHESS = TicTacToe(), Othello(), Chess()
SHORT = "timeout=0.3"


def cmd(mode: str, game: Game = TTT, options: str = "", limits: str = "@depth=1") -> Any:
    return parse_agent(f"cmd:{PYTHON} {ENGINES}/fake_cmd.py {mode}{options}{limits}", game, trust=FULL_TRUST)


def uci(score: str, best: str, limits: str = "@depth=4", options: str = "") -> Any:
    words = f"{shlex.quote(score)} {shlex.quote(best)}"
    return parse_agent(f"uci:{PYTHON} {ENGINES}/fake_uci.py {words}{options}{limits}", CHESS, trust=FULL_TRUST)


def gtp(mode: str, game: Game = OTHELLO, options: str = "") -> Any:
    return parse_agent(f"gtp:{PYTHON} {ENGINES}/fake_gtp.py {game.name} {mode}{options}", game, trust=FULL_TRUST)


def children() -> set[int]:
    """The processes that this one has started and not reaped, zombies too."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread that ends just now
            found |= {int(pid) for pid in path.read_text().split()}
    return found


def heard(agent: EngineAgent) -> list[str]:
    """What a fake engine wrote to stderr: what it was told. It ends here, so that all of it has arrived."""
    process = agent._process
    assert process is not None
    agent.close()
    return [line for line in process._words if line not in ("", "quit")]


def eventually(condition: Any) -> bool:
    """True if it holds within ten seconds."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def zombie(pid: int) -> bool:
    """Dead, and nobody in this container reaps orphans."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def play(game: Game, agent: Agent, plies: int = 300) -> list[str]:
    """A game of the agent against itself; dice fall as they are listed first."""
    s, texts = game.initial(), []
    agent.begin(())
    for ply in range(plies):
        if game.is_terminal(s):
            break
        a = game.chances(s)[0][0] if game.to_play(s) == CHANCE else agent.choose(s, ply).action
        texts.append("roll" if game.to_play(s) == CHANCE else game.action_to_text(s, a))
        agent.played(s, a)
        s = game.result(s, a)
    agent.close()
    return texts


def last_moves(game: Game, plies: int = 300) -> list[str]:
    """The same game by the rule that the fake engines follow."""

    class Last(Agent):
        def choose(self, s: Any, seed: int) -> Any:
            return Answered(game.actions(s)[-1])

    class Answered:
        def __init__(self, action: Any) -> None:
            self.action = action

    return play(game, Last(), plies)
