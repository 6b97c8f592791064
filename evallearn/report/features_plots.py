"""The plots of a page about features: bars with 95 % intervals, one row for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evallearn.core.json_shapes import Json, part
from evallearn.report.formatting import cut, estimate, fixed, plain
from evallearn.report.plots import whiskers
from evallearn.report.svg import CARD, INK, LINEAR, MUTED, OTHER, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME_LENGTH = 24
ROW = 0.27
"""Inches for each feature."""


def bars(plot_id: str, features: Sequence[Json], key: str, label: str) -> str:
    """Draw the figure `key` of each feature with its interval; one that holds 0 is pale."""
    return drawing(5.4, 0.9 + ROW * max(3, len(features)))(_bars)(plot_id, features, key, label)


def _bars(figure: Figure, features: Sequence[Json], key: str, label: str) -> str:
    ax = figure.add_subplot()
    figures = [estimate(part(f.get(key))) for f in features]
    names = [name_of(f) for f in features]
    at = range(len(features))
    sure = [low > 0 or high < 0 for _, low, high in figures]
    ax.barh(at, [v for v, *_ in figures], 0.62, color=[LINEAR if s else OTHER for s in sure], alpha=0.75)
    values = [v for v, *_ in figures]
    ax.errorbar(values, list(at), xerr=whiskers(figures), fmt="none", ecolor=INK, elinewidth=1.1, capsize=2)
    ax.axvline(0, color=MUTED, linewidth=1.2)
    ax.set_yticks(list(at), names)
    ax.set(xlabel=label, facecolor=CARD)
    ax.invert_yaxis()
    ax.margins(y=0.02)
    ax.grid(axis="y", visible=False)
    said = ", ".join(f"{n} {fixed(v, 4)}" for n, (v, *_) in list(zip(names, figures, strict=True))[:5])
    return f"{label}: {said}"


def name_of(feature: Json) -> str:
    """Return a feature's name for an axis: on one line, and not too long."""
    return cut(plain(feature.get("name", "")).replace("_", " "), NAME_LENGTH)
