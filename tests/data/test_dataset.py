from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evallearn.agents import RandomAgent
from evallearn.data import Batch, Dataset, Manifest, RecordSettings, generate_records
from evallearn.data.dataset import is_test
from evallearn.data.shards import shard_path
from evallearn.errors import DataError, SpecError
from evallearn.games.tic_tac_toe import TicTacToe

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))
from nim_selfplay import Nim  # noqa: E402

GAME = TicTacToe()
CONFIG = RecordSettings(games=300, seed=3, opening_plies=1, games_per_shard=32)


def make(folder: Path, config: RecordSettings = CONFIG, game: TicTacToe | Nim = GAME) -> Manifest:
    return generate_records(folder, game, [RandomAgent(game)] * 2, config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    make(path)
    return path


def joined(batches: list[Batch], field: str) -> np.ndarray:
    return np.concatenate([getattr(b, field) for b in batches])


def test_counts_and_names_are_the_manifests(folder: Path) -> None:
    data, manifest = Dataset(folder, GAME), make(folder)
    assert (data.n_games, data.n_records) == (300, manifest.records)
    assert (data.n_features, data.n_phases, data.feature_names) == (5, GAME.n_phases, GAME.feature_names)
    assert data.checksum == manifest.checksum


def test_batches_hold_every_record_in_order(folder: Path) -> None:
    data = Dataset(folder)
    batches = list(data.batches("all", batch_size=100))
    assert {len(b) for b in batches[:-1]} == {100}
    assert 0 < len(batches[-1]) <= 100
    records = list(data.records())
    assert len(records) == data.n_records
    assert joined(batches, "features").tobytes() == b"".join(r.features for r in records)
    for field, column in (("phase", "phase"), ("outcome", "outcome"), ("game", "game_number")):
        assert joined(batches, field).tolist() == [getattr(r, column) for r in records]
    batch = batches[0]
    assert batch.features.shape == (100, 5)
    assert [getattr(batch, k).dtype for k in ("features", "phase", "outcome", "game")] == ["f4", "i8", "f4", "i8"]


@pytest.mark.parametrize("split", ["train", "test", "all"])
def test_batch_size_and_repetition_change_nothing(folder: Path, split: str) -> None:
    data = Dataset(folder)
    whole = list(data.batches(split))
    assert len(whole) == 1
    for size in (1000, 64):
        for field in ("features", "phase", "outcome", "game"):
            assert (joined(list(data.batches(split, size)), field) == getattr(whole[0], field)).all()


def test_no_game_is_in_both_splits(folder: Path) -> None:
    data = Dataset(folder)
    games = {split: set(joined(list(data.batches(split)), "game").tolist()) for split in ("train", "test", "all")}
    assert games["train"] | games["test"] == games["all"] == set(range(300))
    assert not games["train"] & games["test"]
    assert 15 <= len(games["test"]) <= 45
    assert not list(Dataset(folder, test_share=0).batches("test"))
    assert {r.game_number for r in data.records("test")} == games["test"]


def test_the_split_is_a_fair_and_lasting_hash() -> None:
    numbers = np.arange(100_000, dtype=np.int32)
    test = is_test(3, numbers, 0.1)
    assert test.mean() == pytest.approx(0.1, abs=0.005)
    assert (is_test(3, numbers[500:], 0.1) == test[500:]).all()
    assert (is_test(4, numbers, 0.1) & test).mean() == pytest.approx(0.01, abs=0.002)  # another seed, another split
    assert is_test(3, numbers, 0.2)[test].all()


def test_states_come_back_as_the_game_plays_them(folder: Path, tmp_path: Path) -> None:
    for state, record in Dataset(folder).states(GAME, "test"):
        assert np.array(GAME.features(state, record.player), "<f4").tobytes() == record.features
    make(tmp_path, replace(CONFIG, games=5), Nim())
    states = list(Dataset(tmp_path, Nim()).states(Nim()))
    assert all(s[1] == r.player for s, r in states)


def test_outcomes_are_shares_of_a_win(tmp_path: Path) -> None:
    make(tmp_path, replace(CONFIG, games=5), Nim())  # a win is worth 2
    assert {r.outcome for r in Dataset(tmp_path).records()} == {-2.0, 2.0}
    assert set(joined(list(Dataset(tmp_path).batches()), "outcome")) == {-1.0, 1.0}


def test_a_game_without_features_still_has_records(tmp_path: Path) -> None:
    class Bare(Nim):
        name = "bare"
        feature_names = ()

        def features(self, s: object, player: int) -> list[float]:
            return []

    make(tmp_path, replace(CONFIG, games=5), Bare())
    (batch,) = Dataset(tmp_path).batches()
    assert batch.features.shape == (len(batch), 0)


def test_several_folders_are_one_data_set(folder: Path, tmp_path: Path) -> None:
    other = make(tmp_path, replace(CONFIG, seed=4, games=40))
    data = Dataset([folder, str(tmp_path)], GAME)
    assert (data.n_games, data.n_records) == (340, Dataset(folder).n_records + other.records)
    numbers = joined(list(data.batches("all")), "game")
    assert len(set(numbers.tolist())) == 340
    assert data.checksum not in (Dataset(folder).checksum, other.checksum)


def test_a_run_in_progress_can_be_read(tmp_path: Path) -> None:
    manifest = make(tmp_path)
    (tmp_path / "manifest.json").unlink()
    shard_path(tmp_path, 2).unlink()
    assert Dataset(tmp_path).n_games == manifest.games - 32


# --- refusals --------------------------------------------------------------------------------------------------------
def test_records_that_do_not_belong_together_are_refused(folder: Path, tmp_path: Path) -> None:
    make(tmp_path, replace(CONFIG, games=5), Nim())
    with pytest.raises(DataError, match=r"holds nim v1, 1 features in 1 .*, .*parquet has tic_tac_toe v1, 5 features"):
        Dataset([folder, tmp_path])
    with pytest.raises(
        DataError, match=r"holds tic_tac_toe v1.*, nim v1 of this program has nim .*: learn from one kind"
    ):
        Dataset(folder, Nim())


def test_missing_and_changed_shards_are_refused(tmp_path: Path) -> None:
    make(tmp_path, replace(CONFIG, games=64))
    shard = shard_path(tmp_path, 1)
    data = shard.read_bytes()
    shard.unlink()
    with pytest.raises(DataError, match=r"shard-000001\.parquet is missing: rerun the command that made it"):
        Dataset(tmp_path)
    shard.write_bytes(data[:50] + b"x" + data[51:])
    with pytest.raises(DataError, match=r"shard-000001\.parquet is not the file that manifest\.json lists"):
        list(Dataset(tmp_path).batches())
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"shard-000001\.parquet is damaged or cut off"):
        list(Dataset(tmp_path).batches())


def test_senseless_requests_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no records in .*: make some with `evallearn selfplay`"):
        Dataset(tmp_path)
    with pytest.raises(DataError, match="no folder of records was named"):
        Dataset([])
    with pytest.raises(DataError, match=r"test_share=1: give a share of the games from 0 to below 1"):
        Dataset(folder, test_share=1)
    with pytest.raises(DataError, match=r"batch_size=0: give a whole number of 1 or more"):
        next(Dataset(folder).batches("all", 0))
    with pytest.raises(SpecError, match="unknown split 'tset': did you mean 'test'"):
        next(Dataset(folder).batches("tset"))


# --- weight ----------------------------------------------------------------------------------------------------------
PEAK = """
import sys
from evallearn.agents import RandomAgent
from evallearn.data import Dataset, RecordSettings, generate_records
from nim_selfplay import Nim

game = Nim()
config = RecordSettings(games=int(sys.argv[2]), opening_plies=0, games_per_shard=32)
generate_records(sys.argv[1], game, [RandomAgent(game)] * 2, config)
n = sum(len(b) for b in Dataset(sys.argv[1], game).batches("train", batch_size=2048))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(n, status["VmHWM"].split()[0])
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads peak memory from /proc")
def test_memory_does_not_grow_with_the_number_of_records(tmp_path: Path) -> None:
    """Of the growth below, 24 000 more records as Python objects would be some 10 MB."""
    peaks = []
    for games in (1000, 4000):
        out = subprocess.run(
            [sys.executable, "-c", PEAK, tmp_path / str(games), str(games)],
            env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}:{HERE}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        n, peak = map(int, out.split())
        assert n > games * 6
        peaks.append(peak / 1024)
    assert peaks[1] - peaks[0] < 3, peaks


def test_importing_is_light() -> None:
    code = (
        "import sys, evallearn.data; print([m for m in ('numba', 'pyarrow', 'torch', 'sklearn') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_a_folder_named_twice_is_refused(tmp_path):
    with pytest.raises(DataError, match="a folder of records is named twice: .*; name each once"):
        Dataset([tmp_path, tmp_path])
