"""What holds for every game that is shipped.

A golden playthrough is rewritten by hand only: EVALLEARN_GOLDEN=write pytest tests/games/test_every_game.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playing import compare_floors, random_game

from evallearn import game_names, get_game
from evallearn.protocols import Game

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(params=game_names())
def game(request: pytest.FixtureRequest) -> Game:
    return get_game(request.param)


def test_features_change_sign_with_the_player(game: Game) -> None:
    for seed in range(5):
        for s, a in random_game(game, seed):
            if a is not None:
                assert list(game.features(s, 0)) == [-v for v in game.features(s, 1)]


def test_compiled_floor_equals_plain_floor(game: Game) -> None:
    for seed in range(10):
        for s, _ in random_game(game, seed):
            compare_floors(game, s)


def test_there_are_two_heuristics_of_known_features(game: Game) -> None:
    assert len(game.heuristics) >= 2
    for heuristic in game.heuristics.values():
        rows = [heuristic.weights] if hasattr(heuristic.weights, "keys") else heuristic.weights
        assert {name for row in rows for name in row} <= set(game.feature_names)
        assert heuristic.note


def playthrough(game: Game) -> str:
    """A line per ply of one fixed game: position, action, phase and what the first player sees."""
    lines = []
    for s, a in random_game(game, 2026):
        if a is None:
            lines.append(f"{game.to_text(s)} | utility {game.utility(s, 0):g}")
        else:
            seen = " ".join(f"{v:g}" for v in game.features(s, 0))
            lines.append(f"{game.to_text(s)} | {game.action_to_text(s, a)} | {game.phase(s)} | {seen}")
    return "\n".join(lines) + "\n"


def test_golden_playthrough_is_unchanged(game: Game) -> None:
    golden = GOLDEN / f"{game.name}.txt"
    if os.environ.get("EVALLEARN_GOLDEN") == "write":
        golden.write_text(playthrough(game))
    assert playthrough(game) == golden.read_text(), (
        "rules or features changed: raise Game.version, then rewrite the file"
    )
