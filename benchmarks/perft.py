"""How fast are the move generators? Chess against the package `chess`, checkers against OpenSpiel, in the same run.

    pip install chess open_spiel
    python benchmarks/perft.py

Each counts on one core by the CPU clock, in turns, best of three. All count the moves of the last ply without making
them; only OpenSpiel's jumps must be made, because it takes several pieces in several actions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time
from typing import Any

from evallearn import get_game
from evallearn.compiled.game import CompiledGame

ROUNDS = 3
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def ours(name: str, position: str | None, depth: int) -> Callable[[], int]:
    game = CompiledGame(get_game(name))
    s = game.initial() if position is None else game.from_text(position)
    game.perft(s, 1)  # compile outside the clock
    return lambda: game.perft(s, depth)


def python_chess(fen: str, depth: int) -> Callable[[], int]:
    import chess

    def count(board: Any, depth: int) -> int:
        if depth == 1:
            return int(board.legal_moves.count())
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += count(board, depth - 1)
            board.pop()
        return total

    return lambda: count(chess.Board(fen), depth)


def openspiel_checkers(depth: int) -> Callable[[], int]:
    import pyspiel

    game = pyspiel.load_game("checkers")

    def count(state: Any, depth: int) -> int:
        """Positions after `depth` moves: a player who jumps on has not finished the move."""
        if depth == 0:
            return 1
        if state.is_terminal():
            return 0
        player, total, actions = state.current_player(), 0, state.legal_actions()
        if depth == 1 and not any(action % 2 for action in actions):  # an odd one is a jump
            return len(actions)
        for action in actions:
            child = state.child(action)
            done = child.is_terminal() or child.current_player() != player
            total += count(child, depth - 1 if done else depth)
        return total

    return lambda: count(game.new_initial_state(), depth)


CASES = {
    "chess, start": (lambda d: ours("chess", START, d), 6, lambda d: python_chess(START, d), 4),
    "chess, Kiwipete": (lambda d: ours("chess", KIWIPETE, d), 5, lambda d: python_chess(KIWIPETE, d), 3),
    "checkers": (lambda d: ours("checkers", None, d), 10, openspiel_checkers, 7),
}
"""name -> (ours, its depth, theirs, its depth): depths at which each works for a good while."""


def speed(work: Callable[[], int]) -> tuple[int, float]:
    start = process_time()
    n = work()
    return n, n / (process_time() - start)


def main() -> None:
    for name, (make_ours, depth, make_theirs, their_depth) in CASES.items():
        us, same, them = make_ours(depth), make_ours(their_depth), make_theirs(their_depth)
        assert same() == them(), f"{name}: the counts differ"
        best = [0.0, 0.0]
        for _ in range(ROUNDS):
            for i, work in enumerate((us, them)):
                best[i] = max(best[i], speed(work)[1])
        figures = {
            "case": name,
            "ours_per_s": round(best[0]),
            "theirs_per_s": round(best[1]),
            "ratio": round(best[0] / best[1], 1),
        }
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
