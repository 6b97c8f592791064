"""The evaluator that asks endgame tables and closed forms first: its promises, both backends, what it does for play."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toys import CoinRace, DoubleMove

from evallearn import AlphaBeta, Expectiminimax, Limits, LinearEval, get_game, heuristic
from evallearn.compiled.bits import jitable
from evallearn.compiled.memory import byte_at
from evallearn.core.rules import NOT_KNOWN, Endgames
from evallearn.errors import EvaluatorError, GameError
from evallearn.evaluators.solved import MOST_STEPS, SolvedEval
from evallearn.evaluators.squash import BOUND
from evallearn.games.checkers import Checkers
from evallearn.games.checkers.moves import CROWN_ROW, State, bit
from evallearn.games.checkers.table import EndgameTable, build_table, save_table
from evallearn.games.checkers.table_probe import endgames_of, probe
from evallearn.search.exact.solver import solve

GAME = Checkers()
REFERENCE = Path(__file__).resolve().parents[3] / "shared/reference/checkers"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")
TWO_KINGS = "B:WK13:BK15,K32"
"""Black wins, in 15 plies at best."""


@pytest.fixture(scope="module")
def table() -> EndgameTable:
    return build_table(3)


@pytest.fixture
def solved(table: EndgameTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SolvedEval:
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    save_table(table, tmp_path / "checkers-3.table")
    return SolvedEval(heuristic(GAME, "material"))


def positions(pieces: int, n: int, seed: int) -> Iterator[State]:
    """Random ones, not over, some late on the clock."""
    rng = random.Random(seed)
    while n:
        squares = rng.sample(range(32), pieces)
        black = rng.randint(1, pieces - 1)
        words = [sum(map(bit, part)) for part in (squares[:black], squares[black:])]
        must_be_kings = words[0] & CROWN_ROW[0] | words[1] & CROWN_ROW[1]
        kings = must_be_kings | sum(bit(square) for square in squares if rng.random() < 0.5)
        s = State(words[0], words[1], kings, rng.randint(0, 1), rng.choice((0, 0, 40, 79)))
        if not GAME.is_terminal(s):
            n -= 1
            yield s


# --- the promises ----------------------------------------------------------------------------------------------------
def test_known_positions_lie_strictly_inside_and_draws_in_the_middle(table, solved):
    seen = set()
    for s in positions(3, 300, seed=1):
        steps, value = solved.endgames.steps(s), solved.evaluate(s, s.player)
        assert solved.evaluate(s, 1 - s.player) == -value
        if steps is None:
            assert s.clock
            assert value == solved.below.evaluate(s, s.player)
            continue
        assert np.sign(steps) == table.value(s)
        assert -1 < value < 1
        assert value == (0.0 if steps == 0 else np.sign(steps) * (1 - abs(steps) / 2**20))
        seen.add(np.sign(steps))
    assert seen == {-1, 0, 1}


def test_unknown_positions_are_left_to_the_eval_below(solved):
    for s in positions(5, 30, seed=2):
        assert solved.evaluate(s, 0) == solved.below.evaluate(s, 0)
        assert solved.explain(s, 0) == solved.below.explain(s, 0)
    s = GAME.from_text(TWO_KINGS)
    assert solved.explain(s, 1) == {"solved": solved.evaluate(s, 1)}


def test_finished_positions_have_their_utility(solved):
    s = GAME.from_text("W:W13:B6,9")
    assert GAME.is_terminal(s)
    assert (solved.evaluate(s, 0), solved.evaluate(s, 1)) == (1.0, -1.0)


def test_steps_fall_on_the_way_to_the_end(table):
    """The winner can always take one fewer, the loser has no move that does not."""
    endgames = endgames_of(table)
    checked = 0
    for s in (s._replace(clock=0) for s in positions(3, 200, seed=3)):
        steps = endgames.steps(s)
        after = [
            (0 if GAME.is_terminal(t) else endgames.steps(t)) for t in (GAME.result(s, a) for a in GAME.actions(s))
        ]
        assert None not in after or 0 in after  # only the last piece leaves the table
        if steps > 0:
            assert any(0 <= -t < steps for t in after if t is not None and t <= 0)
        elif steps < 0:
            assert all(0 <= t < -steps for t in after if t is not None)
        checked += steps != 0
    assert checked > 80


def test_no_win_is_promised_that_the_clock_forbids(table, solved):
    s = GAME.from_text(TWO_KINGS)
    plies = table.plies(s)
    in_time, late = (s._replace(clock=80 - plies + more) for more in (0, 1))
    assert solved.endgames.steps(in_time) is not None
    assert solved.endgames.steps(late) is None
    draw = GAME.from_text("B:WK32:BK1")._replace(clock=79)
    assert solved.endgames.steps(draw) == 0


# --- both backends ---------------------------------------------------------------------------------------------------
def test_probe_finds_what_the_plain_backend_finds(table):
    endgames = endgames_of(table)
    address = endgames.memory.ctypes.data
    for pieces in (2, 3, 4):
        for s in positions(pieces, 60, seed=pieces):
            with np.errstate(over="ignore"):
                words = GAME.rules.State(*map(np.uint64, GAME.encode(s)))
                steps = probe(words, address)
            assert (None if steps == NOT_KNOWN else steps) == endgames.steps(s)


def test_both_backends_agree_bit_for_bit(solved):
    states = [s for pieces in (2, 3, 4, 6) for s in positions(pieces, 60, seed=pieces)]
    players = [i % 2 for i in range(len(states))]
    plain = np.array([solved.evaluate(s, p) for s, p in zip(states, players, strict=True)])
    assert solved.evaluate_batch(states, players).astype(np.float64).tobytes() == plain.tobytes()


@jitable
def pile_probe(s, address):
    """Steps of a pile: known up to eight."""
    pile = np.int64(s.pile)
    return byte_at(address, pile) if pile <= 8 else NOT_KNOWN


class Tabled(DoubleMove):
    """Its own endgames: the solution, for piles up to eight."""

    def endgames(self) -> Endgames:
        solution = solve(DoubleMove())
        memory = np.zeros(9, np.int8)
        for s in solution:
            if s.pile <= 8:
                memory[s.pile] = solution.plies(s) * solution.value(s, s.player)
        return Endgames(steps=lambda s: int(memory[s.pile]) if s.pile <= 8 else None, probe=pile_probe, memory=memory)


@pytest.mark.long
def test_searches_of_both_backends_consult_it_at_the_cutoff():
    game = Tabled()
    solution, evaluator = solve(game), SolvedEval(LinearEval.zero(game))
    plain, compiled = (AlphaBeta(game, evaluator, backend=backend) for backend in ("python", "compiled"))
    blind = AlphaBeta(game, LinearEval.zero(game), backend="python")
    assert evaluator.name == "zero+solved"
    errs = 0
    for s in solution:
        if game.is_terminal(s) or s.pile > 9:
            continue
        found, again = plain.search(s, Limits(depth=1)), compiled.search(s, Limits(depth=1))
        assert (found.value, found.action) == (again.value, again.action)
        assert np.sign(found.value) == solution.value(s, s.player)
        assert solution.value(game.result(s, found.action), s.player) == solution.value(s, s.player)
        errs += np.sign(blind.search(s, Limits(depth=1)).value) != solution.value(s, s.player)
    assert errs > 5


# --- what it does for play -------------------------------------------------------------------------------------------
def plies_to_win(search: AlphaBeta, table: EndgameTable, depth: int, most: int) -> int | None:
    """Two kings against one, which resists as long as the table knows how to; None if it is not over in time."""
    s = GAME.from_text(TWO_KINGS)
    for ply in range(most):
        if GAME.is_terminal(s):
            return ply if GAME.utility(s, 0) == 1.0 else None
        if s.player == 0:
            a = search.search(s, Limits(depth=depth)).action
        else:
            a = max(GAME.actions(s), key=lambda a: resistance(table, GAME.result(s, a)))
        s = GAME.result(s, a)
    return None


def resistance(table: EndgameTable, s: State) -> tuple[int, int]:
    """A draw before any loss, then the longest."""
    return int(table.value(s) == 0), table.plies(s)


def test_two_kings_beat_one_instead_of_shuffling(table, solved):
    with_table = AlphaBeta(GAME, solved, backend="python")
    without = AlphaBeta(GAME, solved.below, backend="python")
    won = plies_to_win(with_table, table, depth=2, most=60)
    assert won is not None
    assert won <= 2 * table.plies(GAME.from_text(TWO_KINGS))
    assert plies_to_win(without, table, depth=2, most=won + 10) is None


def test_matches_are_played_perfectly_one_move_ahead():
    game = get_game("matches,piles=3-4,k=3")
    evaluator = SolvedEval(heuristic(game, "parity"))
    assert evaluator.kernel() is None  # a closed form is no table
    search = AlphaBeta(game, evaluator)
    for s in solve(game):
        if not game.is_terminal(s):
            found = search.search(s, Limits(depth=1))
            assert game.solved(s)[found.action] == max(game.solved(s).values())
            assert evaluator.evaluate(s, s.player) in (BOUND, -BOUND)


@pytest.mark.parametrize("game", [get_game("pig,target=8"), CoinRace()], ids=["pig", "coin_race"])
def test_rolls_are_worth_the_mean_of_their_outcomes(game):
    solution = solve(game)
    evaluator = SolvedEval(LinearEval.zero(game), solution.solved)
    search = Expectiminimax(game, evaluator)
    for s in list(solution)[::5]:
        for player in (0, 1):
            if not game.is_terminal(s):
                inside = min(max(solution.value(s, player), -BOUND), BOUND)
                assert evaluator.evaluate(s, player) == pytest.approx(inside, abs=1e-12)
        if game.actions(s):
            action = search.search(s, Limits(depth=1)).action
            assert solution.solved(s)[action] == pytest.approx(solution.value(s, game.to_play(s)), abs=1e-12)


def test_roll_with_an_unknown_outcome_is_left_to_the_eval_below():
    game = CoinRace()
    known = solve(game).solved
    evaluator = SolvedEval(LinearEval.zero(game), lambda s: None if s[3] == 2 else known(s))
    assert evaluator.evaluate(game.initial(), 0) == 0.0
    assert evaluator.evaluate((3, 0, 0, 1, 4), 0) == BOUND


def test_far_wins_stay_above_any_reasonable_estimate(solved):
    furthest = solved._from_steps(10**6)
    assert furthest == 1 - MOST_STEPS / 2**20
    assert furthest > 0.99


# --- refusals --------------------------------------------------------------------------------------------------------
def test_game_that_knows_nothing_is_refused():
    game = get_game("tic_tac_toe")
    with pytest.raises(EvaluatorError, match="tic_tac_toe knows no values for certain: give it `solved` or `endgames`"):
        SolvedEval(LinearEval.zero(game))
    whole = SolvedEval(LinearEval.zero(game), solve(game).solved)
    assert whole.evaluate(game.initial(), 0) == 0.0
    assert whole.evaluate(game.from_text("XX.OO...."), 0) == BOUND


def test_three_players_are_refused():
    game = get_game("three_player_connect")
    with pytest.raises(EvaluatorError, match="solved values need one player, or two in a zero-sum game; three_player"):
        SolvedEval(LinearEval.zero(game), lambda s: None)


def test_missing_table_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    with pytest.raises(GameError, match="no endgame table .*checkers-4.table: make it with `evallearn tables"):
        SolvedEval(heuristic(GAME, "material"))


# --- long ------------------------------------------------------------------------------------------------------------
def shares(search: AlphaBeta, table: EndgameTable) -> tuple[float, float]:
    """Of the sampled endings (how many values are right at depth 4, how many moves keep the value)."""
    right = kept = n = 0
    with (REFERENCE / "checkers_egdb_sample_dev.csv").open() as file:
        for row in csv.DictReader(file):
            s = GAME.from_text(row["fen"])
            if GAME.is_terminal(s):
                continue
            value = {"win": 1, "draw": 0, "loss": -1}[row["value_for_side_to_move"]]
            found = search.search(s, Limits(depth=4))
            right += round(found.value) == value
            kept += -table.value(GAME.result(s, found.action)) == value
            n += 1
    return right / n, kept / n


@pytest.mark.long
@needs_reference
def test_sampled_endings_are_all_judged_and_played_right_where_without_the_table_half_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    table = build_table(4)
    save_table(table, tmp_path / "checkers-4.table")
    material = heuristic(GAME, "material")
    without, with_table = AlphaBeta(GAME, material), AlphaBeta(GAME, SolvedEval(material))
    assert with_table.backend == "compiled"
    assert shares(with_table, table) == (1.0, 1.0)
    right, kept = shares(without, table)
    assert right < 0.6
    assert kept < 1.0
    assert plies_to_win(with_table, table, depth=4, most=60) is not None
    assert plies_to_win(without, table, depth=4, most=200) is None


@pytest.mark.long
def test_pig_is_played_as_its_solver_plays():
    game = get_game("pig,target=30")
    evaluator, rng = SolvedEval(LinearEval.zero(game)), random.Random(4)
    search = Expectiminimax(game, evaluator)
    for _ in range(60):
        s = game.from_text(f"{rng.randrange(30)}-{rng.randrange(30)}")
        s = s._replace(turn=rng.randrange(30 - s.first))
        if game.actions(s):
            found = search.search(s, Limits(depth=1))
            assert game.solved(s)[found.action] == max(game.solved(s).values())
