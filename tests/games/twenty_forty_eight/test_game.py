"""2048: merging, scores, chance, notation, features, both backends, and what simple play is worth."""

from __future__ import annotations

import random
from itertools import product
from math import isclose, tanh

import numpy as np
import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE, Game
from evallearn.errors import GameError, IllegalAction
from evallearn.games.twenty_forty_eight import TwentyFortyEight
from evallearn.games.twenty_forty_eight.game import State
from evallearn.games.twenty_forty_eight.tiles import (
    DOWN,
    HIGHEST_SCORE,
    LEFT,
    RIGHT,
    SNAKES,
    UP,
    grown_from,
    log2_steps,
    slide,
)

GAME = TwentyFortyEight()
FAST = CompiledGame(GAME)
EMPTY_ROW = "0.0.0.0"
STUCK = "2.4.2.4/4.2.4.2/2.4.2.4/4.2.4.2"
LARGEST = "131072.65536.32768.16384/1024.2048.4096.8192/512.256.128.64/4.8.16.32"


def rows(*given: str) -> str:
    """A text with the rows that are not given empty."""
    return "/".join([*given, *[EMPTY_ROW] * (4 - len(given))])


def random_game(seed: int, game: Game = GAME) -> list[tuple[State, int | None]]:
    """(state, action or outcome) of every ply, with chance as it is; the last state is terminal."""
    rng, s, played = random.Random(seed), game.initial(), []
    while not game.is_terminal(s):
        if game.to_play(s) == CHANCE:
            outcomes, weights = zip(*game.chances(s), strict=True)
            a = rng.choices(outcomes, weights)[0]
        else:
            a = rng.choice(game.actions(s))
        played.append((s, a))
        s = game.result(s, a)
    return [*played, (s, None)]


def features(text: str) -> dict[str, float]:
    return dict(zip(GAME.feature_names, GAME.features(GAME.from_text(text), 0), strict=True))


# --- rules -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "after", "points"),
    [
        ((2, 2, 2, 2), (4, 4, 0, 0), 8),
        ((4, 4, 8, 0), (8, 8, 0, 0), 8),
        ((2, 2, 4, 0), (4, 4, 0, 0), 4),
        ((2, 2, 2, 0), (4, 2, 0, 0), 4),
        ((0, 2, 0, 2), (4, 0, 0, 0), 4),
        ((4, 2, 2, 4), (4, 4, 4, 0), 4),
        ((2, 4, 2, 4), (2, 4, 2, 4), 0),
        ((0, 0, 0, 2), (2, 0, 0, 0), 0),
        ((8, 0, 8, 16), (16, 16, 0, 0), 16),
        ((65536, 65536, 0, 0), (131072, 0, 0, 0), 131072),
    ],
)
def test_tiles_slide_and_merge_once_from_the_front(line, after, points):
    exponents = [tile.bit_length() - 1 if tile else 0 for tile in line]
    merged, scored = slide(exponents)
    assert ([1 << e if e else 0 for e in merged], scored) == (list(after), points)


def test_moves_go_all_four_ways():
    s = GAME.from_text("2.0.0.2/0.0.0.0/0.4.0.0/2.0.0.0")
    texts = {a: GAME.to_text(GAME.result(s, a)) for a in GAME.actions(s)}
    assert texts == {
        UP: "4.4.0.2/0.0.0.0/0.0.0.0/0.0.0.0 8 tile",
        RIGHT: "0.0.0.4/0.0.0.0/0.0.0.4/0.0.0.2 8 tile",
        DOWN: "0.0.0.0/0.0.0.0/0.0.0.0/4.4.0.2 8 tile",
        LEFT: "4.0.0.0/0.0.0.0/4.0.0.0/2.0.0.0 8 tile",
    }


def test_only_moves_that_change_the_board_are_legal():
    assert GAME.actions(GAME.from_text(rows("2.0.0.0"))) == (RIGHT, DOWN)
    assert GAME.actions(GAME.from_text(rows("2.4.8.16"))) == (DOWN,)
    assert GAME.actions(GAME.from_text("2.4.2.4/4.2.4.2/2.4.2.4/4.2.4.4")) == (UP, RIGHT, DOWN, LEFT)


def test_a_full_board_without_equal_neighbours_ends_the_game():
    s = GAME.from_text(f"{STUCK} 16")
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert GAME.to_play(s) == 0
    assert GAME.utility(s, 0) == 16.0
    assert not GAME.is_terminal(GAME.from_text(STUCK.replace("4.2.4.2", "4.2.4.0", 1) + " 0 tile"))


def test_the_game_begins_with_two_tiles_of_chance():
    s = GAME.initial()
    for left in (2, 1):
        assert (GAME.to_play(s), GAME.actions(s), s.pending) == (CHANCE, (), left)
        s = GAME.result(s, GAME.chances(s)[0][0])
    assert GAME.to_play(s) == 0
    assert GAME.to_text(s) == rows("2.2.0.0") + " 0 move"


def test_chance_puts_a_two_or_a_four_on_every_empty_cell():
    s = GAME.from_text("2.4.2.4/4.2.4.2/2.4.2.4/4.2.0.0 0 tile")
    assert GAME.chances(s) == [(28, 0.45), (29, 0.05), (30, 0.45), (31, 0.05)]
    assert [GAME.to_text(GAME.result(s, a))[-15:] for a in (28, 29)] == ["/4.2.2.0 0 move", "/4.2.4.0 0 move"]


def test_chances_sum_to_one():
    for s, _ in random_game(1):
        if GAME.to_play(s) == CHANCE:
            assert isclose(sum(p for _, p in GAME.chances(s)), 1.0)


def tile_by_tile(board: list[list[int]], action: int) -> tuple[list[list[int]], int]:
    """Another way to move: tiles, the ones in front first, step on until something stops them."""
    dy, dx = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
    board, fresh, points = [row[:] for row in board], set(), 0
    for y, x in sorted(product(range(4), repeat=2), key=lambda at: -(at[0] * dy + at[1] * dx)):
        tile, board[y][x] = board[y][x], 0
        while tile and 0 <= y + dy < 4 and 0 <= x + dx < 4 and not board[y + dy][x + dx]:
            y, x = y + dy, x + dx
        ahead = (y + dy, x + dx)
        if tile and 0 <= y + dy < 4 and 0 <= x + dx < 4 and board[y + dy][x + dx] == tile and ahead not in fresh:
            board[y + dy][x + dx] = 2 * tile
            fresh.add(ahead)
            points += 2 * tile
        else:
            board[y][x] = tile
    return board, points


@pytest.mark.parametrize("seed", range(5))
def test_games_equal_those_of_a_slow_implementation(seed):
    score = 0
    for s, a in random_game(seed):
        board = [[1 << e if e else 0 for e in s.cells[i : i + 4]] for i in range(0, 16, 4)]
        assert s.score == score
        if GAME.to_play(s) == CHANCE or a is None:
            continue
        outcomes = [tile_by_tile(board, b) for b in range(4)]
        assert GAME.actions(s) == tuple(b for b in range(4) if outcomes[b][0] != board)
        after = GAME.result(s, a)
        assert [[1 << e if e else 0 for e in after.cells[i : i + 4]] for i in range(0, 16, 4)] == outcomes[a][0]
        score += outcomes[a][1]


def test_no_game_scores_more_than_the_bound():
    s = GAME.from_text(LARGEST)
    assert GAME.is_terminal(s)
    assert s.score == HIGHEST_SCORE == GAME.utility_range[1] == 3_932_164
    for played in map(random_game, range(3)):
        for s, _ in played:
            assert grown_from(2, s.cells) <= s.score <= grown_from(1, s.cells)
            assert all(e <= 18 - i for i, e in enumerate(sorted(s.cells, reverse=True), 1))
        assert len(played) <= GAME.rules.max_plies


@pytest.mark.parametrize(
    ("position", "action", "message"),
    [
        (rows("2.0.0.0"), UP, "illegal action up in 2048 position"),
        (rows("2.0.0.0"), UP, "it moves nothing; legal: right down"),
        (STUCK, LEFT, "illegal action left in 2048 position"),
        (STUCK, LEFT, "the game is over; legal: none"),
        (rows("2.0.0.0"), 4, "illegal action 4 in 2048"),
        (rows("2.0.0.0"), "up", "illegal action 'up' in 2048"),
        (rows("2.0.0.0"), "up", "the actions are 0 up, 1 right, 2 down, 3 left"),
        ("2.0.2.4/4.2.4.2/2.4.2.4/4.2.0.2 0 tile", 0, "illegal action a1=2 in 2048"),
        ("2.0.2.4/4.2.4.2/2.4.2.4/4.2.0.2 0 tile", 0, "a1 is taken; legal: a 2 or a 4 on one of b1 c4"),
        (rows("2.0.0.0") + " 0 tile", 32, "chance is to put a tile: 2 * cell for a 2, 2 * cell + 1 for a 4"),
    ],
)
def test_illegal_actions_say_why(position, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert message in str(error.value)


# --- text ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_texts_read_back(seed):
    for s, a in random_game(seed):
        assert GAME.from_text(GAME.to_text(s)) == s
        assert GAME.decode(GAME.encode(s)) == s
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a


def test_short_texts_are_filled_in():
    assert GAME.from_text(" 2.-.8._/0.0.0.0/0.0.0.0/0.0.0.0\n") == State((1, 0, 3) + (0,) * 13, 16, 0)
    assert GAME.from_text(rows("8.0.0.0") + " 8") == State((3,) + (0,) * 15, 8, 0)
    assert GAME.from_text(rows("8.0.0.0") + " 12 TILE").pending == 1
    assert GAME.from_text(rows() + " 0 tiles") == GAME.initial()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected four rows of four tiles such as 2.0.16.4, with / between the rows"),
        ("2.2.2.2/2.2.2.2", "expected four rows of four tiles"),
        (rows("2.2.2.2.2"), "expected four rows of four tiles"),
        (rows("2.3.2.2"), "b1 is '3'; expected 0, 2, 4, 8, .. 131072"),
        (rows("2.²._.2"), "b1 is '²'"),
        (rows("2.4.8.262144"), "d1 is '262144'"),
        (rows("131072.131072.0.0"), "number 2 of its tiles by size is 131072: no play leads beyond 65536 there"),
        ("8.8.8.8/" * 3 + "8.8.8.8", "number 16 of its tiles by size is 8: no play leads beyond 4 there"),
        (rows("8.0.0.0") + " x", "the score is 'x'; expected a whole number such as 16"),
        (rows("8.0.0.0") + " ١٦", "the score is '١٦'"),
        (rows("8.0.0.0") + " -8", "the score is '-8'"),
        (rows("8.0.0.0") + " 4", "such tiles score a multiple of 4 from 8 to 16, not 4"),
        (rows("8.0.0.0") + " 20", "from 8 to 16, not 20"),
        (rows("8.0.0.0") + " 10", "a multiple of 4 from 8 to 16, not 10"),
        (rows("8.0.0.0") + " 8 player", "the turn is 'player'; expected move, tile (chance puts one) or tiles (two)"),
        (rows("8.0.0.0") + " 8 move 1", "'1' follows after the turn; expected rows, score and turn"),
        (rows("8.0.0.0") + " 8 tiles", "two tiles are due where the board is empty, and only there"),
        (rows(), "two tiles are due where the board is empty, and only there: write 'tiles' for it"),
        (STUCK + " 0 tile", "no cell is empty for the tile that is due: write 'move'"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


TILES = st.sampled_from(["0", "0", "2", "2", "4", "8", "64", "131072", "-", "3", "²"])
BOARDS = st.lists(st.lists(TILES, min_size=3, max_size=5).map(".".join), min_size=3, max_size=5).map("/".join)
TEXTS = st.builds("{} {} {}".format, BOARDS, st.integers(-9, 99), st.sampled_from(["move", "tile", "tiles", "", "x"]))


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), BOARDS, TEXTS))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.text(max_size=8), st.text("abcd1234= udlrws", max_size=6)),
    st.sampled_from([rows("2.0.0.0"), rows("2.2.0.0") + " 0 tile", STUCK]),
)
def test_any_action_text_is_an_action_or_refused(text, position):
    s = GAME.from_text(position)
    try:
        a = GAME.action_from_text(s, text)
    except GameError:
        return
    GAME.result(s, a)


@pytest.mark.parametrize(
    ("text", "action"),
    [*zip("urlwas", (UP, RIGHT, LEFT, UP, LEFT, DOWN), strict=True), (" Down\n", DOWN), ("LEFT", LEFT), ("→", RIGHT)],
)
def test_usual_names_of_moves_are_read(text, action):
    assert GAME.action_from_text(GAME.from_text("2.0.0.2/0.0.0.0/0.4.0.0/2.0.0.0"), text) == action


def test_outcomes_are_read_as_cell_and_tile():
    s = GAME.initial()
    assert [GAME.action_from_text(s, text) for text in ("a1=2", "D4=4", " b3 = 4", "c2 2")] == [0, 31, 19, 12]


@pytest.mark.parametrize(
    ("position", "text", "message"),
    [
        (rows("0.2.0.0"), "d", "'d' may mean down or right"),
        (rows("0.2.0.0"), "north", "'north' is no move; expected up, right, down or left"),
        (rows("0.2.0.0"), "up", "it moves nothing; legal: right down left"),
        (rows() + " 0 tiles", "up", "'up' puts no tile; expected a cell and a tile such as b3=4"),
        (rows("2.0.0.0") + " 0 tile", "a1=4", "a1 is taken"),
    ],
)
def test_other_action_texts_say_what_is_wrong(position, text, message):
    with pytest.raises(GameError) as error:
        GAME.action_from_text(GAME.from_text(position), text)
    assert message in str(error.value)


def test_board_shows_tiles_score_and_moves():
    assert GAME.board(GAME.from_text("2.0.16384.0/0.0.0.0/0.8.0.0/0.0.0.4")).splitlines() == [
        "     a      b      c      d",
        "  +------+------+------+------+",
        "1 |    2 |      |16384 |      |",
        "  +------+------+------+------+",
        "2 |      |      |      |      |",
        "  +------+------+------+------+",
        "3 |      |    8 |      |      |",
        "  +------+------+------+------+",
        "4 |      |      |      |    4 |",
        "  +------+------+------+------+",
        "score 213012: move up right down left",
    ]
    assert GAME.board(GAME.from_text(STUCK)).endswith("\nscore 32: no move is left, the game is over")
    assert GAME.board(GAME.initial()).endswith("\nscore 0: chance puts two tiles")
    assert GAME.board(GAME.from_text(rows("2.0.0.0") + " 0 tile")).endswith("\nscore 0: chance puts a tile")


# --- what an evaluator sees ------------------------------------------------------------------------------------------
def test_features_of_known_positions():
    assert features("4.2.2.0/4.0.0.0/0.0.0.0/0.0.0.8 8") == {
        "one": 1,
        "log_sum": 4.3125,  # log2(21), straight between 16 and 32
        "unmerged": 28 / 1024,  # 20 = 16 + 4, which would have scored 48 + 4; 4, 4 and 8 have scored 24
        "empty": 11,
        "merges": 2,
        "roughness": 1,
        "disorder": 0,
        "largest": 3,
        "corner": 1,
        "snake": 15 * 2 + 14 + 13 + 8 * 2 + 3 * 3,
    }
    found = features("2.8.2.0/0.0.0.0/0.64.0.0/0.0.0.0")
    assert found["disorder"] == 2 + 6 + 6  # row 1 rises by 2 and falls by 3, row 3 by 6 and 6, column b by 6 and 9
    assert (found["corner"], found["largest"], found["roughness"]) == (0, 6, 4)


def test_snakes_are_the_eight_views_of_one():
    assert len(set(SNAKES)) == 8
    for snake in SNAKES:
        assert sorted(snake) == list(range(16))
        at = {weight: divmod(i, 4) for i, weight in enumerate(snake)}
        assert all(abs(at[w][0] - at[w + 1][0]) + abs(at[w][1] - at[w + 1][1]) == 1 for w in range(15))
    turned = GAME.from_text("0.0.0.0/0.0.0.0/0.0.0.8/0.2.4.16")
    mirrored = GAME.from_text("16.4.2.0/8.0.0.0/0.0.0.0/0.0.0.0")
    assert GAME.features(turned, 0) == GAME.features(mirrored, 0)


def test_log_is_right_at_powers_of_two_and_never_falls():
    assert [log2_steps(1 << e) for e in range(23)] == [1024 * e for e in range(23)]
    steps = [log2_steps(n) for n in range(1, 5000)]
    assert steps == sorted(steps)


def test_phases_follow_the_sum_of_the_tiles():
    texts = ["2.0.0.0", "128.64.32.16", "128.64.32.32", "512.256.128.64", "512.256.256.0", "2048.1024.512.256"]
    assert [GAME.phase(GAME.from_text(rows(text))) for text in texts] == [0, 0, 1, 1, 2, 2]
    assert [GAME.phase(GAME.from_text(rows(text))) for text in ("4096.0.0.0", "131072.2.0.0")] == [3, 3]
    assert GAME.phase(GAME.initial()) == 0


def test_no_merge_changes_how_long_the_game_has_lasted_nor_what_its_tiles_are_good_for():
    for seed in range(3):
        for s, a in random_game(seed)[:-1]:
            if s.pending == 0:
                before, after = GAME.features(s, 0), GAME.features(t := GAME.result(s, a), 0)
                assert GAME.phase(t) == GAME.phase(s)
                assert before[1] == after[1]
                assert s.score + 1024 * before[2] == t.score + 1024 * after[2]


@pytest.mark.parametrize("name", GAME.heuristics)
def test_heuristics_expect_scores_as_they_come(name):
    weights = GAME.heuristics[name].weights
    for text, low, high in ((rows("2.2.0.0"), 500, 40_000), ("512.256.64.8/4.8.2.0/2.0.0.0/0.0.0.0", 500, 40_000)):
        raw = sum(weights.get(feature, 0) * value for feature, value in features(text).items())
        assert low < (1 + tanh(raw)) / 2 * HIGHEST_SCORE < high


# --- both backends ---------------------------------------------------------------------------------------------------
def compare_backends(s: State) -> None:
    """The rules run uncompiled and compiled against the Python backend."""
    rules, over, chance = GAME.rules, GAME.is_terminal(s), GAME.to_play(s) == CHANCE
    word = rules.State(*map(np.uint64, GAME.encode(s)))
    ours = list(GAME.actions(s)), list(GAME.chances(s)) if chance else []
    options = ours[0] + [outcome for outcome, _ in ours[1]]
    assert (FAST.is_terminal(s), FAST.to_play(s)) == (over, GAME.to_play(s))
    assert [FAST.result(s, a) for a in options] == [GAME.result(s, a) for a in options]
    with np.errstate(over="ignore"):
        assert (rules.is_terminal(word), rules.to_play(word)) == (over, GAME.to_play(s))
        assert [GAME.decode([int(w) for w in rules.result(word, a)]) for a in options] == [
            GAME.result(s, a) for a in options
        ]
        if over:
            assert rules.utility_player(word, 0) == FAST.utility(s, 0) == GAME.utility(s, 0)
            return
        actions, outcomes = np.zeros(rules.max_actions, np.int32), np.zeros(rules.max_outcomes, np.int32)
        chances, numbers = np.zeros(rules.max_outcomes), np.zeros(len(GAME.feature_names), np.float32)
        if chance:
            n = rules.chances(word, outcomes, chances)
            assert list(zip(outcomes[:n].tolist(), chances[:n].tolist(), strict=True)) == ours[1]
            assert list(FAST.chances(s)) == ours[1]
        else:
            assert actions[: rules.actions(word, actions)].tolist() == ours[0] == list(FAST.actions(s))
        rules.features_player(word, 0, numbers)
        assert numbers.tolist() == list(GAME.features(s, 0)) == list(FAST.features(s, 0))
        assert rules.phase(word) == GAME.phase(s) == FAST.phase(s)
        assert int(rules.key(word)) == FAST.key(s)


def test_backends_agree_along_games():
    for seed in range(3):
        for s, _ in random_game(seed)[seed::3]:
            compare_backends(s)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 17), min_size=16, max_size=16), st.integers(0, 1))
def test_backends_agree_on_boards_that_no_game_reaches(exponents, pending):
    compare_backends(State(tuple(exponents), grown_from(1, exponents), pending if 0 in exponents else 0))


def test_keys_are_distinct():
    seen = {s for seed in range(6) for s, _ in random_game(seed)}
    assert len({int(GAME.rules.key(GAME.rules.State(*map(np.uint64, GAME.encode(s))))) for s in seen}) == len(seen)


# --- what simple play is worth ---------------------------------------------------------------------------------------
def greedy_score(name: str, seed: int) -> int:
    """One game in which each move is the best of the boards right after it, before the new tile."""
    weights = [GAME.heuristics[name].weights.get(f, 0.0) for f in GAME.feature_names]
    rng, s = random.Random(seed), GAME.initial()
    while not FAST.is_terminal(s):
        if s.pending:
            outcomes, chances = zip(*FAST.chances(s), strict=True)
            s = FAST.result(s, rng.choices(outcomes, chances)[0])
        else:
            after = [FAST.result(s, a) for a in FAST.actions(s)]
            s = max(after, key=lambda t: sum(w * x for w, x in zip(weights, FAST.features(t, 0), strict=True)))
    return s.score


@pytest.mark.long
def test_random_play_scores_about_a_thousand_and_heuristics_more():
    by_chance = np.mean([random_game(seed)[-1][0].score for seed in range(40)])
    assert 900 < by_chance < 1250
    for name in GAME.heuristics:
        assert np.mean([greedy_score(name, seed) for seed in range(2)]) > 2 * by_chance


@pytest.mark.long
def test_scores_of_simple_play_over_many_games():
    by_chance = np.mean([random_game(seed)[-1][0].score for seed in range(1000)])
    corner, snake = (np.mean([greedy_score(name, seed) for seed in range(100)]) for name in ("corner", "snake"))
    print(f"random {by_chance:.0f}, greedy corner {corner:.0f}, greedy snake {snake:.0f}")
    assert 1030 < by_chance < 1120
    assert corner > 4_000
    assert snake > 13_000
