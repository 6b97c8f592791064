"""What holds for every game that is shipped.

A golden playthrough is rewritten by hand only: EVALLEARN_GOLDEN=write pytest tests/games/test_every_game.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playing import random_game

from evallearn import game_names, get_game
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(params=game_names())
def game(request: pytest.FixtureRequest) -> Game:
    return get_game(request.param)


def test_there_are_two_heuristics_of_known_features(game: Game) -> None:
    assert len(game.heuristics) >= 2
    for heuristic in game.heuristics.values():
        rows = [heuristic.weights] if hasattr(heuristic.weights, "keys") else heuristic.weights
        assert {name for row in rows for name in row} <= set(game.seen_as(heuristic.view or game.name).feature_names)
        assert heuristic.note


def playthrough(game: Game) -> str:
    """A line per ply of one fixed game, up to 150, and its end: position, action, phase, what the first player sees."""
    *plies, (end, _) = random_game(CompiledGame(game), 2026)
    lines = []
    for s, a in plies[:150]:
        seen = " ".join(f"{v:g}" for v in game.features(s, 0))
        position = game.to_text(game.without_history(s))
        lines.append(f"{position} | {game.action_to_text(s, a)} | {game.phase(s)} | {seen}")
    lines.append(f"{game.to_text(game.without_history(end))} | {len(plies)} plies, utility {game.utility(end, 0):g}")
    return "\n".join(lines) + "\n"


def test_golden_playthrough_is_unchanged(game: Game) -> None:
    golden = GOLDEN / f"{game.name}.txt"
    if os.environ.get("EVALLEARN_GOLDEN") == "write":
        golden.write_text(playthrough(game))
    assert playthrough(game) == golden.read_text(), (
        "rules or features changed: raise Game.version, then rewrite the file"
    )
