"""The lectures' table: what each kind of Pacman scores against each kind of ghosts.

    python examples/pacman_ghosts.py [GAMES] [MAZE]

Pacman plans as if the ghosts were one player (minimax), each for itself (max^n) or random (expectimax). The ghosts that
he meets are one of the three, whatever he assumes. A position is the same in all three games, so that an agent of one
can choose an action in another. All evaluate the score alone; random ghosts repeat for a seed.
"""

import random
import sys
from typing import Any

from evallearn import Game, Limits, SearchAgent, get_game, heuristic

BELIEFS = {"minimax": "together", "max^n": "apart", "expectimax": "random"}
DEPTHS = {"together": 9, "apart": 9, "random": 6}
"""Plies; before random ghosts only Pacman's moves are plies."""


def play(game: Game, pacman: SearchAgent, ghosts: SearchAgent | None, seed: int) -> Any:
    """Return the last position of a game; chance moves the ghosts where nobody else does."""
    rng, s = random.Random(seed), game.initial()
    while not game.is_terminal(s):
        who = ghosts if s.turn else pacman
        s = game.result(s, who.choose(s, seed).action if who else rng.choice([a for a, _ in game.chances(s)]))
    return s


def table(n_games: int, maze: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Return {(Pacman, ghosts): (mean score, games won)}."""
    games = {name: get_game(f"pacman,maze={maze},ghosts={name}") for name in DEPTHS}
    agents = {
        name: SearchAgent(game, heuristic(game, "score"), Limits(depth=DEPTHS[name])) for name, game in games.items()
    }
    found = {}
    for pacman, belief in BELIEFS.items():
        for name, game in games.items():
            ghosts = None if name == "random" else agents[name]
            n = 1 if ghosts else n_games  # without chance all games are alike
            ends = [play(game, agents[belief], ghosts, seed) for seed in range(n)]
            found[pacman, name] = sum(s.score for s in ends) / n, sum(not s.food for s in ends) * n_games // n
    return found


def main(n_games: str = "100", maze: str = "gamble") -> None:
    found = table(int(n_games), maze)
    print(f"{maze}, {n_games} games: mean score (games won); rows: Pacman, columns: ghosts")
    print("".join(f"{head:>16}" for head in ("", *DEPTHS)))
    for pacman in BELIEFS:
        cells = (f"{mean:.1f} ({won})" for mean, won in (found[pacman, name] for name in DEPTHS))
        print(f"{pacman:>16}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main(*sys.argv[1:])
