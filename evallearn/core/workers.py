"""Jobs over processes: `imap` runs a function on each job, here or in spawned workers, and survives what kills them.

Not a ProcessPoolExecutor: there one pipe is shared by all workers, so that a worker killed in the middle of a result
can leave the parent waiting for ever, and one death throws the whole pool away. Here each worker has a pipe of its own:
its death is an end of file, and it alone is replaced.

A worker does not run the script that was started, as those of `multiprocessing` do, unless a job is of its classes or
functions: so a script needs `if __name__ == "__main__":` only if it defines what its jobs are made of.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker, spawn
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias, TypeVar

from evallearn.core.interrupts import notice_interrupts
from evallearn.errors import EvallearnError, SpecError

FUNCTION, JOB = b"f", b"j"
"""How a message to a worker begins."""
SAFE_PATH = "PYTHONSAFEPATH"
"""With it Python leaves the current folder out of sys.path."""
Answer: TypeAlias = tuple[bool, Any]
"""True and a result, or False and the exception that the job raised."""
HELLO: Answer = (True, "hello")
"""What a worker says first: it could be started, and whatever kills it now is its job."""
Job = TypeVar("Job")
Result = TypeVar("Result")


def imap(
    function: Callable[[Job], Result], jobs: Sequence[Job], workers: int, retries: int = 3
) -> Generator[tuple[int, Result], None, None]:
    """Yield (index, function(jobs[index])) as the jobs finish; one worker means in this process, in order.

    A job must not mind being run twice: the job of a worker that dies is given to another. No result is kept here:
    a worker waits until its last one is taken, so memory does not grow with the number of jobs.
    """
    check_workers(workers)
    if _is_loading_main:
        raise SpecError("a worker process cannot have workers: do the work under `if __name__ == '__main__':`")
    workers = min(workers, len(jobs))
    if workers <= 1:
        return _in_this_process(function, jobs)
    return _in_processes(_pickled(function), jobs, workers, retries)


def _in_this_process(
    function: Callable[[Job], Result], jobs: Sequence[Job]
) -> Generator[tuple[int, Result], None, None]:
    with notice_interrupts() as check:
        for i, job in enumerate(jobs):
            result = function(job)
            check()
            yield i, result


def check_workers(workers: int) -> None:
    """Refuse a number of workers that makes no sense."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise SpecError(f"workers={workers!r}: give a whole number of 1 or more")


_kept: list[_Worker] | None = None
"""Idle workers that wait for the next `imap`, inside `keep_workers`."""


@contextmanager
def keep_workers() -> Iterator[None]:
    """Let workers that are done inside wait for the next `imap` instead of ending.

    Starting one takes a second or two.
    For a run of many short jobs. They are the same processes: code that is edited meanwhile is not loaded again.
    """
    global _kept
    outer, _kept = _kept, []
    try:
        yield
    finally:
        for worker in _kept:
            worker.stop()
        _kept = outer


def _in_processes(
    function: bytes, jobs: Sequence[object], workers: int, retries: int
) -> Generator[tuple[int, Result], None, None]:
    waiting = deque(range(len(jobs)))
    pool: list[_Worker] = []
    deaths = 0
    try:
        while waiting or any(w.busy for w in pool):
            for _ in range(min(workers - len(pool), len(waiting))):
                pool.append(_hire(function))  # all are started before any is waited for
            for worker in pool:
                if waiting and not worker.busy:
                    worker.assign(waiting.popleft(), jobs)
            for worker in _with_news(pool):
                answer = worker.receive()
                if answer is HELLO:
                    continue
                if answer is None:
                    pool.remove(worker)
                    worker.stop()
                    deaths += 1
                    if deaths > retries:
                        raise _gave_up(worker, deaths)
                    waiting.appendleft(worker.index)
                elif not answer[0]:
                    raise answer[1]
                else:
                    index = worker.index
                    if waiting:  # before the yield: it works on while the consumer does
                        worker.assign(waiting.popleft(), jobs)
                    yield index, answer[1]
    finally:  # also on Ctrl-C and when the consumer walks away: nobody is left computing
        for worker in pool:
            if _kept is None or worker.busy or not worker.spoke:
                worker.stop()
            else:
                _kept.append(worker)


def _hire(function: bytes) -> _Worker:
    """Return a worker for `function`: one that was kept and still lives, or a new one."""
    while _kept:
        worker = _kept.pop()
        if worker.process.is_alive():
            worker.function, worker.fed = function, False
            return worker
        worker.stop()
    return _Worker(function)


def _with_news(pool: list[_Worker]) -> list[_Worker]:
    """Return the workers that have answered or died; wait for the first."""
    ready = wait([w.connection for w in pool if w.busy])
    return [w for w in pool if w.connection in ready]


def _gave_up(worker: _Worker, deaths: int) -> EvallearnError:
    code = worker.process.exitcode
    if not worker.spoke:
        return EvallearnError(
            f"worker processes ended before they could start (exit code {code}, {deaths} times): use workers=1"
        )
    return EvallearnError(
        f"a worker process died {deaths} times, the last on job {worker.index} with exit code {code} "
        "(-9: killed, often for want of memory; -11: crashed): use fewer workers, or workers=1 to see the job fail here"
    )


def _pickled(function: object) -> bytes:
    try:
        return pickle.dumps(function)
    except Exception as error:  # pickle raises whatever the object's own code raises
        raise EvallearnError(
            f"this job cannot be sent to worker processes ({type(error).__name__}: {error}): define its classes and "
            "functions at the top of a module, or use workers=1"
        ) from error


class _Worker:
    """One spawned process and our end of its pipe. Spawned, not forked: Numba and torch keep threads."""

    def __init__(self, function: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.function = function
        self.index = -1
        self.busy = self.spoke = self.fed = False
        self.connection, theirs = context.Pipe()
        told = (theirs, os.environ.get(SAFE_PATH), _main_script())
        self.process = context.Process(target=_serve, args=told, daemon=True)
        with _safe_path(), _no_interrupt(), _no_main_script():
            self.process.start()
        theirs.close()  # so that its death is an end of file here

    def assign(self, index: int, jobs: Sequence[object]) -> None:
        """Give it a job; if it is dead, `receive` will say so."""
        self.index, self.busy = index, True
        job = _pickled(jobs[index])
        with suppress(OSError):
            if not self.fed:
                self.connection.send_bytes(FUNCTION + self.function)
                self.fed = True
            self.connection.send_bytes(JOB + job)

    def receive(self) -> Answer | None:
        """Return HELLO, (True, result), (False, the exception that the job raised), or None if the worker died."""
        try:
            answer = self.connection.recv_bytes()
        except (EOFError, OSError):
            return None
        if not self.spoke:
            self.spoke = True
            return HELLO
        self.busy = False
        return pickle.loads(answer)  # type: ignore[no-any-return]

    def stop(self) -> None:
        self.process.kill()  # not terminate(): nothing the job does may delay it
        self.process.join()
        self.connection.close()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Make a Python started inside import nothing from the current folder until it has our sys.path.

    `multiprocessing` starts it by `python -c`, which would look there first, even for Python's own modules.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        _set_safe_path(before)


def _set_safe_path(value: str | None) -> None:
    os.environ.pop(SAFE_PATH, None)
    if value is not None:
        os.environ[SAFE_PATH] = value


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C from a process started inside, even while it imports: it inherits the mask."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # the first spawn starts it, and that would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _main_script() -> dict[str, object]:
    """Return what a process of `multiprocessing` needs to import the script that was started."""
    return {k: v for k, v in spawn.get_preparation_data("worker").items() if k.startswith("init_main")}


@contextmanager
def _no_main_script() -> Iterator[None]:
    """Keep a Python started inside from importing the script at once; `_work` does, if a job needs it."""
    main = sys.modules["__main__"]
    kept: dict[str, object] = {name: vars(main)[name] for name in ("__spec__", "__file__") if name in vars(main)}
    main.__spec__ = None
    vars(main).pop("__file__", None)
    try:
        yield
    finally:
        vars(main).update(kept)


# --- in the worker -------------------------------------------------------------------------------------------------
_is_loading_main = False


def _load_main(script: dict[str, object]) -> None:
    """Import the script that was started, for its classes and functions. Raises EvallearnError where it does more."""
    global _is_loading_main
    _is_loading_main = True
    try:
        spawn.prepare(script)
    except (Exception, SystemExit) as error:
        what = "it works anew" if isinstance(error, EvallearnError) else f"{type(error).__name__}: {error}"
        raise EvallearnError(
            f"worker processes import the script, whose classes or functions are part of the job; there {what}: "
            "a script must do its work under `if __name__ == '__main__':`; or use workers=1"
        ) from None
    finally:
        _is_loading_main = False


def _serve(connection: Connection, safe_path: str | None, script: dict[str, object]) -> None:
    """Run a worker: a function, job after job, perhaps another function, until the parent closes the pipe.

    script: how to import the script that was started.
    safe_path: what programs that it starts shall find in their environment, as those of the parent do.
    """
    _set_safe_path(safe_path)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        connection.send_bytes(b"hello")
        _work(connection, script)


def _work(connection: Connection, script: dict[str, object]) -> None:
    function, pickled = None, b""
    while True:
        message = connection.recv_bytes()
        if message[:1] == FUNCTION:
            function, pickled = None, message[1:]
            continue
        job = message[1:]
        try:
            if script and b"__main__" in pickled + job:
                _load_main(script)
                script = {}
        except EvallearnError as error:
            connection.send_bytes(pickle.dumps((False, error)))
            continue
        try:  # the function is read in here too: a class that the worker cannot import must be told, not die
            function = function or pickle.loads(pickled)
            answer = pickle.dumps((True, function(pickle.loads(job))), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            answer = _pickled_error(error)
        connection.send_bytes(answer)


def _die_with_parent() -> None:
    """End a worker whose parent was killed: without it, a long job would go on for nobody.

    Not prctl(PR_SET_PDEATHSIG): that is Linux only, and fires when the *thread* that started the worker ends.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _pickled_error(error: Exception) -> bytes:
    """Pickle the exception as it is if it can travel, else its text; the worker's traceback goes with it as a note."""
    where = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"in a worker process:\n{where}")
        answer = pickle.dumps((False, error))
        pickle.loads(answer)  # some exceptions can be written but not read
        return answer
    except Exception:
        return pickle.dumps((False, EvallearnError(f"a job failed in a worker process:\n{where}")))
