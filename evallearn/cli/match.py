"""evallearn match"""

from __future__ import annotations

import click
from rich.table import Table

from evallearn.agents import parse_agent, parse_limits
from evallearn.arena import MatchResult, play_match
from evallearn.cli.common import GAME, json_option, out, progress_bars, report, workers_option
from evallearn.protocols import Game


@click.command(name="match")
@click.argument("a")
@click.argument("b")
@click.option("--game", type=GAME, required=True)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Openings; each is played twice, seats swapped.",
)
@click.option(
    "--limit", help="For agents that name none: depth=4, nodes=20000, time=0.1.  [default: what suits the game]"
)
@click.option(
    "--random-plies", type=click.IntRange(0), help="Random plies of each opening.  [default: what suits the game]"
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@workers_option
@json_option
def command(
    a: str,
    b: str,
    game: Game,
    pairs: int,
    limit: str | None,
    random_plies: int | None,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Agent A against agent B: paired openings with sides swapped, Elo with its 95 % interval.

    An agent is random, zero, handwritten:NAME or a .safetensors file, then @depth=4, @nodes=20000 or @time=0.1.

    Example: evallearn match runs/x/evaluators/linear.safetensors handwritten:mobility@depth=4 --game othello
    """
    limits = None if limit is None else parse_limits(limit)
    agents = parse_agent(a, game, limits), parse_agent(b, game, limits)
    plies = game.opening_plies if random_plies is None else random_plies
    with progress_bars() as steps, steps.step(f"{agents[0].name} - {agents[1].name}", 2 * pairs) as move:
        found = play_match(game, *agents, pairs=pairs, random_plies=plies, seed=seed, workers=workers, on_progress=move)
    report(found.to_json(), json_to, lambda: show(found))


def show(found: MatchResult) -> None:
    elo = found.elo
    table = Table("", found.names[0], found.names[1])
    table.add_row("won", str(found.wins), str(found.losses))
    table.add_row("drawn", str(found.draws), str(found.draws))
    table.add_row("score", f"{found.score:.3f}", f"{1 - found.score:.3f}")
    table.add_row("nodes per move", *(f"{n:,.0f}" for n in found.nodes_per_move))
    table.add_row("time per move", *(f"{t * 1e6:,.0f} us" for t in found.seconds_per_move))
    out.print(table)
    out.print(f"{found.games} games, {found.distinct_games} distinct")
    if found.elo.pairs < found.pairs_asked:
        out.print(
            f"{found.game} has only {found.elo.pairs} openings of {found.random_plies} random plies: so many pairs "
            f"were played, not {found.pairs_asked}; use more --random-plies"
        )
    out.print(f"{found.names[0]}: {elo.elo:+.1f} Elo (95 %: {elo.low:+.1f} to {elo.high:+.1f})", style="bold")
