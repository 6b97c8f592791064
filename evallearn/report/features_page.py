"""The page of `evallearn features`: what each feature is worth. What a result lacks, it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evallearn.core.json_shapes import Json, items, number, part, rows
from evallearn.report import features_plots
from evallearn.report.formatting import DASH, fixed, interval, signed
from evallearn.report.page import Sections, badge, glossary, made, render_page, tile, top, write_page
from evallearn.report.parts import Cell, Column, figure, grid, table, text

MOST_TILES = 4
MOST_IN_MAP = 40
"""Features in the heat map; of more the ones that are least like others are left out."""
GLOSSARY = {
    "Weight": "What one unit of the feature adds to the value before it is squashed, one weight for all phases of the "
    "game. Per deviation: the same for one standard deviation of the feature, so that features can be compared.",
    "Left out": "A linear evaluator is fitted again without the feature: by how much does the log loss on held-out "
    "games grow? Below 0: the evaluator is better without it. Other features may stand in for it.",
    "Shuffled": "The feature's values are shuffled among the held-out positions, so that they tell nothing: by how "
    "much does the loss of the evaluator grow (permutation importance)? Nothing can stand in for it, so it is larger.",
    "Log loss": "How surprised the evaluator is by the true outcomes of games it has not seen: 0 is perfect "
    "foresight, and 0.693 a coin toss.",
    "Correlation": "+1: two features rise and fall together, 0: unrelated, −1: one rises as the other falls.",
    "Variance inflation": "By how much the uncertainty of a weight grows because other features tell the same. 1: not "
    "at all; above 10 the weight means little on its own.",
    "95 % intervals": "By resampling whole games, never single positions: the positions of a game share its outcome. "
    "Where an interval holds 0, the records do not tell whether the feature is of use.",
    "Elo": "The evaluator fitted with the feature against the one fitted without it, at equal depth. Above 0: it "
    "helps.",
}


def write_features(result: Json, path: Path | str) -> Path:
    """Write the page of a study of features."""
    return write_page(render_features(result), path)


def render_features(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    return render_page(result, SECTIONS, header=_header(result), kind="worth of features")


def _features(result: Json) -> list[Json]:
    """Return the features, the most needed first."""
    return sorted(rows(result.get("features")), key=lambda f: -(number(part(f.get("dropped")).get("value")) or 0.0))


# --- the top ---------------------------------------------------------------------------------------------------------
def _header(result: Json) -> str:
    games = f"{fixed(result.get('held_out_games'))} held-out games"
    facts = ["evallearn features", result.get("game"), f"{fixed(result.get('records'))} records", games]
    return top(facts, headline(result), grid(*map(_tile, _features(result)[:MOST_TILES]), kind="tiles"))


def headline(result: Json) -> str:
    """Answer the question in one plain sentence."""
    features = _features(result)
    needed = [f for f in features if (number(part(f.get("dropped")).get("low")) or 0.0) > 0]
    spare = len(items(result.get("redundant")))
    count = f"{len(features)} features of {result.get('game', 'this game')}"
    if not needed:
        return f"None of the {count} is missed for certain when it alone is left out; {spare} could be left out."
    best = ", ".join(str(f.get("name")) for f in needed[:3])
    verb = "is" if len(needed) == 1 else "are"
    return f"Of the {count}, {best} {verb} missed most when left out; {spare} could be spared."


def _tile(f: Json) -> str:
    dropped = part(f.get("dropped"))
    low = number(dropped.get("low")) or 0.0
    said = badge("win", "needed") if low > 0 else badge("even", "not missed for certain")
    return tile(text(f.get("name")), _loss(dropped.get("value")), f"left out; 95 %: {_between(dropped)}", said)


def _loss(value: object) -> str:
    return fixed(value, 4, sign=True)


def _between(entry: Json, digits: int = 4) -> str:
    return f"{fixed(entry.get('low'), digits, sign=True)} to {fixed(entry.get('high'), digits, sign=True)}"


# --- sections --------------------------------------------------------------------------------------------------------
def _alarms(result: Json) -> str:
    found = rows(result.get("alarms"))
    return grid(*(f'<div class="card"><p>{text(a.get("text"))}</p></div>' for a in found), kind="wide")


def _advice(result: Json) -> str:
    cards = []
    for key, title in (
        ("carriers", "These are missed most when they are left out"),
        ("redundant", LEAVE_OUT),
        ("cautions", "To keep in mind"),
    ):
        said = items(result.get(key))
        if said:
            listed = "".join(f"<li>{text(s)}</li>" for s in said)
            cards.append(f'<div class="card"><h3>{title}</h3><ul>{listed}</ul></div>')
    return grid(*cards, kind="wide")


LEAVE_OUT = "These could be left out: one at a time, then look again"


def _worth(result: Json) -> str:
    features = _features(result)
    if not features:
        return ""
    shuffled = sorted(features, key=lambda f: -(number(part(f.get("shuffled")).get("value")) or 0.0))
    weighed = sorted(features, key=lambda f: -abs(number(part(f.get("effect")).get("value")) or 0.0))
    losses = (
        figure(
            features_plots.bars("dropped-plot", features, "dropped", "growth of the log loss"),
            "Another evaluator is fitted without it; other features may stand in. Grey: the interval holds 0.",
            "Left out",
        ),
        figure(
            features_plots.bars("shuffled-plot", shuffled, "shuffled", "growth of the log loss"),
            "The same evaluator is told nonsense for it, and nothing stands in.",
            f"Shuffled: {text(result.get('eval', ''))}",
        ),
    )
    weights = figure(
        features_plots.bars("weights-plot", weighed, "effect", "weight per standard deviation"),
        "<p>One weight for all phases of the game. To the right: where there is more of the feature, the player to "
        "move is better off.</p>",
        "Weight",
        beside=True,
    )
    return grid(*losses) + weights + table(_columns(features), features)


def _with_interval(key: str, digits: int) -> Callable[[Json], Cell]:
    def cell(row: Json) -> Cell:
        entry = part(row.get(key))
        value = number(entry.get("value"))
        if value is None:
            return Cell(DASH)
        return Cell(f"{fixed(value, digits, sign=True)} <small>({_between(entry, digits)})</small>", value)

    return cell


def _figure(key: str, digits: int, *, sign: bool = False) -> Callable[[Json], Cell]:
    return lambda row: Cell(fixed(row.get(key), digits, sign=sign), number(row.get(key)))


def _partner(row: Json) -> Cell:
    value = number(row.get("partner_correlation"))
    return Cell(f"{text(row.get('partner'))} {fixed(value, 2, sign=True)}" if row.get("partner") else DASH, value)


def _inflation(row: Json) -> Cell:
    value = number(row.get("inflation"))
    return Cell("> 999" if value is not None and value > 999 else fixed(value, 1), value)


def _elo(row: Json) -> Cell:
    match = part(row.get("match"))
    if number(match.get("elo")) is None:
        return Cell(DASH)
    return Cell(f"{signed(match['elo'])} <small>({interval(match)})</small>", number(match["elo"]))


COLUMNS = (
    Column("feature", lambda r: Cell(text(r.get("name"))), words=True),
    Column("weight", _with_interval("weight", 3)),
    Column("left out", _with_interval("dropped", 4)),
    Column("shuffled", _with_interval("shuffled", 4)),
    Column("Elo", _elo),
)
TIES = (
    COLUMNS[0],
    Column("correlation with the outcome", _figure("outcome_correlation", 2, sign=True)),
    Column("most like", _partner),
    Column("variance inflation", _inflation),
)


def _columns(features: list[Json]) -> list[Column]:
    played = any(part(f.get("match")) for f in features)
    return [c for c in COLUMNS if c.head != "Elo" or played]


def _phases(result: Json) -> str:
    """Return the weights of each phase, where there are several."""
    features = _features(result)
    n = max((len(rows(f.get("phases"))) for f in features), default=0)
    if n < 2:
        return ""

    def cell(k: int) -> Callable[[Json], Cell]:
        return lambda row: _with_interval("at", 2)({"at": _per_deviation(row, k)})

    name = Column("feature", lambda r: Cell(text(r.get("name"))), words=True)
    return PHASES + table([name, *(Column(f"phase {k}", cell(k)) for k in range(n))], features)


def _per_deviation(row: Json, k: int) -> Json:
    """Return the weight in phase k per standard deviation: per unit, some are too small for two digits."""
    deviation, entry = number(row.get("deviation")) or 0.0, rows(row.get("phases"))[k]
    return {key: deviation * (number(entry.get(key)) or 0.0) for key in ("value", "low", "high")}


PHASES = """<p>The weights of the fitted evaluator, per standard deviation of the feature, from the beginning of the
game (phase 0) to its end. A phase with few records stays close to the common weights.</p>"""


# --- the heat map ----------------------------------------------------------------------------------------------------
def _correlation(result: Json) -> str:
    matrix, features = [items(row) for row in items(result.get("correlation"))], rows(result.get("features"))
    if len(matrix) != len(features) or len(features) < 2:
        return ""
    order = sorted(range(len(features)), key=lambda i: -abs(number(features[i].get("partner_correlation")) or 0.0))
    kept = sorted(order[:MOST_IN_MAP])
    heads = "".join(f'<th scope="col" title="{text(features[i].get("name"))}">{k + 1}</th>' for k, i in enumerate(kept))
    lines = [
        f'<tr><th scope="row">{k + 1} {text(features[i].get("name"))}</th>'
        + "".join(_square(matrix[i][j], i == j) for j in kept)
        + "</tr>"
        for k, i in enumerate(kept)
    ]
    left = f" {len(features) - len(kept)} that are least like others are left out." if len(kept) < len(features) else ""
    return f"""<p>Blue: the two rise and fall together; orange: one rises as the other falls. In hundredths.{left}</p>
<div class="card scroll"><table class="heat cross" style="--n:{len(kept)}">
<thead><tr><th>feature</th>{heads}</tr></thead>
<tbody>
{"".join(lines)}
</tbody></table></div>{table(TIES, features)}"""


def _square(value: object, itself: bool) -> str:
    x = number(value)
    if x is None or itself:
        return f"<td{SMALL}></td>"
    shown = fixed(100 * x) if abs(x) >= 0.05 else ""
    return f'<td class="{"plus" if x >= 0 else "minus"}" style="--a:{0.75 * abs(x):.2f};{SQUARE}">{shown}</td>'


SQUARE = "min-width:34px;padding:6px 2px"
SMALL = f' style="{SQUARE}"'


# --- the end ---------------------------------------------------------------------------------------------------------
def _made(result: Json) -> str:
    facts = {
        "records": ", ".join(map(str, items(result.get("folders")))),
        "Evaluator that was shuffled": result.get("eval"),
        "its held-out log loss": fixed(result.get("log_loss"), 4),
        "that of the fitted evaluator": fixed(result.get("fitted_log_loss"), 4),
        "that of a constant": fixed(result.get("baseline_log_loss"), 4),
        **{k: v for k, v in part(result.get("settings")).items() if v is not None},
    }
    return made(result, facts)


SECTIONS: Sections = {
    "alarms": ("Alarms", _alarms),
    "advice": ("Advice", _advice),
    "worth": ("Worth", _worth),
    "phases": ("By phase", _phases),
    "correlation": ("Correlation", _correlation),
    "made": ("How it was made", _made),
    "glossary": ("Glossary", lambda result: glossary(GLOSSARY)),
}
