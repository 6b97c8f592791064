"""Records that teach nothing or something else: `fit` and `learn` refuse them in a sentence, and nothing is lost."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import pytest

from evallearn.cli import run
from evallearn.core.trust import FULL_TRUST
from evallearn.data import Record, read_shard, write_shard
from evallearn.data.shards import from_table
from evallearn.errors import GameError
from evallearn.evaluators import LinearEval, feature_hash
from evallearn.registry import get_game

GAMES = """
from math import nan

from evallearn import Heuristic
from evallearn.games.tic_tac_toe import TicTacToe


class Two(TicTacToe):
    name = "two"
    feature_names = ("centre", "second")
    heuristics = {"centre": Heuristic({"centre": 1.0}, "For this test.")}
    rules = None
    n_phases = 1

    def phase(self, s):
        return 0

    def features(self, s, player):
        return super().features(s, player)[0], self.second(s)

    def second(self, s):
        return s.own.bit_count() / 5


class Other(Two):
    def second(self, s):
        return s.opp.bit_count() / 4


class Sick(Two):
    name = "sick"

    def second(self, s):
        return nan


class SeldomSick(Two):
    name = "seldom_sick"

    def second(self, s):
        return nan if s == (0o050, 0o202) else 0.5


class Constant(Two):
    name = "constant"

    def second(self, s):
        return 0.25


class AllConstant(Two):
    name = "all_constant"

    def features(self, s, player):
        return 0.5, 0.25


class Drawn(Two):
    name = "drawn"

    def utility(self, s, player):
        return 0.0
"""
SETTINGS = {f"{stage}.depth": 1 for stage in ("generate", "gate", "ladder")} | {
    "gate.generations": 1, "gate.pairs": 2, "ladder.pairs": 2, "ladder.milliseconds": 1,
}  # fmt: skip
SMALL = ["--games=100", "--workers=1", *(f"--set={name}={value}" for name, value in SETTINGS.items())]


@pytest.fixture(autouse=True)
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of the games above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.syspath_prepend(tmp_path)
    Path("games_of_bad_records.py").write_text(GAMES)
    return "games_of_bad_records"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == 2
    return " ".join(capsys.readouterr().err.split())


def selfplay(game: str, *more: str) -> None:
    assert run(["selfplay", game, "--out=data", "--games=100", "--limit=depth=1", "--workers=1", *more]) == 0


def learn(game: str) -> list[str]:
    return ["learn", game, "--run=run", *SMALL]


def fit(game: str, *more: str) -> list[str]:
    Path("x.safetensors").write_bytes(b"old")
    return ["fit", "data", f"--game={game}", "--out=x.safetensors", *more]


# --- features --------------------------------------------------------------------------------------------------------
def test_features_that_are_no_numbers_are_refused_before_anything_is_played(
    games: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "feature 'second' of sick is nan in position '.........': correct the feature function"
    assert message in refused(capsys, *learn(f"{games}:Sick"))
    assert message in refused(capsys, "selfplay", f"{games}:Sick", "--out=data", "--games=100")
    assert not list(Path().rglob("*.parquet"))


def test_an_eval_says_which_feature_is_no_number(games: str) -> None:
    game = get_game(f"{games}:SeldomSick", trust=FULL_TRUST)
    assert len(feature_hash(game)) == 12  # its few games do not come by
    with pytest.raises(GameError, match="feature 'second' of seldom_sick is nan in position '.O.X.X.O.': correct"):
        LinearEval.zero(game).evaluate(game.from_text(".O.X.X.O."), 0)


@pytest.mark.parametrize("method", ["logistic", "net"])
def test_records_with_nan_are_refused_and_the_old_file_stays(
    method: str, games: str, capsys: pytest.CaptureFixture[str]
) -> None:
    selfplay(f"{games}:Two")
    spoil(Path("data"), features=lambda x: (x[0], math.nan))
    told = refused(capsys, *fit(f"{games}:Two", f"--method={method}"))
    assert "feature 'second' is nan in a train record of game" in told
    assert "generate the records again" in told
    assert Path("x.safetensors").read_bytes() == b"old"


def spoil(folder: Path, features) -> None:  # type: ignore[no-untyped-def]
    """Write the first shard again, with other features."""
    path = min((folder / "records").glob("*.parquet"))
    origin, table = read_shard(path)
    pack = struct.Struct("<2f")
    records = [Record(*(pack.pack(*features(pack.unpack(r.features))) if k == "features" else v
                        for k, v in r._asdict().items())) for r in from_table(table)]  # fmt: skip
    (folder / "manifest.json").unlink()
    write_shard(folder, 0, records, origin)


def test_a_constant_feature_gets_no_weight_and_is_named(games: str, capsys: pytest.CaptureFixture[str]) -> None:
    selfplay(f"{games}:Constant")
    assert run(fit(f"{games}:Constant")) == 0
    message = "features with the same value in every record: second: they have no weight; mend them, or leave them out"
    assert message in capsys.readouterr().out
    assert run(fit(f"{games}:Constant", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["constant"] == ["second"]
    assert run(learn(f"{games}:Constant")) == 0
    assert message in capsys.readouterr().out


def test_features_that_are_all_constant_are_refused(games: str, capsys: pytest.CaptureFixture[str]) -> None:
    selfplay(f"{games}:AllConstant")
    message = "every feature is constant in all"
    for command in (fit(f"{games}:AllConstant"), learn(f"{games}:AllConstant")):
        told = refused(capsys, *command)
        assert message in told
        assert "(centre, second): correct the feature function" in told
    assert Path("x.safetensors").read_bytes() == b"old"


# --- outcomes --------------------------------------------------------------------------------------------------------
def test_outcomes_that_are_all_alike_are_refused(games: str, capsys: pytest.CaptureFixture[str]) -> None:
    selfplay(f"{games}:Drawn")
    for command in (fit(f"{games}:Drawn"), fit(f"{games}:Drawn", "--method=net"), learn(f"{games}:Drawn")):
        told = refused(capsys, *command)
        assert "column 'outcome' is 0 in all" in told
        assert "generate more games, with more random opening plies" in told
    assert Path("x.safetensors").read_bytes() == b"old"


# --- other records, or none ------------------------------------------------------------------------------------------
def test_a_run_of_other_features_is_refused_and_kept(games: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(learn(f"{games}:Two")) == 0
    before = {p: p.read_bytes() for p in Path("run").rglob("*.safetensors")}
    told = refused(capsys, *learn(f"{games}:Other"))
    assert "learn from one kind at a time, or make the records again" in told
    assert "holds a run with game='two', you asked for 'constant'" in refused(capsys, *learn(f"{games}:Constant"))
    assert {p: p.read_bytes() for p in Path("run").rglob("*.safetensors")} == before


def test_folders_without_a_game_are_refused(games: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("data").mkdir()
    assert "no records in data: make some with `evallearn selfplay`" in refused(capsys, *fit(f"{games}:Two"))
    selfplay(f"{games}:Two", "--games=1", "--seed=16")  # a game that is held out
    told = refused(capsys, *fit(f"{games}:Two"))
    assert "the train split holds no records: generate some games first" in told
    assert Path("x.safetensors").read_bytes() == b"old"
