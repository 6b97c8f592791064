"""The examples are run: what a newcomer copies must work."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evallearn import AlphaBeta, Limits, LinearEval, check_game, get_game, heuristic
from evallearn.core.trust import FULL_TRUST

EXAMPLES = Path(__file__).parent.parent / "examples"
BACKENDS = {"domineering": ("python",), "domineering_compiled": ("python", "compiled")}


@pytest.fixture
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(EXAMPLES)


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize("name", BACKENDS)
def test_own_game_keeps_the_contract(name: str) -> None:
    assert check_game(get_game(f"{name}:Domineering", trust=FULL_TRUST)).backends == BACKENDS[name]


@pytest.mark.usefixtures("_there")
def test_both_backends_of_the_example_find_the_same_move() -> None:
    found = []
    for name in BACKENDS:
        game = get_game(f"{name}:Domineering", trust=FULL_TRUST)
        search = AlphaBeta(game, heuristic(game, "safe"))
        result = search.search(game.initial(), Limits(depth=3))
        found.append((search.backend, result.action, result.value))
    assert found[0][0] == "python"
    assert found[1] == ("compiled", *found[0][1:])


@pytest.mark.usefixtures("_there")
def test_known_result_is_found() -> None:
    """On 5 x 5 whoever moves second wins (Breuker, Uiterwijk and van den Herik, 2000)."""
    game = get_game("domineering_compiled:Domineering", trust=FULL_TRUST)
    found = AlphaBeta(game, LinearEval.zero(game)).search(game.initial(), Limits(depth=25))
    assert (found.value, found.exact) == (-1.0, True)


@pytest.mark.parametrize("name", BACKENDS)
def test_example_is_as_short_as_it_says(name: str) -> None:
    """Statements below the imports, by lines, without blank ones: some forty, and as many more."""
    text = (EXAMPLES / f"{name}.py").read_text()
    first = next(node for node in ast.parse(text).body if isinstance(node, ast.Assign)).lineno
    lines = [line for line in text.splitlines()[first - 1 :] if line.strip() and line.strip() != "@jitable"]
    assert len(lines) <= 44


@pytest.mark.usefixtures("_there")
def test_only_who_believes_in_chance_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Minimax runs into the nearer ghost at once, whoever plays them; expectimax gambles and wins every other game."""
    module = importlib.import_module("pacman_ghosts")
    module.main("40")
    found = module.table(40, "gamble")
    assert found["minimax", "together"] == (-501.0, 0)
    assert found["expectimax", "together"] == (-502.0, 0)
    (sure, few), (bold, many) = found["minimax", "random"], found["expectimax", "random"]
    assert bold > sure + 100
    assert few < 15 <= many
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 5
    assert max(map(len, rows)) <= 80


def test_command_line_takes_the_example() -> None:
    command = [sys.executable, "-m", "evallearn", "perft", "domineering:Domineering", "3"]
    run = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "4872"


@pytest.mark.parametrize(
    ("page", "says"), [("arena", "Elo"), ("zoo", "0."), ("python", "<records of tic_tac_toe: 200 games")]
)
def test_code_of_a_page_runs(
    page: str, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (EXAMPLES.parent / "docs" / f"{page}.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(code, {})
    assert says in capsys.readouterr().out
