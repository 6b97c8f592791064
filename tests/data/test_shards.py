from __future__ import annotations

import json
import math
import random
import signal
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.core.checksum import parse_checked, with_checksum
from evallearn.core.digest import plain_json
from evallearn.core.files import write_atomically
from evallearn.data import Origin, Record, ShardInfo, read_manifest, read_shard, rebuild_manifest, write_shard
from evallearn.data.manifest import Manifest
from evallearn.data.shards import (
    HEADER_KEY,
    from_table,
    inspect_shard,
    read_header,
    remove_leftovers,
    schema,
    shard_path,
    shard_paths,
    to_table,
)
from evallearn.errors import DataError
from evallearn.games.tic_tac_toe import TicTacToe

COMPILED = Origin("toy", 3, "abc", ("a", "b"), 2, 2, 1.0, -1.0, ("x", "y"), ("1", "2"), {"seed": 7})
TEXT = replace(COMPILED, n_words=0)
f32 = st.floats(-1, 1, width=32)


def make_records(origin: Origin, games: int = 3, first: int = 0, plies: int = 5) -> list[Record]:
    """Games of known shape: game n is won by player n % 2, or drawn if n is a multiple of 3."""
    rng, found = random.Random(first), []
    for n in range(first, first + games):
        outcome = 0.0 if n % 3 == 0 else 1.0 if n % 2 == 0 else -1.0
        for ply in range(plies):
            state = struct.pack("<2Q", rng.getrandbits(64), ply) if origin.n_words else f"é{ply}"
            features = struct.pack("<2f", rng.random(), -1.5)[: 4 * len(origin.feature_names)]
            action = ply if origin.n_words else f"a{ply}"
            to_mover = outcome if ply % 2 == 0 else 0.0 - outcome
            found.append(Record(n, ply, ply % 2, state, features, ply % 2, action, 0.25, 4, to_mover))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "records").mkdir()
    return tmp_path


@pytest.mark.parametrize("origin", [COMPILED, TEXT, replace(COMPILED, feature_names=())])
def test_what_is_read_back_equals_what_was_written(folder: Path, origin: Origin) -> None:
    records = make_records(origin)
    info = write_shard(folder, 12, records, origin)
    path = folder / "records" / "shard-000012.parquet"
    assert shard_paths(folder) == [(12, path)]
    there, table = read_shard(path)
    assert there == origin
    assert table.schema.remove_metadata() == schema(origin)
    assert from_table(table) == records
    assert inspect_shard(path) == (origin, info)
    assert info == ShardInfo(path.name, info.sha256, 0, 3, 15, 1, 1, 1, 15)
    assert read_header(path) == (origin, {"first_game": 0, "games": 3, "records": 15})


record = st.builds(
    Record,
    *(st.integers(0, high) for high in (2**31 - 1, 2**15 - 1, 1)),
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=8, max_size=8),
    st.integers(0, 127),
    st.integers(0, 2**15 - 1),
    f32,
    st.integers(0, 127),
    f32,
    st.none(),
)


@settings(max_examples=30)
@given(st.lists(record, min_size=1, max_size=20))
def test_any_record_survives_the_round_trip(records: list[Record]) -> None:
    assert from_table(to_table(records, COMPILED)) == records


def test_the_same_records_give_the_same_bytes(folder: Path) -> None:
    first = write_shard(folder, 0, make_records(COMPILED), COMPILED)
    data = shard_path(folder, 0).read_bytes()
    assert write_shard(folder, 0, make_records(COMPILED), COMPILED) == first
    assert shard_path(folder, 0).read_bytes() == data
    assert str(folder).encode() not in data


def test_pages_are_zstd_and_columns_are_typed_for_other_readers(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    file = pq.ParquetFile(shard_path(folder, 0))
    assert {file.metadata.row_group(0).column(i).compression for i in range(10)} == {"ZSTD"}
    assert str(file.schema_arrow.field("state").type) == "fixed_size_binary[16]"
    header = parse_checked(file.metadata.metadata[HEADER_KEY])
    assert header == plain_json({"format": 1, **COMPILED.to_json(), "first_game": 0, "games": 3, "records": 15})


# --- damage ----------------------------------------------------------------------------------------------------------
def assert_damaged(path: Path) -> None:
    with pytest.raises(
        DataError, match=rf"{path.name} is damaged or cut off \(.+\): delete it and rerun the same command"
    ):
        read_shard(path)


def test_a_truncated_shard_is_refused_at_every_length(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED, 20), COMPILED)
    path = shard_path(folder, 0)
    data = path.read_bytes()
    for length in [0, 1, 7, 8, *range(9, len(data), len(data) // 40), len(data) - 1]:
        path.write_bytes(data[:length])
        assert_damaged(path)
        with pytest.raises(DataError, match="damaged or cut off"):
            read_header(path)


def test_no_flipped_byte_changes_a_record_unnoticed(folder: Path) -> None:
    info = write_shard(folder, 0, make_records(COMPILED, 20), COMPILED)
    path = shard_path(folder, 0)
    data, table = path.read_bytes(), read_shard(path)[1]
    noticed = 0
    for i in range(0, len(data), 7):
        path.write_bytes(data[:i] + bytes([data[i] ^ 0x41]) + data[i + 1 :])
        try:
            assert read_shard(path)[1].equals(table)  # the byte was in the header's text, or in nobody's
        except DataError:
            noticed += 1
        with pytest.raises(DataError, match=r"is not the file that manifest\.json lists"):
            read_shard(path, sha256=info.sha256)
    assert noticed > len(data) // 7 // 2


def test_no_changed_letter_of_the_header_goes_unnoticed(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    path, text = shard_path(folder, 0), b'"seed": 7'
    data = path.read_bytes()
    for new in (b'"seed": 8', b'"seen": 7'):
        path.write_bytes(data.replace(text, new))
        for read in (read_shard, read_header):
            with pytest.raises(DataError, match=r"is damaged or cut off \(its checksum does not fit\)"):
                read(path)


def test_foreign_files_are_refused(folder: Path) -> None:
    path = shard_path(folder, 0)
    pq.write_table(pa.table({"x": [1]}), path)
    for read in (read_shard, read_header):
        with pytest.raises(DataError, match="is a Parquet file, but not one of evallearn's records: move it elsewhere"):
            read(path)
    path.write_text("hello")
    assert_damaged(path)
    with pytest.raises(DataError, match=r"cannot be read \(No such file or directory\): rerun the command"):
        read_shard(folder / "records" / "shard-000001.parquet")


def with_header(path: Path, **changes: object) -> None:
    """The same table under another header, as earlier versions wrote it, without a checksum."""
    file = pq.ParquetFile(path)
    header = parse_checked(file.metadata.metadata[HEADER_KEY]) | changes
    table = file.read().replace_schema_metadata({HEADER_KEY: json.dumps(header).encode()})
    pq.write_table(table, path)


def test_another_format_is_refused_with_both_numbers(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    with_header(shard_path(folder, 0), format=9)
    with pytest.raises(
        DataError, match="has record format 9, this version reads 1: install the evallearn that made it"
    ):
        read_shard(shard_path(folder, 0))


def test_shards_of_earlier_versions_are_read(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    before = read_shard(shard_path(folder, 0))
    with_header(shard_path(folder, 0))
    origin, table = read_shard(shard_path(folder, 0))
    assert (origin, from_table(table)) == (before[0], from_table(before[1]))


@pytest.mark.parametrize(
    "changes",
    [
        {"game": 7}, {"n_phases": "x"}, {"win": math.nan}, {"feature_names": [1]}, {"settings": [1]},
        {"settings": {"seed": "x"}}, {"agents": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_cannot_be_is_refused(folder: Path, changes: dict[str, object]) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    with_header(shard_path(folder, 0), **changes)
    for read in (read_shard, read_header):
        with pytest.raises(DataError, match=r"is damaged or cut off \(it does not tell where the records come from\)"):
            read(shard_path(folder, 0))


@pytest.mark.parametrize("changes", [{"feature_names": ["a"]}, {"records": 16}])
def test_a_header_that_does_not_fit_its_table_is_refused(folder: Path, changes: dict[str, object]) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    with_header(shard_path(folder, 0), **changes)
    with pytest.raises(DataError, match="its columns are not those its footer promises"):
        read_shard(shard_path(folder, 0))


# --- whole or absent -------------------------------------------------------------------------------------------------
def test_a_write_that_fails_leaves_the_old_file_and_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "records" / "x"
    write_atomically(path, b"old")

    def interrupted(fd: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_ctrl_c_waits_until_a_shard_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at_a_bad_moment(fd: int) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("os.fsync", at_a_bad_moment)
    with pytest.raises(KeyboardInterrupt):
        write_shard(folder, 0, make_records(COMPILED), COMPILED)
    assert len(read_shard(shard_path(folder, 0))[1]) == 15
    with ThreadPoolExecutor(1) as pool:  # no signals there, and none to be asked for
        monkeypatch.undo()
        assert pool.submit(write_shard, folder, 1, make_records(COMPILED), COMPILED).result().games == 3


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    before = sorted(folder.rglob("*"))
    (folder / ".manifest.json.77.tmp").touch()
    (folder / "records" / ".shard-000001.parquet.77.tmp").touch()
    remove_leftovers(folder)
    assert sorted(folder.rglob("*")) == before


# --- the manifest ----------------------------------------------------------------------------------------------------
def test_manifest_counts_and_survives_the_round_trip(folder: Path) -> None:
    infos = [write_shard(folder, i, make_records(COMPILED, 3, 3 * i), COMPILED) for i in range(2)]
    manifest = rebuild_manifest(folder)
    assert (manifest.games, manifest.records, manifest.mean_plies) == (6, 30, 5.0)
    assert (manifest.wins, manifest.draws, manifest.losses) == (2, 2, 2)
    assert manifest.shards == tuple(infos)
    assert read_manifest(folder) == Manifest.from_json(manifest.to_json()) == manifest


UNREADABLE = [
    "", "{}", "[]", '{"format": 2}', "\x00", "[" * 100_000,
    *(json.dumps(with_checksum(told)) for told in ({"format": 1}, {"format": 1, "shards": 7}, {"format": 9})),
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: text[:30])
def test_an_unreadable_manifest_counts_as_none(folder: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "manifest.json").write_text(text)
    assert read_manifest(folder) is None
    assert "manifest.json is damaged: it is not used; the command that made it writes it again" in caplog.text


def test_rebuilding_refuses_shards_of_different_settings(folder: Path) -> None:
    write_shard(folder, 0, make_records(COMPILED), COMPILED)
    write_shard(folder, 1, make_records(COMPILED, 3, 3), replace(COMPILED, settings={"seed": 8}))
    with pytest.raises(
        DataError, match=r"000000.* and .*000001.* different settings \(seed 7 there, 8 asked\): move one"
    ):
        rebuild_manifest(folder)
    with pytest.raises(DataError, match=r"no records in .*nowhere: make some with `evallearn selfplay`"):
        rebuild_manifest(folder / "nowhere")


def test_origin_of_a_game_knows_agents_by_more_than_their_name() -> None:
    from evallearn.agents import RandomAgent, SearchAgent
    from evallearn.evaluators import LinearEval

    game = TicTacToe()
    agents = [RandomAgent(game), *(SearchAgent(game, LinearEval.zero(game), name="a/b@depth=4") for _ in range(2))]
    weights = agents[2].evaluator.weights
    weights += np.float32(0.5)
    origin = Origin.of(game, agents, {"seed": 1})
    assert origin.agents == ("random", "b@depth=4", "b@depth=4")
    assert len(set(origin.agent_hashes)) == 3
    assert (origin.n_words, origin.win, origin.loss, origin.feature_names) == (2, 1.0, -1.0, game.feature_names)


def test_outcomes_are_shares_of_the_way_from_the_worst_loss_to_the_best_win() -> None:
    outcome = np.array([1.0, -0.5, 0.0], np.float32)
    assert np.array_equal(COMPILED.share(outcome), outcome)
    assert np.allclose(replace(COMPILED, loss=-0.5).share(outcome), [1.0, -1.0, -1 / 3])


def test_where_utility_accumulates_the_scale_begins_at_what_is_won() -> None:
    origin, won = replace(COMPILED, win=100.0, loss=0.0, accumulates=True), np.array([0.0, 60.0, 60.0, 99.0])
    outcome = np.array([25.0, 60.0, 80.0, 100.0])
    assert origin.share(outcome, won).tolist() == [-0.5, -1.0, 0.0, 1.0]


def test_what_was_won_is_a_column_where_utility_accumulates_and_nowhere_else(folder: Path) -> None:
    """Shards of all other games stay as they were, to the byte: neither columns nor header know of it."""
    origin = replace(COMPILED, win=9.0, loss=0.0, accumulates=True)
    records = [r._replace(won=float(i)) for i, r in enumerate(make_records(COMPILED))]
    write_shard(folder, 0, records, origin)
    there, table = read_shard(shard_path(folder, 0))
    assert (there, from_table(table)) == (origin, records)
    assert rebuild_manifest(folder).origin == read_manifest(folder).origin == origin  # type: ignore[union-attr]  # whole
    assert "accumulates" not in COMPILED.to_json()
    assert schema(COMPILED).names == schema(origin).names[:-1] == list(Record._fields[:-1])
    assert Origin.from_json(plain_json(COMPILED.to_json())) == COMPILED


def test_headers_without_a_loss_are_of_games_in_which_it_is_the_opposite_of_a_win() -> None:
    told = plain_json(asdict(replace(COMPILED, win=3.0, loss=-3.0)))
    del told["loss"]
    assert Origin.from_json(told).loss == -3.0


def test_actions_may_need_more_than_sixteen_bits(folder: Path) -> None:
    for index, action in enumerate((2**15 - 1, 2**15, -(2**20))):
        records = [r._replace(action=action) for r in make_records(COMPILED, 1, index)]
        write_shard(folder, index, records, COMPILED)
        assert [r.action for r in from_table(read_shard(shard_path(folder, index))[1])] == [action] * len(records)
