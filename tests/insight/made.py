"""What the tests of insight share: records made for a purpose."""

from __future__ import annotations

import numpy as np

from evallearn.insight import Evidence, Sample
from evallearn.train import ArrayStream

NAMES = ("centre", "corners", "open_ones", "open_twos", "wins_now")
"""Of tic-tac-toe: whoever wants an evaluator needs a game with these features."""
WEIGHTS = np.array([0.8, 0.0, 0.0, 0.0, 0.5])


def drawn(n_games: int, seed: int, per_game: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(features, outcome, game): centre counts most, corners nothing, open_ones copies centre, open_twos is 0.5."""
    rng = np.random.default_rng(seed)
    game = np.repeat(np.arange(n_games), per_game)
    # All positions of a game are the same one. If they differed, an outcome that follows from the first would make the
    # weights of all of them smaller than WEIGHTS, and these would not be the truth.
    each = rng.normal(size=(n_games, 5))
    each[:, 2] = each[:, 0] + 0.05 * each[:, 2]
    each[:, 3] = 0.5
    won = np.where(rng.random(n_games) < (1 + np.tanh(each @ WEIGHTS)) / 2, 1.0, -1.0)
    return np.repeat(each, per_game, axis=0), np.repeat(won, per_game), game


def stream(n_games: int = 800, seed: int = 0, per_game: int = 4, batch_rows: int = 65536) -> ArrayStream:
    x, y, game = drawn(n_games, seed, per_game)
    return ArrayStream(x, y, game=game, feature_names=NAMES, test_share=0.3, batch_rows=batch_rows)


def sample(n_games: int, first: int = 0, seed: int = 0, per_game: int = 6) -> Sample:
    """Healthy records of two players who move in turn: values foretell outcomes, and mean what they say."""
    rng = np.random.default_rng(seed + first)
    game = np.repeat(np.arange(first, first + n_games), per_game)
    player = np.tile(np.arange(per_game) % 2, n_games)
    sign = np.where(player == 0, 1.0, -1.0)
    to_first = np.repeat(np.tanh(rng.normal(size=n_games)), per_game)
    won = np.repeat(np.where(rng.random(n_games) < (1 + to_first[::per_game]) / 2, 1.0, -1.0), per_game)
    position = rng.integers(2**63, size=len(game)).astype(np.uint64)
    return Sample(np.clip(to_first, -0.98, 0.98) * sign, won * sign, game, player, position)


def evidence(*, n_players: int = 2, has_chance: bool = False, train: int = 800, test: int = 400) -> Evidence:
    return Evidence("made", n_players, has_chance, sample(train), sample(test, first=100_000))
