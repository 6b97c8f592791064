"""The page of `evallearn quality`: how well evaluators value positions. What a result lacks, it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evallearn.core.json_shapes import Json, items, number, part, rows
from evallearn.report import plots, quality_plots
from evallearn.report.formatting import DASH, fixed, share, short
from evallearn.report.page import Sections, badge, glossary, render_page, tile, to_repeat, top, write_page
from evallearn.report.parts import Cell, Column, figure, figure_of, grid, pairs, table, text

GLOSSARY = {
    "As good as the best": "The share of positions in which the chosen action is worth as much as the best one. Where "
    "several actions look the same to the evaluator, each counts in equal parts.",
    "Outcome kept": "The share in which a won position stays won and a drawn one drawn. Only where values are exact: "
    "in brackets, how many positions that are.",
    "Given away": "The reference's value of the best action minus that of the chosen one, mean over positions.",
    "Order: actions": "Kendall's tau-b between the evaluator's ordering of the actions and the reference's, mean over "
    "positions: 1 the same order, 0 unrelated, −1 reversed.",
    "Order: positions": "Spearman's correlation between the evaluator's own value of a position, without search, and "
    "the reference's.",
    "Brier score": "The mean of (p − q)², where p and q are the two values as probabilities of a win. 0 is perfect.",
    "Wrong side": "The share of clear positions of which the evaluator takes the wrong side to be better; a value of 0 "
    "counts half, so that knowing nothing is 50 %. A position is clear if it is proven and no draw, or if its "
    "estimated value is at least a tenth of a win.",
    "Swing": "How much the value of a position changes, in the mean, when the search looks one ply deeper. Where it is "
    "large, much depends on where the search happens to stop (the horizon effect).",
    "Odd minus even": "How much better a position looks to the mover at odd depths, where the mover also moves last.",
    "Thrashing": "Going to and fro, because the evaluator sees no difference: stretches of own moves in which the "
    "mover's position returns every second or fourth move, at least twice.",
    "± and intervals": "Standard errors and 95 % intervals: of shares, and of other figures with bounds, by Jeffreys' "
    "prior; of the order of positions and of the swing by bootstrap, where the positions are drawn again with "
    "replacement, many times; of thrashing by games, because the moves of a game have much in common.",
}


def write_quality(result: Json, path: Path | str) -> Path:
    """Write the page of a quality result."""
    return write_page(render_quality(result), path)


def render_quality(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    return render_page(result, SECTIONS, header=_header(result), kind="quality of evaluators")


def _evals(result: Json) -> list[Json]:
    return rows(result.get("evals"))


# --- the top ---------------------------------------------------------------------------------------------------------
def _header(result: Json) -> str:
    said = ["evallearn quality", result.get("game"), f"{fixed(part(result.get('suite')).get('positions'))} positions"]
    return top(said, headline(result), _tiles(result))


def headline(result: Json) -> str:
    """Answer the question in one plain sentence."""
    judged = [(v, e) for e in _evals(result) if (v := number(part(e.get("agreement")).get("value"))) is not None]
    if not judged:
        return "The suite has values of positions only: how the values of these evaluators follow them."
    value, best = max(judged, key=lambda pair: pair[0])
    chance = number(part(best.get("random")).get("agreement"))
    name = quality_plots.name_of(best)
    who = f"Of {len(judged)} evaluators {name} is most often right: it" if len(judged) > 1 else f"{name}"
    return (
        f"{who} chooses an action as good as the best in {fixed(100 * value)} % of positions"
        f"{'' if chance is None else f'; choosing at random would in {fixed(100 * chance)} %'}."
    )


def _tiles(result: Json) -> str:
    return grid(*(_tile(e) for e in _evals(result) if e.get("agreement")), kind="tiles")


def _tile(entry: Json) -> str:
    found = part(entry.get("agreement"))
    value, low, high = (number(found.get(k)) for k in ("value", "low", "high"))
    chance = number(part(entry.get("random")).get("agreement"))
    kind, said = "even", "no better than chance"
    if chance is not None and low is not None and low > chance:
        kind, said = "win", "better than chance"
    elif chance is not None and high is not None and high < chance:
        kind, said = "loss", "worse than chance"
    interval = f"{fixed(100 * (low or 0))} to {fixed(100 * (high or 0))}"
    name, agrees = text(short(entry.get("name"))), fixed(100 * (value or 0))
    return tile(name, f"{agrees} %", f"as good as the best, 95 %: {interval}", badge(kind, said))


# --- sections --------------------------------------------------------------------------------------------------------
def _verdicts(result: Json) -> str:
    cards = []
    for entry in _evals(result):
        sentences = "".join(f"<p>{text(s)}</p>" for s in part(entry.get("verdicts")).values())
        cards.append(f'<div class="card"><h3>{text(entry.get("name"))}</h3>{sentences}</div>')
    return grid(*cards, kind="wide")


def _figures(result: Json) -> str:
    evals = _evals(result)
    if not evals:
        return ""
    left = "".join(f"<p>{text(s)}</p>" for s in items(evals[0].get("left_out")))
    chance = {"name": "(at random)", **{k: {"value": v} for k, v in part(evals[0].get("random")).items()}}
    return table(FIGURES, [*evals, chance]) + left


def _with_error(key: str, digits: int = 3) -> Callable[[Json], Cell]:
    def made(row: Json) -> Cell:
        value, error = (number(part(row.get(key)).get(k)) for k in ("value", "error"))
        if value is None:
            return Cell(DASH)
        places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else digits
        few = number(part(row.get(key)).get("n")) != number(row.get("positions")) and key == "kept"
        shown = fixed(value, places) + ("" if error is None else f" ± {fixed(error, places)}")
        return Cell(shown + (f" ({fixed(part(row[key]).get('n'))})" if few and error is not None else ""), value)

    return made


FIGURES = (
    Column("Evaluator", lambda r: Cell(text(short(r.get("name")))), words=True),
    Column("as good as the best", _with_error("agreement")),
    Column("outcome kept", _with_error("kept")),
    Column("given away", _with_error("loss")),
    Column("order: actions", _with_error("order")),
    Column("order: positions", _with_error("correlation")),
    Column("Brier score", _with_error("brier")),
    Column("wrong side", _with_error("signs")),
)


def _calibration(result: Json) -> str:
    fits = [(e, part(e.get("calibration"))) for e in _evals(result)]
    cards = [
        figure(
            plots.calibration(f"calibration-{i}", quality_plots.name_of(e), metrics),
            f"{fixed(metrics.get('n_records'))} positions",
        )
        for i, (e, metrics) in enumerate(fits)
        if rows(metrics.get("calibration"))
    ]
    return (CALIBRATION + grid(*cards)) if cards else ""


CALIBRATION = """<p>Does a value mean what it says? Across: what the evaluator says of a position; up: what the
reference says of those positions, in the mean. On the dashed diagonal they agree; a flatter curve is overconfident, a
steeper one too modest. Thin lines are 95 % intervals; faint bars show how the positions are spread.</p>"""


def _phases(result: Json) -> str:
    evals = [e for e in _evals(result) if rows(e.get("phases"))]
    if not evals:
        return ""
    caption = """<p>How often the evaluator takes the wrong side to be better, in thirds of the suite by ply (or in the
game's own phases). The dashed line is what knowing nothing gives: 50 %. The thin lines are 95 % intervals.</p>"""
    return figure(quality_plots.phases("phases-plot", evals), caption, beside=True)


def _swing(result: Json) -> str:
    evals = [e for e in _evals(result) if rows(e.get("swings"))]
    if not evals:
        return ""
    grids = []
    for i, first in enumerate(rows(evals[0].get("swings"))):
        cards, setting = [], text(first.get("setting"))
        change = quality_plots.swing(f"swing-{i}", evals, i, "change", "mean change of the value")
        cards.append(figure(change, "From the depth before; depth 0 is the evaluator itself.", f"Value, {setting}"))
        if len(rows(first.get("steps"))) > 1:
            turned = quality_plots.swing(f"turned-{i}", evals, i, "turned", "share of choices that turn")
            cards.append(figure(turned, "No action is best at both depths.", f"Choice, {setting}"))
        grids.append(grid(*cards))
    return SWING + "\n".join(grids) + table(_odd_even(rows(evals[0].get("swings"))), evals)


SWING = """<p>A perfect evaluator would say at once what every depth says. The more the value changes from depth to
depth, the more depends on where the search happens to stop.</p>"""


def _odd_even(swings: list[Json]) -> list[Column]:
    """Return a column for each setting."""

    def cell(i: int) -> Callable[[Json], Cell]:
        return lambda row: _with_error("odd_even")(rows(row.get("swings"))[i])

    columns = [Column(f"odd minus even, {text(s.get('setting'))}", cell(i)) for i, s in enumerate(swings)]
    return [Column("Evaluator", lambda r: Cell(text(short(r.get("name")))), words=True), *columns]


def _thrash(result: Json) -> str:
    found = [{"name": e.get("name"), **part(e.get("thrash"))} for e in _evals(result) if e.get("thrash")]
    examples = [_example(f) for f in found if part(f.get("example"))]
    return table(THRASH, found) + grid(*examples) if found else ""


def _example(found: Json) -> str:
    example = part(found.get("example"))
    moves = " ".join(str(m) for m in items(example.get("moves")))
    board = "\n".join(text(line) for line in str(example.get("board") or example.get("position", "")).splitlines())
    name, length = text(short(found.get("name"))), fixed(example.get("length"))
    return f"""<div class="card"><h3>{name}: {length} moves to and fro</h3>
<pre>{board}</pre><p>{text(moves)} ...</p></div>"""


THRASH = (
    Column("Evaluator", lambda r: Cell(text(short(r.get("name")))), words=True),
    Column("moves to and fro", lambda r: Cell(share(r, "share"), number(r.get("share")))),
    Column("longest stretch", figure_of("longest")),
    Column("moves with a choice", figure_of("moves")),
    Column("games", figure_of("games")),
)


def _made(result: Json) -> str:
    suite, settings = part(result.get("suite")), part(result.get("settings"))
    facts = {"file": suite.get("file") or "made for this page", "judged by": suite.get("by")}
    counts = {"positions": suite.get("positions"), "of them exact": suite.get("exact")}
    about = [(text(k), text(v)) for k, v in facts.items()] + [(text(k), fixed(v)) for k, v in counts.items()]
    options = [(text(str(k).replace("_", " ")), text(v)) for k, v in settings.items()]
    return to_repeat(result) + grid(pairs("The suite", about), pairs("Settings", options))


SECTIONS: Sections = {
    "verdicts": ("Verdicts", _verdicts),
    "figures": ("Figures", _figures),
    "calibration": ("Calibration", _calibration),
    "phases": ("Wrong side, by phase", _phases),
    "swing": ("Swing with depth", _swing),
    "thrash": ("Thrashing", _thrash),
    "made": ("How it was made", _made),
    "glossary": ("Glossary", lambda result: glossary(GLOSSARY)),
}
