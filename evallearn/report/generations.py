"""The section of a `learn` page about its generations: strength, gates, prediction, and a row for each."""

from __future__ import annotations

from collections.abc import Callable

from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report import plots
from evallearn.report.formatting import fixed, percent, reference, signed
from evallearn.report.page import badge
from evallearn.report.parts import Cell, Column, elo_interval, figure, figure_of, grid, table, text, words_of


def generations(result: Json) -> str:
    """Return plots and a table; empty if the result has no generations."""
    found = rows(result.get("generations"))
    if not found:
        return ""
    plotted = grid(_strength(found, reference(result)), _gates(found), _loss(found))
    return _told(result) + plotted + table(COLUMNS, found)


def _told(result: Json) -> str:
    found, best = rows(result.get("generations")), number(result.get("champion"))
    if best is None:
        return ""
    places = sum(g.get("promoted") is True for g in found)
    ended = f" The run {text(result['stopped'])}." if result.get("stopped") else ""
    return (
        f"<p>Each generation learns from games of the best evaluator so far, then plays a match against it, its gate. "
        f"{places} of {len(found)} took their incumbent's place; the linear evaluator above is that of generation "
        f"{fixed(best)}.{ended}</p>"
    )


def _known(found: list[Json], key: str) -> bool:
    return any(number(g.get(key)) is not None for g in found)


def _strength(found: list[Json], zero: str) -> str:
    if not _known(found, "elo"):
        return ""
    return figure(
        plots.elo_curve("elo-plot", found, zero),
        "What each generation learned, matched against the same opponent; the band is the 95 % interval. "
        "Hollow: it did not pass its gate.",
        "Strength",
    )


def _gates(found: list[Json]) -> str:
    if not _known([part(g.get("gate")) for g in found], "elo"):
        return ""
    return figure(
        plots.gate_plot("gate-plot", found),
        "Each candidate against the evaluator that made its games; the line is the 95 % interval. Full: promoted.",
        "Gates",
    )


def _loss(found: list[Json]) -> str:
    if not _known(found, "log_loss"):
        return ""
    return figure(
        plots.loss_curve("loss-plot", found),
        "On games that were held out. Generations differ in their games, so compare each point with its own baseline.",
        "Prediction",
    )


# --- the table -------------------------------------------------------------------------------------------------------
def _gate(cell: Callable[[Json], Cell]) -> Callable[[Json], Cell]:
    """Apply `cell` to the gate of a row."""
    return lambda row: cell(part(row.get("gate")))


def _promoted(row: Json) -> Cell:
    if not isinstance(row.get("promoted"), bool):
        return Cell("")
    return Cell(badge("win", "promoted") if row["promoted"] else badge("even", "not promoted"))


def _checksum(row: Json) -> Cell:
    return Cell(f"<code>{text(str(row['checksum'])[:10])}</code>") if row.get("checksum") else Cell("")


COLUMNS = (
    Column("generation", figure_of("generation")),
    Column("played by", words_of("generator"), words=True),
    Column("games", figure_of("games")),
    Column("positions", figure_of("records")),
    Column("gate: Elo", _gate(figure_of("elo", signed))),
    Column("95 % interval", _gate(elo_interval)),
    Column("sure", _gate(figure_of("los", percent))),
    Column("verdict", _promoted, words=True),
    Column("Elo", figure_of("elo", signed)),
    Column("95 % interval", elo_interval),
    Column("log loss", figure_of("log_loss", lambda v: fixed(v, 4))),
    Column("baseline", figure_of("baseline_log_loss", lambda v: fixed(v, 4))),
    Column("checksum", _checksum, words=True),
)
