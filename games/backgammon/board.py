"""The picture of a backgammon board for a terminal: X moves towards the lower right, O towards the upper right."""

from __future__ import annotations

from evallearn.games.backgammon.moves import BAR, NO_DICE, OFF, Side, State, pips
from evallearn.games.backgammon.notation import PLAYERS

ROWS = 5
"""Checkers drawn on a point; the one nearest to the middle becomes a number if there are more."""


def column(mark: str, n: int) -> list[str]:
    """Return the cells of a point from the edge of the board to the middle."""
    cells = [mark if row < n else " " for row in range(ROWS)]
    if n > ROWS:
        cells[-1] = str(n)
    return cells


def picture(s: State, outcome: str) -> str:
    """Draw the board with the points as the mover numbers them; below it `outcome`, or whose turn it is."""
    x, o = (s.own, s.opp) if s.player == 0 else (s.opp, s.own)
    top = [_line(_half(x, o, range(13, 25)), column("X", x[BAR])[::-1], row) for row in range(ROWS)]
    bottom = [_line(_half(x, o, range(12, 0, -1)), column("O", o[BAR])[::-1], row) for row in range(ROWS)]
    ruler_top, ruler_bottom = (
        _ruler(r if s.player == 0 else [25 - p for p in r]) for r in (range(13, 25), range(12, 0, -1))
    )
    lines = [
        f"{ruler_top}  O: {pips(o)} pips, {o[OFF]} off",
        *top,
        " |                  |BAR|                  |",
        *reversed(bottom),
        f"{ruler_bottom}  X: {pips(x)} pips, {x[OFF]} off",
        outcome or _turn(s),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _half(x: Side, o: Side, points: range) -> list[list[str]]:
    return [column("X", x[p]) if x[p] else column("O", o[25 - p]) for p in points]


def _line(columns: list[list[str]], bar: list[str], row: int) -> str:
    cells = [f"{c[row]:>2} " for c in columns]
    return f" |{''.join(cells[:6])}|{bar[row]:>2} |{''.join(cells[6:])}|"


def _ruler(points: range | list[int]) -> str:
    names = [f"{p:->2}-" for p in points]
    return f" +{''.join(names[:6])}-----{''.join(names[6:])}+"


def _turn(s: State) -> str:
    who = PLAYERS[s.player]
    return f"{who} to roll" if s.dice == NO_DICE else f"{who} to move {s.dice[0]}-{s.dice[1]}"
