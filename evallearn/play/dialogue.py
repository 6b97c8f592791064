"""What a person types, and what is answered: moves and commands, one line at a time. Nothing is read or printed here.

A line that is a legal move is that move; any other that begins with the name of a command is the command. So no command
can hide a move. With a slash in front, as in /undo, it is the command in any case.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evallearn.agents import Agent
from evallearn.core.game import CHANCE, Action
from evallearn.errors import BadNotation, EvallearnError, GameError, IllegalAction, SpecError
from evallearn.play.formatting import (
    columns,
    hint_text,
    in_a_row,
    only_move_text,
    ply_text,
    result_text,
    seat_line,
    summary_text,
    verdict_text,
    who,
)
from evallearn.play.saved import load_game, save_game
from evallearn.play.seats import MakeAgent, people, take_seats
from evallearn.play.session import Session

COMMANDS = {
    "help": "this list (or ?)",
    "moves": "the legal moves",
    "hint": "the best move, what it is worth and its line",
    "undo": "take back your last move and the answer to it, as often as you like",
    "board": "draw the board again",
    "score": "how good your moves were so far",
    "new": "a new game; `new second` changes seats",
    "save": "save FILE: keep the game",
    "load": "load FILE: go on with a game that was kept",
    "quit": "leave (or end of input, Ctrl-D)",
}
ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
ALONE = {"help", "moves", "hint", "undo", "board", "score", "quit"}
"""Commands that take nothing after their name."""

Kind = Literal["board", "played", "good", "bad", "note", "error", "result"]


class Shown(NamedTuple):
    """Something to show, and what it is: a terminal chooses a colour by that, a page a style."""

    kind: Kind
    text: str


class Dialogue:
    """A session and the person who plays it. Each answer is an iterator: show what comes, as it comes."""

    def __init__(self, session: Session, make_agent: MakeAgent, *, loaded: Path | None = None) -> None:
        self.session, self.make_agent = session, make_agent
        self.opponents: Sequence[Agent] = [agent for agent in session.seats if agent]
        self.named = self.opponents
        """Agents that a file which is loaded later may name, too."""
        self.done = False
        self.unsaved = False
        self.loaded = loaded

    @property
    def prompt(self) -> str:
        """The player who is asked."""
        player = self.session.waits_for
        if player is None:
            return "over> " if self.session.is_over else "again> "
        return f"{who(self.session, player)}> "

    def open(self) -> Iterator[Shown]:
        """Say who plays, and show everything until a person is asked."""
        session = self.session
        seats = "; ".join(seat_line(session, player) for player in range(len(session.seats)))
        yield Shown("note", f"{session.game.name}. {seats}")
        if session.people:
            yield Shown("note", "Type a move, or ? for help.")
        if self.loaded:
            yield Shown("note", f"{self.loaded}: {len(session.plies)} plies")
        session.prepare()
        yield from self._go_on()

    def answer(self, line: str) -> Iterator[Shown]:
        """Show what the line leads to. Errors are shown; nothing is lost by them."""
        try:
            yield from self._answer(line.strip())
        except EvallearnError as error:
            yield Shown("error", self._brief(str(error)))
            if not self.session.is_over and self.session.waits_for is None:  # an engine may have failed
                yield Shown("note", "the move is not made: an empty line tries again, undo takes yours back")

    def _answer(self, text: str) -> Iterator[Shown]:
        if not text:
            yield from self._blank()
            return
        action, refusal = self._move(text)
        if refusal is None:
            yield from self._play(action)
            return
        name, _, argument = text.removeprefix("/").partition(" ")
        name = ALIASES.get(name.lower(), name.lower())
        if name in COMMANDS:
            yield from self._command(name, argument.strip())
            return
        near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.7)
        if text.startswith("/") or near:
            meant = f"did you mean {near[0]}? " if near else ""
            raise SpecError(f"{text!r} is neither a legal move nor a command: {meant}commands: {' '.join(COMMANDS)}")
        raise refusal

    # --- moves -----------------------------------------------------------------------------------------------------
    def _move(self, text: str) -> tuple[Action, EvallearnError | None]:
        """Return the legal action that the text says, or why it says none."""
        if text.startswith("/"):
            return None, BadNotation(f"{text!r} is a command")
        try:
            return self.session.read(text), None
        except (BadNotation, IllegalAction) as error:
            return None, error

    def _play(self, action: Action) -> Iterator[Shown]:
        ply = self.session.play(action)
        self.unsaved = True
        if ply.verdict:
            kind: Kind = "good" if ply.verdict.optimal else "bad"
            yield Shown(kind, verdict_text(self.session.game, ply.before, ply.verdict))
        elif self.session.judge:
            yield Shown("good", only_move_text(self.session.game, ply.before, ply.action))
        yield from self._go_on()

    def _blank(self) -> Iterator[Shown]:
        """Play the only move there is, or ask an agent again that failed."""
        session = self.session
        actions = session.game.actions(session.state)
        if session.waits_for is None:
            if not session.is_over:
                yield from self._go_on()
        elif len(actions) == 1:
            yield from self._play(actions[0])

    def _go_on(self) -> Iterator[Shown]:
        """Step through dice and agents, until a person is asked or the game is over."""
        session = self.session
        while ply := session.step():
            self.unsaved = True
            yield Shown("played", ply_text(session, ply))
            if not session.people and ply.player != CHANCE and not session.is_over:
                yield from self._board()
        yield from self._board()
        if session.is_over:
            yield from self._result()
        elif len(moves := session.legal()) == 1:
            yield Shown("note", f"the only move is {moves[0]}: an empty line plays it")

    def _board(self) -> Iterator[Shown]:
        yield Shown("board", self.session.game.board(self.session.state))

    def _result(self) -> Iterator[Shown]:
        yield Shown("result", result_text(self.session))
        if self.session.judge:
            yield from self._score()
        if self.session.people:
            yield Shown("note", "new for another game, undo, save FILE, or quit")

    # --- commands --------------------------------------------------------------------------------------------------
    def _command(self, name: str, argument: str) -> Iterator[Shown]:
        if argument and name in ALONE:
            raise SpecError(f"{name} {argument!r}: {name} stands alone")
        if name in ("save", "load", "new"):
            yield from getattr(self, f"_{name}")(argument)
        else:
            yield from getattr(self, f"_{name}")()

    def _help(self) -> Iterator[Shown]:
        legal = self.session.legal()
        example = f", such as {legal[0]}" if legal else ""
        lines = [f"a move{example}", *(f"{name:<6} {what}" for name, what in COMMANDS.items())]
        lines.append("A legal move is always a move; with a slash, as in /undo, it is always the command.")
        yield Shown("note", "\n".join(lines))

    def _moves(self) -> Iterator[Shown]:
        yield Shown("note", columns(self.session.legal() or ["none: the game is over"]))

    def _hint(self) -> Iterator[Shown]:
        session = self.session
        if session.waits_for is None:
            raise GameError("there is nothing to hint at: the game is over")
        if session.judge is None:
            raise SpecError("hint needs the judge: start without --no-verdict")
        yield Shown("note", hint_text(session.judge, session.state))

    def _undo(self) -> Iterator[Shown]:
        taken = self.session.undo()
        self.unsaved = True
        words = [self.session.game.action_to_text(ply.before, ply.action) for ply in taken]
        yield Shown("note", f"taken back: {in_a_row(words)}")
        yield from self._board()

    def _score(self) -> Iterator[Shown]:
        if self.session.judge is None:
            raise SpecError("score needs the judge: start without --no-verdict")
        for player in self.session.people:
            yield Shown("note", summary_text(self.session, player))

    def _new(self, argument: str) -> Iterator[Shown]:
        seats = self.session.seats
        if argument:
            you = people(argument, self.session.game)
            seats = take_seats(self.session.game, you, self._for(self.session.game.n_players - len(you)))
        self.session = self.session.next(seats)
        self.session.prepare()
        self.unsaved = False
        who_plays = "; ".join(seat_line(self.session, player) for player in range(len(seats)))
        yield Shown("note", f"new game. {who_plays}")
        yield from self._go_on()

    def _for(self, seats: int) -> Sequence[Agent]:
        """Return the opponents, or one of them for all the seats if their numbers differ."""
        if seats and not self.opponents:
            raise SpecError("there is no opponent to sit there: start with --opponent")
        return self.opponents if len(self.opponents) == seats else self.opponents[: min(1, seats)]

    def _save(self, argument: str) -> Iterator[Shown]:
        path = _file("save", argument)
        save_game(self.session, path)
        self.unsaved = False
        yield Shown("note", f"saved in {path}; load {path} goes on")

    def _load(self, argument: str) -> Iterator[Shown]:
        path = _file("load", argument)
        session = self.session
        self.session = load_game(path, session.game, self.make_agent, judge=session.judge, named=self.named)
        self.session.prepare()
        self.opponents = [agent for agent in self.session.seats if agent] or self.opponents
        self.unsaved = False
        players = ", ".join(seat_line(self.session, player) for player in range(len(self.session.seats)))
        yield Shown("note", f"loaded {path}: {len(self.session.plies)} plies. {players}")
        yield from self._go_on()

    def _quit(self) -> Iterator[Shown]:
        self.done = True
        yield Shown("note", "goodbye")

    def _brief(self, message: str) -> str:
        """Return the message without the position, which stands on the board."""
        text = self.session.game.to_text(self.session.state)
        quoted = "|".join(re.escape(q) for q in (repr(text), f'"{text}"'))
        return re.sub(rf" in (\S+ )?position ({quoted})", "", message)


def _file(command: str, text: str) -> Path:
    """Return the file that follows save or load; quotes around it are taken off."""
    name = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
    if not name or "\0" in name:
        raise SpecError(f"{command} {text!r}: name a file, as in {command} game.json")
    return Path(name).expanduser()
