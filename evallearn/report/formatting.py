"""Figures and verdicts in words: how the report says a number, an interval and who won."""

from __future__ import annotations

import re

from evallearn.core.json_shapes import Json, number, rows

ELO_END = 2000.0
"""Elo where the arena's scale ends (arena.stats.ELO_LIMIT): an interval that ends here has no bound on that side."""
DASH = "–"
LIMIT = re.compile(r"(.+)@(\w+=[^@/]*)", re.DOTALL)
"""An agent and its limit."""
EVAL_FILE = re.compile(r"([^\s,:@]+)\.safetensors")
PROGRAM = re.compile(r"(?<![^\s:,])/(?:[^\s,:@/]+/)*(?=[^\s,:@/])")
"""The folders before a program's name."""
LIMIT_WORDS = {"depth": "at equal depth", "time": "at equal time", "nodes": "at equal nodes"}


# --- numbers ---------------------------------------------------------------------------------------------------------
def fixed(value: object, digits: int = 0, *, sign: bool = False) -> str:
    """Format 183000 as 183,000; with a true minus, and never -0."""
    x = number(value)
    if x is None:
        return DASH
    text = f"{x:{'+' if sign else ''},.{digits}f}"
    if not text.strip("+-0.,"):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def signed(value: object) -> str:
    """Format Elo, or any difference: +171, −32, 0."""
    return fixed(value, sign=True)


def compact(value: object) -> str:
    """Format a number with about three digits: 0.18, 6.24, 433."""
    x = number(value)
    return DASH if x is None else fixed(x, 0 if abs(x) >= 100 or x == 0 else 1 if abs(x) >= 10 else 2)


def percent(share: object, digits: int = 1) -> str:
    """Format 0.573 as 57.3 %. What is not quite nothing or all is never rounded to it."""
    x, least = number(share), 0.1**digits
    if x is None:
        return DASH
    if 0 < x < 1 and not least / 2 <= 100 * x <= 100 - least / 2:
        return f"> {100 - least:.{digits}f} %" if x > 0.5 else f"< {least:.{digits}f} %"
    return f"{fixed(100 * x, digits)} %"


def share(entry: Json, key: str) -> str:
    """Format a share, as in 71.3 % (95 %: 70.1 to 72.4).

    Its interval is in KEY_low and KEY_high; it is left out where there is none.
    """
    low, high = number(entry.get(f"{key}_low")), number(entry.get(f"{key}_high"))
    known = "" if low is None or high is None else f" (95 %: {fixed(100 * low, 1)} to {fixed(100 * high, 1)})"
    return percent(entry.get(key)) + known


def points(value: object) -> str:
    """Format a utility, or a difference of two: +0.2267, +23.45, +12,355."""
    x = abs(number(value) or 0.0)
    return fixed(value, 4 if x < 10 else 2 if x < 1000 else 0, sign=True)


def sureness(share: object) -> str:
    """Format a likelihood, as of superiority: 97.8 %, and never all or nothing, for no match can show that."""
    x = number(share)
    return DASH if x is None else percent(min(max(x, 1e-9), 1 - 1e-9))


def duration(seconds: object) -> str:
    """Format seconds as in 12.3 s, 4 min 05 s, 2 h 10 min."""
    x = number(seconds)
    if x is None:
        return DASH
    if x < 59.95:
        return f"{x:.1f} s"
    whole = round(x)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{round(x / 60) // 60} h {round(x / 60) % 60:02d} min"


# --- intervals and names ---------------------------------------------------------------------------------------------
def interval(entry: Json) -> str:
    """Format the 95 % interval of an Elo: 143 to 201, at least 520, at most −700."""
    low, high = number(entry.get("low")), number(entry.get("high"))
    if low is None or high is None or (low == high == 0 and not entry.get("games")):
        return DASH
    if high >= ELO_END:
        return "any" if low <= -ELO_END else f"at least {fixed(low)}"
    return f"at most {fixed(high)}" if low <= -ELO_END else f"{fixed(low)} to {fixed(high)}"


def estimate(entry: Json, key: str = "value") -> tuple[float, float, float]:
    """Return a figure and the ends of its interval; without one, the figure alone."""
    value = number(entry.get(key)) or 0.0
    low, high = number(entry.get("low")), number(entry.get("high"))
    return value, value if low is None else low, value if high is None else high


def stopped_words(result: Json) -> str:
    """Say that an SPRT stopped some matches of a tournament, and what that does to its ratings; else nothing."""
    stopped = number(result.get("stopped_by_sprt"))
    if not stopped:
        return ""
    of = f"{fixed(stopped)} of {fixed(len(rows(result.get('matches'))))} matches"
    return f"An SPRT stopped {of}. The ratings are not corrected for the stop: they lie too far apart."


def bounded(entry: Json) -> bool:
    """Return True if the interval of an Elo is known and has both its ends."""
    low, high = number(entry.get("low")), number(entry.get("high"))
    return low is not None and high is not None and -ELO_END < low <= high < ELO_END


def plain(value: object) -> str:
    """Return any value as one line of printable text."""
    return "".join(c if c.isprintable() else " " for c in str(value))


def cut(text: str, length: int) -> str:
    """Return a text of at most so many letters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def short(name: object) -> str:
    """Shorten handwritten:mobility to mobility."""
    return str(name).removeprefix("handwritten:")


def short_agent(name: object) -> tuple[str, str]:
    """Return an agent's short name, and its limit in words.

    runs/x/evaluators/linear.safetensors@depth=4 -> x/linear, depth 4.

    Of a path to an evaluator its run and its name are left, of a path to a program its last part. Two agents may read
    alike: show the full name too, as a title.
    """
    found = LIMIT.fullmatch(plain(name).strip())
    said, limit = found.groups() if found else (plain(name).strip(), "")
    return PROGRAM.sub("", EVAL_FILE.sub(_run_and_eval, said)), limit_words(limit)


def _run_and_eval(path: re.Match[str]) -> str:
    parts = [p for p in re.split(r"[/\\]", path[1]) if p not in ("", ".", "evaluators")]
    return "/".join(parts[-2:]).removeprefix("runs/")


def is_learned(entry: Json) -> bool:
    """Return True if it is neither random nor hand-written."""
    name = str(entry.get("name", ""))
    return not name.startswith(("handwritten", "random", "zero"))


def limit_words(limit: object) -> str:
    """Format depth=4 as depth 4; time=0.005 as 5 ms a move; nodes=20000 as 20,000 nodes."""
    said = []
    for item in str(limit or "").split(","):
        kind, _, value = item.strip().partition("=")
        try:
            x = float(value)
        except ValueError:
            said.append(item.strip())
            continue
        time = f"{1000 * x:g} ms a move" if x < 1 else f"{x:g} s a move"
        said.append({"depth": f"depth {x:g}", "time": time, "nodes": f"{x:,.0f} nodes"}.get(kind, f"{kind} {x:g}"))
    return ", ".join(filter(None, said))


def fairness(entry: Json) -> str:
    """Say what both sides had alike: at equal depth."""
    return LIMIT_WORDS.get(str(entry.get("limit") or "").partition("=")[0], "")


# --- verdicts --------------------------------------------------------------------------------------------------------
def verdict(entry: Json) -> str:
    """Return win, loss or even against the reference: only an interval that leaves out 0 decides."""
    low, high = number(entry.get("low")), number(entry.get("high"))
    if low is not None and low > 0:
        return "win"
    return "loss" if high is not None and high < 0 else "even"


def reference(result: Json) -> str:
    """Return the name of the heuristic at 0 Elo; empty if the result does not say."""
    if result.get("reference"):
        return str(result["reference"])
    at_zero = [e for e in rows(result.get("ladder")) if not e.get("games") and number(e.get("elo")) == 0]
    return str(at_zero[0].get("name", "")) if at_zero else ""


def judgement(entry: Json, opponent: str) -> str:
    """Say that it beats X by 171 Elo (95 %: 143 to 201), or what is true instead."""
    elo, said = number(entry.get("elo")), verdict(entry)
    if elo is None:
        return f"was not measured against {opponent}"
    known = interval(entry)
    sure = f"95 %: {known}" if known != DASH else "no interval known"
    if said == "win":
        return f"beats {opponent} by {fixed(elo)} Elo ({sure})"
    if said == "loss":
        return f"does not beat {opponent}: it is {fixed(-elo)} Elo weaker ({sure})"
    return f"cannot be told apart from {opponent}: {signed(elo)} Elo ({sure})"


def headliner(result: Json) -> Json | None:
    """Return the ladder entry that the first sentence is about: the linear evaluator, or else the first learned one."""
    learned = [e for e in rows(result.get("ladder")) if is_learned(e) and e.get("name") != reference(result)]
    return next((e for e in learned if e.get("name") == "linear"), learned[0] if learned else None)


def headline(result: Json) -> str:
    """Answer the question in one plain sentence."""
    game, entry = str(result.get("game", "this game")), headliner(result)
    source = ""
    if number(result.get("records")) is not None:
        source = f" from {fixed(result['records'])} positions of self-play"
    if entry is None:
        return f"On this machine evallearn made a run for {game}{source}; no learned evaluator has been matched yet."
    against = reference(result)
    opponent = "the best hand-written heuristic" + (f", {short(against)}," if against else "")
    judged = judgement(entry, opponent).replace(",:", ":")  # the closing comma of the name, before a colon
    kind = str(entry.get("name"))
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    fair = f"{fairness(entry)} it" if fairness(entry) else "it"
    return f"On this machine evallearn learned {article} {kind} evaluator for {game}{source}; {fair} {judged}."
