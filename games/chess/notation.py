"""Files of chess: games in PGN (Portable Game Notation), positions with remarks in EPD. Both are read and written.

Real games go on after a draw that nobody claimed, so they are replayed by the laws of movement alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.chess.fen import MAX_CLOCK, MAX_NUMBER, read_fen, read_number, write_fen, write_placement
from evallearn.games.chess.moves import START
from evallearn.games.chess.san import read_move, san
from evallearn.games.chess.state import State, advance

ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
"""The tags that every game must have, besides Result, and what they say when nothing is known."""
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
NAG_OF = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
"""The numbers that stand for marks after a move."""
MAX_NAG = 255
LINE_WIDTH = 80
TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<escape>^%[^\n]*)
    | (?P<comment>\{[^}]*\} | ;[^\n]*)
    | \[ \s* (?P<tag>[A-Za-z0-9_]+) \s* "(?P<value>(?:[^"\\]|\\.)*)" \s* \]
    | (?P<nag>\$[0-9]+)
    | (?P<mark>!!|\?\?|!\?|\?!|!|\?)
    | (?P<variation>[()])
    | (?P<result>(?:1-0|0-1|1/2-1/2|\*)(?!\S))
    | (?P<number>[0-9]+(?:\.+|(?![^\s.])))
    | (?P<dots>\.+)
    | (?P<move>[A-Za-z0-9][^\s(){};$!?\[\]]*)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class PgnGame:
    """The main line of a game; its plies count from 1, and 0 stands for the time before the first."""

    moves: tuple[int, ...]
    start: State = field(default=State(START))
    result: str = "*"
    tags: Mapping[str, str] = field(default_factory=dict)
    """Without Result, FEN and SetUp, which `result` and `start` say; those that must be there are filled in."""
    comments: Mapping[int, str] = field(default_factory=dict)
    """{ply: the comment after it}."""
    nags: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """{ply: numeric annotation glyphs}."""

    def __post_init__(self) -> None:
        if self.result not in RESULTS:
            raise BadNotation(f"the result is {self.result!r}; expected one of {' '.join(RESULTS)}")
        object.__setattr__(self, "tags", {**ROSTER, **self.tags})

    def states(self) -> Iterator[State]:
        """Yield the positions from the start to the end: one more than there are moves."""
        s = self.start
        yield s
        for a in self.moves:
            s = advance(s, a)
            yield s


@dataclass(frozen=True)
class Epd:
    """A position and operations on it, such as bm (best moves) and id."""

    state: State
    operations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """{opcode: operands}, without hmvc and fmvn, which the state knows."""

    def moves(self, opcode: str) -> tuple[int, ...]:
        """Return the operands as actions; raise BadNotation or IllegalAction if they are none."""
        return tuple(read_move(self.state, text) for text in self.operations.get(opcode, ()))


# --- PGN in ----------------------------------------------------------------------------------------------------------
class _Reader:
    """One game while it is read."""

    def __init__(self, number: int) -> None:
        self.number, self.tags = number, dict[str, str]()
        self.state: State | None = None
        self.start = State(START)
        self.moves: list[int] = []
        self.comments: dict[int, str] = {}
        self.nags: dict[int, tuple[int, ...]] = {}

    def begin(self) -> State:
        """Return the state to go on from; the tags are complete when it is first needed."""
        if self.state is None:
            if "FEN" in self.tags:
                try:
                    self.start = read_fen(self.tags["FEN"])
                except BadNotation as error:
                    raise BadNotation(f"PGN game {self.number}: {error}") from None
            self.state = self.start
        return self.state

    def move(self, text: str) -> None:
        s = self.begin()
        try:
            a = read_move(s, text)
        except (BadNotation, IllegalAction) as error:
            raise BadNotation(f"PGN game {self.number}, ply {len(self.moves) + 1}: {error}") from None
        self.moves.append(a)
        self.state = advance(s, a)

    def comment(self, text: str) -> None:
        ply, words = len(self.moves), text.split()
        self.comments[ply] = " ".join([*self.comments.get(ply, "").split(), *words])

    def nag(self, text: str) -> None:
        ply = len(self.moves)
        try:
            number = NAG_OF.get(text) or read_number(text[1:], "glyph", MAX_NAG)
        except BadNotation as error:
            raise BadNotation(f"PGN game {self.number}, ply {ply}: {error}") from None
        self.nags[ply] = (*self.nags.get(ply, ()), number)

    def finish(self, result: str | None) -> PgnGame:
        self.begin()
        tagged = self.tags.get("Result", "*")
        outcome = result or (tagged if tagged in RESULTS else "*")
        tags = {name: value for name, value in self.tags.items() if name not in ("Result", "FEN", "SetUp")}
        return PgnGame(tuple(self.moves), self.start, outcome, tags, self.comments, self.nags)


def read_pgn(text: str) -> list[PgnGame]:
    """Read all games of the text: tags, main line, comments, glyphs, no variations; or raise BadNotation."""
    games: list[PgnGame] = []
    game: _Reader | None = None
    depth = at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None:
            line, expected = text.count("\n", 0, at) + 1, "expected a tag pair, a move, a comment or a result"
            raise BadNotation(f"PGN line {line}: {text[at : at + 20]!r} is not understood; {expected}")
        at = token.end()
        kind, found = token.lastgroup, token[0]
        if kind in ("space", "escape"):
            continue
        if kind == "value" and game is not None and game.state is not None and not depth:
            games.append(game.finish(None))
            game = None
        if game is None:
            game, depth = _Reader(len(games) + 1), 0
        if kind == "variation":
            depth = depth + 1 if found == "(" else depth - 1
            if depth < 0:
                raise BadNotation(f"PGN game {game.number}, ply {len(game.moves)}: ')' closes no variation; remove it")
        elif depth:
            continue
        elif kind == "value":
            game.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"], flags=re.DOTALL)
        elif kind == "move":
            game.move(found)
        elif kind == "comment":
            game.begin()
            game.comment(found[1:-1] if found[0] == "{" else found[1:])
        elif kind in ("nag", "mark"):
            game.nag(found)
        elif kind == "result":
            games.append(game.finish(found))
            game = None
    if game is not None:
        if depth:
            raise BadNotation(f"PGN game {game.number}: a variation is not closed; add ')'")
        games.append(game.finish(None))
    return games


# --- PGN out ---------------------------------------------------------------------------------------------------------
def write_pgn(games: Iterable[PgnGame]) -> str:
    """Write the games in export format: tags, then moves in SAN, in lines of at most 80 characters."""
    return "\n".join(_write_game(game) for game in games)


def _write_game(game: PgnGame) -> str:
    start = {"SetUp": "1", "FEN": write_fen(game.start)} if game.start != State(START) else {}
    roster = {name: game.tags[name] for name in ROSTER} | {"Result": game.result}
    tags = [_write_tag(*tag) for tag in (roster | start | dict(game.tags) | {"Result": game.result}).items()]
    return "\n".join([*tags, "", *_fill(_movetext(game)), ""])


def _write_tag(name: str, value: str) -> str:
    if not re.fullmatch("[A-Za-z0-9_]+", name):
        raise BadNotation(f"PGN tag {name!r}: its name must be of letters, digits and _")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _movetext(game: PgnGame) -> Iterator[str]:
    """Yield words that any white space may part; one that ends in a line feed must be the last of its line."""
    yield from _remarks(game, 0)
    numbered = False
    for ply, (s, a) in enumerate(zip(game.states(), game.moves, strict=False), 1):
        if s.position.player == 0 or not numbered:
            yield f"{s.number}." if s.position.player == 0 else f"{s.number}..."
        yield san(s.position, a)
        numbered = ply not in game.comments  # after a comment, and at the start, Black's move has its number too
        yield from _remarks(game, ply)
    yield game.result


def _remarks(game: PgnGame, ply: int) -> Iterator[str]:
    yield from (f"${number}" for number in game.nags.get(ply, ()))
    if ply in game.comments:
        words = game.comments[ply].split()
        if "}" in game.comments[ply]:  # which would end a comment in braces
            yield "; " + " ".join(words) + "\n"
        else:
            yield from ("{" + " ".join(words) + "}").split(" ")


def _fill(words: Iterable[str]) -> Iterator[str]:
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word.rstrip("\n")) > LINE_WIDTH:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
        if line.endswith("\n"):
            yield line[:-1]
            line = ""
    if line:
        yield line


# --- EPD -------------------------------------------------------------------------------------------------------------
EPD_LINE = re.compile(r"((?:[^\s;]+\s+){3}[^\s;]+)((?:\s+[0-9]+){2}(?=\s|;|$))?(.*)", re.DOTALL)
OPERATION = re.compile(r"""\s*([A-Za-z][A-Za-z0-9_]*)((?:\s+(?:"[^"]*"|[^\s;"]+))*)\s*(?:;|$)""")
OPERAND = re.compile(r""""([^"]*)"|([^\s;"]+)""")
QUOTED = re.compile("id|c[0-9]")
"""The opcodes whose operand is a text, always written in quotation marks."""


def read_epd(text: str) -> list[Epd]:
    """Read a position with its operations from each line that is not empty, or raise BadNotation.

    The clock and the move number may stand after the four fields, as in FEN, or be given by hmvc and fmvn.
    """
    lines = ((i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip())
    return [_read_line(line, f"EPD line {i}") for i, line in lines]


def _read_line(line: str, where: str) -> Epd:
    parts = EPD_LINE.fullmatch(line.strip())
    if parts is None:
        raise BadNotation(f"{where}, {line!r}: expected board, w or b, castling and en passant, then operations")
    try:
        state = read_fen(parts[1] + (parts[2] or ""))
        operations = _read_operations(parts[3])
        if "hmvc" in operations:
            state = state._replace(clock=read_number(" ".join(operations.pop("hmvc")), "hmvc", MAX_CLOCK))
        if "fmvn" in operations:
            number = read_number(" ".join(operations.pop("fmvn")), "fmvn", MAX_NUMBER)
            state = state._replace(number=max(1, number))
    except BadNotation as error:
        raise BadNotation(f"{where}: {error}") from None
    return Epd(state, operations)


def _read_operations(text: str) -> dict[str, tuple[str, ...]]:
    operations: dict[str, tuple[str, ...]] = {}
    rest = text.strip(" \t\r;")
    while rest:
        found = OPERATION.match(rest)
        if found is None:
            raise BadNotation(f'the operation {rest[:20]!r} is not understood; expected such as bm Nf3; or id "name";')
        if found[1] in operations:
            raise BadNotation(f"the operation {found[1]} stands there twice; join or rename them")
        operations[found[1]] = tuple(a or b for a, b in OPERAND.findall(found[2]))
        rest = rest[found.end() :].lstrip(" \t;")
    return operations


def write_epd(records: Iterable[Epd]) -> str:
    """Write a line for each; clock and move number, if they are not 0 and 1, as hmvc and fmvn."""
    return "".join(f"{_write_record(record)}\n" for record in records)


def _write_record(record: Epd) -> str:
    s = record.state
    clocks = {"hmvc": (str(s.clock),), "fmvn": (str(s.number),)} if (s.clock, s.number) != (0, 1) else {}
    operations = dict(record.operations) | clocks
    return " ".join([write_placement(s.position), *(f"{' '.join(_operation(*item))};" for item in operations.items())])


def _operation(opcode: str, operands: tuple[str, ...]) -> Iterator[str]:
    yield opcode
    for operand in operands:
        if '"' in operand or not operand.isprintable():
            raise BadNotation(f"EPD operation {opcode}: {operand!r} cannot be written; leave out quotation marks")
        plain = OPERAND.fullmatch(operand) and not QUOTED.fullmatch(opcode)
        yield operand if plain else f'"{operand}"'
