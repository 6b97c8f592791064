"""The command `evallearn zoo`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.agents import parse_limits
from evallearn.cli.common import GAME, in_range, json_option, out, progress_bars, report, workers_option
from evallearn.core.digest import parse_json
from evallearn.core.game import Game
from evallearn.core.settings import PAIRS, SEED
from evallearn.evaluators import hardest, read_card, zoo_names
from evallearn.evaluators.zoo import Card, CardMatch, zoo_name
from evallearn.quality.card import PAIRS as CARD_PAIRS
from evallearn.quality.card import add_run
from evallearn.report.formatting import share


class Zoo(click.Group):
    """Shows a card where no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args[:1] in (["add"], ["-h"], ["--help"]) else ["show", *args])


@click.group(name="zoo", cls=Zoo)
def command() -> None:
    """List the trained evaluators that are shipped, show the card of one, or add one.

    Use one as zoo:NAME where an agent or an evaluator is asked for, and as evallearn.load("GAME/NAME") in Python.

    Example: evallearn zoo connect_four/linear
    """


@command.command(name="show")
@click.argument("name", required=False)
@json_option
def show_command(name: str | None, json_to: str | None) -> None:
    """List all, or show the card of one, NAME, as GAME/NAME: how it was made, and what it is worth.

    Example: evallearn zoo connect_four/linear
    """
    if name is not None:
        card = read_card(name.removeprefix("zoo:"))
        report(card, json_to, lambda: show(card))
        return
    cards = [read_card(known) for known in zoo_names()]
    report({"evals": cards}, json_to, lambda: out.print(overview(cards)))


@command.command(name="add")
@click.argument("run", type=click.Path(file_okay=False, path_type=Path))
@click.argument("name")
@click.option("--eval", "evaluator", help="Of the run: linear, neural ...  [default: NAME, or else the first]")
@click.option("--game", type=GAME, help="A game of yours.  [default: the shipped game that the run names]")
@click.option("--limit", help="Of both sides, such as nodes=2000 or depth=4.  [default: what suits the game]")
@click.option("--pairs", type=in_range(PAIRS), default=CARD_PAIRS, show_default=True, help="Openings of each match.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True, help="Of the openings.")
@click.option("--out", "folder", type=click.Path(file_okay=False, path_type=Path), help="In place of evallearn's own.")
@workers_option
@json_option
def add_command(
    run: Path,
    name: str,
    evaluator: str | None,
    game: Game | None,
    limit: str | None,
    pairs: int,
    seed: int,
    folder: Path | None,
    workers: int,
    json_to: str | None,
) -> None:
    """Ship the evaluator of a run of `evallearn learn` as NAME: play the matches of its card, write file and card.

    Example: evallearn zoo add runs/connect_four-seed1 linear
    """
    limits = None if limit is None else parse_limits(limit)
    with progress_bars() as steps, ExitStack() as stack:
        path = add_run(
            run, name, evaluator, game=game, out=folder, limits=limits, pairs=pairs, seed=seed, workers=workers,
            on_progress=lambda title: stack.enter_context(steps.step(title)),
        )  # fmt: skip
    card = parse_json(path.with_suffix(".json").read_bytes())
    report(card, json_to, lambda: show(card))


def overview(cards: Sequence[Card]) -> Table:
    """Return a table of one line each, in 80 columns.

    The best hand-written heuristic is the one that an evaluator beats by least.
    """
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for head in ("Evaluator", "kB", "Elo", "95 %", "hand-written", "at"):
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
