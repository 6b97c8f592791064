"""A match that is stopped, killed or damaged: nothing finished is lost, and it goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from toys import Takeaway, python_path

from evallearn.agents import RandomAgent, SearchAgent, parse_agent
from evallearn.arena import Adjudication, MatchConfig, MatchResult, Sprt, Tally, match_folder, play_match
from evallearn.arena.journal import identity, read_sets, weights_mark
from evallearn.errors import DataError
from evallearn.evaluators import LinearEval, SolvedEval
from evallearn.games.connect_four import ConnectFour
from evallearn.protocols import Limits

C4 = ConnectFour()
SOME = MatchConfig(pairs=12, seed=3)


def agents() -> tuple[Any, Any]:
    return parse_agent("handwritten:threats@depth=2", C4), parse_agent("zero@depth=2", C4)


def figures(found: MatchResult) -> dict[str, Any]:
    return {k: v for k, v in found.to_json().items() if not k.startswith("seconds")}


def stop_after(n: int) -> Any:
    def stop(tally: Tally) -> None:
        if tally.sets == n:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_stopped_match_goes_on_and_equals_one_that_was_never_stopped(tmp_path: Path, workers: int) -> None:
    whole = play_match(C4, *agents(), SOME, keep_games=True)
    with pytest.raises(KeyboardInterrupt):
        play_match(C4, *agents(), SOME, folder=tmp_path, on_progress=stop_after(5))
    lines = (tmp_path / "sets.jsonl").read_text().splitlines()
    assert [json.loads(line)["set"] for line in lines] == [0, 1, 2, 3, 4]
    resumed = play_match(C4, *agents(), SOME, folder=tmp_path, keep_games=True, workers=workers)
    assert figures(resumed) == figures(whole)
    assert len(read_sets(tmp_path / "sets.jsonl", C4)) == 12
    played: list[int] = []
    play_match(C4, *agents(), SOME, folder=tmp_path, on_progress=lambda tally: played.append(tally.sets))
    assert played == list(range(1, 13))
    assert (tmp_path / "sets.jsonl").read_text().count("\n") == 12  # nothing was played again


def test_more_pairs_are_played_on_top(tmp_path: Path) -> None:
    play_match(C4, *agents(), SOME, folder=tmp_path)
    more = MatchConfig(pairs=20, seed=3)
    assert figures(play_match(C4, *agents(), more, folder=tmp_path)) == figures(play_match(C4, *agents(), more))
    assert (tmp_path / "sets.jsonl").read_text().count("\n") == 20
    assert figures(play_match(C4, *agents(), SOME, folder=tmp_path)) == figures(play_match(C4, *agents(), SOME))


def test_half_written_line_is_played_again(tmp_path: Path) -> None:
    whole = play_match(C4, *agents(), SOME, folder=tmp_path)
    path = tmp_path / "sets.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert figures(play_match(C4, *agents(), SOME, folder=tmp_path)) == figures(whole)
    assert sorted(json.loads(line)["set"] for line in path.read_text().splitlines()) == list(range(12))


def test_games_of_the_plain_floor_are_kept_as_text(tmp_path: Path) -> None:
    game = Takeaway()
    config = MatchConfig(pairs=3, random_plies=1, seed=0)
    with pytest.raises(KeyboardInterrupt):
        play_match(game, RandomAgent(game), RandomAgent(game, "B"), config, folder=tmp_path, on_progress=stop_after(1))
    resumed = play_match(game, RandomAgent(game), RandomAgent(game, "B"), config, folder=tmp_path)
    assert figures(resumed) == figures(play_match(game, RandomAgent(game), RandomAgent(game, "B"), config))


SCRIPT = """
import sys
from pathlib import Path
from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchConfig, play_match
if __name__ == "__main__":
    game = get_game("connect_four")
    a, b = parse_agent("handwritten:threats@depth=6", game), parse_agent("zero@depth=6", game)
    play_match(game, a, b, MatchConfig(pairs=99, seed=3), folder=Path(sys.argv[1]))
"""


def test_killed_match_keeps_every_finished_set(tmp_path: Path) -> None:
    """kill -9 in the middle, twice; then the first sets are those of a match that was never killed."""
    (tmp_path / "go.py").write_text(SCRIPT)
    folder, sets = tmp_path / "match", tmp_path / "match" / "sets.jsonl"
    done = 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, tmp_path / "go.py", folder], env={**os.environ, "PYTHONPATH": python_path()}
        )
        try:
            deadline = time.monotonic() + 60
            while not sets.exists() or sets.read_bytes().count(b"\n") < done + 4:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            process.kill()
            process.wait()
        found = read_sets(sets, C4)
        assert len(found) >= done + 4
        done = len(found)
    n = next(i for i in range(len(found) + 1) if i not in found)
    config = MatchConfig(pairs=min(n, 12), seed=3)
    two = parse_agent("handwritten:threats@depth=6", C4), parse_agent("zero@depth=6", C4)
    assert figures(play_match(C4, *two, config, folder=folder)) == figures(play_match(C4, *two, config))


# --- refusals --------------------------------------------------------------------------------------------------------
def test_another_match_in_the_folder_is_refused(tmp_path: Path) -> None:
    play_match(C4, *agents(), MatchConfig(pairs=1, seed=3), folder=tmp_path)
    a, b = agents()
    for other, message in (
        ((b, a, SOME), r"holds a match with agents=\['handwritten:threats@depth=2 #\w+', .*choose another --run"),
        ((a, b, MatchConfig(seed=4)), "holds a match with seed=3, you asked for 4: choose another --run, or remove"),
        ((a, b, MatchConfig(seed=3, random_plies=2)), "holds a match with openings='6 random plies', you asked for"),
        ((a, b, MatchConfig(seed=3, adjudication=Adjudication(plies=9))), "with adjudication='', .*'plies=9'"),
    ):
        with pytest.raises(DataError, match=message):
            play_match(C4, *other, folder=tmp_path)  # type: ignore[arg-type]
    sprt = MatchConfig(pairs=1, seed=3, sprt=Sprt(0, 10))
    assert play_match(C4, a, b, sprt, folder=tmp_path).sprt is not None  # when to stop is no part of the terms


def test_changed_weights_are_another_agent(tmp_path: Path) -> None:
    one, two = LinearEval.from_heuristic(C4, "lines"), LinearEval.from_heuristic(C4, "threats")
    same = [SearchAgent(C4, e, Limits(depth=1), name="mine@depth=1") for e in (one, two)]
    assert identity(same[0]) != identity(same[1])
    folders = {match_folder(tmp_path, C4, (a, RandomAgent(C4)), SOME) for a in same}
    assert len(folders) == 2
    play_match(C4, same[0], RandomAgent(C4), MatchConfig(pairs=1), folder=tmp_path)
    with pytest.raises(DataError, match="holds a match with agents="):
        play_match(C4, same[1], RandomAgent(C4), MatchConfig(pairs=1), folder=tmp_path)


def test_damaged_folders_are_refused_with_the_place(tmp_path: Path) -> None:
    play_match(C4, *agents(), MatchConfig(pairs=3, seed=3), folder=tmp_path)
    path = tmp_path / "sets.jsonl"
    good = path.read_text()
    lines = good.splitlines()
    wrong = lines[1].replace('"opening":[', '"opening":[99,', 1), lines[1].replace('"set":1', '"set":"x"')
    for bad in ("{", "[]", '{"set": 1}', *wrong):
        path.write_text("\n".join([lines[0], bad, lines[2], ""]))
        with pytest.raises(DataError, match="sets.jsonl, line 2 is damaged: take the line out, and its set is played"):
            play_match(C4, *agents(), MatchConfig(pairs=3, seed=3), folder=tmp_path)
    path.write_text("\n".join([lines[0], lines[2], ""]))
    assert play_match(C4, *agents(), MatchConfig(pairs=3, seed=3), folder=tmp_path).games == 6
    (tmp_path / "match.json").write_text("{")
    with pytest.raises(DataError, match="match.json is damaged: remove the folder"):
        play_match(C4, *agents(), MatchConfig(pairs=3, seed=3), folder=tmp_path)
    (tmp_path / "match.json").unlink()
    with pytest.raises(DataError, match=r"holds games but no match\.json: remove it, or choose another --run"):
        play_match(C4, *agents(), MatchConfig(pairs=3, seed=3), folder=tmp_path)


def test_tables_over_an_eval_leave_its_weights_visible():
    game = ConnectFour()
    evals = [SolvedEval(LinearEval.from_heuristic(game, name), lambda s: None) for name in list(game.heuristics)[:2]]
    marks = {weights_mark(evaluator) for evaluator in evals}
    assert len(marks) == 2
    assert marks == {weights_mark(evaluator.below) for evaluator in evals}
