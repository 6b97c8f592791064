"""Kernels on disk: found again by the next process, never stale. Each run is a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import toys

from evallearn.compiled.game import CompiledGame
from evallearn.compiled.specialise import cache_folder
from evallearn.errors import GameError

GAME = """
from typing import NamedTuple
import numpy as np
import cached_help
from cached_help import worth
from evallearn.compiled import jitable, mix64, u64
from evallearn.errors import IllegalAction
from evallearn.core.game import Game
from evallearn.core.rules import Rules

class Heap(NamedTuple):
    left: int
    player: int

@jitable
def actions(s, out):
    n = np.int64(min(s.left, u64(cached_help.MOST)))
    for i in range(n):
        out[i] = i
    return n

@jitable
def result(s, a):
    return Heap(s.left - u64(a) - u64(1), u64(1) - s.player)

@jitable
def is_terminal(s):
    return cached_help.nothing_left(s.left)

@jitable
def to_play(s):
    return np.int64(s.player)

@jitable
def utility_mover(s):
    return np.float32(-1)

@jitable
def features_mover(s, out):
    out[0] = worth(np.int64(s.left))

@jitable
def phase(s):
    return np.int64(0)

@jitable
def key(s):
    return mix64(s.left << u64(1) | s.player)

RULES = Rules(
    State=Heap, actions=actions, result=result, is_terminal=is_terminal, to_play=to_play, phase=phase, key=key,
    utility_mover=utility_mover, features_mover=features_mover, n_actions=3, max_actions=3, max_plies=12,
)

class Heaps(Game):
    name = "heaps"
    feature_names = ("worth",)
    rules = RULES
    def initial(self): return Heap(12, 0)
    def to_play(self, s): return s.player
    def actions(self, s): return range(min(s.left, cached_help.MOST))
    def result(self, s, a): return Heap(s.left - a - 1, 1 - s.player)
    def is_terminal(self, s): return s.left == 0
    def utility(self, s, player): return -1.0 if player == s.player else 1.0
    def features(self, s, player): return (worth(s.left) * (1 if player == s.player else -1),)
    def to_text(self, s): return f"{s.left}:{s.player}"
    def from_text(self, text): return Heap(*map(int, text.split(":")))
"""
HELP = """
from evallearn.compiled import jitable
MOST = 3
SCALE = 2

@jitable
def worth(left):
    return left * SCALE + 1

@jitable
def nothing_left(left):
    return left == 0
"""
REPORT = """
import json, logging, sys
from evallearn.compiled import specialise as sp
log = []
class Keep(logging.Handler):
    def emit(self, record): log.append(record.getMessage())
logging.getLogger("evallearn.compiled").addHandler(Keep())
logging.getLogger("evallearn.compiled").setLevel("INFO")

def report(**answers):
    kernels = {f for m in sp._loaded.values() for f in vars(m).values() if hasattr(f, "stats")}
    cached = [f for f in kernels if f._cache.cache_path is not None]
    hits, misses = (sum(sum(getattr(f.stats, k).values()) for f in cached) for k in ("cache_hits", "cache_misses"))
    recursive = sorted((f.__name__, len(f.signatures)) for f in kernels if f.__name__ in ("value_mover", "count"))
    print(json.dumps({**answers, "log": log, "hits": hits, "misses": misses, "recursive": recursive}))
"""
RULES_ONLY = """
from evallearn.compiled.game import CompiledGame
game = Heaps()
fast = CompiledGame(game)
s = game.initial()
found = {"features": fast.features(s, 0)[0], "actions": len(fast.actions(s))}
found["over"] = fast.is_terminal(game.from_text("9:0"))
"""
WITH_EVAL = """
from evallearn import LinearEval, heuristic
e = LinearEval(game, [[0.01]])
found |= {"plain": e.evaluate(s, 0), "compiled": float(e.evaluate_batch([s], [0])[0]), "perft": fast.perft(s, 3)}
"""
DONE = "report(**found)\n"
RUN = REPORT + "from cached_game import Heaps\n" + RULES_ONLY + WITH_EVAL + DONE
LIGHT = REPORT + "from cached_game import Heaps\n" + RULES_ONLY + DONE
BIG = (
    REPORT
    + """
import numpy as np
from evallearn import AlphaBeta, LinearEval, heuristic, Limits, NetEval, get_game
from evallearn.compiled.game import CompiledGame
game = get_game("tic_tac_toe")
s = game.initial()
linear = heuristic(game, "lines")
rng = np.random.default_rng(0)
shapes = {"w1": (5, 32), "b1": (32,), "w2": (32, 16), "b2": (16,), "w3": (16, 1), "b3": (1,)}  # those of learn
net = NetEval(game, {k: rng.normal(0, 0.3, (1, *v)) for k, v in shapes.items()})
fast = CompiledGame(game)
answers = {"perft": fast.perft(s, 5), "key": fast.key(s), "phase": fast.phase(s)}
for e in (linear, net):
    found = AlphaBeta(game, e).search(s, Limits(depth=4))
    answers[e.name] = [found.value, found.action, found.nodes, float(e.evaluate_batch([s], [0])[0])]
report(**answers)
"""
)


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ, "EVALLEARN_CACHE": str(folder / "cache"), "PYTHONPATH": toys.python_path(folder),
        "PYTHONDONTWRITEBYTECODE": "1", **more,
    }  # fmt: skip


def start(folder: Path, code: str, **env: str) -> subprocess.Popen:
    script = folder / "run.py"
    script.write_text(code)
    return subprocess.Popen(
        [sys.executable, str(script)],
        env=environment(folder, **env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, f"exit code {process.returncode}\n{err}"
    return json.loads(out.splitlines()[-1])


def run(folder: Path, code: str = RUN, **env: str) -> dict[str, Any]:
    return finish(start(folder, code, **env))


def answers(report: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in report.items() if k not in ("log", "hits", "misses", "recursive")}


def write_game(folder: Path, **edits: tuple[str, str]) -> None:
    """The user's two files; edits: game=(old, new) or help=(old, new)."""
    for name, text in (("game", GAME), ("help", HELP)):
        old, new = edits.get(name, ("", ""))
        assert not old or text.count(old) == 1
        (folder / f"cached_{name}.py").write_text(text.replace(old, new) if old else text)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> tuple[Path, dict[str, Any]]:
    """A folder with the user's game and a cache that one process filled, and what it reported."""
    folder = tmp_path_factory.mktemp("home")
    write_game(folder)
    return folder, run(folder)


# --- the user's own game -----------------------------------------------------------------------------------------
@pytest.mark.long
def test_two_cold_processes_at_once_both_work_and_say_that_they_compile(tmp_path):
    write_game(tmp_path)
    both = [start(tmp_path, RUN), start(tmp_path, RUN)]
    first, second = [finish(process) for process in both]
    assert answers(first) == answers(second)
    assert first["compiled"] == first["plain"]
    assert (first["features"], first["actions"], first["over"], first["perft"]) == (25.0, 3, False, 27)
    assert first["misses"] + first["hits"] == second["misses"] + second["hits"]
    # Whoever comes second to a kernel may find the other's: each is compiled, and told, by at least one of the two.
    told = first["log"] + second["log"]
    assert any("compiling the rules of heaps (a few seconds; kept in" in line for line in told)
    assert any("compiling the linear evaluator of heaps" in line for line in told)
    assert any("compiling perft of heaps" in line for line in told)
    assert all(str(tmp_path / "cache") in line for line in told)
    assert first["misses"] + second["misses"] >= first["misses"] + first["hits"]
    for report in (first, second):
        assert report["recursive"] in ([["count", 1]], [["count", 0]])  # 0: fetched from the disk


def test_next_process_finds_every_kernel_and_says_nothing(home):
    folder, cold = home
    write_game(folder)
    warm = run(folder)
    assert answers(warm) == answers(cold)
    assert (warm["misses"], warm["log"]) == (0, [])
    assert warm["hits"] == cold["misses"] + cold["hits"] > 0


@pytest.mark.long
def test_comment_in_either_file_compiles_nothing(home):
    folder, cold = home
    write_game(
        folder,
        help=("MOST = 3", "# at most\n\nMOST = 3  # three"),
        game=("def actions(s, out)", "# moves\ndef actions(s, out)"),
    )
    report = run(folder)
    assert answers(report) == answers(cold)
    assert (report["misses"], report["log"]) == (0, [])


@pytest.mark.parametrize(
    ("edit", "features", "over"),
    [
        pytest.param(("SCALE = 2", "SCALE = 3"), 37.0, False, marks=pytest.mark.long),
        (("left == 0", "left <= 10"), 25.0, True),
    ],
    ids=["constant", "rule"],
)
def test_edit_in_the_helper_file_is_seen_at_once(home, edit, features, over):
    folder, _ = home
    write_game(folder, help=edit)
    edited = run(folder, LIGHT)
    assert edited["misses"] > 0
    assert edited["log"]
    assert (edited["features"], edited["over"]) == (features, over)


@pytest.mark.long
def test_edit_of_a_feature_function_reaches_the_eval_and_back_again(home):
    folder, cold = home
    write_game(folder, help=("left * SCALE + 1", "left * SCALE + 2"))
    edited = run(folder)
    assert edited["features"] == 26.0
    assert edited["compiled"] == edited["plain"] != cold["plain"]
    write_game(folder)
    back = run(folder)
    assert answers(back) == answers(cold)
    assert back["misses"] == 0


@pytest.mark.long
def test_game_in_main_is_found_again(tmp_path):
    write_game(tmp_path)
    code = REPORT + GAME + RULES_ONLY + DONE
    cold, warm = run(tmp_path, code), run(tmp_path, code)
    assert answers(cold) == answers(warm)
    assert cold["misses"] > 0
    assert (warm["misses"], warm["log"]) == (0, [])


@pytest.mark.long
def test_unwritable_cache_folder_works_without_cache(tmp_path):
    write_game(tmp_path)
    (tmp_path / "file").write_text("in the way")
    report = run(tmp_path, LIGHT, EVALLEARN_CACHE=str(tmp_path / "file" / "cache"))
    assert report["features"] == 25.0
    assert report["hits"] == report["misses"] == 0
    assert report["log"]
    assert all("(a few seconds; not kept: cannot write to" in line for line in report["log"])
    assert (tmp_path / "file").read_text() == "in the way"


# --- every kernel we ship ----------------------------------------------------------------------------------------
def test_every_kernel_runs_from_a_warm_cache(tmp_path):
    """Numba #6061: a recursive function with two signatures crashes when it is loaded from the disk."""
    ours = str(cache_folder())  # not an empty one: these kernels take long to compile, and other tests need them too
    first = run(tmp_path, BIG, EVALLEARN_CACHE=ours)
    assert [name for name, _ in first["recursive"]] == ["count", "value_mover", "value_mover"]
    assert all(signatures <= 1 for _, signatures in first["recursive"])
    assert first["perft"] == 15120
    warm = run(tmp_path, BIG, EVALLEARN_CACHE=ours)
    assert answers(warm) == answers(first)
    assert (warm["misses"], warm["log"]) == (0, [])
    assert warm["hits"] == first["hits"] + first["misses"] > 0
    plain = run(tmp_path, BIG, NUMBA_DISABLE_JIT="1")
    assert answers(plain) == answers(first)


@pytest.mark.long
def test_redefined_helper_of_a_compiled_function_is_refused(tmp_path, monkeypatch):
    """As in a notebook: Numba would serve the old code, and we would keep it under the new fingerprint."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("EVALLEARN_CACHE", str(tmp_path / "cache"))
    write_game(tmp_path)
    module = importlib.import_module("cached_game")
    helper = sys.modules["cached_help"]
    try:
        game = CompiledGame(module.Heaps())
        assert game.features(game.initial(), 0) == [25.0]
        monkeypatch.setattr(helper, "SCALE", 5)
        with pytest.raises(
            GameError,
            match=r"was redefined: cached_help\.worth, cached_game\.features_mover; run their own definitions",
        ):
            CompiledGame(module.Heaps())
        monkeypatch.setattr(helper, "SCALE", 2)
        assert CompiledGame(module.Heaps()).features(game.initial(), 0) == [25.0]
    finally:
        del sys.modules["cached_game"], sys.modules["cached_help"]
