"""The command `evallearn match`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from evallearn import __version__
from evallearn.agents import parse_agent, parse_limits
from evallearn.arena import Adjudication, MatchResult, MatchSettings, Sprt, SprtState, match_folder, play_match
from evallearn.arena.formats import format_for, write_games
from evallearn.cli.common import GAME, Command, in_range, json_option, out, report, setting_options, workers_option
from evallearn.cli.live import live_board
from evallearn.core.checksum import write_checked
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.registry import spec_of
from evallearn.report import write_match_report
from evallearn.report.formatting import sureness

MATCHES = Path("runs/matches")
"""Where matches are kept unless --run says otherwise: one folder for each, named after its terms."""


def match_options(f: Command) -> Command:
    """Add the options that a match, a tournament and a ladder have in common."""
    for option in reversed((
        click.option("--limit", help="For agents that name none: depth=4, nodes=20000, time=0.1.  "
                     "[default: what suits the game]"),
        setting_options(MatchSettings, "opening_plies"),
        click.option("--openings", type=click.Path(path_type=Path),
                     help="A file of positions, one a line, instead of random openings."),
        click.option("--repeat", is_flag=True, help="Play openings again where the game has too few."),
        click.option("--adjudicate", help="End games early: plies=300,win=0.95x6,draw=0.02x12, or some.  [off]"),
        click.option("--luck", metavar="EVAL", help="Who judges the luck of the dice, or none.  "
                     "[default: the game's last heuristic]"),
        click.option("--seed", type=in_range(SEED), default=1, show_default=True),
    )):  # fmt: skip
        f = option(f)
    return f


def config_of(*, adjudicate: str | None, sprt: str | None = None, **settings: Any) -> MatchSettings:
    """Return the terms that the options say."""
    return MatchSettings(
        adjudication=Adjudication() if adjudicate is None else Adjudication.from_text(adjudicate),
        sprt=None if sprt is None else Sprt.from_text(sprt),
        **settings,
    )


def command_line(*words: str, **options: object) -> str:
    """Return the command line that plays the same again."""
    said = {f"--{k.replace('_', '-')}": v for k, v in options.items() if v is not None and v is not False}
    return shlex.join(["evallearn", *words, *(k if v is True else f"{k}={v}" for k, v in said.items())])


@click.command(name="match")
@click.argument("a")
@click.argument("b")
@click.option("--game", type=GAME, required=True)
@setting_options(MatchSettings, "pairs")
@click.option("--sprt", metavar="ELO0,ELO1", help="Stop as soon as a sequential test has decided: 0,10 asks whether A "
              "is stronger by 0 or by 10 Elo; more: 0,10,alpha=0.05,beta=0.05,model=logistic.")  # fmt: skip
@match_options
@click.option("--run", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="Folder of the match.  [default: runs/matches/GAME-...]")  # fmt: skip
@click.option("--games", "games_to", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the games too: .jsonl, .pgn (chess), .pdn (checkers), .txt (the others).")  # fmt: skip
@workers_option
@json_option
def command(
    a: str, b: str, game: Game, limit: str | None, folder: Path | None, games_to: Path | None, workers: int,
    json_to: str | None, **options: Any,
) -> None:  # fmt: skip
    """Play agent A against agent B: every opening from both seats, Elo with its 95 % interval.

    An agent is random, zero, handwritten:NAME, a .safetensors file, SEARCH:EVAL (mcts:zero), uci:PROGRAM, gtp:PROGRAM
    or cmd:PROGRAM; then @depth=4, @nodes=20000 or @time=0.1. Every finished game is kept: the same command goes on
    where it was stopped, and more --pairs are played on top.

    Example: evallearn match runs/x/evaluators/linear.safetensors handwritten:mobility@depth=4 --game othello
    """
    limits = None if limit is None else parse_limits(limit)
    agents = parse_agent(a, game, limits, trust=FULL_TRUST), parse_agent(b, game, limits, trust=FULL_TRUST)
    config = config_of(**options)
    if games_to is not None:
        format_for(games_to, game)  # before anything is played: is it a format that the game has?
    folder = folder or match_folder(MATCHES, game, agents, config)
    with live_board() as saw:
        found = play_match(
            game, *agents, config, workers=workers, folder=folder, on_progress=saw, keep_games=games_to is not None
        )
    if games_to is not None:
        write_games(games_to, game, found.records)
    said = command_line("match", a, b, game=spec_of(game), limit=limit, **options)
    figures = figures_of(found, folder, said, games_to)
    write_checked(folder / "result.json", figures)
    write_match_report(figures, folder / "report.html")
    report(figures, json_to, lambda: show(found, folder / "report.html"))


def figures_of(found: MatchResult, folder: Path, command: str, games_to: Path | None) -> JsonDict:
    """Return what --json tells and the page shows."""
    data = found.to_json()
    data.pop("records", None)
    files = {"result": str(folder / "result.json"), "report": str(folder / "report.html")}
    files |= {"games": str(games_to)} if games_to else {}
    return {"evallearn": __version__, "command": command, "folder": str(folder), "files": files, **data}


def show(found: MatchResult, page: Path) -> None:
    """Print the match for people."""
    elo = found.elo
    table = Table("", found.names[0], found.names[1])
    table.add_row("won" if found.by_game else "openings won", str(found.wins), str(found.losses))
    table.add_row("drawn", str(found.draws), str(found.draws))
    table.add_row(f"score{AS_COUNTED if _is_stopped(found) else ''}", f"{found.score:.3f}", f"{1 - found.score:.3f}")
    table.add_row("nodes per move", *(f"{n:,.0f}" for n in found.nodes_per_move))
    table.add_row("time per move", *(f"{t * 1e6:,.0f} us" for t in found.seconds_per_move))
    out.print(table)
    for line in remarks(found):
        out.print(line)
    sure = f"(95 %: {elo.low:+.1f} to {elo.high:+.1f}), LOS {sureness(elo.los)}"
    out.print(f"{found.names[0]}: {elo.elo:+.1f} Elo {sure}{_about_the_stop(found)}", style="bold")
    out.print(f"report: {page}")


AS_COUNTED = " (not corrected for the stop)"


def _is_stopped(found: MatchResult) -> bool:
    return found.sprt is not None and found.sprt.decision is not None


def _about_the_stop(found: MatchResult) -> str:
    """Return a note if the Elo is that of a match which was stopped when it looked clear."""
    if found.stop is None or not _is_stopped(found):
        return ""
    counted = f" (counted: {found.stop.elo_as_counted:+.1f})"
    return f", corrected for the stop{counted}" if found.stop.elo_corrected else AS_COUNTED


def _verdict(state: SprtState, terms: Sprt) -> str:
    unit = "normalised Elo" if terms.model == "normalized" else "Elo"
    low, high = f"{terms.elo0:+g}", f"{terms.elo1:+g}"
    verdict = {"H1": f"{high} {unit} rather than {low}", "H0": f"{low} {unit} rather than {high}", None: "undecided"}
    return f"SPRT: {verdict[state.decision]} (LLR {state.llr:+.2f}, bounds {state.lower:+.2f} and {state.upper:+.2f})"


def remarks(found: MatchResult) -> list[str]:
    """Return what else must be known of a match, in sentences."""
    said = [f"{found.games} games, {found.distinct_games} distinct"]
    if found.elo.pairs < found.pairs_asked and not (found.sprt and found.sprt.decision):
        said.append(
            f"{found.game} has only {found.elo.pairs} openings of {found.opening_plies} random plies: so many were "
            f"played, not {found.pairs_asked}; use more --opening-plies, or --repeat"
        )
    margin, counted = found.margin, AS_COUNTED if _is_stopped(found) else ""
    if found.luck or not found.by_game:
        what = "points per game" if found.by_game else "mean utility less that of the other"
        said.append(f"{what}: {margin.value:+.3f} (95 %: {margin.low:+.3f} to {margin.high:+.3f}){counted}")
    if found.luck:
        fair, saved = found.luck.margin, 1 / max(found.luck.variance_ratio, 1e-9)
        said.append(
            f"without the luck of the dice: {fair.value:+.3f} (95 %: {fair.low:+.3f} to {fair.high:+.3f}), worth "
            f"{saved:.1f} times the games{counted}"
        )
    if found.sprt and found.sprt_terms:
        said.append(_verdict(found.sprt, found.sprt_terms))
    said += [f"adjudicated by {rule}: {n} games" for rule, n in found.adjudicated.items()]
    for agent in dict.fromkeys(f.agent for f in found.forfeits):
        whys = [f.why for f in found.forfeits if f.agent == agent]
        said.append(f"{agent} forfeited {len(whys)} of {found.games} games; the last: {whys[-1]}")
    return said
