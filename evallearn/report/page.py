"""What every page is made of: a header, sections in their order, how it was made, a glossary.

A page is a table of sections, id -> (title, body of a result); an empty body is left out, and so is its title. Bodies
are built of the pieces in `parts` and the pictures in `plots`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from evallearn.core.files import write_atomically
from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report.formatting import DASH, duration, fixed
from evallearn.report.parts import grid, pairs, text
from evallearn.report.template import document

Sections = Mapping[str, tuple[str, Callable[[Json], str]]]
"""id -> (title, body): the body is HTML, or empty if the result has nothing for it."""
LONG_FIGURE = 9
"""Letters in a tile; a longer figure is set smaller."""


def write_page(page: str, path: Path | str) -> Path:
    """Write a page; atomically, so that a half-written one never carries the name."""
    path = Path(path)
    write_atomically(path, page.encode())
    return path


def render_page(result: Json, sections: Sections, *, header: str, kind: str = "report") -> str:
    """Return the page of a result; `kind` says in its title what it is. The same result gives the same text."""
    bodies = {name: body(result) for name, (_, body) in sections.items()}
    main = "\n".join(
        f'<section id="{name}">\n<h2>{sections[name][0]}</h2>\n{body}\n</section>'
        for name, body in bodies.items()
        if body
    )
    nav = "".join(f'<a href="#{name}">{sections[name][0]}</a>' for name, body in bodies.items() if body)
    footer = f"<p>{text('Made by evallearn ' + str(result.get('evallearn', '')))}. This page needs no network.</p>"
    return document(text(f"{result.get('game', 'evallearn')}: evallearn {kind}"), header, nav, main, footer)


# --- the top ---------------------------------------------------------------------------------------------------------
def top(kicker: Iterable[object], headline: str, tiles: str) -> str:
    """Return the header: small facts, of which empty ones are left out, the sentence that answers, and tiles (HTML)."""
    facts = " · ".join(str(s) for s in kicker if s)
    title = re.sub(r"\(95 %:[^)]*\)", lambda m: m.group().replace(" ", "&nbsp;"), text(headline))
    return f'<p class="kicker">{text(facts)}</p>\n<h1>{title}</h1>\n{tiles}'


def tile(label: str, figure: str, note: str = "", more: str = "") -> str:
    """Return a figure in large letters (all HTML): what it is above, its interval below, and a badge or a bar."""
    below = f"\n<small>{note}</small>" if note else ""
    size = ' class="long"' if len(figure) > LONG_FIGURE else ""
    return f'<div class="card tile"><small>{label}</small><b{size}>{figure}</b>{below}{more}</div>'


def badge(kind: str, said: str) -> str:
    """Return a verdict in its colour; kind: win, loss or even."""
    return f'<span class="badge {kind}">{said}</span>'


def alarm_box(result: Json) -> str:
    """Return the alarms that rang, in a box; a small line if none did; nothing if there was no check."""
    if not isinstance(result.get("alarms"), list):
        return ""
    found = rows(result["alarms"])
    if not found:
        return '<p class="kicker">No alarm rang.</p>'
    items = "".join(f"<li><b>{text(a.get('about', ''))}</b> {text(a.get('text'))}</li>" for a in found)
    return f'<div class="card alarm"><h3>{"Alarm" if len(found) == 1 else "Alarms"}</h3><ul>{items}</ul></div>'


# --- how it was made, and what the words mean ------------------------------------------------------------------------
def to_repeat(result: Json) -> str:
    """Return a card with the command that makes the result again."""
    command = result.get("command")
    card = f'<div class="card"><h3>To repeat it</h3><pre>{text(command)}</pre></div>' if command else ""
    return grid(card, kind="wide")


def made(result: Json, facts: Json) -> str:
    """Return the section on how to repeat it: command, facts, the time for each step, files."""
    files = part(result.get("files"))
    facts = {**facts, "seed": str(facts["seed"])} if "seed" in facts else facts  # a name, not a quantity
    cards = (
        pairs("Settings", ((text(k), _setting(v)) for k, v in facts.items())) if facts else "",
        _seconds(part(result.get("seconds"))),
    )
    paths = pairs("Files", ((text(k), f"<code>{text(v)}</code>") for k, v in files.items())) if files else ""
    return to_repeat(result) + grid(*cards) + grid(paths, kind="wide")


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and number(value) is None):
        return DASH
    return fixed(value) if isinstance(value, int) and abs(value) < 1e15 else text(value)


def _seconds(seconds: Json) -> str:
    known = [(k, x) for k, v in seconds.items() if (x := number(v)) is not None]
    if not known:
        return ""
    most = max(x for _, x in known) or 1.0
    items = [
        f'<tr><th scope="row">{text(k)}</th><td class="share"><i style="width:{100 * x / most:.1f}%"></i></td>'
        f"<td>{duration(x)}</td></tr>"
        for k, x in known
    ]
    total = f'<tr><th scope="row">together</th><td></td><td><b>{duration(sum(x for _, x in known))}</b></td></tr>'
    return f"""<div class="card scroll"><h3>Time for each step</h3><table class="steps"><tbody>
{"".join(items)}
</tbody><tfoot>{total}</tfoot></table></div>"""


def glossary(terms: Mapping[str, str]) -> str:
    entries = "\n".join(f"<dt>{text(term)}</dt><dd>{text(meaning)}</dd>" for term, meaning in terms.items())
    return f'<div class="card"><dl>\n{entries}\n</dl></div>'
