"""Pieces of HTML: safe text, sortable tables, figures and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

from evallearn.core.json_shapes import Json, number
from evallearn.report.formatting import DASH, fixed, interval, plain, short_agent


def text(value: object) -> str:
    """Return any value as text that is safe inside an element or a quoted attribute."""
    return escape(plain(value))


class Cell(NamedTuple):
    """One cell of a table: what it shows (HTML), and the number it is sorted by."""

    html: str
    key: float | None = None


class Column(NamedTuple):
    """A column of a table: its head, its cell for a row, and whether it holds words."""

    head: str
    cell: Callable[[Json], Cell]
    words: bool = False


def figure_of(key: str, show: Callable[[object], str] = fixed) -> Callable[[Json], Cell]:
    """Return a function that makes the cell with the number `key` of a row."""
    return lambda row: Cell(show(row.get(key)), number(row.get(key)))


def words_of(key: str) -> Callable[[Json], Cell]:
    return lambda row: Cell(text(row.get(key, "")))


def elo_interval(row: Json) -> Cell:
    """Return the cell that shows the 95 % interval of a row's Elo."""
    return Cell(interval(row), number(row.get("low")))


def table(columns: Sequence[Column], entries: Iterable[Json], *, heading: str = "") -> str:
    """Return a sortable table in a card; the first column heads its row. Columns without any content are left out."""
    made = [[c.cell(e) for c in columns] for e in entries]
    kept = [i for i in range(len(columns)) if i == 0 or any(row[i].html not in ("", DASH) for row in made)]
    heads = "".join(_head(columns[i]) for i in kept)
    lines = "\n".join("<tr>" + "".join(_cell(columns[i], row[i], i == 0) for i in kept) + "</tr>" for row in made)
    title = f"<h3>{heading}</h3>" if heading else ""
    return f"""<div class="card scroll">{title}<table class="sortable"><thead><tr>{heads}</tr></thead>
<tbody>
{lines}
</tbody></table></div>"""


def _head(column: Column) -> str:
    kind = ' class="text"' if column.words else ""
    return f'<th scope="col"{kind}><button type="button">{column.head}</button></th>'


def _cell(column: Column, cell: Cell, first: bool) -> str:
    kind = ' class="text"' if column.words else ""
    key = "" if cell.key is None else f' data-v="{cell.key!r}"'
    return f'<th scope="row"{kind}{key}>{cell.html}</th>' if first else f"<td{kind}{key}>{cell.html}</td>"


def pairs(heading: str, items: Iterable[tuple[str, str]]) -> str:
    """Return a card of names and values (HTML)."""
    lines = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in items)
    return f'<div class="card scroll"><h3>{heading}</h3><table class="pairs"><tbody>{lines}</tbody></table></div>'


def figure(svg: str, caption: str, heading: str = "", *, beside: bool = False) -> str:
    """Return a plot in a card, with its caption (HTML) below or beside it."""
    title = f"<h3>{heading}</h3>" if heading else ""
    kind = "card beside" if beside else "card"
    return f'<figure class="{kind}"><div>{title}{svg}</div><figcaption>{caption}</figcaption></figure>'


def grid(*cards: str, kind: str = "") -> str:
    found = [c for c in cards if c]
    return f'<div class="grid {kind}">' + "\n".join(found) + "</div>" if found else ""


def named(row: Json) -> Cell:
    """Return the name of an agent, with the colour that it has in the plots."""
    name = str(row.get("name", ""))
    kind = f" {name}" if name in ("linear", "neural") else ""
    return Cell(f'<span class="swatch{kind}"></span>{text(name)}')


def agent(name: object) -> str:
    """Return the name of an agent as tables show it: short, its limit below, the whole of it as a title."""
    said, limit = short_agent(name)
    below = f"<small>{text(limit)}</small>" if limit else ""
    return f'<span class="agent" title="{text(name)}">{text(said)}{below}</span>'
