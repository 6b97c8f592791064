"""Who plays the ghosts: one player together, each ghost for itself, or chance.

- `together`: player 1 moves them all, and gets what Pacman loses. Minimax and alpha-beta play it.
- `apart`: ghost i is player i. Each ghost loses every point that Pacman wins, as above; but the 500 that he loses when
  he is caught go to the ghost that catches him alone. So each would rather catch him itself, and yet rather have
  another catch him than let him eat. What a ghost gets is thus known from the position alone, and with one ghost it is
  the same game as `together`; with more it is not zero-sum. Where several stand on his cell that could have caught him,
  the lowest number counts. Max^n, the paranoid and the best-reply search play it.
- `random`: a ghost takes each of its legal moves with the same probability. Pacman is the only player; expectiminimax
  plays it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evallearn.core.game import Heuristic
from evallearn.games.pacman.state import CAUGHT_POINTS, State

TOGETHER, APART, RANDOM = WAYS = ("together", "apart", "random")
NEAR = 8
"""Capsules and ghosts further away than this count as out of reach."""
APART_NAMES = (
    "catch_near",  # to a ghost that is not scared: 8 - its steps to Pacman, or 0; to Pacman 0
    "rival_near",  # to a ghost: 8 - the steps of the nearest other one that is not scared, or 0; to Pacman 0
)
GREED = {"catch_near": 10, "rival_near": -5}
"""In points: enough to be the one who is nearest, little beside what Pacman wins."""


def catcher(s: State) -> int:
    """Return the number of the ghost that has caught Pacman; 0 if none has."""
    here = [i for i, g in enumerate(s.ghosts, 1) if s.caught and g.cell == s.pacman and not g.scared]
    moved_last = (s.turn - 1) % (1 + len(s.ghosts))
    return moved_last if moved_last in here else here[0] if here else 0


def utility_apart(s: State, player: int) -> float:
    """Return the score to Pacman; to a ghost what he lost by then, and the 500 only if it has caught him."""
    if player == 0:
        return float(s.score)
    others = CAUGHT_POINTS * s.caught - s.score
    return float(others - CAUGHT_POINTS * (catcher(s) == player))


def nearness(s: State, player: int, away: Mapping[int, int]) -> tuple[int, int]:
    """Return APART_NAMES; `away` are the steps from Pacman."""
    if player == 0:
        return 0, 0
    near = {i: max(0, NEAR - away.get(g.cell, NEAR)) for i, g in enumerate(s.ghosts, 1) if not g.scared}
    return near.pop(player, 0), max(near.values(), default=0)


def greedy(heuristics: Mapping[str, Heuristic]) -> dict[str, Heuristic]:
    """Adapt heuristics to ghosts apart: those that weigh ghosts nearby also reward a ghost for being the nearest."""
    found = dict(heuristics)
    for name, h in heuristics.items():
        weights = dict(h.weights)  # type: ignore[arg-type]  # one mapping, for the one phase
        if "ghosts_1" in weights:
            found[name] = replace(h, weights={**weights, **GREED}, note=f"{h.note} A ghost wants to be the nearest.")
    return found
