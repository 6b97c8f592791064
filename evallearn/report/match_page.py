"""The page of a match: who is stronger, how sure that is, what it cost and how the games ended.

Its input is `MatchResult.to_json()` and what the caller knows beside it: command, folder, files, evallearn. What is
missing is left out.
"""

from __future__ import annotations

from pathlib import Path

from evallearn.core.json_shapes import Json, JsonDict, number, numbers, part, rows
from evallearn.report import arena_plots
from evallearn.report.formatting import (
    DASH,
    bounded,
    compact,
    fixed,
    interval,
    percent,
    points,
    signed,
    sureness,
    verdict,
)
from evallearn.report.matches import by_game, called, costs_of, is_corrected, is_stopped, names_of, seen_by_b, sides
from evallearn.report.page import Sections, badge, glossary, made, render_page, tile, top, write_page
from evallearn.report.parts import Cell, Column, agent, figure, figure_of, grid, table, text
from evallearn.report.template import MATCH_GLOSSARY

MOST_FORFEITS = 50
"""Rows of their table."""


def write_match_report(result: Json, path: Path | str) -> Path:
    """Write the page of a match; atomically, so that a half-written page never carries the name."""
    return write_page(render_match(result), path)


def render_match(result: Json) -> str:
    """Return the page; the same result gives the same text."""
    seed = f"seed {result['seed']}" if result.get("seed") is not None else ""
    who = [f"{side}: {called(name)}" for side, name in zip("AB", names_of(result), strict=True) if result.get("names")]
    kicker = ("evallearn match", result.get("game"), *who, seed, result.get("folder"))
    header = top(kicker, match_headline(result), _tiles(result))
    return render_page(result, SECTIONS, header=header, kind="match")


# --- in one sentence -------------------------------------------------------------------------------------------------
def match_headline(result: Json) -> str:
    """Say who is stronger, or that nobody knows; or what the SPRT has decided."""
    a, b, alike = sides(result)
    elo, sure, sprt = number(result.get("elo")), f"95 %: {interval(result)}", part(result.get("sprt"))
    played = f"{fixed(result['games'])} games" if number(result.get("games")) else "games"
    played += f" of {result['game']}" if result.get("game") else ""
    played += f" at {alike}" if alike else ""
    if elo is None:
        return f"{a} has not been measured against {b}."
    if sprt.get("decision") in ("H0", "H1"):
        return f"{_decided(sprt, a, b)} after {played}; {signed(elo)} Elo ({sure}), {_about_the_stop(result)}."
    counted = _counted(result)
    if verdict(result) == "even":
        said = f"{a} and {b} cannot be told apart in {played}: {signed(elo)} Elo for {a} ({sure}), {counted}"
    elif verdict(result) == "win":
        said = f"{a} beats {b} by {fixed(elo)} Elo ({sure}) in {played}: {counted}"
    else:
        said = f"{a} loses to {b} by {fixed(-elo)} Elo (95 %: {interval(seen_by_b(result))}) in {played}: {counted}"
    return said.rstrip(":, ") + ("; the SPRT has not decided." if sprt else ".")


def _about_the_stop(result: Json) -> str:
    return "corrected for the stop" if is_corrected(result) else "not corrected for the stop"


def _counted(result: Json) -> str:
    counts = [number(result.get(k)) for k in ("wins", "draws", "losses")]
    if None in counts:
        return ""
    w, d, n = (fixed(c) for c in counts)
    if by_game(result):
        return f"{w} won, {d} drawn, {n} lost"
    return f"more points in {w} of {fixed(result.get('pairs'))} openings, as many in {d}, fewer in {n}"


def _decided(sprt: Json, a: str, b: str) -> str:
    unit = "normalised Elo" if str(sprt.get("model", "")).startswith("normal") else "Elo"
    terms = {h: f" ({signed(sprt[k])} {unit})" if number(sprt.get(k)) is not None else ""
             for h, k in (("H0", "elo0"), ("H1", "elo1"))}  # fmt: skip
    if sprt["decision"] == "H1":
        return f"{a} passes the test against {b}: the SPRT accepts H1{terms['H1']} over H0{terms['H0']}"
    return f"{a} does not pass the test against {b}: the SPRT accepts H0{terms['H0']} over H1{terms['H1']}"


# --- tiles -----------------------------------------------------------------------------------------------------------
def _tiles(result: Json) -> str:
    score = los = ""
    if number(result.get("score")) is not None:
        sets = f"mean of {fixed(result.get('pairs'))} sets" if number(result.get("pairs")) else ""
        sets += "<br>not corrected for the stop" if is_stopped(result) else ""
        score = tile("Score of A", percent(result["score"]), sets)
    if number(result.get("los")) is not None:
        los = tile("LOS", sureness(result["los"]), "how sure it is that A is stronger")
    return grid(_elo(result), score, _results(result), los, _gauge(part(result.get("sprt"))), kind="tiles")


def _elo(result: Json) -> str:
    if number(result.get("elo")) is None:
        return ""
    kind, note = verdict(result), f"95 %: {interval(result)}"
    counted = number(part(result.get("stop")).get("elo_as_counted"))
    if is_stopped(result):
        note += f"<br>{_about_the_stop(result)}"
        note += f" (counted: {signed(counted)})" if is_corrected(result) and counted is not None else ""
    if number(result.get("nelo")) is not None and bounded(result):  # else no deviation is known to measure it by
        ends = {"low": result.get("nelo_low"), "high": result.get("nelo_high"), "games": 1}
        note += f"<br>normalised {signed(result['nelo'])} ({interval(ends)})"
    said = {"win": "A is stronger", "loss": "B is stronger", "even": "undecided"}[kind]
    return tile("Elo of A over B", signed(result["elo"]), note, badge(kind, said))


def _results(result: Json) -> str:
    counts = [number(result.get(k)) for k in ("wins", "draws", "losses")]
    known = [c for c in counts if c is not None]
    if len(known) < 3 or sum(known) <= 0:
        return ""
    what = "games" if by_game(result) else "openings, by who had more points"
    bars = "".join(f'<i style="width:{100 * c / sum(known):.2f}%"></i>' for c in known)
    figures = " / ".join(fixed(c) for c in known)
    return tile("Won / drawn / lost", figures, f"{fixed(sum(known))} {what}", f'<div class="results">{bars}</div>')


def _gauge(sprt: Json) -> str:
    """Draw the log-likelihood ratio between the two bounds at which the test stops."""
    llr, lower, upper = (number(sprt.get(k)) for k in ("llr", "lower", "upper"))
    if llr is None or lower is None or upper is None or not lower < upper:
        return ""
    at = 100 * (min(max(llr, lower), upper) - lower) / (upper - lower)
    ends = f"<small><span>H0 {fixed(lower, 2)}</span><span>{fixed(upper, 2)} H1</span></small>"
    said = {"H1": badge("win", "H1 accepted"), "H0": badge("loss", "H0 accepted")}
    decision = said.get(str(sprt.get("decision")), badge("even", "not decided"))
    bar = f'<div class="gauge"><i style="left:{at:.1f}%"></i></div>{ends}{decision}'
    return tile("SPRT: log-likelihood ratio", fixed(llr, 2, sign=True), "", bar)


# --- sections --------------------------------------------------------------------------------------------------------
def _curve(result: Json) -> str:
    found = arena_plots.curve_points(result.get("curve"))
    if not found:
        return ""
    a, b, _ = (text(s) for s in sides(result))
    stopped = ""
    if is_stopped(result):
        end = f"The Elo above is {_about_the_stop(result)}."
        stopped = f"""<p>The SPRT stopped the match at a moment when it looked clear: the curve, which shows what was
counted, ends too far out. {end}</p>"""
    caption = f"""<p>A is <b>{a}</b>, B is <b>{b}</b>. Above the dashed line A is ahead.</p>
<p>The band is the 95 % interval after so many sets. It narrows with the root of their number: half the width takes four
times the games. Only its last value counts; to stop whenever it leaves out 0 would find a winner by chance.</p>
{stopped}"""
    return figure(arena_plots.settling("curve-plot", found), caption, beside=True)


def _sets(result: Json) -> str:
    counts = [number(c) or 0.0 for c in numbers(result.get("pair_counts"))]
    if len(counts) != len(arena_plots.SET_SCORES) or min(counts) < 0 or sum(counts) <= 0:
        return ""
    if by_game(result):
        label = "share of a set's points that A made"
        plot = arena_plots.pentanomial("sets-plot", counts, arena_plots.SET_SCORES, label)
        return figure(plot, PENTANOMIAL, beside=True)
    label, scores = "points of A than of B in a set", ("fewer", "as many", "more")
    return figure(arena_plots.pentanomial("sets-plot", counts[::2], scores, label), WHOLE_SETS, beside=True)


PENTANOMIAL = """<p>A set is one opening played twice, sides swapped; A makes 0, ¼, ½, ¾ or all of its points.</p>
<p>Bars to the right of the middle are A's, to the left B's. The middle holds two draws, and openings that are won by
whoever sits on the better side: they say nothing about who is stronger. The interval is made of sets, not of single
games, because the two games of a set are not independent.</p>"""
WHOLE_SETS = """<p>A set is one opening played from every seat. Games of this kind have points, but no winner: so
whole sets are compared, and Elo counts in how many of them A made more points than B.</p>"""


def _points(result: Json) -> str:
    luck = part(result.get("luck"))
    labelled = {"as played": part(result.get("margin")), "without luck": part(luck.get("margin"))}
    entries = [{"label": k, **m} for k, m in labelled.items() if number(m.get("value")) is not None]
    if not entries:
        return ""
    what = "The mean utility to A of a game" if by_game(result) else "How many points A was ahead of B in a game"
    stopped = " Not corrected for the stop: the SPRT found a moment when it looked clear." if is_stopped(result) else ""
    said = f"<p>{what}, with its 95 % interval (a bootstrap over sets).{stopped}</p>{_luck_words(luck)}"
    if len(entries) > 1:  # one line alone is no picture
        said = figure(arena_plots.margins("points-plot", entries), said, beside=True)
    return said + table(POINTS, entries)


def _luck_words(luck: Json) -> str:
    """Say what the dice were worth."""
    ratio = number(luck.get("variance_ratio"))
    if ratio is None or ratio <= 0:
        return ""
    if ratio >= 1:
        return "<p>Taking off the luck of the dice, as an evaluator judges it, made the figure no sharper.</p>"
    return f"""<p>The dice were worth {percent(1 - ratio, 0)} of the variance. With their luck taken off, as an
evaluator judges it, the same games say as much as {fixed(1 / ratio, 1)} times as many would.</p>"""


POINTS = (
    Column("points per game of A", lambda r: Cell(text(r["label"])), words=True),
    Column("mean", figure_of("value", points)),
    Column("95 % from", figure_of("low", points)),
    Column("to", figure_of("high", points)),
    Column("standard error", figure_of("standard_error", lambda v: points(v).lstrip("+"))),
    Column("sets", figure_of("n")),
)


def _costs(result: Json) -> str:
    entries = [{"name": name, **costs_of(result, side)} for side, name in enumerate(names_of(result))]
    return table(COSTS, entries) if any(len(e) > 1 for e in entries) else ""


def _speed(row: Json) -> Cell:
    nodes, us = number(row.get("nodes")), number(row.get("us"))
    return Cell(fixed(1e6 * nodes / us), 1e6 * nodes / us) if nodes and us else Cell(DASH)


COSTS = (
    Column("agent", lambda r: Cell(agent(r["name"])), words=True),
    Column("moves", figure_of("moves")),
    Column("nodes / move", figure_of("nodes", compact)),
    Column("µs / move", figure_of("us", compact)),
    Column("nodes / second", _speed),
)


def _endings(result: Json) -> str:
    if not isinstance(result.get("forfeits"), list | tuple) and not isinstance(result.get("adjudicated"), dict):
        return ""
    forfeits = rows(result.get("forfeits"))
    rules = [{"rule": k, "games": n} for k, n in part(result.get("adjudicated")).items() if number(n)]
    if not forfeits and not rules:
        return "<p>Every game ended by the rules of the game.</p>"
    return _forfeits(forfeits) + (ADJUDICATED + table(RULES, rules) if rules else "")


def _forfeits(forfeits: list[Json]) -> str:
    if not forfeits:
        return ""
    many = f" The first {MOST_FORFEITS} are shown." if len(forfeits) > MOST_FORFEITS else ""
    one = "game was" if len(forfeits) == 1 else "games were"
    said = f"<p>{fixed(len(forfeits))} {one} forfeited: an agent failed, and the game counts as lost for it.{many}</p>"
    return said + table(FORFEITS, forfeits[:MOST_FORFEITS])


ADJUDICATED = "<p>Some games were ended before the rules did, by what the agents themselves thought of them.</p>"
RULES = (
    Column("adjudicated by", lambda r: Cell(text(r["rule"])), words=True),
    Column("games", figure_of("games")),
)
FORFEITS = (
    Column("game", lambda r: Cell(text(r.get("number", DASH)), number(r.get("number")))),
    Column("forfeited by", lambda r: Cell(agent(r.get("agent", ""))), words=True),
    Column("because", lambda r: Cell(f'<span class="why">{text(r.get("why", ""))}</span>'), words=True),
)


def _made(result: Json) -> str:
    told: JsonDict = {"game": result.get("game")}
    told |= dict(zip("AB", names_of(result), strict=True)) if result.get("names") else {}
    told |= {"seed": result.get("seed"), "random plies of an opening": _whole(result.get("opening_plies"))}
    told |= {"sets": _played(result), "different games": _whole(result.get("distinct_games"))}
    told |= {k: result.get(k) for k in ("folder", "evallearn")}
    return made(result, {k: v for k, v in told.items() if v not in (None, "")})


def _whole(value: object) -> str:
    return "" if number(value) is None else fixed(value)


def _played(result: Json) -> str:
    """Say how many sets there are, and why fewer than were asked for."""
    played, asked = number(result.get("pairs")), number(result.get("pairs_asked"))
    if played is None or asked is None or played >= asked:
        return _whole(played)
    stopped = part(result.get("sprt")).get("decision")
    why = "the SPRT has decided" if stopped else "the game has no more different openings of this length"
    return f"{fixed(played)} of {fixed(asked)}: {why}"


def _glossary(result: Json) -> str:
    """Return the terms that this page uses."""
    needs = {"SPRT": result.get("sprt"), "Luck adjustment": result.get("luck"), "Pentanomial": by_game(result)}
    return glossary({term: said for term, said in MATCH_GLOSSARY.items() if needs.get(term, True)})


SECTIONS: Sections = {
    "curve": ("How the Elo settled", _curve),
    "sets": ("Points of the sets", _sets),
    "points": ("Points per game", _points),
    "costs": ("Costs", _costs),
    "endings": ("How games ended", _endings),
    "made": ("How it was made", _made),
    "glossary": ("Glossary", _glossary),
}
