"""What `evallearn bench` measures, on suites that take no time."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playing import perft

from evallearn.bench import bounds, chance, ladder, learn, mcts, speed
from evallearn.cli import run
from evallearn.errors import EvallearnError
from evallearn.registry import get_game
from evallearn.search import AlphaBeta

SMALL = ladder.Suite("tic_tac_toe", "lines", 5, 21694, (".........", "X...O...."))


ENDINGS = ladder.Suite(
    "connect_four", "threats", 6, None, ("6776775745433434337262222261511141", "55757766756464544736363332322424")
)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_ladder_starts_with_all_nodes_of_minimax() -> None:
    game = get_game("tic_tac_toe")
    first = next(ladder.climb(SMALL))
    counted = sum(perft(game, game.from_text(text), d) for text in SMALL.positions for d in range(6))
    assert first.nodes == ladder.unpruned(SMALL) == counted
    assert (first.name, first.leaf_calls, first.seconds, first.saving) == ("minimax", None, None, None)


def test_ladder_tells_what_each_step_saves() -> None:
    steps = list(ladder.climb(SMALL))
    assert [step.name for step in steps] == [
        "minimax", "alpha-beta", ladder.ONLY_BY_EVAL,
        *(name for switch, name in ladder.NAMES.items() if switch != "noisy_first"),
    ]  # fmt: skip
    aside = steps.pop(2)
    for before, step in [*pairwise(steps), (steps[1], aside)]:
        assert step.saving == pytest.approx(1 - step.nodes / before.nodes)
        assert 0 < (step.leaf_calls or 0) < step.nodes
    assert steps[1].nodes < steps[0].nodes / 2
    assert steps[2].nodes < steps[1].nodes
    assert aside.nodes < steps[1].nodes


def test_ladder_refuses_a_step_that_changes_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(AlphaBeta):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            self.wrong = settings["killers"]

        def search(self, s: Any, limits: Any, **asked: Any) -> Any:
            found = super().search(s, limits, **asked)
            object.__setattr__(found, "value", 0.5 if self.wrong else found.value)
            return found

    monkeypatch.setattr(ladder, "AlphaBeta", Wrong)
    with pytest.raises(Exception, match=r"'\+ killer moves' changed the answers of tic_tac_toe"):
        list(ladder.climb(SMALL))


def test_positions_of_all_suites_can_be_read_and_played() -> None:
    for suite in (*ladder.SUITES, *bounds.SUITES):
        game = get_game(suite.game)
        assert suite.heuristic in game.heuristics
        assert not any(game.is_terminal(game.from_text(text)) for text in suite.positions)


@pytest.mark.long
@pytest.mark.parametrize("suite", ladder.SUITES, ids=lambda suite: suite.game)
def test_nodes_of_minimax_are_as_stated(suite: ladder.Suite) -> None:
    assert ladder.unpruned(suite) == suite.minimax_nodes


def test_ladder_is_shown_and_written(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ladder, "SUITES", (SMALL,))
    monkeypatch.setattr(bounds, "SUITES", (ENDINGS,))
    monkeypatch.setattr(bounds, "AlphaBeta", partial(AlphaBeta, backend="python"))
    assert run(["bench", "search", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["game"], each["depth"]) for each in told["bounds"]] == [("connect_four", 6)]
    found = told["ladder"]
    assert [(each["game"], each["depth"]) for each in found] == [("tic_tac_toe", 5)]
    assert run(["bench", "search", "tic_tac_toe"]) == 0
    shown = capsys.readouterr().out
    assert "tic_tac_toe: 2 positions to depth 5" in shown
    assert all(f"{step['nodes']:,}" in shown for step in found[0]["steps"])


def test_saving_by_bounds_is_that_of_the_step_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "AlphaBeta", partial(AlphaBeta, backend="python"))
    alone, clipped, pruned = bounds.compare(ENDINGS)
    assert alone.saving is None
    for before, step in ((alone, clipped), (clipped, pruned)):
        assert step.saving == pytest.approx(1 - step.nodes / before.nodes)
    assert pruned.nodes < clipped.nodes / 2


def test_bounds_that_change_an_answer_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(AlphaBeta):
        def __init__(self, *args: Any, bounds: bool = True, **settings: Any) -> None:
            super().__init__(*args, bounds=bounds, backend="python", **settings)
            self.wrong = bounds

        def search(self, s: Any, limits: Any, **asked: Any) -> Any:
            found = super().search(s, limits, **asked)
            object.__setattr__(found, "value", 0.5 if self.wrong else found.value)
            return found

    monkeypatch.setattr(bounds, "AlphaBeta", Wrong)
    with pytest.raises(EvallearnError, match="bounds changed the answers of connect_four"):
        list(bounds.compare(ENDINGS))


def test_speed_is_measured_of_all_contestants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "SUITES", (speed.Suite("tic_tac_toe", "lines", 2, (0, 2), "tic_tac_toe"),))
    monkeypatch.setattr(speed, "ROUNDS", 1)
    assert run(["bench", "speed", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["bench"]
    assert found["compiled"]["nodes"] == found["python"]["nodes"]
    assert found["ratio_to_plain"] > 1
    assert run(["bench", "speed"]) == 0
    assert "evallearn, plain Python" in capsys.readouterr().out


def test_pruning_with_dice_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "ROUNDS", 1)
    found = chance.compare_ways(chance.positions(2), 2, ["none", "star1", "star2"])
    assert found["star2"].leaf_calls < found["star1"].leaf_calls < found["none"].leaf_calls
    assert found["none"].share_of_leaves == 1


@pytest.mark.long
def test_rivals_with_dice_and_simulations_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module, name, few in ((chance, "SUITE", 2), (chance, "DEEP", 1), (chance, "SHARED", 1), (chance, "ROUNDS", 1)):
        monkeypatch.setattr(module, name, few)
    assert run(["bench", "chance"]) == 0
    assert "OpenSpiel" in capsys.readouterr().out
    monkeypatch.setattr(mcts, "CASES", {"connect_four": ((0, 4), 1000, 100)})
    assert run(["bench", "mcts"]) == 0
    assert "no solver" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bench speed chess", "unknown game to bench 'chess'"),
        ("bench search otello", "unknown game to bench 'otello': did you mean 'othello'?"),
        ("bench sped", "No such command 'sped'"),
        ("bench", "Example: evallearn bench speed othello"),
    ],
)
def test_what_cannot_be_measured_is_told(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 2
    assert told in " ".join(capsys.readouterr().err.split())


# --- learning --------------------------------------------------------------------------------------------------------
TABLES = learn.Suite("patterns", "othello", "straight-3", 3)


def test_learning_is_compared_turn_by_turn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(learn, "SUITES", (TABLES,))
    root = str(Path(__file__).parents[1])
    assert run(["bench", "learn", "--turns=2", f"--against={root}", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["learn"]
    assert (row["kind"], row["game"], row["what"], row["turns"]) == ("patterns", "othello", "straight-3", 2)
    assert row["ratio"] == pytest.approx(row["now"] / row["before"])
    assert row["interval"][0] < row["mean_ratio"] < row["interval"][1]
    assert run(["bench", "learn", "othello", "--turns=1"]) == 0
    assert "straight-3" in capsys.readouterr().out
    assert learn.bench_learn(learn.Suite("search", "tic_tac_toe", "lines", 3), 1, None).now > 0
    assert run(["bench", "learn", "chess"]) == 2
    assert "unknown game to bench 'chess'" in capsys.readouterr().err


def test_version_that_cannot_learn_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evallearn").mkdir()
    (tmp_path / "evallearn" / "__init__.py").write_text("raise RuntimeError('not this one')\n")
    with pytest.raises(EvallearnError, match=r"the worker of .* ended: RuntimeError: not this one"):
        learn.bench_learn(TABLES, 1, tmp_path)
