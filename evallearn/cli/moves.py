"""The command `evallearn moves`."""

from __future__ import annotations

import click

from evallearn.cli.common import GAME, console, json_option, report
from evallearn.cli.positions import PositionCommand, position_argument, position_of, roll_option
from evallearn.core.game import CHANCE, Action, Game


@click.command(name="moves", cls=PositionCommand)
@click.argument("game", type=GAME)
@position_argument
@roll_option
@json_option
def command(game: Game, position: str | None, roll: tuple[int, int] | None, json_to: str | None) -> None:
    """List the legal actions in POSITION (or at the start), one per line, with the position that each leads to.

    Where dice are to be rolled, the rolls are listed instead, unless --roll names one.

    Example: evallearn moves backgammon 4HPwATDgc/ABMA --roll 3 1
    """
    s = position_of(game, position, roll)
    actions: list[Action] = []
    if not game.is_terminal(s):
        actions = [o for o, _ in game.chances(s)] if game.to_play(s) == CHANCE else list(game.actions(s))
    lines = [(game.action_to_text(s, a), game.to_text(game.without_history(game.result(s, a)))) for a in actions]
    figures: dict[str, object] = {
        "game": game.name,
        "position": game.to_text(s),
        "over": game.is_terminal(s),
        "moves": [{"action": text, "leads_to": after} for text, after in lines],
    }

    def people() -> None:
        for text, after in lines:
            print(f"{text}\t{after}")
        if game.is_terminal(s):
            console.print(f"the game is over: {game.board(s).splitlines()[-1]}", style="dim")

    report(figures, json_to, people)
