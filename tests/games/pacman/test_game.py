"""Pacman: rules, parameters, features, both backends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import playing
import pytest

from evallearn import get_game
from evallearn.compiled.game import CompiledGame
from evallearn.errors import IllegalAction, SpecError
from evallearn.games.pacman.game import EAST, NORTH, SOUTH, STOP, WEST, Pacman
from evallearn.games.pacman.state import MAZES, MOST_POINTS, Ghost, State

GAME = Pacman()
ROOM = "%%%%%%%/%{}%/%%%%%%%"
"""A corridor of five cells, b2 to f2."""
FOUR_GHOSTS = """
    %%%%%%%%%%%%%%%%
    %o...G....G...o%
    %.%%.%%.%%.%%..%
    %..............%
    %.%%.%%.%%.%%..%
    %..G...P...G...%
    %.%%.%%.%%.%%..%
    %%%%%%%%%%%%%%%%"""
"""As large as it gets: 128 cells, four ghosts."""


def corridor(cells: str, rest: str = "") -> State:
    return GAME.from_text(f"{ROOM.format(cells)} {rest}")


def play(s: State, *actions: int) -> State:
    for a in actions:
        s = GAME.result(s, a)
    return s


def features(s: State, player: int = 0) -> dict[str, int]:
    return dict(zip(GAME.feature_names, GAME.features(s, player), strict=True))


# --- rules -----------------------------------------------------------------------------------------------------------
def test_pacman_eats_and_pays_for_every_move():
    s = corridor("P.-.-", "ghosts=f2-")
    s = play(s, EAST)
    assert (s.score, s.food.bit_count(), s.moves) == (9, 1, 99)
    s = play(s, WEST, STOP)
    assert (s.score, s.moves) == (8, 98)


def test_the_last_dot_wins():
    s = play(corridor("P.---", "ghosts=f2-"), EAST)
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (509.0, -509.0)
    assert (GAME.to_play(s), s.caught) == (1, 0)


def test_a_ghost_that_reaches_pacman_catches_him():
    s = play(corridor("P-.-.", "ghosts=d2W"), STOP, WEST, STOP, WEST)
    assert GAME.is_terminal(s)
    assert (s.caught, s.score, GAME.utility(s, 1)) == (1, -502, 502.0)


def test_pacman_who_runs_into_a_ghost_is_caught():
    s = play(corridor("P-.-.", "ghosts=c2W"), EAST)
    assert (s.caught, s.score) == (1, -501)


def test_nobody_slips_past_by_changing_places():
    assert play(corridor("-P-.-", "ghosts=d2W"), EAST).caught == 1  # he steps onto the ghost before it can move
    assert play(corridor("-P-.-", "ghosts=d2W turn=1"), WEST).caught == 1


def test_two_ghosts_on_one_cell_cost_500_once():
    s = play(corridor("P-.-.", "ghosts=c2W,c2W"), EAST)
    assert (s.caught, s.score) == (1, -501)


def test_who_wins_with_the_last_dot_is_not_caught_on_it():
    s = play(corridor("P.---", "ghosts=c2W,f2-"), EAST)
    assert (s.caught, s.score) == (0, 509)


def test_a_capsule_scares_all_ghosts_for_forty_moves_each():
    s = play(corridor("Po.--", "ghosts=f2-,e2-"), EAST)
    assert [ghost.scared for ghost in s.ghosts] == [40, 40]
    assert s.capsules == 0
    s = play(s, WEST)
    assert [ghost.scared for ghost in s.ghosts] == [39, 40]


def test_a_scared_ghost_is_eaten_and_starts_again():
    for s, mover in ((corridor("-P--.", "ghosts=d2W!9@f2"), EAST), (corridor("-P--.", "ghosts=d2W!9@f2 turn=1"), WEST)):
        after = play(s, mover)
        assert after.ghosts == (Ghost(19 - 7, STOP, 0, 12),)
        assert after.score == 200 - (s.turn == 0)
        assert not GAME.is_terminal(after)


def test_a_capsule_works_before_the_ghost_that_stands_on_it():
    s = play(corridor("Po.--", "ghosts=c2-@f2,e2-"), EAST)
    assert s.score == 199
    assert [ghost.scared for ghost in s.ghosts] == [0, 40]


def test_fear_ends_with_the_move_that_uses_it_up():
    s = play(corridor("-P--.", "ghosts=d2W!1@f2 turn=1"), WEST)
    assert (s.caught, s.score) == (1, -500)
    s = play(corridor("-P--.", "ghosts=d2W!2@f2 turn=1"), WEST)
    assert (s.caught, s.score) == (0, 200)


def test_a_ghost_that_comes_back_on_pacmans_cell_meets_him_only_if_he_stays():
    s = play(corridor("-P--.", "ghosts=d2W!9@c2 turn=1"), WEST)
    assert (s.pacman, s.ghosts[0].cell, s.caught) == (9, 9, 0)
    assert play(s, STOP).caught == 1
    assert play(s, EAST).caught == 0


def test_ghosts_turn_back_only_in_dead_ends():
    cross = "%%%%%/%%-%%/%--P%/%%.%%/%%%%% ghosts={} turn=1"
    assert GAME.actions(GAME.from_text(cross.format("c3E"))) == (NORTH, EAST, SOUTH)
    assert GAME.actions(GAME.from_text(cross.format("c3-"))) == (NORTH, EAST, SOUTH, WEST)
    assert GAME.actions(GAME.from_text(cross.format("c2N"))) == (SOUTH,)
    assert GAME.actions(GAME.from_text(cross.format("c2S"))) == (SOUTH,)


def test_a_walled_in_ghost_waits():
    s = GAME.from_text("%%%%%%%/%P.%-%%/%%%%%%% ghosts=e2- turn=1")
    assert GAME.actions(s) == (STOP,)
    assert play(s, STOP).ghosts == s.ghosts


def test_pacman_may_always_stop():
    assert GAME.actions(GAME.initial()) == (EAST, WEST, STOP)
    assert GAME.actions(corridor("P.---", "ghosts=f2-")) == (EAST, STOP)


def test_every_ghost_takes_its_turn():
    s = Pacman(maze="two_ghosts").initial()
    turns = []
    for _ in range(6):
        turns.append((s.turn, GAME.to_play(s)))
        s = play(s, GAME.actions(s)[0])
    assert turns == [(0, 0), (1, 1), (2, 1)] * 2


def test_the_game_ends_when_the_ghosts_have_answered_the_last_move():
    s = play(corridor("P.-.-", "ghosts=f2- moves=1"), EAST)
    assert (s.moves, GAME.is_terminal(s)) == (0, False)
    s = play(s, WEST)
    assert GAME.is_terminal(s)
    assert GAME.utility(s, 0) == 9.0


@pytest.mark.parametrize("maze", MAZES)
def test_scores_stay_within_reach(maze):
    game, rules = Pacman(maze=maze), GAME.rules
    for seed in range(10):
        states = [s for s, _ in playing.random_game(game, seed)]
        reach = [s.reach for s in states]
        assert all(low <= low2 <= high2 <= high for (low, high), (low2, high2) in pairwise(reach))
        assert reach[-1] == (states[-1].score,) * 2
        assert -MOST_POINTS <= reach[0][0] <= reach[0][1] <= MOST_POINTS == game.utility_range[1]
        assert len(states) <= rules.max_plies


@pytest.mark.parametrize(
    ("state", "action", "message"),
    [
        (corridor("P.---", "ghosts=f2-"), NORTH, "illegal action north in pacman position"),
        (corridor("P.---", "ghosts=f2-"), NORTH, "a wall is there; legal: east stop"),
        (corridor("P.---", "ghosts=d2E turn=1"), WEST, "a ghost turns back only in a dead end; legal: east"),
        (corridor("P.---", "ghosts=d2E turn=1"), STOP, "ghosts do not stop; legal: east"),
        (corridor("P.---", "ghosts=b2W turn=1 caught"), EAST, "the game is over; legal: none"),
        (corridor("P.---", "ghosts=f2-"), 5, "illegal action 5 in pacman"),
        (corridor("P.---", "ghosts=f2-"), "east", "actions are 0 north, 1 east, 2 south, 3 west, 4 stop"),
    ],
)
def test_illegal_actions_say_why(state, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(state, action)
    assert message in str(error.value)


# --- parameters ------------------------------------------------------------------------------------------------------
def test_parameters_choose_maze_and_moves():
    assert Pacman().name == Pacman(maze="small", moves="100").name == "pacman"
    assert Pacman().initial().moves == 100
    game = get_game("pacman,maze=thrash,moves=30")
    assert (game.name, game.initial().moves) == ("pacman,maze=thrash,moves=30", 30)
    own = get_game("pacman,maze=%%%%%/%P.G%/%%%%%")
    assert (own.name, own.initial().width) == ("pacman,maze=%%%%%/%P.G%/%%%%%", 5)
    assert get_game(own.name).initial() == own.initial()
    assert Pacman(maze="\n %%%%% \n %P G% \n %.%%% \n %%%%% ").name == "pacman,maze=%%%%%/%P-G%/%.%%%/%%%%%"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"maze": "smal"}, "unknown pacman maze 'smal': did you mean 'small'? known: capsule, gamble, open, small"),
        ({"maze": "x"}, "or rows such as %%%%%/%P.G%/%%%%%"),
        (
            {"maze": "%%%/%P%/%%%"},
            "pacman maze='%%%/%P%/%%%': pacman position '%%%/%P%/%%%': 0 ghosts; expected 1 to 4",
        ),
        ({"maze": "%%%%/%PG%/%%%%"}, "a maze to begin with has no food: draw some as ."),
        ({"maze": "%%%%%/%P.G%/%%%%% moves=3"}, "a maze to begin with goes on after its last row: end it there"),
        ({"moves": 0}, "pacman moves=0: give a whole number from 1 to 200"),
        ({"moves": 201}, "pacman moves=201"),
        ({"moves": "٣"}, "pacman moves='٣'"),
        ({"moves": "9" * 5000}, "give a whole number from 1 to 200"),
        ({"moves": "1.5"}, "pacman moves='1.5'"),
        ({"moves": ""}, "pacman moves=''"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(SpecError) as error:
        Pacman(**settings)
    assert message in str(error.value)


@pytest.mark.parametrize("maze", [*MAZES, FOUR_GHOSTS])
def test_texts_read_back(maze):
    game = Pacman(maze=maze)
    for s, a in playing.random_game(game, 3):
        text = game.to_text(s)
        assert "\n" not in text
        assert game.from_text(text) == s
        assert game.decode(game.encode(s)) == s
        if a is not None:
            assert game.action_from_text(s, game.action_to_text(s, a)) == a


# --- what an evaluator sees ------------------------------------------------------------------------------------------
def test_features_of_a_known_position():
    s = GAME.from_text("%%%%%%%%%/%P-.-.o-%/%-%%%%%%%/%--.---%%/%%%%%%%%% ghosts=h2W,g4-!5,e4- score=37 moves=60")
    found = features(s)
    assert found == {
        "side": 1,
        "score": 37,
        "food": 3,
        "tour": 2 + 2 + 8,  # d2, f2, and back to d4
        "ghosts_1": 0,
        "ghosts_2": 0,
        "ghosts_4": 0,
        "exits": 2,
        "territory": 5,  # b2 c2 d2, b3 b4: e2 is as near to the ghost at h2, c4 nearer to the one at e4
        "safe_food": 1,  # d2
        "capsules": 1,
        "capsule_near": 8 - 5,
        "scared": 1,
        "scared_near": 8 - 7,
        "late": 0,
    }
    assert features(s._replace(moves=7))["late"] == 12 - 7
    assert features(s, 1) == {name: -value for name, value in found.items()}


def test_ghosts_are_counted_by_their_distance_through_the_maze():
    near = "%%%%%%%/%P-.--%/%%%%%%% ghosts={}"
    for ghosts, counts in {"b2-": (1, 1, 1), "c2-,c2W": (2, 2, 2), "d2-,f2-": (0, 1, 2), "f2-!3": (0, 0, 0)}.items():
        found = features(GAME.from_text(near.format(ghosts)))
        assert (found["ghosts_1"], found["ghosts_2"], found["ghosts_4"]) == counts
    behind = features(GAME.from_text("%%%%%/%P.%%/%%%%%/%G%%%/%%%%%"))
    assert (behind["ghosts_4"], behind["territory"]) == (0, 2)


# --- both backends ---------------------------------------------------------------------------------------------------
def compare(game: Pacman, fast: CompiledGame, s: State) -> None:
    """The rules run uncompiled, and compiled, against the Python backend."""
    playing.compare_backends(game, s)
    assert (fast.is_terminal(s), fast.to_play(s)) == (game.is_terminal(s), game.to_play(s))
    assert [fast.result(s, b) for b in fast.actions(s)] == [game.result(s, b) for b in game.actions(s)]
    if game.is_terminal(s):
        assert [fast.utility(s, p) for p in (0, 1)] == [game.utility(s, p) for p in (0, 1)]
    else:
        assert list(fast.features(s, game.to_play(s))) == list(game.features(s, game.to_play(s)))


@pytest.mark.parametrize("maze", [*MAZES, FOUR_GHOSTS])
def test_backends_agree_along_games(maze):
    game = Pacman(maze=maze)
    fast = CompiledGame(game)
    for seed in range(3):
        for s, _ in playing.random_game(game, seed)[seed::2]:
            compare(game, fast, s)


RARE = {
    "the last dot": "P.--- ghosts=f2-",
    "the last dot under a ghost": "P.--- ghosts=c2W,f2-",
    "the last dot under a scared ghost": "P.--- ghosts=c2W!5@f2",
    "a capsule": "Po.-- ghosts=f2-,e2W!3",
    "a capsule under a ghost": "Po.-- ghosts=c2-@f2,e2-",
    "a scared ghost beside him": "-P--. ghosts=d2W!9@f2",
    "a scared ghost that comes": "-P--. ghosts=d2W!9@f2 turn=1",
    "a ghost scared for one more move": "-P--. ghosts=d2W!1@f2 turn=1",
    "a scared ghost and another on one cell": "-P--. ghosts=d2W!9@f2,d2E",
    "a ghost on his own cell": "-P--. ghosts=c2-",
    "a ghost at a dead end": "-P--. ghosts=f2E turn=1",
    "scared ghosts near and far": "Po-.- ghosts=c2W!9@f2,f2-!1,d2-,e2E",
    "the last move": "P.-.- ghosts=f2- moves=1",
    "no moves left, the ghosts to answer": "P.-.- ghosts=f2- moves=0 turn=1",
    "no moves left": "P.-.- ghosts=f2- moves=0",
    "caught": "P.-.- ghosts=b2W turn=1 caught",
}


@pytest.mark.parametrize("text", RARE.values(), ids=RARE)
def test_backends_agree_where_random_games_seldom_go(text):
    cells, _, rest = text.partition(" ")
    s = corridor(cells, rest)
    compare(GAME, CompiledGame(GAME), s)
    for a in GAME.actions(s):
        compare(GAME, CompiledGame(GAME), GAME.result(s, a))


def test_keys_are_distinct_and_the_same_on_both_backends():
    seen = {s for maze in MAZES for s, _ in playing.random_game(Pacman(maze=maze), 5)}
    fast = CompiledGame(GAME)
    words = {s: GAME.rules.State(*map(np.uint64, GAME.encode(s))) for s in seen}
    keys = {s: int(GAME.rules.key(word)) for s, word in words.items()}
    assert len(set(keys.values())) == len(seen)
    assert all(fast.key(s) == key for s, key in keys.items() if not GAME.is_terminal(s))


def test_compiled_move_counts_equal_plain_ones():
    for maze, depth in (("capsule", 5), ("two_ghosts", 5)):
        game = Pacman(maze=maze)
        assert CompiledGame(game).perft(game.initial(), depth) == playing.perft(game, game.initial(), depth)
