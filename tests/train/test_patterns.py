"""Pattern tables by TD: the kernel against its oracle, resumption to the byte, divergence, and that it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from toys import LINES, Takeaway

from evallearn.core.patterns import PatternSet
from evallearn.errors import DataError, SpecError
from evallearn.evaluators.layout import Layout
from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.games.othello.cells import OWN
from evallearn.train.patterns import PatternTrainer
from evallearn.train.self_taught import Progress
from evallearn.train.td import TdLearner, TdSettings
from evallearn.train.td_plain import PlainTd, Step


def layout() -> Layout:
    return Layout.of(ConnectFour(), LINES)


def learner(**settings) -> TdLearner:
    return TdLearner(layout(), TdSettings(**settings))


def same(a, b) -> bool:
    return all(getattr(a, name) == getattr(b, name) for name in ("games", "moves", "errors")) and (
        a.weights.tobytes() == b.weights.tobytes()
    )


# --- the kernel and its oracle -----------------------------------------------------------------------------------
WAYS = {
    "td0": {},
    "lambda": {"lambda_": 0.6, "epsilon": 0.3, "seed": 7},
    "coherence": {"coherence": True, "lambda_": 0.3, "half_life": 2, "horizon": 9, "opening_plies": 0},
    "deep": {"coherence": True, "least": 0.25, "depth": 2, "deep_games": 1, "horizon": 3},
    "noise": {"noise": 0.2, "lambda_": 0.6, "epsilon": 0.2},
    "sparing": {"learn_openings": False, "decided": 0.4, "lambda_": 0.5, "opening_plies": 4, "alpha": 2.0},
}
QUICK = {("lines", way) for way in WAYS} | {("straight-3", "coherence")}
"""Those of Connect Four, and the kernel of Othello that the command needs too: each takes seconds to compile."""


@pytest.mark.parametrize(
    ("chosen", "way"),
    [
        pytest.param(chosen, way, marks=() if (chosen, way) in QUICK else pytest.mark.long)
        for chosen in ("lines", "straight-3", "classic")
        for way in WAYS
    ],
)
def test_kernel_learns_what_plain_python_learns_bit_for_bit(chosen, way):
    game, patterns = (ConnectFour(), LINES) if chosen == "lines" else (Othello(), Othello.pattern_sets[chosen])
    layout, settings = Layout.of(game, patterns), WAYS[way]
    kernel, plain = TdLearner(layout, TdSettings(**settings)), PlainTd(layout, TdSettings(**settings))
    kernel.learn(3)
    for _ in range(3):
        plain.play()
    assert np.count_nonzero(plain.weights) > 20
    assert same(kernel, plain)
    if kernel.settings.coherence:
        assert kernel.memory.tobytes() == plain.memory.tobytes()


def test_kernel_looks_three_plies_ahead_as_plain_python_does():
    kernel, plain = learner(depth=3, lambda_=0.5), PlainTd(layout(), TdSettings(depth=3, lambda_=0.5))
    kernel.learn(2)
    plain.play()
    plain.play()
    assert same(kernel, plain)
    shallow = learner(lambda_=0.5)
    shallow.learn(2)
    assert not same(kernel, shallow)


@pytest.mark.parametrize("chosen", ["straight-3", pytest.param("counts", marks=pytest.mark.long)])
def test_kernel_hunts_as_plain_python_does(chosen):
    layout = Layout.of(Othello(), Othello.pattern_sets[chosen])
    settings = {"lambda_": 0.5, "noise": 0.1, "prey": OWN}
    kernel, plain = (kind(layout, TdSettings(hunts=1.0, **settings)) for kind in (TdLearner, PlainTd))
    tame = TdLearner(layout, TdSettings(hunts=1e-9, **settings))
    kernel.learn(3)
    tame.learn(3)
    for _ in range(3):
        plain.play()
    assert same(kernel, plain)
    assert not same(kernel, tame)


def test_games_end_where_they_are_decided_but_one_in_ten():
    kernel, plain = (kind(layout(), TdSettings(decided=0.02)) for kind in (TdLearner, PlainTd))
    kernel.learn(60)
    for _ in range(60):
        plain.play()
    assert same(kernel, plain)
    lengths = []
    for _ in range(40):
        before = kernel.moves
        kernel.learn(1)
        lengths.append(kernel.moves - before)
    whole = learner()
    whole.learn(100)
    assert max(lengths) > 12  # some are played out
    assert kernel.moves < 0.9 * whole.moves


def test_random_openings_teach_nothing_if_they_are_not_to():
    kernel, plain = (
        kind(layout(), TdSettings(learn_openings=False, opening_plies=41)) for kind in (TdLearner, PlainTd)
    )
    kernel.learn(40)
    for _ in range(40):
        plain.play()
    assert same(kernel, plain)
    assert kernel.games == 40
    assert kernel.moves < 15 * 40 / 2  # some games were over before they were open


def test_a_hunter_takes_what_leaves_least_of_its_prey():
    game = Othello()
    plain = PlainTd(Layout.of(game, game.pattern_sets["straight-3"]), TdSettings(hunts=1.0, prey=OWN))
    s = game.from_text("f5d6c3d3c4f4")
    takes = [game.result(s, a).own.bit_count() for a in game.actions(s)]
    assert takes[plain.hunted(s, [0.0] * len(takes), 0.1)] == min(takes) < max(takes)
    assert plain.hunted(s, [0.0] * (len(takes) - 1) + [1.0], 0.1) == len(takes) - 1  # a win is worth more
    over = game.from_text("e6f4e3f6g5d6e7f5")  # c5 takes the last disc
    values = [0.0] * len(game.actions(over))
    assert game.action_to_text(over, game.actions(over)[plain.hunted(over, values, 0.1)]) == "c5"


def test_noise_counts_the_mean_of_all_actions_in():
    noisy, best = (PlainTd(layout(), TdSettings(noise=noise)) for noise in (0.25, 0.0))
    assert noisy.expected([0.5, -0.5, -0.6]) == pytest.approx(0.75 * 0.5 - 0.25 * 0.2)
    assert best.expected([0.5, -0.5, -0.6]) == 0.5


def test_errors_reach_back_as_far_as_moves_are_likely():
    plain = PlainTd(layout(), TdSettings(lambda_=0.5))
    plain.teach([Step(0, [1], 0.0, 0.8), Step(1, [2], 1.0, 1.0)], 1.0)
    assert plain.weights[1:3].tolist() == pytest.approx([-0.4, 1.0])


def test_step_shrinks_to_nothing_before_the_deep_games_and_again_at_the_end():
    settings = TdSettings(depth=2, deep_games=10, horizon=50)
    assert [settings.gone(n) for n in (0, 20, 40, 45, 50)] == [0, 0.5, 0, 0.5, 1]
    assert settings.gone(39) == pytest.approx(0.975)
    assert [TdSettings(horizon=50).gone(n) for n in (0, 25, 50)] == [0, 0.5, 1]
    assert TdSettings().gone(1000) == 0


def test_coherence_leaves_every_weight_the_least_part_of_the_step():
    """Errors that cancel out stop a weight, unless a part of the step is left to it."""
    moved = []
    for least in (0.0, 0.25):
        plain = PlainTd(layout(), TdSettings(coherence=True, least=least))
        plain.memory[:] = 0.0, 4.0
        plain.change([3], 1.0, 0.5)
        moved.append(float(plain.weights[3]))
    assert moved == [0.0, 0.125]


def test_first_step_moves_the_value_towards_a_win_by_alpha():
    """Signs: the position before a win gains, to the player who wins; the one before it loses."""
    game = ConnectFour()
    plain = PlainTd(Layout.of(game, LINES), TdSettings(alpha=0.5, epsilon=0.0, opening_plies=0, lambda_=0.5))
    before, last = game.from_text("41414"), game.from_text("414142")
    assert game.is_terminal(game.result(last, 3))
    errors = (0.0, 1.0 - plain.value(last))
    path = [Step(game.to_play(s), plain.places(s), e, True) for s, e in zip((before, last), errors, strict=True)]
    plain.teach(path, 0.5 / len(plain.layout.places))
    assert plain.value(last) == pytest.approx(math.tanh(0.5), abs=0.2)
    assert plain.value(last) > 0 > plain.value(before)


def test_same_seed_gives_the_same_weights_however_it_is_cut():
    whole, pieces, other = learner(lambda_=0.5), learner(lambda_=0.5), learner(lambda_=0.5, seed=2)
    whole.learn(60)
    for n in (1, 19, 40):
        pieces.learn(n)
    other.learn(60)
    assert same(whole, pieces)
    assert not same(whole, other)


def test_it_learns_to_win_where_a_stone_wins():
    game = ConnectFour()
    trainer = PatternTrainer(LINES, seed=3, alpha=1.0, coherence=False).fit(game, games=4000)
    e = trainer.evaluator()
    assert e.made["games"] == trainer.games_ == 4000
    wins, loses = game.from_text("414142"), game.from_text("41414")  # X has three in column 4; O must answer there
    assert e.evaluate(wins, 0) > 0.3
    assert e.evaluate(wins, 0) > e.evaluate(game.from_text("414144"), 0)
    assert e.evaluate(game.result(loses, 3), 1) > e.evaluate(game.result(loses, 6), 1)


# --- checkpoints -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("coherence", [False, True])
def test_resumed_learning_gives_the_same_bytes(tmp_path, coherence):
    game, file = ConnectFour(), tmp_path / "e.resume"
    whole = PatternTrainer(LINES, coherence=coherence).fit(game, games=200)
    PatternTrainer(LINES, coherence=coherence).fit(game, games=70, checkpoint=file)
    resumed = PatternTrainer(LINES, coherence=coherence).fit(game, games=200, checkpoint=file)
    assert resumed.weights_.tobytes() == whole.weights_.tobytes()
    assert (resumed.games_, resumed.moves_) == (whole.games_, whole.moves_)


def test_learning_that_was_interrupted_goes_on_to_the_same_bytes(tmp_path):
    game, file = ConnectFour(), tmp_path / "e.resume"

    def interrupt(now: Progress) -> None:
        if now.games > 20:
            raise KeyboardInterrupt

    stopped = PatternTrainer(LINES)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(game, games=300, checkpoint=file, on_progress=interrupt)
    assert 20 < stopped.games_ < 300
    resumed = PatternTrainer(LINES).fit(game, games=300, checkpoint=file)
    assert resumed.weights_.tobytes() == PatternTrainer(LINES).fit(game, games=300).weights_.tobytes()


def test_checkpoint_of_other_settings_is_refused(tmp_path):
    file = tmp_path / "e.resume"
    learner(seed=3).save(file)
    with pytest.raises(DataError, match=r"was made with seed 3, now 1: give the same settings, or delete it"):
        learner().restore(file)
    with pytest.raises(DataError, match="was made with patterns others"):
        TdLearner(
            Layout.of(ConnectFour(), PatternSet(patterns=[(0,)], note="", by_player=True)), TdSettings(seed=3)
        ).restore(file)


def test_file_that_is_no_checkpoint_is_refused(tmp_path):
    file = tmp_path / "e.resume"
    file.write_bytes(b"no safetensors file")
    with pytest.raises(DataError, match=r"e\.resume is damaged, or no checkpoint .*: delete it to begin anew"):
        learner().restore(file)


def test_checkpoint_clears_up_after_one_that_was_killed_while_it_wrote(tmp_path):
    half, other = tmp_path / ".e[1].resume.77.tmp", tmp_path / ".f.resume.77.tmp"
    half.write_bytes(b"half of it")
    other.write_bytes(b"somebody else's")
    learner().save(tmp_path / "e[1].resume")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".f.resume.77.tmp", "e[1].resume"]


def test_checkpoint_of_another_size_is_refused(tmp_path):
    file, small = tmp_path / "e.resume", learner()
    small.weights = small.weights[:5]
    small.save(file)
    with pytest.raises(DataError, match=rf"holds \(5,\) weights, not \({2 * layout().entries},\)\): delete it"):
        learner().restore(file)


# --- what goes wrong ---------------------------------------------------------------------------------------------
def test_divergence_stops_and_keeps_the_last_good_weights():
    trainer = PatternTrainer(LINES, alpha=1e6)
    with pytest.raises(
        SpecError, match=r"alpha=1e\+06 made a weight of connect_four grow to .* in game .*: lower alpha"
    ):
        trainer.fit(ConnectFour(), games=1000)
    assert np.isfinite(trainer.weights_).all()
    assert trainer.games_ < 1000


def test_nan_stops_too(monkeypatch):
    trainer, learn = PatternTrainer(LINES), TdLearner.learn

    def poisoned(self, games):
        learn(self, games)
        if self.games > 20:
            self.weights[5] = np.nan

    monkeypatch.setattr(TdLearner, "learn", poisoned)
    with pytest.raises(SpecError, match="grow to nan in game"):
        trainer.fit(ConnectFour(), games=100)
    assert 0 < trainer.games_ <= 20
    assert np.isfinite(trainer.evaluator().evaluate(ConnectFour().initial(), 0))


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ({"alpha": 0.0}, "alpha=0.0: give a number above 0"),
        ({"alpha": math.nan}, "alpha=nan: give"),
        ({"half_life": -1}, "half_life=-1: give a whole number from 0 to"),
        ({"horizon": -1}, "horizon=-1: give a whole number from 0 to"),
        ({"lambda_": 1.0}, "lambda=1.0: give a number from 0 to below 1"),
        ({"epsilon": 1.5}, "epsilon=1.5: give a number from 0 to 1"),
        ({"noise": 1.5}, "noise=1.5: give a number from 0 to 1"),
        ({"noise": 0.1, "depth": 2}, "noise=0.1: give 0 with depth above 1"),
        ({"hunts": -0.5, "prey": 0}, "hunts=-0.5: give a number from 0 to 1"),
        ({"hunts": 0.5, "prey": 0, "depth": 2}, "hunts=0.5: give 0 with depth above 1"),
        ({"hunts": 0.5}, "prey=-1: give the cell to hunt, or no hunts"),
        ({"least": 1.5}, "least=1.5: give a number from 0 to 1"),
        ({"depth": 0}, "depth=0: give a whole number from 1 to 12"),
        ({"depth": 13}, "depth=13: give a whole number from 1 to 12"),
        ({"deep_games": -1}, "deep_games=-1: give a whole number from 0 to"),
        ({"deep_games": 9, "horizon": 8}, "deep_games=9: give as many games as horizon at most"),
        ({"decided": 0.0}, "decided=0.0: give a number above 0, at most 1"),
        ({"decided": 1.5}, "decided=1.5: give"),
        ({"opening_plies": -1}, "opening_plies=-1: give a whole number from 0 to"),
        ({"learners": 0}, "learners=0: give a whole number from 1 to 64"),
        ({"learners": 65}, "learners=65: give"),
        ({"learners": 3, "exchange": 2}, "exchange=2: give as many games as there are learners, or more"),
        ({"seed": -1}, r"seed=-1: give a whole number from 0 to 9223372036854775807"),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting, match):
    with pytest.raises(SpecError, match=match):
        TdSettings(**setting)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"finest": 0.3}, "finest=0.3: give 0 or a power of two below 1, such as 0.0078125"),
        ({"finest": -0.5}, "finest=-0.5: give"),
        ({"prune": -1.0}, "prune=-1.0: give a number from 0 to"),
        ({"prune": 2.0, "coherence": False}, "prune=2 needs the sums that coherence keeps: switch it on, or prune off"),
    ],
)
def test_files_that_could_not_be_made_small_are_refused_before_learning(settings, match):
    with pytest.raises(SpecError, match=match):
        PatternTrainer(LINES, **settings).fit(ConnectFour(), games=1)


def test_pruned_eval_lacks_what_was_hardly_used():
    game = ConnectFour()
    full, pruned = (PatternTrainer(LINES, prune=p).fit(game, games=60) for p in (0.0, 0.5))
    assert full.weights_.tobytes() == pruned.weights_.tobytes()
    kept = pruned.evaluator().tables
    assert 0 < np.count_nonzero(kept) < np.count_nonzero(full.evaluator().tables)
    assert (kept[~pruned.used_] == 0).all()


@pytest.mark.parametrize(
    ("limits", "match"),
    [
        ({}, "no end was given: name games, seconds or both"),
        ({"games": 0}, "games=0 teach nothing: give 1 or more"),
        ({"seconds": 0.0}, "seconds=0.0 do not work: give a number above 0"),
    ],
)
def test_learning_needs_an_end(limits, match):
    with pytest.raises(SpecError, match=match):
        PatternTrainer(LINES).fit(ConnectFour(), **limits)


class Uncompiled(ConnectFour):
    rules = None


class LooksBack(ConnectFour):
    @property
    def rules(self):
        from dataclasses import replace

        return replace(super().rules, clock=lambda s: 0, clock_limit=3)


def test_games_that_cannot_be_learned_are_refused():
    with pytest.raises(
        SpecError, match="takeaway declares no pattern sets: give it pattern_sets, or hand in a PatternSet"
    ):
        PatternTrainer().fit(Takeaway(), games=1)
    with pytest.raises(SpecError, match="connect_four has no rules with cells, seen by the mover"):
        PatternTrainer(LINES).fit(Uncompiled(), games=1)
    with pytest.raises(SpecError, match="the rules of connect_four look back"):
        PatternTrainer(LINES).fit(LooksBack(), games=1)


@pytest.mark.parametrize(("game", "prey"), [(ConnectFour(), 3), (Othello(), 70)])
def test_prey_that_no_hunter_sees_is_refused(game, prey):
    patterns = PatternSet(patterns=[(0, 1)], note="", learning={"prey": prey})
    with pytest.raises(SpecError, match=rf"prey={prey} is no cell that a hunter sees in {game.name}: give one of its"):
        PatternTrainer(patterns, hunts=0.5).fit(game, games=1)
