"""evallearn quantise, and what it measures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from toys import Takeaway

from evallearn.cli import run
from evallearn.core.game import CHANCE
from evallearn.errors import SpecError
from evallearn.evaluators import LinearEval, load_evaluator, read_header, save
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.quantised import QuantisedNet, quantise
from evallearn.quality.quantised import Chooser, measure_loss, played
from evallearn.registry import get_game


def net(game) -> NetEval:
    rng, f = np.random.default_rng(0), len(game.feature_names)
    shapes = {"w1": (f, 8), "b1": (8,), "w2": (8, 0), "b2": (0,), "w3": (8, 1), "b3": (1,)}
    return NetEval(game, {k: rng.normal(0, 0.3, (1, *shape)) for k, shape in shapes.items()})


@pytest.fixture
def file(tmp_path):
    return save(net(get_game("tic_tac_toe")), tmp_path / "net.safetensors")


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig"])
def test_chooser_says_what_the_plain_backend_says(name):
    game = get_game(name)
    e = quantise(net(game))
    chooser = Chooser(e)
    at = played(game, chooser, 60)
    values, best, asked = chooser.choose(at)
    assert asked >= len(at) == 60
    for words, roll, value, number in zip(at.words, at.rolls, values, best, strict=True):
        s = game.decode([int(w) for w in words])
        rolling = game.to_play(s) == CHANCE
        assert value == e.evaluate(s, game.observer(s) if rolling else game.to_play(s))
        s = game.result(s, game.chances(s)[roll][0]) if rolling else s
        worths = [e.evaluate(game.result(s, a), game.to_play(s)) for a in game.actions(s)]
        assert number == worths.index(max(worths))


def test_same_seed_gives_the_same_positions():
    game = get_game("tic_tac_toe")
    chooser = Chooser(net(game))
    first, again, other = (played(game, chooser, 100, seed).words.tobytes() for seed in (1, 1, 2))
    assert first == again != other


def test_net_does_not_differ_from_itself():
    e = net(get_game("tic_tac_toe"))
    loss = measure_loss(e, e, 50)
    assert (loss.positions, loss.mean, loss.largest, loss.changed, loss.changed_low) == (50, 0.0, 0.0, 0.0, 0.0)
    assert 0.04 < loss.changed_high < 0.1  # 32 boards went on: as many trials
    assert loss.speedup > 0


def test_command_writes_the_net_and_tells_its_loss(file, tmp_path, capsys):
    small = tmp_path / "small.safetensors"
    assert run(["quantise", str(file), "--out", str(small), "--positions", "50", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["game"], told["positions"], told["file"]) == ("tic_tac_toe", 50, str(small))
    assert 0 < told["mean_difference"] <= told["largest_difference"] < 0.01
    assert told["bytes_after"] == small.stat().st_size
    assert isinstance(load_evaluator(small, get_game("tic_tac_toe")), QuantisedNet)
    assert run(["quantise", str(file), "--out", str(small), "--positions", "50"]) == 0  # over the old one
    assert "values differ by 0.00" in capsys.readouterr().out
    assert run(["info", str(small)]) == 0
    assert '"kind": "quantised"' in capsys.readouterr().out


def refusal(capsys, *arguments) -> str:
    assert run(["quantise", *map(str, arguments)]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_command_refuses_what_is_no_net(tmp_path, capsys):
    linear = save(LinearEval.zero(get_game("tic_tac_toe")), tmp_path / "linear.safetensors")
    said = refusal(capsys, linear, "--out", tmp_path / "small.safetensors")
    assert "linear.safetensors is a linear evaluator: give a net that `evallearn learn --recipe net` made" in said


def test_command_refuses_to_overwrite_anything_else(file, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    for name in (file.name, "notes.txt"):
        said = refusal(capsys, file, "--out", tmp_path / name)
        assert f"{name} is there already and is no quantised net: choose another name" in said
    assert f"{tmp_path} is a folder: name a file in it" in refusal(capsys, file, "--out", tmp_path)
    assert read_header(file)["kind"] == "net"


def test_game_without_rules_is_refused():
    with pytest.raises(SpecError, match="takeaway is no two-player zero-sum game on the compiled backend: write its"):
        Chooser(net(Takeaway()))
