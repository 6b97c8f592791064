from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from evallearn.arena.ratings import PRIOR_GAMES, Rating, bradley_terry
from evallearn.arena.stats import ELO_LIMIT, elo_from_pairs, elo_of_score, score_of_elo
from evallearn.errors import SpecError


def one_game(elo: float, draws: float) -> np.ndarray:
    """Probabilities of loss, draw, win with the expected score of this Elo difference."""
    score = score_of_elo(elo)
    drawn = 2 * draws * min(score, 1 - score)
    return np.array([1 - score - drawn / 2, drawn, score - drawn / 2])


def pair(elo: float, draws: float, alike: float) -> np.ndarray:
    """Pair counts' probabilities; with probability `alike` the second game repeats the first."""
    game = one_game(elo, draws)
    same = np.zeros(5)
    same[::2] = game
    return np.asarray((1 - alike) * np.convolve(game, game) + alike * same)


def by_name(ratings: tuple[Rating, ...]) -> dict[str, Rating]:
    return {r.name: r for r in ratings}


def test_two_players_are_rated_as_in_a_match() -> None:
    counts = (3, 9, 20, 14, 6)
    found, match = by_name(bradley_terry([("a", "b", counts)], anchor="b")), elo_from_pairs(counts)
    assert found["a"].elo == pytest.approx(match.elo, rel=0.01)
    assert (found["a"].low, found["a"].high) == pytest.approx((match.low, match.high), abs=5)
    assert found["a"].los_next == pytest.approx(match.los, abs=0.02)
    assert (found["b"].elo, found["b"].low, found["b"].high, found["b"].los_next) == (0, 0, 0, None)
    assert (found["a"].score, found["b"].score) == pytest.approx((match.score, 1 - match.score))
    assert found["a"].pairs == found["b"].pairs == 52


def test_ratings_satisfy_the_likelihood_equations() -> None:
    """Expected points equal the points made, imaginary draws included: the definition of the maximum."""
    rng = np.random.default_rng(1)
    names, results = "abcd", []
    for a, b in itertools.combinations(names, 2):
        results.append((a, b, rng.multinomial(30, pair(rng.normal(0, 150), 0.5, 0.2)).tolist()))
    elo = {r.name: r.elo for r in bradley_terry(results, anchor="c")}
    for name in names:
        excess = 0.0
        for a, b, counts in results:
            if name in (a, b):
                sign = 1 if name == a else -1
                made = np.dot(counts, [0, 0.5, 1, 1.5, 2]) + PRIOR_GAMES / 2
                excess += sign * (made - (60 + PRIOR_GAMES) * score_of_elo(elo[a] - elo[b]))
        assert excess == pytest.approx(0, abs=1e-6)


def test_chain_adds_up() -> None:
    found = by_name(bradley_terry([("a", "b", (0, 0, 500, 500, 0)), ("b", "c", (0, 0, 500, 500, 0))], anchor="c"))
    assert found["b"].elo == pytest.approx(elo_of_score(0.625), rel=0.01)
    assert found["a"].elo == pytest.approx(2 * found["b"].elo, rel=0.001)
    assert found["a"].high - found["a"].low > 1.2 * (found["b"].high - found["b"].low)


def test_same_seed_same_list_and_order_of_results_does_not_matter() -> None:
    results = [("a", "b", (3, 9, 20, 14, 6)), ("c", "b", (1, 2, 3, 4, 5)), ("a", "c", (5, 4, 3, 2, 1))]
    turned = [(b, a, counts[::-1]) for a, b, counts in results]
    assert bradley_terry(results, anchor="a", seed=5) == bradley_terry(results, anchor="a", seed=5)
    assert bradley_terry(results, anchor="a") != bradley_terry(results, anchor="a", seed=5)
    for x, y in zip(bradley_terry(results, anchor="a"), bradley_terry(turned, anchor="a"), strict=True):
        assert (x.name, x.elo, x.low, x.high, x.score) == pytest.approx((y.name, y.elo, y.low, y.high, y.score))


def test_results_of_the_same_two_are_added_up() -> None:
    whole = bradley_terry([("a", "b", (4, 6, 8, 6, 7))], anchor="b")
    parts = bradley_terry([("a", "b", (4, 0, 8, 0, 3)), ("b", "a", (4, 6, 0, 6, 0))], anchor="b")
    assert whole == parts


def test_strongest_is_first_and_all_is_ready_for_json() -> None:
    found = bradley_terry([("a", "b", (9, 0, 0, 0, 1)), ("b", "c", (9, 0, 0, 0, 1))], anchor="a")
    assert [r.name for r in found] == ["c", "b", "a"]
    assert found[0].los_next is not None
    assert found[0].los_next > 0.97
    json.dumps([asdict(r) for r in found], allow_nan=False)


def test_all_games_won_is_finite_and_open_above() -> None:
    found = by_name(bradley_terry([("a", "b", (0, 0, 0, 0, 20)), ("b", "c", (5, 0, 0, 0, 5))], anchor="c"))
    assert 500 < found["a"].elo < 1000
    assert found["a"].low > 0
    assert found["a"].high == ELO_LIMIT
    assert found["b"].high < 300


def test_anchor_that_lost_every_game_leaves_all_open_above() -> None:
    found = by_name(bradley_terry([("a", "z", (0, 0, 0, 0, 20)), ("a", "b", (5, 0, 0, 0, 5))], anchor="z"))
    assert found["a"].high == found["b"].high == ELO_LIMIT
    assert found["z"].low == found["z"].high == 0
    mirrored = by_name(bradley_terry([("a", "z", (20, 0, 0, 0, 0)), ("a", "b", (5, 0, 0, 0, 5))], anchor="z"))
    assert mirrored["a"].low == mirrored["b"].low == -ELO_LIMIT


@pytest.mark.long
@pytest.mark.parametrize(
    ("pairs", "alike"),
    [(12, 0.0), (12, 0.8), (60, 0.4)],
)
def test_intervals_cover_93_to_97_percent(pairs: int, alike: float) -> None:
    """Four players, everybody against everybody, 150 tables; games of a pair alike or not.

    The three intervals of a table are related: the standard deviation of the mean is some 1.2 %, and 1 is allowed.
    """
    rng = np.random.default_rng(pairs)
    truth = {"a": 0.0, "b": 60.0, "c": -150.0, "d": 250.0}
    hits = []
    for table in range(150):
        results = [
            (x, y, rng.multinomial(pairs, pair(truth[x] - truth[y], 0.3, alike)).tolist())
            for x, y in itertools.combinations(truth, 2)
        ]
        found = bradley_terry(results, anchor="a", seed=table)
        hits += [r.low <= truth[r.name] <= r.high for r in found if r.name != "a"]
    assert 0.93 - 0.012 <= np.mean(hits) <= 0.97 + 0.012


def test_likeness_of_pairs_widens_the_intervals() -> None:
    """The same score of as many games: pairs whose games are alike are half the evidence."""
    alike, apart = (bradley_terry([("a", "b", c)], anchor="b") for c in ((50, 0, 0, 0, 50), (25, 0, 50, 0, 25)))
    assert alike[0].high - alike[0].low == pytest.approx(math.sqrt(2) * (apart[0].high - apart[0].low), rel=0.05)


def test_twenty_players_are_rated() -> None:
    names = [f"p{i:02}" for i in range(20)]
    results = [(a, b, (1, 2, 3, 2, 2)) for a, b in itertools.combinations(names, 2)]
    found = bradley_terry(results, anchor="p19")
    assert [r.name for r in found] == names


def test_groups_that_never_met_are_named() -> None:
    results = [("a", "b", (1, 0, 0, 0, 1)), ("x", "y", (1, 0, 0, 0, 1)), ("b", "c", (1, 0, 0, 0, 1))]
    with pytest.raises(SpecError, match="2 groups that never met: a, b, c; x, y: let one of each play"):
        bradley_terry(results, anchor="a")


@pytest.mark.parametrize(
    ("results", "anchor", "message"),
    [
        ([], "a", "ratings of no results"),
        ([("a", "a", (1, 0, 0, 0, 1))], "a", "a against itself"),
        ([("a", "b", (1, 0, 1))], "a", "a against b with pair counts .1, 0, 1.: give five"),
        ([("a", "b", (0, 0, 0, 0, 0))], "a", "and one pair or more"),
        ([("alice", "bob", (1, 0, 0, 0, 1))], "alise", "unknown anchor 'alise': did you mean 'alice'"),
    ],
)
def test_senseless_tables_are_refused(
    results: list[tuple[str, str, tuple[int, ...]]], anchor: str, message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        bradley_terry(results, anchor=anchor)
