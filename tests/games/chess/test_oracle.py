"""Chess against python-chess, ply by ply: moves, SAN, FEN, check, the end of the game, PGN."""

from __future__ import annotations

import io
import random

import pytest

from evallearn.games.chess import Chess
from evallearn.games.chess.fen import write_fen
from evallearn.games.chess.moves import in_check, legal_moves
from evallearn.games.chess.notation import PgnGame, read_pgn, write_pgn
from evallearn.games.chess.san import san, uci
from evallearn.games.chess.state import State, is_mate, why_drawn

chess = pytest.importorskip("chess")
pgn = pytest.importorskip("chess.pgn")
GAME = Chess()
SHUFFLE = "4k3/8/8/1q6/8/8/8/Q3K3 w - - {clock} 60"
"""Few pieces and no pawns: random games soon repeat positions or reach the fifty moves."""


def is_over(board) -> bool:
    drawn = board.is_stalemate() or board.is_insufficient_material() or board.is_repetition(3)
    return drawn or board.is_checkmate() or board.halfmove_clock >= 100


def compare(s: State, board, *, all_moves: bool) -> None:
    moves = legal_moves(s.position)
    assert sorted(map(uci, moves)) == sorted(m.uci() for m in board.legal_moves)
    assert write_fen(s) == board.fen()
    assert in_check(s.position.squares, s.position.player) == board.is_check()
    assert is_mate(s) == board.is_checkmate()
    assert GAME.is_terminal(s) == is_over(board)
    if all_moves:
        assert GAME.from_text(GAME.to_text(s)) == s
        for a in moves:
            name = san(s.position, a)
            assert name == board.san(chess.Move.from_uci(uci(a)))
            assert GAME.action_from_text(s, name) == GAME.action_from_text(s, uci(a)) == a


def follow(start: str, seed: int, *, all_moves: bool = False) -> State:
    """A random game on both boards, compared at every ply; returns how it ended."""
    rng, s, board = random.Random(seed), GAME.from_text(start), chess.Board(start)
    compare(s, board, all_moves=all_moves)
    while not GAME.is_terminal(s):
        a = rng.choice(GAME.actions(s))
        move = chess.Move.from_uci(uci(a))
        assert san(s.position, a) == board.san(move)
        s = GAME.result(s, a)
        board.push(move)
        compare(s, board, all_moves=all_moves)
    return s


@pytest.mark.parametrize("seed", range(10))
def test_random_games_agree(seed):
    follow(chess.STARTING_FEN, seed)


@pytest.mark.parametrize(("clock", "seed"), [(88, 1), (95, 2), (97, 3)])
def test_random_endings_agree(clock, seed):
    follow(SHUFFLE.format(clock=clock), seed, all_moves=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_random_games_agree(seed):
    follow(chess.STARTING_FEN, seed, all_moves=True)


@pytest.mark.long
def test_every_way_to_end_agrees():
    ends = set()
    for seed in range(200):
        for start in (SHUFFLE, "k7/8/1K6/8/8/8/7Q/1R6 w - - {clock} 60"):
            s = follow(start.format(clock=seed % 100), seed)
            ends.add(why_drawn(s) or "mate")
    assert len(ends) == 5, ends  # stalemate, insufficient material, fifty moves, repetition, mate


def random_pgn_game(seed: int, plies: int) -> PgnGame:
    rng, s, moves = random.Random(seed), GAME.initial(), []
    while len(moves) < plies and not GAME.is_terminal(s):
        moves.append(rng.choice(GAME.actions(s)))
        s = GAME.result(s, moves[-1])
    return PgnGame(tuple(moves), result="1/2-1/2", tags={"White": "A, B.", "Black": "C"}, comments={3: "well"})


def test_our_pgn_is_read_by_python_chess():
    ours = random_pgn_game(5, 80)
    theirs = pgn.read_game(io.StringIO(write_pgn([ours])))
    assert not theirs.errors
    assert [m.uci() for m in theirs.mainline_moves()] == [uci(a) for a in ours.moves]
    assert theirs.headers["White"] == "A, B."
    assert theirs.headers["Result"] == "1/2-1/2"
    assert next(node for i, node in enumerate(theirs.mainline(), 1) if i == 3).comment == "well"


def test_pgn_of_python_chess_is_read_without_its_variations():
    ours = random_pgn_game(6, 60)
    theirs = pgn.Game()
    node = theirs
    for i, a in enumerate(ours.moves):
        main = node.add_variation(chess.Move.from_uci(uci(a)))
        for other in list(node.board().legal_moves)[:2]:
            if other != main.move:
                node.add_variation(other).comment = "a (side) line; and more"
        main.comment = f"comment {i}" if i % 5 == 0 else ""
        main.nags = {5, 14} if i % 7 == 0 else set()
        node = main
    (found,) = read_pgn(str(theirs))
    assert found.moves == ours.moves
    assert found.comments == {i + 1: f"comment {i}" for i in range(0, 60, 5)}
    assert {ply: set(nags) for ply, nags in found.nags.items()} == {i + 1: {5, 14} for i in range(0, 60, 7)}


def test_pgn_from_a_position_agrees():
    fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 3 20"
    s = GAME.from_text(fen)
    ours = PgnGame((GAME.action_from_text(s, "O-O"),), start=s, result="*")
    theirs = pgn.read_game(io.StringIO(write_pgn([ours])))
    assert theirs.board().fen() == fen
    assert [m.uci() for m in theirs.mainline_moves()] == ["e8g8"]
    assert "20... O-O" in write_pgn([ours])
