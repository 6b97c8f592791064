"""The zoo: every shipped evaluator loads, is small, keeps its promises, and its card is complete and true."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from toys import Takeaway

import evallearn
from evallearn.agents import SearchAgent, parse_agent, parse_evaluator
from evallearn.cli import cli, run
from evallearn.cli.learn import assignments
from evallearn.core.checksum import write_checked
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game
from evallearn.core.search import Limits
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import (
    LinearEval,
    PatternEval,
    hardest,
    heuristic,
    load_evaluator,
    read_card,
    read_header,
    save,
    zoo_file,
    zoo_names,
)
from evallearn.evaluators.zoo import MOST_BYTES, NewCard, zoo_folder, zoo_name
from evallearn.quality.card import add_to_zoo, card_limits, make_card
from evallearn.registry import game_names
from evallearn.runs import Recipe

TTT = evallearn.get_game("tic_tac_toe")
SHIPPED = zoo_names()
HERE = re.compile(r"/(?:root|home|work|tmp)/\w")
MATCH = ("opponent", "elo", "low", "high", "score", "games", "distinct_games", "wins", "draws", "losses", "limit")
QUALITY = ("on", "log_loss", "baseline_log_loss", "brier", "sign_accuracy", "calibration_error", "n_records")


# --- every animal ----------------------------------------------------------------------------------------------------
def test_there_is_a_zoo() -> None:
    assert {name.split("/")[0] for name in SHIPPED} == set(game_names())
    cards = sorted(p.relative_to(zoo_folder()).with_suffix("").as_posix() for p in zoo_folder().glob("*/*.json"))
    assert cards == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_eval_is_small_and_its_card_tells_all(name: str) -> None:
    path, card = zoo_file(name), read_card(name)
    assert path.stat().st_size == card["bytes"] < MOST_BYTES
    header = read_header(path)
    assert zoo_name(card["game"], card["name"]) == name
    assert (header["game"], header["kind"], header["made"]["command"]) == (card["game"], card["kind"], card["command"])
    assert card["minutes"] > 0
    assert sum(card["learned_from"].values()) > 0
    assert set(QUALITY) <= set(card["quality"])
    assert not HERE.search(path.with_suffix(".json").read_text() + json.dumps(header))
    assert not re.search(r"\d{4}-\d\d-\d\d", path.with_suffix(".json").read_text())  # no date


@pytest.mark.parametrize("name", SHIPPED)
def test_a_card_tells_of_every_handwritten_heuristic(name: str) -> None:
    card = read_card(name)
    game = evallearn.get_game(card["game"])
    assert [m["opponent"] for m in card["matches"]] == [f"handwritten:{h}" for h in game.baselines]
    for m in card["matches"]:
        assert set(MATCH) <= set(m)
        assert m["low"] <= m["elo"] <= m["high"]
        assert m["games"] > 0
        parse_agent(f"zoo:{card['name']}@{m['limit']}", game)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_card_names_a_command_that_our_command_line_understands(name: str) -> None:
    card = read_card(name)
    program, command, *arguments = shlex.split(card.get("repeat", card["command"]))
    assert (program, command) == ("evallearn", "learn")
    with click.Context(cli) as context:
        found = cli.get_command(context, command)
        assert found is not None
        given = found.make_context(command, arguments, parent=context).params  # parses, and runs nothing
        Recipe.load(given["recipe"], given["game"], assignments(given["settings"]))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_eval_keeps_its_promises(name: str) -> None:
    evaluator = evallearn.load(name)
    game, rng = evaluator.game, random.Random(name)
    low, high = game.utility_range
    for _ in range(3):
        s = game.initial()
        while not game.is_terminal(s):
            if game.to_play(s) == CHANCE:
                s = game.result(s, rng.choice([outcome for outcome, _ in game.chances(s)]))
                continue
            assert low < evaluator.evaluate(s, game.to_play(s)) < high
            s = game.result(s, rng.choice(list(game.actions(s))))
        assert evaluator.evaluate(s, 0) == game.utility(s, 0)


# --- one way to name them --------------------------------------------------------------------------------------------
def weights(evaluator: Evaluator) -> list[float]:
    assert isinstance(evaluator, LinearEval)
    return evaluator.weights.ravel().tolist()


def test_names_lead_to_the_same_eval_everywhere() -> None:
    loaded = weights(evallearn.load("tic_tac_toe/linear"))
    assert weights(evallearn.load("zoo:tic_tac_toe/linear")) == loaded
    assert weights(evallearn.load(zoo_file("tic_tac_toe/linear"))) == loaded
    for text in ("zoo:linear", "zoo:tic_tac_toe/linear"):
        assert weights(parse_evaluator(text, TTT)) == loaded
        agent = parse_agent(f"{text}@depth=1", TTT)
        assert isinstance(agent, SearchAgent)
        assert agent.name == f"{text}@depth=1"


def test_a_file_is_meant_only_where_the_name_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    other = heuristic(TTT, "lines")
    save(other, "tic_tac_toe/linear.safetensors")
    Path("tic_tac_toe/linear.safetensors").rename("tic_tac_toe/linear")  # the same words as a name in the zoo
    assert weights(evallearn.load("tic_tac_toe/linear")) != weights(other)
    assert weights(evallearn.load(Path("tic_tac_toe/linear"))) == weights(other)


def test_unknown_names_list_what_there_is() -> None:
    with pytest.raises(
        SpecError, match="unknown evaluator in the zoo 'othello/liner': did you mean 'othello/linear'?"
    ) as told:
        evallearn.load("othello/liner")
    assert "connect_four/linear" in str(told.value)
    assert str(told.value).endswith("or give the path of a .safetensors file")
    with pytest.raises(
        SpecError, match="unknown evaluator in the zoo of tic_tac_toe 'tic_tac_toe/lines': did you mean"
    ):
        parse_agent("zoo:lines", TTT)
    with pytest.raises(SpecError, match="unknown evaluator in the zoo of tic_tac_toe 'othello/linear'"):
        parse_agent("zoo:othello/linear", TTT)
    with pytest.raises(
        SpecError, match="zoo:x: no evaluator is shipped for takeaway yet: use zero, handwritten:NAME or a"
    ):
        zoo_file("x", Takeaway().name)


# --- the command -----------------------------------------------------------------------------------------------------
def test_the_command_lists_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["zoo"]) == 0
    shown = capsys.readouterr().out
    for name in SHIPPED:
        best = hardest(read_card(name))
        assert best is not None
        line = next(row for row in shown.splitlines() if row.split()[:1] == [name])
        assert f"{best['elo']:+.0f}" in line
    assert run(["zoo", "--json"]) == 0
    assert [zoo_name(c["game"], c["name"]) for c in json.loads(capsys.readouterr().out)["evals"]] == SHIPPED


def test_the_command_shows_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "connect_four/linear"]) == 0
    shown = capsys.readouterr().out
    for words in ("evallearn learn connect_four --seed=1", "lines", "threats", "nodes=2000", "calibration error"):
        assert words in shown
    assert run(["zoo", "connect_four/linear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == read_card("connect_four/linear")
    assert run(["zoo", "connect_four/nobody"]) == 2
    assert "unknown evaluator in the zoo 'connect_four/nobody'" in " ".join(capsys.readouterr().err.split())


# --- making cards ----------------------------------------------------------------------------------------------------
@pytest.fixture
def empty_zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: tmp_path / "zoo")
    return tmp_path / "zoo"


def card_of(evaluator: LinearEval, **changes: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"command": "evallearn learn tic_tac_toe", "minutes": 1.5, "learned_from": {"records": 9}}
    return make_card(evaluator, "lines", **{**told, "pairs": 5, "limits": Limits(depth=1), **changes})


def test_a_card_is_complete_and_the_same_each_time(empty_zoo: Path) -> None:
    evaluator = heuristic(TTT, "lines")
    card = card_of(evaluator)
    assert card == card_of(evaluator)
    path = add_to_zoo(evaluator, card, empty_zoo)
    assert path == zoo_file("tic_tac_toe/lines")
    assert not set(NewCard.__annotations__) - read_card("tic_tac_toe/lines").keys()
    even = card["matches"][1]
    assert (even["opponent"], even["elo"], even["score"]) == ("handwritten:lines", 0.0, 0.5)
    assert card["quality"]["n_records"] > 0
    assert load_evaluator(path, TTT).metadata["command"] == "evallearn learn tic_tac_toe"


def test_a_damaged_card_is_named(empty_zoo: Path) -> None:
    path = add_to_zoo(heuristic(TTT, "lines"), card_of(LinearEval.zero(TTT)), empty_zoo)
    card = read_card("tic_tac_toe/lines")
    path.with_suffix(".json").write_text("{}")
    with pytest.raises(EvaluatorError, match="lines.json does not tell its game, name, kind"):
        read_card("tic_tac_toe/lines")
    path.with_suffix(".json").write_text("{")
    with pytest.raises(EvaluatorError, match="lines.json cannot be read .*: install evallearn again"):
        read_card("tic_tac_toe/lines")
    path.with_suffix(".json").write_text("[" * 100_000)
    with pytest.raises(EvaluatorError, match="lines.json cannot be read .it is nested too deep.: install evallearn"):
        read_card("tic_tac_toe/lines")
    path.with_suffix(".json").write_text(json.dumps({**card, "matches": [{"elo": 1e999}], "minutes": 10**400}))
    with pytest.raises(EvaluatorError, match="lines.json does not tell its minutes, matches: install evallearn again"):
        read_card("tic_tac_toe/lines")


def test_the_zoo_takes_no_elephants(empty_zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.quality.card.MOST_BYTES", 100)
    evaluator = heuristic(TTT, "lines")
    with pytest.raises(EvaluatorError, match="lines.safetensors has .* bytes, the zoo takes at most 100: ship"):
        add_to_zoo(evaluator, card_of(evaluator), empty_zoo)
    assert zoo_names() == []


@pytest.mark.parametrize(("name", "limit"), [("chess", "nodes=2000"), ("backgammon", "depth=1"), ("2048", "depth=1")])
def test_limits_suit_the_game(name: str, limit: str) -> None:
    assert str(card_limits(evallearn.get_game(name))) == limit


def test_add_ships_what_a_run_has_learned(empty_zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    file = folder / "evaluators" / "linear.safetensors"
    save(heuristic(TTT, "lines"), file)
    words = ["zoo", "add", str(folder), "mine", "--pairs=3", "--limit=depth=1", "--workers=1"]
    words += [f"--out={empty_zoo}", "--json"]

    def refused() -> str:
        assert run(words) == 2
        return " ".join(capsys.readouterr().err.split())

    assert "holds no finished run: give a folder that `evallearn learn` made" in refused()
    told = {"game": "tic_tac_toe", "command": "evallearn learn tic_tac_toe --seed=1", "seconds": {"a": 30.0, "b": 60.0}}
    write_checked(folder / "result.json", told)
    assert "result.json does not tell its game, command, games" in refused()
    write_checked(folder / "result.json", {**told, "records": 77, "games": 11, "fits": {"linear": {}}})
    assert run(words) == 0
    card = read_card("tic_tac_toe/mine")
    assert json.loads(capsys.readouterr().out) == card
    assert (card["command"], card["minutes"]) == ("evallearn learn tic_tac_toe --seed=1", 1.5)
    assert card["learned_from"] == {"games": 11, "records": 77}
    words.append("--eval=liner")
    assert "unknown evaluator of" in refused()


def test_patterns_have_cards_too(empty_zoo: Path) -> None:
    from evallearn.train import PatternModel, SelfPlayTrainer

    game: Game = evallearn.get_game("connect_four")
    evaluator = SelfPlayTrainer(PatternModel(game)).fit(games=50).evaluator
    assert isinstance(evaluator, PatternEval)
    card = make_card(
        evaluator, "patterns", command="evallearn learn connect_four --recipe=patterns", minutes=0.1,
        learned_from={"games": 50}, pairs=2, limits=Limits(depth=1),
    )  # fmt: skip
    assert card["kind"] == "patterns"
    assert card["seed"] == 1
    assert card["quality"]["log_loss"] > 0
