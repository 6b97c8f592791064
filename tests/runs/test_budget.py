"""The numbers of a run suit the speed of a game without compiled rules; nothing else depends on the machine."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from toys import CoinRace, LongTakeaway, Takeaway

from evallearn import game_names, get_game
from evallearn.cli import run
from evallearn.core.checksum import CHECKSUM, read_checked, write_checked
from evallearn.core.game import Game
from evallearn.errors import DataError, SpecError
from evallearn.runs import Recipe, Run, budget
from evallearn.runs.budget import LEAST_SHARE, SECONDS, choose, estimate, numbers, scaled_fields
from evallearn.runs.recipe import PLAYED
from evallearn.runs.speed import GameSpeed
from evallearn.runs.stage_settings import Generate, SelfPlay
from evallearn.runs.stages import games_per_shard


def a_speed(*search_seconds: float, moves: float = 10.0, **more: float) -> GameSpeed:
    """Of a game whose searches take so long."""
    figures = {"positions_per_second": 1e4, "move_seconds": 0.0, "neural_seconds": 0.0, "luck_seconds": 0.0, **more}
    return GameSpeed(moves=moves, search_seconds=search_seconds, leaf_calls=(10.0,) * len(search_seconds), **figures)


SLOW = a_speed(0.001, 0.004, move_seconds=0.2)
"""So slow that the least run is chosen."""


@pytest.fixture
def speed_is(monkeypatch: pytest.MonkeyPatch) -> Any:
    """speed_is(GameSpeed): what every measurement finds; returns the list of those that were made."""
    made: list[int] = []

    def set_it(found: GameSpeed) -> list[int]:
        def measured(workers: int, game: Game, depth: int, *more: Any, **options: Any) -> GameSpeed:
            made.append(depth)
            return found

        monkeypatch.setattr(budget, "measure_together", measured)
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        return made

    return set_it


NAMES = {"games": "0.games", "depth": "0.depth", "generations": "2.generations", "pairs": "2.pairs",
         "match_depth": "2.depth", "milliseconds": "ladder.milliseconds"}  # fmt: skip
USUAL = {"games": 12000, "pairs": 1000, "depth": 4, "match_depth": 4, "generations": 3, "milliseconds": 2.0}
"""What is chosen where there is time enough: what a game with compiled rules gets."""


def linear(game: Game, **given: Any) -> Recipe:
    """The default recipe; what is given goes by the short names."""
    return Recipe.load("linear", game, {NAMES.get(k, k): v for k, v in given.items()})


class Crowd(Takeaway):
    """Six players: 62 games for an opening."""

    name = "crowd"
    n_players = 6
    zero_sum = False


# --- what is chosen --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("game", "speed", "workers", "wanted"),
    [
        (Takeaway(), a_speed(1e-6, 1e-6, 1e-6, 1e-6), 2, USUAL),
        (Takeaway(), a_speed(1e-4, 5e-4, 2e-3, 8e-3), 2, {"depth": 4, "generations": 3, "milliseconds": 8.0}),
        (Takeaway(), a_speed(1e-3, 4e-3, 1e-2, 1.0), 2, {"depth": 3, "match_depth": 3, "milliseconds": 10.0}),
        (Takeaway(), a_speed(5e-3, 9.0), 2, {"depth": 1, "match_depth": 1, "generations": 3}),
        (Takeaway(), a_speed(0.4), 2, {"depth": 1, "games": 100, "pairs": 8, "generations": 1}),
        (Takeaway(), a_speed(0.1), 16, {"depth": 1, "generations": 3}),
        (CoinRace(), a_speed(1e-2, luck_seconds=0.1), 2, {"depth": 1, "match_depth": 1}),
        (Crowd(), a_speed(1e-4, 5e-4, 2e-3), 2, {"depth": 3, "pairs": 19}),
        (Takeaway(), a_speed(1e-3, 4e-3, moves=2000), 2, {"depth": 1}),
    ],
    ids=["quick", "usual", "slow", "slower", "slowest", "many cores", "dice", "many players", "long"],
)  # fmt: skip
def test_numbers_suit_the_speed(
    speed_is: Any, tmp_path: Path, game: Game, speed: GameSpeed, workers: int, wanted: dict[str, Any]
) -> None:
    speed_is(speed)
    recipe, measured = choose(game, tmp_path, linear(game), 1, workers)
    chosen = numbers(recipe, scaled_fields(recipe))
    assert {name: chosen[NAMES[name]] for name in wanted} == wanted
    assert measured is not None
    assert measured["chosen"] == chosen
    assert measured["seconds"] == estimate(game, recipe, speed, workers) <= 0.6 * SECONDS


times = st.floats(1e-6, 100.0)


@settings(max_examples=40)
@example(search=(33.0, 33.0, 33.0, 33.0), moves=1.0, workers=16, players=1)  # moves take longer than matches give them
@drawn(st.tuples(times, times, times, times), st.floats(1, 5000), st.integers(1, 16), st.sampled_from((1, 2, 3, 6)))
def test_no_run_takes_longer_than_it_may(search: Any, moves: float, workers: int, players: int) -> None:
    game = type("Some", (Takeaway,), {"n_players": players})()
    speed, usual = a_speed(*sorted(search), moves=moves), at_depth_4(game)
    free = scaled_fields(usual)
    found = budget.fit_into(game, usual, free, speed, workers, 0.6 * SECONDS)
    if found is None:
        least = budget._at_depth(usual, free, 1, speed)
        least = least.changed({"0.games": 100, "2.pairs": 8, "ladder.pairs": 8, "2.generations": 1})
        assert estimate(game, least, speed, workers) > 0.6 * SECONDS
    else:
        assert estimate(game, found, speed, workers) <= 0.6 * SECONDS
        assert numbers(found, ["0.games"])["0.games"] >= 12000 * LEAST_SHARE


def at_depth_4(game: Game) -> Recipe:
    return linear(game).changed({"0.depth": 4, "2.depth": 4, "ladder.depth": 4})


def test_more_time_gives_more_games() -> None:
    speed = a_speed(1e-3, 4e-3, 1e-2, 2e-2)
    usual = at_depth_4(Takeaway())
    free = scaled_fields(usual)
    found = [budget.fit_into(Takeaway(), usual, free, speed, 2, seconds) for seconds in (60, 600, 6000)]
    games = [numbers(f, ["0.games", "0.depth"]) for f in found if f is not None]
    work = [n["0.games"] * speed.game_seconds(n["0.depth"]) for n in games]
    assert work == sorted(work)
    assert len(set(work)) == 3


@pytest.mark.parametrize(
    "asked", [{"games": 12000}, {"depth": 4}, {"pairs": 900, "match_depth": 3}, {"generations": 7}]
)
def test_what_is_given_is_kept_and_the_rest_suits_it(speed_is: Any, tmp_path: Path, asked: dict[str, Any]) -> None:
    speed_is(a_speed(0.01, 0.05, 0.1, 0.5))
    recipe, measured = choose(Takeaway(), tmp_path, linear(Takeaway(), **asked), 1, 2)
    keys = {NAMES[name]: value for name, value in asked.items()}
    assert numbers(recipe, keys) == keys
    assert measured is not None
    assert set(measured["chosen"]) == set(scaled_fields(recipe)) - set(keys)
    assert recipe.ladder.pairs < 1000


def test_with_all_numbers_given_nothing_is_measured(speed_is: Any, tmp_path: Path) -> None:
    made = speed_is(SLOW)
    recipe = linear(Takeaway(), **dict.fromkeys(scaled_fields(linear(Takeaway())), 100))
    assert choose(Takeaway(), tmp_path, recipe, 1, 2) == (recipe, None)
    assert made == []


@pytest.mark.parametrize("name", game_names())
def test_a_game_with_compiled_rules_is_not_measured(
    speed_is: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, game = speed_is(SLOW), get_game(name)
    recipe = linear(game)
    assert choose(game, tmp_path, recipe, 1, 2) == (recipe, None)
    assert made == []
    assert Run(game, tmp_path, recipe).command == f"evallearn learn {name} --seed=1"
    assert shards(Run(game, tmp_path, linear(game, games=100))) == 64


@pytest.mark.parametrize(
    ("speed", "says"),
    [
        (
            a_speed(5.0),
            "a game of takeaway takes 50 seconds by searches of depth 1, the least run about 7. minutes: make",
        ),
        (
            a_speed(5.0, moves=math.inf),
            "no game of takeaway ended within 60 seconds of searches of depth 1: make its rules",
        ),
    ],
)
def test_a_game_that_is_too_slow_is_refused_with_the_command_that_takes_it_anyway(
    speed_is: Any, tmp_path: Path, speed: GameSpeed, says: str
) -> None:
    speed_is(speed)
    with pytest.raises(SpecError, match=says) as refused:
        choose(Takeaway(), tmp_path / "run", linear(Takeaway()), 3, 2)
    assert not (tmp_path / "run").exists()
    command = str(refused.value).rpartition("measured: ")[2]
    assert command == (
        "evallearn learn toys:Takeaway --seed=3 --set generate.games=100 --set generate.depth=1 --set "
        "gate.generations=1 --set gate.pairs=8 --set gate.depth=1 --set ladder.pairs=8 --set ladder.depth=1 --set "
        "ladder.milliseconds=5000.0"
    )


def test_who_names_a_number_may_wait_longer(speed_is: Any, tmp_path: Path) -> None:
    speed_is(a_speed(5.0))
    recipe, measured = choose(Takeaway(), tmp_path, linear(Takeaway(), games=200), 1, 2)
    assert measured is not None
    assert measured["seconds"] > 10 * SECONDS
    assert [*numbers(recipe, ("0.games", "2.pairs", "2.generations")).values()] == [200, 8, 1]


def test_what_cannot_be_learned_is_refused_before_anything_is_measured(speed_is: Any, tmp_path: Path) -> None:
    made = speed_is(SLOW)
    recipe = tmp_path / "own.toml"
    recipe.write_text('help = "x"\n' + "\n".join(f'[[stage]]\nverb = "{verb}"\ngames = 100' for verb in PLAYED))
    with pytest.raises(SpecError, match="two-player zero-sum game without chance; use --recipe linear"):
        choose(Takeaway(), tmp_path, Recipe.load(recipe, Takeaway()), 1, 2)
    assert made == []


# --- a run with such numbers -----------------------------------------------------------------------------------------
LEARN = ["learn", "toys:LongTakeaway", "--workers=1"]
NO_MEASUREMENT = "a measurement was made"


def learned(folder: Path, *options: str) -> tuple[int, str]:
    """The exit code of the command with this folder, and what it said."""
    with redirect_stderr(StringIO()) as said, redirect_stdout(StringIO()):
        code = run([*LEARN, f"--run={folder}", *options])
    return code, said.getvalue()


@pytest.fixture
def _nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*more: Any, **options: Any) -> GameSpeed:
        raise AssertionError(NO_MEASUREMENT)

    monkeypatch.setattr(budget, "measure_together", measured)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run whose numbers were chosen, and what it said."""
    folder = tmp_path_factory.mktemp("bare") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "0")
        patch.setattr(budget, "measure_together", lambda *a, **k: SLOW)
        patch.setattr(budget, "SHARES", (LEAST_SHARE,))
        code, said = learned(folder)
    assert code == 0
    return folder, said


def test_it_says_what_it_will_do_and_how_long_that_takes(bare: tuple[Path, str]) -> None:
    folder, said = bare
    for part in (
        "long_takeaway has no compiled rules, which makes it about 100 times slower; examples/domineering_compiled.py",
        "takes about 6 min; processes: 1, each at 10,000 positions a second",
        "generate: 100 games at depth 1",
        "gate: generations: 1; matches: 8 openings at depth 1",
        "ladder: 8 openings at depth 1, a fifth of them at 2 ms a move",
        "without a measurement: evallearn learn toys:LongTakeaway --seed=1 --set generate.games=100 --set "
        "generate.depth=1 --set gate.generations=1",
    ):
        assert part in said
    found = json.loads((folder / "result.json").read_text())
    assert found["measured"] == json.loads((folder / "run.json").read_text())["measured"]
    recipe = linear(LongTakeaway())
    chosen = {recipe.dotted(key): value for key, value in found["measured"]["chosen"].items()}
    assert chosen == {key: found["settings"][key] for key in map(recipe.dotted, scaled_fields(recipe))}
    assert found["command"] in said


@pytest.mark.usefixtures("_nothing_is_measured")
def test_the_printed_command_gives_the_same_bytes(bare: tuple[Path, str], tmp_path: Path) -> None:
    folder, said = bare
    command = shlex.split(said.partition("without a measurement: ")[2].partition("\n")[0])
    assert command[:3] == ["evallearn", *LEARN[:2]]
    assert learned(tmp_path, *command[3:], "--workers=1")[0] == 0
    made = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.suffix in (".parquet", ".safetensors"))
    assert len(made) == 100 + 3
    for path in [*made, Path("generation-0/manifest.json")]:
        assert (tmp_path / path).read_bytes() == (folder / path).read_bytes(), path
    steps = [p.name for p in (folder / "steps").glob("*.json") if "time" not in p.name]
    assert sum(name.startswith(("match", "gate")) for name in steps) == 5
    for name in steps:
        assert without_clock(tmp_path / "steps" / name) == without_clock(folder / "steps" / name), name
    explicit, chosen = (read_checked(f / "run.json", "") for f in (tmp_path, folder))
    assert explicit == {k: v for k, v in chosen.items() if k != "measured"}


def without_clock(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    return {k: v for k, v in found.items() if "seconds" not in k and k not in ("file", CHECKSUM)}


@pytest.mark.usefixtures("_nothing_is_measured")
def test_a_rerun_goes_on_with_the_chosen_numbers(bare: tuple[Path, str], tmp_path: Path) -> None:
    folder, said = bare
    shutil.copytree(folder, tmp_path / "run")
    (tmp_path / "run" / "steps" / "fit-linear-0.json").unlink()
    (tmp_path / "run" / "evaluators" / "linear-0.safetensors").unlink()
    code, again = learned(tmp_path / "run")
    assert code == 0
    assert again.splitlines()[1:6] == said.splitlines()[1:6]
    name = Path("evaluators/linear-0.safetensors")
    assert (tmp_path / "run" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.usefixtures("_nothing_is_measured")
def test_other_numbers_than_the_chosen_ones_are_refused(bare: tuple[Path, str], tmp_path: Path) -> None:
    code, said = learned(bare[0], "--games=300")
    assert (code, "holds a run with generate.games=100, you asked for 300: choose another --run" in said) == (2, True)
    Run(LongTakeaway(), tmp_path, linear(LongTakeaway(), games=700)).open()
    code, said = learned(tmp_path)
    assert (code, "holds a run with generate.games=700, you asked for 12000: choose another --run" in said) == (2, True)


def test_as_many_games_are_played_as_were_counted(bare: tuple[Path, str]) -> None:
    folder, _ = bare
    steps = [json.loads(p.read_text()) for p in (folder / "steps").glob("*.json")]
    recipe, _ = choose(LongTakeaway(), folder, linear(LongTakeaway()), 1, 1)
    own, *matches = budget._games(LongTakeaway(), recipe)
    assert own == sum(s["games"] for s in steps if "checksum" in s)
    assert sum(matches) == sum(s["games"] for s in steps if "elo" in s)


def test_ctrl_c_during_the_measurement_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*more: Any, **options: Any) -> GameSpeed:
        raise KeyboardInterrupt

    monkeypatch.setattr(budget, "measure_together", interrupted)
    code, said = learned(tmp_path / "run")
    assert (code, (tmp_path / "run").exists()) == (130, False)
    assert "the same command goes on" in said


@pytest.mark.usefixtures("_nothing_is_measured")
@pytest.mark.parametrize(
    "measured",
    [7, [], {}, {"chosen": 7}, {"chosen": {"games": 1.5}}, {"chosen": {"games": "100"}}, {"chosen": {"seed": 7}},
     {"chosen": {"0.games": 1.5}}, {"seconds": math.inf}, {"seconds": "x"}, {"speed": 7}, {"speed": {}}],
    ids=str,
)  # fmt: skip
def test_a_damaged_choice_is_refused(tmp_path: Path, bare: tuple[Path, str], measured: Any) -> None:
    stored = read_checked(bare[0] / "run.json", "")
    whole = stored["measured"]
    stored["measured"] = {**whole, **measured} if isinstance(measured, dict) and measured else measured
    write_checked(tmp_path / "run.json", stored)
    with pytest.raises(DataError, match=r"run.json is damaged: remove the folder"):
        choose(LongTakeaway(), tmp_path, linear(LongTakeaway()), 1, 2)


def test_few_games_lie_in_many_files(tmp_path: Path) -> None:
    assert [shards(Run(Takeaway(), tmp_path, linear(Takeaway(), games=n))) for n in (100, 640, 12000)] == [1, 10, 64]


def shards(run: Run) -> int:
    stage = run.recipe.stages[0]
    assert isinstance(stage, Generate)
    return games_per_shard(run, stage)


def test_minutes_are_shared_by_the_stages_of_any_run(speed_is: Any, tmp_path: Path) -> None:
    game = get_game("checkers")
    speed = a_speed(1e-5, 1e-4, moves=60.0, positions_per_second=3e5)
    speed_is(speed)
    recipe, measured = choose(game, tmp_path, Recipe.load("generations", game, {"minutes": 5}), 1, 2)
    first, *rest = recipe.stages
    assert isinstance(first, SelfPlay)
    assert (first.games, first.learning.schedule.shape) == (None, "constant")
    assert first.minutes == pytest.approx(5 / 3)
    assert measured is not None
    assert measured["seconds"] <= 0.6 * 60 * 5 * 2 / 3
    assert all(stage.games < 3000 for stage in rest if isinstance(stage, Generate))
    by_clock = Recipe.load("patterns", game, {"minutes": 2})
    assert choose(game, tmp_path, by_clock, 1, 2) == (by_clock, None)
