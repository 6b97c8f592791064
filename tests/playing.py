"""What the tests of games share: random games, move counts, both backends side by side."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.errors import BadNotation


def random_game(game: Game, seed: int) -> list[tuple[State, Action | None]]:
    """(state, action) of every ply; the last state is terminal and has no action."""
    rng, s, played = random.Random(seed), game.initial(), []
    while not game.is_terminal(s):
        a = rng.choice(game.actions(s) or [outcome for outcome, _ in game.chances(s)])
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


def refuses(game: Game, text: str, message: str) -> None:
    """The position cannot be read: the error says why, and quotes it."""
    with pytest.raises(BadNotation) as error:
        game.from_text(text)
    assert message in str(error.value)
    assert repr(text) in str(error.value)


def reads_or_refuses(game: Game, text: str) -> None:
    """The position is refused, or it can be written and read back."""
    try:
        s = game.from_text(text)
    except BadNotation:
        return
    assert game.from_text(game.to_text(s)) == s


def compare_backends(game: Game, s: State) -> None:
    """The rules of the compiled backend, run uncompiled, against the Python backend."""
    rules = game.rules
    assert rules is not None
    player = game.to_play(s)
    with np.errstate(over="ignore"):
        word = rules.State(*map(np.uint64, game.encode(s)))
        if game.history(s) and game.is_terminal(s):
            return  # perhaps by repetition, which is the kernels' affair
        assert rules.is_terminal(word) == game.is_terminal(s)
        assert rules.to_play(word) == player
        if game.is_terminal(s):
            if rules.utility_mover:
                assert rules.utility_mover(word) == game.utility(s, player)
            else:
                assert [rules.utility_player(word, p) for p in range(game.n_players)] == [
                    game.utility(s, p) for p in range(game.n_players)
                ]
            return
        assert rules.phase(word) == game.phase(s)
        numbers = np.zeros(len(game.feature_names), np.float32)
        if rules.features_mover:
            rules.features_mover(word, numbers)
            assert numbers.tolist() == np.asarray(game.features(s, player), np.float32).tolist()
        else:
            for p in range(game.n_players):
                rules.features_player(word, p, numbers)
                assert numbers.tolist() == np.asarray(game.features(s, p), np.float32).tolist()
        choices = np.zeros(max(rules.max_actions, rules.max_outcomes), np.int32)
        if player == CHANCE:
            odds = np.zeros(rules.max_outcomes)
            n = rules.chances(word, choices, odds)
            found = choices[:n].tolist()
            assert list(zip(found, odds[:n].tolist(), strict=True)) == list(game.chances(s))
        else:
            found = choices[: rules.actions(word, choices)].tolist()
            assert found == list(game.actions(s))
        for a in found:
            t = game.result(s, a)
            assert game.decode([int(w) for w in rules.result(word, a)], game.history(t)) == t
        if rules.noisy_actions:
            assert choices[: rules.noisy_actions(word, choices)].tolist() == list(game.noisy_actions(s))
