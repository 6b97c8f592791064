"""How the step falls, what is refused, and where settings come from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from toys import LINES, Takeaway

from evallearn.core.patterns import PatternSet
from evallearn.errors import SpecError
from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.train.models.linear import LinearModel
from evallearn.train.models.patterns import PatternModel, PatternSettings
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer


def steps(numbers: list[int], /, *, deep_games: int = 0, **schedule: Any) -> list[float]:
    """The step in each of these games, of 1 at first."""
    settings = SelfPlaySettings(depth=2, deep_games=deep_games, schedule=Schedule(initial=1.0, **schedule))
    return [float(settings.steps(game, 1, 1)[0]) for game in numbers]


def test_step_falls_as_the_schedule_says() -> None:
    line = {"shape": "linear", "games": 50}
    assert steps([0, 25, 50, 60], **line) == [1, 0.5, 0, 0]
    assert steps([0, 25, 50, 60], **line, final=0.2) == pytest.approx([1, 0.6, 0.2, 0.2])
    assert steps([0, 25, 50, 60], shape="cosine", games=50) == pytest.approx([1, 0.5, 0, 0])
    assert steps([0, 1000]) == steps([0, 1000], games=50) == [1, 1]
    assert steps([0, 10, 20], half_life=10) == pytest.approx([1, 1 / 2, 1 / 3])


def test_step_falls_before_the_deep_games_and_again_at_the_end() -> None:
    line = {"shape": "linear", "games": 50, "deep_games": 10}
    assert steps([0, 20, 40, 45, 50], **line) == [1, 0.5, 1, 0.5, 0]
    assert steps([39], **line) == pytest.approx([0.025])


@pytest.mark.parametrize("shape", ["constant", "linear", "cosine"])
def test_steps_are_the_same_however_games_are_cut(shape: str) -> None:
    settings = SelfPlaySettings(schedule=Schedule(initial=3.0, shape=shape, games=40, half_life=7))
    pieces = [settings.steps(first, 3, 12) for first in range(0, 60, 3)]
    assert np.concatenate(pieces).tobytes() == settings.steps(0, 60, 12).tobytes()


def test_last_games_alone_are_deep() -> None:
    settings = SelfPlaySettings(depth=3, deep_games=2, schedule=Schedule(shape="linear", games=5))
    assert settings.depths(0, 6).tolist() == [1, 1, 1, 3, 3, 3]
    assert SelfPlaySettings(depth=3).depths(0, 2).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("kind", "setting", "match"),
    [
        (Schedule, {"initial": 0.0}, "initial=0.0: give a number above 0"),
        (Schedule, {"initial": math.nan}, "initial=nan: give"),
        (Schedule, {"half_life": -1}, "half_life=-1: give a whole number from 0 to"),
        (Schedule, {"games": -1}, "games=-1: give a whole number from 0 to"),
        (Schedule, {"shape": "linear"}, "games=0 for a linear schedule: give the game at which the step has fallen"),
        (Schedule, {"shape": "lines"}, "unknown shape 'lines': did you mean 'linear'"),
        (SelfPlaySettings, {"lambda_": 1.5}, "lambda=1.5: give a number from 0 to 1"),
        (SelfPlaySettings, {"epsilon": 1.5}, "epsilon=1.5: give a number from 0 to 1"),
        (SelfPlaySettings, {"target_epsilon": 1.5}, "target_epsilon=1.5: give a number from 0 to 1"),
        (SelfPlaySettings, {"target_epsilon": 0.1, "depth": 2}, "target_epsilon=0.1: give 0 with depth above 1"),
        (SelfPlaySettings, {"adversary_share": -0.5}, "adversary_share=-0.5: give a number from 0 to 1"),
        (SelfPlaySettings, {"adversary_share": 0.5, "depth": 2}, "adversary_share=0.5: give 0 with depth above 1"),
        (
            SelfPlaySettings,
            {"adversary_share": 0.5, "adversary_cell": -1},
            "adversary_cell=-1: give the cell, or adversary_share 0",
        ),
        (SelfPlaySettings, {"depth": 0}, "depth=0: give a whole number from 1 to 12"),
        (SelfPlaySettings, {"depth": 13}, "depth=13: give a whole number from 1 to 12"),
        (SelfPlaySettings, {"deep_games": -1}, "deep_games=-1: give a whole number from 0 to"),
        (SelfPlaySettings, {"deep_games": 9}, "deep_games=9: give as many as the schedule at most"),
        (SelfPlaySettings, {"resign_threshold": 0.0}, "resign_threshold=0.0: give a number above 0, at most 1"),
        (SelfPlaySettings, {"resign_threshold": 1.5}, "resign_threshold=1.5: give"),
        (SelfPlaySettings, {"max_opening_plies": -1}, "max_opening_plies=-1: give a whole number from 0 to"),
        (SelfPlaySettings, {"train_on_openings": 1}, "train_on_openings=1: give True or False"),
        (SelfPlaySettings, {"learners": 0}, "learners=0: give a whole number from 1 to 64"),
        (SelfPlaySettings, {"learners": 65}, "learners=65: give"),
        (SelfPlaySettings, {"learners": 3, "merge_every": 2}, "merge_every=2: give as many games as there are"),
        (SelfPlaySettings, {"seed": -1}, r"seed=-1: give a whole number from 0 to 9223372036854775807"),
        (PatternSettings, {"min_step_ratio": 1.5}, "min_step_ratio=1.5: give a number from 0 to 1"),
        (PatternSettings, {"quantum": 0.3}, "quantum=0.3: give 0 or a power of two below 1, such as 0.0078125"),
        (PatternSettings, {"quantum": -0.5}, "quantum=-0.5: give"),
        (PatternSettings, {"prune_below": -1.0}, "prune_below=-1.0: give a number from 0 to"),
        (
            PatternSettings,
            {"prune_below": 2.0, "temporal_coherence": False},
            "prune_below=2 needs the sums that temporal_coherence keeps: switch it on, or pruning off",
        ),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(kind: Any, setting: dict[str, Any], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        kind(**setting)


def test_settings_come_from_the_caller_then_the_set_then_what_is_usual() -> None:
    learning = {"step_size": 0.5, "lambda_": 0.25, "max_opening_plies": 3, "min_step_ratio": 0.2}
    model = PatternModel(Othello(), PatternSet(patterns=[(0, 1)], note="", learning=learning))
    settings = SelfPlaySettings(lambda_=0.0).suited(model)
    assert (settings.schedule.initial, settings.lambda_, settings.epsilon) == (0.5, 0.0, 0.1)
    assert (settings.max_opening_plies, settings.merge_every, settings.train_on_openings) == (3, 20_000, True)
    assert (model.settings.temporal_coherence, model.settings.min_step_ratio) == (True, 0.2)
    usual = PatternModel(Othello(), PatternSet(patterns=[(0, 1)], note=""))
    assert SelfPlaySettings(schedule=Schedule(initial=2.0)).suited(usual).max_opening_plies == 40
    assert SelfPlaySettings().suited(usual).schedule.initial == 4.0


def test_set_that_names_no_setting_is_refused() -> None:
    model = PatternModel(Othello(), PatternSet(patterns=[(0, 1)], note="", learning={"lamda_": 0.5}))
    with pytest.raises(SpecError, match="unknown setting that suits a model 'lamda_': did you mean 'lambda_'"):
        SelfPlayTrainer(model)


def test_what_suits_a_linear_model_depends_on_the_target() -> None:
    model = LinearModel(Othello())
    found = [SelfPlaySettings(target=target).suited(model) for target in (None, "td")]
    assert [(s.target, s.schedule.initial, s.depth) for s in found] == [("treestrap", 0.1, 2), ("td", 0.05, 2)]
    assert found[0].train_on_openings is False
    with pytest.raises(SpecError, match="target='tdleaf': PatternModel learns td"):
        SelfPlaySettings(target="tdleaf").suited(PatternModel(ConnectFour(), LINES))


class Uncompiled(ConnectFour):
    rules = None


class LooksBack(ConnectFour):
    @property
    def rules(self):
        from dataclasses import replace

        return replace(super().rules, clock=lambda s: 0, clock_limit=3)


def test_games_that_cannot_be_learned_are_refused() -> None:
    with pytest.raises(
        SpecError, match="takeaway declares no pattern sets: give it pattern_sets, or hand in a PatternSet"
    ):
        PatternModel(Takeaway())
    with pytest.raises(SpecError, match="connect_four has no rules with cells, seen by the mover"):
        PatternModel(Uncompiled(), LINES)
    with pytest.raises(SpecError, match="the rules of connect_four look back"):
        SelfPlayTrainer(PatternModel(LooksBack(), LINES))


@pytest.mark.parametrize(("game", "cell"), [(ConnectFour(), 3), (Othello(), 70)])
def test_cell_that_no_adversary_sees_is_refused(game, cell: int) -> None:
    model = PatternModel(game, PatternSet(patterns=[(0, 1)], note="", learning={"adversary_cell": cell}))
    told = rf"adversary_cell={cell} is no cell that an adversary sees in {game.name}: give one of its"
    with pytest.raises(SpecError, match=told):
        SelfPlayTrainer(model, SelfPlaySettings(adversary_share=0.5))
