"""Pacman positions as text, as a picture and as words.

    %%%%%%%%/%P.o-..%/%%%%%%%% ghosts=g2W!13@e2,e2- score=-3 moves=97 turn=1

The rows show walls, food, capsules and Pacman. Each ghost is its cell, its heading (- before its first move), after a !
how many moves it is still scared, and after an @ its start where that is another cell. turn=0 is Pacman's. The word
`caught` at the end says that the game is over. A maze may draw its ghosts as G instead and leave out all the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evallearn.errors import BadNotation
from evallearn.games.pacman.state import (
    CAUGHT_POINTS,
    MAX_CELLS,
    MAX_GHOSTS,
    MAX_MOVES,
    MAX_WIDTH,
    MOST_POINTS,
    SCARED_MOVES,
    STOP,
    Ghost,
    State,
    cells_of,
)

DEFAULT_MOVES = 100
HEADINGS = "NESW-"
MARKS = "%.oPG-"
GHOST = re.compile(r"([a-z])([1-9][0-9]?)([NESW-])(?:!([0-9]{1,2}))?(?:@([a-z])([1-9][0-9]?))?")


def cell_name(s: State, cell: int) -> str:
    """Return b2: column letter and row number, from the top left."""
    return f"{chr(ord('a') + cell % s.width)}{cell // s.width + 1}"


# --- writing ---------------------------------------------------------------------------------------------------------
def mark(s: State, cell: int, ghosts: bool = False) -> str:
    """Return what the rows show of a cell."""
    if s.walls >> cell & 1:
        return "%"
    if cell == s.pacman:
        return "P"
    if ghosts and any(cell == ghost.cell for ghost in s.ghosts):
        return "G"
    return "." if s.food >> cell & 1 else "o" if s.capsules >> cell & 1 else "-"


def rows_text(s: State, *, ghosts: bool = False) -> str:
    """Write the rows with / between them."""
    rows = (range(y * s.width, (y + 1) * s.width) for y in range(s.height))
    return "/".join("".join(mark(s, cell, ghosts) for cell in row) for row in rows)


def ghost_text(s: State, ghost: Ghost) -> str:
    """Write g2W!13@e2."""
    scared = f"!{ghost.scared}" if ghost.scared else ""
    start = f"@{cell_name(s, ghost.start)}" if ghost.start != ghost.cell else ""
    return f"{cell_name(s, ghost.cell)}{HEADINGS[ghost.heading]}{scared}{start}"


def to_text(s: State) -> str:
    """Write the whole position on one line."""
    ghosts = ",".join(ghost_text(s, ghost) for ghost in s.ghosts)
    fields = f"ghosts={ghosts} score={s.score} moves={s.moves} turn={s.turn}"
    return f"{rows_text(s)} {fields}" + (" caught" if s.caught else "")


def picture(s: State) -> str:
    """Draw the maze with coordinates, each ghost as its number, X where Pacman was caught.

    Below it: score, moves, scared ghosts.
    """
    marks = [mark(s, cell).replace("-", " ") for cell in range(s.width * s.height)]
    for i, ghost in reversed(list(enumerate(s.ghosts, 1))):
        if ghost.cell != s.pacman:
            marks[ghost.cell] = str(i)
    if s.caught:
        marks[s.pacman] = "X"
    letters = "".join(chr(ord("a") + x) for x in range(s.width))
    rows = [f"{y + 1:2} " + "".join(marks[y * s.width : (y + 1) * s.width]) for y in range(s.height)]
    scared = "".join(f", ghost {i} scared for {g.scared} moves" for i, g in enumerate(s.ghosts, 1) if g.scared)
    return "\n".join([f"   {letters}", *rows, f"score {s.score}, {s.moves} moves left{scared}"])


# --- reading ---------------------------------------------------------------------------------------------------------
class Drawing(NamedTuple):
    """What the rows of a text show."""

    width: int
    cells: dict[str, list[int]]

    def bits(self, marks: str) -> int:
        return sum(1 << cell for cell in self.cells[marks])


def bad(text: str, why: str) -> BadNotation:
    return BadNotation(f"pacman position {text!r}: {why}")


def from_text(text: str) -> State:
    """Read the position of `text`, or raise BadNotation."""
    end = text.rfind("%") + 1  # the bottom wall
    drawing = read_rows(text, text[:end])
    fields, caught = read_fields(text, text[end:])
    walls = drawing.bits("%")
    pacman = drawing.cells["P"][0]
    s = State(drawing.width, walls, drawing.bits("."), drawing.bits("o"), pacman, (), 0, 0, 0, 0)
    s = s._replace(ghosts=read_ghosts(text, s, drawing.cells["G"], fields.get("ghosts")))
    s = s._replace(
        turn=number(text, "turn", fields.get("turn", "0"), 0, len(s.ghosts)),
        score=number(text, "score", fields.get("score", "0"), -MOST_POINTS, MOST_POINTS),
        moves=number(text, "moves", fields.get("moves", str(DEFAULT_MOVES)), 0, MAX_MOVES),
        caught=int(caught),
    )
    check(text, s)
    return s


def read_maze(text: str) -> State:
    """Read a maze to begin with: rows alone, and something to eat."""
    s = from_text(text)
    if text.rstrip()[-1] != "%" or not s.food:
        what = "has no food: draw some as ." if not s.food else "goes on after its last row: end it there"
        raise bad(text, f"a maze to begin with {what}")
    return s


def read_rows(text: str, rows_part: str) -> Drawing:
    """Read rows with / or line breaks between them; spaces inside a row are empty cells."""
    rows = [row.strip() for row in re.split(r"[/\n]", rows_part) if row.strip()]
    if len(rows) < 3:
        raise bad(text, f"{len(rows)} rows; expected 3 or more, such as %%%%%/%P.G%/%%%%%")
    width = len(rows[0])
    if width > MAX_WIDTH or width * len(rows) > MAX_CELLS:
        raise bad(
            text, f"{width} x {len(rows)} cells; at most {MAX_WIDTH} columns and {MAX_CELLS} cells fit: draw it smaller"
        )
    cells: dict[str, list[int]] = {m: [] for m in MARKS}
    for y, row in enumerate(rows):
        if len(row) != width:
            raise bad(text, f"row {y + 1} has {len(row)} cells, row 1 has {width}: make them equal")
        for x, c in enumerate(row):
            if c not in CANONICAL:
                raise bad(text, f"{c!r} in row {y + 1}; expected % . o P G or - for nothing")
            if CANONICAL[c] != "%" and (y in (0, len(rows) - 1) or x in (0, width - 1)):
                raise bad(text, f"row {y + 1} has {c!r} at its edge: enclose the maze in walls, %")
            cells[CANONICAL[c]].append(y * width + x)
    if len(cells["P"]) != 1:
        raise bad(text, f"{len(cells['P'])} Pacmen; draw one P")
    return Drawing(width, cells)


def read_fields(text: str, part: str) -> tuple[Mapping[str, str], bool]:
    """Read the fields after the rows, and whether `caught` stands at the end."""
    words = part.split()
    caught = words[-1:] == ["caught"]
    fields: dict[str, str] = {}
    for word in words[: len(words) - caught]:
        name, equals, value = word.partition("=")
        if name not in FIELDS or not equals:
            raise bad(text, f"{word!r} after the rows; expected {' '.join(f'{f}=' for f in FIELDS)} or caught")
        if name in fields:
            raise bad(text, f"{name}= is given twice: drop one")
        fields[name] = value
    return fields, caught


def number(text: str, name: str, value: str, low: int, high: int) -> int:
    if not re.fullmatch("-?[0-9]{1,9}", value) or not low <= int(value) <= high:
        raise bad(text, f"{name}={value}: expected a whole number from {low} to {high}")
    return int(value)


def read_ghosts(text: str, s: State, drawn: Sequence[int], listed: str | None) -> tuple[Ghost, ...]:
    """Return the ghosts as they are drawn, in reading order, or as they are listed."""
    if drawn and listed is not None:
        raise bad(text, "ghosts are both drawn and listed: keep one of them")
    parts = listed.split(",") if listed else []
    ghosts = [Ghost(cell, STOP, 0, cell) for cell in drawn] + [read_ghost(text, s, part) for part in parts]
    if not 1 <= len(ghosts) <= MAX_GHOSTS:
        raise bad(text, f"{len(ghosts)} ghosts; expected 1 to {MAX_GHOSTS}, drawn as G or listed as ghosts=b2N,c3-")
    return tuple(ghosts)


def read_ghost(text: str, s: State, part: str) -> Ghost:
    found = GHOST.fullmatch(part)
    if not found:
        raise bad(text, f"ghost {part!r}; expected cell, heading (N E S W -), !moves scared, @start, as in g2W!13@e2")
    letter, row, heading, scared, start_letter, start_row = found.groups()
    cell = read_cell(text, s, letter, row)
    start = read_cell(text, s, start_letter, start_row) if start_letter else cell
    if int(scared or 0) > SCARED_MOVES:
        raise bad(text, f"ghost {part!r} is scared for {scared} moves; a capsule lasts {SCARED_MOVES}")
    return Ghost(cell, HEADINGS.index(heading), int(scared or 0), start)


def read_cell(text: str, s: State, letter: str, row: str) -> int:
    x, y = ord(letter) - ord("a"), int(row) - 1
    if x >= s.width or y >= s.height or s.walls >> (y * s.width + x) & 1:
        raise bad(text, f"a ghost at {letter}{row}, which is a wall or outside: put it on a free cell")
    return y * s.width + x


def check(text: str, s: State) -> None:
    """Refuse a position from which the rules cannot go on."""
    away = s.distances([s.pacman])
    for cell in cells_of(s.food | s.capsules):
        if cell not in away:
            raise bad(text, f"Pacman cannot get to what lies at {cell_name(s, cell)}: open a way or take it away")
    here = any(ghost.cell == s.pacman and not ghost.scared for ghost in s.ghosts)
    if s.caught and not (here and s.food):
        raise bad(text, "caught, but no ghost that could do it is on Pacman's cell: drop 'caught'")
    low, high = s.reach
    if low < -MOST_POINTS or high > MOST_POINTS:
        raise bad(
            text,
            f"the score could become {low} to {high}, and {-MOST_POINTS} to {MOST_POINTS} is allowed: "
            "use less food, fewer capsules or ghosts, or another score",
        )


def check_apart(text: str, s: State, ghosts: int, name: str) -> None:
    """Refuse what has no seats for its ghosts where each is a player, or pays them more than there can be."""
    if len(s.ghosts) != ghosts:
        raise bad(
            text,
            f"{len(s.ghosts)} ghosts, but {name} has {ghosts}, each a player: name a maze with as many (maze=), or "
            "leave out ghosts=apart",
        )
    if s.caught and s.score - CAUGHT_POINTS > MOST_POINTS:
        raise bad(text, f"caught with a score of {s.score}: at most {MOST_POINTS + CAUGHT_POINTS} is allowed")


CANONICAL = {**{m: m for m in MARKS}, "O": "o", "p": "P", "g": "G", " ": "-"}
FIELDS = ("ghosts", "score", "moves", "turn")


# --- words -----------------------------------------------------------------------------------------------------------
WORD = (1 << 64) - 1


def encode(s: State) -> tuple[int, ...]:
    """Return the fields of rules.State: three sets of cells, two words each, then ghosts, setup and clock."""
    ghosts = sum((g.cell | g.heading << 7 | g.scared << 10) << 16 * i for i, g in enumerate(s.ghosts))
    starts = sum(g.start << 7 * i for i, g in enumerate(s.ghosts))
    setup = starts | len(s.ghosts) << 28 | s.width << 31
    clock = s.pacman | s.turn << 7 | s.moves << 10 | s.caught << 18 | (s.score + MOST_POINTS) << 19
    sets = (s.walls, s.food, s.capsules)
    return (*(half for cells in sets for half in (cells & WORD, cells >> 64)), ghosts, setup, clock)


def decode(words: Sequence[int]) -> State:
    """Return the state of the words: the inverse of `encode`."""
    w = [int(word) for word in words]
    ghosts, setup, clock = w[6:]
    count = setup >> 28 & 7
    fields = [(ghosts >> 16 * i, setup >> 7 * i) for i in range(count)]
    return State(
        width=setup >> 31,
        walls=w[0] | w[1] << 64,
        food=w[2] | w[3] << 64,
        capsules=w[4] | w[5] << 64,
        pacman=clock & 127,
        ghosts=tuple(Ghost(g & 127, g >> 7 & 7, g >> 10 & 63, start & 127) for g, start in fields),
        turn=clock >> 7 & 7,
        score=(clock >> 19) - MOST_POINTS,
        moves=clock >> 10 & 255,
        caught=clock >> 18 & 1,
    )
