"""Suites for `evallearn quality` from reference data that real engines made.

    python benchmarks/suites.py connect_four --out c4.jsonl          exact: win, draw or loss of every move
    python benchmarks/suites.py connect_four --score --out c4.jsonl  exact: how soon, as score / 21
    python benchmarks/suites.py othello --out othello.jsonl          exact: FFO end games 1-79, disc difference / 64
    python benchmarks/suites.py othello_values --out values.jsonl    exact: WTHOR positions with 24 empties, value only
    python benchmarks/suites.py backgammon --out bg.jsonl            GNU Backgammon's 2-ply equities

The data are read from ../shared/reference; where they are absent, it says so and ends.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

from evallearn import get_game
from evallearn.core.game import CHANCE, Game, State
from evallearn.quality import Item, Suite, write_suite

REFERENCE = Path(__file__).resolve().parents[2] / "shared/reference"
LONGEST_SCORE = 21
"""Connect Four: a win with the fourth stone of the first player scores 18, no score is higher than 21."""
DISCS = 64


def connect_four(folder: Path = REFERENCE, *, score: bool = False) -> Suite:
    """812 positions, the exact value of every move: its sign (win, draw, loss), or with `score` how soon."""
    game = get_game("connect_four")
    items = []
    with open(folder / "connect_four/c4_allmoves_dev.csv", newline="") as file:
        for row in csv.DictReader(file):
            s = game.from_text(row["moves"])
            scores = {a: int(row[f"m{game.action_to_text(s, a)}"]) for a in game.actions(s)}
            values = {a: v / LONGEST_SCORE if score else float((v > 0) - (v < 0)) for a, v in scores.items()}
            items.append(_item(game, s, values, ply=int(row["ply"]), exact=True))
    return Suite(game, _distinct(items), "BitBully, score / 21" if score else "BitBully, win, draw or loss")


def othello(folder: Path = REFERENCE) -> Suite:
    """The FFO end-game tests, the exact disc difference of every move."""
    game = get_game("othello")
    items = []
    for path in sorted((folder / "othello").glob("othello_fforum-*.obf")):
        for line in path.read_text().splitlines():
            position, *moves = (part.strip() for part in line.split(";"))
            scores = dict(move.split(":") for move in moves if ":" in move)
            s = game.from_text(position)
            named = {game.action_from_text(s, move.lower()): int(v) / DISCS for move, v in scores.items()}
            if set(named) == set(game.actions(s)) and len(named) > 1:
                items.append(_item(game, s, named, ply=_discs(position) - 4, exact=True))
    return Suite(game, _distinct(items), "edax, disc difference / 64")


def othello_values(folder: Path = REFERENCE) -> Suite:
    """5,000 positions of human games with 24 empties: the exact value of the position only."""
    game = get_game("othello")
    items = []
    with gzip.open(folder / "othello/othello_wthor_24empties_exact.txt.gz", "rt") as file:
        for line in file:
            board, player, score = line.split()
            s = game.from_text(f"{board} {player}")
            value = int(score) / DISCS
            items.append(Item(state=s, player=game.to_play(s), value=value, ply=_discs(board) - 4, exact=True))
    return Suite(game, _distinct(items), "WTHOR, disc difference / 64")


def backgammon(folder: Path = REFERENCE) -> Suite:
    """1,000 decisions with GNU Backgammon's 2-ply equity of every play (0-ply beyond the twenty best)."""
    game = get_game("backgammon")
    items = []
    with open(folder / "backgammon/gnubg_reference_dev.jsonl") as file:
        for row in map(json.loads, file):
            s = _rolled(game, game.from_text(row["id"]), row["dice"])
            equity = {after: value for after, value, *_ in row["cand"]}
            values = {a: equity[_after(game, s, a)] for a in game.actions(s)}
            items.append(_item(game, s, values, ply=row["ply"], exact=False))
    return Suite(game, _distinct(items), "GNU Backgammon, 2-ply, cubeless equity")


def _after(game: Game, s: State, a: object) -> str:
    """The position id after the play, with the opponent on roll."""
    return game.to_text(game.result(s, a)).split()[0]


def _rolled(game: Game, s: State, dice: list[int]) -> State:
    assert game.to_play(s) == CHANCE
    wanted = sorted(map(str, dice))
    outcome = next(o for o, _ in game.chances(s) if sorted(game.action_to_text(s, o)) == wanted)
    return game.result(s, outcome)


def _item(game: Game, s: State, values: dict[object, float], *, ply: int, exact: bool) -> Item:
    ordered = {a: values[a] for a in game.actions(s)}
    best = max(ordered.values())
    return Item(state=s, player=game.to_play(s), value=best, values=ordered, ply=ply, exact=exact)


def _discs(board: str) -> int:
    return sum(board.count(c) for c in "XO") - (board.count(" X") + board.count(" O"))


def _distinct(items: list[Item]) -> tuple[Item, ...]:
    return tuple({item.state: item for item in items}.values())


READERS: dict[str, Callable[..., Suite]] = {
    "connect_four": connect_four,
    "othello": othello,
    "othello_values": othello_values,
    "backgammon": backgammon,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=READERS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--score", action="store_true", help="connect_four: how soon, not only who wins")
    given = parser.parse_args(arguments)
    if not REFERENCE.is_dir():
        print(f"{REFERENCE} is not there: nothing was written")
        return 0
    suite = READERS[given.what](**({"score": True} if given.score and given.what == "connect_four" else {}))
    write_suite(suite, given.out)
    print(f"{given.out}: {len(suite.items)} positions of {suite.game.name}, by {suite.by}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
