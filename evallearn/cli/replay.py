"""The command `evallearn replay`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import click
from rich.table import Table

from evallearn.arena.formats import read_games
from evallearn.arena.match import kept_games
from evallearn.arena.records import GameRecord, Replayed, numbers, play_over
from evallearn.cli.common import GAME, json_option, out, report
from evallearn.core.game import CHANCE, Game, State
from evallearn.errors import SpecError


@click.command(name="replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--game", type=GAME, required=True)
@click.option("--number", type=click.IntRange(0, 10**9), help="Show the moves of this game and the board after each.")
@click.option("--board", is_flag=True, help="Show the last board of every game.")
@json_option
def command(file: Path, game: Game, number: int | None, board: bool, json_to: str | None) -> None:
    """Check every game of FILE by the rules, and show what happened.

    FILE is a .jsonl or .json of games, a .pgn (chess), a .pdn (checkers), a .txt (the others), or a match's folder.

    Example: evallearn replay runs/matches/othello-1f2e3d --game othello --number 3
    """
    records = kept_games(file, game) if file.is_dir() else read_games(file, game)
    if number is not None:
        records = _numbered(records, number, file)
    figures: dict[str, object] = {
        "file": str(file),
        "game": game.name,
        "games": [_figures(game, record, moves=number is not None) for record in records],
    }
    report(figures, json_to, lambda: _show(game, records, number, board))


def _numbered(records: list[GameRecord], number: int, file: Path) -> list[GameRecord]:
    """Return the games of that number: more than one if matches were joined in one file."""
    if not (found := [record for record in records if record.number == number]):
        known = sorted(record.number for record in records)
        has = f"it has {known[0]} to {known[-1]}" if known else "it has none"
        raise SpecError(f"--number {number}: no such game in {file}; {has}")
    return found


def _figures(game: Game, record: GameRecord, *, moves: bool) -> dict[str, object]:
    figures: dict[str, object] = {**record.to_json(), "plies": len(record.moves)}
    if moves:
        played = play_over(game, record)
        pairs = zip(record.moves, played.states[1:], strict=True)
        figures["positions"] = [{"action": text, "leads_to": game.to_text(s)} for text, s in pairs]
    return figures


# --- for people ------------------------------------------------------------------------------------------------------
def _show(game: Game, records: list[GameRecord], number: int | None, board: bool) -> None:
    if number is not None:
        for record in records:
            _show_game(game, record, play_over(game, record))
        return
    table = Table("game", "set", "players", "result", "plies", "ended")
    for r in records:
        plies = str(len(r.moves))
        table.add_row(str(r.number), str(r.set), " - ".join(r.players), numbers(r.utilities), plies, _ended(r))
    out.print(table)
    if board:
        for record in records:
            out.print(f"game {record.number}, {_ended(record)}:\n{game.board(play_over(game, record).final)}\n")
    out.print(f"{len(records)} game{'s' * (len(records) != 1)}, all legal", style="bold")


def _ended(record: GameRecord) -> str:
    return record.end or "by the rules"


def _show_game(game: Game, record: GameRecord, played: Replayed) -> None:
    out.print(f"game {record.number} of set {record.set}: {' - '.join(record.players)}", style="bold")
    out.print(game.board(played.states[0]))
    for ply, (text, (before, after)) in enumerate(zip(record.moves, pairwise(played.states), strict=True), 1):
        out.print(f"\n{ply}. {_mover(game, record, before)}: {text}{' (opening)' * (ply <= played.opening_plies)}")
        out.print(game.board(after))
    out.print(f"\n{_ended(record)}, {numbers(record.utilities)}", style="bold")


def _mover(game: Game, record: GameRecord, s: State) -> str:
    player = game.to_play(s)
    return "chance" if player == CHANCE else f"player {player + 1} ({record.players[player]})"
