"""The one loop: that it learns, resumption to the byte, divergence, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toys import LINES

from evallearn.errors import Diverged, SpecError
from evallearn.games.connect_four import ConnectFour
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.episodes import EpisodeLearner
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import Progress


def trainer(*, initial: float | None = None, seed: int = 1, **model: Any) -> SelfPlayTrainer:
    settings = SelfPlaySettings(seed=seed, schedule=Schedule(initial=initial))
    return SelfPlayTrainer(PatternModel(ConnectFour(), LINES, **model), settings)


def learned(it: SelfPlayTrainer) -> bytes:
    return it.model.weights.tobytes()


def test_it_learns_to_win_where_a_stone_wins() -> None:
    game = ConnectFour()
    training = trainer(seed=3, initial=1.0, temporal_coherence=False).fit(games=4000)
    e = training.evaluator
    assert e.metadata["games"] == training.games == 4000
    assert e.metadata["moves"] == training.moves > 4000
    assert training.moves_per_second > 0
    assert training.freeze({"name": "mine"}).metadata["name"] == "mine"
    wins, loses = game.from_text("414142"), game.from_text("41414")  # X has three in column 4; O must answer there
    assert e.evaluate(wins, 0) > 0.3
    assert e.evaluate(wins, 0) > e.evaluate(game.from_text("414144"), 0)
    assert e.evaluate(game.result(loses, 3), 1) > e.evaluate(game.result(loses, 6), 1)


@pytest.mark.parametrize("coherence", [False, True])
def test_resumed_training_gives_the_same_bytes(tmp_path, coherence: bool) -> None:
    file = tmp_path / "e.resume"
    whole, first, resumed, twice = (trainer(temporal_coherence=coherence) for _ in range(4))
    total = whole.fit(games=200)
    first.fit(games=70, checkpoint=file)
    found = resumed.fit(games=200, checkpoint=file)
    twice.fit(games=70)
    twice.fit(games=200)  # a trainer goes on where it stopped
    assert learned(resumed) == learned(whole) == learned(twice)
    assert (found.games, found.moves) == (total.games, total.moves)


def test_training_that_was_interrupted_goes_on_to_the_same_bytes(tmp_path) -> None:
    file = tmp_path / "e.resume"

    def interrupt(now: Progress) -> None:
        if now.games > 20:
            raise KeyboardInterrupt

    stopped, resumed, whole = trainer(), trainer(), trainer()
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(games=300, checkpoint=file, on_progress=interrupt)
    assert 20 < stopped.training.games < 300
    resumed.fit(games=300, checkpoint=file)
    whole.fit(games=300)
    assert learned(resumed) == learned(whole)


def test_training_that_was_kept_is_not_changed_by_games_that_follow() -> None:
    it = trainer()
    kept = it.fit(games=20)
    before = kept.evaluator.tables.copy()
    it.fit(games=200)
    assert kept.games == 20
    assert kept.evaluator.tables.tobytes() == before.tobytes()
    assert it.training.evaluator.tables.tobytes() != before.tobytes()


def test_divergence_stops_and_keeps_the_last_good_weights() -> None:
    told = r"step_size=1e\+06 made a weight of connect_four grow to .* in game .*: lower it; the weights of game"
    with pytest.raises(Diverged, match=told) as caught:
        trainer(initial=1e6).fit(games=1000)
    assert caught.value.training.games < 1000
    assert np.isfinite(caught.value.training.evaluator.evaluate(ConnectFour().initial(), 0))


def test_nan_stops_too(monkeypatch) -> None:
    it, learn = trainer(), EpisodeLearner.learn

    def poisoned(self, games):
        learn(self, games)
        if self.games > 20:
            self.weights[5] = np.nan

    monkeypatch.setattr(EpisodeLearner, "learn", poisoned)
    with pytest.raises(SpecError, match="grow to nan in game"):
        it.fit(games=100)
    assert 0 < it.training.games <= 20
    assert np.isfinite(it.training.evaluator.evaluate(ConnectFour().initial(), 0))


def test_pruned_evaluator_lacks_what_was_hardly_used() -> None:
    full, pruned = (trainer(prune_below=p) for p in (0.0, 0.5))
    tables = [it.fit(games=60).evaluator.tables for it in (full, pruned)]
    assert learned(full) == learned(pruned)
    assert 0 < np.count_nonzero(tables[1]) < np.count_nonzero(tables[0])
    used = pruned.model.error_sums[:, 1].reshape(tables[1].shape) >= 0.5
    assert (tables[1][~used] == 0).all()
    assert (tables[1][used] == tables[0][used]).mean() > 0.9


@pytest.mark.parametrize(
    ("limits", "match"),
    [
        ({}, "no end was given: name games, seconds or both"),
        ({"games": 0}, "games=0 teach nothing: give 1 or more"),
        ({"seconds": 0.0}, "seconds=0.0 do not work: give a number above 0"),
    ],
)
def test_training_needs_an_end(limits: dict[str, Any], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        trainer().fit(**limits)
