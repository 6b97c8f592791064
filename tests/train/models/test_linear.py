"""Linear models that learn from their own searches: the kernel against its oracle, resumption, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from evallearn.errors import DataError, Diverged, SpecError
from evallearn.evaluators import LinearEval, heuristic
from evallearn.registry import get_game
from evallearn.train.draws import Draws
from evallearn.train.models.linear import LinearModel
from evallearn.train.selfplay.episodes import EpisodeLearner
from evallearn.train.selfplay.plain import Decision, PlainEpisodes
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.targets import SEARCH_TARGETS

PLAIN = {"initial": 0.4, "epsilon": 0.2, "lambda_": 0.6, "max_opening_plies": 4}
OWN = ("start", "features", "per_phase", "temporal_coherence")
COHERENT = {"temporal_coherence": True}
FAST = [
    ("tic_tac_toe", "tdleaf", {}),
    ("connect_four", "treestrap", {**COHERENT, "half_life": 2, "shape": "linear", "games": 9}),
    ("tic_tac_toe", "td", {**COHERENT, "features": ("centre", "open_twos"), "per_phase": False}),
]
LONG = [("tic_tac_toe", target, {}) for target in SEARCH_TARGETS]
SEEDS = {("connect_four", "tdleaf"): 3, ("chess", "tdleaf"): 2, ("chess", "treestrap"): 8}
"""Of two games from which something is learned: with seed 1 these see nothing but draws, or no quiet mate."""
CHESS = {"depth": 1, "max_opening_plies": 90}
LONG += [
    (game, target, {**(CHESS if game == "chess" else {}), "seed": SEEDS.get((game, target), 1)})
    for game in ("connect_four", "othello", "checkers", "chess")
    for target in SEARCH_TARGETS
]


def chosen(name: str, target: str | None, **given) -> tuple[LinearModel, SelfPlaySettings]:
    """A new model and how it learns; settings of all three classes side by side."""
    own = {name: given.pop(name) for name in OWN if name in given}
    step = {name: given.pop(name) for name in Schedule.known() if name in given}
    model = LinearModel(get_game(name), **own)
    return model, SelfPlaySettings(target=target, schedule=Schedule(**step), **given).suited(model)


def same_lessons(name: str, target: str, settings: dict, games: int) -> None:
    model, how = chosen(name, target, **{**PLAIN, **settings})
    kernel, plain = EpisodeLearner(model, how), PlainEpisodes(model, how)
    kernel.learn(games)
    for _ in range(games):
        plain.play()
    assert np.count_nonzero(plain.model.evaluator.w) > 2
    assert (kernel.games, kernel.moves, kernel.errors) == (plain.games, plain.moves, plain.errors)
    assert kernel.weights.tobytes() == plain.weights.tobytes()
    assert model.record["bias"][0].tobytes() == np.ascontiguousarray(plain.model.evaluator.w[:, -1]).tobytes()


def plain_one(name: str, target: str | None = None, **settings) -> PlainEpisodes:
    return PlainEpisodes(*chosen(name, target, **settings))


@pytest.mark.parametrize(("name", "target", "settings"), FAST, ids=str)
def test_kernel_learns_what_plain_python_learns_bit_for_bit(name, target, settings):
    same_lessons(name, target, settings, 40 if name == "tic_tac_toe" else 2)


@pytest.mark.long
@pytest.mark.parametrize(("name", "target", "settings"), LONG, ids=str)
def test_kernel_learns_what_plain_python_learns_in_every_game(name, target, settings):
    same_lessons(name, target, settings, 40 if name == "tic_tac_toe" else 2)


# --- what is learned ---------------------------------------------------------------------------------------------
def quick(name: str = "connect_four", target: str | None = None, **settings) -> SelfPlayTrainer:
    return SelfPlayTrainer(*chosen(name, target, **{"initial": 0.3, "max_opening_plies": 4, **settings}))


def test_it_learns_that_threats_win():
    game = get_game("connect_four")
    trainer = quick(**COHERENT)
    e = trainer.fit(games=400).freeze({"name": "mine"})
    assert (e.name, e.metadata["games"], e.metadata["method"]) == ("mine", 400, "treestrap")
    three = game.from_text("414142")
    assert e.evaluate(three, 0) > 0.5
    assert trainer.learner.nodes > trainer.learner.moves > 400


def test_treestrap_learns_only_what_bounds_contradict():
    """A lower bound below the evaluator, or an upper one above it, says nothing."""
    game = get_game("connect_four")
    plain = plain_one("connect_four", **COHERENT).model
    s = game.from_text("4")
    plain.visit(plain.read(s), Draws(0))
    plain.evaluator.w[:, -1] = 0.5  # EVAL = tanh(0.5) = 0.46 everywhere
    plain.on_node(s, 0.2, -1.0, 0.1)  # at least 0.2
    plain.on_node(s, 0.6, 0.7, 1.0)  # at most 0.6
    assert plain.notes == 0
    plain.on_node(s, 0.6, -1.0, 0.1)  # at least 0.6
    plain.on_node(s, 0.2, 0.7, 1.0)  # at most 0.2
    plain.on_node(s, 0.2, -1.0, 1.0)  # exactly 0.2
    assert plain.notes == 3


@pytest.mark.parametrize(
    ("position", "told"),
    [
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 0),  # the queen can be taken
        ("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", 0),  # a check must be answered
        ("7k/8/2p5/3p4/4Q3/8/8/4K3 w - - 0 1", 1),  # to take the pawn would cost the queen
    ],
)
def test_treestrap_learns_nothing_amid_exchanges(position, told):
    game = get_game("chess")
    plain = plain_one("chess")
    plain.model.evaluator.w[:, [game.feature_names.index(name) for name in ("pawns", "queens")]] = 0.1, 0.9
    plain.searches.searching.begin()
    plain.searches.searching.report_node(game.from_text(position), 0.5, -1.0, 1.0)
    assert plain.model.notes == told


@pytest.mark.parametrize("lambda_", [0.0, 0.5, 0.999999])
def test_td_targets_are_lambda_returns(lambda_, monkeypatch):
    """Against the definition: (1 - lambda) times the sum over n of lambda**(n-1) times the n-step return."""
    game = get_game("connect_four")
    plain = plain_one("connect_four", "td", lambda_=lambda_)
    texts, values = ["4", "44", "444", "4445"], [0.1, -0.2, 0.3, 0.05]
    states, end = [game.from_text(t) for t in texts], game.from_text("1212121")
    path = [Decision(game.to_play(s), t, [values[t]], [9.0], [0.0], 1.0) for t, s in enumerate(states)]
    plain.compare_with_next(path, end)
    taught = {}
    monkeypatch.setattr(plain.model, "predict", lambda t: 0.25)  # what it says by now
    monkeypatch.setattr(plain.model, "update", lambda t, error, step: taught.update({t: 0.25 + error}))
    plain.learn_from(path, 0.1)
    outcome = [game.utility(end, game.to_play(s)) for s in states]
    for t in range(4):
        sign = [1 if game.to_play(states[u]) == game.to_play(states[t]) else -1 for u in range(4)]
        steps = [sign[u] * values[u] for u in range(t + 1, 4)] + [outcome[t]]
        expected = sum((1 - lambda_) * lambda_**n * g for n, g in enumerate(steps[:-1]))
        expected += lambda_ ** (len(steps) - 1) * steps[-1]
        assert taught[t] == pytest.approx(expected, abs=1e-5)


def test_after_another_move_than_the_best_the_search_is_the_target():
    game = get_game("connect_four")
    plain, s = plain_one("connect_four", "td", lambda_=0.9), game.from_text("444")
    path = [Decision(game.to_play(s), None, [0.1], [0.25], [0.0], 0.0)]
    plain.compare_with_next(path, game.from_text("1212121"))
    assert path[0].error == pytest.approx([0.15])


# --- checkpoints -------------------------------------------------------------------------------------------------
def test_resumed_training_gives_the_same_bytes(tmp_path):
    file, ways = tmp_path / "e.resume", {**COHERENT, "half_life": 20}
    whole, first, resumed = (quick(**ways) for _ in range(3))
    whole.fit(games=60)
    first.fit(games=25, checkpoint=file)
    resumed.fit(games=60, checkpoint=file)
    assert resumed.model.record.tobytes() == whole.model.record.tobytes()
    ours, theirs = resumed.learner, whole.learner
    assert (ours.games, ours.moves, ours.nodes) == (theirs.games, theirs.moves, theirs.nodes)


def test_checkpoint_of_other_settings_is_refused(tmp_path):
    game, file = get_game("connect_four"), tmp_path / "e.resume"
    quick(**COHERENT).fit(games=2, checkpoint=file)
    with pytest.raises(DataError, match="was made with seed 1, now 2: give the same settings, or delete it"):
        quick(seed=2, **COHERENT).fit(games=4, checkpoint=file)
    begun = heuristic(game, "threats")
    with pytest.raises(DataError, match="was made with start others"):
        quick(start=begun, **COHERENT).fit(games=4, checkpoint=file)
    file.write_bytes(b"no safetensors file")
    with pytest.raises(DataError, match=r"e\.resume is damaged, or no checkpoint .*: delete it to begin anew"):
        quick(**COHERENT).fit(games=4, checkpoint=file)


# --- what goes wrong ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"target": "leaf"}, "unknown target 'leaf'"),
        ({"depth": 0}, "depth=0: give a whole number from 1 to"),
        ({"initial": 0.0}, "initial=0.0: give a number above 0"),
        ({"depth": 1, "target_epsilon": 0.5}, "target_epsilon=0.5: give 0 for a model whose moves are searched"),
        (
            {"depth": 1, "adversary_share": 0.5, "adversary_cell": 3},
            "adversary_share=0.5: give 0 for a model whose moves are searched",
        ),
        ({"learners": 2}, "learners=2: LinearModel does not merge; take 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(SpecError, match=match):
        quick(**settings)


def test_games_and_features_that_cannot_be_learned_are_refused():
    with pytest.raises(SpecError, match="backgammon has no rules with features, seen by the mover"):
        LinearModel(get_game("backgammon"))
    with pytest.raises(SpecError, match="unknown feature of connect_four 'queens'"):
        LinearModel(get_game("connect_four"), features=["queens"])
    with pytest.raises(SpecError, match="the evaluator to begin with is one of othello, not of connect_four"):
        LinearModel(get_game("connect_four"), start=LinearEval.zero(get_game("othello")))


def test_divergence_stops_and_keeps_the_last_good_weights():
    told = r"step_size=1e\+09 made a weight of connect_four grow to .* in game .*: lower it"
    with pytest.raises(Diverged, match=told) as caught:
        quick(initial=1e9, **COHERENT).fit(games=1000)
    assert np.isfinite(caught.value.training.evaluator.weights).all()
