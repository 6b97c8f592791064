"""The plots of the report of a run, and what all plots share; `svg` makes texts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report.formatting import cut, estimate, fixed, limit_words, plain, reference, signed
from evallearn.report.svg import BAR, CARD, INK, LINEAR, MUTED, NEURAL, OTHER, ZERO_LINE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_LENGTH = 28
REACH = 150.0
"""Elo to each side of a dot within which its interval is drawn; what lies further is an arrow."""
WEAKEST = -450.0
"""Elo where the ladder's axis ends to the left; who is weaker is an arrow at the edge with its figure."""


def _name(name: object) -> str:
    """Return a name for an axis: on one line, and not too long."""
    return cut(" ".join(plain(name).split()), NAME_LENGTH)


def _colour(name: object) -> str:
    return {"linear": LINEAR, "neural": NEURAL}.get(str(name), OTHER)


def _series(entries: Sequence[Json], x: str, y: str) -> tuple[list[float], list[float]]:
    """Return the points that have both figures."""
    points = [(number(e.get(x)), number(e.get(y))) for e in entries]
    whole = [(a, b) for a, b in points if a is not None and b is not None]
    return [a for a, _ in whole], [b for _, b in whole]


def _whole_ticks(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    ax.grid(axis="x", visible=False)


def whiskers(shown: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return how far each interval goes below and above its figure, as `errorbar` takes it."""
    return [[max(0.0, v - low) for v, low, _ in shown], [max(0.0, high - v) for v, _, high in shown]]


def plain_rows(ax: Axes) -> None:
    """Leave out the left edge, the ticks and the lines across: the rows have names."""
    ax.tick_params(length=0)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)


# --- the ladder ------------------------------------------------------------------------------------------------------
def ladder(plot_id: str, result: Json) -> str:
    """Draw dots and intervals for every agent; the matches at equal time as diamonds below."""
    equal = [e for e in rows(result.get("ladder")) if number(e.get("elo")) is not None]
    timed = [e for e in rows(result.get("equal_time")) if number(e.get("elo")) is not None]
    best = {str(e.get("name")): number(e["elo"]) or 0.0 for e in (*timed, *equal)}
    names = sorted(best, key=lambda name: best[name])
    label = "Elo ladder: " + ", ".join(f"{n} {signed(best[n])}" for n in reversed(names))
    height = 1.15 + 0.5 * len(names)
    return drawing(6.2, height)(_ladder)(plot_id, names, equal, timed, reference(result), label)


def _ladder(figure: Figure, names: list[str], equal: list[Json], timed: list[Json], zero: str, label: str) -> str:
    ax = figure.add_subplot()
    ax.axvline(0, **ZERO_LINE)
    ax.set_xlim(*_scale([estimate(e, "elo") for e in (*equal, *timed)]))
    twice = {e.get("name") for e in timed} & {e.get("name") for e in equal}
    for entries, marker, shift in ((equal, "o", 0.19), (timed, "D", -0.19)):
        for e in entries:
            y = names.index(str(e.get("name"))) + (shift if e.get("name") in twice else 0.0)
            dot(ax, e, y, marker)
    ax.set_yticks(range(len(names)), [_name(n) for n in names], color=INK)
    ax.set_ylim(-0.6, len(names) - 0.4)
    plain_rows(ax)
    ax.set_xlabel(f"Elo against {_name(zero)}" if zero else "Elo")
    _ladder_legend(figure, equal, timed)
    return label


def _scale(shown: list[tuple[float, float, float]]) -> tuple[float, float]:
    """Return the ends of the axis: to the left it stops at WEAKEST, or random play would squeeze all others."""
    left = max(WEAKEST, min([-50.0, *(max(low, elo - REACH) for elo, low, _ in shown)]))
    right = max([50.0, *(min(high, elo + REACH) for elo, _, high in shown)])
    return left - 0.05 * (right - left), right + 0.16 * (right - left)


def dot(ax: Axes, entry: Json, y: float, marker: str, colour: str = "") -> None:
    elo, low, high = estimate(entry, "elo")
    colour, left = colour or _colour(entry.get("name")), ax.get_xlim()[0]
    start, end = max(low, elo - REACH, left), max(min(high, elo + REACH), left)
    ax.plot([start, end], [y, y], color=colour, linewidth=2.2)
    for x, is_cut, caret in ((start, low < start, 4), (end, high > end > left, 5)):  # tips to the left and to the right
        if is_cut:
            ax.plot([x], [y], marker=caret, color=colour, markersize=8, clip_on=False)
    if elo > left:
        face = colour if marker == "o" and entry.get("games") != 0 else CARD
        ax.plot([elo], [y], marker, ms=7.5 if marker == "o" else 6, mfc=face, mec=colour, mew=1.7)
    at, background = (max(end, elo), y), {"facecolor": CARD, "edgecolor": "none", "pad": 1.0}
    ax.annotate(signed(elo), at, xytext=(9, 0), textcoords="offset points", va="center", bbox=background)


def _ladder_legend(figure: Figure, equal: list[Json], timed: list[Json]) -> None:
    from matplotlib.lines import Line2D

    if not timed:
        return
    limits = [next((limit_words(e.get("limit")) for e in es if e.get("limit")), "") for es in (equal, timed)]
    texts = [
        f"equal {kind} ({limit})" if limit else f"equal {kind}"
        for kind, limit in zip(("depth", "time"), limits, strict=True)
    ]
    handles = [
        Line2D([], [], marker="o", color=MUTED, markersize=9),
        Line2D([], [], marker="D", color=MUTED, markerfacecolor=CARD, markersize=7, markeredgewidth=1.8),
    ]
    figure.legend(handles, texts, loc="outside upper left", ncols=2, labelcolor=MUTED)


# --- learning --------------------------------------------------------------------------------------------------------
@drawing(5.2, 3.1)
def elo_curve(figure: Figure, generations: list[Json], zero: str) -> str:
    """Draw the Elo of the linear evaluator after each generation."""
    ax = figure.add_subplot()
    ax.set_ylabel(f"Elo against {_name(zero)}" if zero else "Elo")
    return "Elo by generation: " + _elos(ax, generations, is_curve=True)


@drawing(5.2, 3.1)
def gate_plot(figure: Figure, generations: list[Json]) -> str:
    """Draw the Elo of each candidate against its incumbent, with the interval."""
    gates = [{**g, "elo": None, **part(g.get("gate"))} for g in generations]
    ax = figure.add_subplot()
    ax.set_ylabel("Elo against the incumbent")
    return "Elo against the incumbent by generation: " + _elos(ax, gates, is_curve=False)


def _elos(ax: Axes, entries: Sequence[Json], *, is_curve: bool) -> str:
    """Draw Elo and interval of each generation, as a curve with a band if they have one opponent; return the figures.

    A dot is full if the generation took its incumbent's place, hollow if not.
    """
    known = [e for e in entries if number(e.get("elo")) is not None and number(e.get("generation")) is not None]
    x, y = _series(known, "generation", "elo")
    ends = [(max(low, elo - REACH), min(high, elo + REACH)) for elo, low, high in (estimate(e, "elo") for e in known)]
    ax.axhline(0, **ZERO_LINE)
    if is_curve:
        ax.fill_between(x, [a for a, _ in ends], [b for _, b in ends], color=LINEAR, alpha=0.13, linewidth=0)
    ax.vlines(x, [a for a, _ in ends], [b for _, b in ends], color=LINEAR, linewidth=2)
    if is_curve:
        ax.plot(x, y, color=LINEAR)
    for e, a, b, (_, top) in zip(known, x, y, ends, strict=True):
        face = CARD if e.get("promoted") is False else LINEAR
        ax.plot([a], [b], "o", markersize=7, markerfacecolor=face, markeredgecolor=LINEAR, markeredgewidth=1.7)
        ax.annotate(signed(b), (a, top), xytext=(0, 5), textcoords="offset points", ha="center")
    ax.margins(x=0.12, y=0.12 if is_curve else 0.15)
    ax.set_xlabel("generation")
    _whole_ticks(ax)
    return ", ".join(signed(b) for b in y)


@drawing(5.2, 3.1)
def loss_curve(figure: Figure, generations: list[Json]) -> str:
    """Draw the held-out log loss after each generation, beside that of the best constant."""
    ax = figure.add_subplot()
    x, y = _series(generations, "generation", "log_loss")
    ax.plot(
        *_series(generations, "generation", "baseline_log_loss"),
        color=OTHER,
        marker="o",
        markersize=4,
        linestyle=(0, (4, 3)),
        label="best constant (baseline)",
    )
    ax.plot(x, y, color=LINEAR, marker="o", markersize=7, label="linear")
    ax.margins(x=0.12, y=0.15)
    ax.set(xlabel="generation", ylabel="held-out log loss")
    _whole_ticks(ax)
    figure.legend(loc="outside upper left", ncols=2, labelcolor=MUTED)
    return "Held-out log loss by generation: " + ", ".join(fixed(b, 4) for b in y)


@drawing(5.7, 3.2)
def training_curve(figure: Figure, history: list[Json], name: str) -> str:
    """Draw the loss by epoch on the records that were learned from and on those that chose the epoch."""
    ax = figure.add_subplot()
    ax.plot(*_series(history, "epoch", "train_loss"), color=OTHER, linestyle=(0, (4, 3)), label="training records")
    x, y = _series(history, "epoch", "validation_loss")
    ax.plot(x, y, color=_colour(name), marker="o", markersize=4 if len(x) < 40 else 0, label="validation records")
    if y:
        best = y.index(min(y))
        ax.plot(
            [x[best]],
            [y[best]],
            marker="o",
            markersize=9,
            color=_colour(name),
            markerfacecolor=CARD,
            markeredgewidth=2,
            linestyle="none",
            label=f"best: {fixed(y[best], 4)} at epoch {fixed(x[best])}",
        )
    ax.set(xlabel="epoch", ylabel="loss")
    _whole_ticks(ax)
    ax.legend(loc="best", labelcolor=MUTED)
    return f"Loss of {name} by epoch, {len(y)} epochs"


# --- calibration -----------------------------------------------------------------------------------------------------
@drawing(3.7, 3.5)
def calibration(figure: Figure, name: str, metrics: Json) -> str:
    """Draw predicted against actual value with 95 % intervals, and each bin's share of the records as faint bars."""
    ax = figure.add_subplot()
    bins = rows(metrics.get("calibration"))
    _bin_bars(ax, bins)
    ax.plot([-1, 1], [-1, 1], **ZERO_LINE)
    error = number(part(metrics).get("calibration_error"))
    label = _name(name) + ("" if error is None else f", error {fixed(error, 3)}")
    ax.plot(*_series(bins, "predicted", "outcome"), color=_colour(name), marker="o", markersize=4.5, label=label)
    for b in bins:
        at, low, high = (number(b.get(k)) for k in ("predicted", "outcome_low", "outcome_high"))
        if at is not None and low is not None and high is not None:
            ax.plot([at, at], [low, high], color=_colour(name), linewidth=1)
    ax.set(xlim=(-1, 1), ylim=(-1.04, 1.04), xlabel="predicted value", ylabel="actual outcome")
    ticks = [-1, -0.5, 0, 0.5, 1]
    ax.set_xticks(ticks, ["loss", "−0.5", "0", "0.5", "win"])
    ax.set_yticks(ticks, ["loss", "−0.5", "0", "0.5", "win"])
    figure.legend(loc="outside upper left", labelcolor=INK)
    return f"Calibration of {label}"


def _bin_bars(ax: Axes, bins: list[Json]) -> None:
    """Draw bars of at most 40 % of the plot's height: their sum says nothing, their shape does."""
    whole = [[number(b.get(k)) for k in ("low", "high", "count")] for b in bins]
    known = [(low, high, n) for low, high, n in whole if low is not None and high is not None and n is not None]
    most = max((n for *_, n in known), default=0.0)
    if most <= 0:
        return
    ax.bar(
        [low for low, *_ in known],
        [0.8 * n / most for *_, n in known],
        width=[high - low for low, high, _ in known],
        align="edge",
        bottom=-1.04,
        color=BAR,
        edgecolor=CARD,
        linewidth=0.8,
    )
