"""Backgammon: rules, scoring, both backends, the reference counts, OpenSpiel."""

from __future__ import annotations

import csv
import hashlib
import random
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
import playing
import pytest
from backgammon_positions import position, random_state, side

from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE, Game
from evallearn.errors import IllegalAction, SpecError
from evallearn.games.backgammon.game import BEAR_OFF, CONTACT, RACE, Backgammon
from evallearn.games.backgammon.moves import NO_DICE, PASS, START, Side, State, turns

GAME, TESAURO = Backgammon(), Backgammon("tesauro")
random_game = partial(playing.random_game, GAME)
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/backgammon"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")


@cache
def compiled() -> Game:
    return CompiledGame(GAME)


def plays(s: State) -> list[str]:
    return [GAME.action_to_text(s, a) for a in GAME.actions(s)]


# --- dice ------------------------------------------------------------------------------------------------------------
def test_first_roll_is_never_a_double():
    s = GAME.initial()
    assert GAME.to_play(s) == CHANCE
    assert GAME.observer(s) == 0
    assert GAME.actions(s) == ()
    assert len(GAME.chances(s)) == 15
    assert all(roll // 10 > roll % 10 and p == 1 / 15 for roll, p in GAME.chances(s))
    assert GAME.result(s, 31) == State(START, START, (3, 1), 0)


def test_every_later_roll_has_its_chance():
    s = GAME.from_text("4HPwATDgc/ABMA")
    assert s == GAME.initial()._replace(opening=False)
    rolls = dict(GAME.chances(s))
    assert len(rolls) == 21
    assert (rolls[66], rolls[65]) == (1 / 36, 1 / 18)
    assert sum(rolls.values()) == pytest.approx(1)


def test_turns_alternate_and_dice_are_rolled_between():
    rolled = GAME.result(GAME.initial(), 31)
    s = GAME.result(rolled, GAME.action_from_text(rolled, "8/5 6/5"))
    assert (GAME.to_play(s), s.player, s.dice) == (CHANCE, 1, NO_DICE)
    assert (GAME.observer(s), s.own) == (1, START)
    assert (s.opp[8], s.opp[6], s.opp[5]) == (2, 4, 2)


# --- moves -----------------------------------------------------------------------------------------------------------
def test_opening_three_one_has_its_known_plays():
    found = plays(GAME.from_text("4HPwATDgc/ABMA:31"))
    assert len(found) == 16
    assert {"8/5 6/5", "24/20", "24/23 13/10", "13/9", "13/10 6/5"} <= set(found)


@pytest.mark.parametrize(
    ("own", "opp", "dice", "expected"),
    [
        # 10/5 would leave the two unplayable, 14/9/7 plays both dice
        ("14 10", "12:2 8:2 3:2", (5, 2), ["14/7"]),
        # the other way round: only the smaller die first lets both be played
        ("14 10", "9:2 5:2 8:2", (5, 2), ["14/7"]),
        # either die can be played, but not both: it must be the larger
        ("24 8", "22:2 18:2", (6, 2), ["8/2"]),
        # the larger can not be played at all
        ("24 8", "22:2 18:2 2:2", (6, 2), ["8/6"]),
        # neither can
        ("24 8", "22:2 18:2 2:2 6:2", (6, 2), ["(no play)"]),
    ],
)
def test_as_many_dice_as_possible_are_played(own, opp, dice, expected):
    assert plays(position(own, opp, dice)) == expected


@pytest.mark.parametrize(
    ("own", "opp", "dice", "expected"),
    [
        ("bar 13", "19:2 20:2 21:2 22:2 23:2 24:2", (6, 5), ["(no play)"]),
        ("bar 13", "19:2", (6, 5), ["bar/14", "bar/20 13/7"]),
        ("bar:2 13", "19:2", (6, 5), ["bar/20"]),  # the second checker stays on the bar, so nothing else may move
        ("bar:2 13", "bar", (6, 5), ["bar/20 bar/19"]),
        ("bar:3 13", "bar", (6, 6), ["bar/13 bar/19(2)", "bar/19(3) 13/7"]),
        ("bar:5 13", "bar", (6, 6), ["bar/19(4)"]),
        ("bar 13", "19 14 8", (6, 5), ["bar/19*/14*", "bar/19* 13/8*", "bar/14*", "bar/20 13/7"]),
    ],
)
def test_checkers_on_the_bar_enter_first(own, opp, dice, expected):
    assert plays(position(own, opp, dice)) == expected


@pytest.mark.parametrize(
    ("own", "dice", "expected"),
    [
        ("4:2 2", (6, 5), ["4/off(2)"]),  # a larger die bears off from the highest point
        ("6 4 2", (5, 3), ["6/1 4/1", "6/3 4/off"]),  # and only from there: no 2/off while 4 is taken
        ("5 4 1", (5, 4), ["5/off 4/off", "5/1 4/off"]),
        ("7 1", (6, 1), ["7/off"]),  # home with one die, off with the other, by either order the same
        ("8 6", (6, 1), ["8/2 6/5", "8/1"]),  # 8/7 leaves a checker outside, so no 6/off
        ("7 5:2", (6, 6), ["7/off 5/off(2)"]),
        ("2", (6, 5), ["2/off"]),  # no checker is left for the other die
        ("3:2", (4, 4), ["3/off(2)"]),
    ],
)
def test_bearing_off_needs_all_checkers_home(own, dice, expected):
    assert plays(position(own, "24:2", dice)) == expected


@pytest.mark.parametrize(
    ("own", "opp", "dice", "expected"),
    [
        ("13:4", "bar", (6, 6), ["13/7(4)", "13/1 13/7(2)", "13/1(2)"]),
        ("24 13", "6:2 1:2", (6, 6), ["24/12 13/7"]),  # three times: 12/6 and 7/1 are held
        ("13:2", "1:2", (6, 6), ["13/7(2)"]),
        ("13", "7:2", (6, 6), ["(no play)"]),
    ],
)
def test_doubles_are_played_four_times_or_as_often_as_possible(own, opp, dice, expected):
    assert plays(position(own, opp, dice)) == expected


def test_a_blot_that_is_hit_goes_to_the_bar():
    s = position("13 6:2", "7 1 24:2", (6, 6))
    assert plays(s) == ["13/7*/1* 6/off(2)"]
    after = GAME.result(s, GAME.actions(s)[0])
    assert after == position("bar:2 1:2", "24", player=1)._replace(opp=side("1"))


def test_each_board_is_offered_once():
    for s in (random_state(random.Random(seed)) for seed in range(100)):
        boards = list(turns(s.own, s.opp, s.dice).values())
        assert len(set(boards)) == len(boards)


# --- the end ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ("1:14", 1),  # one checker is off
        ("24:14", 1),
        ("1:15", 2),
        ("18:1 6:14", 2),
        ("19:1 6:14", 3),  # in the winner's home board
        ("bar:1 6:14", 3),
    ],
)
@pytest.mark.parametrize("winner", [0, 1])
def test_gammons_count_two_and_backgammons_three(loser, points, winner):
    s = State(side("1"), side(loser), (2, 1), winner)
    (a,) = GAME.actions(s)
    end = GAME.result(s, a)
    assert GAME.is_terminal(end)
    assert GAME.to_play(end) == 1 - winner
    assert GAME.actions(end) == ()
    values = [points, -points] if winner == 0 else [-points, points]
    assert [GAME.utility(end, 0), GAME.utility(end, 1)] == values
    assert [compiled().utility(end, 0), compiled().utility(end, 1)] == values


def test_a_finished_position_may_be_told_from_either_side():
    s = State(side(""), side("1:15"), NO_DICE, 0)  # the winner is on roll
    assert GAME.is_terminal(s)
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (2.0, -2.0)
    assert (compiled().is_terminal(s), compiled().utility(s, 0)) == (True, 2.0)


@pytest.mark.parametrize(
    ("s", "action", "message"),
    [
        (
            GAME.initial(),
            11,
            'illegal action 11 in backgammon position "4HPwATDgc/ABMA opening": the first roll is no double',
        ),
        (GAME.from_text("4HPwATDgc/ABMA"), 13, "the dice are to be rolled; legal: 11 21 22 31"),
        (GAME.from_text("4HPwATDgc/ABMA:31"), PASS, "a pass is allowed only without a move; legal: "),
        (GAME.from_text("4HPwATDgc/ABMA:31"), 31, "no play of 3-1 has this number; legal: 24/23 24/21, 24/20, "),
        (GAME.from_text("4HPwATDgc/ABMA:31"), "8/5 6/5", "no play of 3-1 has this number"),
        (position("bar 13", "19:2 20:2 21:2 22:2 23:2 24:2", (6, 5)), 13, "legal: (no play)"),
        (State(side(""), side("1"), NO_DICE, 0), 31, "the game is over; legal: none"),
    ],
)
def test_illegal_actions_say_why(s, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(s, action)
    assert message in str(error.value)
    assert f'backgammon position "{GAME.to_text(s)}"' in str(error.value)


# --- parameters, phases, words ---------------------------------------------------------------------------------------
def test_features_are_a_parameter():
    assert (GAME.name, GAME.antisymmetric, len(GAME.feature_names)) == ("backgammon", True, 23)
    assert (TESAURO.name, TESAURO.antisymmetric, len(TESAURO.feature_names)) == (
        "backgammon,features=tesauro",
        False,
        198,
    )
    assert Backgammon.antisymmetric
    with pytest.raises(SpecError, match="unknown backgammon features 'tesoro': did you mean 'tesauro'?"):
        Backgammon("tesoro")


@pytest.mark.parametrize(
    ("own", "opp", "phase"),
    [
        ("24:2 6:5", "1:2 19:5", CONTACT),
        ("bar 1", "24", CONTACT),
        ("8 6:5", "9 19:5", RACE),
        ("8 6:5", "7 19:5", CONTACT),
        ("6:5", "18:5", RACE),
        ("6:5", "19:5", BEAR_OFF),
    ],
)
def test_phases_are_contact_race_and_bear_off(own, opp, phase):
    s = position(own, opp)
    assert GAME.phase(s) == phase
    assert compiled().phase(s) == phase


def test_words_read_back():
    for s in (random_state(random.Random(seed)) for seed in range(50)):
        assert GAME.decode(GAME.encode(s)) == s
    assert GAME.decode(GAME.encode(GAME.initial())) == GAME.initial()


def test_keys_are_distinct():
    rules = GAME.rules
    seen = {s for seed in range(3) for s, _ in random_game(seed)} | {random_state(random.Random(n)) for n in range(300)}
    keys = {int(rules.key(rules.State(*map(np.uint64, GAME.encode(s))))) for s in seen}
    assert len(keys) == len(seen)


# --- both backends ---------------------------------------------------------------------------------------------------
def same_on_both_backends(s: State) -> None:
    found = compiled().actions(s)
    assert list(found) == list(GAME.actions(s))
    assert [compiled().result(s, a) for a in found] == [GAME.result(s, a) for a in found]


def test_backends_agree_on_any_arrangement():
    for seed in range(150):
        same_on_both_backends(random_state(random.Random(seed)))


@pytest.mark.long
def test_backends_agree_on_many_arrangements():
    for seed in range(8000):
        same_on_both_backends(random_state(random.Random(-1 - seed)))


@pytest.mark.parametrize("game", [GAME, TESAURO], ids=["rich", "tesauro"])
def test_uncompiled_rules_equal_the_plain_backend(game):
    for s, _ in islice(random_game(11), 0, None, 3):
        playing.compare_backends(game, s)
    for seed in range(30):
        playing.compare_backends(game, random_state(random.Random(seed))._replace(dice=NO_DICE))


CROWDED = "3 4 6 8 9 11 12 14 15 17 18 20 21 23 24"
"""The most plays that a search over arrangements has found, by a double one: 2,226."""


def test_max_actions_bounds_the_most_crowded_position():
    s = position(CROWDED, "bar", (1, 1))
    assert len(GAME.actions(s)) == len(compiled().actions(s)) == 2226 <= GAME.rules.max_actions


# --- others' counts --------------------------------------------------------------------------------------------------
@needs_reference
@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_afterstates_equal_those_of_gnu_backgammon(backend):
    game = GAME if backend == "python" else compiled()
    with (REFERENCE / "legal_counts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1000
    for row in rows:
        s = game.from_text(f"{row['position_id']}:{row['die1']}{row['die2']}")
        after = sorted(game.to_text(game.result(s, a)).removesuffix(" O") for a in game.actions(s))
        assert len(after) == int(row["n_after_gnubg"])
        assert hashlib.md5(",".join(after).encode()).hexdigest() == row["after_md5"]


def openspiel_side(t, player: int) -> Side:
    """OpenSpiel numbers the points 0..23; X (player 0) moves up, O down; its bar is position 100."""
    points = [t.board(player, 24 - p if player == 0 else p - 1) for p in range(1, 25)]
    counts = [*points, t.board(player, 100)]
    return (15 - sum(counts), *counts)


def openspiel_afterstates(t) -> dict:
    """{(own, opp) after the turn: state}. OpenSpiel plays a double as two turns of two checker moves each."""
    player, found, todo = t.current_player(), {}, [t]
    while todo:
        node = todo.pop()
        for a in node.legal_actions():  # several of them may lead to the same board
            child = node.child(a)
            if not child.is_terminal() and child.current_player() == player:
                todo.append(child)
            else:
                found[openspiel_side(child, player), openspiel_side(child, 1 - player)] = child
    return found


def compare_with_openspiel(games: int, seed: int) -> None:
    """Its first roll also decides who begins (30 outcomes, no doubles), and only full_scoring counts as we do."""
    pyspiel = pytest.importorskip("pyspiel")
    rng, theirs = random.Random(seed), pyspiel.load_game("backgammon(scoring_type=full_scoring)")
    for _ in range(games):
        t = theirs.new_initial_state()
        assert len(t.chance_outcomes()) == 2 * len(GAME.chances(GAME.initial()))
        while not t.is_terminal():
            if t.is_chance_node():
                t.apply_action(rng.choice(t.legal_actions()))
                continue
            player = t.current_player()
            dice = sorted(map(int, str(t).partition("Dice: ")[2][:2]), reverse=True)
            s = State(openspiel_side(t, player), openspiel_side(t, 1 - player), (dice[0], dice[1]), player)
            ours, after = set(turns(s.own, s.opp, s.dice).values()), openspiel_afterstates(t)
            assert set(after) == ours
            t = after[rng.choice(sorted(ours))]
        end = State(openspiel_side(t, 0), openspiel_side(t, 1), NO_DICE, 0)
        assert GAME.is_terminal(end)
        assert [GAME.utility(end, 0), GAME.utility(end, 1)] == t.returns()


def test_openspiel_has_the_same_afterstates_and_returns():
    compare_with_openspiel(games=1, seed=7)


@pytest.mark.long
def test_openspiel_has_the_same_afterstates_and_returns_in_many_games():
    compare_with_openspiel(games=40, seed=8)
