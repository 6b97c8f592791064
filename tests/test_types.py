"""What `mypy --strict` sees from outside: the examples, the script of the README and a typed game of a user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".mypy_cache" / "outside"
"""Kept: from nothing, mypy reads all of torch for ten seconds."""

GAME = '''
"""Last one wins: take one to three."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import evallearn as ev
from evallearn.errors import BadNotation


class Heap(NamedTuple):
    left: int
    player: int


class Nim(ev.Game[Heap, int]):
    name = "nim21"
    feature_names = ("odd",)
    heuristics: ClassVar = {"odd": ev.Heuristic({"odd": 0.1}, "By hand.")}

    def initial(self) -> Heap:
        return Heap(21, 0)

    def to_play(self, s: Heap) -> int:
        return s.player

    def actions(self, s: Heap) -> Sequence[int]:
        return range(1, min(3, s.left) + 1)

    def result(self, s: Heap, a: int) -> Heap:
        return Heap(s.left - a, 1 - s.player)

    def is_terminal(self, s: Heap) -> bool:
        return s.left == 0

    def utility(self, s: Heap, player: int) -> float:
        return -1.0 if s.player == player else 1.0

    def features(self, s: Heap, player: int) -> Sequence[float]:
        return (s.left % 2,)

    def to_text(self, s: Heap) -> str:
        return f"{s.left} {s.player}"

    def from_text(self, text: str) -> Heap:
        left, _, player = text.partition(" ")
        if not left.isdigit() or player not in ("0", "1"):
            raise BadNotation(f"nim21 position {text!r}: write as in 21 0")
        return Heap(int(left), int(player))


game = Nim()
position: Heap = game.initial()
by_function = ev.FunctionEval(game, lambda s, player: s.left / 100)
limits = ev.Limits(depth=4)
for evaluator in (by_function, ev.LinearEval.zero(game)):
    for search in (
        ev.AlphaBeta(game, evaluator),
        ev.MaxN(game, evaluator),
        ev.Expectiminimax(game, evaluator),
        ev.MCTS(game, evaluator),
        ev.search_for(game, evaluator),
    ):
        action: int = search.search(position, limits).action
        values: dict[int, float] | None = search.search(position, limits, action_values=True).action_values
result: ev.MatchResult = ev.play_match(game, ev.RandomAgent(game), ev.SearchAgent(game, by_function, limits))
report: ev.CheckReport = ev.check_game(game)
'''

WRONG = {
    "ev.AlphaBeta(game, by_function).search((21, 0), limits)": "arg-type",
    "text: str = ev.AlphaBeta(game, by_function).search(position, limits).action": "assignment",
    "ev.FunctionEval(game, lambda s, player: s.right / 100)": "attr-defined",
    "ev.MatchSettings(pears=3)": "call-arg",
    "ev.nothing": "attr-defined",
}
"""A line of such a script -> the code of the error that it must get: were everything Any, nothing would be found."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return what mypy says of all of them, in a folder with nothing else, the package installed elsewhere."""
    folder, site = tmp_path_factory.mktemp("user"), tmp_path_factory.mktemp("site")
    (site / "evallearn").symlink_to(ROOT / "evallearn")
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, folder)
    for page in ("README", "docs/python"):
        script = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / f"{page}.md").read_text(), re.DOTALL))
        (folder / f"{Path(page).name}.py").write_text(script)
    (folder / "game_of_mine.py").write_text(GAME)
    (folder / "wrong.py").write_text(GAME + "\n".join(WRONG))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(CACHE), "."]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()[:-1]


def test_examples_readme_and_a_typed_game_are_strictly_typed(found: list[str]) -> None:
    assert [line for line in found if not line.startswith("wrong.py")] == []


def test_mistakes_in_a_typed_script_are_found(found: list[str]) -> None:
    first = GAME.count("\n") + 1
    wanted = [f"wrong.py:{first + i} [{code}]" for i, code in enumerate(WRONG.values())]
    errors = [line for line in found if ": error: " in line]
    assert [re.sub(r"(wrong.py:\d+).*(\[[a-z-]+\])$", r"\1 \2", line) for line in errors] == wanted
