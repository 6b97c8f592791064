"""check_game: shipped games keep every promise; one in plain Python that does not is told method, value and remedy."""

from __future__ import annotations

import math

import pytest
from complaints import broken, complains, constant, failures, raises
from toys import CoinRace, DoubleMove, Takeaway, TreeGame

from evallearn import check as check_module
from evallearn.check import check_game
from evallearn.core.game import Heuristic
from evallearn.errors import GameError
from evallearn.registry import game_names, get_game

# --- games that keep the contract --------------------------------------------------------------------------------
SLOW = {"chess": 20, "2048": 4, "backgammon": 4, "checkers": 2, "pacman": 2}
"""Games that are long, or slow in plain Python: every n-th position must do (`make long` looks at all)."""


@pytest.mark.parametrize("name", game_names())
def test_shipped_game_keeps_the_contract_on_both_backends(name):
    report = check_game(get_game(name), games=3, every=SLOW.get(name, 1))
    assert (report.game, report.games, report.backends) == (name, 3, ("python", "compiled"))
    assert report.positions > 3 * 6


@pytest.mark.long
@pytest.mark.parametrize("name", game_names())
def test_shipped_game_keeps_the_contract_in_every_position(name):
    assert check_game(get_game(name), games=10).games == 10


def test_toys_keep_the_contract():
    assert check_game(DoubleMove()).backends == ("python", "compiled")
    for game in (TreeGame(), Takeaway(), CoinRace()):
        assert check_game(game).backends == ("python",)


def test_same_seed_checks_the_same_positions():
    assert check_game(CoinRace(), seed=4) == check_game(CoinRace(), seed=4)
    assert check_game(CoinRace(), seed=4).positions != check_game(CoinRace(), seed=5).positions


# --- broken in plain Python ------------------------------------------------------------------------------------------
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
        r"takeaway\.hidden_information: is True; out of scope, as every search and evaluator sees the whole .*",
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
