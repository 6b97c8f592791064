"""check_game on compiled rules: they must say what the plain game says, and Numba must understand them."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import toys
from complaints import broken, complains, failures
from toys import CoinRace, DoubleMove, Pile

from evallearn.check import check_game
from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game
from evallearn.errors import GameError
from evallearn.games.pig import Pig
from evallearn.games.pig.rules import RULES as PIG_RULES
from evallearn.registry import get_game


# --- broken where compiled -------------------------------------------------------------------------------------------
def with_rules(**changes: Any) -> Game:
    return broken(DoubleMove, rules=dataclasses.replace(toys.DOUBLE_MOVE_RULES, **changes))


@jitable
def actions_backwards(s, out):
    n = toys.pile_actions(s, out)
    for i in range(n):
        out[i] = n - 1 - i
    return n


@jitable
def actions_far(s, out):
    out[3] = 0
    return toys.pile_actions(s, out)


@jitable
def actions_many(s, out):
    return toys.pile_actions(s, out) + 3


@jitable
def actions_negative(s, out):
    return -1


@jitable
def result_never_again(s, a):
    return Pile(s.pile - u64(a) - u64(1), u64(1) - s.player)


@jitable
def result_outside(s, a):
    raise ValueError("no result")


@jitable
def terminal_early(s):
    return s.pile <= u64(1)


@jitable
def to_play_other(s):
    return np.int64(u64(1) - s.player)


@jitable
def utility_won(s):
    return np.float32(1.0)


@jitable
def utility_tenth(s):
    return np.float32(-0.1)


@jitable
def features_shifted(s, out):
    out[0], out[1], out[2] = 1, 2, 3


@jitable
def features_far(s, out):
    for i in range(4):
        out[i] = 0


@jitable
def features_sliced(s, out):
    out[:] = np.float32(0)
    toys.pile_features_mover(s, out)


@jitable
def phase_late(s):
    return np.int64(1)


@jitable
def key_of_player(s):
    return s.player


@jitable
def key_signed(s):
    return (s.pile << u64(60)) // 3 + s.player  # a plain 3: Numba makes it a floating point number


@jitable
def key_outside(s):
    raise ValueError("no key")


AGREE = "make both backends agree"
COMPILED = {
    "max_actions": (
        {"max_actions": 2},
        r"rules\.actions: raised IndexError: index 2 is out of bounds .* in '12:0'; "
        r"raise rules\.max_actions above 2, or mend the index",
    ),
    "actions writes too far": ({"actions": actions_far}, r"rules\.actions: raised IndexError: index 3 .*; raise .*"),
    "actions counts too far": (
        {"actions": actions_many},
        r"rules\.actions: answered 6 with max_actions=3 in '12:0'; raise .*",
    ),
    "actions counts below 0": (
        {"actions": actions_negative},
        r"rules\.actions: answered -1 with max_actions=3 in '12:0'; raise .*",
    ),
    "n_actions": (
        {"n_actions": 2},
        r"rules\.n_actions: is 2, '12:0' has \[0, 1, 2\]; raise it above the largest action",
    ),
    "max_plies": (
        {"max_plies": 2},
        r"rules\.max_plies: is 2, a game took \d+; raise it to the longest possible game",
    ),
    "alternates": (
        {"alternates": True},
        r"rules\.alternates: is True, but the players moved \[0, .*\]; declare alternates=False",
    ),
    "actions": (
        {"actions": actions_backwards},
        rf"rules\.actions: gave \[2, 1, 0\], plain \[0, 1, 2\] in '12:0'; {AGREE}",
    ),
    "result": (
        {"result": result_never_again},
        rf"rules\.result: gave \(10, 1\), plain \(10, 0\) for action 1 in '12:0'; {AGREE}",
    ),
    "result raises": (
        {"result": result_outside},
        rf"rules\.result: raised ValueError: no result in '12:0'; {AGREE}",
    ),
    "is_terminal": ({"is_terminal": terminal_early}, rf"rules\.is_terminal: is True in '1:\d'; {AGREE}"),
    "utility": (
        {"utility_mover": utility_won},
        rf"rules\.utility_mover: gave \[.*\], plain \[.*\] in '0:\d'; {AGREE}",
    ),
    "features": (
        {"features_mover": features_shifted},
        rf"rules\.features_mover: gave \[1\.0, 2\.0, 3\.0\], plain \[0\.0, 3\.0, 0\.0\] in '12:0'; {AGREE}",
    ),
    "features writes too far": (
        {"features_mover": features_far},
        r"rules\.features_mover: raised IndexError: .* in '12:0'; write one number for each of 3 feature_names",
    ),
    "phase": ({"phase": phase_late}, rf"rules\.phase: gave 1, plain 0 in '12:0'; {AGREE}"),
    "key": (
        {"key": key_of_player},
        r"rules\.key: is \d in '\d+:\d' and in '\d+:\d', whose actions or features differ; mix every field .*",
    ),
    "key raises": (
        {"key": key_outside},
        r"rules\.key: raised ValueError: no key in '12:0'; answer a 64-bit word, as mix64 does",
    ),
    "key differs compiled": (
        {"key": key_signed},
        r"rules\.key: is \d+, uncompiled \d+ in '\d+:\d'; build every constant that meets a word with u64",
    ),
}


@pytest.mark.parametrize("case", COMPILED)
def test_broken_rules_are_told_method_value_and_remedy(case):
    changes, line = COMPILED[case]
    complains(with_rules(**changes), r"double_move\." + line)


def test_rules_with_another_player_are_told_first_of_all():
    found = failures(with_rules(to_play=to_play_other))  # features and utility differ too: they are the mover's
    assert found[0] == f"double_move.rules.to_play: gave 1, plain 0 in '12:0'; {AGREE}"


def test_rules_may_write_a_whole_slice():
    assert check_game(with_rules(features_mover=features_sliced)).backends == ("python", "compiled")


def test_utility_that_float32_cannot_hold_is_told():
    game = with_rules(utility_mover=utility_tenth)
    type(game).utility = lambda self, s, p: -0.1 if p == s.player else 0.1
    complains(game, r"double_move\.rules\.utility_mover: gave .*; use utilities that float32 holds exactly: .*")


@pytest.mark.parametrize(
    ("encode", "line"),
    [
        (
            lambda self, s: (s.pile, -1),
            r"encode: gave \(12, -1\) in '12:0'; give one unsigned 64-bit word per field of .*",
        ),
        (lambda self, s: (s.pile, 1 << 64), r"encode: gave \(12, 18446744073709551616\) in .*"),
        (lambda self, s: (s.pile,), r"encode: gave \(12,\) in '12:0'; .*"),
        (lambda self, s: None, r"encode: raised TypeError: .* in '12:0'; .*"),
    ],
)
def test_broken_encoding_is_told(encode, line):
    complains(broken(DoubleMove, encode=encode), r"double_move\." + line)


def test_broken_decoding_is_told():
    game = broken(DoubleMove, decode=lambda self, words: Pile(int(words[0]), 1 - int(words[1])))
    found = failures(game)
    assert re.fullmatch(
        r"double_move\.decode: gave Pile\(.*\), not Pile\(.*\); make it the inverse of encode", found[0]
    )


def test_rules_by_mover_of_a_game_with_chance_are_refused():
    game = broken(CoinRace, rules=toys.DOUBLE_MOVE_RULES)
    complains(game, r"coin_race\.rules\.utility_mover: is not for such a game; leave it out")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"utility_mover": None}, r"utility_mover: is missing; give it"),
        ({"features_player": toys.pile_features_mover}, r"features_player: is not for a two-player .*; leave it out"),
        ({"chances": toys.pile_actions}, r"chances: is not for a two-player zero-sum game .*; leave it out"),
        ({"clock_limit": 3}, r"clock_limit: is 3; give clock and clock_limit, or neither"),
        ({"clock": toys.pile_phase}, r"clock_limit: is 0; give clock and clock_limit, or neither"),
    ],
)
def test_rules_of_another_kind_of_game_are_refused(changes, line):
    complains(with_rules(**changes), r"double_move\.rules\." + line)


# --- features that are not 0 ---------------------------------------------------------------------------------------
@jitable
def active_in_pig(s, player, places, values):
    x, n = np.zeros(10, np.float32), 0
    PIG_RULES.features_player(s, player, x)
    for i in range(9, -1, -1):
        if x[i] != 0:
            places[n], values[n] = i, x[i]
            n += 1
    return n


@jitable
def active_forwards(s, player, places, values):
    n = active_in_pig(s, player, places, values)
    places[:n], values[:n] = places[:n][::-1].copy(), values[:n][::-1].copy()
    return n


@jitable
def active_of_the_mover(s, player, places, values):
    return active_in_pig(s, 0, places, values)


@jitable
def active_too_many(s, player, places, values):
    places[11] = 1
    return 0


def pig_with(active: Any) -> Game:
    return broken(Pig, rules=dataclasses.replace(PIG_RULES, active_features=active))


def test_games_that_find_their_active_features_find_all_of_them():
    assert check_game(pig_with(active_in_pig), games=2, every=7).backends == ("python", "compiled")
    assert check_game(get_game("backgammon,features=tesauro"), games=1, every=9).backends == ("python", "compiled")


@pytest.mark.parametrize(
    ("active", "line"),
    [
        (active_forwards, r"gave \[\(3, 1\.0\), .* to player 0, the features that are not 0 are \[.*\] in '.*'"),
        (active_of_the_mover, r"gave \[.*\] to player 1, .*; name all that features_player makes, the last one first"),
        (active_too_many, r"raised IndexError: .*; write 10 places at most"),
    ],
)  # fmt: skip
def test_wrong_active_features_are_told(active, line):
    complains(pig_with(active), rf"pig\.rules\.active_features: {line}.*")


# --- rules that Numba cannot compile -----------------------------------------------------------------------------
@jitable
def two_levels_down(pile):
    return pile.size  # uncompilable: attribute


def unmarked(pile):
    return np.int64(int(pile) <= toys.LATE)


@jitable
def phase_by_helper(s):
    return np.int64(two_levels_down(s.pile) < 0) + np.int64(s.pile <= u64(toys.LATE))


@jitable
def phase_unmarked(s):
    return unmarked(s.pile)  # uncompilable: unmarked


@jitable
def features_by_generator(s, out):
    toys.pile_features_mover(s, out)
    out[0] = sum(x for x in (int(s.pile) % 4,))  # uncompilable: generator


@jitable
def result_of_two_kinds(s, a):
    child = "nothing" if a == 99 else toys.pile_result(s, a)  # uncompilable: kinds
    return child


@jitable
def phase_with_class(s):
    class Local:  # uncompilable: opcode
        pass

    return np.int64(s.pile <= u64(toys.LATE))


@jitable
def key_in_two(s):
    return (toys.pile_key(s), 0)[0], 0


def line_of(marker: str) -> int:
    with open(__file__) as source:
        return next(i for i, line in enumerate(source, 1) if f"# uncompilable: {marker}" in line)


@pytest.mark.parametrize(
    ("changes", "marker", "reason"),
    [
        ({"phase": phase_by_helper}, "attribute", "Unknown attribute 'size' of type uint64"),
        ({"phase": phase_unmarked}, "unmarked", r"Untyped global name 'unmarked'.*\(mark that function @jitable\)"),
        ({"features_mover": features_by_generator}, "generator", "The use of yield in a closure is unsupported"),
        ({"result": result_of_two_kinds}, "kinds", "Cannot unify .*Pile.*"),
        ({"phase": phase_with_class}, "opcode", r"Use of unsupported opcode \(LOAD_BUILD_CLASS\) found"),
    ],
    ids=lambda x: x if isinstance(x, str) and " " not in x else "",
)
def test_uncompilable_rule_is_told_in_one_line_with_its_place(changes, marker, reason):
    place = rf"\S*test_check_rules\.py:{line_of(marker)}"
    complains(
        with_rules(**changes),
        rf"double_move\.rules: cannot be compiled: {place}: {reason}; "
        r"fix that line, or leave out `rules` to stay on the Python backend",
    )


def test_failure_without_a_line_of_the_user_names_our_call():
    with pytest.raises(GameError, match=r"cannot be compiled: `io\.key = key\(s\)`: ") as caught:
        CompiledGame(with_rules(key=key_in_two))
    assert len(str(caught.value)) < 300
