"""The command `evallearn explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import GAME, json_option, out, report
from evallearn.cli.play import framed
from evallearn.cli.positions import PositionCommand, game_of, position_of, roll_option
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.trust import FULL_TRUST
from evallearn.insight.explain import Explanation, Part, explain
from evallearn.play.formatting import format_value, number
from evallearn.play.seats import make_evaluator, ordinal

TOP = 10
"""Features that are shown unless more are asked for."""
SIDE_BY_SIDE = 3
"""Evaluators in one table: so many fit 80 columns."""
IN_WORDS = 3
"""Features that are told in sentences."""
NAME_LENGTH = 16
SQUASHED = {"tanh": "squashed", "clip": "clipped"}
SINGLE_BAR, BAR = 25, 9
"""Characters of a bar: odd, for the middle is nothing."""


@click.command(name="explain", cls=PositionCommand)
@click.argument("evals", nargs=-1, required=True, metavar="EVAL...")
@click.argument("position")
@click.option(
    "--game", type=GAME, help="The game.  [default: that of the first EVAL, if it is a file or zoo:GAME/NAME]"
)
@roll_option
@click.option("--top", type=click.IntRange(1, 10**6), default=TOP, show_default=True, help="How many features to show.")
@click.option(
    "--records",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Records whose means are taken as neutral where an evaluator must be occluded.  [default: 0 is neutral]",
)
@json_option
def command(
    evals: tuple[str, ...],
    position: str,
    game: Game | None,
    roll: tuple[int, int] | None,
    top: int,
    records: tuple[Path, ...],
    json_to: str | None,
) -> None:
    """Show what an EVAL says of POSITION, and why. Several EVALs are set side by side.

    An EVAL is zero, handwritten:NAME, zoo:NAME or a .safetensors file; POSITION is in the game's notation, or
    `start`. A linear evaluator is a sum: its parts are shown, the largest first. Of any other each feature in turn is
    made neutral, and the change is shown (occlusion); such changes do not add up.

    Example: evallearn explain handwritten:lines handwritten:threats 44455 --game connect_four
    """
    game = game or game_of(evals[0])
    s = position_of(game, position, roll)
    means = None
    if records:
        from evallearn.insight.sources import dataset_of, feature_means

        means = feature_means(dataset_of(records, game))
    found = [explain(make_evaluator(text, game, trust=FULL_TRUST), s, name=text, means=means) for text in evals]
    figures: dict[str, object] = {
        "game": game.name,
        "position": game.to_text(s),
        "player": found[0].player,
        "terminal": game.is_terminal(s),
        "waits_for_chance": not game.is_terminal(s) and game.to_play(s) == CHANCE,
        "evals": [e.to_json() for e in found],
    }
    if json_to != "-":
        out.print(framed(game.board(s), out.width))
    report(figures, json_to, lambda: show(game, s, found, top))


# --- for people ------------------------------------------------------------------------------------------------------
def show(game: Game, s: State, found: Sequence[Explanation], top: int) -> None:
    if game.is_terminal(s):
        values = ", ".join(f"{format_value(game, v, True)} to {ordinal(p)}" for p, v in enumerate(found[0].values))
        out.print(f"The game is over: {values}. Every evaluator says so; there is nothing to explain.", style="bold")
        return
    if game.to_play(s) == CHANCE:
        chance = "Chance moves" if game.n_players == 1 else "The dice come"
        out.print(f"{chance} next; then {ordinal(found[0].player)} is to move.", style="dim")
    for start in range(0, len(found), SIDE_BY_SIDE):
        some = found[start : start + SIDE_BY_SIDE]
        out.print(one_table(some[0], top) if len(found) == 1 else side_by_side(some, top))
    for e in found:
        for line in sentences(game, e):
            out.print(line)


def one_table(e: Explanation, top: int) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for head in ("feature", "amount", *(("weight",) if e.kind == "sum" else ()), "effect"):
        table.add_column(head, justify="left" if head == "feature" else "right", no_wrap=True)
    table.add_column(_ends(SINGLE_BAR), no_wrap=True)
    speaking = [p for p in e.parts if p.effect]
    most = max((abs(p.effect) for p in speaking), default=0.0)
    for p in speaking[:top]:
        weight = ("" if p.weight is None else f"{p.weight:+.3f}",) if e.kind == "sum" else ()
        amount = "" if p.feature is None else f"{p.feature:g}"
        table.add_row(words_of(p.name), amount, *weight, f"{p.effect:+.3f}", bar(p.effect, most, SINGLE_BAR))
    table.caption = _more(len(speaking), len(e.parts), top)
    return table


def side_by_side(found: Sequence[Explanation], top: int) -> Table:
    """Return a table with a row per feature, sorted by its largest effect on any of the evaluators.

    All effects are in the unit 1.
    """
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("feature", no_wrap=True)
    table.add_column("amount", justify="right", no_wrap=True)
    parts = [{p.name: replace(p, effect=p.effect * e.unit) for p in e.parts} for e in found]
    largest: dict[str, float] = {}
    for p in (p for some in parts for p in some.values()):
        largest[p.name] = max(largest.get(p.name, 0.0), abs(p.effect))
    for e in found:
        table.add_column(short_name(e.name) + (" *" if e.kind == "occlusion" else ""), no_wrap=True)
    names = sorted((n for n in largest if largest[n]), key=lambda n: -largest[n])
    most = max(largest.values(), default=0.0)
    for name in names[:top]:
        amounts = [p[name].feature for p in parts if name in p]
        amount = "" if amounts[0] is None else f"{amounts[0]:g}"
        table.add_row(words_of(name), amount, *(_effect(p.get(name), most) for p in parts))
    table.add_row("value", "", *(f"{e.value:+.3f}" for e in found), style="bold")
    table.caption = _more(len(names), len(largest), top)
    return table


def _effect(p: Part | None, most: float) -> str:
    return "" if p is None else f"{p.effect:+.3f} {bar(p.effect, most, BAR)}"


def _more(speaking: int, known: int, top: int) -> str | None:
    """Return a note of what is not shown, or None if everything is."""
    said = [f"{speaking - top} smaller ones: --top {speaking} shows them"] if speaking > top else []
    said += [f"{known - speaking} without any effect here"] if known > speaking else []
    return "and " + ", ".join(said) if said else None


def _ends(width: int) -> str:
    half = width // 2
    return "against".ljust(half) + "|" + "for".rjust(half)


def bar(effect: float, most: float, width: int) -> str:
    """Return a bar: right of the middle what speaks for the player, left what speaks against: `   ###|      `."""
    half = width // 2
    n = round(half * abs(effect) / most) if most else 0
    return f"{'█' * n if effect < 0 else '':>{half}}|{'█' * n if effect > 0 else '':<{half}}"


def words_of(name: str) -> str:
    return name.replace("_", " ")


def short_name(text: str) -> str:
    """Return an evaluator's name for the head of a column."""
    name = text.removeprefix("handwritten:").rpartition("/")[2].removesuffix(".safetensors")
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


# --- in words --------------------------------------------------------------------------------------------------------
def sentences(game: Game, e: Explanation) -> list[str]:
    """Return sentences: what the evaluator says, its weightiest reasons, and how they became a value."""
    lines = [f"{e.name}: worth {number(game, e.value)} to {ordinal(e.player)}, who is to move{_others(game, e)}."]
    if e.kind in ("closed", "solved"):
        why = "The position is in its table." if e.kind == "solved" else "It tells a value, and no reasons."
        return [*lines, f"  {why}"]
    reasons = "; ".join(reason(game, e, p) for p in e.parts[:IN_WORDS] if p.effect)
    if e.won is not None:
        lines += [f"  {e.won:,.10g} is won already, {e.value - e.won:,.1f} is expected to come."]
    if e.kind == "sum":
        lines += [f"  {reasons or 'nothing in it speaks for anybody'}."]
        squashed = f"{SQUASHED[e.squash]}: {_squashed(e)} = {number(game, e.value)}"
        return [*lines, f"  The sum is {e.raw:+.3f}; {squashed}."]
    lines += [f"  {reasons or 'no feature alone changes anything'}."]
    return [
        *lines,
        f"  This evaluator is no sum. An effect is the unsquashed value ({e.raw:+.3f}) less what it would be if that "
        f"feature alone were {'at its mean' if e.neutral == 'mean' else '0'}; effects do not add up.",
    ]


def _squashed(e: Explanation) -> str:
    """Return the formula by which the sum becomes the value."""
    unit = "" if e.unit == 1 else f"{e.unit:g} x "
    share = f"{e.squash}({unit}{e.raw:+.3f})"
    if e.won is not None:
        return f"{e.won:,.10g} + {2 * e.scale:,.10g} x (1 + {share}) / 2"
    scale = "" if e.scale == 1 else f"{e.scale:g} x "
    middle = "" if e.middle == 0 else f"{e.middle:g} + "
    return f"{middle}{scale}{share}"


def _others(game: Game, e: Explanation) -> str:
    """Return the values to all other players, where they do not follow from that of one."""
    if (game.n_players == 2 and game.zero_sum) or game.n_players == 1:
        return ""
    told = ", ".join(f"{number(game, v)} to {ordinal(p)}" for p, v in enumerate(e.values) if p != e.player)
    return f" ({told})"


def reason(game: Game, e: Explanation, p: Part) -> str:
    """Return a reason as in `open threes (3 at +0.103 each): +0.310 for first`."""
    if p.feature is None:
        what = words_of(p.name)
    elif p.weight is None:
        what = f"{words_of(p.name)} ({p.feature:g})"
    else:
        what = f"{words_of(p.name)} ({p.feature:g} at {p.weight:+.3f} each)"
    duel = game.n_players == 2 and game.zero_sum
    if p.effect < 0 and duel:
        return f"{what}: {-p.effect:+.3f} for {ordinal(1 - e.player)}"
    return f"{what}: {abs(p.effect):+.3f} {'for' if p.effect > 0 else 'against'} {ordinal(e.player)}"
