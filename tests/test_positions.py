"""POSITION on the command line: what a game prints is accepted back, minus signs in front and all."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys import Takeaway

from evallearn import get_game
from evallearn.arena.openings import read_openings
from evallearn.cli import analyse, cli, explain, moves, perft, play, rollout, run
from evallearn.cli.positions import position_of
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.positions import START, read_position
from evallearn.errors import BadNotation, GameError
from evallearn.registry import game_names

OTHELLO_START = "---------------------------OX------XO--------------------------- X"
TAKES_A_POSITION = {"analyse": analyse, "moves": moves, "rollout": rollout, "explain": explain}


class Dashes(Takeaway):
    """Takeaway whose positions look like options: `--help` is nine sticks, `-` none."""

    name = "dashes"

    def to_text(self, s: State) -> str:
        return ("-" if s[1] else "--") + "abcdefghijk"[: s[0]]

    def from_text(self, text: str) -> State:
        match = re.fullmatch("(--?)(a?b?c?d?e?f?g?h?i?j?k?)", text)
        if not match:
            raise BadNotation(f"dashes position {text!r}: write dashes and letters")
        return len(match[2]), 2 - len(match[1])


def walk(game: Game, seed: int) -> list[State]:
    """All states of a random game."""
    rng, s = random.Random(seed), game.initial()
    states = [s]
    while not game.is_terminal(s):
        choices = [o for o, _ in game.chances(s)] if game.to_play(s) == CHANCE else game.actions(s)
        s = game.result(s, rng.choice(list(choices)))
        states.append(s)
    return states


def parsed(name: str, game: str, text: str, *more: str) -> Any:
    """The parameters that the command line reads."""
    words = ["zero", text, "--game", game] if name == "explain" else [game, text]
    return TAKES_A_POSITION[name].command.make_context(name, [*words, *more]).params


@pytest.mark.parametrize("name", game_names())
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
@example(seed=0)
def test_what_a_game_prints_is_read_back(name: str, seed: int) -> None:
    game = get_game(name)
    states = walk(game, seed)
    some = {0, len(states) - 1, *random.Random(seed).choices(range(len(states)), k=3)}
    for s in (states[i] for i in sorted(some)):
        text = game.to_text(s)
        assert text.strip() != START
        for command in TAKES_A_POSITION:
            found = parsed(command, name, text)
            assert found["position"] == text
            assert game.to_text(position_of(game, found["position"])) == text
        for other, words in ((perft, [name, "1"]), (play, [name])):
            assert other.command.make_context("x", [*words, "--position", text]).params["position"] == text


@pytest.mark.parametrize("name", game_names())
def test_start_is_the_start_position_and_nothing_else(name: str) -> None:
    game = get_game(name)
    with pytest.raises(BadNotation):
        game.from_text(START)
    assert read_position(game, START) == position_of(game, None) == game.initial()


def test_a_position_may_begin_with_a_minus_sign(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--", OTHELLO_START], ["--json", "--", OTHELLO_START], [OTHELLO_START, "--json"]):
        assert run(["moves", "othello", *words]) == 0
        assert "d3" in capsys.readouterr().out
    assert run(["explain", "handwritten:positional", OTHELLO_START, "--game", "othello", "--top", "3"]) == 0
    assert "worth" in capsys.readouterr().out
    assert run(["analyse", "othello", OTHELLO_START, "--search", "minimax", "--depth", "1"]) == 0
    assert "best:" in capsys.readouterr().out


def test_what_the_commands_print_as_positions_they_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["moves", "othello", START, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for text in (found["position"], *(move["leads_to"] for move in found["moves"])):
        assert run(["moves", "othello", text, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["position"] == text


@pytest.mark.parametrize("text", ["--abcdefgh", "-ab", "-", "-a"])
def test_a_position_that_looks_like_an_option_is_read_by_its_game(text: str) -> None:
    found = parsed("moves", "test_positions:Dashes", text, "--json", "x.json")
    assert (found["position"], found["json_to"]) == (text, "x.json")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["moves", "othello", "---...OX..."], "othello board '---...OX...' has 11 squares"),
        (["analyse", "othello", "--depht", "3"], "--depht"),
        (["analyse", "othello", "start", "--depht=3"], "--depht"),
        (["moves", "test_positions:Dashes", "--jsn"], "--jsn"),
        (["moves", "--jsn", "othello"], "--jsn"),
        (["moves", "othello", "-X"], "-X"),
        (["moves", "othello", OTHELLO_START, "-x"], "-x"),
        (["explain", "zero", "--gane", "othello"], "--gane"),
        (["explain", "zero", "start", "--game", "othello", "--tap=3"], "--tap"),
        (["rollout", "pig", "--game", "3"], "--game"),
    ],
)
def test_a_misspelt_option_is_told_as_before(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert told.startswith("othello") or "No such option" in shown


def test_the_value_of_an_option_is_no_position() -> None:
    found = parsed("analyse", "othello", OTHELLO_START, "--eval", "-x", "--roll", "3", "1", "--seed=3")
    assert (found["position"], found["evaluator"], found["roll"], found["seed"]) == (OTHELLO_START, "-x", (3, 1), 3)


@pytest.mark.parametrize("name", [name for name in game_names() if get_game(name).has_chance])
def test_where_chance_comes_next_it_is_said_what_to_give(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = get_game(name)
    s = next((s for s in walk(game, 1) if game.to_play(s) == CHANCE and not game.is_terminal(s)), None)
    if s is None:
        pytest.skip(f"{name} rolls no dice by default")
    assert run(["analyse", name, game.to_text(s)]) == 2
    told = capsys.readouterr().err
    assert f"{name} position {game.to_text(s)!r} waits for chance" in told
    given_instead = re.search(r"give a position after it, such as '(.*)'\n", told)
    assert given_instead
    assert game.to_play(position_of(game, parsed("analyse", name, given_instead[1])["position"])) != CHANCE
    for command in (["moves", name, game.to_text(s)], ["explain", "zero", game.to_text(s), "--game", name]):
        assert run(command) == 0


def test_start_works_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for words in (
        ["moves", "connect_four", START],
        ["explain", "zero", START, "--game", "connect_four"],
        ["perft", "connect_four", "1", "--position", START, "--plain"],
        ["analyse", "connect_four", START, "--search", "minimax", "--depth", "1"],
        ["play", "connect_four", "--you", "both", "--position", START],
    ):
        assert run(words) == 0
    (tmp_path / "openings.txt").write_text("start\n4\n")
    game = get_game("connect_four")
    assert [game.to_text(o.state) for o in read_openings(tmp_path / "openings.txt", game)] == ["", "4"]


def test_a_game_whose_positions_are_called_start_is_told() -> None:
    from evallearn import check_game

    class Started(Takeaway):
        def to_text(self, s: State) -> str:
            return START if s[0] == 3 else super().to_text(s)

        def from_text(self, text: str) -> State:
            return (3, 0) if text == START else super().from_text(text)

    with pytest.raises(GameError, match="use another word: people write this one for the initial position"):
        check_game(Started())


def test_every_command_with_a_position_reads_it_so() -> None:
    group = click.Context(cli)
    for name in cli.list_commands(group):
        command = cli.get_command(group, name)
        assert command is not None
        if any(p.name == "position" and isinstance(p, click.Argument) for p in command.params):
            assert name in TAKES_A_POSITION
