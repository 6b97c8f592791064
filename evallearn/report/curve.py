"""The page of a `td` run: how a net got better with the games it played against itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evallearn.core.shapes import Json, number, part, rows
from evallearn.report.formatting import compact, duration, fixed, short
from evallearn.report.page import Sections, glossary, made, render_page, tile, top, write_page
from evallearn.report.parts import Cell, Column, figure, figure_of, grid, table
from evallearn.report.svg import LINEAR, NEURAL, ZERO_LINE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GLOSSARY = {
    "points per game": "What a game brings on average: with the same dice from both seats, both sides looking one ply "
    "ahead. In backgammon a gammon counts 2, a backgammon 3.",
    "loss": "How far the net's chances of each result are from its targets (cross-entropy, added up over the outputs). "
    "It cannot become 0: dice and the future are uncertain.",
    "lambda": "How far the end of a game reaches back into what earlier positions learn: 0 only the next position "
    "counts, 1 only the outcome.",
}


def write_td(result: Json, path: Path | str) -> Path:
    """Write the page of a `td` run, atomically."""
    return write_page(render_td(result), path)


def render_td(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    return render_page(result, SECTIONS, header=_header(result), kind="learning curve")


def _header(result: Json) -> str:
    found = rows(result.get("curve"))
    last = found[-1] if found else {}
    kicker = ("evallearn td", result.get("game"), f"seed {result.get('seed')}", result.get("run"))
    tiles = [
        tile("games against itself", compact(last.get("games")), f"in {duration(number(last.get('seconds')) or 0.0)}")
    ]
    met = part(last.get("fixed"))
    if met:
        error = 1.96 * (number(met.get("standard_error")) or 0.0)
        tiles.append(
            tile(f"points per game against {short(result.get('opponent'))}", _points(met), f"95 %: ± {error:.3f}")
        )
    return top(kicker, _headline(result, last), grid(*tiles, kind="tiles"))


def _headline(result: Json, last: Json) -> str:
    met, games = part(last.get("fixed")), fixed(last.get("games"))
    if not met:
        return f"A net after {games} games against itself"
    points, error = number(met.get("points")) or 0.0, 1.96 * (number(met.get("standard_error")) or 0.0)
    name = short(result.get("opponent"))
    if abs(points) <= error:
        return f"After {games} games against itself the net is as good as {name}, as far as this tells"
    return f"After {games} games against itself the net {'beats' if points > 0 else 'loses to'} {name}"


def _points(met: Json) -> str:
    return f"{number(met.get('points')) or 0.0:+.3f}"


# --- sections --------------------------------------------------------------------------------------------------------
def _curve(result: Json) -> str:
    found = rows(result.get("curve"))
    if not found:
        return ""
    name = short(result.get("opponent"))
    plots = [
        figure(
            learning("fixed-plot", found, "fixed", f"points per game against {name}"),
            f"Against {name}, which never changes; the band is the 95 % interval.",
            "Strength",
        )
        if any(part(p.get("fixed")) for p in found)
        else "",
        figure(
            learning("last-plot", found, "last", "points per game against the last look"),
            "Against itself as it was one point earlier: above the line it has got better.",
            "Progress",
        )
        if any(part(p.get("last")) for p in found)
        else "",
        figure(losses("loss-plot", found), "The mean over the games before each point.", "Loss"),
    ]
    return grid(*plots) + table(COLUMNS, found)


@drawing(5.2, 3.0)
def learning(canvas: Figure, found: Sequence[Json], key: str, label: str) -> str:
    """Draw points per game over the games that were played."""
    ax = canvas.add_subplot()
    met = [(number(p.get("games")) or 0.0, part(p.get(key))) for p in found if part(p.get(key))]
    x, y = [g for g, _ in met], [number(m.get("points")) or 0.0 for _, m in met]
    e = [1.96 * (number(m.get("standard_error")) or 0.0) for _, m in met]
    ax.axhline(0, **ZERO_LINE)
    ax.fill_between(
        x, [a - b for a, b in zip(y, e, strict=True)], [a + b for a, b in zip(y, e, strict=True)],
        color=NEURAL, alpha=0.16, linewidth=0,
    )  # fmt: skip
    ax.plot(x, y, color=NEURAL, marker="o", markersize=3.0)
    ax.set(xlabel="games against itself", ylabel=label)
    _games_axis(ax)
    return f"{label}: at the end {y[-1]:+.3f}"


@drawing(5.2, 3.0)
def losses(canvas: Figure, found: Sequence[Json]) -> str:
    """Draw the loss over the games that were played."""
    ax = canvas.add_subplot()
    x, y = [number(p.get("games")) or 0.0 for p in found], [number(p.get("loss")) or 0.0 for p in found]
    ax.plot(x, y, color=LINEAR, marker="o", markersize=3.0)
    ax.set(xlabel="games against itself", ylabel="loss")
    _games_axis(ax)
    return f"loss: at the end {y[-1]:.4f}"


def _games_axis(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: compact(x)))
    ax.grid(axis="x", visible=False)


def _met(key: str) -> Callable[[Json], Cell]:
    def cell(row: Json) -> Cell:
        met = part(row.get(key))
        error = 1.96 * (number(met.get("standard_error")) or 0.0)
        return Cell(f"{_points(met)} ± {error:.3f}", number(met.get("points"))) if met else Cell("")

    return cell


def _seconds(row: Json) -> Cell:
    seconds = number(row.get("seconds")) or 0.0
    return Cell(duration(seconds), seconds)


COLUMNS = (
    Column("games", figure_of("games")),
    Column("time", _seconds),
    Column("positions", figure_of("moves")),
    Column("games/s", figure_of("games_per_second")),
    Column("loss", figure_of("loss", lambda v: fixed(v, 4))),
    Column("against the opponent", _met("fixed")),
    Column("against the last look", _met("last")),
)
SECTIONS: Sections = {
    "curve": ("Learning curve", _curve),
    "made": ("How it was made", lambda result: made(result, part(result.get("settings")))),
    "words": ("What the words mean", lambda result: glossary(GLOSSARY)),
}
