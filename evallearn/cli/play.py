"""The command `evallearn play`."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Timer

import click
from rich.panel import Panel
from rich.text import Text

from evallearn.agents import parse_limits
from evallearn.cli.common import GAME, in_range, out
from evallearn.core.files import data_folder, file_name
from evallearn.core.game import Game
from evallearn.core.positions import read_position
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError, SpecError
from evallearn.play import Dialogue, Judge, Session, Shown, load_game, save_game
from evallearn.play.seats import (
    JUDGE_LIMITS,
    Seats,
    default_agent,
    judge_evaluator,
    make_agent,
    make_evaluator,
    people,
    take_seats,
)
from evallearn.registry import spec_of

SILENCE = 0.3
"""Seconds until the screen shows that the machine is at work."""
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
STYLES = {"played": "bold", "good": "green", "bad": "yellow", "note": "dim", "error": "red", "result": "bold"}


@click.command(name="play")
@click.argument("game", type=GAME)
@click.option(
    "--you",
    metavar="SEAT",
    help="Your seat: first, second or 1, 2, ..; both (or all) for people only; none to watch.  [default: first]",
)
@click.option(
    "--opponent",
    "opponents",
    metavar="AGENT",
    multiple=True,
    help="Who plays against you; several times for several seats, in order.  [default: the game's last heuristic]",
)
@click.option("--limit", metavar="LIMIT", help="For opponents that name none: depth=6, nodes=100000 or time=2.")
@click.option("--judge", metavar="LIMIT", help="How far the verdicts look.  [default: time=1]")
@click.option("--judge-eval", metavar="EVAL", help="What the verdicts estimate with.  [default: as the opponent]")
@click.option("--no-verdict", is_flag=True, help="Play without verdicts and hints.")
@click.option("--position", metavar="TEXT", help="Start from this position instead of the initial one.")
@click.option("--load", "saved", type=click.Path(path_type=Path), metavar="FILE", help="Go on with a saved game.")
@click.option("--seed", type=in_range(SEED), help="For dice and ties: the same moves then give the same game.")
def command(
    game: Game,
    you: str | None,
    opponents: tuple[str, ...],
    limit: str | None,
    judge: str | None,
    judge_eval: str | None,
    no_verdict: bool,
    position: str | None,
    saved: Path | None,
    seed: int | None,
) -> None:
    """Play GAME against the machine; it says after each of your moves whether it was minimax-optimal.

    An agent is random, zero, handwritten:NAME, zoo:NAME, a .safetensors file, SEARCH:EVAL (minimax:zero) or an engine
    (uci:PROGRAM, gtp:PROGRAM, cmd:PROGRAM); then @depth=4, @nodes=20000 or @time=0.1, or else what suits its search.

    Example: evallearn play matches,piles=3-4-5,k=3 --you second
    """
    limits = None if limit is None else parse_limits(limit)
    judge_limits = JUDGE_LIMITS if judge is None else parse_limits(judge)
    if saved and (position is not None or seed is not None):
        raise SpecError("--load and --position or --seed: the file says where the game starts and what the dice are")
    agent = partial(make_agent, game=game, limits=limits)
    seats: Seats | None = None
    if saved is None or you is not None or opponents:
        humans = people("first" if you is None else you, game)
        default = [default_agent(game)] if len(humans) < game.n_players else []
        seats = take_seats(game, humans, [agent(text, trust=FULL_TRUST) for text in opponents or default])
    if saved is None:
        start = None if position is None else read_position(game, position)
        assert seats is not None
        session = Session(game, seats, start=start, seed=secrets.randbits(32) if seed is None else seed)
    else:
        session = load_game(saved, game, agent, seats=seats)
    if session.people and not no_verdict:
        evaluator = (
            make_evaluator(judge_eval, game, trust=FULL_TRUST) if judge_eval else judge_evaluator(game, session.seats)
        )
        session.judge = Judge(game, evaluator, judge_limits)
    talk(Dialogue(session, agent, loaded=saved))


def talk(dialogue: Dialogue) -> None:
    """Read lines and print the answers, until the person leaves or the input ends."""
    with suppress(AttributeError, OSError):  # a stand-in may not let us
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # a pipe may carry anything
    show(dialogue.open())
    try:
        while dialogue.session.people and not dialogue.done:
            line = read_line(dialogue.prompt)
            if line is None:
                out.print("end of input: goodbye", style="dim")
                break
            show(dialogue.answer(line))
    except KeyboardInterrupt:
        out.print()
        raise
    finally:
        keep(dialogue)


def keep(dialogue: Dialogue) -> None:
    """Save an unfinished game, so that whoever leaves it finds it again."""
    session = dialogue.session
    if not dialogue.unsaved or session.game.is_terminal(session.state):
        return
    path = data_folder() / f"unfinished-{file_name(session.game.name)}.json"
    try:
        save_game(session, path)
    except DataError as error:
        out.print(f"the game is not kept: {error}", style="dim")
        return
    out.print(f"the game is kept: {loading(session, path)} goes on", style="dim")


def loading(session: Session, path: Path) -> str:
    """Return the command that goes on with a kept game; it names agents that a file may not name."""
    words = ["evallearn", "play", spec_of(session.game), "--load", str(path)]
    try:
        load_game(path, session.game, partial(make_agent, game=session.game))
    except DataError:
        words += ["--you", ",".join(str(player + 1) for player in session.people) or "none"]
        words += [word for agent in session.seats if agent for word in ("--opponent", agent.name)]
    return shlex.join(words)


def read_line(prompt: str) -> str | None:
    """Read one line, with editing at a terminal; None where the input ends.

    What comes from a pipe is shown as if typed.
    """
    if sys.stdin.isatty() and sys.stdout.isatty():
        with suppress(ImportError):  # Windows has none, and edits lines itself
            import readline  # noqa: F401  # input() edits lines once it is loaded
        try:
            return clean(input(prompt))
        except EOFError:
            out.print()
            return None
        except UnicodeDecodeError:
            return UNREADABLE
    line = sys.stdin.readline()
    if not line:
        return None
    out.print(f"{prompt}{clean(line)}")
    return clean(line)


def clean(line: str) -> str:
    """Return the line without what no terminal can show again: broken bytes and control characters."""
    text = line.encode("utf-8", "replace").decode("utf-8", "replace").strip()
    return "".join(c if c.isprintable() else UNREADABLE for c in text.expandtabs())


@contextmanager
def thinking() -> Iterator[None]:
    """Show a spinner at a terminal, after a moment of silence."""
    status = out.status("thinking")
    timer = Timer(SILENCE, status.start)
    if out.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if out.is_terminal:
            timer.join()  # it may be just starting
        status.stop()


def show(answers: Iterator[Shown]) -> None:
    """Print what comes, as it comes."""
    while True:
        with thinking():
            shown = next(answers, None)
        if shown is None:
            return
        if shown.kind == "board":
            out.print(framed(shown.text, out.width))
        else:
            out.print(shown.text, style=STYLES[shown.kind])


def framed(board: str, width: int) -> Panel | Text:
    """Return the board in a frame; without one where the terminal is narrow, and then with a word about it."""
    needed = max(map(len, board.splitlines())) + 4
    if needed <= width:
        return Panel(Text(board), expand=False, padding=(0, 1))
    return Text(f"{board}\n(this board wants a terminal of {needed} columns; yours has {width})")
