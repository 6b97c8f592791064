"""Records of games whose utility accumulates, and what is learned from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harvest import CROP, Harvest

from evallearn.agents import RandomAgent
from evallearn.core.game import Game
from evallearn.data import Dataset, Origin, Record, RecordSettings, generate_records, write_shard
from evallearn.data.manifest import rebuild_manifest
from evallearn.evaluators import LinearEval
from evallearn.insight.evidence import gather
from evallearn.insight.sources import Kept
from evallearn.registry import get_game
from evallearn.runs import fit_evaluator
from evallearn.train import ArrayStream, LinearFitter
from evallearn.train.fit.constraints import TiedStream
from evallearn.train.leaves import BlendedStream, QuietStream

GAME = Harvest()


@pytest.mark.parametrize("game", [GAME, get_game("2048")], ids=lambda g: g.name)
def test_self_play_records_what_the_player_to_move_has_won(game: Game, tmp_path: Path) -> None:
    config = RecordSettings(games=4, seed=3, opening_plies=1)
    generate_records(tmp_path, game, [RandomAgent(game)] * game.n_players, config)
    dataset, least = Dataset(tmp_path, game=game), np.inf
    assert dataset.origin.accumulates
    for s, record in dataset.states(game):
        assert record.won == game.won(s, record.player) <= record.outcome
        least = min(least, record.won)
    won, best = np.array([r.won for r in dataset.records()]), game.utility_range[1]
    outcome = np.array([r.outcome for r in dataset.records()])
    (batch,) = dataset.batches("all")
    assert batch.outcome == pytest.approx(2 * (outcome - won) / (best - won) - 1, abs=1e-6)
    assert least < outcome.max() / 2


def written(folder: Path, seed: int = 0) -> Path:
    """Records in which a share of what is left comes, 1/4 or 3/4, that `odd` tells; what was won says nothing of it."""
    rng, records = np.random.default_rng(seed), list[Record]()
    for n in range(2000):
        won, left, odd = float(rng.integers(0, CROP)), float(rng.integers(1, 12)), float(rng.integers(0, 2))
        come = (0.25 + 0.5 * odd) * (CROP - won)
        features = np.array([left, odd], "<f4").tobytes()
        records.append(Record(n, 0, 0, "1 0 0 0", features, 0, "1", won + come, 1, won + come, won))
    (folder / "records").mkdir()
    write_shard(folder, 0, records, Origin.of(GAME, [], {"seed": 0}))
    rebuild_manifest(folder)
    return folder


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("logistic", "outcome"),
        ("logistic", "blend"),
        ("ridge", "outcome"),
        ("sgd", "outcome"),
        pytest.param("net", "outcome", marks=pytest.mark.long),
    ],
)
def test_a_fit_learns_what_is_still_to_come(method: str, target: str, tmp_path: Path) -> None:
    dataset = Dataset(written(tmp_path), game=GAME)
    evaluator, _ = fit_evaluator(method, dataset, GAME, seed=1, metadata={}, target=target)
    for left, odd, won in ((5, 1, 0.0), (5, 1, 8.0), (4, 0, 0.0), (4, 0, 8.0)):
        s = GAME.from_text(f"{left} {won:.0f} 0 0")
        wanted = won + (0.25 + 0.5 * odd) * (CROP - won)
        assert evaluator.evaluate(s, 0) == pytest.approx(wanted, abs=0.25)
    seen = gather(dataset, evaluator)
    assert np.abs(seen.test.value - seen.test.outcome).mean() < 0.05


@pytest.mark.parametrize(("accumulates", "weight"), [(True, pytest.approx(0.35, rel=0.02)), (False, 0.3)])
def test_penalties_leave_the_weights_where_only_a_small_share_comes(accumulates: bool, weight: Any) -> None:
    """A feature that doubles what is to come, which is a few thousandths of the best: exp(2 * 0.35) is about two."""
    x = np.tile([1.0, -1.0], 1000)
    stream = ArrayStream(x[:, None], 2 * 0.002 * np.exp(0.7 * x) - 1, game=np.arange(2000), test_share=0.0)
    stream.accumulates = accumulates  # type: ignore[attr-defined]  # as a data set of such a game
    found = LinearFitter().fit(stream).weights_[0, 0]
    assert found == weight if accumulates else 0 < found < weight


def test_streams_of_streams_know_that_outcomes_are_what_was_to_come(tmp_path: Path) -> None:
    dataset = Dataset(written(tmp_path), game=GAME)
    quiet = QuietStream(dataset, LinearEval.zero(GAME))
    streams = [dataset, BlendedStream(dataset, 0.5), quiet, Kept(dataset, 1), TiedStream(dataset, [("left", "odd")])]
    assert all(stream.accumulates for stream in streams)  # type: ignore[attr-defined]  # some may lack it
    others = ArrayStream(np.zeros((1, 2)), np.zeros(1), game=np.zeros(1), feature_names=("left", "odd"))
    assert not TiedStream(others, [("left", "odd")]).accumulates
