"""From a matplotlib figure to an SVG text that is set into a page, whose CSS gives it its colours, light or dark.

A figure is drawn in stand-in colours; `_svg` turns each into the CSS variable of the same name. matplotlib is imported
where it is used, and only its objects, so that the state of a caller's pyplot is neither used nor changed.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias

from evallearn.report.formatting import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")
Look: TypeAlias = dict[str, Any]
"""Keywords of matplotlib."""

INK, MUTED, GRID, CARD, LINEAR, NEURAL, OTHER, BAR, SEARCH, ENGINE = (f"#00f1{i:02x}" for i in range(10))
VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    CARD: "card",
    LINEAR: "linear",
    NEURAL: "neural",
    OTHER: "other",
    BAR: "bar",
    SEARCH: "search",
    ENGINE: "engine",
}
"""Stand-in colours, which nothing else uses, and the page's variables for them."""
STYLE = {
    "svg.hashsalt": "evallearn",  # the same plot has the same ids
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.0,
    "lines.solid_capstyle": "round",
}
ZERO_LINE: Look = {"color": MUTED, "linewidth": 1.2, "linestyle": (0, (4, 3))}
ALONE = {"Date": None, "Creator": None, "Format": None, "Type": None}
"""No metadata at all: they would hold the date and addresses."""


def drawing(
    width: float, height: float
) -> Callable[[Callable[Concatenate[Figure, P], str]], Callable[Concatenate[str, P], str]]:
    """Turn a function that draws on a figure and returns its label into one that takes an id and returns the SVG."""

    def decorate(draw: Callable[Concatenate[Figure, P], str]) -> Callable[Concatenate[str, P], str]:
        @wraps(draw)
        def drawn(plot_id: str, /, *args: P.args, **kwargs: P.kwargs) -> str:
            import matplotlib
            from matplotlib.figure import Figure

            with matplotlib.rc_context(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a letter that the measuring font lacks: the browser will have it
                matplotlib.rcdefaults()  # whatever the user's matplotlibrc says
                matplotlib.rcParams.update(STYLE)
                figure = Figure(figsize=(width, height), layout="constrained")
                label = draw(figure, *args, **kwargs)
                return _svg(figure, plot_id, label)

        return drawn

    return decorate


def _svg(figure: Figure, plot_id: str, label: str) -> str:
    """Return the figure as an <svg> element: ids of its own, colours by variable, no address of any kind."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=ALONE)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\s*|<style.*?</style>\s*|<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'style="[^"]*"', _themed, text)
    text = re.sub(r' id="', f' id="{plot_id}-', text)
    text = text.replace("url(#", f"url(#{plot_id}-").replace('xlink:href="#', f'href="#{plot_id}-')
    box = re.search(r'viewBox="[\d .]+"', text)
    opening = f'<svg {box.group() if box else ""} role="img" aria-label="{escape(plain(label))}">'
    return re.sub(r"<svg.*?>", lambda _: opening, text, count=1, flags=re.DOTALL).strip()


def _themed(style: re.Match[str]) -> str:
    text = re.sub(r"font-family: [^;\"]*", "font-family: var(--font)", style.group())
    text = re.sub(r"(font: [^;\"]*?px )[^;\"]*", r"\1var(--font)", text)
    return re.sub("#00f1[0-9a-f]{2}", lambda c: f"var(--{VARIABLES[c.group()]})", text)
