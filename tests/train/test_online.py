"""Linear Evals that learn from their own searches: the kernel against its oracle, resumption, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from evallearn.errors import DataError, SpecError
from evallearn.evaluators import LinearEval
from evallearn.registry import get_game
from evallearn.train.online import OnlineLearner, OnlineSettings
from evallearn.train.online_plain import PlainOnline
from evallearn.train.online_trainer import OnlineTrainer
from evallearn.train.targets import SEARCH_TARGETS

PLAIN = {"alpha": 0.4, "epsilon": 0.2, "lambda_": 0.6, "opening_plies": 4}
FAST = [
    ("tic_tac_toe", "tdleaf", {}),
    ("connect_four", "treestrap", {"coherence": True, "half_life": 2, "horizon": 9}),
    ("tic_tac_toe", "td", {"coherence": True, "only": ("centre", "open_twos"), "by_phase": False}),
]
LONG = [("tic_tac_toe", target, {}) for target in SEARCH_TARGETS]
SEEDS = {("connect_four", "tdleaf"): 3, ("chess", "tdleaf"): 2, ("chess", "treestrap"): 8}
"""Of two games from which something is learned: with seed 1 these see nothing but draws, or no quiet mate."""
CHESS = {"depth": 1, "opening_plies": 90}
LONG += [
    (game, target, {**(CHESS if game == "chess" else {}), "seed": SEEDS.get((game, target), 1)})
    for game in ("connect_four", "othello", "checkers", "chess")
    for target in SEARCH_TARGETS
]


def same_lessons(name: str, target: str, settings: dict, games: int) -> None:
    game, chosen = get_game(name), OnlineSettings(target=target, **{**PLAIN, **settings})
    kernel, plain = OnlineLearner(game, chosen), PlainOnline(game, chosen)
    kernel.learn(games)
    for _ in range(games):
        plain.play()
    assert np.count_nonzero(plain.eval.w) > 2
    assert (kernel.games, kernel.moves, kernel.errors) == (plain.games, plain.moves, plain.errors)
    assert kernel.weights.tobytes() == np.ascontiguousarray(plain.eval.w[:, :-1]).tobytes()
    assert kernel.params["bias"][0].tobytes() == np.ascontiguousarray(plain.eval.w[:, -1]).tobytes()


@pytest.mark.parametrize(("name", "target", "settings"), FAST, ids=str)
def test_kernel_learns_what_plain_python_learns_bit_for_bit(name, target, settings):
    same_lessons(name, target, settings, 40 if name == "tic_tac_toe" else 2)


@pytest.mark.long
@pytest.mark.parametrize(("name", "target", "settings"), LONG, ids=str)
def test_kernel_learns_what_plain_python_learns_in_every_game(name, target, settings):
    same_lessons(name, target, settings, 40 if name == "tic_tac_toe" else 2)


# --- what is learned ---------------------------------------------------------------------------------------------
def quick(target: str = "treestrap", **settings) -> OnlineTrainer:
    return OnlineTrainer(target, **{"alpha": 0.3, "opening_plies": 4, **settings})


def test_it_learns_that_threats_win_and_its_loss_falls():
    game, errors = get_game("connect_four"), []
    trainer = quick(coherence=True).fit(game, games=400, on_progress=lambda now: errors.append(now.error))
    e = trainer.evaluator({"name": "mine"})
    assert (e.name, e.made["games"], e.made["method"]) == ("mine", 400, "treestrap")
    three = game.from_text("414142")
    assert e.evaluate(three, 0) > 0.5
    assert trainer.nodes_ > trainer.moves_ > 400


def test_treestrap_learns_only_what_bounds_contradict():
    """A lower bound below the Eval, or an upper one above it, says nothing."""
    game = get_game("connect_four")
    plain = PlainOnline(game, OnlineSettings(coherence=True))
    s = game.from_text("4")
    plain.see(s)
    plain.eval.w[:, -1] = 0.5  # EVAL = tanh(0.5) = 0.46 everywhere
    plain.note_node(s, 0.2, -1.0, 0.1)  # at least 0.2
    plain.note_node(s, 0.6, 0.7, 1.0)  # at most 0.6
    assert plain.notes == 0
    plain.note_node(s, 0.6, -1.0, 0.1)  # at least 0.6
    plain.note_node(s, 0.2, 0.7, 1.0)  # at most 0.2
    plain.note_node(s, 0.2, -1.0, 1.0)  # exactly 0.2
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
    plain = PlainOnline(game, OnlineSettings())
    plain.eval.w[:, [game.feature_names.index(name) for name in ("pawns", "queens")]] = 0.1, 0.9
    plain.searching.begin()
    plain.searching.tell(game.from_text(position), 0.5, -1.0, 1.0)
    assert plain.notes == told


@pytest.mark.parametrize("lambda_", [0.0, 0.5, 1.0])
def test_td_targets_are_lambda_returns(lambda_, monkeypatch):
    """Against the definition: (1 - lambda) times the sum over n of lambda**(n-1) times the n-step return."""
    game = get_game("connect_four")
    if lambda_ == 1.0:
        lambda_ = 0.999999  # the settings end below 1
    plain = PlainOnline(game, OnlineSettings(target="td", lambda_=lambda_))
    texts, values = ["4", "44", "444", "4445"], [0.1, -0.2, 0.3, 0.05]
    states, end = [game.from_text(t) for t in texts], game.from_text("1212121")
    kept = [[s, v, 9.0, s, False] for s, v in zip(states, values, strict=True)]
    taught = []
    monkeypatch.setattr(plain, "teach", lambda x, k, target, rate: taught.append(target))
    plain.teach_game(end, kept, 0.1)
    outcome = [game.utility(end, game.to_play(s)) for s in states]
    for t in range(4):
        sign = [1 if game.to_play(states[u]) == game.to_play(states[t]) else -1 for u in range(4)]
        steps = [sign[u] * values[u] for u in range(t + 1, 4)] + [outcome[t]]
        expected = sum((1 - lambda_) * lambda_**n * g for n, g in enumerate(steps[:-1]))
        expected += lambda_ ** (len(steps) - 1) * steps[-1]
        assert taught[t] == pytest.approx(expected, abs=1e-5)


def test_after_another_move_than_the_best_the_search_is_the_target(monkeypatch):
    game = get_game("connect_four")
    plain = PlainOnline(game, OnlineSettings(target="td", lambda_=0.9))
    taught = []
    monkeypatch.setattr(plain, "teach", lambda x, k, target, rate: taught.append(target))
    s = game.from_text("444")
    plain.teach_game(game.from_text("1212121"), [[s, 0.1, 0.25, s, True]], 0.1)
    assert taught == [0.25]


# --- checkpoints -------------------------------------------------------------------------------------------------
def test_resumed_learning_gives_the_same_bytes(tmp_path):
    game, file = get_game("connect_four"), tmp_path / "e.resume"
    whole = quick(coherence=True, half_life=20).fit(game, games=60)
    quick(coherence=True, half_life=20).fit(game, games=25, checkpoint=file)
    resumed = quick(coherence=True, half_life=20).fit(game, games=60, checkpoint=file)
    assert resumed.weights_.tobytes() == whole.weights_.tobytes()
    assert resumed.bias_.tobytes() == whole.bias_.tobytes()
    assert (resumed.games_, resumed.moves_, resumed.nodes_) == (whole.games_, whole.moves_, whole.nodes_)


def test_checkpoint_of_other_settings_is_refused(tmp_path):
    game, file = get_game("connect_four"), tmp_path / "e.resume"
    quick(coherence=True).fit(game, games=2, checkpoint=file)
    with pytest.raises(DataError, match="was made with seed 1, now 2: give the same settings, or delete it"):
        quick(coherence=True, seed=2).fit(game, games=4, checkpoint=file)
    begun = LinearEval.from_heuristic(game, "threats")
    with pytest.raises(DataError, match="was made with start others"):
        quick(coherence=True, start=begun).fit(game, games=4, checkpoint=file)
    file.write_bytes(b"no safetensors file")
    with pytest.raises(DataError, match=r"e\.resume is damaged, or no checkpoint .*: delete it to begin anew"):
        quick(coherence=True).fit(game, games=4, checkpoint=file)


# --- what goes wrong ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"target": "leaf"}, "unknown target of games against itself 'leaf'"),
        ({"depth": 0}, "depth=0: give a whole number from 1 to"),
        ({"alpha": 0.0}, "alpha=0.0: give a number above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(SpecError, match=match):
        OnlineSettings(**settings)


def test_games_and_features_that_cannot_be_learned_are_refused():
    with pytest.raises(SpecError, match="backgammon has no rules with features, seen by the mover"):
        quick().fit(get_game("backgammon"), games=1)
    with pytest.raises(SpecError, match="unknown feature of connect_four 'queens'"):
        quick(only=["queens"]).fit(get_game("connect_four"), games=1)
    with pytest.raises(SpecError, match="the Eval to begin with is one of othello, not of connect_four"):
        quick(start=LinearEval.zero(get_game("othello"))).fit(get_game("connect_four"), games=1)


def test_divergence_stops_and_keeps_the_last_good_weights():
    trainer = quick(alpha=1e9, coherence=True)
    with pytest.raises(SpecError, match=r"alpha=1e\+09 made a weight of connect_four grow to .* in game .*: lower it"):
        trainer.fit(get_game("connect_four"), games=1000)
    assert np.isfinite(trainer.weights_).all()
