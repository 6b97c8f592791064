"""A match that is stopped, killed or damaged: nothing finished is lost, and it goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from toys import Takeaway, python_path

from evallearn.agents import RandomAgent, SearchAgent, parse_agent
from evallearn.arena import Adjudication, MatchResult, MatchSettings, Sprt, Tally, match_folder, play_match
from evallearn.arena.journal import identity, read_sets
from evallearn.core.checksum import line_text
from evallearn.core.digest import json_digest, weights_mark
from evallearn.core.search import Limits
from evallearn.errors import DataError
from evallearn.evaluators import SolvedEval, heuristic
from evallearn.games.connect_four import ConnectFour

C4 = ConnectFour()
SOME = MatchSettings(pairs=12, seed=3)


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
    assert len(read_sets(tmp_path, C4)) == 12
    played: list[int] = []
    play_match(C4, *agents(), SOME, folder=tmp_path, on_progress=lambda tally: played.append(tally.sets))
    assert played == list(range(1, 13))
    assert (tmp_path / "sets.jsonl").read_text().count("\n") == 12  # nothing was played again


def test_more_pairs_are_played_on_top(tmp_path: Path) -> None:
    play_match(C4, *agents(), SOME, folder=tmp_path)
    more = MatchSettings(pairs=20, seed=3)
    assert figures(play_match(C4, *agents(), more, folder=tmp_path)) == figures(play_match(C4, *agents(), more))
    assert (tmp_path / "sets.jsonl").read_text().count("\n") == 20
    assert figures(play_match(C4, *agents(), SOME, folder=tmp_path)) == figures(play_match(C4, *agents(), SOME))


def test_half_written_line_is_played_again(tmp_path: Path) -> None:
    whole = play_match(C4, *agents(), SOME, folder=tmp_path)
    path = tmp_path / "sets.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert figures(play_match(C4, *agents(), SOME, folder=tmp_path)) == figures(whole)
    assert sorted(json.loads(line)["set"] for line in path.read_text().splitlines()) == list(range(12))


def test_games_of_the_plain_backend_are_kept_as_text(tmp_path: Path) -> None:
    game = Takeaway()
    config = MatchSettings(pairs=3, opening_plies=1, seed=0)
    with pytest.raises(KeyboardInterrupt):
        play_match(game, RandomAgent(game), RandomAgent(game, "B"), config, folder=tmp_path, on_progress=stop_after(1))
    resumed = play_match(game, RandomAgent(game), RandomAgent(game, "B"), config, folder=tmp_path)
    assert figures(resumed) == figures(play_match(game, RandomAgent(game), RandomAgent(game, "B"), config))


SCRIPT = """
import sys
from pathlib import Path
from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchSettings, play_match
if __name__ == "__main__":
    game = get_game("connect_four")
    a, b = parse_agent("handwritten:threats@depth=6", game), parse_agent("zero@depth=6", game)
    play_match(game, a, b, MatchSettings(pairs=99, seed=3), folder=Path(sys.argv[1]))
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
        found = read_sets(folder, C4)
        assert len(found) >= done + 4
        done = len(found)
    n = next(i for i in range(len(found) + 1) if i not in found)
    config = MatchSettings(pairs=min(n, 12), seed=3)
    two = parse_agent("handwritten:threats@depth=6", C4), parse_agent("zero@depth=6", C4)
    assert figures(play_match(C4, *two, config, folder=folder)) == figures(play_match(C4, *two, config))


# --- refusals --------------------------------------------------------------------------------------------------------
def test_another_match_in_the_folder_is_refused(tmp_path: Path) -> None:
    play_match(C4, *agents(), MatchSettings(pairs=1, seed=3), folder=tmp_path)
    a, b = agents()
    for other, message in (
        ((b, a, SOME), r"holds a match with agents=\['handwritten:threats@depth=2 #\w+', .*choose another --run"),
        ((a, b, MatchSettings(seed=4)), "holds a match with seed=3, you asked for 4: choose another --run, or remove"),
        ((a, b, MatchSettings(seed=3, opening_plies=2)), "holds a match with openings='6 random plies', you asked for"),
        ((a, b, MatchSettings(seed=3, adjudication=Adjudication(plies=9))), "with adjudication='', .*'plies=9'"),
    ):
        with pytest.raises(DataError, match=message):
            play_match(C4, *other, folder=tmp_path)  # type: ignore[arg-type]
    sprt = MatchSettings(pairs=1, seed=3, sprt=Sprt(0, 10))
    assert play_match(C4, a, b, sprt, folder=tmp_path).sprt is not None  # when to stop is no part of the terms


def test_changed_weights_are_another_agent(tmp_path: Path) -> None:
    one, two = heuristic(C4, "lines"), heuristic(C4, "threats")
    same = [SearchAgent(C4, e, Limits(depth=1), name="mine@depth=1") for e in (one, two)]
    assert identity(same[0]) != identity(same[1])
    folders = {match_folder(tmp_path, C4, (a, RandomAgent(C4)), SOME) for a in same}
    assert len(folders) == 2
    play_match(C4, same[0], RandomAgent(C4), MatchSettings(pairs=1), folder=tmp_path)
    with pytest.raises(DataError, match="holds a match with agents="):
        play_match(C4, same[1], RandomAgent(C4), MatchSettings(pairs=1), folder=tmp_path)


def lines_of(folder: Path) -> list[str]:
    return (folder / "sets.jsonl").read_text().splitlines(keepends=True)


def write_lines(folder: Path, lines: list[str]) -> None:
    (folder / "sets.jsonl").write_text("".join(lines))


def reseal(folder: Path, line: int, **changes: Any) -> str:
    """The line with other content and a checksum that fits: what somebody writes who knows how."""
    terms = json.loads((folder / "match.json").read_text())
    terms.pop("sha256")
    entry = {**json.loads(lines_of(folder)[line - 1]), **changes}
    entry.pop("sha256")
    return line_text(entry, json_digest(terms))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a match of four sets, for copies, and its figures."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, figures(play_match(C4, *agents(), FOUR, folder=folder))


FOUR = MatchSettings(pairs=4, seed=3)
EMPTY = "leave an empty line in its place, and all others are kept; its games are played again when the match goes on"
DAMAGE = {
    "cut": (lambda lines: [lines[0], lines[1][:50] + "\n", *lines[2:]], 2, f"damaged (it is not JSON): {EMPTY}"),
    "list": (lambda lines: [lines[0], "[]\n", *lines[2:]], 2, f"damaged (it is no JSON object): {EMPTY}"),
    "deep": (lambda lines: [lines[0], "[" * 100_000 + "\n", *lines[2:]], 2, f"damaged (it is not JSON): {EMPTY}"),
    "bare": (
        lambda lines: [lines[0], '{"set":1}\n', *lines[2:]],
        2,
        "damaged (it has no checksum, as files of earlier",
    ),
    "move": (
        lambda lines: [lines[0], lines[1].replace('"actions":[', '"actions":[0,', 1), *lines[2:]],
        2,
        f"damaged (its checksum does not fit): {EMPTY}",
    ),
    "gone": (
        lambda lines: [lines[0], *lines[2:]],
        2,
        "written as line 3, so the line before it is missing: put an empty",
    ),
    "two gone": (
        lambda lines: [lines[0], lines[3]],
        2,
        "written as line 4, so 2 lines before it are missing: put 2 empty",
    ),
    "twice": (
        lambda lines: [*lines[:2], *lines[1:]],
        3,
        "written as line 2, so it stands there twice, or in the wrong place",
    ),
}
REMEDIES = {
    "leave an": lambda lines, i: [*lines[:i], "\n", *lines[i + 1 :]],
    "put an": lambda lines, i: [*lines[:i], "\n", *lines[i:]],
    "put 2": lambda lines, i: [*lines[:i], "\n", "\n", *lines[i:]],
    "take it": lambda lines, i: [*lines[:i], *lines[i + 1 :]],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_line_is_named_and_its_remedy_keeps_the_rest(
    name: str, finished: tuple[Path, dict[str, Any]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damage, line, message = DAMAGE[name]
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    write_lines(tmp_path, damage(lines_of(tmp_path)))
    with pytest.raises(DataError) as refused:
        play_match(C4, *agents(), FOUR, folder=tmp_path)
    told = str(refused.value)
    assert f"sets.jsonl, line {line} " in told
    assert message in told
    (remedy,) = [remedy for words, remedy in REMEDIES.items() if f": {words} " in told]
    write_lines(tmp_path, remedy(lines_of(tmp_path), line - 1))
    before = len([text for text in lines_of(tmp_path) if text.strip()])
    assert figures(play_match(C4, *agents(), FOUR, folder=tmp_path)) == finished[1]
    after = [text for text in lines_of(tmp_path) if text.strip()]
    assert len(after) == 4  # nothing that was whole was played again
    assert ("empty: its games are played again" in caplog.text) == (before < 4)


def test_swapped_lines_cost_one_set(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    first, second, *rest = lines_of(tmp_path)
    write_lines(tmp_path, [second, first, *rest])
    with pytest.raises(DataError, match="line 1 was written as line 2, so the line before it is missing: put an empty"):
        play_match(C4, *agents(), FOUR, folder=tmp_path)
    write_lines(tmp_path, ["\n", second, first, *rest])
    with pytest.raises(
        DataError, match="line 3 was written as line 1, so it stands there twice, or in the wrong place"
    ):
        play_match(C4, *agents(), FOUR, folder=tmp_path)
    write_lines(tmp_path, ["\n", second, *rest])
    assert figures(play_match(C4, *agents(), FOUR, folder=tmp_path)) == finished[1]


def test_a_torn_last_line_is_dropped_and_told(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    path = tmp_path / "sets.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert len(read_sets(tmp_path, C4)) == 3
    assert figures(play_match(C4, *agents(), FOUR, folder=tmp_path)) == finished[1]
    assert "sets.jsonl ends in a torn line: it is left out, and its games are played again when" in caplog.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"set": "x"}, "its set is no whole number"),
        ({"set": -1}, "its set is no whole number"),
        ({"more": 1}, "its fields are not set, opening and games"),
        ({"games": []}, "it does not hold 2 games"),
        ({"games": 7}, "it does not hold 2 games"),
        ({"games": [7, 7]}, "it holds a game with other fields"),
        ({"opening": "x"}, "connect_four position 'x'"),
        ({"opening": [99]}, "move 1, 99, is not legal"),
        ({"opening": [1e300]}, "it holds moves that are none"),
        ({"opening": [0, 1, 0, 1, 0, 1, 0]}, "its opening is a finished game"),
        ({"opening": "X......X......X......X....../........"}, "connect_four position"),
        ({"forget": "x"}, "it forgets what is no set"),
    ],
)
def test_a_line_that_cannot_be_is_refused_though_its_checksum_fits(
    changes: dict[str, Any], message: str, finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    lines = lines_of(tmp_path)
    write_lines(tmp_path, [lines[0], reseal(tmp_path, 2, **changes), *lines[2:]])
    with pytest.raises(DataError, match=rf"sets.jsonl, line 2 is damaged \(.*{message}.*\): leave an empty line"):
        read_sets(tmp_path, C4)
    if "opening" in changes:
        message = "its opening is not that of its set"
    with pytest.raises(DataError, match=rf"sets.jsonl, line 2 is damaged \(.*{message}.*\): leave an empty line"):
        play_match(C4, *agents(), FOUR, folder=tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seats": [1, 1]}, r"seats \[1, 1\] where \[0, 1\] are next"),
        ({"actions": 3}, "it holds moves that are none"),
        ({"actions": [True]}, "it holds moves that are none"),
        ({"actions": []}, "a game goes on after 0 moves"),
        ({"actions": [], "end": "forfeit: x", "forfeited_by": 2}, "nobody can say how it ended"),
        ({"actions": [], "end": "forfeit: x"}, "nobody can say who forfeited it"),
        ({"end": "boredom"}, "no game ends by 'boredom'"),
        ({"utilities": [1.0]}, "its utilities are not those of players"),
        ({"utilities": [float("nan"), 1.0]}, "its utilities are not those of players"),
        ({"utilities": [9.0, -9.0]}, "its utilities are not those of players"),
        ({"utilities": [0.5, -0.5]}, "a result is not that of its moves"),
        ({"moves": [1, -1]}, "its moves or nodes are no two counts"),
        ({"nodes": [1, 10**30]}, "its moves or nodes are no two counts"),
        ({"seconds": [0.0, float("inf")]}, "its seconds are no two times"),
        ({"luck": "x"}, "its luck is no number"),
    ],
)
def test_a_game_that_cannot_be_is_refused_though_its_checksum_fits(
    changes: dict[str, Any], message: str, finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    lines = lines_of(tmp_path)
    first, second = json.loads(lines[1])["games"]
    write_lines(tmp_path, [lines[0], reseal(tmp_path, 2, games=[{**first, **changes}, second]), *lines[2:]])
    with pytest.raises(DataError, match=rf"sets.jsonl, line 2 is damaged \({message}\): leave an empty line"):
        play_match(C4, *agents(), FOUR, folder=tmp_path)


def test_damaged_or_lost_terms_are_written_again(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    path = tmp_path / "match.json"
    good = path.read_text()
    for damaged in ("{", "[]", "[" * 100_000, good.replace("connect_four", "othello")):
        path.write_text(damaged)
        with pytest.raises(
            DataError, match=r"match\.json is damaged \(.*\): delete it, and the command that plays this"
        ):
            play_match(C4, *agents(), FOUR, folder=tmp_path)
    path.unlink()  # the remedy
    with pytest.raises(
        DataError, match=r"holds games of another match, and no match\.json: remove it, or choose another"
    ):
        play_match(C4, *agents(), MatchSettings(pairs=4, seed=4), folder=tmp_path)
    assert figures(play_match(C4, *agents(), FOUR, folder=tmp_path)) == finished[1]
    assert path.read_text() == good
    assert len(lines_of(tmp_path)) == 4


def test_sets_of_another_match_are_refused(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    play_match(C4, *agents(), MatchSettings(pairs=1, seed=4), folder=tmp_path)
    write_lines(tmp_path, lines_of(finished[0]))
    with pytest.raises(
        DataError, match=r"lines 1, 2, 3 and 4 are damaged \(its checksum does not fit\): leave empty lines in"
    ):
        play_match(C4, *agents(), MatchSettings(pairs=1, seed=4), folder=tmp_path)


def test_folders_of_earlier_versions_are_refused(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    for name in ("match.json", "sets.jsonl"):
        text = (finished[0] / name).read_text()
        (tmp_path / name).write_text(re.sub(r',\s*"sha256":\s*"\w+"', "", text))
    with pytest.raises(
        DataError, match=r"match\.json is damaged \(it has no checksum, as files of earlier versions\): delete"
    ):
        play_match(C4, *agents(), FOUR, folder=tmp_path)
    (tmp_path / "match.json").write_text((finished[0] / "match.json").read_text())
    with pytest.raises(DataError, match=r"sets\.jsonl has no checksums, as files of earlier versions: remove "):
        play_match(C4, *agents(), FOUR, folder=tmp_path)


def test_tables_over_an_eval_leave_its_weights_visible():
    game = ConnectFour()
    evals = [SolvedEval(heuristic(game, name), lambda s: None) for name in list(game.heuristics)[:2]]
    marks = {weights_mark(evaluator) for evaluator in evals}
    assert len(marks) == 2
    assert marks == {weights_mark(evaluator.below) for evaluator in evals}
