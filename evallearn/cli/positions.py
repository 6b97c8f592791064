"""The argument POSITION: how it is read, also where it begins with a minus sign as an option does."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import click

from evallearn.cli.common import Command
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.positions import read_position
from evallearn.errors import EvallearnError, SpecError
from evallearn.registry import load

LIKE_AN_OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?")


class PositionCommand(click.Command):
    """A command with a POSITION, which may begin with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; a word that is no option of the command may be the position."""
        place = self._unknown_word(ctx, args)
        if place is None:
            return super().parse_args(ctx, args)
        word = args[place]
        moved = [*args[:place], *args[place + 1 :], "--", word]
        if not LIKE_AN_OPTION.fullmatch(word):
            return super().parse_args(ctx, moved)
        with suppress(click.UsageError):  # it is told about the words as they were given
            rest = super().parse_args(ctx, moved)
            if ctx.params.get("position") == word and _can_be_read(ctx, word):
                return rest
        return super().parse_args(ctx, args)

    def _unknown_word(self, ctx: click.Context, words: list[str]) -> int | None:
        """Return the place of the first word that begins with a minus sign and is neither an option nor its value."""
        options = {name: p for p in self.get_params(ctx) if isinstance(p, click.Option) for name in p.opts}
        place = 0
        while place < len(words) and words[place] != "--":
            name, equals, _ = words[place].partition("=")
            option = options.get(name)
            if option is None and len(name) > 1 and name.startswith("-"):
                return place
            place += 1 + (0 if option is None or equals else _values(option))
        return None


def _values(option: click.Option) -> int:
    """Return how many words after the option are certainly its values."""
    may_stand_alone = option.is_flag or isinstance(option.flag_value, str)
    return 0 if may_stand_alone else option.nargs


def _can_be_read(ctx: click.Context, word: str) -> bool:
    """Return True if the game of the command reads the word as a position."""
    try:
        read_position(_game(ctx), word)
    except EvallearnError:
        return False
    return True


def _game(ctx: click.Context) -> Game:
    """Return the game that the arguments name, or that of the first EVAL."""
    game: Game | None = ctx.params["game"]
    return game or game_of(ctx.params["evals"][0])


def game_of(text: str) -> Game:
    """Return the game of an evaluator's file, or of one in the zoo."""
    kind, _, name = text.partition(":")
    if kind == "zoo" and "/" in name:
        return load(name).game
    if Path(text).suffix != ".safetensors":
        raise SpecError(f"{text!r} does not say which game it belongs to: add --game GAME")
    return load(text).game


def position_argument(f: Command) -> Command:
    return click.argument("position", required=False)(f)


def roll_option(f: Command) -> Command:
    return click.option(
        "--roll",
        nargs=2,
        type=click.IntRange(0, 99),
        metavar="D D",
        help="The two dice, where the position waits for a roll.",
    )(f)


def position_of(game: Game, text: str | None, roll: tuple[int, int] | None = None) -> State:
    """Return the position that POSITION and --roll name; without POSITION the start."""
    s = game.initial() if text is None else read_position(game, text)
    return s if roll is None else rolled(game, s, roll)


def rolled(game: Game, s: State, dice: tuple[int, ...]) -> State:
    """Return the state after that roll; either die may come first."""
    if game.to_play(s) != CHANCE or game.is_terminal(s):
        raise SpecError(f"--roll: nothing is rolled in {game.name} position {game.to_text(s)!r}: leave it out")
    outcomes = {game.action_to_text(s, o): o for o, _ in game.chances(s)}
    for text, outcome in outcomes.items():
        if sorted(text) == sorted(map(str, dice)):
            return game.result(s, outcome)
    given = " ".join(map(str, dice))
    raise SpecError(f"--roll {given}: no such roll in {game.name}; known: {', '.join(outcomes)}")
