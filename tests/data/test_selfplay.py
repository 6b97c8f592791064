from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evallearn.agents import Agent, RandomAgent, SearchAgent
from evallearn.core.game import Game
from evallearn.core.search import Limits, SearchResult
from evallearn.data import Record, RecordSettings, generate_records, play_game, read_shard, rebuild_manifest
from evallearn.data.boards import on_fastest_backend
from evallearn.data.shards import from_table, shard_path, shard_paths
from evallearn.errors import DataError, IllegalAction, SpecError
from evallearn.evaluators import heuristic
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.registry import get_game

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))  # handed on to worker processes, which must find the game
from nim_selfplay import MANY, Nim  # noqa: E402

GAME = TicTacToe()
RANDOM = [RandomAgent(GAME)] * 2
NIM_RANDOM = [RandomAgent(Nim())] * 2
SMALL = RecordSettings(games=20, seed=5, opening_plies=2, epsilon=0.25, games_per_shard=8)


class Endless(Nim):
    """Nobody ever takes a match."""

    name = "endless"

    def result(self, s: Any, a: Any) -> Any:
        return s


class Fixed(Agent):
    """Always answers the same."""

    def __init__(self, game: Game, action: Any, depth: int = 3) -> None:
        self.game, self.action, self.depth, self.name = game, action, depth, "fixed"

    def choose(self, s: Any, seed: int) -> SearchResult:
        return SearchResult(self.action, 0.5, self.game.to_play(s), self.depth, 1, (), False, 0.0)


@cache
def fast() -> Game:
    """Tic-tac-toe on the compiled backend, built once."""
    return on_fastest_backend(GAME)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a run folder but its lock, which names the process."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}


def records_of(folder: Path) -> list[Record]:
    return [r for _, path in shard_paths(folder) for r in from_table(read_shard(path)[1])]


# --- one game --------------------------------------------------------------------------------------------------------
def test_records_replay_as_one_game() -> None:
    for number in range(30):
        records = play_game(fast(), RANDOM, SMALL, number)
        s = GAME.decode(np.frombuffer(records[0].state, "<u8").tolist())
        assert records[0].ply == SMALL.opening_plies
        for ply, record in enumerate(records, SMALL.opening_plies):
            assert (record.game_number, record.ply, record.player) == (number, ply, GAME.to_play(s))
            assert record.state == np.array(GAME.encode(s), "<u8").tobytes()
            assert record.features == np.array(GAME.features(s, record.player), "<f4").tobytes()
            assert record.phase == GAME.phase(s)
            s = GAME.result(s, record.action)
        assert GAME.is_terminal(s)
        for record in records:
            assert record.outcome == GAME.utility(s, record.player)
            assert str(record.outcome) != "-0.0"


def test_outcomes_of_the_two_players_sum_to_zero() -> None:
    for number in range(30):
        per_player: dict[int, set[float]] = {0: set(), 1: set()}
        for record in play_game(fast(), RANDOM, SMALL, number):
            per_player[record.player].add(record.outcome)
        assert len(per_player[0]) <= 1 >= len(per_player[1])
        assert sum(sum(v) for v in per_player.values()) == 0 or not all(per_player.values())


def test_a_game_depends_on_seed_and_number_only() -> None:
    compiled = fast()
    game = play_game(compiled, RANDOM, SMALL, 3)
    play_game(compiled, RANDOM, SMALL, 4)
    assert play_game(GAME, RANDOM, replace(SMALL, games=999), 3) == game
    assert play_game(compiled, [RandomAgent(compiled)] * 2, SMALL, 3) == game  # an agent on the same compiled game
    assert play_game(compiled, RANDOM, SMALL, 4) != game
    assert play_game(compiled, RANDOM, replace(SMALL, seed=6), 3) != game


def test_openings_are_diverse_and_left_out() -> None:
    config = RecordSettings(opening_plies=3, epsilon=0.0)
    first = [play_game(fast(), [Fixed(GAME, None)] * 2, replace(config, epsilon=1.0), n)[0] for n in range(300)]
    assert {r.ply for r in first} == {3}
    assert len({r.state for r in first}) > 150  # 252 positions after three plies
    greedy = SearchAgent(GAME, heuristic(GAME, "lines"), Limits(depth=1))
    assert len({tuple(play_game(fast(), [greedy] * 2, config, n)) for n in range(50)}) == 50


def test_openings_that_end_the_game_are_drawn_again() -> None:
    config = RecordSettings(opening_plies=8, epsilon=0.0)
    for number in range(40):  # most games of eight random plies are over before
        (record,) = play_game(fast(), RANDOM, config, number)
        assert record.ply == 8
    with pytest.raises(
        DataError, match="opening_plies=9: 1000 random openings in a row ended the game of tic_tac_toe: use"
    ):
        play_game(GAME, RANDOM, replace(config, opening_plies=9), 0)


def test_exploration_is_as_frequent_as_asked() -> None:
    agents = [Fixed(Nim(), 1)] * 2
    for rate, expected in ((0.0, 0.0), (0.3, 0.2), (1.0, 2 / 3)):  # one random action of three is the agent's own
        config = RecordSettings(opening_plies=0, epsilon=rate)
        records = [
            r for n in range(300) for r in play_game(Nim(), agents, config, n) if int(r.state.split(":")[0]) >= 3
        ]
        assert np.mean([r.action != "1" for r in records]) == pytest.approx(expected, abs=0.03)
        assert {(r.value, r.depth) for r in records} == {(0.5, 3)}  # the agent's view, whatever was played


def test_random_actions_are_uniform() -> None:
    config = RecordSettings(opening_plies=0, epsilon=1.0)
    counts = Counter(play_game(fast(), [Fixed(GAME, None)] * 2, config, n)[0].action for n in range(1800))
    assert set(counts) == set(range(9))
    assert all(140 < n < 260 for n in counts.values())  # 200 +- 4 standard deviations


def test_a_plain_only_game_is_stored_as_text(tmp_path: Path) -> None:
    game = Nim()
    manifest = generate_records(tmp_path, game, [RandomAgent(game)] * 2, replace(SMALL, games=4))
    assert manifest.origin.n_words == 0
    records = records_of(tmp_path)
    assert {type(r.state) for r in records} == {type(r.action) for r in records} == {str}
    for now, after in pairwise(records):
        if now.game_number == after.game_number:
            s = game.from_text(now.state)
            assert game.to_text(game.result(s, game.action_from_text(s, now.action))) == after.state
    assert {r.outcome for r in records} == {-2.0, 2.0}


def test_very_deep_searches_fit_the_column() -> None:
    assert play_game(GAME, [Fixed(GAME, 0, depth=500)] * 2, replace(SMALL, epsilon=1.0), 0)[0].depth == 127


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"games": 0}, "games=0: give a whole number from 1"),
        ({"games": 2.5}, "games=2.5: give a whole number"),
        ({"seed": -1}, "seed=-1: give a whole number from 0"),
        ({"opening_plies": True}, "opening_plies=True: give a whole number"),
        ({"games_per_shard": 20_000}, "games_per_shard=20000: give a whole number from 1 to 10000"),
        ({"epsilon": 1.5}, "epsilon=1.5: give a number from 0 to 1"),
        ({"epsilon": "x"}, "epsilon='x': give a number"),
    ],
)
def test_senseless_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        RecordSettings(**wrong)


def test_agents_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 agents for tic_tac_toe: name 2, one per player"):
        generate_records(tmp_path, GAME, RANDOM[:1], SMALL)
    with pytest.raises(DataError, match="agent random plays tic_tac_toe, not nim: name one of that game"):
        generate_records(tmp_path, Nim(), RANDOM, SMALL)
    with pytest.raises(SpecError, match="workers=0"):
        generate_records(tmp_path, GAME, RANDOM, SMALL, workers=0)


@pytest.mark.parametrize("game", [GAME, Nim()])
def test_an_illegal_choice_is_refused_with_the_position(game: Game) -> None:
    with pytest.raises(
        IllegalAction, match=r"agent fixed chose 77 in .* position '.*'; legal: 1 2 3.*: correct its `choose`"
    ):
        play_game(game, [Fixed(game, 77)] * 2, RecordSettings(opening_plies=0, epsilon=0.0), 0)


def test_a_game_without_end_is_given_up() -> None:
    with pytest.raises(DataError, match="endless game 3 did not end in 32768 plies: give it a rule that ends it"):
        play_game(Endless(), [Fixed(Endless(), 1)] * 2, SMALL, 3)


# --- folders ---------------------------------------------------------------------------------------------------------
def test_the_number_of_workers_does_not_matter(tmp_path: Path) -> None:
    agent = SearchAgent(GAME, heuristic(GAME, "lines"), Limits(depth=2), random_ties=True)
    for workers in (1, 2):
        generate_records(tmp_path / str(workers), GAME, [agent, RANDOM[0]], SMALL, workers)
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2")
    assert len(bytes_of(tmp_path / "1")) == 4


def test_manifest_tells_what_the_folder_holds_and_can_be_rebuilt(tmp_path: Path) -> None:
    manifest = generate_records(tmp_path, GAME, RANDOM, SMALL)
    records = records_of(tmp_path)
    assert (manifest.games, manifest.records) == (20, len(records))
    assert manifest.wins + manifest.draws + manifest.losses == 20
    ends = {r.game_number: r for r in records}.values()
    assert manifest.wins == sum((r.outcome > 0) == (r.player == 0) for r in ends if r.outcome)
    assert manifest.mean_plies == pytest.approx(np.mean([r.ply + 1 for r in ends]), abs=1e-3)
    assert manifest.origin.agents == ("random", "random")
    assert manifest.origin.settings == {"seed": 5, "opening_plies": 2, "epsilon": 0.25, "games_per_shard": 8}
    before = bytes_of(tmp_path)
    assert str(tmp_path).encode() not in before["manifest.json"]
    (tmp_path / "manifest.json").unlink()
    assert rebuild_manifest(tmp_path) == manifest
    assert bytes_of(tmp_path) == before


def test_the_same_command_keeps_whole_shards_and_makes_missing_ones(tmp_path: Path) -> None:
    whole = generate_records(tmp_path, GAME, RANDOM, SMALL)
    before = bytes_of(tmp_path)
    kept = shard_path(tmp_path, 0).stat().st_mtime_ns
    shard_path(tmp_path, 1).unlink()
    (tmp_path / "records" / ".shard-000001.parquet.1.tmp").write_text("half")
    calls: list[tuple[int, int, int]] = []
    assert generate_records(tmp_path, GAME, RANDOM, SMALL, on_progress=lambda *c: calls.append(c)) == whole
    assert bytes_of(tmp_path) == before
    assert shard_path(tmp_path, 0).stat().st_mtime_ns == kept
    assert [c[:2] for c in calls] == [(12, 20), (20, 20)]
    assert calls[-1][2] == whole.records
    generate_records(
        tmp_path, on_fastest_backend(GAME), RANDOM, SMALL
    )  # nothing to do; a compiled game is the same game
    assert bytes_of(tmp_path) == before


def test_games_may_grow_and_only_the_last_partial_shard_is_made_again(tmp_path: Path) -> None:
    generate_records(tmp_path / "grown", GAME, RANDOM, SMALL)
    stamps = [shard_path(tmp_path / "grown", i).stat().st_mtime_ns for i in range(3)]
    more = replace(SMALL, games=36)
    generate_records(tmp_path / "grown", GAME, RANDOM, more)
    generate_records(tmp_path / "at_once", GAME, RANDOM, more)
    assert bytes_of(tmp_path / "grown") == bytes_of(tmp_path / "at_once")
    after = [shard_path(tmp_path / "grown", i).stat().st_mtime_ns for i in range(3)]
    assert [a == b for a, b in zip(stamps, after, strict=True)] == [True, True, False]
    with pytest.raises(DataError, match="holds games up to 23, only 20 games are asked: ask for at least as many"):
        generate_records(tmp_path / "grown", GAME, RANDOM, SMALL)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seed": 2}, "seed 5 there, 2 asked"), ({"epsilon": 0.5}, "epsilon 0.25 there, 0.5 asked")],
)
def test_a_folder_of_other_settings_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    generate_records(tmp_path, GAME, RANDOM, SMALL)
    before = bytes_of(tmp_path)
    with pytest.raises(DataError, match=rf"other settings \({message}\): use another folder or remove it"):
        generate_records(tmp_path, GAME, RANDOM, replace(SMALL, **change))
    assert bytes_of(tmp_path) == before


def test_a_folder_of_another_game_or_agent_is_refused(tmp_path: Path) -> None:
    generate_records(tmp_path, GAME, RANDOM, SMALL)
    with pytest.raises(DataError, match="game tic_tac_toe there, nim asked; "):
        generate_records(tmp_path, Nim(), NIM_RANDOM, SMALL)
    with pytest.raises(DataError, match="agents random random there, random other asked"):
        generate_records(tmp_path, GAME, [RANDOM[0], RandomAgent(GAME, "other")], SMALL)


def test_damaged_and_misplaced_shards_are_refused_by_name(tmp_path: Path) -> None:
    generate_records(tmp_path, GAME, RANDOM, SMALL)
    before = bytes_of(tmp_path)
    first, second = shard_path(tmp_path, 0), shard_path(tmp_path, 1)
    second.write_bytes(first.read_bytes())
    with pytest.raises(
        DataError, match=r"shard-000001\.parquet is not the file that manifest\.json lists .*: delete it"
    ):
        generate_records(tmp_path, GAME, RANDOM, SMALL)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"shard-000001\.parquet holds games from 0, its name says 8: rename it back"):
        generate_records(tmp_path, GAME, RANDOM, SMALL)
    second.write_bytes(second.read_bytes()[:-100])
    with pytest.raises(
        DataError, match=r"shard-000001\.parquet is damaged or cut off .*: delete it and rerun the same"
    ):
        generate_records(tmp_path, GAME, RANDOM, SMALL)
    second.unlink()  # the remedy
    generate_records(tmp_path, GAME, RANDOM, SMALL)
    assert bytes_of(tmp_path) == before


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    def again(*_: int) -> None:
        with pytest.raises(DataError, match=r"is in use by process \d+: wait until that ends, or choose another"):
            generate_records(tmp_path, GAME, RANDOM, SMALL)

    generate_records(tmp_path, GAME, RANDOM, SMALL, on_progress=again)


# --- kills -----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    generate_records(folder, Nim(), NIM_RANDOM, MANY)
    return bytes_of(folder)


def start(folder: Path, workers: int, until_shards: int) -> subprocess.Popen[str]:
    """The same command in a process group of its own; returns when that many shards are there."""
    process = subprocess.Popen(
        [sys.executable, HERE / "nim_selfplay.py", folder, str(workers)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while len(shard_paths(folder)) < until_shards and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    return process


def group_is_gone(pgid: int) -> bool:
    """Waits until no process of the group is left."""
    for _ in range(1000):
        try:
            os.killpg(pgid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_kill_9_twice_then_the_same_command_gives_the_uninterrupted_records(
    tmp_path: Path, uninterrupted: dict[str, bytes]
) -> None:
    folder, rng = tmp_path / "run", random.Random()
    moments = [rng.randint(1, 30), rng.randint(40, 80)]
    for n, (shards, kill) in enumerate(zip(moments, (os.killpg, os.kill), strict=True)):
        process = start(folder, 2, until_shards=shards)
        time.sleep(rng.random() * 0.02)
        kill(process.pid, signal.SIGKILL)  # all at once, then the parent alone: its workers must not live on
        process.communicate(timeout=20)
        assert process.returncode == -signal.SIGKILL, f"too late: {moments}, {n}"
        assert group_is_gone(process.pid)
        assert shards <= len(shard_paths(folder)) < MANY.n_shards()
        assert {k: v for k, v in bytes_of(folder).items() if k in uninterrupted}.items() <= uninterrupted.items()
    process = start(folder, 2, until_shards=MANY.n_shards())
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0
    assert bytes_of(folder) == uninterrupted


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_ctrl_c_ends_promptly_and_leaves_whole_shards(
    tmp_path: Path, uninterrupted: dict[str, bytes], workers: int
) -> None:
    folder = tmp_path / "run"
    process = start(folder, workers, until_shards=3)
    before = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    assert process.communicate(timeout=20)[1] == ""  # no tracebacks
    assert time.monotonic() - before < 5
    assert process.returncode == 130
    assert group_is_gone(process.pid)
    left = bytes_of(folder)
    assert 3 <= len(left) < MANY.n_shards()
    assert left.items() <= uninterrupted.items()  # no leftovers, no manifest
    assert "manifest.json" not in left
    generate_records(folder, Nim(), NIM_RANDOM, MANY)
    assert bytes_of(folder) == uninterrupted


def test_a_killed_worker_is_replaced(tmp_path: Path, uninterrupted: dict[str, bytes]) -> None:
    killed: list[int] = []

    def kill_one(games: int, total: int, records: int) -> None:
        children = multiprocessing.active_children()
        if games and children and len(killed) < 2:
            killed.append(children[0].pid or 0)
            os.kill(killed[-1], signal.SIGKILL)
            time.sleep(0.1)

    generate_records(tmp_path, Nim(), NIM_RANDOM, MANY, workers=2, on_progress=kill_one)
    assert len(killed) == 2
    assert bytes_of(tmp_path) == uninterrupted


# --- quiet plies -----------------------------------------------------------------------------------------------------
def test_quiet_keeps_plies_where_nothing_is_taken() -> None:
    game = on_fastest_backend(get_game("checkers"))
    config = RecordSettings(games=1, seed=1, opening_plies=4)
    agents = [RandomAgent(game)] * 2
    every, quiet = (play_game(game, agents, replace(config, quiet=on), 0) for on in (False, True))
    states = {r.ply: game.decode(np.frombuffer(r.state, "<u8").tolist()) for r in every}
    kept = [ply for ply, s in states.items() if not game.forcing(s)]
    first = [every[0].ply] if every[0].ply not in kept else []
    assert [r.ply for r in quiet] == [*first, *kept]
    assert 0 < len(quiet) < len(every)


def test_quiet_changes_the_settings_of_a_shard_only_where_it_is_on() -> None:
    assert "quiet" not in SMALL.settings()
    assert replace(SMALL, quiet=True).settings()["quiet"] is True
    with pytest.raises(SpecError, match="quiet=1: give True or False"):
        RecordSettings(quiet=1)  # type: ignore[arg-type]  # what is refused
