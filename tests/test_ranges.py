"""Every number that can be given has a range, which is checked before work begins; too much memory is told."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from toys import LINES

from evallearn import get_game
from evallearn.agents import parse_agent, parse_limits
from evallearn.agents.options import search_options
from evallearn.arena import Adjudication, MatchSettings, Sprt
from evallearn.cli import cli, run
from evallearn.cli import games as games_command
from evallearn.cli.common import FloatRange, GameType, setting_options
from evallearn.core import memory
from evallearn.core.files import LONGEST_NAME, file_name, short_name, write_atomically
from evallearn.core.settings import SEED, SHARE, Range, Settings, number, setting, whole
from evallearn.core.trust import FULL_TRUST
from evallearn.data import RecordSettings
from evallearn.errors import EvallearnError, SpecError
from evallearn.evaluators import read_header
from evallearn.quality import QualitySettings
from evallearn.registry import game_names
from evallearn.runs.recipe import Recipe
from evallearn.runs.stage_settings import Fit, Gate, Generate, Ladder
from evallearn.search import SEARCHES
from evallearn.train import NetFitter
from evallearn.train.fit.methods import Settings as LinearSettings
from evallearn.train.models.net import NetModel, NetSettings
from evallearn.train.models.patterns import PatternModel, PatternSettings
from evallearn.train.selfplay.settings import Rounds, Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer

WORDS = (click.types.StringParamType, click.Path, click.types.BoolParamType, click.Choice, GameType)
"""The types of options that are no numbers; what numbers their words hold is tested below."""
HUGE = "9" * 25
ABSURD = ("-1", "0", HUGE, "9" * 5000, "nan", "inf", "-inf", "1e400", "1e-400", "", "²", "1_0", "\ud800")


# --- the command line ------------------------------------------------------------------------------------------------
def all_commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from all_commands(command, *names, name)
        elif command is not None:
            yield " ".join([*names, name]), command


PARAMETERS = [(name, p) for name, command in all_commands(cli) for p in command.params]
NUMBERS = [(name, p) for name, p in PARAMETERS if isinstance(p.type, (click.IntRange, click.FloatRange))]


def test_every_option_is_a_word_or_a_number_in_a_range() -> None:
    assert len(NUMBERS) > 60
    for name, p in PARAMETERS:
        if not isinstance(p.type, WORDS):
            assert isinstance(p.type, (click.IntRange, FloatRange)), (name, p.name)


@pytest.mark.parametrize(("name", "p"), NUMBERS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_what_is_out_of_range_is_refused(name: str, p: click.Parameter) -> None:
    low, high = p.type.min, p.type.max  # type: ignore[attr-defined]
    assert low is not None
    assert high is not None
    assert not p.type.clamp  # type: ignore[attr-defined]
    beyond = [str(low - 1), HUGE if high < float(HUGE) else "1e40", "-" + HUGE, "nan", "inf", "-inf"]
    for text in beyond:
        with pytest.raises(click.BadParameter):
            p.type.convert(text, p, None)
    default = p.default
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        assert p.type.convert(str(default), p, None) == default


@pytest.mark.parametrize(("name", "p"), NUMBERS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_what_is_absurd_is_refused_or_a_number_of_the_range(name: str, p: click.Parameter) -> None:
    refused = 0
    for text in (*ABSURD, "1e308", "-1e308", "1e24", "1" + "0" * 24, "x", " ", "0x10", "1,5", "--1"):
        try:
            value = p.type.convert(text, p, None)
        except click.BadParameter:
            refused += 1
        else:
            assert math.isfinite(value)
            assert p.type.min <= value <= p.type.max  # type: ignore[attr-defined]
    assert refused >= 15


def test_a_command_refuses_what_is_absurd_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Every one of them, before it looks at anything else."""
    for name, p in NUMBERS:
        for text in ("", "nan", HUGE * 20):
            given = [text] * p.nargs if p.opts[0].startswith("-") else []
            assert run([*name.split(), *([p.opts[0], *given] if given else ["tic_tac_toe", text])]) == 2
            told = capsys.readouterr()
            assert "Error: Invalid value for" in told.err or "Missing argument" in told.err
            assert told.out == ""


@pytest.mark.parametrize(
    "words", ["play tic_tac_toe", "selfplay tic_tac_toe --out x", "match random random --game pig"]
)
def test_seeds_are_what_all_generators_accept(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words.split(), f"--seed={SEED.high + 1}"]) == 2
    assert f"is not in the range 0<=x<={SEED.high}" in capsys.readouterr().err
    seeds = [p.type for _, p in NUMBERS if p.name == "seed"]
    assert len(seeds) >= 15
    assert {(s.min, s.max) for s in seeds} == {(SEED.low, SEED.high)}  # type: ignore[attr-defined]


def test_the_largest_seed_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of scikit-learn, torch, NumPy and our own generators."""
    seed, records = f"--seed={SEED.high}", str(tmp_path / "records")
    play = ["selfplay", "tic_tac_toe", "--games=20", "--limit=depth=1", "--out", records, "--workers=1", seed]
    assert run(play) == 0
    for method in ("net", "sgd"):
        made = str(tmp_path / f"{method}.safetensors")
        assert run(["fit", records, "--game=tic_tac_toe", f"--method={method}", "--out", made, seed]) == 0
    assert run(["check", "tic_tac_toe", "--games=1", seed]) == 0
    assert run(["play", "tic_tac_toe", "--you=none", "--opponent=random", seed]) == 0


# --- numbers inside words --------------------------------------------------------------------------------------------
def refuses(text: str, read: Any) -> None:
    """Every text is either read, or refused by an error of ours."""
    for value in ABSURD:
        with suppress(EvallearnError):
            read(text.format(value))


def test_limits_and_terms_take_no_absurd_numbers() -> None:
    for text in ("depth={}", "nodes={}", "time={}"):
        refuses(text, lambda t: str(parse_limits(t)))
    for text in ("{}", "0,{}", "0,5,alpha={}", "0,5,beta={}"):
        refuses(text, Sprt.from_text)
    for text in ("plies={}", "win={}x6", "win=0.9x{}", "draw=0.1x{}"):
        refuses(text, Adjudication.from_text)


@pytest.mark.parametrize("name", game_names())
def test_games_take_no_absurd_parameters_positions_and_actions(name: str) -> None:
    game = get_game(name)
    for parameter in game.parameters:
        refuses(f"{name},{parameter}={{}}", lambda t: get_game(t).board(get_game(t).initial()))
    refuses("{}", game.from_text)
    refuses("{}", lambda t: game.action_from_text(game.initial(), t))


def test_agents_take_no_absurd_options(monkeypatch: pytest.MonkeyPatch) -> None:
    tic_tac_toe, backgammon = get_game("tic_tac_toe"), get_game("backgammon")
    refuses("cmd:cat,timeout={}", lambda t: parse_agent(t, tic_tac_toe))
    refuses("gnubg:{}", lambda t: parse_agent(t, backgammon))
    games = {
        "expectiminimax": "pig,target=12",
        "maxn": "pig,target=12",
        "paranoid": "pig,target=12",
        "bestreply": "pig",
    }
    for search in SEARCHES:
        game = get_game(games.get(search, "tic_tac_toe"))
        limit = "nodes=3" if search in ("mcts", "flat") else "depth=1"
        numeric = [o for o, kind in search_options(search).items() if kind.wanted in ("a whole number", "a number")]
        for option in numeric:
            backend = ",backend=python" if "backend" in search_options(search) else ""
            refuses(
                f"{search},{option}={{}}{backend}:zero@{limit}", lambda t, game=game: parse_agent(t, game).prepare()
            )


def test_samples_and_width_that_no_kernel_holds_are_refused() -> None:
    game = get_game("pig,target=12")
    for option in ("samples", "width"):
        with pytest.raises(EvallearnError, match=f"{option}={HUGE}: give a whole number from"):
            parse_agent(f"expectiminimax,{option}={HUGE}:zero@depth=1", game).prepare()


@pytest.mark.parametrize("field", ["generate.games", "fit.penalty", "gate.pairs", "ladder.milliseconds", "neural.name"])
def test_recipes_take_no_absurd_numbers(field: str) -> None:
    game = get_game("tic_tac_toe")
    refuses("{}", lambda text: Recipe.load("linear", game, {field: text}))


# --- settings in Python ----------------------------------------------------------------------------------------------
SETTINGS = [
    RecordSettings, MatchSettings, Generate, Fit, Gate, Ladder, SelfPlaySettings, Schedule, PatternSettings,
    Rounds, NetSettings, QualitySettings,
]  # fmt: skip


def ranges_of(kind: Any) -> dict[str, Range]:
    if not issubclass(kind, Settings):
        return kind.RANGES
    return {name: known.allowed for name, known in kind.known().items() if known.allowed is not None}


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_every_number_of_a_class_of_settings_has_a_range(kind: Any) -> None:
    fields = {f.name: f for f in dataclasses.fields(kind)}
    numeric = {name for name, f in fields.items() if str(f.type).removesuffix(" | None") in ("int", "float")}
    assert numeric == set(ranges_of(kind))
    kind()
    for name, allowed in ranges_of(kind).items():
        assert allowed.is_whole == str(fields[name].type).startswith("int")
        for value in (allowed.high * 2 + 1, allowed.low - 1, math.nan, True, "1"):
            with pytest.raises(SpecError, match=f"^{name.rstrip('_')}=.*: give "):
                kind(**{name: value})


@dataclass(frozen=True, kw_only=True)
class Example(Settings):
    share_: float = setting(0.5, "How much.", SHARE)
    depth: int | None = setting(None, "Plies", whole(1, 9), auto="what suits")
    way: str = setting("python", "How.", choices=("python", "compiled"))
    quiet: bool = setting(False, "Say nothing.")


def test_settings_become_plain_json() -> None:
    assert Example(way="compiled").to_json() == {"share_": 0.5, "depth": None, "way": "compiled", "quiet": False}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"share_": 2}, "share=2: give a number from 0 to 1"),
        ({"share_": None}, "share=None: give a number from 0 to 1"),
        ({"depth": 0}, "depth=0: give a whole number from 1 to 9"),
        ({"way": "pyton"}, "unknown way 'pyton': did you mean 'python'"),
        ({"quiet": 1}, "quiet=1: give True or False"),
    ],
    ids=str,
)
def test_settings_refuse_what_they_do_not_take(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=f"^{re.escape(said)}"):
        Example(**given)


def test_settings_become_options() -> None:
    command = click.command()(setting_options(Example)(lambda **given: None))
    options = {option.name: option for option in command.params}
    assert [option.opts[0] for option in command.params] == ["--share", "--depth", "--way", "--quiet"]
    assert options["depth"].help == "Plies.  [default: what suits]"
    assert (options["share_"].default, options["depth"].default, options["quiet"].is_flag) == (0.5, None, True)


@pytest.mark.parametrize("kind", [LinearSettings, NetFitter], ids=["linear", "net"])
def test_every_number_of_a_fit_has_a_range(kind: Any) -> None:
    for name, allowed in kind.RANGES.items():
        assert allowed.high < math.inf
        assert name in kind.__init__.__code__.co_varnames


def test_ranges_say_what_they_take() -> None:
    said = {
        whole(1, 9): "a whole number from 1 to 9",
        number(at_least=0, at_most=1): "a number from 0 to 1",
        number(at_least=0.5, below=1): "a number from 0.5 to below 1",
        number(above=0, at_most=1): "a number above 0, at most 1",
        number(above=0, below=1): "a number above 0, below 1",
    }
    assert [str(allowed) for allowed in said] == list(said.values())
    half_open: Range = number(above=0, at_most=1)
    assert [x in half_open for x in (0, 1e-9, 1, 2, math.nan, True, "1", np.float32(0.5))] == [
        False, True, True, False, False, False, False, True,
    ]  # fmt: skip
    assert [x in whole(0, 9) for x in (0, 9, 10, 2.0, np.int64(3), False)] == [True, True, False, False, True, False]


# --- memory ----------------------------------------------------------------------------------------------------------
def numpy_asks_for_a_petabyte() -> None:
    np.zeros(1 << 50)


def torch_asks_for_a_petabyte() -> None:
    import torch

    torch.empty(1 << 50, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        (numpy_asks_for_a_petabyte, "Unable to allocate 8.00 PiB for an array with shape (1125899906842624,)"),
        (torch_asks_for_a_petabyte, "torch tried to allocate 1125899906842624 bytes"),
    ],
)
def test_out_of_memory_is_told_with_the_size(
    asks: Any, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(games_command, "report", lambda *given: asks())
    assert run(["games"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: out of memory (")
    assert told in shown
    assert "ask for smaller sizes" in shown


def test_another_error_of_torch_is_not_taken_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise RuntimeError("a tensor of the wrong memory format")

    monkeypatch.setattr(games_command, "report", fails)
    with pytest.raises(RuntimeError, match="wrong memory format"):
        run(["games"])


def test_what_the_machine_cannot_hold_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "physical_memory", lambda: 10**5)
    game = get_game("tic_tac_toe")
    with pytest.raises(SpecError, match=r"table_bits=20 takes 16.8 MB of memory, and this machine has 100 kB: ask for"):
        parse_agent("alphabeta,table_bits=20:zero@depth=1", game).prepare()
    with pytest.raises(SpecError, match=r"table_bits=20 takes 33.6 MB"):
        parse_agent("expectiminimax,table_bits=20:zero@depth=1", game).prepare()
    with pytest.raises(SpecError, match=r"learners=64 takes .* kB of memory"):
        SelfPlayTrainer(PatternModel(get_game("connect_four"), LINES), SelfPlaySettings(learners=64))
    with pytest.raises(SpecError, match=r"hidden=\(4096, 4096\) with \d+ features takes .* MB of memory"):
        NetModel(game, hidden=(4096, 4096))
    monkeypatch.setattr(memory, "physical_memory", lambda: None)  # as on Windows
    memory.require_memory(10**30, "everything")


@pytest.mark.parametrize(("size", "text"), [(1, "1 bytes"), (1500, "1.5 kB"), (7.5e9, "7.5 GB"), (3.2e15, "3,200 TB")])
def test_sizes_are_told_in_units(size: float, text: str) -> None:
    assert memory.shown(size) == text


# --- names of files --------------------------------------------------------------------------------------------------
def test_names_that_no_file_can_have_are_shortened(tmp_path: Path) -> None:
    assert file_name("pig,target=20") == "pig,target=20"
    assert file_name("a/b:c*d@depth=4") == "a_b_c_d@depth=4"
    long = [short_name(letter * 300 + ending) for letter in "aé" for ending in ("1", "2")]
    assert len(set(long)) == 4
    assert all(len(name.encode()) <= LONGEST_NAME for name in long)
    path = tmp_path / ("x" * 250)
    write_atomically(path, b"whole")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "text", ["a" * 300, "a" * 300 + ".safetensors", "a\0b", "a\0.safetensors", "\ud800", "zoo:" + "a" * 300]
)
def test_agents_that_no_file_can_be_called_are_unknown(text: str) -> None:
    with pytest.raises(EvallearnError):
        parse_agent(text, get_game("tic_tac_toe"))


def test_files_and_programs_that_none_can_be_called_are_told() -> None:
    with pytest.raises(EvallearnError, match="no evaluator file a"):
        read_header("a" * 300)
    with pytest.raises(EvallearnError, match="no program '/a"):
        parse_agent("cmd:/" + "a" * 300, get_game("tic_tac_toe"), trust=FULL_TRUST)


LONG_NAMES = """
from evallearn.games.tic_tac_toe import TicTacToe


class LongHeuristic(TicTacToe):
    name = "long"
    heuristics = {"h" * 300: TicTacToe.heuristics["lines"], "squares": TicTacToe.heuristics["squares"]}


class LongGame(TicTacToe):
    name = "g" * 300
"""


@pytest.mark.parametrize("name", ["LongHeuristic", "LongGame"])
def test_names_of_any_length_are_played_and_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "longnames.py").write_text(LONG_NAMES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    game = get_game(f"longnames:{name}", trust=FULL_TRUST)
    best = f"handwritten:{next(iter(game.heuristics))}"
    few = ["--pairs=1", "--workers=1", "--limit=depth=1"]
    assert run(["match", best, "random", "--game", f"longnames:{name}", *few]) == 0
    assert run(["tournament", best, "random", "--game", f"longnames:{name}", *few]) == 0
    small = {"gate.generations": 1, "gate.pairs": 1, "ladder.pairs": 1}
    small |= {f"{stage}.depth": 1 for stage in ("generate", "gate", "ladder")} | {"ladder.milliseconds": 0.1}
    learn = ["--games=100", "--workers=1", *(f"--set={key}={value}" for key, value in small.items())]
    assert run(["learn", f"longnames:{name}", *learn]) == 0
