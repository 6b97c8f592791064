"""check_game: the shipped games keep every promise; a game that breaks one is told method, value and remedy."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import toys
from toys import CoinRace, DoubleMove, Pile, Takeaway, TreeGame

from evallearn import check as check_module
from evallearn.check import check_game
from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game, Heuristic
from evallearn.errors import GameError
from evallearn.games.pig import Pig
from evallearn.games.pig.rules import RULES as PIG_RULES
from evallearn.registry import game_names, get_game

Method = Callable[..., Any]


# --- games that keep the contract --------------------------------------------------------------------------------
SLOW = {"chess": 20, "2048": 4, "backgammon": 4, "checkers": 2, "pacman": 2}
"""Games that are long, or slow upstairs: every n-th position must do (`make long` looks at all)."""


@pytest.mark.parametrize("name", game_names())
def test_shipped_game_keeps_the_contract_on_both_floors(name):
    report = check_game(get_game(name), games=3, every=SLOW.get(name, 1))
    assert (report.game, report.games, report.floors) == (name, 3, ("plain", "compiled"))
    assert report.positions > 3 * 6


@pytest.mark.long
@pytest.mark.parametrize("name", game_names())
def test_shipped_game_keeps_the_contract_in_every_position(name):
    assert check_game(get_game(name), games=10).games == 10


def test_toys_keep_the_contract():
    assert check_game(DoubleMove()).floors == ("plain", "compiled")
    for game in (TreeGame(), Takeaway(), CoinRace()):
        assert check_game(game).floors == ("plain",)


def test_same_seed_checks_the_same_positions():
    assert check_game(CoinRace(), seed=4) == check_game(CoinRace(), seed=4)
    assert check_game(CoinRace(), seed=4).positions != check_game(CoinRace(), seed=5).positions


# --- broken upstairs ---------------------------------------------------------------------------------------------
def broken(base: type[Game] = Takeaway, **members: Any) -> Game:
    return type("Broken", (base,), members)()


def failures(game: Game) -> list[str]:
    with pytest.raises(GameError) as caught:
        check_game(game)
    return str(caught.value).splitlines()


def complains(game: Game, line: str) -> None:
    """Exactly one failure, and this one."""
    found = failures(game)
    assert len(found) == 1, found
    assert re.fullmatch(line, found[0]), found[0]


def raises(error: Exception) -> Method:
    def method(self: Game, *_: Any) -> Any:
        raise error

    return method


def constant(value: Any) -> Method:
    return lambda self, *_: value


class Fickle(Takeaway):
    """Its actions come in another order every time."""

    flip = False

    def actions(self, s):
        self.flip = not self.flip
        return super().actions(s)[:: 1 if self.flip else -1]

    def result(self, s, a):
        return Takeaway.result(Takeaway(), s, a)


def test_images_must_tell_all_of_a_state():
    assert check_game(broken(images=lambda self, s: ((s, 0), (s, 1)))).games == 10
    lossy = broken(images=lambda self, s: (s[0],))  # not who is to move
    complains(
        lossy, r"takeaway.images: begins alike for '\d+:\d' and another position, \(\d+, \d\); tell all of the .*"
    )
    complains(broken(images=lambda self, s: ()), r"takeaway.images: is empty; give the state itself at least")
    complains(broken(images=lambda self, s: ([s],)), r"takeaway.images: gave \[.*\], an unhashable list; use ints.*")


class Impure(Takeaway):
    calls = 0

    def result(self, s, a):
        self.calls += 1
        pile, player = super().result(s, a)
        return (max(0, pile - self.calls % 2), player)


class Box(list):
    """A state that can be changed."""

    def __hash__(self):
        return hash(tuple(self))


class Mutating(Takeaway):
    def initial(self):
        return Box([11, 0])

    def result(self, s, a):
        child = Box(super().result(s, a))
        s.append(a)
        return child

    def from_text(self, text):
        return Box(super().from_text(text))

    def to_text(self, s):
        return f"{s[0]}:{s[1]}"


class Listy(Takeaway):
    """Its states are lists."""

    def initial(self):
        return [11, 0]

    def result(self, s, a):
        return list(super().result(s, a))

    def from_text(self, text):
        return list(super().from_text(text))


class Forgetful(Takeaway):
    """result accepts anything."""

    def result(self, s, a):
        return (max(0, s[0] - a), 1 - s[1])


class Crashing(Takeaway):
    """An illegal action raises, but the wrong error."""

    def result(self, s, a):
        return (s[0] - {b: b for b in self.actions(s)}[a], 1 - s[1])


class Endless(Takeaway):
    def result(self, s, a):
        super().result(s, a)
        return (s[0], 1 - s[1])


class Uneven(Takeaway):
    def features(self, s, player):
        return super().features(s, player)[: 2 - player]


class Positive(Takeaway):
    def features(self, s, player):
        return [abs(f) for f in super().features(s, player)]


class Shy(Takeaway):
    """Fails late, in the middle of a game."""

    def actions(self, s):
        if s[0] == 3:
            raise KeyError("three")
        return super().actions(s)


PLAIN = {
    "feature_names without a comma": (
        broken(feature_names=("pile")),
        r"takeaway\.feature_names: is 'pile'; write a tuple of names, .*",
    ),
    "hidden information": (
        broken(hidden_information=True, feature_names=()),
        r"takeaway\.hidden_information: is True; out of scope, as every search and Eval sees the whole state: play .*",
    ),
    "utility_range is one number": (
        broken(utility_range=3),
        r"takeaway\.utility_range: is 3; give \(worst loss, best win\)",
    ),
    "a heuristic is no Heuristic": (
        broken(heuristics={"bare": {"pile": 1.0}}),
        r"takeaway\.heuristics: 'bare' is \{'pile': 1\.0\}; write Heuristic\(.*",
    ),
    "actions is a generator": (
        broken(actions=lambda self, s: (a for a in Takeaway.actions(self, s))),
        r"takeaway\.actions: gave a generator; give a tuple or a list",
    ),
    "opening_plies longer than any game": (
        broken(opening_plies=1000),
        r"takeaway\.opening_plies: is 1000, but no random game of 10 lasted longer; make it smaller",
    ),
    "initial raises": (
        broken(initial=raises(KeyError("nothing"))),
        r"takeaway\.initial: raised KeyError: 'nothing' in position 'the start'|"
        r"takeaway\.initial: raised KeyError: 'nothing' in position .*; it must answer for every position",
    ),
    "to_play raises": (
        broken(to_play=raises(ValueError("who?"))),
        r"takeaway\.to_play: raised ValueError: who\? in position '11:0'; it must answer for every position",
    ),
    "to_play forgets to answer": (
        broken(to_play=constant(None)),
        r"takeaway\.to_play: answered None in '11:0'; answer 0 to 1, or CHANCE",
    ),
    "to_play names a third player": (
        broken(to_play=constant(2)),
        r"takeaway\.to_play: answered 2 in '11:0'; answer 0 to 1, or CHANCE",
    ),
    "is_terminal forgets to answer": (
        broken(is_terminal=lambda self, s: True if s[0] == 0 else None),
        r"takeaway\.is_terminal: answered None in '11:0'; answer True or False",
    ),
    "actions is empty": (
        broken(actions=lambda self, s: () if s[0] == 3 else Takeaway.actions(self, s)),
        r"takeaway\.actions: is empty in '3:\d'; offer a pass, or call the state terminal",
    ),
    "actions has doubles": (
        broken(actions=lambda self, s: (1, 1)),
        r"takeaway\.actions: has doubles in '11:0': \[1, 1\]; drop them",
    ),
    "actions changes its order": (Fickle(), r"takeaway\.actions: gave \[1, 2\], then \[2, 1\] in '11:0'; keep one .*"),
    "actions gives lists": (
        broken(actions=lambda self, s: [[1], [2]], result=lambda self, s, a: (s[0] - 1, 1 - s[1])),
        r"takeaway\.actions: gave \[1\], an unhashable list; use ints, tuples, frozensets",
    ),
    "actions raises late": (
        Shy(),
        r"takeaway\.actions: raised KeyError: 'three' in position '3:\d'; it must answer for every position",
    ),
    "result forgets to answer": (
        broken(result=constant(None)),
        r"takeaway\.result: answered None for action 1; return the new state",
    ),
    "result changes its state": (
        Mutating(),
        r"takeaway\.result: changed the state it was given, for action 1; build a new state",
    ),
    "result is impure": (Impure(), r"takeaway\.result: gave two answers for action 1 in '11:0'; make it pure"),
    "result gives lists": (Listy(), r"takeaway\.result: gave \[11, 0\], an unhashable list; use ints, .*"),
    "result accepts what is illegal": (
        Forgetful(),
        r"takeaway\.result: accepted the illegal action 2 in '1:\d'; raise evallearn's IllegalAction",
    ),
    "result raises the wrong error": (
        Crashing(),
        r"takeaway\.result: raised KeyError the illegal action 2 in '1:\d'; raise evallearn's IllegalAction",
    ),
    "the game does not end": (
        Endless(),
        r"takeaway\.is_terminal: a random game was not over after 300 plies; make every game end",
    ),
    "utility is not zero-sum": (
        broken(utility=constant(1.0)),
        r"takeaway\.utility: the players get \[1\.0, 1\.0\] in '0:\d'; make them sum to 0, or declare zero_sum = False",
    ),
    "utility leaves its range": (
        broken(utility=lambda self, s, p: 2.0 if p == 0 else -2.0),
        r"takeaway\.utility: player 0 gets 2\.0 in '0:\d'; stay inside utility_range \(-1\.0, 1\.0\)",
    ),
    "utility raises": (
        broken(utility=raises(ZeroDivisionError("oops"))),
        r"takeaway\.utility: raised ZeroDivisionError: oops in position '0:\d'; it must answer for every position",
    ),
    "features are too few": (
        broken(features=constant((1.0,))),
        r"takeaway\.features: gave 1 numbers; give one for each of 2 feature_names",
    ),
    "features are too few for one player": (
        Uneven(),
        r"takeaway\.features: gave 1 numbers; give one for each of 2 feature_names",
    ),
    "features are not finite": (
        broken(features=constant((math.nan, 0.0))),
        r"takeaway\.features: remainder is nan in '11:0'; give finite numbers",
    ),
    "features are not antisymmetric": (
        Positive(),
        r"takeaway\.features: remainder is 2\.0 to player 0, 2\.0 to the other in '11:0'; "
        r"make it antisymmetric, or declare antisymmetric = False",
    ),
    "features raises": (
        broken(features=raises(IndexError("out"))),
        r"takeaway\.features: raised IndexError: out in position '11:0'; it must answer for every position",
    ),
    "phase is out of range": (broken(phase=constant(1)), r"takeaway\.phase: is 1 in '11:0'; answer 0 to 0"),
    "phase raises": (
        broken(phase=raises(KeyError("p"))),
        r"takeaway\.phase: raised KeyError: 'p' in position '11:0'; it must answer for every position",
    ),
    "to_text raises": (
        broken(to_text=raises(KeyError("t")), result=lambda self, s, a: Takeaway().result(s, a)),
        r"takeaway\.to_text: raised KeyError: 't' in state \(11, 0\); it must answer for every position",
    ),
    "to_text gives no text": (
        broken(to_text=lambda self, s: s[0]),
        r"takeaway\.to_text: answered 11 in state \(11, 0\); answer a str",
    ),
    "to_text loses the player": (
        broken(to_text=lambda self, s: f"{s[0]}:0"),
        r"takeaway\.from_text: read '\d+:0' as \(\d+, 0\), not \(\d+, 1\); make it undo to_text",
    ),
    "from_text raises": (
        broken(from_text=raises(KeyError("f"))),
        r"takeaway\.from_text: raised KeyError: 'f' in position '11:0'; it must answer for every position",
    ),
    "action_to_text raises": (
        broken(action_to_text=raises(KeyError("a")), action_from_text=lambda self, s, t: int(t)),
        r"takeaway\.action_to_text: raised KeyError: 'a' in position '11:0'; it must answer for every position",
    ),
    "action_to_text says the same twice": (
        broken(action_to_text=constant("take")),
        r"takeaway\.action_from_text: read 'take' as 1, not 2; make it undo action_to_text",
    ),
    "action_from_text raises": (
        broken(action_from_text=raises(KeyError("b"))),
        r"takeaway\.action_from_text: raised KeyError: 'b' in position '11:0'; it must answer for every position",
    ),
    "utility_range is upside down": (
        broken(utility_range=(1.0, 1.0), zero_sum=False),
        r"takeaway\.utility_range: is \(1\.0, 1\.0\); give \(worst loss, best win\)",
    ),
    "utility_range is lopsided": (
        broken(utility_range=(-1.0, 5.0)),
        r"takeaway\.utility_range: is \(-1\.0, 5\.0\); in a zero-sum game give \(-win, win\)",
    ),
    "there are no players": (broken(n_players=0), r"takeaway\.n_players: is 0; give 1 or more"),
    "there are no phases": (broken(n_phases=0), r"takeaway\.n_phases: is 0; give 1 or more"),
    "a feature name comes twice": (
        broken(feature_names=("a", "a"), heuristics={}),
        r"takeaway\.feature_names: has a name twice: \('a', 'a'\); rename one",
    ),
    "a heuristic weighs an unknown feature": (
        broken(heuristics={"h": Heuristic({"pille": 1.0}, "")}),
        r"takeaway\.heuristics: 'h' weighs unknown features \['pille'\]; use names of feature_names",
    ),
    "a heuristic has too many phases": (
        broken(heuristics={"h": Heuristic(({"pile": 1.0}, {"pile": 2.0}), "")}),
        r"takeaway\.heuristics: 'h' has weights for 2 phases; give one mapping, or one for each of 1 phases",
    ),
    "rules raises": (
        broken(rules=property(raises(ImportError("no numba")))),
        r"takeaway\.rules: raised ImportError: no numba in position .*; it must answer for every position",
    ),
    "chance is not declared": (
        broken(CoinRace, has_chance=False),
        r"coin_race\.has_chance: is False, but to_play answered CHANCE; declare has_chance = True",
    ),
    "chances do not sum to 1": (
        broken(CoinRace, chances=constant(((1, 0.5), (2, 0.4)))),
        r"coin_race\.chances: the probabilities sum to 0\.9 in '0 0 0 0 0'; give positive probabilities that sum to 1",
    ),
    "a chance is negative": (
        broken(CoinRace, chances=constant(((1, 1.5), (2, -0.5)))),
        r"coin_race\.chances: the probabilities sum to 1\.0 in .*; give positive probabilities that sum to 1",
    ),
    "chances raises": (
        broken(CoinRace, chances=raises(KeyError("c"))),
        r"coin_race\.chances: raised KeyError: 'c' in position '0 0 0 0 0'; it must answer for every position",
    ),
}


@pytest.mark.parametrize("case", PLAIN)
def test_broken_game_is_told_method_value_and_remedy(case, monkeypatch):
    monkeypatch.setattr(check_module, "TOO_LONG", 300)
    game, line = PLAIN[case]
    complains(game, line)


def test_all_broken_promises_are_told_together():
    game = broken(utility=constant(1.0), phase=constant(7))
    assert {line.split(":")[0] for line in failures(game)} == {"takeaway.utility", "takeaway.phase"}


def test_result_that_refuses_a_legal_action_is_told():
    class Refusing(Takeaway):
        def actions(self, s):
            return (1, 2, 3) if s[0] == 11 else super().actions(s)

        def result(self, s, a):
            return Takeaway.result(Takeaway(), s, a)

    complains(Refusing(), r"takeaway\.result: raised IllegalAction: illegal action 3 in takeaway position '11:0' .*")


def test_something_else_than_a_game_is_refused():
    for thing in (Takeaway, "takeaway", None):
        with pytest.raises(
            GameError, match=r"check_game got .*, which is not a game: subclass evallearn\.Game and pass"
        ):
            check_game(thing)


def test_game_without_a_name_is_told():
    nameless = type("Nameless", (Takeaway,), {})()
    nameless.name = None
    with pytest.raises(GameError, match=r"Nameless\.name: is missing; give the game a name"):
        check_game(nameless)


# --- broken downstairs -------------------------------------------------------------------------------------------
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


AGREE = "make both floors agree"
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
    assert check_game(with_rules(features_mover=features_sliced)).floors == ("plain", "compiled")


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
    assert check_game(pig_with(active_in_pig), games=2, every=7).floors == ("plain", "compiled")
    assert check_game(get_game("backgammon,features=tesauro"), games=1, every=9).floors == ("plain", "compiled")


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
    place = rf"\S*test_check\.py:{line_of(marker)}"
    complains(
        with_rules(**changes),
        rf"double_move\.rules: cannot be compiled: {place}: {reason}; "
        r"fix that line, or leave out `rules` to stay on the plain floor",
    )


def test_failure_without_a_line_of_the_user_names_our_call():
    with pytest.raises(GameError, match=r"cannot be compiled: `io\.key = key\(s\)`: ") as caught:
        CompiledGame(with_rules(key=key_in_two))
    assert len(str(caught.value)) < 300
