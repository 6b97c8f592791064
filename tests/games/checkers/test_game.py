"""Checkers: rules, draws, features, both backends, OpenSpiel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import playing
import pytest

from evallearn.compiled.game import CompiledGame
from evallearn.errors import IllegalAction
from evallearn.games.checkers import Checkers
from evallearn.games.checkers.features import COARSE_NAMES, FINER_NAMES, SHAPE_NAMES, jump_counts, step_counts
from evallearn.games.checkers.moves import (
    CROWN_ROW,
    JUMP_GRAPH,
    LANDING,
    MAX_ACTIONS,
    MEN,
    STEP,
    State,
    action_number,
    bit,
    moves,
    routes,
    row_column,
    squares_of,
)
from evallearn.games.checkers.notation import move_text
from evallearn.games.checkers.rules import taken_by

GAME = Checkers()
random_game = partial(playing.random_game, GAME)
PERFT = [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564]
"""Bik; OEIS A133046, which counts routes: from depth 12 on it has more, where two routes take the same pieces."""


def legal(text: str) -> list[str]:
    return [move_text(move) for move in moves(GAME.from_text(text))]


def after(text: str, *plies: str) -> State:
    s = GAME.from_text(text)
    for ply in plies:
        s = GAME.result(s, GAME.action_from_text(s, ply))
    return s


def features(text: str, player: int = 0) -> dict[str, float]:
    """The features that are not 0, without the finer ones."""
    values = GAME.features(GAME.from_text(text), player)
    return {name: v for name, v in zip(GAME.feature_names, values, strict=True) if v and name in COARSE_NAMES}


def shapes(text: str) -> dict[str, float]:
    """The squares and shapes that are not 0, as Black sees them."""
    values = GAME.features(GAME.from_text(text), 0)
    return {name: v for name, v in zip(GAME.feature_names, values, strict=True) if v and name in SHAPE_NAMES}


def finer(text: str) -> dict[str, float]:
    """The finer features that are not 0, as Black sees them."""
    values = GAME.features(GAME.from_text(text), 0)
    return {name: v for name, v in zip(GAME.feature_names, values, strict=True) if v and name in FINER_NAMES}


def scattered(seed: int) -> State:
    """Kings and men anywhere, White's in the middle and on a cycle of jumps: long captures and circles among them."""
    rng = random.Random(seed)
    inner = [n for n in range(32) if set(row_column(n)) <= set(range(1, 7))]
    cycle = squares_of(rng.choice(JUMP_GRAPH.cycles[rng.randrange(32)]))
    white = {*cycle, *rng.sample(inner, rng.randint(0, 4))}
    black = rng.sample([n for n in range(32) if n not in white], rng.randint(1, 4))
    words = [sum(map(bit, squares)) for squares in (black, white)]
    kings = sum(bit(n) for n in (*black, *white) if rng.random() < 0.7) | words[0] & CROWN_ROW[0]
    return State(words[0], words[1], kings)


# --- moves -----------------------------------------------------------------------------------------------------------
def test_perft_equals_published_counts():
    assert [playing.perft(GAME, GAME.initial(), depth) for depth in range(1, 6)] == PERFT[:5]
    compiled = CompiledGame(GAME)
    assert [compiled.perft(GAME.initial(), depth) for depth in range(1, 10)] == PERFT[:9]


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("B:W30:B12", ["12-16"]),  # a man steps forwards only
        ("W:W30:B12", ["30-26", "30-25"]),
        ("B:W30:BK18", ["18-22", "18-23", "18-15", "18-14"]),  # a king any way, one square
        ("B:WK1,19:B15,9", ["15x24"]),  # a capture is forced, and 9-13 is not legal
        ("B:W18,27,19:B15", ["15x22", "15x24x31"]),  # any route, not the longest only
        ("B:W26,27:B22", ["22x31"]),  # crowning ends the move: 31x24 would go on
        ("B:W26,27:BK22", ["22x31x24"]),
        ("W:W18:B14,15", ["18x9", "18x11"]),
        ("B:W6,7,14,15:BK1", ["1x10x17", "1x10x3", "1x10x19"]),
        ("W:WK18:B22,23,25", ["18x27"]),  # 22 is guarded by 25
    ],
)
def test_legal_moves_of_small_positions(position, expected):
    assert sorted(legal(position)) == sorted(expected)


def test_two_routes_that_take_the_same_pieces_are_one_action():
    s = GAME.from_text("B:W6,7,14,15:BK2")  # round the four men, either way
    assert GAME.actions(s) == (action_number(1, 1, s.white),)
    assert GAME.action_from_text(s, "2x9x18x11x2") == GAME.action_from_text(s, "2x11x18x9x2") == GAME.actions(s)[0]
    t = GAME.result(s, GAME.actions(s)[0])
    assert (t.black, t.white, t.kings) == (s.black, 0, s.kings)


def test_routes_that_take_different_pieces_are_different_actions():
    s = GAME.from_text("W:W31:B26,27,18,19")
    assert legal("W:W31:B26,27,18,19") == ["31x24x15", "31x22x15"]
    first, second = GAME.actions(s)
    assert first % 1024 == second % 1024  # from 31 to 15 both
    assert {GAME.result(s, a).black for a in (first, second)} == {bit(25) | bit(17), bit(26) | bit(18)}


def trails(square: int, jumpable: int, directions: tuple[int, ...], taken: int = 0) -> Iterator[tuple[int, int]]:
    """(end, what is taken) of every chain of jumps over `jumpable`, all landing squares being empty."""
    goes_on = False
    for d in directions:
        over, landing = STEP[square][d], LANDING[square][d]
        if over is not None and landing is not None and jumpable & ~taken & bit(over):
            goes_on = True
            yield from trails(landing, jumpable, directions, taken | bit(over))
    if not goes_on:
        yield square, taken


def test_action_numbers_tell_all_captures_apart_and_max_actions_is_a_bound():
    """All cases: what stands on a landing square only takes jumps away, and each group of squares has nine jumps."""
    most = 0
    for group in {frozenset(n for n in range(32) if JUMP_GRAPH.marks[n] == marks) for marks in JUMP_GRAPH.marks}:
        overs = sorted({bit(STEP[n][d]) for n in group for d in range(4) if LANDING[n][d] is not None})
        assert (len(group), len(overs)) == (8, 9)
        for some in product((0, 1), repeat=9):
            jumpable = sum(over for over, there in zip(overs, some, strict=True) if there)
            for start in group:
                found = set(trails(start, jumpable, (0, 1, 2, 3)))
                assert len({action_number(start, end, taken) for end, taken in found}) == len(found)
                most = max(most, len(found))
    assert most * MEN == MAX_ACTIONS


def test_taken_pieces_follow_from_the_action_number():
    for seed in range(300):
        for move in moves(scattered(seed)):
            assert int(taken_by(move.action)) == move.taken


# --- the end of the game ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("position", "last"),
    [
        ("B:WK32:B1,2", "the mover still has moves"),
        ("W:W:B1,2", "no piece left"),
        ("W:W13:B6,9", "blocked"),
    ],
)
def test_who_cannot_move_has_lost(position, last):
    s = GAME.from_text(position)
    over = last != "the mover still has moves"
    assert GAME.is_terminal(s) == over
    if over:
        assert GAME.actions(s) == ()
        assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (1.0, -1.0)
        assert GAME.board(s).endswith("White cannot move: Black has won")


def test_forty_moves_each_without_progress_are_a_draw():
    s = after("B:WK32:BK1,9:H79", "1-6")
    assert s.clock == 80
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == GAME.noisy_actions(s) == ()
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (0.0, 0.0)
    assert GAME.board(s).endswith("a draw: 40 moves each without a capture or a move of a man")
    assert after("B:WK32:BK1,9:H79", "9-13") == GAME.from_text("W:WK32:BK1,13")  # a man starts the clock again
    assert after("B:WK6:BK1:H79", "1x10").clock == 0


def test_a_win_with_the_eightieth_ply_is_a_win():
    s = after("B:W13:B6,K14:H79", "14-9")
    assert s.clock == 80
    assert GAME.utility(s, 0) == 1.0
    playing.compare_backends(GAME, State(*s[:5]))


def test_third_occurrence_is_a_draw():
    there_and_back = ["1-6", "32-27", "6-1", "27-32"]
    s = after("B:WK32:BK1", *there_and_back, *there_and_back[:3])
    assert not GAME.is_terminal(s)
    s = GAME.result(s, GAME.action_from_text(s, "27-32"))
    assert GAME.is_terminal(s)
    assert GAME.utility(s, 0) == 0.0
    assert GAME.board(s).endswith("a draw: the position is on the board for the third time")
    assert CompiledGame(GAME).is_terminal(s)
    with pytest.raises(IllegalAction, match="the game is over"):
        GAME.action_from_text(s, "1-6")


def test_history_is_cleared_by_moves_that_cannot_be_taken_back():
    s = after("B:W21,K32:B1,K2,K22", "2-6", "32-27")
    assert len(GAME.history(s)) == s.clock == 2
    assert GAME.decode(GAME.encode(s), GAME.history(s)) == s
    assert GAME.history(after(GAME.to_text(s), "1-5")) == ()


@pytest.mark.parametrize(
    ("position", "action", "message"),
    [
        (
            "B:W30:B12",
            12 + 32 * 16,
            'illegal action 524 (13 to 17) in checkers position "B:W30:B12": Black has no piece on 13',
        ),
        ("B:W20:B16,11", 10 + 32 * 15, "16 is occupied; legal: 11-15 16-19"),
        ("B:W20:B16,11", 10 + 32 * 16, "no move leads from 11 to 17"),
        ("B:W19,30:B9,15", 8 + 32 * 12, "a capture is forced; legal: 15x24"),
        ("W:W:B1", 0, "the game is over; legal: none"),
        ("B:W30:B12", 4096, 'illegal action 4096 in checkers position "B:W30:B12": actions are 0..4095'),
        ("B:W30:B12", "12-16", "illegal action '12-16' in"),
    ],
)
def test_illegal_actions_say_why(position, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert message in str(error.value)


# --- both backends ---------------------------------------------------------------------------------------------------
def test_backends_agree_on_scattered_pieces():
    circles = 0
    for seed in range(250):
        s = scattered(seed)
        playing.compare_backends(GAME, s)
        circles += len(routes(s)) > len(moves(s))
    assert circles >= 5  # positions where two routes are one action


def test_keys_know_the_mover_and_not_the_clock():
    rules = GAME.rules
    words = {text: rules.State(*map(np.uint64, GAME.encode(GAME.from_text(text)))) for text in (
        "B:WK32:BK1", "W:WK32:BK1", "B:WK32:BK1:H7", "B:WK31:BK1", "B:W32:BK1",
    )}  # fmt: skip
    keys = {text: int(rules.key(word)) for text, word in words.items()}
    assert keys["B:WK32:BK1:H7"] == keys["B:WK32:BK1"]
    assert len(set(keys.values())) == 4
    seen = {s[:4] for seed in range(20) for s, _ in random_game(seed)}
    hashed = {int(rules.key(rules.State(*map(np.uint64, (*s[:3], s[3]))))) for s in seen}
    assert len(hashed) == len(seen)


# --- what an evaluator sees ------------------------------------------------------------------------------------------
def test_features_of_known_positions():
    assert features("B:W21-32:B1-12") == {"move": -1}  # at the start White has the move
    # Black's man on 28 stands in the dog hole without a step; 1 and 3 hold the bridge; White's man can step to 27.
    back = {"back_rank": 2 - 1, "bridge": 1}
    on_28 = {"edge_men": 1, "tempo": 6, "advanced_men": 1, "trapped_men": 1, "dog_hole": 1}
    assert features("B:W32:B1,3,28") == {"men": 2, "mobility": 3, "safe_steps": 3, **back, **on_28}
    # White's 7 runs to 2 or 3, 5 is held in the hole by the king on 1; both kings stand in a double corner.
    men = {"men": -2, "kings": 2, "edge_men": -1, "tempo": -12, "advanced_men": -2, "crowning": -1, "runaways": -1}
    held = {"trapped_men": -1, "dog_hole": -1, "double_corner": 2}
    assert features("W:W5,7:BK1,K32") == {**men, **held, "mobility": 1, "safe_steps": 1, "move": -1}
    assert features("W:W5,7:BK1,K32", player=1) == {k: -v for k, v in features("W:W5,7:BK1,K32").items()}


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("B:W21-32:B1-12", {}),
        # 1 and 3 stand at home, 14 on the fourth row with 9 behind it; 32 is White's rightmost
        ("B:W32:B1,3,9,14", {
            "backed_men": 1, "lead_late": 3 * 19, "home_0101": 1, "home_0001": -1,
        }),
        # the king on 18 has four steps and is two steps from 27; White has no king
        ("B:W27:B1,K18", {
            "king_steps": 4, "only_kings": 1, "lead_late": 21, "contact": 1, "home_0001": 1,
        }),
        ("B:WK4,K12:BK29", {"king_steps": 1 - 3, "lead_late": -21}),
        # 24 has left 20 behind; White's 5 is one step from its crown
        ("B:W5:BK20,24", {
            "king_steps": 1, "only_kings": 1, "lead_late": 21, "backed_men": 1, "runaway_rows": 5 - 6,
        }),
    ],
)  # fmt: skip
def test_finer_features_of_known_positions(position, expected):
    assert finer(position) == expected


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("B:W21-32:B1-12", {}),
        # both sides number squares from their own back row: White's 32 is 1, its king on 29 is 4
        ("B:WK29,32:B2,K4", {"man_2": 1, "man_1": -1}),
        # each of the three can be jumped along both diagonals, and stands alone; 15 lies between 10 and 19
        ("B:W22:B10,K19", {
            "man_10": 1, "man_11": -1, "king_19": 1, "exposed": 2 + 2 - 2, "gaps": 1,
        }),
        # 14 lies between 10 and 17, next to 9, 10 and 17; 6, 10 and 15 stand in a row; 17 stands alone
        ("B:W:B6,9,10,15,17", {
            "man_6": 1, "man_9": 1, "man_10": 1, "man_15": 1, "man_17": 1, "exposed": 5, "gaps": 1, "dykes": 1,
            "holes": 1, "poles": 1,
        }),
    ],
)  # fmt: skip
def test_squares_and_shapes_of_known_positions(position, expected):
    assert shapes(position) == expected


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("B:W24:B15", (2, 1, 0, 0)),  # 24 takes what comes to 19, for then 15 is free; on 18 it is safe
        ("B:W23,24:B15", (2, 0, 1, 0)),  # 23 takes it there, towards 14
        ("B:W23,24:B14,15", (4, 2, 0, 0)),  # unless 14 is held: 15-18 and 14-17 are safe
        ("B:W5,10:BK1", (1, 0, 0, 1)),  # the king has one step, and 10 takes it on 6
    ],
)
def test_steps_safe_steps_and_trapped_pieces_are_counted(position, expected):
    assert step_counts(GAME.from_text(position), 0) == expected


def test_captures_and_exchanges_are_counted():
    s = GAME.from_text("B:W18,25:B15")  # 15 takes 18 and lands before 25; 18 takes 15 for nothing
    assert (jump_counts(s, 0), jump_counts(s, 1)) == ((0, 1), (1, 0))


def test_phases_cover_the_game():
    texts = ("B:W21-32:B1-12", "B:W21-25:B1-12", "B:W21-24:B1-12", "B:W21:B1-8", "B:W21:B1-7", "B:W21:B1")
    assert [GAME.phase(GAME.from_text(text)) for text in texts] == [0, 1, 2, 3, 4, 5]


def test_board_shows_numbers_pieces_and_mover():
    rows = GAME.board(GAME.from_text("W:W32,K18:B1,K6")).splitlines()
    assert rows[:2] == [
        "::::::  b 1 ::::::    2 ::::::    3 ::::::    4 ",
        "    5 :::::: BB 6 ::::::    7 ::::::    8 ::::::",
    ]
    assert rows[4].split() == ["::::::", "17", "::::::", "WW18", "::::::", "19", "::::::", "20"]
    assert rows[-1] == "White to move"


# --- another program -------------------------------------------------------------------------------------------------
def picture(s: State) -> str:
    """The board as OpenSpiel prints it: Black, who begins, below."""
    cells = [["."] * 8 for _ in range(8)]
    for pieces, man, king in ((s.black, "o", "8"), (s.white, "+", "*")):
        for n in squares_of(pieces):
            row, column = row_column(n)
            cells[7 - row][7 - column] = king if s.kings & bit(n) else man
    return "\n".join("".join(row) for row in cells)


def spiel_picture(state: Any) -> str:
    return "\n".join(line[1:] for line in str(state).splitlines()[:8])


def whole_moves(state: Any, player: int) -> dict[str, Any]:
    """{picture: state} after each move of the player; OpenSpiel plays the jumps of one capture as several actions."""
    found = {}
    for a in state.legal_actions():
        child = state.child(a)
        if not child.is_terminal() and child.current_player() == player:
            found |= whole_moves(child, player)
        else:
            found[spiel_picture(child)] = child
    return found


@pytest.mark.parametrize("seed", range(4))
def test_random_games_equal_openspiel(seed):
    """Its rules differ in the draws only: 40 actions without a capture, whoever makes them, and no repetition."""
    pyspiel = pytest.importorskip("pyspiel")
    rng = random.Random(seed)
    s, theirs = GAME.initial(), pyspiel.load_game("checkers").new_initial_state()
    while not theirs.is_terminal() and not GAME.is_terminal(s):
        ours = {picture(GAME.result(s, a)): a for a in GAME.actions(s)}
        children = whole_moves(theirs, s.player)
        assert set(ours) == set(children)
        chosen = rng.choice(sorted(ours))
        s, theirs = GAME.result(s, ours[chosen]), children[chosen]
    if not moves(s):
        assert theirs.returns() == [GAME.utility(s, 0), GAME.utility(s, 1)]
