"""The page of a tournament or a ladder: one rating list over all its matches, and who did what against whom.

Its input is `TournamentResult.to_json()` and what the caller knows beside it: kinds, answer, command, folder, files,
evallearn. What is missing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evallearn.core.json_shapes import Json, number, part, rows
from evallearn.report import arena_plots
from evallearn.report.formatting import (
    DASH,
    compact,
    fixed,
    interval,
    percent,
    short_agent,
    signed,
    stopped_words,
    sureness,
)
from evallearn.report.matches import by_game, costs_of, names_of, seen_by_b
from evallearn.report.page import Sections, glossary, made, render_page, tile, top, write_page
from evallearn.report.parts import Cell, Column, agent, figure, figure_of, grid, table, text
from evallearn.report.template import ARENA_GLOSSARY

MOST_TILES = 5


def write_tournament_report(result: Json, path: Path | str) -> Path:
    """Write the page of a tournament or a ladder; atomically, so that a half-written page never carries the name."""
    return write_page(render_tournament(result), path)


def render_tournament(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    kind = "ladder" if result.get("answer") else "tournament"
    kicker = (f"evallearn {kind}", result.get("game"), _seed(result), result.get("folder"))
    header = top(kicker, tournament_headline(result), _tiles(result))
    return render_page(result, SECTIONS, header=header, kind=kind)


def _seed(result: Json) -> str:
    seeds = {str(m["seed"]) for m in (result, *rows(result.get("matches"))) if m.get("seed") is not None}
    return f"seed {seeds.pop()}" if len(seeds) == 1 else ""


# --- in one sentence -------------------------------------------------------------------------------------------------
def tournament_headline(result: Json) -> str:
    """Return the answer if the result has one, or else who is first, and whether that is clear."""
    if result.get("answer"):
        return _shortened(str(result["answer"]), [str(r.get("name", "")) for r in _entries(result)])
    entries = _entries(result)
    if not entries:
        return "No agent has been rated yet."
    first, anchor = entries[0], str(result.get("anchor", ""))
    said = f"{_called(first.get('name'))} comes first of {len(entries)} agents"
    said += f" in {result['game']}" if result.get("game") else ""
    if anchor and first.get("name") != anchor:
        said += f", {signed(first['elo'])} Elo over {_called(anchor)} (95 %: {interval(first)})"
    return f"{said}{_runner_up(entries)}."


def _runner_up(entries: list[Json]) -> str:
    if len(entries) < 2:
        return ""
    first, second = entries[:2]
    sure = f" ({sureness(first['los_next'])} sure)" if number(first.get("los_next")) is not None else ""
    ahead = (number(first["elo"]) or 0.0) - (number(second["elo"]) or 0.0)
    return f"; {_called(second.get('name'))} is {fixed(ahead)} Elo behind{sure}"


def _called(name: object) -> str:
    """Name an agent as in a sentence."""
    said, limit = short_agent(name)
    return f"{said} at {limit}" if limit else said


def _shortened(sentence: str, names: list[str]) -> str:
    """Return the sentence with short names; the longest first, because one may be the beginning of another."""
    for name in sorted(filter(None, names), key=len, reverse=True):
        sentence = sentence.replace(name, _called(name))
    return re.sub(r"(?<=[ (])-(?=\d)", "−", sentence)


# --- the list --------------------------------------------------------------------------------------------------------
def _entries(result: Json) -> list[Json]:
    """Return the ratings that have a figure, strongest first.

    Each has rank, kind, games and costs; the anchor is `fixed`.
    """
    known = [r for r in rows(result.get("ratings")) if number(r.get("elo")) is not None]
    known.sort(key=lambda r: -(number(r.get("elo")) or 0.0))
    return [{**r, "rank": i, **_details(str(r.get("name", "")), result)} for i, r in enumerate(known, 1)]


def _details(name: str, result: Json) -> Json:
    kind = str(part(result.get("kinds")).get(name) or "")
    return {"kind": kind, "fixed": name == result.get("anchor"), **_totals(name, rows(result.get("matches")))}


def _totals(name: str, matches: list[Json]) -> dict[str, float]:
    """Return the games of an agent, and its costs as the mean over its matches."""
    own = [(m, names_of(m).index(name)) for m in matches if name in names_of(m)]
    games = [g for m, _ in own if (g := number(m.get("games"))) is not None]
    costs = [costs_of(m, side) for m, side in own]
    found = {k: [c[k] for c in costs if k in c] for k in ("nodes", "us")}
    return {k: sum(v) / len(v) for k, v in found.items() if v} | ({"games": sum(games)} if games else {})


def _tiles(result: Json) -> str:
    """Return tiles of the best of each kind; without kinds, of the best."""
    entries = _entries(result)
    kinds = dict.fromkeys(e["kind"] for e in entries)
    best = [next(e for e in entries if e["kind"] == k) for k in kinds] if len(kinds) > 1 else entries[:3]
    return grid(*map(_best_tile, best[:MOST_TILES]), kind="tiles")


def _best_tile(entry: Json) -> str:
    kind = str(entry["kind"])
    label = f"{_swatch(kind)}{text(_kind_words(kind))}" if kind else f"rank {entry['rank']}"
    sure = "0 Elo by definition" if entry["fixed"] else f"Elo, 95 %: {interval(entry)}"
    return tile(label, signed(entry["elo"]), f"{agent(entry.get('name'))}{sure}")


def _swatch(kind: object) -> str:
    known = f" {kind}" if kind in arena_plots.KIND_COLOURS else ""
    return f'<span class="swatch{known}"></span>'


def _kind_words(kind: object) -> str:
    return arena_plots.KIND_WORDS.get(str(kind), str(kind))


def _ratings(result: Json) -> str:
    entries, anchor = _entries(result), str(result.get("anchor") or "")
    if not entries:
        return ""
    zero = f" against <b>{text(_called(anchor))}</b>, which is 0 by definition" if anchor else ""
    weak = "<p>An arrow at the left edge: weaker than the scale reaches.</p>" if arena_plots.off_scale(entries) else ""
    caption = f"""<p>Each dot is the strength of an agent{zero}; further right is stronger. All matches count, also
those that two agents played against a third.</p>
<p>The line through a dot is its 95 % interval. Two that overlap may still be told apart: see the match of the two.</p>
{weak}"""
    caption += f"<p>{stopped}</p>" if (stopped := stopped_words(result)) else ""
    plot = arena_plots.ratings("ratings-plot", entries, anchor)
    return figure(plot, caption, beside=True) + table(RATINGS, entries)


RATINGS = (
    Column("rank", figure_of("rank")),
    Column("agent", lambda r: Cell(_swatch(r["kind"]) + agent(r.get("name"))), words=True),
    Column("kind", lambda r: Cell(text(_kind_words(r["kind"]))), words=True),
    Column("Elo", figure_of("elo", signed)),
    Column("95 % interval", lambda r: Cell(DASH) if r["fixed"] else Cell(interval(r), number(r.get("low")))),
    Column("over next", figure_of("los_next", sureness)),
    Column("score", figure_of("score", percent)),
    Column("games", figure_of("games")),
    Column("nodes / move", figure_of("nodes", compact)),
    Column("µs / move", figure_of("us", compact)),
)


# --- the cross table -------------------------------------------------------------------------------------------------
def _cross(result: Json) -> str:
    entries, met = _entries(result), _meetings(rows(result.get("matches")))
    names = [str(e.get("name")) for e in entries]
    if not any((a, b) in met for a in names for b in names):
        return ""
    heads = "".join(f'<th scope="col" title="{text(n)}">{i}</th>' for i, n in enumerate(names, 1))
    lines = "\n".join(_cross_row(i, n, names, met) for i, n in enumerate(names, 1))
    return f"""{CROSS}<div class="card scroll"><table class="heat cross" style="--n:{len(names)}">
<thead><tr><th scope="col">row against column</th>{heads}</tr></thead>
<tbody>
{lines}
</tbody></table></div>"""


CROSS = """<p>The score of the row against the column, and below it the Elo that this one match shows: blue where the
row is ahead, orange where it is behind. Wins, draws and losses appear when you point at a field.</p>"""


def _cross_row(rank: int, name: str, names: list[str], met: Mapping[tuple[str, str], Json]) -> str:
    cells = "".join(_cross_cell(name, other, met.get((name, other))) for other in names)
    return f'<tr><th scope="row">{rank} {agent(name)}</th>{cells}</tr>'


def _cross_cell(name: str, other: str, match: Json | None) -> str:
    score = number(match.get("score")) if match else None
    if match is None or score is None:
        return "<td></td>" if name != other else '<td aria-label="itself">·</td>'
    lead = min(max(2 * score - 1, -1.0), 1.0)
    unit = "games" if by_game(match) else "openings"
    counts = ", ".join(f"{fixed(match.get(k))} {k}" for k in ("wins", "draws", "losses"))
    title = text(f"{_called(name)} against {_called(other)}: {counts} ({unit}); Elo {interval(match)}")
    return (
        f'<td class="{"minus" if lead < 0 else "plus"}" style="--a:{0.7 * abs(lead):.3f}" title="{title}">'
        f"{percent(score, 0)}<small>{signed(match.get('elo'))}</small></td>"
    )


def _meetings(matches: list[Json]) -> dict[tuple[str, str], Json]:
    """Return (row, column) -> the match from the side of the row."""
    found: dict[tuple[str, str], Json] = {}
    for m in matches:
        a, b = names_of(m)
        found[a, b], found[b, a] = m, seen_by_b(m)
    return found


# --- the matches -----------------------------------------------------------------------------------------------------
def _matches(result: Json) -> str:
    matches = rows(result.get("matches"))
    return table(MATCHES, matches) if matches else ""


def _results(row: Json) -> Cell:
    counts = [row.get(k) for k in ("wins", "draws", "losses")]
    known = any(number(c) is not None for c in counts)
    return Cell(" / ".join(fixed(c) for c in counts), number(row.get("score"))) if known else Cell(DASH)


def _forfeited(row: Json) -> Cell:
    n = len(rows(row.get("forfeits")))
    return Cell(fixed(n), n) if n else Cell(DASH)


MATCHES = (
    Column("A", lambda r: Cell(agent(names_of(r)[0])), words=True),
    Column("B", lambda r: Cell(agent(names_of(r)[1])), words=True),
    Column("Elo of A", figure_of("elo", signed)),
    Column("95 % interval", lambda r: Cell(interval(r), number(r.get("low")))),
    Column("LOS", figure_of("los", sureness)),
    Column("score", figure_of("score", percent)),
    Column("W / D / L", _results),
    Column("games", figure_of("games")),
    Column("distinct", figure_of("distinct_games")),
    Column("forfeited", _forfeited),
)


def _made(result: Json) -> str:
    matches = rows(result.get("matches"))
    games = [g for m in matches if (g := number(m.get("games"))) is not None]
    told = {"game": result.get("game"), "agents": len(_entries(result)) or None, "0 Elo": result.get("anchor")}
    told |= {"seed": _seed(result).removeprefix("seed ") or None, "matches": len(matches) or None}
    told |= {"games": int(sum(games)) if games else None}
    told |= {k: result.get(k) for k in ("folder", "evallearn")}
    return made(result, {k: v for k, v in told.items() if v not in (None, "")})


TERMS = ARENA_GLOSSARY | {
    "Rating": "One figure for each agent, so that the points of all matches together are most likely (Bradley-Terry). "
    "Only differences mean something, so one agent, the anchor, is set to 0.",
    "Over next": "How sure it is that an agent is stronger than the one below it in the list.",
}

SECTIONS: Sections = {
    "ratings": ("Ratings", _ratings),
    "cross": ("Cross table", _cross),
    "matches": ("Matches", _matches),
    "made": ("How it was made", _made),
    "glossary": ("Glossary", lambda result: glossary(TERMS)),
}
