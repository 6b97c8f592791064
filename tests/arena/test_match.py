from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from evallearn import get_game
from evallearn.agents import Agent, RandomAgent, SearchAgent, parse_agent
from evallearn.arena import MatchResult, MatchSettings, Tally, openings, play_match
from evallearn.arena import openings as openings_function
from evallearn.arena.openings import Opening
from evallearn.arena.seating import Played
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE, Game
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import IllegalAction, SpecError
from evallearn.evaluators import LinearEval
from evallearn.games.connect_four import ConnectFour
from evallearn.games.tic_tac_toe import TicTacToe

TTT, C4 = TicTacToe(), ConnectFour()


class PlainTicTacToe(TicTacToe):
    """The same game without its compiled backend."""

    rules = None  # type: ignore[assignment]


@dataclass
class Scribe(Agent):
    """Plays the first action and writes down what it was asked."""

    game: Game
    name: str = "scribe"
    asked: list[tuple[Any, int]] = field(default_factory=list)

    def choose(self, s: Any, seed: int) -> SearchResult:
        self.asked.append((s, seed))
        return SearchResult(self.game.actions(s)[0], 0.0, 0, 1, 1, (), False, 0.0)


def without_clock(result: MatchResult) -> dict[str, Any]:
    return {k: v for k, v in result.to_json().items() if not k.startswith("seconds")}


def assert_exactly_even(result: MatchResult) -> None:
    assert result.wins == result.losses
    assert result.pair_counts == (0, 0, result.elo.pairs, 0, 0)
    assert result.elo.elo == 0
    assert result.score == 0.5
    assert result.distinct_games <= result.elo.pairs
    assert result.moves[0] == result.moves[1]
    assert result.nodes[0] == result.nodes[1]


# --- an agent against itself -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "agent",
    [
        "random",
        "zero@depth=3",
        "handwritten:lines@depth=2",
        "zero@nodes=500",
    ],
)
def test_an_agent_against_itself_is_exactly_even(agent: str) -> None:
    a, b = parse_agent(agent, TTT), parse_agent(agent, TTT)
    assert_exactly_even(play_match(TTT, a, b, MatchSettings(pairs=20, opening_plies=2, seed=5)))
    assert_exactly_even(play_match(TTT, a, a, MatchSettings(pairs=20, opening_plies=1, seed=6)))


def test_random_ties_against_themselves_are_exactly_even() -> None:
    a, b = (SearchAgent(C4, LinearEval.zero(C4), Limits(depth=2), random_ties=True) for _ in range(2))
    result = play_match(C4, a, b, MatchSettings(pairs=20, opening_plies=4, seed=1))
    assert_exactly_even(result)
    assert result.wins > 0
    assert result.distinct_games == 20


# --- fairness --------------------------------------------------------------------------------------------------------
def test_each_opening_is_played_from_both_seats() -> None:
    result = play_match(
        C4,
        RandomAgent(C4, "A"),
        RandomAgent(C4, "B"),
        MatchSettings(pairs=10, opening_plies=3, seed=2),
        keep_games=True,
    )
    for first, second in zip(result.records[::2], result.records[1::2], strict=True):
        assert (first.set, first.opening) == (second.set, second.opening)
        assert (first.players, second.players) == (("A", "B"), ("B", "A"))
    assert [r.set for r in result.records[::2]] == list(range(10))
    assert [r.number for r in result.records] == list(range(20))


def test_seeds_depend_on_pair_and_ply_alone() -> None:
    a, b, c, d = (Scribe(C4) for _ in range(4))
    play_match(C4, a, b, MatchSettings(pairs=3, opening_plies=2, seed=9))
    play_match(C4, c, d, MatchSettings(pairs=3, opening_plies=2, seed=10))
    assert Counter(a.asked) == Counter(b.asked)  # seats swapped: what A was asked in one game, B was in the other
    seeds = [seed for _, seed in a.asked]
    assert len(set(seeds)) == len(seeds)
    assert not set(seeds) & {seed for _, seed in c.asked}


def test_first_moves_compile_time_is_not_on_the_clock() -> None:
    class SlowStarter(Scribe):
        def choose(self, s: Any, seed: int) -> SearchResult:
            if not self.asked:
                time.sleep(0.3)
            return super().choose(s, seed)

    result = play_match(TTT, SlowStarter(TTT), Scribe(TTT), MatchSettings(pairs=2, opening_plies=1, seed=0))
    assert result.seconds[0] < 0.2


# --- the figures -----------------------------------------------------------------------------------------------------
def test_figures_add_up_and_survive_json() -> None:
    a, b = parse_agent("handwritten:lines@depth=1", TTT), RandomAgent(TTT)
    result = play_match(TTT, a, b, MatchSettings(pairs=30, opening_plies=2, seed=3), keep_games=True)
    assert result.wins + result.draws + result.losses == result.games == 60
    assert result.by_game
    assert result.names == ("handwritten:lines@depth=1", "random")
    assert sum(result.pair_counts) == 30
    points = sum(n * x for n, x in zip(result.pair_counts, (0, 0.5, 1, 1.5, 2), strict=True))
    assert points == result.wins + result.draws / 2 == pytest.approx(60 * result.score)
    assert sum(result.moves) == sum(len(r.actions) for r in result.records)
    assert result.nodes_per_move[1] == 1
    assert min(result.seconds_per_move) > 0
    data = result.to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["elo"] == result.elo.elo
    assert data["low"] < data["elo"] < data["high"]
    assert data["pairs"] == 30
    assert len(data["records"]) == 60


def test_records_replay_to_their_outcome() -> None:
    result = play_match(
        C4, RandomAgent(C4, "A"), RandomAgent(C4, "B"), MatchSettings(pairs=5, opening_plies=2, seed=2), keep_games=True
    )
    balance = 0.0
    for record in result.records:
        s: Any = C4.from_text(record.opening)
        for text in record.actions:
            s = C4.result(s, C4.action_from_text(s, text))  # type: ignore[arg-type]  # an int there
        assert C4.is_terminal(s)
        assert (C4.utility(s, 0), C4.utility(s, 1)) == record.utilities
        balance += record.utilities[record.players.index("A")]
    assert balance == result.wins - result.losses


def test_games_are_kept_only_on_request() -> None:
    result = play_match(TTT, RandomAgent(TTT), RandomAgent(TTT), MatchSettings(pairs=2, opening_plies=0, seed=2))
    assert result.records == ()
    assert "records" not in result.to_json()


def test_equal_games_are_counted_once() -> None:
    """Two agents that do not choose play one game per opening."""
    result = play_match(TTT, Scribe(TTT), Scribe(TTT), MatchSettings(pairs=12, opening_plies=1, seed=2))
    assert (result.games, result.distinct_games, result.pairs_asked) == (18, 9, 12)


def test_progress_counts_games_to_the_end() -> None:
    calls: list[tuple[int, int, int]] = []
    play_match(
        TTT, RandomAgent(TTT), RandomAgent(TTT), MatchSettings(pairs=4, opening_plies=1, seed=0),
        on_progress=lambda tally: calls.append((tally.sets, tally.games, tally.of)),
    )  # fmt: skip
    assert calls == [(1, 2, 4), (2, 4, 4), (3, 6, 4), (4, 8, 4)]


def test_the_stronger_agent_wins() -> None:
    a, b = parse_agent("zero@depth=4", C4), RandomAgent(C4)
    result = play_match(C4, a, b, MatchSettings(pairs=25, opening_plies=4, seed=1))
    assert result.wins >= 45
    assert result.elo.low > 150
    assert result.nodes[0] > result.nodes[1]


def test_the_deeper_search_wins_from_either_side() -> None:
    a, b = parse_agent("zero@depth=6", C4), parse_agent("zero@depth=2", C4)
    assert play_match(C4, a, b, MatchSettings(pairs=40, opening_plies=6, seed=1)).elo.low > 0
    assert play_match(C4, b, a, MatchSettings(pairs=40, opening_plies=6, seed=1)).elo.high < 0


# --- both backends, any number of workers ----------------------------------------------------------------------------
@pytest.mark.parametrize("b", ["random", "zero@nodes=2000"])
@pytest.mark.long
def test_two_workers_play_the_same_match_as_one(b: str) -> None:
    def play(workers: int) -> MatchResult:
        agents = parse_agent("zero@depth=2", C4), parse_agent(b, C4)
        return play_match(
            C4, *agents, MatchSettings(pairs=11, opening_plies=4, seed=4), workers=workers, keep_games=True
        )

    assert without_clock(play(1)) == without_clock(play(2))


def test_plain_backend_plays_the_same_match_as_the_compiled_one() -> None:
    plain, compiled = PlainTicTacToe(), CompiledGame(TTT)
    results = [
        play_match(g, RandomAgent(g), Scribe(g), MatchSettings(pairs=15, opening_plies=2, seed=4))
        for g in (plain, TTT, compiled)
    ]
    first, *others = map(without_clock, results)
    assert all(first == other for other in others)


def test_interrupt_ends_the_workers() -> None:
    def interrupt(tally: Tally) -> None:
        raise KeyboardInterrupt

    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        play_match(
            C4,
            RandomAgent(C4),
            RandomAgent(C4),
            MatchSettings(pairs=40, opening_plies=2, seed=0),
            workers=2,
            on_progress=interrupt,
        )
    assert set(multiprocessing.active_children()) <= before


# --- openings --------------------------------------------------------------------------------------------------------
def test_openings_are_distinct_open_and_depend_on_the_seed_only() -> None:
    found = openings(C4, 500, 6, seed=1)
    assert len({o.state for o in found}) == 500
    assert not any(C4.is_terminal(o.state) for o in found)  # type: ignore[arg-type]  # its own State
    for o in found[:20]:
        s: Any = C4.initial()
        for a in o.actions or ():
            s = C4.result(s, a)  # type: ignore[arg-type]  # an int there
        assert s == o.state
    assert found == openings(C4, 500, 6, seed=1)
    assert found[:400] == openings(C4, 400, 6, seed=1)
    assert found != openings(C4, 500, 6, seed=2)


@pytest.mark.parametrize(
    ("name", "mirror"), [("connect_four", lambda a: 6 - a), ("othello", lambda a: 8 * (a % 8) + a // 8)]
)
def test_openings_are_different_up_to_symmetry(name: str, mirror: Callable[[int], int]) -> None:
    """Of 1,000 of Connect Four 55 were mirror images of others. Mirrored moves lead to the mirrored position."""
    game = get_game(name)
    found = openings(game, 1000, game.opening_plies, seed=1)
    assert len({min(game.images(o.state)) for o in found}) == len(found) == 1000
    for o in found[:50]:
        s = game.initial()
        for a in o.actions or ():
            s = game.result(s, a if a == 64 else mirror(a))  # type: ignore[operator, arg-type]  # integers there
        assert set(game.images(s)) == set(game.images(o.state))


def test_mirrored_games_are_one() -> None:
    """From the empty board 1 2 3 is 7 6 5, but 1 2 3 is not 1 6 5; from an uneven opening none is another."""
    even, uneven = C4.from_text(""), C4.from_text("1")
    for opening, games, distinct in (
        (even, ([0, 1, 2], [6, 5, 4]), 1), (even, ([0, 1, 2], [0, 5, 4]), 2), (uneven, ([1, 2], [5, 4]), 2),
    ):  # fmt: skip
        tally = Tally(C4, ("a", "b"), None, 1)
        tally.add(
            Opening(opening),
            [Played((i, 1 - i), a, [1.0, -1.0], [2, 2], [0, 0], [0.0, 0.0]) for i, a in enumerate(games)],
        )
        assert tally.result(seed=1, opening_plies=0, asked=1, records=[]).distinct_games == distinct


def test_the_other_openings_of_a_seed_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without images among the earlier ones, in their order; more come after them."""
    found = openings(C4, 1000, 6, seed=1)
    monkeypatch.setattr(type(C4), "images", lambda self, s: (s,))
    before, seen = openings(C4, 1000, 6, seed=1), set[Any]()
    monkeypatch.undo()
    kept = [o for o in before if (e := min(C4.images(o.state))) not in seen and not seen.add(e)]  # type: ignore[arg-type, func-returns-value]  # its own State
    assert len(kept) == 945
    assert found[:945] == kept


@pytest.mark.parametrize("name", ["connect_four", "othello", "tic_tac_toe", "checkers"])
def test_images_tell_all_that_a_state_does(name: str) -> None:
    """Different positions of random games have different images, unless one is the other mirrored."""
    game, rng = get_game(name), random.Random(1)
    first: dict[Any, Any] = {}
    for _ in range(30):
        s = game.initial()
        while not game.is_terminal(s):
            assert first.setdefault(game.images(s)[0], s) == s
            s = game.result(s, rng.choice(game.actions(s)))


def test_openings_are_never_repeated() -> None:
    assert openings(TTT, 3, 0, seed=0) == [(TTT.initial(), ())]
    found = openings(TTT, 20, 1, seed=0)
    assert len(found) == len({o.state for o in found}) == 9
    again = openings(TTT, 20, 1, seed=0, repeat=True)
    assert again == (found * 3)[:20]


def test_rare_openings_are_all_found() -> None:
    """After 8 plies of tic-tac-toe few games go on: all of these positions are listed."""
    found = openings(TTT, 400, 8, seed=0)
    expected = {s for s in every_position(8) if not TTT.is_terminal(s)}
    assert {o.state for o in found} == expected
    assert len(expected) < 400


def every_position(plies: int) -> set[Any]:
    layer: set[Any] = {TTT.initial()}
    for _ in range(plies):
        layer = {TTT.result(s, a) for s in layer for a in TTT.actions(s)}
    return layer


def test_openings_too_many_to_list_may_be_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(openings_function.__globals__, "LISTABLE", 10)
    monkeypatch.setitem(openings_function.__globals__, "MISSES", 5)
    found = openings(TTT, 100, 2, seed=0)
    assert 10 < len(found) == len({o.state for o in found}) <= 72


def test_openings_longer_than_the_game_are_refused() -> None:
    with pytest.raises(SpecError, match="no random game of tic_tac_toe goes on after 9 plies: use fewer random plies"):
        openings(TTT, 1, 9, seed=0)


# --- dice ------------------------------------------------------------------------------------------------------------
class Dice(Game):
    """Each player in turn rolls a die and takes it or leaves it; the higher sum wins. State: (sums, roll, turn)."""

    name, has_chance = "dice", True

    def initial(self) -> Any:
        return ((0, 0), 0, 0)

    def to_play(self, s: Any) -> int:
        return CHANCE if s[1] == 0 and s[2] < 6 else s[2] % 2

    def actions(self, s: Any) -> list[Any]:
        return [] if self.is_terminal(s) else ["take", "leave"]

    def chances(self, s: Any) -> list[tuple[Any, float]]:
        return [(roll, 1 / 6) for roll in range(1, 7)]

    def result(self, s: Any, a: Any) -> Any:
        sums, roll, turn = s
        if roll == 0:
            return (sums, a, turn)
        gain = roll if a == "take" else 0
        return ((sums[0] + gain, sums[1]) if turn % 2 == 0 else (sums[0], sums[1] + gain), 0, turn + 1)

    def is_terminal(self, s: Any) -> bool:
        return bool(s[2] == 6)

    def utility(self, s: Any, player: int) -> float:
        lead = s[0][player] - s[0][1 - player]
        return float((lead > 0) - (lead < 0))

    def to_text(self, s: Any) -> str:
        return repr(s)

    def from_text(self, text: str) -> Any:
        raise NotImplementedError


def test_both_games_of_a_pair_get_the_same_dice() -> None:
    dice = Dice()
    result = play_match(
        dice, Scribe(dice, "A"), Scribe(dice, "B"), MatchSettings(pairs=20, opening_plies=1, seed=7), keep_games=True
    )
    assert_exactly_even(result)
    assert result.distinct_games == 20
    assert result.wins > 0
    better = play_match(dice, Scribe(dice), RandomAgent(dice), MatchSettings(pairs=20, opening_plies=0, seed=7))
    assert better.elo.low > 0


# --- refusals --------------------------------------------------------------------------------------------------------
def test_an_illegal_action_names_agent_action_and_position() -> None:
    class Cheat(Scribe):
        def choose(self, s: Any, seed: int) -> SearchResult:
            return SearchResult(42, 0.0, 0, 1, 1, (), False, 0.0)

    expected = r"agent cheat chose the illegal action 42 in tic_tac_toe position '.*'; legal: 1 2 3 4 5 6 7 8 9$"
    for game in (TTT, PlainTicTacToe()):
        with pytest.raises(IllegalAction, match=expected):
            play_match(game, Cheat(game, "cheat"), RandomAgent(game), MatchSettings(pairs=1, opening_plies=0, seed=0))


def test_an_agent_of_another_game_is_refused() -> None:
    with pytest.raises(SpecError, match="agent random plays connect_four, but the match is tic_tac_toe: rebuild it"):
        play_match(TTT, RandomAgent(TTT), RandomAgent(C4), MatchSettings(pairs=1, opening_plies=0, seed=0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": 0}, "pairs=0: give a whole number from 1 to"),
        ({"pairs": 2.5}, "pairs=2.5: give a whole number"),
        ({"opening_plies": -1}, "opening_plies=-1: give a whole number from 0 to"),
        ({"workers": 0}, "workers=0: give a whole number of 1 or more"),
    ],
)
def test_senseless_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    given = {"pairs": 1, "opening_plies": 0, "seed": 0, **settings}
    workers = given.pop("workers", 1)
    with pytest.raises(SpecError, match=message):
        play_match(TTT, RandomAgent(TTT), RandomAgent(TTT), MatchSettings(**given), workers=workers)


# --- whole games in one kernel ---------------------------------------------------------------------------------------
def test_quick_matches_play_the_games_that_slow_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = parse_agent("handwritten:threats@depth=3", C4), parse_agent("handwritten:threats@nodes=200", C4)
    config = MatchSettings(pairs=20, seed=4)
    slow = play_match(C4, *agents, config, keep_games=True)
    monkeypatch.setitem(play_match.__globals__, "QUICK_SETS", 1)
    quick = play_match(C4, *agents, config, keep_games=True)
    assert without_clock(quick) == without_clock(slow)
    assert min(quick.seconds) > 0
    again = parse_agent("zero@depth=1", C4), RandomAgent(C4)  # who cannot play so plays as ever
    assert play_match(C4, *again, config).games == 40
