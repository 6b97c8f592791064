"""The command `evallearn zoo`."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import json_option, out, report
from evallearn.evaluators import hardest, read_card, zoo_names
from evallearn.evaluators.zoo import Card, CardMatch, zoo_name
from evallearn.report.formatting import share


@click.command(name="zoo")
@click.argument("name", required=False)
@json_option
def command(name: str | None, json_to: str | None) -> None:
    """List the trained evaluators that are shipped, or show the card of one, NAME, as GAME/NAME.

    A card tells how the evaluator was made, and what it is worth.

    Use one as zoo:NAME where an agent or an evaluator is asked for, and as evallearn.load("GAME/NAME") in Python.

    Example: evallearn zoo connect_four/linear
    """
    if name is not None:
        card = read_card(name.removeprefix("zoo:"))
        report(card, json_to, lambda: show(card))
        return
    cards = [read_card(known) for known in zoo_names()]
    report({"evals": cards}, json_to, lambda: out.print(overview(cards)))


def overview(cards: Sequence[Card]) -> Table:
    """Return a table of one line each, in 80 columns.

    The best hand-written heuristic is the one that an evaluator beats by least.
    """
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for head in ("Eval", "kB", "Elo", "95 %", "hand-written", "at"):
        table.add_column(head, justify="right" if head in ("kB", "Elo") else "left", no_wrap=True)
    for card in cards:
        best, size = hardest(card), f"{card['bytes'] / 1000:.0f}"
        figures = ("", "", "", "") if best is None else (*elo(best), rival(best), best["limit"])
        table.add_row(zoo_name(card["game"], card["name"]), size, *figures)
    return table


def rival(match: CardMatch) -> str:
    return match["opponent"].removeprefix("handwritten:")


def elo(match: CardMatch) -> tuple[str, str]:
    return f"{match['elo']:+.0f}", f"{match['low']:+.0f} to {match['high']:+.0f}"


def show(card: Card) -> None:
    """Print a card in full."""
    table = Table(title=zoo_name(card["game"], card["name"]), box=SIMPLE, show_header=False, padding=(0, 1, 0, 0))
    learned = ", ".join(f"{count:,} {what}" for what, count in card["learned_from"].items())
    facts = {"kind": card["kind"], "size": f"{card['bytes']:,} bytes", "made by": card["command"]}
    facts |= {"today": card["repeat"]} if "repeat" in card else {}
    facts |= {"seed": str(card["seed"]), "learned from": learned, "minutes": f"{card['minutes']:g}"}
    for key, value in {**facts, "evallearn": card["evallearn"]}.items():
        table.add_row(key, value)
    out.print(table)
    matches = Table("hand-written", "Elo", "95 %", "games", "W/D/L", "at", "openings", box=SIMPLE, padding=(0, 1, 0, 0))
    for m in card["matches"]:
        name, counts = rival(m), f"{m['wins']}/{m['draws']}/{m['losses']}"
        matches.add_row(name, *elo(m), str(m["games"]), counts, m["limit"], m["openings"])
    out.print(matches)
    q = card["quality"]
    named = "" if q["sign_accuracy"] is None else f", names the winner in {share(dict(q), 'sign_accuracy')}"
    out.print(
        f"On {q['n_records']:,} {q['on']}, without search: log loss {q['log_loss']:.4f} (a constant: "
        f"{q['baseline_log_loss']:.4f}){named}, calibration error {q['calibration_error']:.3f}"
    )
