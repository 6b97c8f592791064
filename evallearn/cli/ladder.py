"""The command `evallearn ladder`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evallearn.agents import default_limits, parse_agent, parse_limits
from evallearn.arena.ladder import answer, known_agents
from evallearn.cli.common import GAME
from evallearn.cli.match import MATCHES, command_line, config_of
from evallearn.cli.tournament import play, publish, tournament_options
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.trust import FULL_TRUST
from evallearn.registry import spec_of


@click.command(name="ladder")
@click.argument("game", type=GAME)
@click.argument("more", nargs=-1, metavar="[AGENT]...")
@click.option("--runs", type=click.Path(file_okay=False, path_type=Path), default=Path("runs"), show_default=True,
              help="Where learned evaluators are looked for.")  # fmt: skip
@tournament_options
def command(
    game: Game, more: tuple[str, ...], runs: Path, limit: str | None, folder: Path | None, anchor: str | None,
    workers: int, json_to: str | None, **options: Any,
) -> None:  # fmt: skip
    """Rate all known evaluators of GAME in one list: random, hand-written, learned, searches; and AGENTs of yours.

    Learned evaluators are found in runs/ and in the zoo. Every finished game is kept: a new evaluator plays only its
    own games.

    Example: evallearn ladder connect_four --limit depth=3
    """
    limits = default_limits(game) if limit is None else parse_limits(limit)
    agents = known_agents(game, limits, runs)
    agents |= {a.name: a for a in (parse_agent(text, game, limits, trust=FULL_TRUST) for text in more)}
    config = config_of(**options)
    result = play(game, list(agents.values()), config, folder=MATCHES, workers=workers, anchor=anchor)
    said = command_line("ladder", spec_of(game), *more, limit=limit, runs=runs, anchor=anchor, **options)
    publish(
        result, folder or Path("runs") / f"ladder-{file_name(game.name)}", said, json_to, answer=answer(result.ratings)
    )
