"""What the tests of games share: random games, move counts, both floors side by side."""

from __future__ import annotations

import random

import numpy as np

from evallearn.protocols import Action, Game, State


def random_game(game: Game, seed: int) -> list[tuple[State, Action | None]]:
    """(state, action) of every ply; the last state is terminal and has no action."""
    rng, s, played = random.Random(seed), game.initial(), []
    while not game.is_terminal(s):
        a = rng.choice(game.actions(s))
        played.append((s, a))
        s = game.result(s, a)
    return [*played, (s, None)]


def perft(game: Game, s: State, depth: int) -> int:
    """Positions at exactly `depth`, each distinct one counted below only once."""
    layer = {s: 1}
    for _ in range(depth):
        below: dict[State, int] = {}
        for t, n in layer.items():
            for a in game.actions(t):
                child = game.result(t, a)
                below[child] = below.get(child, 0) + n
        layer = below
    return sum(layer.values())


def compare_floors(game: Game, s: State) -> None:
    """The rules of the compiled floor, run uncompiled, against the plain floor."""
    rules = game.rules
    assert rules is not None
    with np.errstate(over="ignore"):
        word = rules.State(*map(np.uint64, game.encode(s)))
        assert rules.is_terminal(word) == game.is_terminal(s)
        assert (rules.to_play(word), rules.phase(word)) == (game.to_play(s), game.phase(s))
        if game.is_terminal(s):
            assert rules.utility_mover(word) == game.utility(s, game.to_play(s))
            return
        actions, numbers = np.zeros(rules.max_actions, np.int32), np.zeros(len(game.feature_names), np.float32)
        found = actions[: rules.actions(word, actions)].tolist()
        assert found == list(game.actions(s))
        rules.features_mover(word, numbers)
        assert numbers.tolist() == list(game.features(s, game.to_play(s)))
        for a in found:
            assert game.decode([int(w) for w in rules.result(word, a)]) == game.result(s, a)
