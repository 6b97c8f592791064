"""Checkers games in PDN, the Portable Draughts Notation: tags, numbered moves, comments, results.

Read: tags, moves such as 11-15, 22x15 and 22x15x8, comments {} and ; to the end of the line. Skipped: lines that begin
with %, variations in brackets, $ and !? annotations. Results are those of English draughts: 1-0 if Black, who begins,
has won; 2-0, 1-1 and 0-2 are read too. A drawing rule stops no game here: players may go on if nobody claims the draw.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.checkers.moves import State, moves, play
from evallearn.games.checkers.notation import INITIAL, fen, find_move, move_text, read_fen

RESULTS = {
    "1-0": "1-0", "0-1": "0-1", "1/2-1/2": "1/2-1/2", "*": "*",
    "2-0": "1-0", "0-2": "0-1", "1-1": "1/2-1/2", "0-0": "*",
}  # fmt: skip
"""As they are written in files, as we write them."""
ENGLISH = "21"
"""The number of English draughts in a GameType tag."""
TOKEN = re.compile(
    r"""
      (?P<space> \s+ | ^%[^\n]* )
    | \[ \s* (?P<tag> \w+ ) \s* "(?P<value> (?: [^"\\] | \\. )* )" \s* \]
    | \{ (?P<comment> [^}]* ) \}
    | ; (?P<rest> [^\n]* )
    | (?P<bracket> [()] )
    | (?P<note> \$[0-9]+ | [!?]+ )
    | (?P<result> (?: 1/2-1/2 | [012]-[012] | \* ) (?! [0-9x:-] ) )
    | (?P<number> [0-9]+ \s* \.+ )
    | (?P<move> [0-9]{1,2} (?: [-x:][0-9]{1,2} )+ )
    | (?P<unknown> \S+ )
    """,
    re.VERBOSE | re.MULTILINE | re.ASCII | re.DOTALL | re.IGNORECASE,
)
NAME = re.compile(r"[A-Za-z0-9_]+")
ROSTER = ("Event", "Site", "Date", "Round", "Black", "White")
"""Tags that come first, in this order; they are not obligatory."""


@dataclass(frozen=True)
class PdnGame:
    """One game of a PDN file."""

    actions: tuple[int, ...] = ()
    start: State = INITIAL
    """The position of the FEN tag."""
    result: str = "*"
    """1-0 if Black has won, 0-1, 1/2-1/2, or * if it is not known."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """All but Result and FEN."""
    comments: Mapping[int, str] = field(default_factory=dict)
    """{plies played before it: text}, white space as single blanks."""

    def states(self) -> list[State]:
        """Return the positions from the first to the last."""
        found = [self.start]
        for a in self.actions:
            move = next((move for move in moves(found[-1]) if move.action == a), None)
            if move is None:
                raise IllegalAction(f"illegal action {a!r} in checkers position {fen(found[-1])!r} of a PDN game")
            found.append(play(found[-1], move))
        return found


class _Draft:
    """A game while it is read."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.tags: dict[str, str] = {}
        self.comments: dict[int, str] = {}
        self.start = self.state = INITIAL
        self.actions: list[int] = []
        self.result: str | None = None

    def is_empty(self) -> bool:
        return not (self.tags or self.comments or self.actions or self.result)

    def bad(self, why: str) -> BadNotation:
        return BadNotation(f"PDN game {self.number}, after {len(self.actions)} plies: {why}")

    def tag(self, name: str, value: str) -> None:
        if name == "FEN" and value.strip():
            try:
                self.start = self.state = read_fen(value, value)
            except BadNotation as error:
                raise self.bad(f"the FEN tag: {error}") from None
        if name == "GameType" and value.split(",")[0].strip() != ENGLISH:
            raise self.bad(f"GameType {value!r} is another game: English draughts has {ENGLISH}")
        self.tags[name] = value

    def comment(self, text: str) -> None:
        at = len(self.actions)
        words = text.replace("}", ")").split()  # as ; comments may have it, and {} comments, which we write, not
        self.comments[at] = " ".join([*self.comments.get(at, "").split(), *words])

    def move(self, text: str) -> None:
        try:
            move = find_move(self.state, text)
        except (BadNotation, IllegalAction) as error:
            raise self.bad(str(error)) from None
        self.actions.append(move.action)
        self.state = play(self.state, move)

    def finish(self) -> PdnGame:
        result = self.result or RESULTS.get(self.tags.get("Result", "*").strip(), "*")
        tags = {name: value for name, value in self.tags.items() if name not in ("Result", "FEN")}
        comments = {at: text for at, text in self.comments.items() if text}
        return PdnGame(tuple(self.actions), self.start, result, tags, comments)


def read_pdn(text: str) -> list[PdnGame]:
    """Read the games of a PDN file; raise BadNotation, naming the game and the ply."""
    drafts = [_Draft(1)]
    depth = 0
    for token in TOKEN.finditer(text.removeprefix("\ufeff")):
        draft, kind = drafts[-1], token.lastgroup
        if kind == "bracket":
            depth += 1 if token["bracket"] == "(" else -1
            if depth < 0:
                raise draft.bad("a variation ends that did not begin: remove the )")
        elif depth or kind in ("space", "note", "number"):
            continue
        elif kind in ("comment", "rest"):
            draft.comment(token[kind])  # also after the result: it belongs to the game before
        else:
            if draft.result or (kind == "value" and draft.actions):
                draft = _Draft(len(drafts) + 1)
                drafts.append(draft)
            _take(draft, token)
    if depth:
        raise drafts[-1].bad("a variation does not end: add the missing )")
    return [draft.finish() for draft in drafts if not draft.is_empty()]


def _take(draft: _Draft, token: re.Match[str]) -> None:
    """Take a tag, a move or a result."""
    if token.lastgroup == "value":
        draft.tag(token["tag"], re.sub(r"\\(.)", r"\1", token["value"], flags=re.DOTALL))
    elif token.lastgroup == "move":
        draft.move(token["move"])
    elif token.lastgroup == "result":
        if token["result"] not in RESULTS:
            raise draft.bad(f"{token['result']!r} is no result; expected one of {' '.join(RESULTS)}")
        draft.result = RESULTS[token["result"]]
    else:
        raise draft.bad(
            f"cannot read {token[0][:40]!r}; expected tags, moves such as 11-15 or 22x15, {{comments}}, a result"
        )


def write_pdn(games: Iterable[PdnGame]) -> str:
    """Write the games as a PDN file that read_pdn reads back."""
    lines = textwrap.TextWrapper(79, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{_tags(game)}\n{lines.fill(' '.join(_movetext(game)))}\n" for game in games)


def _tags(game: PdnGame) -> str:
    ordered = sorted(game.tags.items(), key=lambda tag: ROSTER.index(tag[0]) if tag[0] in ROSTER else len(ROSTER))
    start = {"FEN": fen(game.start)} if game.start != INITIAL else {}
    lines = []
    for name, value in (dict(ordered) | {"Result": game.result} | start).items():
        if not NAME.fullmatch(name):
            raise BadNotation(f"PDN tag {name!r}: a name has letters, digits and _ only")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name} "{escaped}"]\n')
    return "".join(lines)


def _movetext(game: PdnGame) -> Iterator[str]:
    """Yield 1. 11-15 22-18 {a comment} 2. 15x22 and so on, then the result."""
    states = game.states()
    for ply, (s, a) in enumerate(zip(states, game.actions, strict=False)):
        yield from _comment(game, ply)
        if ply % 2 == 0:
            yield f"{ply // 2 + 1}."
        yield next(move_text(move) for move in moves(s) if move.action == a)
    yield from _comment(game, len(game.actions))
    yield game.result


def _comment(game: PdnGame, ply: int) -> Iterator[str]:
    if text := " ".join(game.comments.get(ply, "").split()):
        if "}" in text:
            raise BadNotation(f"PDN comment {text!r}: a comment cannot hold a }}")
        yield f"{{{text}}}"
