"""Chess: moves, the end of the game, history, both backends."""

from __future__ import annotations

from functools import partial

import numpy as np
import playing
import pytest

from evallearn.compiled.game import CompiledGame
from evallearn.errors import IllegalAction
from evallearn.games.chess.bitboards import bishop_attacks, rook_attacks, word
from evallearn.games.chess.fen import write_fen
from evallearn.games.chess.game import N_ACTIONS, Chess
from evallearn.games.chess.moves import attacks, legal_moves
from evallearn.games.chess.san import uci
from evallearn.games.chess.state import State, advance

GAME = Chess()
random_game = partial(playing.random_game, GAME)
MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
"""The position with the most legal moves that is known: 218."""
KNIGHTS_OUT_AND_BACK = "g1f3 g8f6 f3g1 f6g8"


def read(text: str) -> State:
    """The position; w or b alone is enough where castling and en passant are not concerned."""
    return GAME.from_text(text if text.count(" ") > 1 or text.startswith("startpos") else f"{text} - - 0 1")


def moves(text: str) -> set[str]:
    return {uci(a) for a in GAME.actions(read(text))}


def play(text: str, *names: str) -> State:
    s = read(text)
    for name in names:
        s = GAME.result(s, GAME.action_from_text(s, name))
    return s


@pytest.fixture(autouse=True)
def _words_wrap_around():
    """Multiplication of words may overflow, as it does silently when it is compiled."""
    with np.errstate(over="ignore"):
        yield


def uncompiled(s: State):
    return GAME.rules.State(*map(np.uint64, GAME.encode(s)))


# --- moves -----------------------------------------------------------------------------------------------------------
def test_moves_are_ordered_by_gain_then_piece_then_number():
    s = read("3r3k/4P3/8/2q5/1P1N4/4r3/8/3K4 w")
    # exd8 with promotion wins 5 and 8, 4, 2 or 2; bxc5 9; e8 8, 4, 2, 2
    names = [GAME.action_to_text(s, a) for a in GAME.actions(s)]
    noisy = ["exd8=Q+", "bxc5", "exd8=R+", "e8=Q+", "exd8=N", "exd8=B", "e8=R+", "e8=N", "e8=B"]
    assert names[:9] == noisy
    quiet = GAME.actions(s)[9:]
    pieces = ["PNBRQK".index(s.position.squares[a // 64]) for a in quiet]
    assert list(zip(pieces, quiet, strict=True)) == sorted(zip(pieces, quiet, strict=True))


@pytest.mark.parametrize(
    ("text", "castles"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", {"e1g1", "e1c1"}),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", {"e8g8", "e8c8"}),
        ("r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1", {"e1g1"}),
        ("4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1", set()),  # not out of check
        ("4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", {"e1c1"}),  # not through f1
        ("4k3/8/8/8/6r1/8/8/R3K2R w KQ - 0 1", {"e1c1"}),  # not to g1
        ("4k3/8/8/8/3r4/8/8/R3K2R w KQ - 0 1", {"e1g1"}),  # not through d1
        ("4k3/8/8/8/2r5/8/8/R3K2R w KQ - 0 1", {"e1g1"}),  # not to c1
        ("4k3/8/8/8/1r6/8/8/R3K2R w KQ - 0 1", {"e1g1", "e1c1"}),  # the rook may cross b1
        ("4k3/8/8/8/r6r/8/8/R3K2R w KQ - 0 1", {"e1g1", "e1c1"}),  # attacked rooks do not mind
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", set()),
        ("4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1", {"e1c1"}),  # the pawn attacks f1
    ],
)
def test_castling_needs_rights_room_and_safety(text, castles):
    assert {name for name in moves(text) if name in ("e1g1", "e1c1", "e8g8", "e8c8")} == castles
    playing.compare_backends(GAME, read(text))


@pytest.mark.parametrize(
    ("played", "left"),
    [
        (["e1g1"], "kq"),
        (["e1c1"], "kq"),
        (["e1e2"], "kq"),
        (["h1g1"], "Qkq"),
        (["a1b1"], "Kkq"),
        (["h1h8"], "Qq"),  # a rook takes a rook: both rights go
        (["a1a8"], "Kk"),
        (["e1g1", "e8c8"], ""),
    ],
)
def test_castling_rights_are_lost(played, left):
    s = play("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", *played)
    assert s.position.castling == left
    playing.compare_backends(GAME, s)


def test_castling_moves_both_pieces():
    assert write_fen(play("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "O-O")) == "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"
    assert write_fen(play("r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "O-O-O")) == "2kr3r/8/8/8/8/8/8/4K3 w - - 1 2"


def test_en_passant_takes_the_pawn_that_passed_and_only_at_once():
    s = play("4k3/3p4/8/4P3/8/8/8/4K3 b", "d5")
    assert GAME.to_text(s) == "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
    assert GAME.to_text(GAME.result(s, GAME.action_from_text(s, "exd6"))) == "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"
    later = play("4k3/3p4/8/4P3/8/8/8/4K3 b", "d5", "Kd1", "Kd8")
    assert "e5d6" not in {uci(a) for a in GAME.actions(later)}


@pytest.mark.parametrize(
    ("text", "double_step", "takers"),
    [
        ("4k3/3p4/8/2P1P3/8/8/8/4K3 b", "d5", {"c5d6", "e5d6"}),
        ("4k3/3p4/8/K3P2r/8/8/8/8 b", "d5", set()),  # both pawns leave the rank: the rook would give check
        ("4k3/3p2b1/8/4P3/8/2K5/8/8 b", "d5", set()),  # the taker is pinned on a diagonal
        ("4k3/3p4/4r3/2P1P3/8/8/8/4K3 b", "d5", {"c5d6"}),  # e5 is pinned on its file, c5 is free
        ("8/3p3k/8/4P3/4K3/8/8/8 b", "d5", {"e5d6"}),  # the only pawn that can take the checker
        ("3r3k/3p4/8/4P3/8/8/8/3K4 b", "d5", {"e5d6"}),  # on d6 the taker still shields its king
        ("4k3/3p4/8/4N3/8/8/8/4K3 b", "d5", set()),  # no pawn, no en passant
    ],
)
def test_en_passant_square_stands_only_where_a_capture_is_legal(text, double_step, takers):
    s = play(text, double_step)
    assert {m for m in map(uci, GAME.actions(s)) if m in ("c5d6", "e5d6")} == takers
    assert (s.position.en_passant != 0) == bool(takers)
    playing.compare_backends(GAME, read(text))
    playing.compare_backends(GAME, s)


def test_all_four_promotions_by_step_and_by_capture():
    expected = {f"a7{target}{piece}" for target in ("a8", "b8") for piece in "nbrq"}
    assert {m for m in moves("1n5k/P7/8/8/8/8/8/7K w") if m.startswith("a7")} == expected


@pytest.mark.parametrize("file", range(8))
@pytest.mark.parametrize("player", "wb")
def test_promotions_on_every_file_are_alike_on_both_backends(file, player):
    row = f"{file or ''}P{7 - file or ''}"
    board = f"8/{row}/8/8/3k4/8/3K4/8" if player == "w" else f"8/3k4/8/3K4/8/8/{row.lower()}/8"
    assert sum(len(name) == 5 for name in moves(f"{board} {player}")) == 4
    playing.compare_backends(GAME, read(f"{board} {player}"))


def test_most_moves_fit():
    s = read(MOST_MOVES)
    assert len(GAME.actions(s)) == 218 <= GAME.rules.max_actions
    playing.compare_backends(GAME, s)


def test_double_check_leaves_the_king_alone_to_move():
    assert moves("4k3/8/3N4/8/8/8/8/r3R2K b - - 0 1") == {"e8d8", "e8d7", "e8f8"}


# --- the end of the game ---------------------------------------------------------------------------------------------
def test_mate_is_lost_for_the_mover():
    s = GAME.from_text("startpos moves f3 e5 g4 Qh4#")
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (-1.0, 1.0)
    playing.compare_backends(GAME, s)


@pytest.mark.parametrize("text", ["7k/5Q2/6K1/8/8/8/8/8 b", "k7/8/1Q6/8/8/8/8/K7 b", "8/8/8/8/8/5k2/5p2/5K2 w"])
def test_stalemate_is_a_draw(text):
    s = read(text)
    assert GAME.is_terminal(s)
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (0.0, 0.0)
    assert GAME.board(s).endswith("a draw: stalemate")
    playing.compare_backends(GAME, s)


def test_fifty_moves_decide():
    before = read("7k/8/8/8/8/8/R7/K7 w - - 99 80")
    assert not GAME.is_terminal(before)
    after = play("7k/8/8/8/8/8/R7/K7 w - - 99 80", "Rb2")
    assert GAME.is_terminal(after)
    assert GAME.utility(after, 0) == 0.0
    assert GAME.board(after).endswith("a draw: fifty moves without a capture or a pawn move")
    playing.compare_backends(GAME, before)
    assert not GAME.is_terminal(play("7k/8/8/8/8/8/Rp6/K7 w - - 99 80", "Rxb2"))  # a capture starts the clock anew


def test_mate_on_the_hundredth_ply_wins():
    s = play("7k/8/6K1/8/8/8/R7/8 w - - 99 80", "Ra8#")
    assert s.clock == 100
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (1.0, -1.0)
    rules = GAME.rules
    assert rules.is_terminal(uncompiled(s))
    assert rules.utility_mover(uncompiled(s)) == -1.0


def test_third_occurrence_decides():
    twice = GAME.from_text(f"startpos moves {KNIGHTS_OUT_AND_BACK} {KNIGHTS_OUT_AND_BACK[:-5]}")
    assert not GAME.is_terminal(twice)
    third = GAME.result(twice, GAME.action_from_text(twice, "Ng8"))
    assert GAME.is_terminal(third)
    assert GAME.actions(third) == ()
    assert (GAME.utility(third, 0), GAME.utility(third, 1)) == (0.0, 0.0)
    assert GAME.board(third).endswith("a draw: the third occurrence of this position")
    assert not GAME.rules.is_terminal(uncompiled(third))  # it is the kernels that remember


def test_positions_with_other_rights_are_not_the_same():
    shuffle = "Ke2 Ke7 Ke1 Ke8 "
    base = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves "
    # the first time the kings were at home they could castle, and after Ke2 Black still could: neither counts
    assert not GAME.is_terminal(GAME.from_text(base + shuffle * 2 + "Ke2"))
    assert GAME.is_terminal(GAME.from_text(base + shuffle * 2 + "Ke2 Ke7"))
    # after d5 a pawn could be taken en passant: that position does not count among the later ones
    knights = "Nf3 Nf6 Ng1 Ng8 "
    opened = "4k1n1/3p4/8/4P3/8/8/8/4K1N1 b - - 0 1 moves d5 "
    assert not GAME.is_terminal(GAME.from_text(opened + knights * 2))
    assert GAME.is_terminal(GAME.from_text(opened + knights * 2 + "Nf3"))


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w", True),
        ("4k3/8/8/8/8/8/8/4KN2 w", True),
        ("4kb2/8/8/8/8/8/8/4K3 w", True),
        ("4kb2/8/8/8/8/8/8/2B1K3 w", True),  # f8 and c1 are dark
        ("2b1k3/8/8/8/8/8/8/2B1K3 w", False),  # c8 is light
        ("4k3/8/8/8/8/B1B5/8/4K3 w", True),
        ("4k3/8/8/8/8/BB6/8/4K3 w", False),
        ("4k3/8/8/8/8/8/8/4KNN1 w", False),
        ("4kn2/8/8/8/8/8/8/4KN2 w", False),
        ("4kb2/8/8/8/8/8/8/4KN2 w", False),
        ("4k3/8/8/8/8/8/P7/4K3 w", False),
        ("4k3/8/8/8/8/8/8/4K2R w", False),
        ("4k3/8/8/8/8/8/8/3QK3 w", False),
    ],
)
def test_insufficient_material_is_a_draw(text, drawn):
    s = read(text)
    assert GAME.is_terminal(s) == drawn
    assert ("insufficient material" in GAME.board(s)) == drawn
    playing.compare_backends(GAME, s)


# --- history ---------------------------------------------------------------------------------------------------------
def test_history_grows_and_starts_anew():
    s = GAME.from_text("startpos moves Nf3 Nf6 Ng1")
    assert s.clock == 3
    before = [GAME.from_text(f"startpos moves {names}") for names in ("", "Nf3", "Nf3 Nf6")]
    assert list(GAME.history(s)) == [GAME.encode(t) for t in before]
    assert GAME.to_text(s).endswith("RNBQKBNR w KQkq - 0 1 moves g1f3 g8f6 f3g1")
    assert GAME.from_text(GAME.to_text(s)) == s
    assert GAME.decode(GAME.encode(s), GAME.history(s)) == s
    for name in ("e5", "e6"):
        assert GAME.history(GAME.result(s, GAME.action_from_text(s, name))) == ()


def test_history_remembers_castling():
    text = "r3k2r/p7/8/8/8/8/P7/R3K2R w KQkq - 3 9 moves e1g1 e8c8 a1d1"
    assert GAME.to_text(GAME.from_text(text)) == text


def test_texts_and_words_read_back():
    for s, _ in random_game(1)[::7]:
        assert GAME.from_text(GAME.to_text(s)) == s
        assert GAME.decode(GAME.encode(s), GAME.history(s)) == s


# --- refusals and the board ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "action", "message"),
    [
        ("4k3/8/8/8/8/8/4p3/4K3 w", 4 * 64 + 3, "illegal action e1d1 in chess position"),
        ("4k3/8/8/8/8/8/4p3/4K3 w", 4 * 64 + 3, "that is not a legal move; legal: Kxe2 Kd2 Kf2"),
        ("startpos", N_ACTIONS, "illegal action 20480 in chess position"),
        ("startpos", -1, "actions are 0..20479; legal: a3"),
        ("startpos", "e4", "illegal action 'e4' in"),
        ("7k/5Q2/6K1/8/8/8/8/8 b", 0, "the game is over, stalemate; legal: none"),
        ("7k/6Q1/6K1/8/8/8/8/8 b", 63 * 64 + 62, "the game is over, mate; legal: none"),
        ("4k3/8/8/8/8/8/8/4K3 w", 4 * 64 + 3, "the game is over, insufficient material; legal: none"),
    ],
)
def test_illegal_actions_say_why(text, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(read(text), action)
    assert message in str(error.value)


def test_board_shows_coordinates_and_mover():
    lines = GAME.board(play("startpos", "e4")).splitlines()
    assert lines[0] == lines[9] == "  +-----------------+"
    assert lines[1] == "8 | r n b q k b n r |"
    assert lines[5] == "4 | . . . . P . . . |"
    assert lines[10:] == ["    a b c d e f g h", "Black to move"]
    assert GAME.board(play("startpos", "e4", "f5", "Qh5+")).endswith("\nBlack to move, in check")
    assert GAME.board(GAME.from_text("startpos moves f3 e5 g4 Qh4#")).endswith("\nWhite is mated: Black has won")


# --- both backends ---------------------------------------------------------------------------------------------------
TRICKY = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "8/8/8/8/1k1Pp2R/8/8/4K3 b - d3 0 1",  # en passant would open the rank
    "8/5k2/8/2Pp4/2B5/1K6/8/8 w - d6 0 1",
    "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1",
    "4k2r/8/8/8/8/8/8/4K3 b k - 98 120",
    "2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1",
    "8/k1P5/8/1K6/8/8/8/8 w - - 0 1",
)


@pytest.mark.parametrize("text", TRICKY)
def test_backends_agree_on_tricky_positions_and_one_ply_on(text):
    s = GAME.from_text(text)
    playing.compare_backends(GAME, s)
    for a in GAME.actions(s)[::4]:
        playing.compare_backends(GAME, GAME.result(s, a))


def test_backends_agree_on_a_random_game():
    for s, _ in random_game(11)[::3]:
        playing.compare_backends(GAME, s)


def test_compiled_game_equals_plain_game():
    fast = CompiledGame(GAME)
    drawn = GAME.from_text(f"startpos moves {KNIGHTS_OUT_AND_BACK} {KNIGHTS_OUT_AND_BACK}")
    for s in [*(GAME.from_text(text) for text in TRICKY), *(s for s, _ in random_game(12)[::15]), drawn]:
        assert (fast.is_terminal(s), list(fast.actions(s))) == (GAME.is_terminal(s), list(GAME.actions(s)))
        if not GAME.is_terminal(s):
            mover = GAME.to_play(s)
            assert (list(fast.features(s, mover)), fast.phase(s)) == (list(GAME.features(s, mover)), GAME.phase(s))
            assert list(fast.noisy_actions(s)) == list(GAME.noisy_actions(s))
            assert [fast.result(s, a) for a in GAME.actions(s)] == [GAME.result(s, a) for a in GAME.actions(s)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_backends_agree_on_random_games(seed):
    for s, _ in random_game(seed):
        playing.compare_backends(GAME, s)


@pytest.mark.parametrize("seed", range(5))
def test_sliders_see_the_same_on_both_backends(seed):
    rng = np.random.default_rng(seed)
    taken = rng.random(64) < rng.choice([0.1, 0.3, 0.6])
    for square in range(64):
        for kind, reach in (("B", bishop_attacks), ("R", rook_attacks)):
            squares = "".join(kind if i == square else "p" if taken[i] else "." for i in range(64))
            occupied = np.uint64(word(i for i in range(64) if squares[i] != "."))
            assert int(reach(np.uint64(square), occupied)) == word(attacks(squares, square))


def test_keys_are_those_of_positions():
    key = GAME.rules.key
    states = [s for seed in range(2) for s, _ in random_game(seed)]
    assert len({int(key(uncompiled(s))) for s in states}) == len({s.position for s in states})
    s = GAME.from_text("startpos moves Nf3")
    assert key(uncompiled(s)) == key(uncompiled(s._replace(clock=50, number=70, history=())))
    one, other = (GAME.from_text(f"r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1") for rights in ("KQkq", "KQk"))
    assert key(uncompiled(one)) != key(uncompiled(other))


def test_perft_goes_on_where_the_game_is_drawn():
    rules, out = GAME.rules, np.zeros(256, np.int32)
    for text in ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 100 80"):
        s = GAME.from_text(text)
        assert GAME.actions(s) == ()
        assert rules.is_terminal(uncompiled(s))
        assert tuple(out[: rules.actions(uncompiled(s), out)].tolist()) == legal_moves(s.position) != ()
        assert advance(s, legal_moves(s.position)[0]).clock == s.clock + 1
