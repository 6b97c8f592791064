"""Pacman's ghosts apart and at random: who plays them, what they get, both backends, the lectures' trapped Pacman."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import playing
import pytest

from evallearn import check_game, get_game
from evallearn.cli import run
from evallearn.core.game import CHANCE, Game
from evallearn.core.search import Limits
from evallearn.errors import BadNotation, IllegalAction, SpecError
from evallearn.evaluators import LinearEval, heuristic
from evallearn.evaluators.features import feature_hash
from evallearn.games.pacman.game import EAST, NORTH, SOUTH, STOP, WEST, Pacman
from evallearn.games.pacman.seats import APART, RANDOM, catcher
from evallearn.games.pacman.state import State
from evallearn.search import AlphaBeta, Expectiminimax, MaxN, Paranoid

APART_GAME, RANDOM_GAME = (
    get_game("pacman,maze=two_ghosts,ghosts=apart"),
    get_game("pacman,maze=two_ghosts,ghosts=random"),
)
BOTH = pytest.mark.parametrize("game", [APART_GAME, RANDOM_GAME], ids=[APART, RANDOM])
ROOM = "%%%%%%%/%{}%/%%%%%%% {}"
"""A corridor of five cells, b2 to f2."""
FOUR = "maze=%%%%%%%%/%P.--..%/%.%%%%-%/%oG-GGG%/%%%%%%%%"


def corridor(cells: str, rest: str, game: Game = APART_GAME) -> State:
    s = game.from_text(ROOM.format(cells, rest))
    assert isinstance(s, State)
    return s


def by_score(game: Game) -> LinearEval:
    return heuristic(game, "score")


# --- who plays -------------------------------------------------------------------------------------------------------
def test_each_ghost_has_its_own_player_or_chance_moves_it() -> None:
    expected = {APART_GAME: [0, 1, 2], RANDOM_GAME: [0, CHANCE, CHANCE], get_game("pacman,maze=two_ghosts"): [0, 1, 1]}
    for game, players in expected.items():
        s, found = game.initial(), []
        for _ in range(6):
            found.append(game.to_play(s))
            s = game.result(s, game.actions(s)[0] if game.actions(s) else game.chances(s)[0][0])
        assert found == players * 2
    kinds = [(g.n_players, g.has_chance, g.zero_sum) for g in (APART_GAME, RANDOM_GAME, Pacman())]
    assert kinds == [(3, False, False), (1, True, False), (2, False, True)]


def test_names_and_default() -> None:
    assert Pacman(ghosts="together").name == "pacman"
    assert get_game("pacman,ghosts=random,maze=thrash").name == "pacman,maze=thrash,ghosts=random"
    assert feature_hash(Pacman()) == "f199bf0eef76"  # that of shipped files
    with pytest.raises(SpecError, match="unknown pacman ghosts 'apert': did you mean 'apart'"):
        get_game("pacman,ghosts=apert")


def test_chance_takes_each_legal_move_alike() -> None:
    cross = "%%%%%/%%-%%/%--P%/%%.%%/%%%%% ghosts={} turn=1"
    for ghost, ways in {"c3E": (NORTH, EAST, SOUTH), "c3-": (NORTH, EAST, SOUTH, WEST), "c2N": (SOUTH,)}.items():
        s = RANDOM_GAME.from_text(cross.format(ghost))
        assert RANDOM_GAME.chances(s) == [(a, 1 / len(ways)) for a in ways]
        assert RANDOM_GAME.actions(s) == ()
        assert RANDOM_GAME.action_from_text(s, "south") == SOUTH
    assert RANDOM_GAME.board(s).endswith("ghost 1 goes at random: south")
    with pytest.raises(IllegalAction, match="ghosts do not stop; legal: south"):
        RANDOM_GAME.result(s, STOP)


# --- what ghosts get -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cells", "rest", "action", "utilities"),
    [
        ("P.-.-", "ghosts=f2-,c2W", EAST, (-491, -9, 491)),  # he runs into the second, a dot the richer
        ("P-.--", "ghosts=c2W,c2W", EAST, (-501, 501, 1)),  # into both: the first has him
        ("P-.--", "ghosts=d2-,c2W turn=2", WEST, (-500, 0, 500)),  # the second comes
        ("-P-.-", "ghosts=b2-,d2W turn=2", WEST, (-500, 0, 500)),
        ("-P-.-", "ghosts=c2-,d2W turn=2", WEST, (-500, 0, 500)),  # the first is there, but has not met him
        ("-P-.-", "ghosts=d2W,c2- turn=1", WEST, (-500, 500, 0)),
        ("-P-.-", "ghosts=c2W!3@f2,c2-", STOP, (-301, -199, 301)),  # he eats the first, the second has him
        ("P.---", "ghosts=f2-,e2-", EAST, (509, -509, -509)),  # the last dot: all lose
        ("P.-.-", "ghosts=f2-,e2- moves=0 turn=2", WEST, (0, 0, 0)),  # no moves left
    ],
)
def test_who_catches_pacman_gets_what_that_costs_him(
    cells: str, rest: str, action: int, utilities: tuple[int, ...]
) -> None:
    s = APART_GAME.result(corridor(cells, rest), action)
    assert APART_GAME.is_terminal(s)
    assert tuple(APART_GAME.utility(s, p) for p in range(3)) == utilities
    assert {APART_GAME.bounds(s, p) for p in range(3)} == {(float(u), float(u)) for u in utilities}
    playing.compare_backends(APART_GAME, s)
    assert RANDOM_GAME.utility(s, 0) == utilities[0]
    playing.compare_backends(RANDOM_GAME, s)


def test_the_catcher_is_known_from_any_position() -> None:
    for turn, number in ((0, 2), (1, 1), (2, 1)):
        s = corridor("-P-.-", f"ghosts=c2W,c2W turn={turn} caught")
        assert catcher(s) == number
        playing.compare_backends(APART_GAME, s)
    assert catcher(APART_GAME.initial()) == 0


def test_a_single_ghost_apart_is_the_same_game() -> None:
    alone, one = get_game("pacman,maze=capsule,ghosts=apart"), get_game("pacman,maze=capsule")
    assert (alone.n_players, alone.zero_sum) == (2, False)
    searches = MaxN(alone, by_score(alone)), AlphaBeta(one, by_score(one))
    for s, a in playing.random_game(one, 4)[::5]:
        assert alone.to_play(s) == one.to_play(s)
        if a is None:
            assert [alone.utility(s, p) for p in (0, 1)] == [one.utility(s, p) for p in (0, 1)]
        else:
            theirs, ours = (search.search(s, Limits(depth=4)) for search in searches)
            assert theirs.value == pytest.approx(ours.value, abs=0.01)


# --- what an evaluator sees, texts, both backends --------------------------------------------------------------------
def test_a_ghost_sees_how_near_it_and_its_rivals_are() -> None:
    s = APART_GAME.from_text("%%%%%%%%/%P-.---%/%-%%%%%%/%-----%%/%%%%%%%% ghosts=g2-,c4-")
    seen = [dict(zip(APART_GAME.feature_names, APART_GAME.features(s, p), strict=True)) for p in range(3)]
    assert [(x["catch_near"], x["rival_near"]) for x in seen] == [(0, 0), (8 - 5, 8 - 3), (8 - 3, 8 - 5)]
    assert [(x["side"], x["food"], x["exits"]) for x in seen] == [(1, 1, 2), (-1, -1, -2), (-1, -1, -2)]
    scared = s._replace(ghosts=(s.ghosts[0], s.ghosts[1]._replace(scared=5)))
    found = [APART_GAME.features(scared, p)[-2:] for p in range(3)]
    assert found == [(0, 0), (3, 0), (0, 3)]
    for t in (s, scared):
        playing.compare_backends(APART_GAME, t)
    assert RANDOM_GAME.features(s, 0) == Pacman().features(s, 0)


@pytest.mark.parametrize("ghosts", [APART, RANDOM])
@pytest.mark.parametrize("maze", ["maze=small", "maze=two_ghosts", "maze=trapped,moves=12"])
def test_the_contract_is_kept(maze: str, ghosts: str) -> None:
    """Rules, features, texts and words on both backends, and the bounds of every player."""
    assert check_game(get_game(f"pacman,{maze},ghosts={ghosts}"), games=3, every=5).backends == ("python", "compiled")


@pytest.mark.parametrize("ghosts", [APART, RANDOM])
def test_backends_agree_with_four_ghosts(ghosts: str) -> None:
    game = get_game(f"pacman,{FOUR},ghosts={ghosts}")
    for seed in range(3):
        for s, _ in playing.random_game(game, seed)[seed::3]:
            playing.compare_backends(game, s)
            assert game.from_text(game.to_text(s)) == s


@BOTH
def test_a_game_in_a_worker_is_the_same(game: Game) -> None:
    other = pickle.loads(pickle.dumps(game))
    assert (other.name, other.n_players, other.feature_names) == (game.name, game.n_players, game.feature_names)
    assert other.rules is game.rules


def test_positions_without_seats_are_refused() -> None:
    game = get_game("pacman,ghosts=apart")
    with pytest.raises(BadNotation) as error:
        game.from_text("%%%%%%/%P.GG%/%%%%%%")
    assert "2 ghosts, but pacman,ghosts=apart has 1, each a player: name a maze with as many (maze=)" in str(
        error.value
    )
    with pytest.raises(BadNotation, match="caught with a score of 3700: at most 3596 is allowed"):
        game.from_text(ROOM.format("P.---", "ghosts=b2W score=3700 caught"))
    game.from_text(ROOM.format("P.---", "ghosts=b2W score=3596 caught"))


def test_searches_answer_the_same_on_both_backends() -> None:
    s = APART_GAME.from_text("%%%%%%%/%o---.%/%-%-%-%/%-P--.%/%%%%%%% ghosts=e2W,e4N")
    cases = ((MaxN, APART_GAME, 6, {}), (Paranoid, APART_GAME, 6, {}), (Expectiminimax, RANDOM_GAME, 3, {}))
    for kind, game, depth, settings in cases:
        evaluator = heuristic(game, "hunter")
        plain, fast = (kind(game, evaluator, backend=f, **settings) for f in ("python", "compiled"))
        one, other = (search.search(s, Limits(depth=depth), action_values=True) for search in (plain, fast))
        assert (one.action, one.values) == (other.action, other.values)
        assert one.action_values == pytest.approx(other.action_values)


# --- the lectures' trapped Pacman ------------------------------------------------------------------------------------
def test_trapped_by_one_player_he_runs_into_the_nearer_ghost() -> None:
    game = get_game("pacman,maze=gamble")
    found = AlphaBeta(game, by_score(game)).search(game.initial(), Limits(depth=9), action_values=True)
    assert (found.action, found.action_values) == (EAST, {EAST: -501.0, WEST: -502.0, STOP: -502.0})
    s = game.result(game.initial(), EAST)
    assert game.result(s, WEST).caught == 1


def test_trapped_by_ghosts_apart_he_lives_longer() -> None:
    """Whichever ghost drove him back would give the 500 to the other: the first turns away, and he gets a dot.

    Paranoid, who thinks that they unite, runs into the nearer one as minimax does.
    """
    game = get_game("pacman,maze=trapped,ghosts=apart")
    united = Paranoid(game, by_score(game)).search(game.initial(), Limits(depth=6), action_values=True)
    assert (united.action, united.action_values) == (EAST, {EAST: -501.0, WEST: -502.0, STOP: -502.0})
    search, s, moves = MaxN(game, by_score(game)), game.initial(), []
    while not game.is_terminal(s):
        found = search.search(s, Limits(depth=9))
        moves.append(found.action)
        s = game.result(s, found.action)
    assert moves[:2] == [WEST, SOUTH]
    assert [game.utility(s, p) for p in range(3)] == [-491, 491, -9]
    few = get_game("pacman,maze=trapped,ghosts=apart,moves=6")
    proven = MaxN(few, by_score(few)).search(few.initial(), Limits(depth=18), action_values=True)
    assert (proven.action, proven.values, proven.exact) == (WEST, (-6.0, 6.0, 6.0), True)
    assert proven.action_values is not None
    assert proven.action_values[EAST] == -502.0


def test_trapped_by_random_ghosts_he_takes_the_chance() -> None:
    """The ghost on the left turns south every other time: then both dots are his after six moves."""
    game = get_game("pacman,maze=gamble,ghosts=random")
    search = Expectiminimax(game, by_score(game))
    found = search.search(game.initial(), Limits(depth=12), action_values=True)
    assert (found.action, found.exact) == (WEST, True)
    assert found.value == pytest.approx((514 - 502) / 2)
    assert found.action_values is not None
    assert found.action_values[EAST] < -200
    proven = MaxN(game, by_score(game)).search(game.initial(), Limits(depth=6))
    assert (proven.action, proven.value) == (WEST, pytest.approx(6.0, abs=0.01))


# --- everything that plays -------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("analyse {game} start --depth 2", "best: "),
        ("moves {game} start", "ghosts=d4-,j4- score=-1"),
        ("explain handwritten:hunter start --game {game}", "side (1 at +300.000 each): +300.000 for first"),
        ("match handwritten:hungry random --game {game} --pairs 2 --limit depth=1 --workers 1", "distinct"),
        ("selfplay {game} --out records --games 3 --workers 1", "3 games"),
        ("play {game} --you none{opponents} --seed 1", "first plays"),
        ("games {game}", "parameter ghosts"),
    ],
)
def test_every_command_takes_it(
    game: Game,
    command: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    opponents = " --opponent handwritten:hungry@depth=1" * game.n_players
    assert run(command.format(game=game.name, opponents=opponents).split()) == 0
    out = capsys.readouterr().out
    assert says in out


@pytest.mark.long
@BOTH
def test_learn_takes_it(game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = "--games 100 --generations 1 --match-pairs 2 --workers 1 --run run"
    assert run(["learn", game.name, *few.split()]) == 0
    assert (tmp_path / "run" / "evaluators" / "linear.safetensors").exists()
