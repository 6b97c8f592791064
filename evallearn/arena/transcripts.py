"""Games as transcripts: one game a line, as players of the game write it, and comments that say who played.

    # evallearn transcripts of othello, version 1

    # game: 1
    # set: 0
    # player 1: handwritten:mobility@depth=4
    # player 2: random
    # opening: 2
    # plies: 60
    # result: 1 -1
    f5d6c3d3c4...

`opening` counts the plies from the initial position, among `plies` in all, that were played before the agents took
over. Where it is not known how the opening came about, `position` stands in its place, and the line begins there. `end`
says how a game ended if not by its rules. A file without the first line may be anybody's: its lines are whole games,
played to the end, and its comments are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evallearn.arena.records import GameRecord, legal_action, numbers, position
from evallearn.core.game import Action, Game, State
from evallearn.errors import DataError

HEADER_BEGINS = "# evallearn"
HEADER = re.compile(r"# evallearn transcripts of (.*), version ([0-9]{1,18})")
VERSION = 1
NO_MOVES = "(none)"
"""The line of a game that ended before its first move."""
UNKNOWN = "?"
"""The name of a player that nobody wrote down."""
COMMENT = re.compile(r"#\s*(game|set|player [0-9]{1,3}|opening|position|plies|result|end):(?: (.*))?")
UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Ends of lines, control characters, and halves of characters that UTF-8 does not have."""


# --- how a game's moves make a line ----------------------------------------------------------------------------------
class Line:
    """Moves separated by blanks: any game whose moves have none."""

    def said(self, moves: Sequence[str]) -> list[str]:
        """Return the moves without those that go without saying."""
        return list(moves)

    def join(self, moves: Sequence[str]) -> str:
        """Return the moves that are said, as a line."""
        return " ".join(moves)

    def split(self, line: str) -> list[str]:
        """Return the moves of a line: the inverse of `join`."""
        return line.split()

    def unsaid(self, game: Game, s: State, move: str) -> Action | None:
        """Return what was played before `move` without being said."""
        return None


class Joined(Line):
    """Moves that need no blanks between them: f5d6c3, 4453."""

    def __init__(self, move: str, passed: str | None = None) -> None:
        self.move, self.passed = re.compile(rf"{move}|\S", re.IGNORECASE), passed

    def said(self, moves: Sequence[str]) -> list[str]:
        """Leave out a forced pass, as in all transcripts, unless nothing follows it."""
        return [move for i, move in enumerate(moves, 1) if move != self.passed or i == len(moves)]

    def join(self, moves: Sequence[str]) -> str:
        """Return the moves without blanks."""
        return "".join(moves)

    def split(self, line: str) -> list[str]:
        """Split the line, also one with blanks; a character that belongs to no move comes alone, to be refused."""
        return self.move.findall(line)

    def unsaid(self, game: Game, s: State, move: str) -> Action | None:
        """Return a pass, if there is nothing else to do."""
        if self.passed is None or move.lower() == self.passed:
            return None
        actions = game.actions(s)
        return actions[0] if [game.action_to_text(s, a) for a in actions] == [self.passed] else None


class Dice(Line):
    """A roll with a colon, then the play: 31: 8/5 6/5 62: 13/5."""

    def join(self, moves: Sequence[str]) -> str:
        """Put a colon after rolls: those that are digits alone."""
        return " ".join(f"{move}:" if move.isdigit() else move for move in moves)

    def split(self, line: str) -> list[str]:
        """Return rolls and plays: what stands between two rolls is one play."""
        parts = re.split(r"([0-9]+):", line)
        return [part.strip() for part in parts if part.strip()]


LINES = {
    "othello": Joined("[a-h][1-8]|pass", passed="pass"),
    "connect_four": Joined("[1-7]"),
    "tic_tac_toe": Joined("[1-9]"),
    "three_player_connect": Joined("[1-9]"),
    "backgammon": Dice(),
}
"""By the name of the game without its parameters; all others have blanks."""


def line_of(game: Game) -> Line:
    """Return how this game's moves are written in a row."""
    return LINES.get(game.name.partition(",")[0], Line())


# --- out -------------------------------------------------------------------------------------------------------------
def header(game: Game) -> str:
    """Return the first line, and an empty one."""
    return f"# evallearn transcripts of {game.name}, version {VERSION}\n\n"


def transcript(game: Game, record: GameRecord, where: str) -> str:
    """Return the comments and the line of one game. Raises DataError if a line cannot hold it."""
    known = record.opening_actions is not None
    comments = {
        "game": str(record.number),
        "set": str(record.set),
        **{f"player {i}": name for i, name in enumerate(record.players, 1)},
        **({"opening": str(len(record.opening_actions or ()))} if known else {"position": record.opening}),
        "plies": str(len(record.moves)),
        "result": numbers(record.utilities),
        **({"end": record.end} if record.end else {}),
    }
    line = _line(game, record, where)
    for what, text in (*comments.items(), ("line of moves", line)):
        if UNWRITABLE.search(text):
            raise DataError(f"{where}: its {what} is {text!r}, which no line can hold: write .jsonl instead")
    return "".join(f"# {key}: {text}".rstrip(" ") + "\n" for key, text in comments.items()) + line + "\n"


def _line(game: Game, record: GameRecord, where: str) -> str:
    """Return the moves as a line; refuse moves with blanks, or a line that looks like a comment."""
    way = line_of(game)
    said = way.said(record.moves)
    line = way.join(said) if said else NO_MOVES
    if (said and way.split(line) != said) or line.startswith("#") or (said and line == NO_MOVES):
        raise DataError(f"{where}: its moves, {line[:40]!r}, cannot be told apart in a line: write .jsonl instead")
    return line


# --- in --------------------------------------------------------------------------------------------------------------
@dataclass
class _Said:
    """The comments above a line."""

    at: int = 0
    """The line of the first."""
    by: dict[str, str] = field(default_factory=dict)

    def text(self, key: str, where: str) -> str:
        if key not in self.by:
            raise DataError(f"{where} has no comment '# {key}: ...' above it: the file is damaged, or write that line")
        return self.by[key]

    def whole(self, key: str, where: str) -> int:
        text = self.text(key, where)
        if not re.fullmatch("[0-9]{1,18}", text):
            raise DataError(f"{where}: '# {key}: {text}': expected a whole number")
        return int(text)


def read_transcripts(game: Game, text: str, source: str) -> Iterator[GameRecord]:
    """Read the games of a file, moves checked as far as was needed to tell them apart. Raises DataError."""
    lines = text.split("\n")
    ours = _check_header(game, lines[0], source)
    said, count = _Said(), 0
    for at, line in enumerate(lines, 1):
        if line.startswith("#"):
            _listen(said, line, at, source)
        elif line.strip():
            count += 1
            where = f"{source}, line {at}"
            yield _ours(game, said, line, where) if ours else _anybodys(game, count, line, where)
            said = _Said()
    if ours and said.by:
        raise DataError(f"{source}, line {said.at}: comments without a game after them: the file is cut short; mend it")


def _check_header(game: Game, line: str, source: str) -> bool:
    """Return True if the file is one of ours."""
    found = HEADER.fullmatch(line.rstrip())
    if line.startswith(HEADER_BEGINS) and not found:
        raise DataError(f"{source}, line 1: {line[:60]!r} is damaged: expected {header(game).strip()!r}")
    if found and found[1] != game.name:
        raise DataError(f"{source} has games of {found[1]}, not of {game.name}: read it as {found[1]}")
    if found and int(found[2]) != VERSION:
        raise DataError(f"{source} has version {found[2]}, this program reads version {VERSION}: use one that wrote it")
    return found is not None


def _listen(said: _Said, line: str, at: int, source: str) -> None:
    if found := COMMENT.fullmatch(line):
        if found[1] in said.by:
            raise DataError(
                f"{source}, line {at}: '# {found[1]}' is said twice of one game: is a line of moves missing?"
            )
        said.by[found[1]] = found[2] or ""
        said.at = said.at or at


def _ours(game: Game, said: _Said, line: str, where: str) -> GameRecord:
    number = said.whole("game", where)
    known = "position" not in said.by
    start = game.initial() if known else position(game, said.by["position"], where)
    moves, states = _play(game, start, line, f"{where}, game {number}")
    plies, opening = said.whole("plies", where), said.whole("opening", where) if known else 0
    if len(moves) != plies or opening > plies:
        raise DataError(
            f"{where}, game {number} has {len(moves)} plies, but its comments say {plies}, {opening} of them the "
            "opening: moves are missing, or correct the comments"
        )
    return GameRecord(
        number=number,
        opening=game.to_text(states[opening]) if known else said.by["position"],
        opening_actions=moves[:opening] if known else None,
        players=tuple(said.text(f"player {i}", where) for i in range(1, game.n_players + 1)),
        actions=moves[opening:],
        utilities=_result(said.text("result", where), where),
        end=said.by.get("end", ""),
        set=said.whole("set", where),
    )


def _anybodys(game: Game, number: int, line: str, where: str) -> GameRecord:
    moves, states = _play(game, game.initial(), line, f"{where}, game {number}")
    if not game.is_terminal(states[-1]):
        raise DataError(
            f"{where}, game {number}, after ply {len(moves)}: the game goes on, and nothing says how it ended: "
            f"complete it, or begin the file with {header(game).strip()!r} and add comments"
        )
    utilities = tuple(game.utility(states[-1], player) for player in range(game.n_players))
    return GameRecord(number, game.to_text(states[0]), (), (UNKNOWN,) * game.n_players, moves, utilities)


def _play(game: Game, s: State, line: str, where: str) -> tuple[tuple[str, ...], list[State]]:
    """Return the moves of the line, passes put back, and the positions, one more."""
    way, moves, states = line_of(game), list[str](), [s]

    def add(a: Action) -> None:
        moves.append(game.action_to_text(states[-1], a))
        states.append(game.result(states[-1], a))

    for text in way.split(line) if line.strip() != NO_MOVES else ():
        if (passed := way.unsaid(game, states[-1], text)) is not None:
            add(passed)
        add(legal_action(game, states[-1], text, f"{where}, ply {len(moves) + 1}, {text!r}"))
    return tuple(moves), states


def _result(text: str, where: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.split())
    except ValueError:
        raise DataError(f"{where}: '# result: {text}': expected a number for each player") from None
