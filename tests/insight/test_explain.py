"""`evallearn explain`: parts add up to the value, occlusion says what it is, and bad input is told in a sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from nets import random_net

from evallearn import get_game
from evallearn.cli import run
from evallearn.cli.explain import bar
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError
from evallearn.evaluators import FunctionEval, LinearEval, heuristic, save
from evallearn.evaluators.solved import SolvedEval
from evallearn.insight import explain
from evallearn.play.seats import make_evaluator


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["explain", *arguments]) == 0
    return capsys.readouterr().out


# --- the library -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["connect_four", "othello", "pig", "backgammon", "2048", "three_player_connect"])
def test_the_parts_of_a_linear_eval_add_up_to_its_value(name: str) -> None:
    game = get_game(name)
    evaluator = heuristic(game, list(game.heuristics)[-1])
    found = explain(evaluator, game.initial())
    assert found.kind == "sum"
    assert found.raw == pytest.approx(sum(p.effect for p in found.parts))
    assert found.value == pytest.approx(found.middle + found.scale * math.tanh(found.raw or 0.0), rel=1e-5, abs=1e-5)
    assert len(found.values) == game.n_players
    assert found.values[found.player] == found.value
    for p in found.parts:
        if p.weight is not None and p.feature is not None:
            assert p.effect == pytest.approx(p.weight * p.feature)
    assert [abs(p.effect) for p in found.parts] == sorted((abs(p.effect) for p in found.parts), reverse=True)


def test_occlusion_is_the_change_of_the_raw_value_when_a_feature_is_neutral() -> None:
    game = get_game("connect_four")
    s, net = game.from_text("44455"), random_net(game, size=0.5)
    x = [float(f) for f in game.features(s, game.to_play(s))]
    for means in (None, [0.25] * len(x)):
        found = explain(net, s, means=means)
        assert (found.kind, found.neutral) == ("occlusion", "zero" if means is None else "mean")
        assert found.value == pytest.approx(found.middle + found.scale * math.tanh(found.raw or 0.0), abs=1e-6)
        neutral = 0.0 if means is None else 0.25
        for p in found.parts:
            i = game.feature_names.index(p.name)
            without = [*x[:i], neutral, *x[i + 1 :]]
            assert p.effect == pytest.approx(net.raw(x, game.phase(s)) - net.raw(without, game.phase(s)))


def test_too_few_means_are_refused() -> None:
    game = get_game("tic_tac_toe")
    with pytest.raises(DataError, match="2 means for the 5 features of tic_tac_toe: give one for each"):
        explain(random_net(game, size=0.5), game.initial(), means=[0.0, 0.0])


def test_an_eval_without_parts_or_with_a_table_tells_a_value_only() -> None:
    game = get_game("tic_tac_toe")
    plain = FunctionEval(game, lambda s, player: 0.25)
    assert explain(plain, game.initial()).kind == "closed"
    matches = get_game("matches")
    known = SolvedEval(LinearEval.zero(matches))
    found = explain(known, matches.initial())
    assert (found.kind, found.parts, found.raw) == ("solved", (), None)


# --- the command -----------------------------------------------------------------------------------------------------
def test_one_eval_is_told_in_a_table_and_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "handwritten:threats", "44455", "--game", "connect_four")
    assert "handwritten:threats: worth -0.178 to second, who is to move." in out
    assert "open twos (-2 at +0.050 each): +0.100 for first" in out
    assert "The sum is -0.180; squashed: tanh(-0.180) = -0.178." in out
    assert "█|" in out
    assert "without any effect here" in out
    table = [line for line in out.splitlines() if "|" in line]
    assert max(map(len, table)) <= 80


def test_several_evals_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    evals = ["handwritten:lines", "handwritten:threats", "zero"]
    out = told(capsys, *evals, "44455", "--game", "connect_four", "--top", "1")
    assert "lines" in out
    assert "threats" in out
    assert "and 1 smaller ones: --top 2 shows them" in out
    assert all(f"{e}: worth" in out for e in evals)
    assert "nothing in it speaks for anybody" in out
    assert max(len(line) for line in out.splitlines() if "|" in line) <= 80


def test_a_net_is_occluded_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = get_game("connect_four")
    path = tmp_path / "net.safetensors"
    save(random_net(game, size=0.5), path)
    out = told(capsys, str(path), "44455")  # the file says which game
    assert "This evaluator is no sum" in out
    assert "if that feature alone were 0; effects do not add up" in out
    records = tmp_path / "records"
    assert run(["selfplay", "connect_four", "--out", str(records), "--games", "3", "--eval", "zero",
                "--limit", "depth=1", "--workers", "1"]) == 0  # fmt: skip
    assert "were at its mean" in told(capsys, str(path), "44455", "--records", str(records))


def test_terminal_positions_say_their_utility(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "zero", "1212121", "--game", "connect_four")
    assert "The game is over: +1, a win to first, -1, a loss to second." in out


def test_dice_and_more_players_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "handwritten:threats", "start", "--game", "three_player_connect")
    assert "to second" in out
    assert "to third" in out
    assert "The dice come next" in told(capsys, "handwritten:race", "start", "--game", "backgammon")
    assert "Chance moves next; then first is to move." in told(capsys, "handwritten:snake", "start", "--game", "2048")
    assert "The dice come next" not in told(
        capsys, "handwritten:race", "start", "--game", "backgammon", "--roll", "3", "1"
    )


def test_what_is_won_already_is_said_beside_what_is_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, position = get_game("2048"), "512.256.64.8/4.8.2.0/2.0.0.0/0.0.0.0"
    s, file = game.from_text(position), save(random_net(game, size=0.5), tmp_path / "net.safetensors")
    for name in ("handwritten:corner", str(file)):
        out = " ".join(told(capsys, name, position, "--game", "2048").split())
        found = explain(make_evaluator(name, game, trust=FULL_TRUST), s)
        assert found.won == 6244
        assert f"6,244 is won already, {found.value - 6244:,.1f} is expected to come." in out
    found = explain(heuristic(game, "corner"), s)
    assert found.middle + found.scale * math.tanh(found.raw or 0.0) == pytest.approx(found.value)
    assert found.middle - found.scale == pytest.approx(found.won)
    out = " ".join(told(capsys, "handwritten:corner", position, "--game", "2048").split())
    assert f"squashed: 6,244 + 3,925,920 x (1 + tanh({found.raw:+.3f})) / 2 = +{found.value:.1f}" in out
    figures: Any = json.loads(told(capsys, "zero", "start", "--game", "2048", "--json"))
    assert figures["evals"][0]["won"] == 0.0
    figures = json.loads(told(capsys, "zero", "start", "--game", "othello", "--json"))
    assert figures["evals"][0]["won"] is None


def test_json_has_all_parts(capsys: pytest.CaptureFixture[str]) -> None:
    game = get_game("connect_four")
    figures: Any = json.loads(told(capsys, "handwritten:lines", "44455", "--game", "connect_four", "--json"))
    assert (figures["position"], figures["player"], figures["terminal"]) == (
        game.to_text(game.from_text("44455")),
        1,
        False,
    )
    parts = figures["evals"][0]["parts"]
    assert parts[0] == {
        "name": "open_twos",
        "feature": -2.0,
        "weight": pytest.approx(0.06),
        "effect": pytest.approx(-0.12),
    }
    assert len(parts) == len(game.feature_names) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zoo:linear", "44455"], "'zoo:linear' does not say which game it belongs to: add --game GAME"),
        (["zoo:connect_four/lineer", "44455"], "did you mean 'connect_four/linear'?"),
        (["zero", "44455"], "'zero' does not say which game it belongs to: add --game GAME"),
        (["zero", "88", "--game", "connect_four"], "88"),
        (["handwritten:linse", "start", "--game", "connect_four"], "lines"),
        (["zero", "start", "--game", "connect_four", "--roll", "1", "2"], "--roll: nothing is rolled"),
    ],
)
def test_bad_input_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_zoo_says_which_game_it_belongs_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "zoo:connect_four/linear", "44455"]) == 0
    assert "zoo:connect_four/linear: worth" in capsys.readouterr().out


def test_bars_grow_from_the_middle() -> None:
    assert [bar(e, 1.0, 9) for e in (-1.0, -0.5, 0.0, 0.5, 1.0)] == [
        "████|    ",
        "  ██|    ",
        "    |    ",
        "    |██  ",
        "    |████",
    ]
    assert bar(0.0, 0.0, 5) == "  |  "
