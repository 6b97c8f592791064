"""Rollouts: both backends, any number of workers, luck taken off without a bias, exact values, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from evallearn.agents import parse_evaluator
from evallearn.arena.rollout import roll_out
from evallearn.cli.rollout import command
from evallearn.core.game import Game
from evallearn.errors import SearchError
from evallearn.evaluators import LinearEval, SolvedEval, heuristic
from evallearn.games.backgammon import Backgammon, bearoff
from evallearn.games.backgammon.moves import NO_DICE, ROLLS, State
from evallearn.games.othello import Othello
from evallearn.registry import game_names, get_game
from evallearn.search.dice.rollout import DiceRollout

GAME = Backgammon()
WITH_DICE = [name for name in game_names() if get_game(name).has_chance]
RACE = parse_evaluator("handwritten:race", GAME)


def side(*checkers: int) -> tuple[int, ...]:
    return (15 - sum(checkers), *checkers, *[0] * (25 - len(checkers)))


def last_heuristic(game: Game) -> LinearEval:
    return heuristic(game, list(game.heuristics)[-1])


# --- the same games --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    (
        "name",
        "truncate",
    ),  # the Python backend of backgammon is slow, the kernel of 2048 tells nothing that pig's does not
    [
        *(("pig", 1), ("pig", 6), ("backgammon", 2)),
        *(pytest.param(name, 6, marks=pytest.mark.long) for name in WITH_DICE if name != "pig"),
    ],
)
def test_both_backends_play_the_same_games(name, truncate):
    game = get_game(name)
    s = game.initial()
    evaluator, player = last_heuristic(game), game.observer(s)
    plain, compiled = (
        DiceRollout(game, evaluator, s, player, 3, truncate, backend)(range(4)) for backend in ("python", "compiled")
    )
    assert plain == compiled
    assert all(g.cut for g in plain)


def test_both_backends_agree_to_the_end():
    s = State(side(0, 0, 2, 0, 1), side(0, 2, 0, 1), NO_DICE, 1)
    for player in (0, 1):
        plain, compiled = (DiceRollout(GAME, RACE, s, player, 5, None, f)(range(20)) for f in ("python", "compiled"))
        assert plain == compiled
        assert not any(g.cut for g in plain)


def test_workers_change_nothing_and_seeds_do():
    s = State(side(2, 2, 2), side(2, 2, 2), NO_DICE, 0)
    alone, shared = (roll_out(GAME, RACE, s, games=80, workers=workers) for workers in (1, 2))
    assert alone == shared
    assert roll_out(GAME, RACE, s, games=80, seed=2) != alone


def test_a_roll_that_is_known_is_played_first():
    s = State(side(1), side(1), ROLLS[0], 0)
    found = roll_out(GAME, RACE, s, games=12)
    assert (found.value, found.standard_error, found.outcomes) == (1.0, 0.0, {1.0: 12})


# --- luck ------------------------------------------------------------------------------------------------------------
def test_taking_luck_off_keeps_the_mean_and_saves_variance():
    s = State(side(0, 0, 0, 0, 2, 3), side(0, 0, 0, 0, 3, 2), NO_DICE, 0)
    found = roll_out(GAME, RACE, s, games=1500)
    assert abs(found.value - found.plain_value) < 4 * found.plain_standard_error
    assert found.variance_ratio < 0.6
    assert found.standard_error < found.plain_standard_error


def test_the_mean_luck_of_many_games_is_zero():
    s = State(side(0, 0, 0, 0, 2, 3), side(0, 0, 0, 0, 3, 2), NO_DICE, 0)
    luck = np.array([g.luck for g in DiceRollout(GAME, RACE, s, 0)(range(1500))])
    assert abs(luck.mean()) < 4 * luck.std() / len(luck) ** 0.5


def exact_tables(tmp_path, monkeypatch) -> bearoff.Bearoff:
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    table = bearoff.build()
    bearoff.save(table, bearoff.default_path())
    return table


def test_exact_values_lie_in_the_interval_and_a_judge_who_knows_them_leaves_no_luck(tmp_path, monkeypatch):
    table = exact_tables(tmp_path, monkeypatch)
    forced = State(side(0, 0, 0, 0, 0, 1), side(0, 0, 0, 1), NO_DICE, 1)
    found = roll_out(GAME, RACE, forced, games=1000)
    assert abs(found.value - table.value(forced.own, forced.opp)) < 4 * found.standard_error
    s = State(side(0, 1, 1, 0, 2), side(1, 0, 2, 1), NO_DICE, 0)
    known = SolvedEval(RACE)
    found = roll_out(GAME, known, s, games=80, workers=2)  # the tables do not travel, but are there
    assert found.value == pytest.approx(table.value(s.own, s.opp), abs=1e-5)
    assert found.variance_ratio < 1e-6
    assert found.slope == pytest.approx(1.0, abs=1e-4)


def test_a_cut_game_is_worth_what_the_eval_thinks():
    game = get_game("pig")
    found = roll_out(game, last_heuristic(game), game.initial(), games=20, truncate=1)
    assert (found.cut, found.outcomes) == (20, {})
    assert -1 < found.value < 1


# --- refusals, the command -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": 1}, "games=1: give 2 or more: one alone has no standard error"),
        ({"truncate": 0}, "truncate=0: give a whole number from 1 to 1000000, or None"),
        ({"player": 2}, "player=2: backgammon has the players 0 to 1"),
        ({"s": State(side(), side(1), NO_DICE, 0)}, "the game is over in backgammon position"),
        ({"evaluator": LinearEval.zero(Othello())}, "the .* evaluator is of othello, not of backgammon"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    given = {"evaluator": RACE, "s": GAME.initial(), "games": 2, **changes}
    with pytest.raises(SearchError, match=message):
        roll_out(GAME, given.pop("evaluator"), given.pop("s"), **given)


def test_games_without_dice_are_refused():
    game = Othello()
    with pytest.raises(SearchError, match="a rollout needs dice, and othello has none: use a search"):
        roll_out(game, LinearEval.zero(game), game.initial(), games=2)


def test_the_command_tells_people_and_scripts():
    words = ["backgammon", "AQAACAAAAAAAAA", "--eval", "handwritten:race", "--games", "36", "--workers", "1"]
    found = json.loads(CliRunner().invoke(command, [*words, "--json"]).stdout)
    assert (found["games"], found["player"], found["eval"]) == (36, 0, "race")
    assert sum(found["outcomes"].values()) == 36
    shown = CliRunner().invoke(command, words).stdout
    assert "to player 0, luck off (36 games by race)" in shown
    rolled = CliRunner().invoke(command, [*words, "--roll", "6", "6", "--truncate", "1"])
    assert "ended with 1 in 36" in rolled.stdout or "cut: 36" in rolled.stdout
