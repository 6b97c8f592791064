"""What an evaluator sees of backgammon: both sets of features, shots counted by brute force, heuristics."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from backgammon_positions import position, random_state, side
from playing import random_game

from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game
from evallearn.evaluators import heuristic
from evallearn.games.backgammon import Backgammon
from evallearn.games.backgammon.features import shots
from evallearn.games.backgammon.moves import NO_DICE, ROLLS, State, turns

GAME, TESAURO = Backgammon(), Backgammon("tesauro")


@cache
def compiled(game: Game) -> Game:
    return CompiledGame(game)


def features(own: str, opp: str, player: int = 0) -> dict[str, float]:
    """The features that are not 0, with player 0 on roll."""
    values = GAME.features(position(own, opp), player)
    return {name: value for name, value in zip(GAME.feature_names, values, strict=True) if value}


def hits_by_force(s: State) -> int:
    """Rolls of 36 after which some legal play puts an opposing checker on the bar."""
    return sum(
        (1 if a == b else 2) * any(opp != s.opp for _, opp in turns(s.own, s.opp, (a, b)).values()) for a, b in ROLLS
    )


# --- shots -----------------------------------------------------------------------------------------------------------
DIRECT = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17}
INDIRECT = {7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3, 15: 1, 16: 1, 18: 1, 20: 1, 13: 0, 14: 0, 17: 0, 19: 0}


@pytest.mark.parametrize(("distance", "expected"), [*DIRECT.items(), *INDIRECT.items()])
def test_shots_equal_the_known_table(distance, expected):
    s = position("24 1:5", f"{24 - distance}")
    assert shots(s.own, s.opp) == expected


@pytest.mark.parametrize(
    ("own", "opp", "expected"),
    [
        ("24 1:5", "17 23:2 18:2", 4),  # seven away, and 6-1 is blocked both ways
        ("24 1:5", "18 23:2 22:2 20:2 19:2 21:2", 11),  # only a direct six
        ("24 20 1:5", "14", 17 + 1),  # six and ten away: 5-5 more than for six alone
        ("bar 1:5", "20", 15),  # with a five from the bar, 4-1 or 3-2
        ("bar 8 1:5", "2", 11 + 2),  # sixes after the other die has entered; 3-3 and 2-2
        ("bar 8 1:5", "2 24:2", 9 + 2),  # but not 6-1, which enters with the six
        ("bar:2 8 1:5", "20", 11),  # both must enter
        ("bar:2 8 1:5", "2", 2),  # 6-6 and 3-3, which have two steps left
        ("bar:4 8 1:5", "2", 0),
        # 5-1 5-3 5-4 5-5 4-1 3-2 6-3. But 5-2 and 6-5 can not hit: after 10/5 the other die could not be played.
        ("14 10", "12:2 8:2 3:2 5", 13),
        # 2-1 3-2 4-2 5-2 1-1 2-2. But 6-2 can not hit: only one die can be played, and it must be the six.
        ("24 8", "22:2 18:2 6", 10),
    ],
)
def test_shots_respect_blocks_the_bar_and_the_duty_to_play_both_dice(own, opp, expected):
    s = position(own, opp)
    assert shots(s.own, s.opp) == hits_by_force(s) == expected


def test_shots_equal_brute_force_on_any_arrangement():
    for seed in range(40):
        s = random_state(random.Random(seed))
        assert shots(s.own, s.opp) == hits_by_force(s)


@pytest.mark.long
def test_shots_equal_brute_force_on_many_arrangements():
    for seed in range(1000):
        s = random_state(random.Random(-1 - seed))
        assert shots(s.own, s.opp) == hits_by_force(s)
    for seed in range(20):
        for s, _ in random_game(GAME, seed):
            assert shots(s.own, s.opp) == hits_by_force(s)


# --- which of Tesauro's inputs are not 0 -----------------------------------------------------------------------------
def test_active_inputs_are_those_that_are_not_0_the_last_one_first():
    rules, x = TESAURO.rules, np.zeros(198, np.float32)
    places, values = np.zeros(199, np.int32), np.zeros(199, np.float32)
    for seed in range(60):
        words = TESAURO.encode(random_state(random.Random(seed)))
        s = rules.State(*map(np.uint64, words))
        for player in (0, 1):
            rules.features_player(s, player, x)
            n = rules.active_features(s, player, places, values)
            assert places[:n].tolist() == np.flatnonzero(x)[::-1].tolist()
            assert values[:n].tobytes() == x[places[:n]].tobytes()


# --- the rich set ----------------------------------------------------------------------------------------------------
def test_the_start_is_even():
    assert set(GAME.features(GAME.initial(), 0)) == {0}


def test_features_of_a_race():
    # The opponent has borne off all but two checkers on its 3 point and one on its 2 point.
    expected = {
        "pips": 13 + 5 * 6 - 8,
        "wastage": 2,  # gaps on 4 and 5; the opponent has no checker behind its gaps
        "block": 1,
        "timing": 7,
        "stacked": 2,
        "off": 9 - 12,
    }
    assert features("13 6:5", "22:2 23") == expected
    assert features("13 6:5", "22:2 23", player=1) == {name: -value for name, value in expected.items()}


def test_features_of_a_fight():
    # The opponent has, as it numbers them itself, 24:2 13:3 8:6 6:2 4:2.
    assert features("bar 24:2 20:2 13:4 6:6", "1:2 12:3 17:6 19:2 21:2") == {
        "pips": 201 - 155,
        "wastage": 2 - 1,
        "contact": (24 + 46 + 38 + 48 + 30) - 155,  # past the opponent's 24 point; the opponent: past my bar
        "points": 4 - 5,
        "home_points": 1 - 2,
        "block": 1 - 3,
        "anchors": 2 - 1,
        "advanced_anchor": 1,
        "bar": 1,
        "dance": 2 * 2,
        "back": 5 - 2,
        "stuck": 2 - 1,
        "timing": 28 - 33,
        "stacked": (1 + 3) - 3,
        "to_save": 111 - 69,
    }


def test_checkers_too_deep_are_wasted():
    assert features("3:4 2:3 1:3", "24")["wastage"] == 1 + 2 + 2 * 2


def test_made_points_block_and_trap():
    found = features("8:2 7:2 6:2 5:2 4:2", "1 2 20:2")
    assert (found["points"], found["home_points"], found["block"]) == (5 - 1, 3 - 1, 5 - 1)
    assert (found["prime"], found["trapped_5"]) == (5 - 1, 2)
    assert "trapped_6" not in found
    assert features("8:2 7:2 6:2 5:2 4:2 3:2", "1 2 20:2")["trapped_6"] == 2
    assert features("9:2 8:2 7:2 6:2 5:2 4:2 3:2", "1 20:2")["prime"] == 6 - 1
    assert features("24:2 23:2 22:2 21:2 20:2", "19 bar")["trapped_5"] == 2


def test_shots_belong_to_the_shooter():
    # Two blots six pips apart. I shoot from 22 too; for the opponent that point stops 2-2.
    found = features("24 22:2", "18")
    assert (found["shots"], found["shots_next"]) == (27, -(17 - 1))
    assert features("24 22:2", "18", player=1)["shots"] == -27


def test_features_do_not_look_at_the_dice():
    for seed in range(10):
        s = random_state(random.Random(seed))
        for game in (GAME, TESAURO):
            assert game.features(s, 0) == game.features(s._replace(dice=NO_DICE), 0)


# --- Tesauro's set ---------------------------------------------------------------------------------------------------
def test_tesauro_inputs_of_the_start():
    seen = dict(zip(TESAURO.feature_names, TESAURO.features(TESAURO.initial(), 0), strict=True))
    own = {name: value for name, value in seen.items() if value and name.startswith("own")}
    expected = {"own_turn": 1.0, "own_24_1": 1.0, "own_24_2": 1.0, "own_13_more": 1.0, "own_6_more": 1.0}
    expected |= {f"own_{point}_{unit}": 1.0 for point in (13, 8, 6) for unit in (1, 2, 3)}
    assert own == expected
    assert seen["opp_turn"] == 0.0


def test_tesauro_inputs_of_bar_and_off():
    s = State(side("bar:3 6"), side("1:5"), NO_DICE, 1)
    seen = dict(zip(TESAURO.feature_names, TESAURO.features(s, 0), strict=True))
    assert (seen["opp_bar"], seen["opp_off"], seen["own_off"]) == (1.5, 11 / 15, 10 / 15)
    assert (seen["own_1_3"], seen["own_1_more"], seen["opp_6_1"], seen["opp_6_2"]) == (1.0, 1.0, 1.0, 0.0)
    assert (seen["own_turn"], seen["opp_turn"]) == (0.0, 1.0)


def test_race_heuristics_of_both_sets_agree_on_made_points():
    # Tesauro's inputs can not tell a blot that is out of reach, so only positions without blots compare.
    rich, tesauro = heuristic(GAME, "race"), heuristic(TESAURO, "race")
    for own, opp in (("24:2 13:5 8:3 6:5", "1:2 12:5 17:3 19:5"), ("bar:2 6:8", "12:5 24:4"), ("4:3 2:5", "20:2")):
        assert tesauro.evaluate(position(own, opp), 0) == pytest.approx(rich.evaluate(position(own, opp), 0), abs=1e-5)


# --- both backends ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", [GAME, TESAURO], ids=["rich", "tesauro"])
def test_backends_agree_on_any_arrangement(game):
    for seed in range(100):
        s = random_state(random.Random(seed))
        for player in (0, 1):
            fast = compiled(game).features(s, player)
            assert list(fast) == np.asarray(game.features(s, player), np.float32).tolist()


# --- heuristics ------------------------------------------------------------------------------------------------------
def points_per_game(game: Game, name: str, games: int) -> float:
    """What the heuristic wins from random play by choosing the best afterstate; each begins half of the games."""
    rng, fast, total = random.Random(2026), compiled(game), 0.0
    eval_ = heuristic(fast, name)
    for n in range(games):
        s = fast.initial()
        while not fast.is_terminal(s):
            if s.dice == NO_DICE:
                outcomes, odds = zip(*fast.chances(s), strict=True)
                s = fast.result(s, rng.choices(outcomes, odds)[0])
                continue
            after = [fast.result(s, a) for a in fast.actions(s)]
            s = max(after, key=lambda t: eval_.evaluate(t, n % 2)) if s.player == n % 2 else rng.choice(after)
        total += fast.utility(s, n % 2)
    return total / games


def test_heuristics_beat_random_play():
    assert points_per_game(GAME, "positional", games=4) > 1.0


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "name"), [(GAME, "race"), (GAME, "positional"), (TESAURO, "race"), (TESAURO, "points")]
)
def test_heuristics_beat_random_play_by_far(game, name):
    won = points_per_game(game, name, games=200)
    print(f"{game.name} {name}: {won:+.2f} points per game against random play")
    assert won > 2.0  # most wins are gammons or backgammons
