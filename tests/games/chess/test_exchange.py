"""Chess: static exchange evaluation and the noisy moves, on both backends."""

from __future__ import annotations

import numpy as np
import playing
import pytest

from evallearn.games.chess import Chess
from evallearn.games.chess.exchange_rules import exchange_wins
from evallearn.games.chess.moves import (
    EMPTY,
    VALUE_OF,
    attackers,
    gain,
    legal_moves,
    moved,
    static_exchange,
)
from evallearn.games.chess.state import State

GAME = Chess()


@pytest.fixture(autouse=True)
def _words_wrap_around():
    with np.errstate(over="ignore"):
        yield


def compiled_exchange(s: State, a: int) -> int:
    """The most that the compiled backend says the exchange wins."""
    word = GAME.rules.State(*map(np.uint64, GAME.encode(s)))
    return max(least for least in range(-101, 20) if exchange_wins(word, a, least))


@pytest.mark.parametrize(
    ("text", "move", "value"),
    [
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "Rxe5", 1),  # nobody defends
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "Nxe5", -2),  # Nxe5, and White must stop
        ("4k3/8/3p4/4p3/3P4/8/8/4K3 w - - 0 1", "dxe5", 0),  # a pawn for a pawn
        ("4k3/8/3p4/4p3/8/8/8/4QK2 w - - 0 1", "Qxe5", -8),  # the queen for a pawn
        ("7k/3r4/8/3p4/8/8/3R4/3R2K1 w - - 0 1", "Rxd5", 1),  # two rooks, one behind the other, against one
        ("3r3k/3r4/8/3p4/8/8/3R4/3R2K1 w - - 0 1", "Rxd5", -4),  # two against two
        ("3k4/3p4/8/8/8/8/8/3RK3 w - - 0 1", "Rxd7", -4),  # the king takes back
        ("3k4/3p4/8/1B6/8/8/8/3RK3 w - - 0 1", "Rxd7", 1),  # but not what is defended
        ("3k4/3p4/8/8/8/8/3Q4/3RK3 w - - 0 1", "Qxd7", 1),  # not through the piece that took either
        ("4k3/8/8/8/8/4q3/4p3/4K3 b - - 0 1", "Qd2", -9),  # a quiet move into the king's reach
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", 1),  # en passant
        ("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", 0),
        ("3r3k/8/8/3pP3/8/8/8/3R3K w - d6 0 1", "exd6", 1),  # the rook defends d6, since d5 is empty now
        ("8/4P3/8/8/7k/8/8/4K3 w - - 0 1", "e8=Q", 8),
        ("r7/4P3/8/8/7k/8/8/4K3 w - - 0 1", "e8=Q", -1),
        ("r7/4P3/8/8/7k/8/8/4K3 w - - 0 1", "e8=N", -1),
        ("3r4/4P3/8/8/7k/8/8/4K3 w - - 0 1", "exd8=Q", 13),
        ("3rr3/4P3/8/8/7k/8/8/K7 w - - 0 1", "exd8=R", 4),
        ("4k3/4n3/8/3p4/8/8/8/3RR1K1 w - - 0 1", "Rxd5", -4),  # the pinned knight defends: pins are ignored
        ("6k1/5p2/4b3/8/8/1B6/Q7/6K1 w - - 0 1", "Bxe6", 1),  # fxe6 Qxe6: the queen stood behind the bishop
    ],
)
def test_exchanges_worked_by_hand(text, move, value):
    s = GAME.from_text(text)
    a = next(a for a in legal_moves(s.position) if GAME.action_to_text(s, a).rstrip("+#") == move)
    assert static_exchange(s.position, a) == value
    assert compiled_exchange(s, a) == value


def best_capture(squares: str, target: int, player: int) -> int:
    """The value of the capture game on one square when both sides may take with any piece, or stop."""
    best = 0
    for origin in attackers(squares, target, player):
        board = list(squares)
        board[target], board[origin] = board[origin], EMPTY
        best = max(best, VALUE_OF[squares[target]] - best_capture("".join(board), target, 1 - player))
    return best


def has_battery(squares: str, target: int) -> bool:
    """True if a piece that attacks `target` hides another one."""
    board = list(squares)
    for player in (0, 1):
        for origin in attackers(squares, target, player):
            board[origin] = EMPTY
    return any(next(attackers("".join(board), target, player), None) is not None for player in (0, 1))


def check_captures(seed: int, step: int = 1) -> int:
    """Every capture of a random game; without hidden attackers taking with the least piece is best, so SEE is exact."""
    compared = 0
    for s, _ in playing.random_game(GAME, seed)[8:120:step]:
        for a in GAME.actions(s):
            if gain(s.position, a) == 0:
                break  # captures come first
            value = static_exchange(s.position, a)
            assert compiled_exchange(s, a) == value, (GAME.to_text(s), a)
            after = moved(s.position, a)
            if not has_battery(after, a % 64):
                compared += 1
                assert value == gain(s.position, a) - best_capture(after, a % 64, 1 - s.position.player)
    return compared


def test_exchanges_equal_full_minimax_on_one_square():
    assert check_captures(3, step=3) > 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_exchanges_equal_full_minimax_on_one_square_in_many_games(seed):
    assert check_captures(seed) > 40


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("startpos", []),
        # Qxd5 loses the queen, exd5 wins a pawn, Bxh7 loses a bishop for a pawn and is out
        ("6k1/7p/4p3/3p4/4P3/3B4/8/3Q2K1 w - - 0 1", ["exd5"]),
        # promotions to a queen are noisy, others are not, even as captures
        ("3n4/4P3/8/8/7k/8/8/4K3 w - - 0 1", ["exd8=Q+", "e8=Q"]),
        ("r7/4P3/8/8/7k/8/8/4K3 w - - 0 1", []),
        # in check: only captures that answer it
        ("4k3/8/8/8/8/2p5/3q4/4K2r w - - 0 1", []),
        ("4k3/8/8/8/8/8/3q4/4K3 w - - 0 1", ["Kxd2"]),
        ("k7/8/8/8/8/8/8/K7 w - - 0 1", []),
    ],
)
def test_noisy_moves_of_known_positions(text, names):
    s = GAME.from_text(text)
    found = [GAME.action_to_text(s, a) for a in GAME.noisy_actions(s)]
    assert found == names
    playing.compare_backends(GAME, s)
