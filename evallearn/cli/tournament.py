"""The command `evallearn tournament`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from evallearn import __version__
from evallearn.agents import Agent, parse_agent, parse_limits
from evallearn.arena import MatchSettings, TournamentResult, play_tournament
from evallearn.arena.tournament import kind_of, pairings
from evallearn.cli.common import GAME, Command, in_range, json_option, out, report, workers_option
from evallearn.cli.live import live_board
from evallearn.cli.match import MATCHES, command_line, config_of, match_options
from evallearn.core.checksum import write_checked
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.settings import PAIRS
from evallearn.core.trust import FULL_TRUST
from evallearn.registry import spec_of
from evallearn.report import write_tournament_report
from evallearn.report.formatting import short_agent, stopped_words


def tournament_options(f: Command) -> Command:
    """Add the options that a tournament and a ladder have in common."""
    for option in reversed((
        click.option("--pairs", type=in_range(PAIRS), default=100, show_default=True,
                     help="Openings of each match; each is played from every seat."),
        match_options,
        click.option("--anchor", metavar="AGENT", help="Who is 0 Elo.  [default: the best hand-written, or the last]"),
        click.option("--run", "folder", type=click.Path(file_okay=False, path_type=Path),
                     help="Folder of the rating list.  [default: runs/COMMAND-GAME]; the games are in runs/matches"),
        workers_option,
        json_option,
    )):  # fmt: skip
        f = option(f)
    return f


@click.command(name="tournament")
@click.argument("agents", nargs=-1, required=True)
@click.option("--game", type=GAME, required=True)
@click.option("--gauntlet", is_flag=True, help="Only the first against each of the others.")
@tournament_options
def command(
    agents: tuple[str, ...], game: Game, gauntlet: bool, limit: str | None, folder: Path | None, anchor: str | None,
    workers: int, json_to: str | None, **options: Any,
) -> None:  # fmt: skip
    """Play everybody against everybody, and make one rating list with intervals (Bradley-Terry).

    Every finished game is kept: the same command goes on where it was stopped; a new agent plays only its own games.

    Example: evallearn tournament random zero handwritten:lines handwritten:threats --game connect_four --limit depth=3
    """
    limits = None if limit is None else parse_limits(limit)
    players = [parse_agent(text, game, limits, trust=FULL_TRUST) for text in agents]
    said = command_line(
        "tournament", *agents, game=spec_of(game), limit=limit, gauntlet=gauntlet, anchor=anchor, **options
    )
    folder = folder or Path("runs") / f"tournament-{file_name(game.name)}"
    config = config_of(**options)
    result = play(game, players, config, folder=MATCHES, gauntlet=gauntlet, anchor=anchor, workers=workers)
    publish(result, folder, said, json_to)


def play(
    game: Game, players: Sequence[Agent], config: MatchSettings, *, gauntlet: bool = False, **given: Any
) -> TournamentResult:
    """Play the tournament, with the match that is being played on the screen."""
    n = len(pairings(len(players), gauntlet=gauntlet))
    with live_board() as saw:
        return play_tournament(
            game, players, config, gauntlet=gauntlet, **given,
            on_progress=lambda number, tally: saw(tally, f"match {number + 1} of {n}"),
        )  # fmt: skip


def publish(
    result: TournamentResult, folder: Path, command: str, json_to: str | None, answer: str | None = None
) -> None:
    """Publish the figures as JSON, as a page, and for people."""
    files = {"result": str(folder / "result.json"), "report": str(folder / "report.html")}
    figures = {
        "evallearn": __version__, "command": command, "folder": str(folder), "files": files,
        "kinds": {name: kind_of(name) for name in result.names}, **result.to_json(),
        **({} if answer is None else {"answer": answer}),
    }  # fmt: skip
    write_checked(folder / "result.json", figures)
    write_tournament_report(figures, folder / "report.html")
    report(figures, json_to, lambda: show(result, folder / "report.html", answer))


def show(found: TournamentResult, page: Path, answer: str | None) -> None:
    """Print the rating list for people."""
    table = Table("", "agent", "Elo", "95 %", "score", "openings")
    for place, row in enumerate(found.ratings, 1):
        interval = f"{row.low:+.0f} to {row.high:+.0f}" if row.name != found.anchor else "anchor"
        name = ", ".join(filter(None, short_agent(row.name)))  # paths of files are long, and differ at their ends
        table.add_row(str(place), name, f"{row.elo:+.0f}", interval, f"{row.score:.3f}", f"{row.pairs:,}")
    out.print(table)
    if said := stopped_words(found.to_json()):
        out.print(said)
    forfeits = sum(len(m.forfeits) for m in found.matches)
    if forfeits:
        out.print(f"{forfeits} games were forfeited: see the report")
    if answer is not None:
        out.print(answer, style="bold")
    out.print(f"report: {page}")
