"""evallearn info: what it shows can be loaded, and what cannot be loaded is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toys import Takeaway

from evallearn.agents import RandomAgent
from evallearn.cli import run
from evallearn.data import RecordSettings, generate_records
from evallearn.errors import EvallearnError
from evallearn.evaluators import LinearEval, load_evaluator, save, zoo_file
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.quantised import quantise
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.registry import get_game, load

GAME = TicTacToe()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sample(kind: str) -> Path:
    """An evaluator file of that kind."""
    names = {"linear": "tic_tac_toe/linear", "patterns": "connect_four/patterns"}
    path = Path(f"{kind}.safetensors")
    if kind in names:
        shutil.copy(zoo_file(names[kind]), path)
        return path
    net = load_evaluator(zoo_file("backgammon/net"), get_game("backgammon"))
    assert isinstance(net, NetEval)
    return save(net if kind == "net" else quantise(net), path)


def flip(path: Path, at: int) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("kind", ["linear", "net", "quantised", "patterns"])
def test_one_weight_that_is_another_is_refused(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = sample(kind)
    assert run(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == kind
    for at in (-1, -9, 9):  # two weights, and the header
        flip(path, at)
        with pytest.raises(EvallearnError) as refused:
            load(path)
        assert run(["info", str(path)]) == 2
        assert capsys.readouterr() == ("", f"error: {refused.value}\n")
        flip(path, at)


def test_an_eval_that_fits_no_game_of_this_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    save(LinearEval.zero(GAME), Path("old.safetensors"))
    data = Path("old.safetensors").read_bytes()
    Path("old.safetensors").write_bytes(data.replace(b'game_version\\": 1', b'game_version\\": 7'))
    assert run(["info", "old.safetensors"]) == 2
    assert "was trained on features tic_tac_toe/v7" in capsys.readouterr().err


def test_an_eval_of_ones_own_game_fits_where_the_game_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    save(LinearEval.zero(Takeaway()), Path("own.safetensors"))
    for words in ([], ["--game", "toys:Takeaway"]):
        assert run(["info", "own.safetensors", *words]) == 0
    assert run(["info", "own.safetensors", "--game", "toys:CoinRace"]) == 2
    assert "own.safetensors is an evaluator of takeaway, not of coin_race" in capsys.readouterr().err
    flip(Path("own.safetensors"), -1)
    assert run(["info", "own.safetensors"]) == 2
    assert "own.safetensors is damaged: its numbers do not have the checksum" in capsys.readouterr().err


def test_a_shard_that_is_another_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    generate_records("data", GAME, [RandomAgent(GAME)] * 2, RecordSettings(games=5))
    shard = Path("data/records/shard-000000.parquet")
    assert run(["info", "data", "--game", "tic_tac_toe"]) == 0
    flip(shard, 100)
    for told in ("is not the file that manifest.json lists (other checksum)", "is damaged or cut off"):
        capsys.readouterr()
        assert run(["info", "data"]) == 2
        assert told in capsys.readouterr().err
        Path("data/manifest.json").unlink(missing_ok=True)  # then the pages of the shard have checksums of their own
    flip(shard, 100)
    assert run(["info", "data", "--game", "connect_four"]) == 2


@pytest.mark.parametrize(
    "text", [b"", b'{"evallearn": "0.1.0", "ga', b"[]", b"{}", b"[" * 100_000, b"\xff", b"9" * 5000]
)
def test_a_result_that_is_damaged_is_refused(text: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run").mkdir()
    Path("run/result.json").write_bytes(text)
    assert run(["info", "run"]) == 2
    told = f"{Path('run/result.json')} is damaged ("
    assert told in capsys.readouterr().err
