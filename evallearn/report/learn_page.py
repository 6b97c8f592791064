"""The page of a `learn` result: its sections as one HTML text. What a result lacks, the page leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from evallearn.core.json_shapes import Json, items, number, numbers, part, rows
from evallearn.report import plots
from evallearn.report.curve import GLOSSARY as CURVE_GLOSSARY
from evallearn.report.curve import curve_headline, curve_tiles, curves, last_curve
from evallearn.report.formatting import (
    DASH,
    compact,
    duration,
    fairness,
    fixed,
    headline,
    interval,
    is_learned,
    limit_words,
    reference,
    share,
    short,
    signed,
    verdict,
)
from evallearn.report.generations import generations
from evallearn.report.page import Sections, alarm_box, badge, glossary, made, render_page, tile, top, write_page
from evallearn.report.parts import Cell, Column, elo_interval, figure, figure_of, grid, named, table, text
from evallearn.report.template import GLOSSARY

MOST_FEATURES = 60
"""Rows of the weights' table; beyond, only the heaviest are shown."""


def write_report(result: Json, path: Path | str) -> Path:
    """Write the report of a `learn` result; atomically, so that a half-written page never carries the name."""
    return write_page(render(result), path)


def render(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    return render_page(result, SECTIONS, header=_header(result))


# --- the top ---------------------------------------------------------------------------------------------------------
def _header(result: Json) -> str:
    seed = f"seed {result['seed']}" if "seed" in result else ""
    spent = [s for s in numbers(list(part(result.get("seconds")).values())) if s is not None]
    time = f"made in {duration(sum(spent))}" if spent else ""
    kicker = ("evallearn report", result.get("game"), seed, result.get("run"), time)
    said = headline(result) if _matches(result) or not last_curve(result)[0] else curve_headline(result)
    return top(kicker, said, _tiles(result)) + alarm_box(result)


def _tiles(result: Json) -> str:
    zero = reference(result)
    learned = [
        e for e in _matches(result) if is_learned(e) and e.get("name") != zero and number(e.get("elo")) is not None
    ]
    tiles = [_verdict_tile(e, zero) for e in learned] or curve_tiles(result)
    return grid(*tiles, kind="tiles")


def _verdict_tile(entry: Json, zero: str) -> str:
    kind, opponent = verdict(entry), text(short(zero) or "the reference")
    said = {"win": f"beats {opponent}", "loss": f"weaker than {opponent}", "even": "undecided"}[kind]
    label = " ".join(filter(None, (text(entry.get("name")), fairness(entry))))
    return tile(label, signed(entry.get("elo")), f"Elo, 95 %: {interval(entry)}", badge(kind, said))


def _matches(result: Json) -> list[Json]:
    return [*rows(result.get("ladder")), *rows(result.get("equal_time"))]


# --- sections --------------------------------------------------------------------------------------------------------
def _ladder(result: Json) -> str:
    entries = _matches(result)
    if not entries:
        return ""
    plot = plots.ladder("ladder-plot", result) if any(number(e.get("elo")) is not None for e in entries) else ""
    zero = text(reference(result) or "the reference")
    timed = "<p>Diamonds: the same agents with the same time for a move.</p>" if rows(result.get("equal_time")) else ""
    weak = "<p>An arrow at the left edge: weaker than the scale reaches.</p>" if _off_scale(entries) else ""
    caption = f"""<p>Each dot is a match against <b>{zero}</b>, which is 0 by definition; further right is stronger.</p>
<p>The line through a dot is its 95 % interval. If it does not touch the dashed line at 0, the match has decided.</p>
{timed}{weak}"""
    return (figure(plot, caption, beside=True) if plot else "") + table(
        LADDER, sorted(entries, key=lambda e: -(number(e.get("elo")) or 0.0))
    )


def _off_scale(entries: list[Json]) -> bool:
    return any((number(e.get("elo")) or 0.0) < plots.WEAKEST for e in entries)


def _own(key: str, unit: float = 1.0) -> Callable[[Json], Cell]:
    """Return a function that makes the cell with the agent's own figure; its opponent's is the second of the two."""

    def cell(row: Json) -> Cell:
        own = (numbers(row.get(key)) or [None])[0]
        return Cell(DASH) if own is None else Cell(compact(own * unit), own)

    return cell


def _score(row: Json) -> Cell:
    counts = [number(row.get(k)) for k in ("wins", "draws", "losses")]
    if any(c is None for c in counts) or not any(counts):  # the reference does not play itself
        return Cell(DASH)
    w, d, n = (counts[0] or 0), (counts[1] or 0), sum(c or 0 for c in counts)
    return Cell(" / ".join(fixed(c) for c in counts), (w + d / 2) / n)


LADDER = (
    Column("agent", named, words=True),
    Column("search", lambda r: Cell(text(limit_words(r.get("limit")))), words=True),
    Column("Elo", figure_of("elo", signed)),
    Column("95 % interval", elo_interval),
    Column("games", figure_of("games")),
    Column("distinct", figure_of("distinct_games")),
    Column("W / D / L", _score),
    Column("nodes / move", _own("nodes_per_move")),
    Column("µs / move", _own("seconds_per_move", 1e6)),
)


def _training(result: Json) -> str:
    cards = []
    for i, (name, fit) in enumerate(part(result.get("fits")).items()):
        history = rows(part(fit).get("history"))
        if history:
            plot = plots.training_curve(f"training-plot-{i}", history, str(name))
            cards.append(figure(plot, f"<h3>{text(name)}</h3>{TRAINING}", beside=True))
    return grid(*cards, kind="wide")


TRAINING = """<p>An epoch is one pass over the training records. The validation records come from games that the
network did not learn from, and the epoch with the least loss there is kept. The held-out figures elsewhere come from
games that had no say in that either.</p>
<p>Where it stops falling while the training loss still does, the network begins to learn its games by heart.</p>"""


def _calibration(result: Json) -> str:
    fits = [{"name": str(n), **part(part(f).get("metrics"))} for n, f in part(result.get("fits")).items()]
    fits = [f for f in fits if len(f) > 1]
    cards = [
        figure(
            plots.calibration(f"calibration-plot-{i}", str(f["name"]), f),
            f"{fixed(f.get('n_records'))} held-out positions",
        )
        for i, f in enumerate(fits)
        if rows(f.get("calibration"))
    ]
    return CALIBRATION + grid(*cards) + table(FITS, fits) if fits else ""


CALIBRATION = """<p>Does a value mean what it says? On the dashed diagonal, prediction and outcome agree; a flatter
curve is overconfident, a steeper one too modest. Thin lines are 95 % intervals, by games; faint bars show how the
positions are spread over the values.</p>"""
FITS = (
    Column("Evaluator", named, words=True),
    Column("held-out positions", figure_of("n_records")),
    Column("log loss", figure_of("log_loss", lambda v: fixed(v, 4))),
    Column("baseline", figure_of("baseline_log_loss", lambda v: fixed(v, 4))),
    Column("Brier score", figure_of("brier", lambda v: fixed(v, 4))),
    Column("winner named", lambda r: Cell(share(r, "sign_accuracy"), number(r.get("sign_accuracy")))),
    Column("calibration error", figure_of("calibration_error", lambda v: fixed(v, 4))),
)


# --- weights ---------------------------------------------------------------------------------------------------------
def _weights(result: Json) -> str:
    given = part(result.get("weights"))
    names, phases = [str(n) for n in items(given.get("features"))], [numbers(w) for w in items(given.get("weights"))]
    if not names or not phases or any(len(w) != len(names) for w in phases):
        return ""
    spread = numbers(given.get("spread"))
    scaled = len(spread) == len(names)
    effect = [
        [(w or 0.0) * ((s or 0.0) if scaled else 1.0) for w, s in zip(p, spread if scaled else p, strict=True)]
        for p in phases
    ]
    most = max((abs(v) for p in effect for v in p), default=0.0) or 1.0
    heavy = sorted(range(len(names)), key=lambda j: -max(abs(p[j]) for p in effect))[:MOST_FEATURES]
    lines = "\n".join(_weight_row(names[j], [p[j] for p in effect], most) for j in sorted(heavy))
    return _weights_intro(scaled, len(names)) + _weights_table(len(phases), lines, numbers(given.get("bias")), most)


def _weights_intro(scaled: bool, n: int) -> str:
    what = (
        "How much a feature moves the linear evaluator before the squashing, in the view of the player it speaks for. "
    )
    shown = (
        "Shown is weight × spread (the standard deviation of the feature in the data): so features are comparable. "
        if scaled
        else "Shown are the raw weights: a feature with large values has a small weight. "
    )
    fewer = f"The {MOST_FEATURES} heaviest of {fixed(n)} features." if n > MOST_FEATURES else ""
    return f"<p>{what}{shown}Blue speaks for a win, orange for a loss. {fewer}</p>"


def _weights_table(n_phases: int, lines: str, bias: list[float | None], most: float) -> str:
    ends = {0: "0 (start)", n_phases - 1: f"{n_phases - 1} (end)"} if n_phases > 1 else {0: "weight"}
    heads = ["feature"] + [("phase " if n_phases > 1 else "") + ends.get(k, str(k)) for k in range(n_phases)]
    head = "".join(f'<th scope="col"><button type="button">{h}</button></th>' for h in heads)
    foot = ""
    if len(bias) == n_phases:
        cells = "".join(f"<td>{_weight(b, most)}</td>" for b in bias)
        foot = f'<tfoot><tr><th scope="row">(bias)</th>{cells}</tr></tfoot>'
    return f"""<div class="card scroll"><table class="sortable heat" style="--n:{n_phases}">
<thead><tr>{head}</tr></thead>
<tbody>
{lines}
</tbody>{foot}</table></div>"""


def _weight_row(name: str, values: list[float], most: float) -> str:
    cells = "".join(
        f'<td class="{"minus" if v < 0 else "plus"}" style="--a:{0.75 * abs(v) / most:.3f}" data-v="{v!r}">'
        f"{_weight(v, most)}</td>"
        for v in values
    )
    return f'<tr><th scope="row">{text(name)}</th>{cells}</tr>'


def _weight(value: float | None, most: float) -> str:
    """Format a weight: three digits of the largest one, and as many decimals for the others."""
    return fixed(value, max(0, min(6, 2 - math.floor(math.log10(most)))))


# --- how it was made -------------------------------------------------------------------------------------------------
def _made(result: Json) -> str:
    facts = {k: result[k] for k in ("game", "recipe", "seed", "run", "records", "evallearn") if k in result}
    return made(result, facts | dict(part(result.get("settings"))))


SECTIONS: Sections = {
    "ladder": ("Elo ladder", _ladder),
    "learning": ("Learning curve", generations),
    "curves": ("Games against itself", curves),
    "training": ("Training of the network", _training),
    "calibration": ("Calibration", _calibration),
    "weights": ("Weights", _weights),
    "made": ("How it was made", _made),
    "glossary": ("Glossary", lambda result: glossary(GLOSSARY | (CURVE_GLOSSARY if last_curve(result)[0] else {}))),
}
