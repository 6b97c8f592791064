"""The plots of a quality page: sign errors by phase, and how values change with depth, evaluators side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report.formatting import cut, estimate, fixed, plain, short
from evallearn.report.plots import whiskers
from evallearn.report.svg import INK, LINEAR, MUTED, NEURAL, OTHER, ZERO_LINE, Look, drawing

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
    return cut(text.rpartition("/")[2] or text, NAME_LENGTH)


@drawing(5.4, 3.3)
def phases(figure: Figure, evals: Sequence[Json]) -> str:
    """Draw the share of wrong signs in each part of the game, with 95 % intervals."""
    ax = figure.add_subplot()
    names = [str(p.get("phase")) for p in rows(evals[0].get("phases"))]
    width = 0.8 / len(evals)
    for i, entry in enumerate(evals):
        known = {str(p.get("phase")): p for p in rows(entry.get("phases"))}
        at = [k - 0.4 + (i + 0.5) * width for k, n in enumerate(names) if n in known]
        shown = [[100 * x for x in estimate(known[n])] for n in names if n in known]
        bars: Look = {"color": COLOURS[i % len(COLOURS)], "alpha": 0.85, "label": name_of(entry)}
        ax.bar(at, [v for v, *_ in shown], width * 0.9, **bars)
        ax.errorbar(at, [v for v, *_ in shown], yerr=whiskers(shown), fmt="none", ecolor=INK, elinewidth=1.1)
    ax.axhline(50, **ZERO_LINE)
    ax.set_xticks(range(len(names)), names)
    ax.set(ylabel="wrong side, %", ylim=(0, None))
    ax.grid(axis="x", visible=False)
    figure.legend(loc="outside upper left", ncols=3, labelcolor=MUTED)
    return "Sign errors by phase: " + ", ".join(names)


@drawing(5.4, 3.3)
def swing(figure: Figure, evals: Sequence[Json], setting: int, key: str, label: str) -> str:
    """Draw `change` or `turned` by depth with 95 % intervals, a line for each evaluator.

    setting: which of the swings.
    """
    ax = figure.add_subplot()
    for i, entry in enumerate(evals):
        steps = rows(part(rows(entry.get("swings"))[setting]).get("steps"))
        found = [(number(s.get("depth")), part(s.get(key))) for s in steps]
        known = [(depth, estimate(f)) for depth, f in found if depth is not None and number(f.get("value")) is not None]
        depths, shown = [depth for depth, _ in known], [figure for _, figure in known]
        look: Look = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": DASHES[i % len(DASHES)],
            "marker": MARKERS[i % 5],
        }
        ax.errorbar(depths, [v for v, *_ in shown], yerr=whiskers(shown), elinewidth=0.8, label=name_of(entry), **look)
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
