"""The plots of a quality page: sign errors by phase, and how values change with depth, evaluators side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.shapes import Json, number, part, rows
from evallearn.report.formatting import fixed, plain, short
from evallearn.report.plots import INK, LINEAR, MUTED, NEURAL, OTHER, Look, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (LINEAR, NEURAL, OTHER, INK, MUTED)
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 2, 1.5, 2)), (0, (8, 3)))
MARKERS = "osD^v"
NAME_LENGTH = 28


def name_of(entry: Json) -> str:
    """Return the name of an evaluator for a legend: on one line, and not too long."""
    text = " ".join(plain(short(entry.get("name", ""))).split())
    text = text.rpartition("/")[2] or text
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"


@drawing(5.4, 3.3)
def phases(figure: Figure, evals: Sequence[Json]) -> str:
    """Draw the share of wrong signs in each part of the game, with 95 % intervals."""
    ax = figure.add_subplot()
    names = [str(p.get("phase")) for p in rows(evals[0].get("phases"))]
    width = 0.8 / len(evals)
    for i, entry in enumerate(evals):
        known = {str(p.get("phase")): p for p in rows(entry.get("phases"))}
        at = [k - 0.4 + (i + 0.5) * width for k, n in enumerate(names) if n in known]
        shown = [_percent(known[n]) for n in names if n in known]
        ends = [[max(0.0, v - low) for v, low, _ in shown], [max(0.0, high - v) for v, _, high in shown]]
        bars: Look = {"color": COLOURS[i % len(COLOURS)], "alpha": 0.85, "label": name_of(entry)}
        ax.bar(at, [v for v, *_ in shown], width * 0.9, **bars)
        ax.errorbar(at, [v for v, *_ in shown], yerr=ends, fmt="none", ecolor=INK, elinewidth=1.1)
    ax.axhline(50, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    ax.set_xticks(range(len(names)), names)
    ax.set(ylabel="wrong side, %", ylim=(0, None))
    ax.grid(axis="x", visible=False)
    figure.legend(loc="outside upper left", ncols=3, labelcolor=MUTED)
    return "Sign errors by phase: " + ", ".join(names)


def _reach(found: Json, value: float) -> tuple[float, float]:
    """Return how far the interval goes below and above the value; 0 where it is not known."""
    low, high = number(found.get("low")), number(found.get("high"))
    return max(0.0, value - (value if low is None else low)), max(0.0, (value if high is None else high) - value)


def _percent(entry: Json) -> tuple[float, float, float]:
    value = number(entry.get("value")) or 0.0
    low, high = number(entry.get("low")), number(entry.get("high"))
    return 100 * value, 100 * (value if low is None else low), 100 * (value if high is None else high)


@drawing(5.4, 3.3)
def swing(figure: Figure, evals: Sequence[Json], setting: int, key: str, label: str) -> str:
    """Draw `change` or `turned` by depth with 95 % intervals, a line for each evaluator.

    setting: which of the swings.
    """
    ax = figure.add_subplot()
    for i, entry in enumerate(evals):
        steps = rows(part(rows(entry.get("swings"))[setting]).get("steps"))
        shown = [(number(s.get("depth")), number(part(s.get(key)).get("value")), part(s.get(key))) for s in steps]
        whole = np.array([(x, y, *_reach(f, y)) for x, y, f in shown if x is not None and y is not None])
        depths, values, *reach = whole.reshape(-1, 4).T
        look: Look = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": DASHES[i % len(DASHES)],
            "marker": MARKERS[i % 5],
        }
        ax.errorbar(depths, values, yerr=reach, elinewidth=0.8, label=name_of(entry), **look)
    _axis(ax, label)
    figure.legend(loc="outside upper left", ncols=3, labelcolor=MUTED)
    last = [
        number(part(rows(part(rows(e.get("swings"))[setting]).get("steps"))[-1].get(key)).get("value")) for e in evals
    ]
    return f"{label} by depth; at the last: " + ", ".join(fixed(v, 3) for v in last)


def _axis(ax: Axes, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set(xlabel="depth, plies", ylabel=label, ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid(axis="x", visible=False)
