"""What the JSON of a match says, for the pages of matches and of tournaments."""

from __future__ import annotations

from evallearn.core.json_shapes import Json, number, numbers, part
from evallearn.report.formatting import short_agent


def is_stopped(result: Json) -> bool:
    """Return True if an SPRT has decided, and so stopped the match at a moment when it looked clear."""
    return part(result.get("sprt")).get("decision") in ("H0", "H1")


def is_corrected(result: Json) -> bool:
    """Return True if the Elo takes into account that the match ran under an SPRT."""
    return part(result.get("stop")).get("elo_corrected") is True


def by_game(result: Json) -> bool:
    """Return False if only whole sets are compared: then wins, draws and losses count openings."""
    return result.get("by_game") is not False


def names_of(result: Json) -> tuple[str, str]:
    """Return the full names of A and B."""
    found = result.get("names")
    return (str(found[0]), str(found[1])) if isinstance(found, list | tuple) and len(found) == 2 else ("A", "B")


def sides(result: Json) -> tuple[str, str, str]:
    """Return A and B as sentences call them, and the limit that both have.

    If the limits differ, each name has its own in brackets.
    """
    (a, limit_a), (b, limit_b) = map(short_agent, names_of(result))
    if limit_a == limit_b and a != b:
        return a, b, limit_a
    a, b = map(called, names_of(result))
    return (a, b, "") if a != b else (f"A ({a})", f"B ({b})", "")


def called(name: str) -> str:
    """Return the short name of an agent, with its limit in brackets."""
    said, limit = short_agent(name)
    return f"{said} ({limit})" if limit else said


def seen_by_b(match: Json) -> Json:
    """Return score, Elo, wins and losses as they are for B."""
    score, elo, low, high = (number(match.get(k)) for k in ("score", "elo", "low", "high"))
    swapped = {"wins": match.get("losses"), "losses": match.get("wins"), "score": None if score is None else 1 - score}
    signs = {"elo": elo, "low": high, "high": low}
    return {**match, **swapped, **{k: None if x is None else -x for k, x in signs.items()}}


def costs_of(match: Json, side: int) -> dict[str, float]:
    """Return moves, nodes and µs per move of one side; only what is known."""
    keys = {"moves": ("moves", 1.0), "nodes": ("nodes_per_move", 1.0), "us": ("seconds_per_move", 1e6)}
    found = {k: ([*numbers(match.get(key)), None, None][side], unit) for k, (key, unit) in keys.items()}
    return {k: x * unit for k, (x, unit) in found.items() if x is not None}
