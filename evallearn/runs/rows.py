"""What the ladder of a run says about a match: a row, from either side."""

from __future__ import annotations

from typing import Any

from evallearn.arena import MatchResult

ROW = {
    "name": str, "opponent": str, "limit": str, "elo": float, "low": float, "high": float, "los": float, "score": float,
    "games": int, "distinct_games": int, "wins": int, "draws": int, "losses": int, "nodes_per_move": [float],
    "seconds_per_move": [float],
}  # fmt: skip


def ladder_row(found: MatchResult) -> dict[str, Any]:
    """Return what the ladder says about a match, from A's side."""
    elo = found.elo
    return {
        "name": found.names[0].partition("@")[0], "opponent": found.names[1].partition("@")[0],
        "limit": found.names[0].partition("@")[2],
        "elo": elo.elo, "low": elo.low, "high": elo.high, "los": elo.los, "score": found.score,
        "games": found.games, "distinct_games": found.distinct_games,
        "wins": found.wins, "draws": found.draws, "losses": found.losses,
        "nodes_per_move": list(found.nodes_per_move), "seconds_per_move": list(found.seconds_per_move),
    }  # fmt: skip


def reversed_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the same match from the other side."""
    return {
        **row,
        "name": row["opponent"], "opponent": row["name"], "score": 1 - row["score"], "los": 1 - row["los"],
        "elo": -row["elo"], "low": -row["high"], "high": -row["low"], "wins": row["losses"], "losses": row["wins"],
        "nodes_per_move": row["nodes_per_move"][::-1], "seconds_per_move": row["seconds_per_move"][::-1],
    }  # fmt: skip
