"""Sets of games: every seat is taken by both, and an agent against itself is exactly even in every game there is."""

from __future__ import annotations

import pytest

from evallearn import game_names, get_game
from evallearn.agents import RandomAgent, parse_agent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.seating import Played, by_game, score_set, seatings


def played(seats: tuple[int, ...], *utilities: float, luck: float | None = None) -> Played:
    return Played(seats, [], list(utilities), [1, 1], [1, 1], [0.0, 0.0], luck)


def test_both_take_every_seat() -> None:
    assert seatings(1) == ((0,), (1,))
    assert seatings(2) == ((0, 1), (1, 0))
    three = seatings(3)
    assert len(three) == 6
    assert all(sum(s[seat] for s in three) == 3 for seat in range(3))
    assert {tuple(1 - side for side in s) for s in three} == set(three)


def test_a_pair_scores_by_its_games() -> None:
    chess = get_game("chess")
    assert by_game(chess)
    score = score_set(chess, [played((0, 1), 1, -1), played((1, 0), 0, 0)])
    assert (score.points, score.results, score.margin) == (0.75, (1, 0), 0.5)
    lost = score_set(chess, [played((0, 1), -1, 1), played((1, 0), 1, -1)])
    assert (lost.points, lost.results, lost.margin) == (0.0, (-1, -1), -1.0)


def test_points_count_in_the_margin_and_luck_is_turned_to_a() -> None:
    backgammon = get_game("backgammon")
    score = score_set(backgammon, [played((0, 1), 3, -3, luck=0.5), played((1, 0), 1, -1, luck=0.3)])
    assert (score.points, score.results, score.margin) == (0.5, (1, -1), 1.0)
    assert score.luck == pytest.approx(0.1)
    assert score_set(backgammon, [played((0, 1), 3, -3, luck=0.5), played((1, 0), 1, -1)]).luck is None


def test_scores_are_compared_over_the_whole_set() -> None:
    """Pacman wins points even where he plays badly: only the sum over both seats tells who is better."""
    pacman = get_game("pacman")
    assert not by_game(pacman)
    score = score_set(pacman, [played((0, 1), 300, -300), played((1, 0), 250, -250)])
    assert (score.points, score.results, score.margin) == (1.0, (1,), 25.0)
    alone = get_game("2048")
    score = score_set(alone, [played((0,), 900), played((1,), 1000)])
    assert (score.points, score.results, score.margin) == (0.0, (-1,), -100.0)


def test_three_players_compare_the_mean_of_their_seats() -> None:
    three = get_game("three_player_connect")
    games = [played(s, 1, -0.5, -0.5) for s in seatings(3)]  # the first seat always wins: nobody is better
    assert score_set(three, games).margin == 0
    better = [played(s, *(1.0 if side == 0 else -0.5 for side in s)) for s in seatings(3)]
    assert score_set(three, better).margin == 1.5


@pytest.mark.parametrize("name", game_names())
def test_random_play_against_itself_is_exactly_even_in_every_game(name: str) -> None:
    game = get_game(name)
    config = MatchSettings(pairs=3, seed=5, luck="none")
    found = play_match(game, RandomAgent(game, "A"), RandomAgent(game, "B"), config)
    assert found.games == 3 * len(seatings(game.n_players))
    assert found.pair_counts == (0, 0, 3, 0, 0)
    assert found.elo.elo == found.margin.value == 0
    assert found.elo.los == found.score == 0.5
    assert found.wins == found.losses
    assert found.moves[0] == found.moves[1]


@pytest.mark.parametrize(
    ("name", "better"),
    [("three_player_connect", "handwritten:threats@depth=1"), ("pig", "handwritten:race@depth=1"),
     pytest.param("2048", "handwritten:snake@depth=1", marks=pytest.mark.long),
     pytest.param("pacman,maze=small", "handwritten:hungry@depth=2", marks=pytest.mark.long)],
)  # fmt: skip
def test_the_better_agent_wins_in_games_of_every_kind(name: str, better: str) -> None:
    game = get_game(name)
    found = play_match(game, parse_agent(better, game), RandomAgent(game), MatchSettings(pairs=12, seed=2))
    assert found.margin.low > 0
    assert found.score > 0.7
