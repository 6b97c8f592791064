"""The mean utility of games that agents play alone, with its standard error: 2048 has nobody to beat.

    python benchmarks/points.py 2048 zoo:linear@depth=1 zoo:linear@depth=2 handwritten:snake@depth=2 --games 200

Nobody explores: game n of a seed is the same for the same agent. Where utility accumulates (`Game.won`), it also tells
in how many positions, by what is won there, the search says less than that.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from strength_command import ended

from evallearn import get_game
from evallearn.agents import Agent, parse_agent
from evallearn.core.game import Game
from evallearn.core.trust import FULL_TRUST
from evallearn.data import Record, RecordSettings
from evallearn.data.boards import on_fastest_backend
from evallearn.data.generate import play_game
from evallearn.errors import SpecError

BAND = 4000
"""Points of a row of the table."""


def games_of(game: Game, agent: Agent, n: int, seed: int) -> list[list[Record]]:
    """The records of each game."""
    config, fast = RecordSettings(games=n, seed=seed, opening_plies=0, epsilon=0.0), on_fastest_backend(game)
    return [play_game(fast, [agent], config, number) for number in range(n)]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5)


def bands(records: list[Record]) -> list[tuple[int, int, float]]:
    """(points won from there on, positions, share in which the search says less than what is won)."""
    won, value = np.array([r.won for r in records]), np.array([r.value for r in records])
    rows = (won // BAND).astype(int)
    return [(BAND * k, int((rows == k).sum()), float((value < won)[rows == k].mean())) for k in np.unique(rows)]


def tell(game: Game, text: str, n: int, seed: int) -> None:
    """Play and print."""
    played = games_of(game, parse_agent(text, game, trust=FULL_TRUST), n, seed)
    mean, error = mean_and_error([records[-1].outcome for records in played])
    print(f"{text}: {mean:,.0f} +- {error:,.0f} in {n} games of {game.name}, seed {seed}", flush=True)
    if game.has("won"):
        for low, positions, share in bands([r for records in played for r in records]):
            print(f"  {low:6,} to {low + BAND:6,} won: {positions:7,} positions, less than that in {share:.1%}")


def tell_all(given: argparse.Namespace) -> None:
    """Agent after agent. Raises SpecError for a game of more players, whose agents would meet themselves."""
    if given.game.n_players != 1:
        raise SpecError(f"{given.game.name} has {given.game.n_players} players: use `evallearn match`")
    if given.games < 2:
        raise SpecError(f"games={given.games}: give 2 or more, or there is no standard error")
    for text in given.agents:
        tell(given.game, text, given.games, given.seed)


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", type=get_game, help="of one player")
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    return ended(lambda: tell_all(given))


if __name__ == "__main__":
    sys.exit(main())
