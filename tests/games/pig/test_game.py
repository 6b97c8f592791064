"""Pig: rules, parameter, notation, features, both backends, the exact solution."""

from __future__ import annotations

import random
from functools import lru_cache, partial
from typing import Any

import numpy as np
import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn import check_game, get_game
from evallearn.core.game import CHANCE
from evallearn.errors import BadNotation, GameError, IllegalAction, SpecError
from evallearn.games.pig import Pig
from evallearn.games.pig.game import FACES, HOLD, ROLL, State
from evallearn.games.pig.solver import best_action, hold_value, roll_value, solve_pig, win_probability

GAME = Pig()
random_game = partial(playing.random_game, GAME)
table = lru_cache(solve_pig)
STRANGE = [
    "",
    " ",
    "²",
    "٣",
    "9" * 5000,
    "3\x00",
    "3-\n5-",
    "\ud800",
    "-",
    "3--5",
    "-3",
    "+3",
    "3.0",
    "1e2",
    "０",
    "None",
]


def play(text: str, *actions: int) -> str:
    s = GAME.from_text(text)
    for a in actions:
        s = GAME.result(s, a)
    return GAME.to_text(s)


# --- rules -----------------------------------------------------------------------------------------------------------
def test_a_roll_adds_to_the_turn_total():
    assert play("10-20", ROLL) == "10-20/turn=0/target=100/first/rolling"
    assert play("10-20", ROLL, 6) == "10-20/turn=6/target=100/first"
    assert play("10-20", ROLL, 6, ROLL, 2) == "10-20/turn=8/target=100/first"


def test_a_one_loses_the_turn_total():
    assert play("10-20/turn=8", ROLL, 1) == "10-20/turn=0/target=100/second"
    assert play("10-20/turn=8/second", ROLL, 1) == "10-20/turn=0/target=100/first"


def test_holding_banks_the_turn_total():
    assert play("10-20/turn=8", HOLD) == "18-20/turn=0/target=100/second"
    assert play("10-20/turn=8/second", HOLD) == "10-28/turn=0/target=100/first"


@pytest.mark.parametrize(("player", "text"), [(0, "10-20/turn=84"), (1, "20-10/turn=84/second")])
def test_reaching_the_target_wins_at_once(player, text):
    s = GAME.result(GAME.from_text(text), ROLL)
    assert not GAME.is_terminal(GAME.result(s, 5))
    won = GAME.result(s, 6)
    assert GAME.is_terminal(won)
    assert (won.first, won.second)[player] == 100
    assert (won.turn, won.rolling, GAME.to_play(won), GAME.actions(won)) == (0, 0, player, ())
    assert (GAME.utility(won, player), GAME.utility(won, 1 - player)) == (1.0, -1.0)


def test_a_turn_begins_with_a_roll():
    assert GAME.actions(GAME.initial()) == (ROLL,)
    assert GAME.actions(GAME.from_text("0-0/turn=2")) == (ROLL, HOLD)


def test_the_die_has_six_equal_faces():
    s = GAME.result(GAME.initial(), ROLL)
    assert GAME.to_play(s) == CHANCE
    assert GAME.actions(s) == ()
    assert GAME.chances(s) == tuple((face, 1 / 6) for face in (1, 2, 3, 4, 5, 6))


@pytest.mark.parametrize("text", ["3-4/turn=5/second", "3-4/turn=5/second/rolling"])
def test_the_player_on_turn_looks_on_while_the_die_rolls(text):
    assert GAME.observer(GAME.from_text(text)) == 1


@pytest.mark.parametrize(
    ("position", "action", "shown", "message"),
    [
        ("0-0/turn=0/target=100/first", HOLD, "hold", "a turn begins with a roll; legal: roll"),
        ("0-0/turn=4/target=100/first", 3, "3", "actions are 0 (roll) and 7 (hold); legal: roll hold"),
        ("0-0/turn=0/target=100/first/rolling", ROLL, "roll", "the die is rolling; legal: 1 2 3 4 5 6"),
        ("0-0/turn=0/target=100/first/rolling", HOLD, "hold", "the die is rolling; legal: 1 2 3 4 5 6"),
        ("0-0/turn=0/target=100/first/rolling", "1", "'1'", "the die is rolling; legal: 1 2 3 4 5 6"),
        ("101-0/turn=0/target=100/first", ROLL, "roll", "the game is over; legal: none"),
    ],
)
def test_illegal_actions_say_why(position, action, shown, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert str(error.value) == f'illegal action {shown} in pig position "{position}": {message}'


# --- parameter -------------------------------------------------------------------------------------------------------
def test_the_target_is_a_parameter():
    game = get_game("pig,target=20")
    assert game.name == Pig(20).name == "pig,target=20"
    assert game.to_text(game.initial()) == "0-0/turn=0/target=20/first"
    assert get_game("pig,target=100").name == "pig"


@pytest.mark.parametrize("target", [1, 1001, "1", "", "ten", True, 20.0, None, *STRANGE])
def test_bad_targets_are_named(target):
    with pytest.raises(SpecError) as error:
        Pig(target)
    expected = f"pig: target={target!r} cannot be; give a whole number of 2 to 1000, as in target=100"
    assert str(error.value) == expected


@settings(max_examples=100)
@given(st.one_of(st.text(), st.text("0123456789 ", max_size=6), st.integers()))
def test_any_target_is_taken_or_refused(target):
    try:
        game = Pig(target)
    except SpecError:
        return
    assert 2 <= game.target <= 1000
    assert game.target == int(target)


# --- text ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", [2, 17, 100])
def test_texts_read_back(target):
    game = Pig(target)
    for seed in range(5):
        for s, a in playing.random_game(game, seed):
            assert game.from_text(game.to_text(s)) == s
            assert GAME.from_text(game.to_text(s)) == s  # the text names its target
            if a is not None:
                assert game.action_from_text(s, game.action_to_text(s, a)) == a


def test_positions_are_read_in_several_forms():
    expected = State(34, 51, 12, 1, 1, 100)
    for text in (
        "34-51/turn=12/target=100/second/rolling",
        " 34-51 TURN=12 Second Rolling ",
        "34-51 / turn=12/second/rolling",
    ):
        assert GAME.from_text(text) == expected
    assert GAME.from_text("34-51") == State(34, 51, 0, 0, 0, 100)
    assert Pig(60).from_text("34-51") == State(34, 51, 0, 0, 0, 60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "expected points, turn total and whose turn it is, as in 34-51/turn=12/first") for text in STRANGE),
        ("1-2/target=1", "the target is 1; give 2 to 1000"),
        ("1-2/target=1001", "the target is 1001; give 2 to 1000"),
        ("1-100/first", "100 points have won, so the turn is the winner's: write second"),
        ("100-1/second", "100 points have won, so the turn is the winner's: write first"),
        ("100-1/turn=3", "100 points have won, so the turn total is 0 and no die rolls"),
        ("100-1/rolling", "100 points have won, so the turn total is 0 and no die rolls"),
        ("90-1/turn=10", "90 and 10 reach the target of 100: bank them"),
    ],
)
def test_bad_positions_are_named(text, message):
    playing.refuses(GAME, text, message)


def test_two_winners_are_refused():
    with pytest.raises(BadNotation, match="have won"):
        GAME.from_text("100-100")


@settings(max_examples=100)
@given(
    st.one_of(
        st.text(), st.from_regex(r"[0-9]{1,3}-[0-9]{1,3}(/turn=[0-9]{1,2})?(/second)?(/rolling)?", fullmatch=True)
    )
)
def test_any_text_is_a_position_or_bad_notation(text):
    try:
        s = GAME.from_text(text)
    except BadNotation:
        return
    assert GAME.from_text(GAME.to_text(s)) == s
    playing.compare_backends(GAME, s)


def test_moves_are_read_as_people_write_them():
    s = GAME.from_text("0-0/turn=5")
    assert [GAME.action_from_text(s, text) for text in ("roll", " Roll ", "R", "hold", "HOLD\n", "h")] == 3 * [
        ROLL
    ] + 3 * [HOLD]
    rolling = GAME.from_text("0-0/turn=5/rolling")
    assert [GAME.action_from_text(rolling, f" {face}") for face in FACES] == list(FACES)


@pytest.mark.parametrize("text", [*STRANGE, "1", "rolling", "roll hold", "bank"])
def test_unreadable_moves_are_bad_notation(text):
    with pytest.raises(BadNotation) as error:
        GAME.action_from_text(GAME.initial(), text)
    assert str(error.value) == f"pig move {text!r} in position '0-0/turn=0/target=100/first': write roll or hold"


@pytest.mark.parametrize("text", [*STRANGE, "0", "7", "roll", "hold"])
def test_unreadable_faces_are_bad_notation(text):
    with pytest.raises(BadNotation, match="the die shows 1 to 6"):
        GAME.action_from_text(GAME.from_text("0-0/rolling"), text)


def test_readable_moves_may_be_illegal():
    with pytest.raises(IllegalAction, match="a turn begins with a roll"):
        GAME.action_from_text(GAME.initial(), "hold")
    with pytest.raises(IllegalAction, match="the game is over"):
        GAME.action_from_text(GAME.from_text("100-0"), "roll")


@settings(max_examples=100)
@given(st.one_of(st.text(), st.text("rolhd 0123456789", max_size=5)), st.booleans())
def test_any_move_text_is_an_action_or_refused(text, rolling):
    s = GAME.from_text("0-0/turn=5/rolling" if rolling else "0-0/turn=5")
    try:
        a = GAME.action_from_text(s, text)
    except BadNotation:
        return
    assert a in (FACES if rolling else GAME.actions(s))


def test_board_shows_points_turn_and_what_is_next():
    expected = [
        "first  |" + "=" * 17 + "+" * 6 + "." * 27 + "| 34 + 12",
        "second |" + "=" * 25 + "." * 25 + "| 51",
        "first to roll or hold, to 100",
    ]
    assert GAME.board(GAME.from_text("34-51/turn=12")).splitlines() == expected
    assert GAME.board(GAME.from_text("0-0/second")).endswith("\nsecond to roll, to 100")
    assert GAME.board(GAME.from_text("0-0/second/rolling")).endswith("\nsecond is rolling, to 100")
    assert GAME.board(GAME.from_text("0-104/second")).endswith("|" + "=" * 50 + "| 104\nsecond has reached 100 and won")


# --- features and backends -------------------------------------------------------------------------------------------
def features(text: str, player: int = 0) -> dict[str, float]:
    """The features that are not 0."""
    values = GAME.features(GAME.from_text(text), player)
    return {name: value for name, value in zip(GAME.feature_names, values, strict=True) if value}


def test_features_of_known_positions():
    assert features("0-0") == {"on_turn": 1}
    assert features("0-0/second") == {"on_turn": -1}
    turn = {"turn": 12, "late_turn": (46**2 - 34**2) / 1024}
    seen = {"banked": -17, "late": (34**2 - 51**2) / 1024, "on_turn": 1, **turn}
    assert features("34-51/turn=12") == seen
    assert features("34-51/turn=12/rolling") == {**seen, "rolling": 1, "at_stake": 12}
    assert features("34-51/turn=12", player=1) == {name: -value for name, value in seen.items()}
    last = features("80-0/turn=14")
    assert (last["in_reach"], last["finish"]) == (1, 1)
    assert features("79-80/turn=14")["in_reach"] == -1
    assert "finish" not in features("79-80/turn=14")
    assert [features(f"0-0/turn={turn}").get("good_turn") for turn in (19, 20)] == [None, 1]


def test_phases_are_quarters_of_the_way():
    assert [GAME.phase(GAME.from_text(t)) for t in ("0-24", "25-0", "0-50", "75-3", "105-0")] == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("target", [2, 7, 100, 1000])
def test_backends_agree_on_random_games(target):
    game = Pig(target)
    for seed in range(2):
        for s, _ in playing.random_game(game, seed)[:200]:
            playing.compare_backends(game, s)


def test_contract_is_kept_for_another_target():
    assert check_game(Pig(2), games=3).backends == ("python", "compiled")


def test_keys_are_distinct():
    seen = {s for target in (20, 100) for seed in range(20) for s, _ in playing.random_game(Pig(target), seed)}
    keys = {int(GAME.rules.key(State(*map(np.uint64, s)))) for s in seen}
    assert len(keys) == len(seen)


# --- the exact solution ----------------------------------------------------------------------------------------------
def test_published_value_of_the_game():
    # Neller & Presser (2004): the first player wins 53.06 % of the games between optimal players.
    assert table(100)[0, 0, 0] == pytest.approx(0.5306, abs=5e-5)
    assert win_probability(table(100), GAME.initial(), 0) == table(100)[0, 0, 0]
    assert win_probability(table(100), GAME.initial(), 1) == 1 - table(100)[0, 0, 0]


def test_published_policy_at_the_start_holds_at_21():
    actions = [best_action(table(100), GAME.initial()._replace(turn=k)) for k in range(100)]
    assert actions == 21 * [ROLL] + 79 * [HOLD]


def test_optimal_play_takes_risks_when_the_opponent_is_about_to_win():
    assert best_action(table(100), GAME.from_text("50-99/turn=40")) == ROLL
    assert best_action(table(100), GAME.from_text("50-0/turn=40")) == HOLD


def test_a_pass_would_never_pay():
    at_turn_start = table(100)[:, :, 0]
    assert (at_turn_start > 1 - at_turn_start.T).all()


@pytest.mark.parametrize("target", [2, 3, 10, 20])
def test_table_is_its_own_expectation_under_the_rules(target):
    """P of every state, from the game's own result and chances: nothing of the solver's arithmetic is used."""
    game, exact = Pig(target), table(target)

    def wins(s: State, player: int) -> float:
        return win_probability(exact, s, player)

    for i, j, k in np.ndindex(exact.shape):
        if i + k >= target:
            continue
        for player in (0, 1):
            points = (i, j) if player == 0 else (j, i)
            s = State(*points, k, player, 0, target)
            best = max(wins(game.result(s, a), player) for a in game.actions(s))
            assert wins(s, player) == pytest.approx(best, abs=1e-12)
            roll = game.result(s, ROLL)
            mean = sum(p * wins(game.result(roll, face), player) for face, p in game.chances(roll))
            assert wins(roll, player) == pytest.approx(mean, abs=1e-12)


def test_smallest_game_by_hand():
    # To 2 points any roll but a 1 wins: p = 5/6 + 1/6 (1 - p), so p = 6/7.
    assert table(2)[0, 0, 0] == pytest.approx(6 / 7, abs=1e-12)


def test_optimal_players_win_as_often_as_the_table_says():
    game, exact, rng = Pig(20), table(20), random.Random(5)
    won = 0
    for _ in range(2000):
        s = game.initial()
        while not game.is_terminal(s):
            s = game.result(s, rng.choice(FACES) if s.rolling else best_action(exact, s))
        won += s.player == 0
    sigma = (0.25 / 2000) ** 0.5
    assert won / 2000 == pytest.approx(exact[0, 0, 0], abs=4 * sigma)


def test_hold20_heuristic_holds_at_20():
    """Looking no further than the roll itself, as its weights intend."""
    weights: Any = GAME.heuristics["hold20"].weights

    def value(s: State, player: int) -> float:
        return sum(weights.get(n, 0) * v for n, v in zip(GAME.feature_names, GAME.features(s, player), strict=True))

    def holds(k: int) -> bool:
        s = State(30, 40, k, 0, 0, 100)
        return value(GAME.result(s, HOLD), 0) >= value(GAME.result(s, ROLL), 0) - 1e-9

    assert [k for k in range(2, 60) if holds(k)] == list(range(20, 60))


@pytest.mark.parametrize("target", [1, 201])
def test_solver_refuses_targets_it_has_no_room_for(target):
    with pytest.raises(GameError, match=f"solve_pig\\({target}\\): the table serves targets of 2 to 200"):
        solve_pig(target)


def test_solver_kernels_also_run_uncompiled():
    exact = table(10)
    for i, j, k in np.ndindex(exact.shape):
        if 0 < k < 10 - i:
            choices = hold_value.py_func(exact, i, j, k), roll_value.py_func(exact, i, j, k)
            assert exact[i, j, k] == pytest.approx(max(choices), abs=1e-12)


def test_game_knows_the_value_of_every_action():
    game = Pig(target=20)
    table = solve_pig(20)
    for s in (game.initial(), game.from_text("5-12/turn=6/target=20/second"), game.from_text("13-9/turn=4/target=20")):
        values = game.solved(s)
        assert set(values) == set(game.actions(s))
        assert max(values.values()) == pytest.approx(2 * win_probability(table, s, s.player) - 1, abs=1e-9)
        assert max(values, key=values.get) == best_action(table, s)
    assert Pig(target=500).solved(Pig(target=500).initial()) is None
