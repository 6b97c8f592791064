"""What a `learn` page says of games against itself: how a model got better with their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report.formatting import compact, duration, fixed, short
from evallearn.report.page import tile
from evallearn.report.parts import Cell, Column, figure, figure_of, grid, table, text
from evallearn.report.svg import LINEAR, NEURAL, ZERO_LINE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GLOSSARY = {
    "points per game": "What a game brings on average: with the same dice from both seats, both sides looking one ply "
    "ahead. In backgammon a gammon counts 2, a backgammon 3.",
    "loss": "How far the model's values are from its targets: of tables and linear evaluators the mean difference, as "
    "a share of a win; of nets the cross-entropy, summed over the outputs. It cannot become 0: games are uncertain.",
    "lambda": "How far the end of a game reaches back into what earlier positions learn: 0 only the next position "
    "counts, 1 only the outcome.",
}


def last_curve(result: Json) -> tuple[str, Json, Json]:
    """Return the name, the opponent's curve and the last point of the last model that played against itself."""
    curves = [(name, part(c)) for name, c in part(result.get("curves")).items() if rows(part(c).get("points"))]
    if not curves:
        return "", {}, {}
    name, curve = curves[-1]
    return str(name), curve, rows(curve["points"])[-1]


def curve_tiles(result: Json) -> list[str]:
    """Return how much was played, and what that brought."""
    _, curve, last = last_curve(result)
    if not last:
        return []
    spent = f"in {duration(number(last.get('seconds')) or 0.0)}"
    tiles = [tile("games against itself", compact(last.get("games")), spent)]
    if met := part(last.get("fixed")):
        error = 1.96 * (number(met.get("standard_error")) or 0.0)
        opponent = text(short(curve.get("opponent")))
        tiles.append(tile(f"points per game against {opponent}", _points(met), f"95 %: ± {error:.3f}"))
    return tiles


def curve_headline(result: Json) -> str:
    """Say in a sentence how good the model has become."""
    name, curve, last = last_curve(result)
    met, after = part(last.get("fixed")), f"After {fixed(last.get('games'))} games against itself {name}"
    if not met:
        return f"{after} was met by nobody yet"
    points, error = number(met.get("points")) or 0.0, 1.96 * (number(met.get("standard_error")) or 0.0)
    opponent = short(curve.get("opponent"))
    if abs(points) <= error:
        return f"{after} is as good as {opponent}, as far as this tells"
    return f"{after} {'beats' if points > 0 else 'loses to'} {opponent}"


def _points(met: Json) -> str:
    return f"{number(met.get('points')) or 0.0:+.3f}"


# --- the section -----------------------------------------------------------------------------------------------------
def curves(result: Json) -> str:
    """Return the plots and the table of every model that played against itself."""
    found = part(result.get("curves"))
    return "".join(_curve(str(name), i, part(curve)) for i, (name, curve) in enumerate(found.items()))


def _curve(name: str, number_of: int, curve: Json) -> str:
    found, opponent = rows(curve.get("points")), short(curve.get("opponent"))
    if not found:
        return ""

    def met(key: str, label: str, note: str, title: str) -> str:
        if not any(part(p.get(key)) for p in found):
            return ""
        return figure(learning(f"{key}-plot-{number_of}", found, key, f"points per game against {label}"), note, title)

    plots = (
        met("fixed", opponent, f"Against {opponent}, which never changes; the band is the 95 % interval.", "Strength"),
        met("last", "the last measurement", "Against itself as it was one point earlier: above the line it has got "
            "better.", "Progress"),
        figure(losses(f"error-plot-{number_of}", found), "The mean over the games before each point.", "Loss"),
    )  # fmt: skip
    return f"<h3>{text(name)}</h3>{grid(*plots)}{table(COLUMNS, found)}"


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
    Column("against the last measurement", _met("last")),
)
