"""Tables that learn from games against themselves: the kernel against its oracle, and what a game teaches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from toys import LINES

from evallearn.core.game import Game
from evallearn.core.patterns import PatternSet
from evallearn.errors import DataError
from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.games.othello.cells import OWN
from evallearn.train.models.linear import LinearModel
from evallearn.train.models.patterns import PatternModel, PatternSettings
from evallearn.train.selfplay.episodes import EpisodeLearner
from evallearn.train.selfplay.plain import Decision, PlainEpisodes
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings

BARE: dict[str, Any] = {
    "temporal_coherence": False, "max_opening_plies": 8, "lambda_": 0.0, "target_epsilon": 0.0, "adversary_share": 0.0,
}  # fmt: skip
"""What a test does not name."""


def chosen(game: Game, patterns: PatternSet, settings: dict[str, Any]) -> tuple[PatternModel, SelfPlaySettings]:
    """A new model and how it learns; settings of all three classes side by side, and a step of 1."""
    given = {**BARE, **settings}
    own = {name: given.pop(name) for name in PatternSettings.known() if name in given}
    step = {name: given.pop(name) for name in Schedule.known() if name in given}
    model = PatternModel(game, patterns, **own)
    return model, SelfPlaySettings(schedule=Schedule(**{"initial": 1.0, **step}), **given).suited(model)


def learner(game: Game | None = None, patterns: PatternSet = LINES, **settings: Any) -> EpisodeLearner:
    return EpisodeLearner(*chosen(game or ConnectFour(), patterns, settings))


def plain_one(game: Game | None = None, patterns: PatternSet = LINES, **settings: Any) -> PlainEpisodes:
    return PlainEpisodes(*chosen(game or ConnectFour(), patterns, settings))


def both(n_games: int, /, *given: Any, **settings: Any) -> tuple[EpisodeLearner, PlainEpisodes]:
    """The kernel and its oracle after so many games."""
    kernel, plain = learner(*given, **settings), plain_one(*given, **settings)
    kernel.learn(n_games)
    for _ in range(n_games):
        plain.play()
    return kernel, plain


def decision(mover: int, row: list[int], error: float, trace: float = 1.0) -> Decision:
    return Decision(mover, row, [0.0], [0.0], [error], trace)


def same(a: Any, b: Any) -> bool:
    return all(getattr(a, name) == getattr(b, name) for name in ("games", "moves", "errors")) and (
        a.weights.tobytes() == b.weights.tobytes()
    )


# --- the kernel and its oracle -----------------------------------------------------------------------------------
LINEAR = {"shape": "linear", "games": 9}
WAYS: dict[str, dict[str, Any]] = {
    "td0": {},
    "lambda": {"lambda_": 0.6, "epsilon": 0.3, "seed": 7},
    "coherence": {"temporal_coherence": True, "lambda_": 0.3, "half_life": 2, **LINEAR, "max_opening_plies": 0},
    "final": {"temporal_coherence": True, "shape": "linear", "games": 2, "final": 0.25},
    "deep": {
        "temporal_coherence": True, "min_step_ratio": 0.25, "depth": 2, "deep_games": 1, "shape": "linear", "games": 3,
    },
    "target epsilon": {"target_epsilon": 0.2, "lambda_": 0.6, "epsilon": 0.2},
    "sparing": {
        "train_on_openings": False, "resign_threshold": 0.4, "lambda_": 0.5, "max_opening_plies": 4, "initial": 2.0,
    },
}  # fmt: skip
QUICK = {("lines", way) for way in WAYS} | {("straight-3", "coherence")}
"""Those of Connect Four, and the kernel of Othello that the command needs too: each takes seconds to compile."""


@pytest.mark.parametrize(
    ("patterns", "way"),
    [
        pytest.param(patterns, way, marks=() if (patterns, way) in QUICK else pytest.mark.long)
        for patterns in ("lines", "straight-3", "classic")
        for way in WAYS
    ],
)
def test_kernel_learns_what_plain_python_learns_bit_for_bit(patterns: str, way: str) -> None:
    game = (ConnectFour(), LINES) if patterns == "lines" else (Othello(), Othello.pattern_sets[patterns])
    kernel, plain = both(3, *game, **WAYS[way])
    assert np.count_nonzero(plain.weights) > 20
    assert same(kernel, plain)
    assert kernel.model.state()["error_sums"].tobytes() == plain.model.error_sums.tobytes()


def test_kernel_looks_three_plies_ahead_as_plain_python_does() -> None:
    settings = {"temporal_coherence": True, "lambda_": 0.5}
    kernel, plain = both(2, depth=3, **settings)
    assert same(kernel, plain)
    shallow = learner(**settings)
    shallow.learn(2)
    assert not same(kernel, shallow)


@pytest.mark.parametrize("patterns", ["straight-3", pytest.param("counts", marks=pytest.mark.long)])
def test_adversary_of_the_kernel_is_that_of_plain_python(patterns: str) -> None:
    settings = {"lambda_": 0.5, "target_epsilon": 0.1, "adversary_cell": OWN}
    game = Othello(), Othello.pattern_sets[patterns]
    kernel, plain = both(3, *game, adversary_share=1.0, **settings)
    tame = learner(*game, adversary_share=1e-9, **settings)
    tame.learn(3)
    assert same(kernel, plain)
    assert not same(kernel, tame)


def test_games_end_where_they_are_decided_but_one_in_ten() -> None:
    kernel, plain = both(60, resign_threshold=0.02)
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


def test_random_openings_teach_nothing_if_they_are_not_to() -> None:
    kernel, plain = both(40, train_on_openings=False, max_opening_plies=41)
    assert same(kernel, plain)
    assert kernel.games == 40
    assert kernel.moves < 15 * 40 / 2  # some games were over before they were open


def test_an_adversary_takes_what_leaves_least_in_its_cell() -> None:
    game = Othello()
    plain = plain_one(game, game.pattern_sets["straight-3"], adversary_share=1.0, adversary_cell=OWN)
    s = game.from_text("f5d6c3d3c4f4")
    takes = [game.result(s, a).own.bit_count() for a in game.actions(s)]
    assert takes[plain.adversarial(s, [0.0] * len(takes), 0.1)] == min(takes) < max(takes)
    assert plain.adversarial(s, [0.0] * (len(takes) - 1) + [1.0], 0.1) == len(takes) - 1  # a win is worth more
    over = game.from_text("e6f4e3f6g5d6e7f5")  # c5 takes the last disc
    values = [0.0] * len(game.actions(over))
    assert game.action_to_text(over, game.actions(over)[plain.adversarial(over, values, 0.1)]) == "c5"


def test_target_epsilon_counts_the_mean_of_all_actions_in() -> None:
    soft, best = (plain_one(target_epsilon=epsilon) for epsilon in (0.25, 0.0))
    assert soft.backup([0.5, -0.5, -0.6]) == pytest.approx(0.75 * 0.5 - 0.25 * 0.2)
    assert best.backup([0.5, -0.5, -0.6]) == 0.5


def test_errors_reach_back_as_far_as_moves_are_likely() -> None:
    plain = plain_one(lambda_=0.5)
    plain.learn_from([decision(0, [1], 0.0, 0.8), decision(1, [2], 1.0, 1.0)], 1.0)
    assert plain.weights[1:3].tolist() == pytest.approx([-0.4, 1.0])


def test_temporal_coherence_leaves_every_weight_the_least_part_of_the_step() -> None:
    """Errors that cancel out stop a weight, unless a part of the step is left to it."""
    moved = []
    for ratio in (0.0, 0.25):
        plain = plain_one(temporal_coherence=True, min_step_ratio=ratio)
        plain.model.error_sums[:] = 0.0, 4.0
        plain.model.update([3], 1.0, 0.5)
        moved.append(float(plain.weights[3]))
    assert moved == [0.0, 0.125]


def test_first_step_moves_the_value_towards_a_win_by_the_step_size() -> None:
    """Signs: the position before a win gains, to the player who wins; the one before it loses."""
    game = ConnectFour()
    plain = plain_one(lambda_=0.5)
    before, last = game.from_text("41414"), game.from_text("414142")
    assert game.is_terminal(game.result(last, 3))

    def value(s: Any) -> float:
        return plain.value(s, game.to_play(s))[0]

    errors = (0.0, 1.0 - value(last))
    path = [decision(game.to_play(s), plain.model.read(s), e) for s, e in zip((before, last), errors, strict=True)]
    plain.learn_from(path, 0.5 / plain.model.parts)
    assert value(last) == pytest.approx(math.tanh(0.5), abs=0.2)
    assert value(last) > 0 > value(before)


def test_same_seed_gives_the_same_weights_however_it_is_cut() -> None:
    ways = {"lambda_": 0.5, "shape": "linear", "games": 80, "half_life": 30}
    whole, pieces, other = learner(**ways), learner(**ways), learner(seed=2, **ways)
    whole.learn(60)
    for n in (1, 19, 40):
        pieces.learn(n)
    other.learn(60)
    assert same(whole, pieces)
    assert not same(whole, other)


def test_no_field_of_a_record_is_hidden_where_kernels_run_uncompiled() -> None:
    """There `io.trace` would be the method of that name."""
    model = LinearModel(ConnectFour())
    records = EpisodeLearner(model, SelfPlaySettings().suited(model)).io, model.record
    assert not {name for record in records for name in record.dtype.names or ()} & set(dir(np.record))


# --- checkpoints -------------------------------------------------------------------------------------------------
def test_checkpoint_of_other_settings_is_refused(tmp_path) -> None:
    file = tmp_path / "e.resume"
    learner(seed=3).save(file)
    with pytest.raises(DataError, match=r"was made with seed 3, now 1: give the same settings, or delete it"):
        learner().restore(file)
    other = PatternSet(patterns=[(0,)], note="", per_player=True)
    with pytest.raises(DataError, match="was made with patterns others"):
        learner(patterns=other, seed=3).restore(file)
    with pytest.raises(DataError, match="was made with schedule others"):
        learner(seed=3, half_life=9).restore(file)


def test_file_that_is_no_checkpoint_is_refused(tmp_path) -> None:
    file = tmp_path / "e.resume"
    file.write_bytes(b"no safetensors file")
    with pytest.raises(DataError, match=r"e\.resume is damaged, or no checkpoint .*: delete it to begin anew"):
        learner().restore(file)


def test_checkpoint_clears_up_after_one_that_was_killed_while_it_wrote(tmp_path) -> None:
    half, other = tmp_path / ".e[1].resume.77.tmp", tmp_path / ".f.resume.77.tmp"
    half.write_bytes(b"half of it")
    other.write_bytes(b"somebody else's")
    learner().save(tmp_path / "e[1].resume")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".f.resume.77.tmp", "e[1].resume"]


def test_checkpoint_of_another_size_is_refused(tmp_path) -> None:
    file, small = tmp_path / "e.resume", learner()
    size = len(small.weights)
    small.model.weights = small.weights[:5]
    small.save(file)
    with pytest.raises(DataError, match=rf"holds \(5,\) weights, not \({size},\)\): delete it"):
        learner().restore(file)
