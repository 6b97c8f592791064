"""The jobs below are functions of the standard library: a worker process can import those wherever pytest runs."""

from __future__ import annotations

import functools
import math
import operator
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from evallearn.core.workers import imap, keep_workers
from evallearn.errors import EvallearnError, SpecError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_imap_gives_every_result_once(workers: int) -> None:
    results = list(imap(math.factorial, [5, 3, 0, 10], workers))
    assert sorted(results) == [(0, 120), (1, 6), (2, 1), (3, 3628800)]


def test_imap_yields_in_order_of_completion() -> None:
    assert next(imap(time.sleep, [1.5, 0.0], 2))[0] == 1


def test_imap_of_nothing_is_empty() -> None:
    assert list(imap(abs, [], 4)) == []


def test_one_worker_runs_in_this_process() -> None:
    assert dict(imap(os.path.exists, ["/"], 1)) == {0: True}
    assert next(imap(lambda job: os.getpid(), ["x", "y"], 1)) == (0, os.getpid())


@pytest.mark.parametrize("given", [None, "1"])
def test_a_worker_has_the_environment_of_its_parent(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    """It is started by other means, but the programs that it starts must find what they would find without it."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if given:
        monkeypatch.setenv("PYTHONSAFEPATH", given)
    before = dict(os.environ)
    assert dict(imap(os.getenv, ["PYTHONSAFEPATH", "HOME"], 2))[0] == given
    assert dict(os.environ) == before


def test_results_larger_than_a_pipe_come_back_whole() -> None:
    results = dict(imap(functools.partial(operator.mul, b"x"), [3_000_000, 5], 2))
    assert results == {0: b"x" * 3_000_000, 1: b"xxxxx"}


def test_the_jobs_exception_is_raised_here_with_its_traceback() -> None:
    with pytest.raises(FileNotFoundError) as caught:  # an OSError is no sign of a dead worker
        list(imap(os.listdir, ["/nowhere/at/all", "/"], 2))
    assert "in a worker process" in caught.value.__notes__[0]


def test_an_exception_that_cannot_travel_comes_as_text() -> None:
    with pytest.raises(EvallearnError, match=r"a job failed in a worker process(.|\n)*SubprocessDies"):
        list(imap(exec, ["class SubprocessDies(Exception): pass\nraise SubprocessDies()", "0"], 2))


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_senseless_number_of_workers_is_refused(workers: int) -> None:
    with pytest.raises(SpecError, match="give a whole number of 1 or more"):
        imap(abs, [1], workers)


def test_unpicklable_job_is_refused_with_the_remedy() -> None:
    with pytest.raises(EvallearnError, match=r"cannot be sent to worker processes.*workers=1"):
        list(imap(lambda x: x, [1, 2], 2))
    with pytest.raises(EvallearnError, match=r"cannot be sent to worker processes.*workers=1"):
        list(imap(repr, [lambda: 1, 2], 2))


def test_a_killed_worker_is_replaced_and_its_job_done(tmp_path: Path) -> None:
    """The first to come dies; its job succeeds in the next worker."""
    flag = tmp_path / "flag"
    job = f"import os\ntry: os.mkdir({str(flag)!r})\nexcept FileExistsError: pass\nelse: os.kill(os.getpid(), 9)"
    assert sorted(i for i, _ in imap(exec, [job, job, job], 2)) == [0, 1, 2]


def test_a_job_that_always_kills_is_given_up() -> None:
    with pytest.raises(EvallearnError, match="died 2 times, the last on job 1 with exit code 7"):
        list(imap(exec, ["0", "import os; os._exit(7)"], 2, retries=1))


@pytest.mark.long
def test_workers_are_kept_for_the_next_jobs_and_end_with_the_block() -> None:
    def pids() -> set[int]:
        return {pid for _, pid in imap(eval, ["(__import__('time').sleep(0.2), __import__('os').getpid())[1]"] * 4, 2)}

    with keep_workers():
        first = pids()
        assert sorted(x for _, x in imap(abs, [-1, -2, -3], 2)) == [1, 2, 3]  # another function, the same processes
        assert pids() == first
        os.kill(min(first), signal.SIGKILL)
        time.sleep(0.2)
        second = pids()
        assert len(second) == 2
        assert second & first == {max(first)}
    for pid in first | second:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert not pids() & second  # outside the block they are new again


def run_script(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(body))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, script], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )


SCRIPTS = {
    "not of the script": ("print(sorted(imap(abs, [-1, 2], 2)))", "[(0, 1), (1, 2)]", ""),
    "of the script, guarded": (
        "if __name__ == '__main__':\n    print(sorted(imap(double, [1, 2], 2)), sorted(imap(repr, [Mine(), 1], 2)))",
        "[(0, 2), (1, 4)] [(0, 'mine'), (1, '1')]",
        "",
    ),
    "of the script": (
        "print(dict(imap(double, [1, 2], 2)))",
        "",
        "there it works anew: a script must do its work under",
    ),
    "jobs of the script": ("print(dict(imap(repr, [Mine(), 1], 2)))", "", "must do its work under `if __name__ =="),
    "of a script that fails": (
        "if __name__ != '__main__':\n    1 / 0\nprint(dict(imap(double, [1, 2], 2)))",
        "",
        "there ZeroDivisionError: division by zero: a script must",
    ),
    "of a script that ends": (
        "import sys\nif __name__ != '__main__':\n    sys.exit()\nprint(dict(imap(double, [1, 2], 2)))",
        "",
        "there SystemExit: : a script must",
    ),
}
"""What a script does with the function of a job -> what it prints, and the end of what it complains of."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_only_a_script_whose_jobs_are_its_own_needs_a_main_guard(tmp_path: Path, name: str) -> None:
    body, printed, complaint = SCRIPTS[name]
    defined = """
        from evallearn.core.workers import imap
        class Mine:
            def __repr__(self): return "mine"
        def double(x): return 2 * x
    """
    with run_script(tmp_path, textwrap.dedent(defined) + body) as script:
        out, errors = script.communicate(timeout=60)
    assert out.strip() == printed
    assert complaint in (errors.splitlines() or [""])[-1]
    assert len(errors.splitlines()) < 12
    assert bool(errors) == bool(complaint)


SLEEPERS = """
    import sys, time
    from evallearn.core.workers import imap, keep_workers
    job = "import os, time; os.write(1, b'%d\\\\n' % os.getpid()); time.sleep(60)"  # in one go: both write here
    if __name__ == "__main__":
        try:
            for _ in imap(exec, [job, job], 2):
                pass
        except KeyboardInterrupt:
            sys.exit(130)
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    with run_script(tmp_path, SLEEPERS) as script:
        kill_and_watch(script, how)


def kill_and_watch(script: subprocess.Popen[str], how: signal.Signals) -> None:
    assert script.stdout is not None
    assert script.stderr is not None
    pids = [int(script.stdout.readline()) for _ in range(2)]
    start = time.monotonic()
    for pid in (*pids, script.pid) if how == signal.SIGINT else (script.pid,):  # a terminal's Ctrl-C reaches them all
        os.kill(pid, how)
    code = script.wait(timeout=10)
    while any(map(alive, pids)) and time.monotonic() < start + 10:
        time.sleep(0.01)
    assert not any(map(alive, pids))
    assert time.monotonic() - start < 5
    assert code == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert script.stderr.read() == ""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_consumer_that_walks_away_leaves_nobody_working(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    job = f"import os, time; os.symlink(str(os.getpid()), {str(note)!r}); time.sleep(60)"
    wait = f"import os, time\nwhile not os.path.islink({str(note)!r}): time.sleep(0.01)"
    results = imap(exec, [wait, job], 2)
    assert next(results) == (0, None)
    results.close()  # as the end of a for loop does
    assert not alive(int(os.readlink(note)))
