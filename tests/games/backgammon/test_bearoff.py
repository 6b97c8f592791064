"""Bear-off tables: against brute force, known figures, GNU Backgammon; as a layer of an evaluator; file and command."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file, save_file

from evallearn.agents import parse_evaluator
from evallearn.cli.tables import command
from evallearn.core.search import Limits
from evallearn.errors import GameError, SpecError
from evallearn.evaluators import LinearEval, SolvedEval, heuristic
from evallearn.games.backgammon import Backgammon, bearoff
from evallearn.games.backgammon.bearoff import Bearoff, number
from evallearn.games.backgammon.moves import CHECKERS, NO_DICE, OFF, ROLLS, Side, State, turns
from evallearn.search import Expectiminimax
from evallearn.search.dice.rollout import DiceRollout

GAME = Backgammon()
ACE_LEFT: Side = (14, 1, *[0] * 24)
"""An opponent who is not in the way."""


@pytest.fixture(scope="module")
def table() -> Bearoff:
    return bearoff.build()


@pytest.fixture
def installed(table: Bearoff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bearoff:
    """The tables where evaluators look for them."""
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    bearoff.save(table, bearoff.default_path())
    return table


def side(*checkers: int) -> Side:
    """Of its checkers on the points 1, 2, ..."""
    return (CHECKERS - sum(checkers), *checkers, *[0] * (25 - len(checkers)))


def random_side(rng: random.Random, most: int) -> Side:
    counts = [0] * 6
    for _ in range(rng.randint(1, most)):
        counts[rng.randrange(6)] += 1
    return side(*counts)


def chance(dice: tuple[int, int]) -> float:
    return 1 / 36 if dice[0] == dice[1] else 1 / 18


# --- brute force -----------------------------------------------------------------------------------------------------
@cache
def rolls_left(own: Side) -> float:
    """The least expected number of rolls, by the rules of the game itself."""
    if own[OFF] == CHECKERS:
        return 0.0
    return 1 + sum(chance(d) * min(rolls_left(after) for after, _ in turns(own, ACE_LEFT, d).values()) for d in ROLLS)


@cache
def best_value(own: Side, opp: Side) -> float:
    """Expectiminimax to the end: what it is worth to `own`, on roll."""
    value = 0.0
    for d in ROLLS:
        boards = turns(own, opp, d).values()
        value += chance(d) * max(1.0 if a[OFF] == CHECKERS else -best_value(b, a) for a, b in boards)
    return value


def test_numbers_are_a_count_without_gaps():
    every = {number(side(*c)) for c in np.ndindex(4, 4, 4, 4, 4, 4) if sum(c) <= 3}
    assert every == set(range(bearoff.sides(3)))
    assert number(side(0, 0, 0, 0, 0, 0, 1)) is None


def test_every_move_leads_to_a_lower_number():
    rng = random.Random(1)
    for _ in range(50):
        own = random_side(rng, 15)
        for d in ROLLS:
            assert all(number(after) < number(own) for after, _ in turns(own, ACE_LEFT, d).values())


def test_expected_rolls_are_those_of_brute_force(table):
    rng = random.Random(2)
    for own in [random_side(rng, 4) for _ in range(40)]:
        assert table.rolls(own) == pytest.approx(rolls_left(own), abs=1e-5)


def test_two_sided_values_are_those_of_brute_force(table):
    rng = random.Random(3)
    for _ in range(25):
        own, opp = random_side(rng, 2), random_side(rng, 2)
        assert table.value(own, opp) == pytest.approx(best_value(own, opp), abs=1e-6)


# --- known figures ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("own", "rolls"),
    [
        (side(1), 1.0),
        (side(2), 1.0),
        (side(3), 11 / 6),  # two rolls, or a double
        (side(0, 0, 0, 0, 0, 1), 1.25),  # 27 rolls of 36 bear off from the six point
    ],
)
def test_expected_rolls_are_known(table, own, rolls):
    assert table.rolls(own) == pytest.approx(rolls, abs=1e-6)


def test_chances_add_up_to_one(table):
    for part in (table.home, table.first):
        assert np.abs(part.sum(axis=1) - 1).max() < 1e-6
        assert part.min() >= 0


def test_one_roll_decides_against_a_checker_on_the_ace_point(table):
    assert table.value(side(0, 0, 0, 0, 0, 1), side(1)) == pytest.approx(2 * 27 / 36 - 1)


def test_the_estimate_is_close_to_the_exact_values(table):
    rng = np.random.default_rng(1)
    pairs = rng.integers(1, bearoff.N_FEW, (500, 2)).tolist()
    errors = [abs(table.estimate(i, j) - table.two[i, j]) for i, j in pairs]
    assert np.mean(errors) < 0.003
    assert max(errors) < 0.03


def test_gammons_count_until_a_checker_is_off(table):
    """Against fifteen checkers one roll wins two points, unless the other rolls first and bears one off."""
    full, one_left = side(0, 0, 0, 0, 0, 15), side(1)
    assert table.value(one_left, full) == pytest.approx(2.0, abs=1e-6)
    saved = table.first[number(full) - bearoff.FIRST_FULL, 1]
    assert table.value(full, one_left) == pytest.approx(-1.0 - (1.0 - saved), abs=1e-6)


def test_gnu_backgammon_agrees(table):
    gnubg_nn = pytest.importorskip("gnubg_nn")
    rng = random.Random(4)
    for most in (6, 14):
        for _ in range(50):
            own, opp = random_side(rng, most), random_side(rng, most)
            p = gnubg_nn.probabilities([list(opp[1:]), list(own[1:])], 0)
            assert table.value(own, opp) == pytest.approx(2 * p[0] - 1, abs=2e-4)


# --- as a layer of an evaluator --------------------------------------------------------------------------------------
def test_an_eval_knows_the_bear_off_and_asks_below_elsewhere(installed):
    below = heuristic(GAME, "race")
    evaluator = SolvedEval(below)
    s = State(side(0, 2), side(3, 1), NO_DICE, 1)
    value = installed.value(s.own, s.opp)
    assert (evaluator.evaluate(s, 1), evaluator.evaluate(s, 0)) == (value, -value)
    for other in (GAME.initial(), s._replace(dice=(3, 1))):  # contact; and a roll that is not in the table
        assert evaluator.evaluate(other, 0) == below.evaluate(other, 0)


def test_both_backends_agree_to_the_last_bit(installed):
    """Each move of a rollout is chosen, and its luck judged, by what the evaluator says of all moves and rolls."""
    evaluator, rng = parse_evaluator("solved:handwritten:race", GAME), random.Random(6)
    assert isinstance(evaluator, SolvedEval)
    for most in (3, 6, 15):
        own, opp = random_side(rng, most), random_side(rng, most)
        s = State(side(0, 1, 2, 3, 4, 5) if most == 15 else own, opp, NO_DICE, most % 2)  # one with the gammon
        plain, compiled = (
            DiceRollout(GAME, evaluator, s, 0, 5, 3, backend)(range(2)) for backend in ("python", "compiled")
        )
        assert plain == compiled


@pytest.mark.long
def test_both_backends_of_a_search_agree_to_the_last_bit(installed):
    evaluator, rng = parse_evaluator("solved:handwritten:race", GAME), random.Random(6)
    assert isinstance(evaluator, SolvedEval)
    searches = [Expectiminimax(GAME, evaluator, backend=backend) for backend in ("python", "compiled")]
    for most in (3, 6, 15):
        for player in (0, 1):
            own, opp = random_side(rng, most), random_side(rng, most)
            own = side(0, 1, 2, 3, 4, 5) if most == 15 and player else own  # with the gammon
            s = State(own, opp, ROLLS[rng.randrange(21)], player)
            plain, compiled = (x.search(s, Limits(depth=1), action_values=True).action_values for x in searches)
            assert plain == compiled


def test_without_tables_the_remedy_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    with pytest.raises(GameError, match="no bear-off table .*backgammon.table: make it with `evallearn tables backg"):
        SolvedEval(LinearEval.zero(GAME))


# --- the file, the command -------------------------------------------------------------------------------------------
def test_a_file_read_back_is_the_table(table, tmp_path):
    again = bearoff.load(bearoff.save(table, tmp_path / "t.table"))
    for name in bearoff.SHAPES:
        assert np.array_equal(getattr(again, name), getattr(table, name))


def header(**changes) -> dict[str, str]:
    return {bearoff.KEY: json.dumps({"format": 1, "game": "backgammon", "checksum": "0", **changes})}


def test_files_that_are_no_tables_are_refused(table, tmp_path, monkeypatch):
    path = bearoff.save(table, tmp_path / "t.table")
    parts = load_file(path)
    small = {name: part[:3] for name, part in parts.items()}
    refused = {
        "no bear-off table of backgammon in format 1": (small, None),
        "is no bear-off table of backgammon in format": (small, header(game="checkers")),
        "does not hold the bear-off tables of this": (small, header()),
        "its numbers do not have the checksum of its header": (parts, header()),
    }
    for message, (tensors, metadata) in refused.items():
        save_file(tensors, path, metadata=metadata)
        with pytest.raises(GameError, match=f"{message}.*: make it again with `evallearn tables backgammon`"):
            bearoff.load(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(GameError, match="is damaged or no safetensors file"):
        bearoff.load(path)
    monkeypatch.setattr(bearoff, "MAX_BYTES", 3)
    with pytest.raises(GameError, match="has 8 bytes, a bear-off table at most 3"):
        bearoff.load(path)
    with pytest.raises(GameError, match="no bear-off table .*nowhere: make one with `evallearn tables back"):
        bearoff.load(tmp_path / "nowhere")


def test_the_command_writes_the_file(tmp_path, table, monkeypatch):
    path = tmp_path / "b.table"
    done = CliRunner().invoke(command, ["backgammon", "--out", str(path), "--json"])
    assert json.loads(done.stdout)["sides"] == 54264
    assert bearoff.load(path).home.shape == (54264, 31)
    monkeypatch.setattr(bearoff, "build", lambda *_: table)  # it has been built twice already
    shown = CliRunner().invoke(command, ["backgammon,features=tesauro", "--out", str(path)])
    assert "853,776 pairs of up to 6: exact" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["backgammon", "--pieces", "3"], "--pieces 3: the tables of backgammon have one size: leave it out"),
        (["othello"], "othello has no endgame table: the games that have one are backgammon, checkers"),
    ],
)
def test_the_command_refuses(words, message):
    with pytest.raises(SpecError, match=message):
        command.main(words, standalone_mode=False)
