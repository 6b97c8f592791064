"""Pattern tables: the promises of an evaluator, both backends, files from strangers, symmetry."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from playing import random_game
from safetensors.numpy import save as to_bytes
from toys import Takeaway

from evallearn.check import check_game
from evallearn.compiled.game import CompiledGame
from evallearn.core.search import Limits
from evallearn.errors import EvaluatorError, GameError, SpecError
from evallearn.evaluators import PatternEval, load_evaluator, read_header, save
from evallearn.evaluators import files as files_module
from evallearn.evaluators.layout import MOST_PATTERNS, Layout, images
from evallearn.evaluators.patterns import cell_hash, packed, pattern_set, unpacked
from evallearn.games.connect_four import ConnectFour
from evallearn.games.connect_four.game import SYMMETRIES
from evallearn.games.othello import Othello
from evallearn.games.othello.cells import straight
from evallearn.games.walks import blocks, neighbours, of_a_square, slopes, walks
from evallearn.registry import get_game
from evallearn.search import AlphaBeta

QUICK = {("connect_four", "threats"), ("connect_four", "walks"), ("othello", "counts"), ("othello", "straight-3")}
SETS = [
    pytest.param(name, chosen, marks=() if (name, chosen) in QUICK else pytest.mark.long)  # a kernel for each
    for name in ("connect_four", "othello")
    for chosen in get_game(name).pattern_sets
]


@cache
def positions(name: str) -> list:
    fast = CompiledGame(get_game(name))
    return [s for seed in range(4) for s, _ in random_game(fast, seed)]


def random_eval(name: str, chosen: str, size: float = 0.1) -> PatternEval:
    layout = Layout.of(get_game(name), get_game(name).pattern_sets[chosen])
    weights = np.random.default_rng(1).normal(0, size, (layout.n_groups, layout.entries))
    return PatternEval.from_weights(layout, weights, {"name": chosen})


def small() -> PatternEval:
    """Two patterns of Connect Four, few numbers."""
    layout = Layout(ConnectFour(), [(0, 6, 12), (1, 2)], per_phase=True, per_player=True)
    tables = np.random.default_rng(2).integers(-9, 9, (layout.n_groups, layout.entries)).astype(np.int16)
    return PatternEval(layout, tables, 2.0**-4, {"name": "small"})


# --- promises ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "chosen"), SETS)
def test_compiled_value_equals_plain_value_bit_for_bit(name, chosen):
    e, states, rng = random_eval(name, chosen), positions(name), random.Random(3)
    players = [rng.randrange(2) for _ in states]
    plain = np.array([e.evaluate(s, p) for s, p in zip(states, players, strict=True)])
    assert e.evaluate_batch(states, players).astype(np.float64).tobytes() == plain.tobytes()


@pytest.mark.parametrize("size", [0.01, 1e6, 1e-30])
def test_terminal_states_are_worth_their_utility_and_others_lie_inside(size):
    e = random_eval("connect_four", "walks", size)
    for s in positions("connect_four"):
        first, second = e.evaluate(s, 0), e.evaluate(s, 1)
        assert first == -second
        if e.game.is_terminal(s):
            assert first == e.game.utility(s, 0)
        else:
            assert -1 < first < 1


@pytest.mark.parametrize("name", ["connect_four", pytest.param("othello", marks=pytest.mark.long)])
def test_alphabeta_finds_the_same_on_both_backends(name):
    game, e = get_game(name), random_eval(name, next(iter(get_game(name).pattern_sets)))
    for s in [s for s in positions(name) if not game.is_terminal(s)][5:60:18]:
        found = [AlphaBeta(game, e, backend=backend).search(s, Limits(depth=2)) for backend in ("python", "compiled")]
        assert (found[0].action, found[0].value, found[0].nodes) == (found[1].action, found[1].value, found[1].nodes)


@pytest.mark.parametrize("name", ["connect_four", "othello"])
def test_symmetric_positions_are_worth_the_same(name):
    game = get_game(name)
    e = random_eval(name, next(iter(game.pattern_sets)))
    for s in [s for s in positions(name) if not game.is_terminal(s)][::9]:
        cells, group = e.observe(s, game.to_play(s))
        for symmetry in game.symmetries:
            assert sorted(symmetry) == list(range(game.n_cells))
            moved = [0] * len(cells)
            for i, to in enumerate(symmetry):
                moved[to] = cells[i]
            assert e.raw(moved, group) == e.raw(cells, group)


def test_explanation_sums_to_the_raw_value_and_names_squares():
    e = random_eval("othello", "classic")
    s = e.game.initial()
    parts = e.explain(s, 0)
    assert sum(parts.values()) == pytest.approx(e.raw(*e.observe(s, 0)))
    assert {k: -v for k, v in e.explain(s, 1).items()} == pytest.approx(parts)
    sizes = [abs(v) for v in parts.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(bool(re.match(r"pattern \d+ at [a-h][1-8] [a-h][1-8] ", name)) for name in parts) == 12
    assert "72 others" in parts


def test_cells_are_seen_by_the_player_asked():
    game = ConnectFour()
    s = game.from_text("445")
    seen = dict(zip(map(game.cell_name, range(game.n_cells)), game.cells(s, 1), strict=True))
    assert [seen[c] for c in ("d1", "d2", "e1", "d3", "e2", "a1", "d4")] == [2, 1, 2, 3, 3, 3, 0]
    assert [{1: 2, 2: 1}.get(c, c) for c in game.cells(s, 0)[:42]] == list(game.cells(s, 1)[:42])
    othello = Othello()
    assert othello.cells(othello.initial(), 0)[27:29] == (2, 1)
    assert othello.cell_name(28) == CompiledGame(othello).cell_name(28) == "e4"
    assert CompiledGame(othello).cells(othello.initial(), 0) == othello.cells(othello.initial(), 0)
    assert Takeaway().cells((3, 0), 0) == ()
    assert Takeaway().cell_name(3) == "3"


def test_places_of_a_pattern_are_its_different_images():
    assert images(ConnectFour(), (18, 19)) == [(18, 19)]  # the middle column is its own mirror image
    assert images(ConnectFour(), (0,)) == [(0,), (36,)]
    assert len(images(Othello(), (0, 1))) == 8
    assert len({frozenset(p) for p in images(Othello(), tuple(range(8)))}) == 4


def test_stacks_make_tables_as_small_as_what_can_stand_there():
    """Of a column's three lowest squares: 1 + 2 + 4 + 8 contents, not 64; higher up, one more: nothing near."""
    layout = Layout(ConnectFour(), [(0, 1, 2), (1, 2, 3), (0, 6, 12), (2, 6, 7)], per_phase=False, per_player=False)
    assert layout.sizes == [15, 16, 27, 4 * 7]
    assert Layout(Othello(), [(0, 1, 2)], per_phase=False, per_player=False).sizes == [27]


@pytest.mark.parametrize("name", ["connect_four", "othello"])
def test_no_two_contents_of_a_place_share_a_number(name):
    game = get_game(name)
    layout = Layout.of(game, next(iter(game.pattern_sets.values())))
    seen: dict = {}
    for s in positions(name):
        cells = game.cells(s, game.to_play(s))
        for p, index in enumerate(layout.indices(cells)):
            pattern, place = layout.places[p]
            assert layout.starts[pattern] <= index < layout.starts[pattern] + layout.sizes[pattern]
            content = pattern, tuple(cells[c] for c in place)
            assert seen.setdefault(index, content) == content


class Upside(ConnectFour):
    """Its symmetry turns columns upside down."""

    symmetries = ((*(6 * (i // 6) + 5 - i % 6 for i in range(42)), *range(42, ConnectFour.n_cells)),)


def test_a_symmetry_that_tears_stacks_is_refused():
    with pytest.raises(EvaluatorError, match=r"a symmetry of connect_four tears pattern 0 at \[5, 4\]: it must carry"):
        Layout(Upside(), [(0, 1)], per_phase=False, per_player=False)


class WrongCells(ConnectFour):
    def cells(self, s, player):
        return tuple(0 if c == 3 else c for c in super().cells(s, player))


def test_check_game_compares_the_cells_of_both_backends():
    with pytest.raises(GameError, match=r"rules\.cells: gave .*, plain .*; make both backends agree"):
        check_game(WrongCells(), games=1)


class Unheard(ConnectFour):
    """Its columns are never empty."""

    stack_contents = (ConnectFour.stack_contents[0][1:],) * 7 + ConnectFour.stack_contents[7:]


class Misnumbered(ConnectFour):
    """The same contents in another order than its rules number them."""

    stack_contents = (ConnectFour.stack_contents[0][::-1],) * 7 + ConnectFour.stack_contents[7:]


def test_check_game_watches_what_stacks_hold_and_how_the_rules_number_it():
    with pytest.raises(GameError, match=r"stack_contents: of stack 0 lack \(3, 0, 0, 0, 0, 0\) of .*; name all that a"):
        check_game(Unheard(), games=1)
    with pytest.raises(GameError, match=r"rules\.contents: gave \[0, 0, .*, the cells say \[126, .*; number each"):
        check_game(Misnumbered(), games=1)


class Slow(ConnectFour):
    """Its rules do not number what the stacks hold."""

    @property
    def rules(self):
        return replace(super().rules, contents=None)


def test_numbers_of_the_rules_change_nothing():
    fast = random_eval("connect_four", "threats")
    slow = PatternEval(Layout.of(Slow(), ConnectFour.pattern_sets["threats"]), fast.tables, fast.unit)
    states = [s for s in positions("connect_four") if not fast.game.is_terminal(s)]
    movers = [fast.game.to_play(s) for s in states]
    assert fast.evaluate_batch(states, movers).tolist() == slow.evaluate_batch(states, movers).tolist()


def threat_cells(text: str, player: int) -> dict[str, list[int]]:
    """The cells after those of the squares, column by column."""
    game = ConnectFour()
    cells = game.cells(game.from_text(text), player)[42:]
    kinds = ("owner", "reach", "even", "above")
    assert [game.cell_name(42 + i) for i in range(29)] == [*(f"{c}-{k}" for k in kinds for c in "abcdefg"), "room"]
    return {**{kind: list(cells[7 * i : 7 * i + 7]) for i, kind in enumerate(kinds)}, "room": [cells[28]]}


def test_cells_tell_the_lowest_threat_of_each_column():
    seen = threat_cells("22337474", 0)  # O has b2 c2 d2: a2 and e2 are threats, one stone away
    assert seen["owner"] == [2, 0, 0, 0, 2, 0, 0]
    assert seen["reach"] == [1, 0, 0, 0, 1, 0, 0]  # without a threat: whether an odd number of stones fits
    assert seen["even"] == [1, 0, 0, 0, 1, 0, 0]
    assert seen["above"] == [0] * 7
    assert seen["room"] == [0]  # 4 + 4 + 4 + 6 + 4 squares
    assert threat_cells("22337474", 1)["owner"] == [1, 0, 0, 0, 1, 0, 0]


def test_cells_tell_the_next_threat_above():
    seen = threat_cells("22336644", 0)  # X has b1 c1 d1 and f1, O the same in row 2
    assert (seen["owner"], seen["reach"]) == ([1, 0, 0, 0, 1, 0, 0], [0] * 7)
    assert (seen["even"], seen["above"]) == ([0] * 7, [2, 0, 0, 0, 2, 0, 0])


class TooMany(ConnectFour):
    cell_values = 3


def test_check_game_watches_the_values_of_cells():
    with pytest.raises(GameError, match=r"cells: gave 71 cells from 0 to 3; answer n_cells=71 numbers of 0..2"):
        check_game(TooMany(), games=1)


# --- what cannot be a pattern evaluator ------------------------------------------------------------------------------
def test_a_game_without_cells_is_refused():
    with pytest.raises(EvaluatorError, match="takeaway has no cells for pattern tables: give it n_cells"):
        Layout(Takeaway(), [(0,)], per_phase=False, per_player=False)


@pytest.mark.parametrize("bad", [(), (0, 0), (71,), (-2, 3)])
def test_cells_off_the_board_are_refused(bad):
    with pytest.raises(EvaluatorError, match=r"pattern 1 of connect_four has the cells .*: give different ones"):
        Layout(ConnectFour(), [(0,), bad], per_phase=False, per_player=False)


def test_tables_without_bound_are_refused():
    with pytest.raises(EvaluatorError, match=r"up to pattern 0, of 17 cells, would hold 129,140,163 numbers"):
        Layout(Othello(), [range(17)], per_phase=False, per_player=False)
    for patterns in ([], [(0,)] * (MOST_PATTERNS + 1)):
        with pytest.raises(EvaluatorError, match=rf"{len(patterns)} patterns for connect_four: give 1 to 1024"):
            Layout(ConnectFour(), patterns, per_phase=False, per_player=False)


def test_wrong_tables_and_units_are_refused():
    layout = small().layout
    with pytest.raises(EvaluatorError, match=r"needs tables of shape \(8, 35\) and type int16, got \(8, 81\)"):
        PatternEval(layout, np.zeros((8, 81), np.int16), 1.0)
    for unit in (0.0, -1.0, 3.0, float("nan"), float("inf")):
        with pytest.raises(EvaluatorError, match="of this pattern evaluator is no power of two: make it again"):
            PatternEval(layout, small().tables, unit)
    with pytest.raises(
        EvaluatorError, match="a weight of this pattern evaluator of connect_four is not a finite number"
    ):
        PatternEval.from_weights(layout, np.full((8, 35), np.nan))


def test_a_misspelt_set_suggests_the_nearest():
    with pytest.raises(SpecError, match="unknown pattern set of othello 'clasic': did you mean 'classic'"):
        pattern_set(Othello(), "clasic")
    assert PatternEval.zero(Othello(), "classic").evaluate(Othello().initial(), 0) == 0.0


# --- files -------------------------------------------------------------------------------------------------------
def test_rounding_to_16_bits_loses_little_and_happens_once():
    layout = small().layout
    weights = np.random.default_rng(4).normal(0, 1, (8, 35)).astype(np.float32)
    e = PatternEval.from_weights(layout, weights)
    kept = e.tables * e.unit
    assert np.abs(kept - weights).max() <= np.abs(weights).max() / 32767
    again = PatternEval.from_weights(layout, kept)
    assert (again.unit, again.tables.tobytes()) == (e.unit, e.tables.tobytes())


@pytest.mark.parametrize("zeros", [0, 1, 6, 7, 8, 70_000])
def test_packed_numbers_are_read_back(zeros):
    flat = np.zeros(zeros + 9, np.int16)
    flat[zeros:] = 5, -7, 127, -127, 128, -128, 32767, -32767, 0
    held, small, wide = packed(flat)
    assert (len(small), wide.tolist()) == (8, [128, -128, 32767, -32767])
    assert np.array_equal(unpacked(held, small, wide, len(flat)), flat)
    assert np.array_equal(unpacked(*packed(np.zeros(9, np.int16)), 9), np.zeros(9))


def test_coarse_rounding_drops_what_is_small():
    layout = small().layout
    weights = np.zeros((8, 35))
    weights[0, :4] = 0.3, -0.1, 0.13, 60.0
    e = PatternEval.from_weights(layout, weights, quantum=0.25)
    assert (e.unit, e.tables[0, :4].tolist()) == (0.25, [1, 0, 1, 240])
    assert PatternEval.from_weights(layout, weights, quantum=2.0**-30).unit == 2.0**-9  # 60 needs that much


@pytest.mark.parametrize("e", [small(), random_eval("othello", "straight-3")], ids=["small", "othello"])
def test_file_read_back_equals_the_evaluator_written(e, tmp_path):
    loaded = load_evaluator(save(e, tmp_path / "e.safetensors"), e.game)
    assert isinstance(loaded, PatternEval)
    assert (loaded.name, loaded.unit, loaded.layout.patterns) == (e.name, e.unit, e.layout.patterns)
    assert (loaded.layout.per_phase, loaded.layout.per_player) == (e.layout.per_phase, e.layout.per_player)
    assert loaded.tables.tobytes() == e.tables.tobytes()
    assert read_header(tmp_path / "e.safetensors")["features"] == {"names": [], "hash": cell_hash(e.game)}


def forged(path, **changes):
    tensors = {**small().tensors(), **changes}
    header = {
        **files_module._header(small()),
        "checksum": files_module._checksum(tensors),
        "architecture": {k: list(t.shape) for k, t in tensors.items()},
    }
    path.write_bytes(to_bytes(tensors, metadata={"evallearn": json.dumps(header)}))
    return path


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"squares": np.array([[0, 71]], np.int16)}, "pattern 0 of connect_four has the cells"),
        ({"squares": np.array([[0, -5]], np.int16)}, "pattern 0 of connect_four has the cells"),
        ({"squares": np.zeros((0, 3), np.int16)}, "0 patterns for connect_four"),
        ({"squares": np.arange(30, dtype=np.int16)[None]}, "give fewer or smaller patterns"),
        ({"squares": np.zeros(3, np.int16)}, r"got \(3,\), \[1, 1\] and \(1,\): make the file again"),
        ({"by": np.array([1, 2], np.int16)}, r"got \(2, 3\), \[1, 2\] and \(1,\): make the file again"),
        ({"unit": np.array([0.3], np.float32)}, "is no power of two"),
        ({"unit": np.array([np.nan], np.float32)}, "is no power of two"),
        ({"small": np.zeros(3, np.int8)}, "places for 3 numbers, 0 of them wide for 0: make the file again"),
        ({"wide": np.zeros(3, np.int16)}, "numbers, 0 of them wide for 3: make the file again"),
        ({"held": np.zeros(36, np.uint8)}, r"need 35 bytes that say which numbers follow, got \(36,\)"),
        ({"squares": np.zeros((1, 2), np.int32)}, r"tensor squares is I32, not I16 \(int16\): make the file again"),
    ],
)
def test_a_strangers_file_that_does_not_fit_is_refused(tmp_path, changes, match):
    with pytest.raises(EvaluatorError, match=match) as caught:
        load_evaluator(forged(tmp_path / "e.safetensors", **changes), ConnectFour())
    assert "e.safetensors" in str(caught.value)


class Mirrorless(ConnectFour):
    symmetries = ()


@pytest.mark.parametrize("kind", [WrongCells, Mirrorless, TooMany])
def test_file_for_other_cells_is_refused(tmp_path, kind):
    path = save(small(), tmp_path / "e.safetensors")
    with pytest.raises(EvaluatorError, match=r"was trained on features connect_four/v1 \(\w+\), this version computes"):
        load_evaluator(path, kind())


def test_cell_hash_is_that_of_both_backends():
    assert cell_hash(CompiledGame(ConnectFour())) == cell_hash(ConnectFour())


# --- the sets that are shipped -----------------------------------------------------------------------------------
def test_walks_are_connected_different_and_the_same_for_a_seed():
    found = walks(30, 6, 7, 6, SYMMETRIES, seed=5)
    assert found == walks(30, 6, 7, 6, SYMMETRIES, seed=5)
    assert found != walks(30, 6, 7, 6, SYMMETRIES, seed=6)
    assert len({frozenset(image) for walk in found for image in images(ConnectFour(), walk)}) >= 45
    for walk in found:
        assert len(set(walk)) == 6
        reached = {walk[0]}
        for _ in walk:
            reached |= {c for cell in reached for c in neighbours(cell, 7, 6) if c in walk}
        assert reached == set(walk)


def test_slopes_are_all_diagonals_with_what_lies_above_and_below():
    found = slopes(4, 3, 7, 6, SYMMETRIES)
    assert len(found) == 12
    assert found[0] == (0, 1, 6, 7, 8, 13, 14, 15, 20, 21, 22)
    diagonals = slopes(4, 1, 7, 6, SYMMETRIES)
    assert diagonals[0] == (0, 7, 14, 21)
    assert all(set(line) <= set(slope) for line, slope in zip(diagonals, found, strict=True))


def test_blocks_are_all_rectangles_but_mirror_images():
    found = blocks(3, 4, 7, 6, SYMMETRIES)
    assert found[0] == (0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 15)
    assert len(found) == 9
    assert len({frozenset(image) for block in found for image in images(ConnectFour(), block)}) == 5 * 3
    assert len(blocks(2, 2, 8, 8, of_a_square(8))) == 10


def test_straight_groups_of_othello_are_those_of_the_literature():
    """32 of 2 squares and 24 of 3, as in the systems All-2 and All-3 of Jaskowski (2014)."""
    assert (len(straight(2)), len(straight(3))) == (32, 24)
    assert len(of_a_square(8)) == len(set(of_a_square(8))) == 8
