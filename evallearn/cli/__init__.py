"""The command line. `evallearn COMMAND --help` shows an example of each command."""

from __future__ import annotations

import importlib
import logging
import os
import sys

import click

from evallearn import __version__
from evallearn.cli.common import console
from evallearn.cli.screen import set_up_streams
from evallearn.core import memory
from evallearn.errors import EvallearnError, unknown

COMMANDS = {
    "games": "the games and their heuristics",
    "check": "does a game keep the contract?",
    "play": "play a game against an agent; it says after each move whether it was optimal",
    "moves": "the legal moves of a position",
    "analyse": "the best moves of a position, and what each search would have done",
    "rollout": "play a position with dice to the end many times: what is it worth?",
    "suite": "positions with the value of every move, by a deep search",
    "quality": "how good is an evaluator as a judge of positions, without a match?",
    "explain": "what an evaluator says of a position, and why",
    "features": "what is each feature worth, and which are redundant?",
    "perft": "count positions: is a game's move generator right?",
    "tables": "build an endgame table",
    "selfplay": "play games against itself and keep the records",
    "fit": "learn an evaluator from records",
    "quantise": "a net in small whole numbers, and what that costs",
    "match": "two agents, every opening from both seats, Elo with its interval",
    "tournament": "many agents, one rating list",
    "ladder": "all known evaluators of a game in one rating list: learned against hand-written",
    "replay": "check the games of a file and show them",
    "learn": "learn an evaluator by a recipe: games, fits, matches, a report",
    "recipes": "the recipes of `evallearn learn`, and their fields",
    "bench": "how fast are the searches, and what does each refinement save?",
    "zoo": "the trained evaluators that are shipped, and their cards; add one",
    "info": "what is in an evaluator file or a run folder?",
}

RESUMABLE = ("learn", "selfplay", "match", "tournament", "ladder")


class LazyGroup(click.Group):
    """Imports a command's module when it is called, and suggests the nearest command to a misspelt one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            raise unknown("command", cmd_name, COMMANDS)
        command: click.Command = importlib.import_module(f"evallearn.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # without importing any of them
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="evallearn")
def cli() -> None:
    """Learn evaluation functions for games by self-play, and prove what they are worth.

    Start with: evallearn learn connect_four
    """


class _Notices(logging.Handler):
    """Notices of the library (kernels being compiled) for a person at the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        console.print(record.getMessage(), style="dim")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0, 2 for bad input, 130 for Ctrl-C."""
    log = logging.getLogger("evallearn")
    log.addHandler(_Notices())
    log.setLevel(logging.INFO)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code; its errors are told in a sentence."""
    set_up_streams()
    try:
        result = cli.main(args=arguments, prog_name="evallearn", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.UsageError as error:
        error.show(sys.stderr)
    except click.ClickException as error:
        tell(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        command = (sys.argv[1:] if arguments is None else arguments)[:1]
        resumes = command and command[0] in RESUMABLE
        console.print("stopped by Ctrl-C" + ("; the same command goes on where it stopped" if resumes else ""))
        return 130
    except EvallearnError as error:
        tell(str(error))
    except (BrokenPipeError, SystemExit):  # the reader of our output went away (`| head`); click makes it an exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python's last flush finds a taker
        return 0
    except (MemoryError, RuntimeError) as error:
        sentence = memory.told(error)
        if sentence is None:
            raise
        tell(sentence)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        tell(f"{where}{error.strerror or error}: check the path, its permissions and the free space")
    return 2


def tell(message: str) -> None:
    console.print("error:", style="bold red", end=" ")
    console.print(click.unstyle(message))
