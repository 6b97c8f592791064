"""Suite files: read back as written, broken in every way; suites that are made: determinism, spread, exactness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from toys import CoinRace, Takeaway

from evallearn import get_game
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.errors import DataError, SpecError
from evallearn.evaluators import FunctionEval, LinearEval, heuristic
from evallearn.quality import Item, Suite, fitting_depth, make_suite, read_suite, reference_depth, write_suite
from evallearn.quality.make import Drawn, Judge
from evallearn.quality.suite import LONGEST_LINE, suite_lines
from evallearn.search.exact.solver import solve

GAME = get_game("tic_tac_toe")
TAKEAWAY = Takeaway()
HEADER = {"format": "evallearn suite", "version": 1, "game": "takeaway", "by": "hand", "exact": True}
GOOD = {"position": "5:0", "values": {"1": -1, "2": 1}, "ply": 4}


def evaluator(game: Game, name: str | None = None) -> LinearEval:
    return heuristic(game, name or list(game.heuristics)[-1])


def file_of(folder: Path, *lines: Any) -> Path:
    path = folder / "suite.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


# --- files -----------------------------------------------------------------------------------------------------------
def test_a_file_is_read_as_it_says(tmp_path: Path) -> None:
    alone = {"position": "4:1", "value": 0.5, "player": 0, "exact": False}
    suite = read_suite(file_of(tmp_path, HEADER, GOOD, "", alone), TAKEAWAY)
    assert suite.items == (
        Item(state=(5, 0), player=0, value=1.0, values={1: -1.0, 2: 1.0}, ply=4, exact=True),
        Item(state=(4, 1), player=0, value=0.5),
    )
    assert (suite.by, suite.exact, suite.n_exact) == ("hand", False, 1)


def test_a_lone_value_is_to_the_player_to_move(tmp_path: Path) -> None:
    suite = read_suite(file_of(tmp_path, HEADER, {"position": "4:1", "value": 1}), TAKEAWAY)
    assert suite.items[0].player == 1


def test_a_lone_value_before_a_roll_is_to_who_moves_after_it(tmp_path: Path) -> None:
    header = HEADER | {"game": "coin_race"}
    suite = read_suite(file_of(tmp_path, header, {"position": "0 0 1 0 1", "value": 0.25}), CoinRace())
    assert suite.items[0].player == 1


def test_written_suites_read_back(tmp_path: Path) -> None:
    suite = make_suite(GAME, evaluator(GAME), Limits(depth=3), positions=30)
    assert 0 < suite.n_exact < 30  # so that lines say it one by one
    write_suite(suite, tmp_path / "deep/suite.jsonl")
    again = read_suite(tmp_path / "deep/suite.jsonl", GAME)
    assert (again.items, again.by) == (suite.items, suite.by)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: this is no suite: expected a first line with"),
        (["moves,ply"], "line 1: not a line of JSON"),
        ([["x"]], "line 1: ['x'] is no JSON object"),
        ([{"format": "another"}], "line 1: this is no suite"),
        ([HEADER | {"version": 2}], "line 1: version 2 of the format: this evallearn reads version 1"),
        ([HEADER | {"version": "1"}], "line 1: the header's 'version' is '1': expected a int"),
        ([HEADER | {"exact": 1}], "line 1: the header's 'exact' is 1: expected a bool"),
        ([{k: v for k, v in HEADER.items() if k != "by"}], "line 1: the header's 'by' is None"),
        ([HEADER | {"game": "chess"}], "line 1: a suite of 'chess', not of 'takeaway'"),
        ([HEADER], "line 1: the suite ends here, without a position: make one with `evallearn suite`"),
        ([HEADER, "", "{"], "line 3: not a line of JSON"),
        ([HEADER, "[" * 100_000], "line 2: not a line of JSON"),
        ([HEADER, '{"position": "5:0", "value": NaN}'], "line 2: NaN is no value"),
        ([HEADER, GOOD | {"colour": 1}], "line 2: unknown key 'colour': known: position, values"),
        ([HEADER, {"position": "5:0"}], 'line 2: expected either "values" of the actions or one "value"'),
        ([HEADER, GOOD | {"value": 1}], "line 2: expected either"),
        ([HEADER, GOOD | {"position": 5}], "line 2: the position is 5: expected a text"),
        ([HEADER, GOOD | {"position": "x"}], "line 2: takeaway position 'x': expected pile:player"),
        ([HEADER, GOOD | {"position": "0:0"}], "line 2: the game is over in '0:0': leave it out"),
        ([HEADER, GOOD, GOOD], "line 3: position '5:0' is in line 2 already"),
        ([HEADER, GOOD | {"ply": 1.5}], "line 2: 'ply' is 1.5: expected a int"),
        ([HEADER, GOOD | {"ply": True}], "line 2: 'ply' is True: expected a int"),
        ([HEADER, GOOD | {"ply": -1}], "line 2: ply -1: expected a whole number from 0"),
        ([HEADER, GOOD | {"exact": "no"}], "line 2: 'exact' is 'no': expected a bool"),
        ([HEADER, GOOD | {"player": 1}], "line 2: player 1: values of actions are to the player to move, 0"),
        ([HEADER, {"position": "5:0", "value": 1, "player": 2}], "line 2: player 2: takeaway has players 0 to 1"),
        ([HEADER, {"position": "5:0", "value": "1"}], "line 2: value is '1': expected a number from -1 to 1"),
        ([HEADER, {"position": "5:0", "value": True}], "line 2: value is True"),
        ([HEADER, {"position": "5:0", "value": 10**400}], "line 2: value is a very long number"),
        ([HEADER, {"position": "5:0", "value": 1.5}], "line 2: value is 1.5: expected a number from -1 to 1"),
        ([HEADER, '{"position": "5:0", "value": 1e999}'], "line 2: value is inf"),
        ([HEADER, GOOD | {"values": [1]}], "line 2: 'values' is [1]: expected {move: value, ...}"),
        ([HEADER, GOOD | {"values": {"7": 1}}], "line 2: no legal action '7' in takeaway position '5:0'; legal: 1 2"),
        ([HEADER, GOOD | {"values": {"1": 1}}], "line 2: no value for 2: give one for every legal move"),
        ([HEADER, GOOD | {"values": {"1": 1, "2": None}}], "line 2: the value of '2' is None"),
        ([HEADER, GOOD | {"values": {"1": 1, " 1": 1}}], "line 2: move ' 1' has a value already: give it once"),
        ([HEADER, " " * LONGEST_LINE + "{}"], "line 2: too long: at most 1,000,000 lines of 1,048,576 bytes"),
    ],
)
def test_broken_files_are_refused_with_their_line(lines: list[Any], message: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, *lines)
    with pytest.raises(DataError) as error:
        read_suite(path, TAKEAWAY)
    assert str(error.value).startswith(f"{path}, ")
    assert message in str(error.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="line 1: not a line of JSON"):
        read_suite(tmp_path / "x", TAKEAWAY)


def test_values_of_actions_before_a_roll_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, HEADER | {"game": "coin_race"}, {"position": "0 0 0 0 0", "values": {"1": 0}})
    with pytest.raises(DataError, match="line 2: the position waits for the dice: give the position after the roll"):
        read_suite(path, CoinRace())


def test_part_of_a_suite_is_spread_over_it() -> None:
    items = tuple(Item(state=(i, 0), player=0, value=0.0) for i in range(10))
    assert [item.state[0] for item in Suite(TAKEAWAY, items, "").part(3).items] == [0, 3, 6]  # type: ignore[index]
    assert Suite(TAKEAWAY, items, "").part(20).items == items


# --- making ----------------------------------------------------------------------------------------------------------
def test_positions_are_different_unfinished_and_leave_a_choice() -> None:
    game = get_game("connect_four")
    suite = make_suite(game, evaluator(game), Limits(depth=2), positions=60)
    states = [item.state for item in suite.items]
    assert len(set(states)) == len(states) == 60
    assert all(len(game.actions(s)) > 1 and not game.is_terminal(s) for s in states)
    assert all(list(item.values or ()) == list(game.actions(item.state)) for item in suite.items)
    plies = [item.ply or 0 for item in suite.items]
    assert plies == sorted(plies)
    assert plies[0] < 6 < 20 < plies[-1]


@pytest.mark.parametrize(
    ("name", "limits"),
    [("connect_four", Limits(depth=4)), ("backgammon", Limits(depth=1))],
)
@pytest.mark.long
def test_the_same_seed_gives_the_same_suite_for_any_number_of_workers(name: str, limits: Limits) -> None:
    game = get_game(name)
    one, two = (make_suite(game, evaluator(game), limits, positions=12, seed=5, workers=n) for n in (1, 2))
    assert list(suite_lines(one)) == list(suite_lines(two))
    other = make_suite(game, evaluator(game), limits, positions=12, seed=6)
    assert list(suite_lines(one)) != list(suite_lines(other))


def test_progress_is_told() -> None:
    drawn: list[Any] = []
    judged: list[Any] = []
    make_suite(
        TAKEAWAY,
        evaluator(TAKEAWAY),
        Limits(depth=2),
        positions=5,
        on_drawn=lambda *x: drawn.append(x),
        on_judged=lambda *x: judged.append(x),
    )
    assert drawn[-1] == (5, 5)
    assert judged == [(i, 5) for i in range(1, 6)]


@pytest.mark.long
def test_a_small_game_has_no_more_positions_than_it_has() -> None:
    suite = make_suite(TAKEAWAY, evaluator(TAKEAWAY), None, positions=1000)
    assert 10 <= len(suite.items) <= 21  # piles of 2 to 11, two players


def test_exact_values_are_those_of_the_solver() -> None:
    suite, solution = make_suite(GAME, evaluator(GAME), None, positions=50), solve(GAME)
    assert suite.exact
    assert suite.by == "exact"
    assert all(dict(item.values or {}) == solution.solved(item.state) for item in suite.items)


def test_a_game_that_knows_its_values_is_asked() -> None:
    game = get_game("matches")
    suite = make_suite(game, evaluator(game), None, positions=20)
    assert suite.exact
    assert all(dict(item.values or {}) == dict(game.solved(item.state) or {}) for item in suite.items)


def test_what_a_deep_search_proves_is_exact_and_true() -> None:
    suite, solution = make_suite(GAME, evaluator(GAME), Limits(depth=5), positions=80), solve(GAME)
    proven = [item for item in suite.items if item.exact]
    assert 0 < len(proven) < 80
    for item in proven:
        assert dict(item.values or {}) == solution.solved(item.state)


def test_positions_with_dice_come_after_the_roll() -> None:
    game = CoinRace()
    made = make_suite(game, FunctionEval(game, lambda s, p: 0.0), Limits(depth=30), positions=20)
    solution = solve(game)
    for item in made.items:
        assert game.to_play(item.state) == item.player
        assert item.exact
        for a, value in (item.values or {}).items():
            assert value == pytest.approx(solution.value(game.result(item.state, a), item.player))


@pytest.mark.long
def test_what_cannot_be_made_is_refused() -> None:
    game = get_game("connect_four")
    with pytest.raises(SpecError, match=r"limits time=1: by time no suite repeats; give a depth, or nodes"):
        make_suite(game, evaluator(game), Limits(seconds=1))
    with pytest.raises(
        SpecError, match=r"exact values are out of reach \(.* positions .*\): judge by a search, as depth"
    ):
        make_suite(Huge(), FunctionEval(Huge(), lambda s, p: 0.0), None)
    with pytest.raises(SpecError, match=r"no position of one_way came up in which somebody had a choice"):
        make_suite(OneWay(), FunctionEval(OneWay(), lambda s, p: 0.0), Limits(depth=1))


def test_limits_that_allow_nothing_are_refused() -> None:
    for game in (CoinRace(), TAKEAWAY):
        with pytest.raises(SpecError, match=r"limits nodes=1: not one ply of \w+ position .* fits in: give more"):
            make_suite(game, FunctionEval(game, lambda s, p: 0.0), Limits(nodes=1), positions=3)


def test_a_position_beyond_the_solution_is_refused() -> None:
    judge = Judge(TAKEAWAY, evaluator(TAKEAWAY), None)
    with pytest.raises(SpecError, match="takeaway position '20:0' cannot be reached: it is not solved"):
        judge(Drawn("20:0", 0))


class Huge(Takeaway):
    """More positions than are solved."""

    name, start = "huge", 1_000_000


class OneWay(Takeaway):
    """Only ever take one."""

    name, start = "one_way", 3

    def actions(self, s: tuple[int, int]) -> tuple[int, ...]:
        return (1,) if s[0] else ()


def test_a_fitting_depth_is_found_by_nodes() -> None:
    e, states = evaluator(GAME), [GAME.initial()]
    assert fitting_depth(e, states, 1) == 1
    assert fitting_depth(e, states, 10**6, most=4) == 4
    few, many = (fitting_depth(e, states, n) for n in (100, 10_000))
    assert few < many
    assert reference_depth(e, states, 10_000) == many - many % 2
