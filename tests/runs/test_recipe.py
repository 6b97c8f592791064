"""Recipes: what they say, what a person changes, and what is refused, with its place and its remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evallearn import game_names, get_game
from evallearn.cli import run
from evallearn.errors import SpecError
from evallearn.runs import Recipe
from evallearn.runs.models import PatternOptions
from evallearn.runs.recipe import recipe_names
from evallearn.runs.stage_settings import Fit, Generate, SelfPlay

C4 = get_game("connect_four")
STAGES = """
help = "Two stages."
[[stage]]
verb = "generate"
games = 100
[[stage]]
verb = "fit"
name = "last"
[game.connect_four.stage.last]
target = "blend"
[game.pig]
stage = [{ verb = "generate", games = 7 }]
[game.pig.ladder]
pairs = 3
"""


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """own(text): the recipe of a file, for Connect Four."""

    def load(text: str, given: dict[str, Any] | None = None, game: str = "connect_four") -> Recipe:
        path = tmp_path / "own.toml"
        path.write_text(text)
        return Recipe.load(path, get_game(game), given)

    return load


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_suits_every_game_and_prints_as_itself(name, tmp_path, capsys):
    for game in game_names():
        assert Recipe.load(name, get_game(game)).stages
    capsys.readouterr()
    assert run(["recipes", name]) == 0
    path = tmp_path / f"{name}.toml"
    path.write_text(capsys.readouterr().out)
    assert Recipe.load(path, C4).flat() == Recipe.load(name, C4).flat()


def test_the_command_lists_all(capsys):
    assert run(["recipes", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["recipes"]) == recipe_names()
    assert run(["recipes"]) == 0
    assert "pattern tables" in capsys.readouterr().out.lower()
    assert run(["recipes", "patterns", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["selfplay.model.kind"] == "patterns"


def test_a_game_has_fields_or_stages_of_its_own(own):
    ours, pigs = own(STAGES), own(STAGES, game="pig")
    assert [type(stage) for stage in ours.stages] == [Generate, Fit]
    assert (ours.stages[1].target, ours.stages[1].called, ours.ladder.pairs) == ("blend", "last", 0)
    assert own(STAGES, game="chess").stages[1].target == "outcome"
    assert ([stage.games for stage in pigs.stages], pigs.ladder.pairs) == ([7], 3)


def test_what_a_person_sets_is_read_as_toml_or_as_text(own):
    given = {"games": 5, "0.quiet": "true", "last.target": "texel", "generate.player": "mine.safetensors",
             "generate.depth": "auto", "ladder.pairs": "9", "generate.epsilon": "1"}  # fmt: skip
    recipe = own(STAGES, given)
    generate, fit = recipe.stages
    assert isinstance(generate, Generate)
    assert (generate.games, generate.quiet, generate.player, generate.depth) == (5, True, "mine.safetensors", None)
    assert (fit.target, recipe.ladder.pairs, repr(generate.epsilon)) == ("texel", 9, "1.0")
    assert {"0.games", "0.quiet", "1.target", "ladder.pairs"} <= recipe.touched


def test_a_name_that_several_stages_have_means_all_of_them():
    recipe = Recipe.load("generations", C4, {"fit.penalty": 2, "3.outcome_share": 0.5})
    fits = [stage for stage in recipe.stages if isinstance(stage, Fit)]
    assert [fit.penalty for fit in fits] == [2.0] * 3
    assert [fit.outcome_share for fit in fits] == [0.2, 0.5, 0.1]
    assert "3.outcome_share" in recipe.flat()


def test_the_step_falls_to_the_end_of_the_games_if_that_is_known():
    def schedule(**given: Any) -> tuple[str, int]:
        stage = Recipe.load("patterns", C4, {k.replace("__", "."): v for k, v in given.items()}).stages[0]
        assert isinstance(stage, SelfPlay)
        return stage.learning.schedule.shape, stage.learning.schedule.games

    assert schedule(games=300) == ("linear", 300)
    assert schedule(minutes=3) == ("constant", 0)
    assert schedule(minutes=3, games=300) == ("linear", 300)
    assert schedule(games=300, selfplay__schedule__games=400) == ("linear", 400)
    assert schedule(games=300, selfplay__schedule__shape="constant") == ("constant", 0)


def test_nested_fields_are_set_by_their_path():
    given = {"selfplay.model.patterns": "walks", "selfplay.schedule.initial": "2", "selfplay.lambda": 0.5}
    stage = Recipe.load("patterns", C4, given).stages[0]
    assert isinstance(stage, SelfPlay)
    assert isinstance(stage.model, PatternOptions)
    assert (stage.model.patterns, stage.learning.schedule.initial, stage.learning.lambda_) == ("walks", 2.0, 0.5)


ONE = 'help = "x"\n[[stage]]\nverb = "generate"\n'
REFUSED = {
    "[": r"is no TOML \(",
    "x = " + "[" * 50_000: "is no TOML",
    "x = " + "9" * 5000: "is no TOML",
    "": "has no help: give it one sentence",
    'help = "x"': "has no stages for connect_four: give it 1 to 100 tables",
    'help = "x"\nhelpp = 1': "unknown key 'helpp': did you mean 'help'?",
    'help = "x"\nstage = 3': "has no stages",
    'help = "x"\nstage = [3]': "stage 0 is no table",
    'help = "x"\n[[stage]]\nverb = "generat"': r"stage 0 \(generat\): unknown verb 'generat': did you mean 'generate'",
    ONE + "gams = 3": r"stage 0 \(generate\): unknown field 'gams': did you mean 'games'",
    ONE + "seed = 3": "unknown field 'seed'",
    ONE + 'games = "3"': "games='3': give a whole number",
    ONE + "games = true": "games=True: give a whole number",
    ONE + "games = 0": "games=0: give a whole number from 1 to",
    ONE + "epsilon = nan": "epsilon=nan: give a number from 0 to 1",
    ONE + "quiet = 1": "quiet=1: give true or false",
    ONE + "player = 1979-05-27": "player=.*: give a text",
    ONE + "games = { a = 1 }": "games=.*: give a whole number",
    ONE + 'player = "cmd:sh"': "player='cmd:sh' is not shipped, and a file may name nothing else: give previous, zero,",
    ONE + 'player = "../x.safetensors"': "is not shipped",
    ONE + 'verbs = "x"': "unknown field 'verbs'",
    ONE + '[game.connect_four.stage.fit]\ntarget = "x"': "game.connect_four: unknown stage 'fit'",
    ONE + "[game.connect_four]\nx = 1": "unknown key 'x'",
    'help = "x"\n[[stage]]\nverb = "fit"': "has no records to learn from: put a stage generate before it",
    ONE + '[[stage]]\nverb = "gate"': "has nobody to promote: put a stage fit or selfplay before it",
    'help = "x"\n[[stage]]\nverb = "selfplay"': "it has no end: give games, or minutes",
    'help = "x"\n[[stage]]\nverb = "selfplay"\nmodel = { kind = "x" }': "unknown kind of model 'x'",
    'help = "x"\n[[stage]]\nverb = "selfplay"\nmodel = 3': "model is no table",
    'help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\npairs = 1': "pairs=1 tell nothing of the error",
    'help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\nschedule = { shape = "x" }': "schedule: unknown shape 'x'",
    'help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\nmodel = { hidden = 8 }': "model: unknown field 'hidden'",
    'help = "x"\n[[stage]]\nverb = ["x"]': "unknown verb",
    'help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\nmodel = { kind = [] }': "unknown kind of model",
    'help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\nlearning = 3': "give the fields of learning themselves",
    ONE + "[ladder]\npairs = -1": "ladder: pairs=-1: give a whole number",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: REFUSED[text][:40])
def test_what_no_recipe_says_is_refused(text, own):
    with pytest.raises(SpecError, match=f"own.toml.*{REFUSED[text]}"):
        own(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"generat.games": 3}, "--set generat.games: unknown stage 'generat': did you mean 'generate'"),
        ({"9.games": 3}, "--set 9.games: unknown stage '9': .*or a number below 2"),
        ({"generate": 3}, "--set generate: give STAGE.FIELD=VALUE"),
        ({"generate.games.x": 3}, "games has no fields"),
        ({"minutes": 0}, "minutes=0: give a number above 0"),
        ({"games": 0}, "games=0: give a whole number"),
    ],
    ids=str,
)
def test_what_cannot_be_set_is_refused(given, said, own):
    with pytest.raises(SpecError, match=said):
        own(STAGES, given)


def test_unknown_recipes_and_files_are_refused(tmp_path):
    with pytest.raises(SpecError, match=r"unknown recipe 'liner': did you mean 'linear'.* or give the path of a .toml"):
        Recipe.load("liner", C4)
    with pytest.raises(SpecError, match=r"gone.toml cannot be read \(No such file or directory\): check the path"):
        Recipe.load(tmp_path / "gone.toml", C4)
    (tmp_path / "large.toml").write_text("#" * 2_000_000)
    with pytest.raises(SpecError, match="is longer than 1,000,000 bytes: give a shorter one"):
        Recipe.load(tmp_path / "large.toml", C4)
