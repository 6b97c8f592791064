"""The solver against what is known of small games, minimax, closed forms and an independent iteration."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import CoinRace, DoubleMove, TreeGame
from walkers import Hurried

from evallearn import CHANCE, FunctionEval, Limits, LinearEval, Minimax, get_game
from evallearn.errors import SearchError
from evallearn.games.matches.solver import mover_wins
from evallearn.games.pig.solver import table_of, win_probability
from evallearn.search.exact import solver
from evallearn.search.exact.solver import solve

EXAMPLES = Path(__file__).parents[3] / "examples"


class Board(TreeGame):
    """A graph: moves[i] are the positions after position i, owners[i] who is to move, utilities[i] the ends."""

    name = "graph"

    def __init__(self, moves: Sequence[Sequence[int]], owners: Sequence[int], utilities: Sequence[float]) -> None:
        super().__init__((), (-3.0, 3.0))
        self.moves, self.owners, self.utilities = moves, owners, utilities

    def initial(self) -> Any:
        return 0

    def to_play(self, s: Any) -> int:
        return self.owners[s]

    def actions(self, s: Any) -> Sequence[int]:
        return tuple(range(len(self.moves[s])))

    def result(self, s: Any, a: int) -> Any:
        return self.moves[s][a]

    def is_terminal(self, s: Any) -> bool:
        return not self.moves[s]

    def utility(self, s: Any, player: int) -> float:
        return self.utilities[s] if player == 0 else -self.utilities[s]

    def to_text(self, s: Any) -> str:
        return str(s)


def graphs(values: Sequence[float]) -> st.SearchStrategy[Board]:
    """Random graphs, most of them with cycles."""

    def build(n: int) -> st.SearchStrategy[Board]:
        node = st.integers(0, n - 1)
        return st.builds(
            Board,
            st.lists(st.lists(node, max_size=3), min_size=n, max_size=n),
            st.lists(st.integers(0, 1), min_size=n, max_size=n),
            st.lists(st.sampled_from(values), min_size=n, max_size=n),
        )

    return st.integers(2, 9).flatmap(build)


def horizon_values(game: Board, n: int) -> list[list[float]]:
    """[k][s]: minimax with k plies to go, where what is not over by then is worth 0.

    After as many plies as there are positions nothing changes any more: what can be forced can be forced by then.
    """
    rows = [[u if not m else 0.0 for m, u in zip(game.moves, game.utilities, strict=True)]]
    for _ in range(n):
        choose = [max if owner == 0 else min for owner in game.owners]
        rows.append([choose[s](rows[-1][t] for t in m) if m else rows[-1][s] for s, m in enumerate(game.moves)])
    return rows


@settings(max_examples=60)
@given(game=graphs((-3, -1, 0, 1, 2)))
def test_values_with_cycles_are_those_of_a_far_horizon(game: Board) -> None:
    solution, expected = solve(game), horizon_values(game, 12)[-1]
    for s in range(len(game.moves)):
        if s in solution:
            assert solution.value(s, 0) == expected[s]
            assert solution.value(s, 1) == -expected[s]


@settings(max_examples=40)
@given(game=graphs((-1, 0, 1)))
def test_plies_are_the_first_horizon_that_shows_the_win(game: Board) -> None:
    solution, rows = solve(game), horizon_values(game, 12)
    for s in (s for s in range(len(game.moves)) if s in solution):
        value = solution.value(s, 0)
        if value == 0:
            assert solution.plies(s) == (0 if game.is_terminal(s) else None)
        else:
            assert solution.plies(s) == next(k for k, row in enumerate(rows) if row[s] == value)


@settings(max_examples=60)
@given(game=graphs((-3, -1, 0, 1, 2)), seed=st.integers(0, 99))
def test_best_actions_bring_the_value_home_whatever_the_other_does(game: Board, seed: int) -> None:
    solution, rng = solve(game), random.Random(seed)
    for hero in (0, 1):
        s, promised = 0, solution.value(0, hero)
        for _ in range(40):
            if game.is_terminal(s):
                break
            s = game.result(s, solution.best(s) if game.to_play(s) == hero else rng.choice(game.actions(s)))
        assert (game.utility(s, hero) if game.is_terminal(s) else 0.0) >= promised


# --- known games -----------------------------------------------------------------------------------------------------
def test_tic_tac_toe_has_5478_positions_and_is_a_draw() -> None:
    game = get_game("tic_tac_toe")
    solution = solve(game)
    assert len(solution) == 5478
    assert (solution.value(game.initial(), 0), solution.plies(game.initial())) == (0.0, None)
    ends = [s for s in solution if game.is_terminal(s)]
    assert len(ends) == 958
    assert sum(game.utility(s, 0) == 0 for s in ends) == 16


def test_all_positions_of_tic_tac_toe_have_their_minimax_value() -> None:
    game = get_game("tic_tac_toe")
    solution = solve(game)
    known: dict[Any, tuple[float, int]] = {}
    for s in sorted(solution, key=lambda s: -sum(map(int.bit_count, s[:2]))):  # full boards first
        if game.is_terminal(s):
            known[s] = game.utility(s, 0), 0
            continue
        below = [known[game.result(s, a)] for a in game.actions(s)]
        value = (max if game.to_play(s) == 0 else min)(v for v, _ in below)
        plies = [n for v, n in below if v == value]
        winning = value == (1 if game.to_play(s) == 0 else -1)
        known[s] = value, 1 + (min(plies) if winning else max(plies))
    assert {s: solution.value(s, 0) for s in solution} == {s: value for s, (value, _) in known.items()}
    for s, (value, plies) in known.items():
        if value:
            assert solution.plies(s) == plies
    search = Minimax(game, LinearEval.zero(game))
    late = [s for s in known if not game.is_terminal(s) and len(game.actions(s)) < 6]
    for s in random.Random(1).sample(late, 20):
        assert search.search(s, Limits(depth=9)).value == solution.value(s, game.to_play(s))


def test_winner_hurries_and_loser_delays() -> None:
    # X O .      X wins at once on the right below; elsewhere X wins later
    # O X .
    # . . .
    game = get_game("tic_tac_toe")
    s = game.from_text("XO.OX....")
    solution = solve(game, start=s)
    assert (solution.value(s, 0), solution.plies(s), solution.best(s)) == (1.0, 1, 8)
    values = solution.solved(s)
    assert next(iter(values)) == 8
    assert set(values) == set(game.actions(s))
    slow = [a for a, value in values.items() if value == 1.0][1:]
    assert slow
    assert all(solution.plies(game.result(s, a)) > 0 for a in slow)


@pytest.mark.parametrize("parameters", ["matches", "matches,piles=1-2-3-4,k=2", "matches,piles=9,k=4"])
def test_matches_are_won_and_lost_as_its_own_solver_says(parameters: str) -> None:
    game = get_game(parameters)
    solution = solve(game)
    for s in solution:
        assert solution.value(s, game.to_play(s)) == (1.0 if mover_wins(s) else -1.0)
        if not game.is_terminal(s):
            assert solution.solved(s) == game.solved(s)


def test_player_may_move_twice() -> None:
    game = DoubleMove()
    solution, search = solve(game), Minimax(game, LinearEval.zero(game))
    for s in solution:
        if not game.is_terminal(s):
            assert solution.value(s, s.player) == search.search(s, Limits(depth=12)).value


def test_domineering_on_small_boards_is_won_by_whom_the_literature_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 2 x 2, 3 x 3 and 4 x 4 whoever moves first wins (Breuker, Uiterwijk and van den Herik, 2000)."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import domineering

    for size in (2, 3, 4):
        monkeypatch.setattr(domineering, "SIZE", size)
        monkeypatch.setattr(domineering, "STEP", (size, 1))
        game = domineering.Domineering()
        assert solve(game).value(game.initial(), 0) == 1.0


def test_rules_that_look_back_are_part_of_the_position() -> None:
    game = Hurried()
    solution = solve(game)
    search = Minimax(game, LinearEval.zero(game))
    for s in random.Random(2).sample([s for s in solution if not game.is_terminal(s)], 15):
        assert solution.value(s, game.to_play(s)) == search.search(s, Limits(depth=12)).value


# --- dice ------------------------------------------------------------------------------------------------------------
def test_values_of_pig_follow_from_those_one_move_later() -> None:
    game = get_game("pig,target=8")
    solution = solve(game)
    for s in solution:
        if game.is_terminal(s):
            assert solution.value(s, 0) == game.utility(s, 0)
        elif game.to_play(s) == CHANCE:
            mean = sum(p * solution.value(game.result(s, o), 0) for o, p in game.chances(s))
            assert solution.value(s, 0) == pytest.approx(mean, abs=1e-12)
        else:
            player = game.to_play(s)
            best = max(solution.value(game.result(s, a), player) for a in game.actions(s))
            assert solution.value(s, player) == pytest.approx(best, abs=1e-12)
            assert solution.plies(s) is None


@pytest.mark.long
@pytest.mark.parametrize("target", [10, 20])
def test_pig_is_worth_what_its_own_solver_says(target: int) -> None:
    game = get_game(f"pig,target={target}")
    solution, table = solve(game), table_of(target)
    for s in solution:
        if not game.is_terminal(s):
            assert solution.value(s, 0) == pytest.approx(2 * win_probability(table, s, 0) - 1, abs=1e-12)
    s = game.from_text("0-0/turn=3")
    assert solution.solved(s) == pytest.approx(game.solved(s), abs=1e-12)


def test_coin_race_is_worth_what_expectiminimax_finds_at_its_end() -> None:
    from evallearn import Expectiminimax

    game = CoinRace()
    solution, search = solve(game), Expectiminimax(game, FunctionEval(game, lambda s, player: 0.0))
    late = [s for s in solution if game.to_play(s) != CHANCE and not game.is_terminal(s) and s[4] >= 5]  # type: ignore[index]
    for s in late[::7]:
        found = search.search(s, Limits(depth=20), action_values=True)
        assert found.exact
        assert solution.value(s, found.player) == pytest.approx(found.value, abs=1e-12)
        assert found.action_values[solution.best(s)] == pytest.approx(found.value, abs=1e-12)


def test_values_that_do_not_settle_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_SWEEPS", 3)
    with pytest.raises(
        SearchError, match="the values of coin_race have not settled after 3 sweeps: use expectiminimax"
    ):
        solve(CoinRace())


def test_finished_position_of_a_dice_game_is_its_own_solution() -> None:
    solution = solve(CoinRace(), start=(4, 0, 1, 0, 3))
    assert (len(solution), solution.value((4, 0, 1, 0, 3), 1)) == (1, -1.0)


# --- refusals --------------------------------------------------------------------------------------------------------
def test_too_many_positions_are_refused_with_the_number_and_the_remedy() -> None:
    with pytest.raises(SearchError, match="connect_four has more than 2,000 positions after '.*': raise max_states"):
        solve(get_game("connect_four"), max_states=2000)


def test_three_players_and_shared_gains_are_refused() -> None:
    with pytest.raises(SearchError, match=r"three_player_connect has 3 players: use max\^n"):
        solve(get_game("three_player_connect"))

    class Friends(DoubleMove):
        zero_sum = False

    with pytest.raises(SearchError, match=r"double_move is not zero-sum: use max\^n"):
        solve(Friends())


def test_position_that_was_not_reached_is_named() -> None:
    game = get_game("tic_tac_toe")
    late = solve(game, start=game.from_text("XO.OX...."))
    with pytest.raises(SearchError, match="is not in this solution of .* positions: solve from a position before it"):
        late.value(game.initial(), 0)
    assert late.solved(game.initial()) is None
    assert game.initial() not in late


def test_there_is_nothing_to_choose_at_the_end_and_before_a_roll() -> None:
    race = CoinRace()
    solution = solve(race)
    for s, why in ((race.initial(), "waits for the dice"), ((4, 0, 1, 0, 3), "is over")):
        if s in solution:
            with pytest.raises(SearchError, match=f"{why}: there is nothing to choose"):
                solution.best(s)
    assert (4, 0, 1, 0, 3) in solution
