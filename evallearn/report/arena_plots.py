"""The plots of matches and tournaments, in the manner of `plots`: SVG texts in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from evallearn.core.json_shapes import Json, numbers
from evallearn.report.formatting import estimate, fixed, plain, points, short_agent, signed
from evallearn.report.plots import NAME_LENGTH, REACH, dot, plain_rows
from evallearn.report.svg import CARD, ENGINE, INK, LINEAR, MUTED, NEURAL, OTHER, SEARCH, ZERO_LINE, Look, drawing

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

KIND_COLOURS = {"learned": LINEAR, "handwritten": NEURAL, "search": SEARCH, "engine": ENGINE}
"""What is neither (random, zero, unknown) is grey; the page's CSS has the same classes."""
KIND_WORDS = {"handwritten": "hand-written"}
GAP = 350.0
"""Elo between two neighbours of a rating list: who is below it is drawn as an arrow at the edge of the plot."""
SET_SCORES = ("0", "¼", "½", "¾", "1")


# --- a match ---------------------------------------------------------------------------------------------------------
Point = tuple[float, float, float, float]


def curve_points(curve: object) -> list[Point]:
    """Return the points of a curve of [sets, Elo, low, high] that are whole."""
    found = [numbers(p) for p in curve] if isinstance(curve, list | tuple) else []
    whole = [[x for x in p if x is not None] for p in found if len(p) == 4]
    return [(p[0], p[1], p[2], p[3]) for p in whole if len(p) == 4]


@drawing(5.9, 3.3)
def settling(figure: Figure, found: Sequence[Point]) -> str:
    """Draw Elo as the match went on, with its band. The first points vary widely: the axis fits the later ones."""
    ax = figure.add_subplot()
    x, elo, low, high = ([p[i] for p in found] for i in range(4))
    ax.axhline(0, **ZERO_LINE)
    ax.fill_between(x, low, high, color=LINEAR, alpha=0.16, linewidth=0)
    ax.plot(x, elo, color=LINEAR, marker="o" if len(x) == 1 else None)
    ax.set_ylim(*_settled(found))
    ax.set_xlim(0, max(x) * 1.12 or 1)
    ax.annotate(
        signed(elo[-1]), (x[-1], elo[-1]), xytext=(7, 0), textcoords="offset points", va="center", fontweight="bold"
    )
    ax.set(xlabel="sets played", ylabel="Elo of A over B")
    _thousands(ax.xaxis)
    ax.grid(axis="x", visible=False)
    return f"Elo as the match went on: at the end {signed(elo[-1])}, 95 %: {fixed(low[-1])} to {fixed(high[-1])}"


def _settled(found: Sequence[Point]) -> tuple[float, float]:
    """Return the ends of the Elo axis: 0, and the intervals from a fifth of the match on, as far as REACH goes."""
    late = found[len(found) // 5 :]
    least = min([0.0, *(max(low, elo - REACH) for _, elo, low, _ in late)])
    most = max([0.0, *(min(high, elo + REACH) for _, elo, _, high in late)])
    room = 0.08 * (most - least) or 10.0
    return least - room, most + room


@drawing(5.2, 3.0)
def pentanomial(figure: Figure, counts: Sequence[float], scores: Sequence[str], label: str) -> str:
    """Draw how many sets gave A which share of their points; what is A's is blue, what is B's orange."""
    ax = figure.add_subplot()
    n, half = sum(counts) or 1.0, len(counts) // 2
    colours = [NEURAL if i < half else OTHER if i == half else LINEAR for i in range(len(counts))]
    ax.bar(range(len(counts)), counts, width=0.72, color=colours, alpha=0.85)
    for i, c in enumerate(counts):
        said = f"{fixed(c)}\n{fixed(100 * c / n)} %"
        ax.annotate(said, (i, c), xytext=(0, 4), textcoords="offset points", ha="center", linespacing=1.25)
    ax.set_xticks(range(len(counts)), scores)
    ax.set_ylim(0, max(*counts, 1) * 1.24)
    ax.set_yticks([])
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(visible=False)
    ax.set_xlabel(label)
    return f"Sets by the {label}: " + ", ".join(f"{s}: {fixed(c)}" for s, c in zip(scores, counts, strict=True))


def margins(plot_id: str, entries: Sequence[Json]) -> str:
    """Draw means with their intervals, one below the other; each has a label, a value and perhaps low and high."""
    return drawing(5.9, 0.95 + 0.55 * len(entries))(_margins)(plot_id, entries)


def _margins(figure: Figure, entries: Sequence[Json]) -> str:
    ax = figure.add_subplot()
    ax.axvline(0, **ZERO_LINE)
    for y, e in enumerate(reversed(entries)):
        value, low, high = estimate(e)
        ax.plot([low, high], [y, y], color=LINEAR, linewidth=2.4)
        ax.plot([value], [y], "o", color=LINEAR, markersize=7.5)
        at: Look = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        ax.annotate(points(value), (value, y), **at)
    ax.set_yticks(range(len(entries)), [plain(e.get("label", "")) for e in reversed(entries)], color=INK)
    ax.set_ylim(-0.5, len(entries) - 0.3)
    ax.margins(x=0.12)
    plain_rows(ax)
    ax.set_xlabel("points per game of A")
    return "Points per game of A: " + ", ".join(f"{e.get('label')} {points(e.get('value'))}" for e in entries)


# --- a tournament ----------------------------------------------------------------------------------------------------
def ratings(plot_id: str, entries: Sequence[Json], anchor: str) -> str:
    """Draw dots and intervals, coloured by `kind`, in the order given: the first on top."""
    return drawing(6.4, 1.2 + 0.42 * len(entries))(_ratings)(plot_id, entries, anchor)


def _ratings(figure: Figure, entries: Sequence[Json], anchor: str) -> str:
    ax = figure.add_subplot()
    ax.axvline(0, **ZERO_LINE)
    ax.set_xlim(*_rating_scale(entries))
    for y, e in enumerate(reversed(entries)):
        played = 0 if e.get("fixed") else 1  # a hollow dot: the anchor, which is 0 by definition
        dot(ax, {**e, "games": played}, y, "o", KIND_COLOURS.get(str(e.get("kind")), OTHER))
    ax.set_yticks(range(len(entries)), [_label(e.get("name")) for e in reversed(entries)], color=INK)
    ax.set_ylim(-0.6, len(entries) - 0.4)
    plain_rows(ax)
    ax.set_xlabel(f"Elo against {_label(anchor)}" if anchor else "Elo")
    _kinds_legend(figure, [str(e.get("kind") or "other") for e in entries])
    return "Ratings: " + ", ".join(f"{short_agent(e.get('name'))[0]} {signed(e.get('elo'))}" for e in entries)


def _rating_scale(entries: Sequence[Json]) -> tuple[float, float]:
    """Return the ends of the axis; to the left it stops at the first wide gap, or random play would squeeze all."""
    shown = sorted((estimate(e, "elo") for e in entries), reverse=True)
    for stronger, weaker in pairwise(shown):
        if stronger[0] - weaker[0] > GAP and len(shown) > 2 and shown.index(weaker) > 1:
            shown = shown[: shown.index(weaker)]
            break
    left = min([0.0, *(max(low, elo - REACH) for elo, low, _ in shown)])
    right = max([0.0, *(min(high, elo + REACH) for elo, _, high in shown)])
    width = max(right - left, 50.0)
    return left - 0.07 * width, right + 0.16 * width


def off_scale(entries: Sequence[Json]) -> bool:
    """Return True if somebody is too weak for the axis."""
    return any(estimate(e, "elo")[0] < _rating_scale(entries)[0] for e in entries)


def _kinds_legend(figure: Figure, kinds: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    known = list(dict.fromkeys(k if k in KIND_COLOURS else "other" for k in kinds))
    if known == ["other"]:
        return
    handles = [
        Line2D([], [], marker="o", color=KIND_COLOURS.get(k, OTHER), markeredgecolor=CARD, markersize=9, linestyle="")
        for k in known
    ]
    texts = [plain(KIND_WORDS.get(k, k)) for k in known]
    figure.legend(handles, texts, loc="outside upper left", ncols=5, labelcolor=MUTED, handletextpad=0.1)


# --- axes ------------------------------------------------------------------------------------------------------------
def _label(name: object) -> str:
    """Return an agent's label beside an axis: its limit, and its name, cut in the middle, where names differ least."""
    said, limit = short_agent(name)
    said = " ".join(said.split())
    if len(said) > NAME_LENGTH:
        said = f"{said[: NAME_LENGTH // 2 - 1]}…{said[-NAME_LENGTH // 2 :]}"
    return f"{said}, {limit}" if limit else said


def _thousands(axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda x, _: fixed(x)))
