"""One switch for the target: blended labels, quiet leaves against a plain oracle, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evallearn.agents import SearchAgent, parse_evaluator
from evallearn.cli import run
from evallearn.core.search import Limits
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.errors import SpecError
from evallearn.evaluators import LinearEval, heuristic
from evallearn.registry import get_game
from evallearn.runs import fit_evaluator
from evallearn.runs.stage_settings import Fit
from evallearn.train.fit.record_targets import quiet_scale
from evallearn.train.leaves import BlendedStream, QuietStream
from evallearn.train.models.linear import LinearModel
from evallearn.train.selfplay.plain import PlainEpisodes
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.targets import LINEAR_TARGETS


@pytest.fixture(scope="module")
def checkers(tmp_path_factory) -> Dataset:
    """A few quick games, in which much is taken."""
    game, folder = get_game("checkers"), tmp_path_factory.mktemp("checkers")
    agent = SearchAgent(game, parse_evaluator("handwritten:material", game), Limits(depth=1))
    generate_records(folder, game, [agent, agent], RecordSettings(games=12, opening_plies=8, epsilon=0.3))
    return Dataset(folder, game=game, test_share=0.3)


def test_quiet_leaves_are_those_of_the_plain_search(checkers):
    game = get_game("checkers")
    evaluator = heuristic(game, "material")
    model = LinearModel(game, start=evaluator)
    plain = PlainEpisodes(model, SelfPlaySettings(target="tdleaf", depth=1).suited(model)).searches
    plain.searching.begin()
    rows = list(checkers.states(game))[:150]
    leaves = [(r, s, plain.leaf_of(s, ())) for s, r in rows]
    kept = [(r, s, leaf) for r, s, leaf in leaves if not game.is_terminal(leaf)]
    batch = next(iter(QuietStream(checkers, evaluator).batches("all")))
    assert any(leaf != s for _, s, leaf in kept)
    for i, (record, s, leaf) in enumerate(kept):
        assert batch.features[i].tolist() == [float(x) for x in game.features(leaf, game.to_play(leaf))]
        assert batch.phase[i] == game.phase(leaf)
        assert batch.outcome[i] == record.outcome * (1 if game.to_play(leaf) == game.to_play(s) else -1)


def test_a_game_without_quiescence_is_quiet_everywhere(tmp_path):
    game = get_game("tic_tac_toe")
    agent = SearchAgent(game, parse_evaluator("zero", game), Limits(depth=1))
    generate_records(tmp_path, game, [agent, agent], RecordSettings(games=5, opening_plies=1))
    dataset = Dataset(tmp_path, game=game)
    quiet, own = (next(iter(d.batches("all"))) for d in (QuietStream(dataset, LinearEval.zero(game)), dataset))
    assert quiet.features.tobytes() == own.features.tobytes()


def test_blend_is_between_the_outcome_and_the_search(checkers):
    records = list(checkers.records("all"))
    for share in (0.0, 0.25, 1.0):
        batch = next(iter(BlendedStream(checkers, share).batches("all")))
        wanted = [share * r.outcome + (1 - share) * r.value for r in records]
        assert batch.outcome.tolist() == pytest.approx(wanted, abs=1e-6)


def test_scale_of_the_leaves_finds_the_factor_that_was_hidden(checkers):
    """The evaluator's own values as outcomes give K = 1; those of half the weights K = 1/2."""
    game = get_game("checkers")
    evaluator = heuristic(game, "material")
    stream = QuietStream(checkers, evaluator)
    batch = next(iter(stream.batches("all")))
    raw = np.einsum("ij,ij->i", batch.features, evaluator.weights[batch.phase].astype(float))
    for k in (1.0, 0.5):
        batch.outcome[:] = np.tanh(k * raw)
        stream.batches = lambda split: iter([batch])
        assert quiet_scale(stream) == pytest.approx(k, abs=0.01)


def test_texel_tells_its_scale_and_differs_from_outcome(checkers):
    game = get_game("checkers")
    outcome, _ = fit_evaluator("logistic", checkers, game, seed=1, metadata={})
    texel, details = fit_evaluator("logistic", checkers, game, seed=1, metadata={}, target="texel")
    assert details["k"] > 0
    assert texel.metadata["target"] == "texel"
    assert texel.weights.tobytes() != outcome.weights.tobytes()


def test_what_records_cannot_teach_is_refused(checkers, tmp_path, capsys):
    game = get_game("checkers")
    with pytest.raises(SpecError, match="target 'treestrap' learns while it plays, not from records: use `evallearn"):
        fit_evaluator("logistic", checkers, game, seed=1, metadata={}, target="treestrap")
    with pytest.raises(SpecError, match="method 'net' knows no target texel: leave it out"):
        fit_evaluator("net", checkers, game, seed=1, metadata={}, target="texel")
    with pytest.raises(SpecError, match="unknown target 'leaf'"):
        Fit(target="leaf")
    with pytest.raises(SpecError, match="outcome_share=1.5: give a number from 0 to 1"):
        Fit(target="blend", outcome_share=1.5)
    with pytest.raises(SpecError, match="method 'net' knows no target texel"):
        Fit(method="net", target="texel")
    out = tmp_path / "e.safetensors"
    arguments = ["fit", str(checkers.folders[0]), "--game", "checkers", "--target", "tdleaf", "--out", str(out)]
    assert run(arguments) == 2
    assert "learns while it plays" in capsys.readouterr().err
    assert not out.exists()


def test_a_game_that_cannot_learn_while_it_plays_is_refused_before_anything_is_played(tmp_path, capsys):
    assert run(["learn", "pig", "--recipe", "online", "--run", str(tmp_path / "r")]) == 2
    assert "pig has no rules with features, seen by the mover: targets that learn while" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_every_target_is_offered():
    assert LINEAR_TARGETS == ("outcome", "blend", "texel", "td", "tdleaf", "rootstrap", "treestrap")


def test_learn_by_treestrap_leaves_an_eval_and_resumes(tmp_path, capsys):
    small = {"selfplay.model.temporal_coherence": "true", "selfplay.depth": 1, "gate.generations": 2, "gate.pairs": 4}
    small |= {"gate.depth": 1, "ladder.pairs": 4, "ladder.depth": 1, "ladder.milliseconds": 1}
    arguments = ["learn", "connect_four", "--recipe=online", "--games=100", "--workers=1"]
    arguments += [*(f"--set={key}={value}" for key, value in small.items()), "--run", str(tmp_path / "r"), "--json"]
    assert run(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert [g["games"] for g in first["generations"]] == [100, 100]
    assert {row["name"] for row in first["ladder"]} >= {"linear", "random"}
    assert not list(tmp_path.glob("r/selfplay-*/checkpoint*"))
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["generations"] == first["generations"]
