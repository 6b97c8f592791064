"""The endgame table of checkers: every value, the file, the command."""

from __future__ import annotations

import csv
import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from evallearn.cli.tables import command
from evallearn.errors import GameError, SpecError
from evallearn.games.checkers import Checkers
from evallearn.games.checkers import table as checkers_table
from evallearn.games.checkers.moves import CROWN_ROW, State, bit, moves, play
from evallearn.games.checkers.table import (
    KEY,
    EndgameTable,
    build_table,
    default_path,
    default_table,
    endings,
    load_table,
    locate,
    mirror,
    save_table,
)

GAME = Checkers()
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/checkers"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")
SIGN = {"win": 1, "draw": 0, "loss": -1}


@pytest.fixture(scope="module")
def table() -> EndgameTable:
    """Up to three pieces."""
    return build_table(3)


@pytest.fixture(scope="module")
def big_table() -> EndgameTable:
    return build_table(4)


def random_positions(pieces: int, n: int, seed: int) -> Iterator[State]:
    rng = random.Random(seed)
    for _ in range(n):
        squares = rng.sample(range(32), pieces)
        black = rng.randint(1, pieces - 1)
        words = [sum(map(bit, part)) for part in (squares[:black], squares[black:])]
        must_be_kings = words[0] & CROWN_ROW[0] | words[1] & CROWN_ROW[1]
        kings = must_be_kings | sum(bit(square) for square in squares if rng.random() < 0.5)
        yield State(words[0], words[1], kings, rng.randint(0, 1))


def check_against_successors(table: EndgameTable, s: State) -> None:
    """The value on the Python backend: the best of what the moves lead to."""
    children = [table.value(play(s, move)) for move in moves(s)]
    assert table.value(s) == max([-value for value in children if value is not None], default=-1), GAME.to_text(s)


def check_counts(table: EndgameTable) -> None:
    """Every ending of the reference, with either player to move."""
    counts = table.counts()
    with (REFERENCE / "checkers_egdb_counts.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["pieces"]) <= table.pieces]
    assert len(rows) == len(counts)
    for row in rows:
        ending = int(row["bm"]), int(row["bk"]), int(row["wm"]), int(row["wk"])
        for mover, found in (("btm", counts[ending]), ("wtm", counts[mirror(ending)])):
            assert list(found) == [int(row[f"{mover}_{value}"]) for value in SIGN], (ending, mover)
            assert sum(found) == int(row["positions"])


def check_samples(table: EndgameTable) -> int:
    n = 0
    with (REFERENCE / "checkers_egdb_sample_dev.csv").open() as file:
        for row in csv.DictReader(file):
            value = table.value(GAME.from_text(row["fen"]))
            assert value in (None, SIGN[row["value_for_side_to_move"]]), row["fen"]
            n += value is not None
    return n


# --- values ----------------------------------------------------------------------------------------------------------
@needs_reference
def test_all_endings_of_three_pieces_have_the_known_counts(table):
    check_counts(table)


@needs_reference
def test_sampled_positions_of_three_pieces_have_the_known_values(table):
    assert check_samples(table) > 500


def test_all_values_follow_from_their_successors(table):
    assert table.contradictions() == 0
    for s in random_positions(3, 300, seed=1):
        check_against_successors(table, s)


def test_a_wrong_value_is_a_contradiction(table):
    s = GAME.from_text("B:WK32:BK1")
    ending, place = locate(s)
    at = table.offsets[ending] + place
    wrong = EndgameTable(3, table.packed.copy())
    wrong.packed[at // 4] ^= 1 << 2 * (at % 4)
    assert (table.value(s), wrong.value(s)) == (0, 1)
    assert wrong.contradictions() >= 1


def test_a_smaller_table_is_the_beginning_of_a_larger_one(table):
    small = build_table(2)
    for s in random_positions(2, 200, seed=2):
        assert small.value(s) == table.value(s)
    assert [small.value(s) for s in random_positions(3, 3, seed=3)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("W:W:B1,2", -1),  # no piece left
        ("B:W:B1,2", 1),
        ("W:W13:B6,9", -1),  # blocked
        ("B:WK10:BK6", 1),  # takes the last piece
        ("B:WK32:BK1", 0),
        ("B:WK32:BK1,K2", 1),  # two kings beat one, if slowly
        ("B:W21-32:B1-12", None),
    ],
)
def test_known_positions_have_their_value(table, text, value):
    assert table.value(GAME.from_text(text)) == value


def test_a_table_has_two_to_four_pieces():
    with pytest.raises(GameError, match="no endgame table of 5 pieces: give 2..4"):
        build_table(5)


def test_progress_ends_with_all_places():
    seen: list[tuple[int, int]] = []
    build_table(2, lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert len(endings(2)) == 4


@pytest.mark.long
@needs_reference
def test_all_endings_of_four_pieces_have_the_known_counts(big_table):
    check_counts(big_table)


@pytest.mark.long
@needs_reference
def test_all_sampled_positions_have_the_known_values(big_table):
    assert check_samples(big_table) == 1500


def test_plies_follow_from_those_of_the_next_positions(table):
    for s in random_positions(3, 300, seed=5):
        value = table.value(s)
        if not value or not moves(s):
            continue
        after = [play(s, move) for move in moves(s)]
        left = [t for t in after if t.clock == 0 and -table.value(t) == value]  # taken, crowned, or a step of a man
        stayed = [table.plies(t) for t in after if t.clock and -table.value(t) == value]
        if value == 1 and not left:
            assert table.plies(s) == 1 + min(stayed)
        elif value == -1 and stayed and not left:
            assert table.plies(s) == 1 + max(stayed)
        else:
            assert table.plies(s) >= 1


def test_hints_of_the_table_win_in_time(table, tmp_path, monkeypatch):
    """Two kings against one: whoever follows `solved` wins, by the shortest way, whatever the other does."""
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    save_table(table, tmp_path / "checkers-3.table")
    rng = random.Random(1)
    for text in ("B:WK13:BK15,K32", "B:WK16:BK7,K10", "W:WK6,K11:BK32"):
        s = GAME.from_text(text)
        winner = s.player
        for _ in range(60):
            if GAME.is_terminal(s):
                break
            values = GAME.solved(s)
            assert values is not None, GAME.to_text(s)
            assert max(values.values()) == (1.0 if s.player == winner else -1.0)
            s = GAME.result(s, next(iter(values)) if s.player == winner else rng.choice(GAME.actions(s)))
        assert GAME.utility(s, winner) == 1.0


def test_game_is_solved_where_the_table_knows_and_no_drawing_rule_can_come_between(table, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    s = GAME.from_text("B:WK13:BK15,K32")
    assert GAME.solved(s) is None
    save_table(table, tmp_path / "checkers-3.table")
    values = GAME.solved(s)
    assert set(values) == set(GAME.actions(s))
    assert max(values.values()) == table.value(s) == 1
    for a, value in values.items():
        assert value == -table.value(GAME.result(s, a))
    late = 80 - table.plies(s)
    assert GAME.solved(GAME.from_text(f"B:WK13:BK15,K32:H{late + 30}")) is None
    assert GAME.solved(GAME.initial()) is None
    shuffled = GAME.from_text("B:WK13:BK15,K32 moves 32-28 13-9 28-32 9-13 15-18")
    assert table.value(shuffled) is not None
    assert GAME.solved(shuffled) is None


@pytest.mark.long
def test_all_values_of_four_pieces_follow_from_their_successors(big_table):
    assert big_table.contradictions() == 0
    for s in random_positions(4, 1000, seed=4):
        check_against_successors(big_table, s)


# --- files -----------------------------------------------------------------------------------------------------------
def test_file_reads_back_and_is_small(table, tmp_path):
    path = save_table(table, tmp_path / "deep" / "checkers-3.table")
    found = load_table(path)
    assert found.pieces == 3
    assert np.array_equal(found.packed, table.packed)
    assert path.stat().st_size < 6000  # 216,000 places


def test_missing_file_names_the_command(tmp_path):
    with pytest.raises(GameError, match="no endgame table .*nowhere: make one with `evallearn tables checkers --out"):
        load_table(tmp_path / "nowhere")


@pytest.fixture
def file(table, tmp_path) -> Path:
    return save_table(table, tmp_path / "good.table")


def with_header(file: Path, **changes: object) -> Path:
    header = json.loads(_metadata(file)) | changes
    save_file(load_file(file), file, metadata={KEY: json.dumps(header)})
    return file


def _metadata(file: Path) -> str:
    from safetensors import safe_open

    with safe_open(file, framework="np") as opened:
        return opened.metadata()[KEY]  # type: ignore[no-any-return]


def with_values(file: Path, values: np.ndarray) -> Path:
    save_file({"values": values}, file, metadata={KEY: _metadata(file)})
    return file


def compressed(data: bytes) -> np.ndarray:
    return np.frombuffer(lzma.compress(data), np.uint8)


def changed_checksum(file: Path) -> Path:
    return with_header(file, checksum="0" * 64)


def without_checksum(file: Path) -> Path:
    header = json.loads(_metadata(file))
    del header["checksum"]
    save_file(load_file(file), file, metadata={KEY: json.dumps(header)})
    return file


def cut(file: Path) -> Path:
    file.write_bytes(file.read_bytes()[:-100])
    return file


def flipped(file: Path) -> Path:
    values = load_file(file)["values"].copy()
    values[len(values) // 2] ^= 1
    return with_values(file, values)


def empty_header(file: Path) -> Path:
    save_file(load_file(file), file)
    return file


def other_tensor(file: Path) -> Path:
    save_file({"weights": np.zeros(3, np.float32)}, file, metadata={KEY: _metadata(file)})
    return file


def huge(file: Path) -> Path:
    with file.open("r+b") as opened:
        opened.truncate(1 << 25)
    return file


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (cut, "is damaged or no safetensors file"),
        (flipped, "is damaged"),
        (changed_checksum, "its values do not have the checksum of its header"),
        (without_checksum, "its values do not have the checksum of its header"),
        (empty_header, "it has no 'evallearn_table' header"),
        (other_tensor, "does not hold the bytes of a table"),
        (huge, "an endgame table at most 16,777,216"),
        (lambda file: with_header(file, format=2), "is no endgame table of checkers in format 1"),
        (lambda file: with_header(file, game="chess"), "is no endgame table of checkers"),
        (lambda file: with_header(file, pieces=4), "does not hold the values of 4 pieces"),
        (lambda file: with_header(file, pieces=10**9), "names 1000000000 pieces, not 2..4"),
        (lambda file: with_header(file, pieces=True), "names True pieces"),
        (lambda file: with_values(file, compressed(b"\0" * 10**6)), "does not hold the values of 3 pieces"),
        (lambda file: with_values(file, compressed(b"\3" * 54000)), "does not hold the values of 3 pieces"),
        (lambda file: with_values(file, np.zeros(0, np.uint8)), "does not hold the values of 3 pieces"),
    ],
)
def test_a_file_that_must_not_be_trusted_is_refused_with_the_remedy(file, spoil, message):
    with pytest.raises(GameError) as error:
        load_table(spoil(file))
    assert message in str(error.value)
    assert str(error.value).endswith("make it again with `evallearn tables checkers`")


def test_default_table_is_the_largest_in_its_folder(table, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    assert default_table() is None
    save_table(build_table(2), default_path(2))
    assert default_table().pieces == 2
    save_table(table, default_path(3))
    assert default_table().pieces == 3
    assert default_table() is default_table()


def test_default_folder_is_the_users(monkeypatch):
    monkeypatch.delenv("EVALLEARN_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/evallearn/checkers-4.table")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/elsewhere/me")
    assert default_path(3) == Path("/elsewhere/me/.local/share/evallearn/checkers-3.table")
    monkeypatch.setattr(checkers_table.Path, "home", _no_home)
    assert default_path() == Path("evallearn-data/checkers-4.table")


def _no_home() -> Path:
    raise RuntimeError("no home")


# --- the command -----------------------------------------------------------------------------------------------------
def test_command_builds_checks_and_writes(tmp_path, capsys):
    out = tmp_path / "checkers-2.table"
    command.main(["checkers", "--pieces", "2", "--out", str(out), "--json"], standalone_mode=False)
    figures = json.loads(capsys.readouterr().out)
    assert (figures["pieces"], figures["bytes"]) == (2, out.stat().st_size)
    assert figures["endings"][0] == {
        "men": 0, "kings": 1, "opposing_men": 0, "opposing_kings": 1, "wins": 230, "draws": 654, "losses": 108,
    }  # fmt: skip
    assert load_table(out).pieces == 2


def test_command_writes_where_play_looks_and_shows_the_counts(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EVALLEARN_DATA", str(tmp_path))
    command.main(["checkers", "--pieces", "2"], standalone_mode=False)
    assert "6,976" in capsys.readouterr().out  # 2 * 3,488 positions
    assert default_table().pieces == 2


def test_command_does_not_overwrite_what_is_no_table(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for path, message in ((notes, "is there already and is no endgame table"), (tmp_path, "is a folder: name a file")):
        with pytest.raises(SpecError, match=message):
            command.main(["checkers", "--pieces", "2", "--out", str(path)], standalone_mode=False)
    assert notes.read_text() == "mine"
    for _ in range(2):  # its own it may
        command.main(["checkers", "--pieces", "2", "--out", str(tmp_path / "t.table")], standalone_mode=False)


def test_command_refuses_what_it_cannot_build(monkeypatch):
    with pytest.raises(
        SpecError, match="othello has no endgame table: the games that have one are backgammon, checkers"
    ):
        command.main(["othello"], standalone_mode=False)
    monkeypatch.setattr(EndgameTable, "contradictions", lambda self: 3)
    with pytest.raises(GameError, match="3 values contradict the moves of checkers: please report"):
        command.main(["checkers", "--pieces", "2"], standalone_mode=False)
