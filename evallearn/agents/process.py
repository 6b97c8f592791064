"""A program that plays: found, started, spoken to line by line, and ended for certain.

Nothing here waits without a deadline. Threads move the bytes, so that neither a program that floods its stderr nor one
that does not read its input can block us; and whatever happens, the process is killed and reaped.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from queue import Empty, Full, Queue
from threading import TIMEOUT_MAX, Event, Thread, current_thread
from time import monotonic
from typing import IO

from evallearn.errors import SpecError

MORE_FOLDERS = ("/usr/games", "/usr/local/games")
"""Where Debian puts engines; they are often missing in PATH, root's for instance."""
LONGEST_LINE = 1 << 20
"""Bytes; what is longer is cut: no answer is."""
WAITING_LINES = 10_000
"""More than any engine says of one move; one that says more waits until we have read them."""
KEPT_WORDS = 20
"""Lines of stderr that are kept: the last."""
GRACE = 0.5
"""Seconds for a program to end by itself after its input was closed, or after it closed its output."""


class Failure(Exception):
    """What went wrong with a process, as the middle of a sentence: `ended with exit code 3`."""


class Silence(Failure):
    """It still runs, but the deadline has passed."""


def split_command(command: str) -> list[str]:
    """Return the program and its arguments, with quotes as in a shell; find the program. Raises SpecError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SpecError(f"command {command!r} cannot be read ({error}): close its quotes") from None
    if not words:
        raise SpecError("an engine without a program: name one, as in uci:stockfish@depth=3")
    return [find_program(words[0]), *words[1:]]


def find_program(name: str) -> str:
    """Return the path of a program that can be run: in PATH, or where Debian keeps games. Raises SpecError."""
    if found := _which(name):
        return found
    if os.path.isfile(name):
        here = name if os.sep in name else f".{os.sep}{name}"
        remedy = f"write {here}" if os.access(name, os.X_OK) else "chmod +x it, or name what runs it, as python3"
        raise SpecError(f"program {name!r} cannot be run as it is: {remedy}")
    raise SpecError(f"no program {name!r} in PATH nor in {MORE_FOLDERS[0]}: install it, or give its path")


def _which(name: str) -> str | None:
    """Return what runs under that name; from the current folder only if the name says so, as in ./engine."""
    if os.path.dirname(name):
        return shutil.which(name)
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *MORE_FOLDERS]
    found = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))
    return found if found and os.path.isabs(found) else None  # Windows searches the current folder all the same


@cache
def dies_with_us() -> tuple[str, ...]:
    """Return what to put before a command so that the system kills it when this process is killed.

    The end of its input ends most engines, but not all: GNU Chess goes on reading nothing, for ever.
    """
    found = _which("setpriv")  # of util-linux, on every Linux
    return (found, "--pdeathsig", "KILL", "--") if found else ()


class EngineProcess:
    """A running program with lines in and lines out. It ends with `end`, with this object or with this process."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Start the program in a session of its own: Ctrl-C in the terminal is not for it. Raises Failure."""
        try:
            self._popen = subprocess.Popen(
                [*dies_with_us(), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(f"cannot be started ({error.strerror or error})") from None
        self._lines: Queue[str | None] = Queue(WAITING_LINES)
        self._orders: Queue[str | None] = Queue()
        self._words: deque[str] = deque(maxlen=KEPT_WORDS)
        self._over = Event()
        stdin, stdout, stderr = map(_opened, (self._popen.stdin, self._popen.stdout, self._popen.stderr))
        # The threads must not refer to `self`: an engine that nobody has any more is to be ended.
        self._threads = [
            Thread(target=_write, args=(stdin, self._orders), daemon=True),
            Thread(target=_read, args=(stdout, self._lines, self._over), daemon=True),
            Thread(target=_keep, args=(stderr, self._words), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._finalizer = weakref.finalize(self, _end, self._popen, self._orders, self._over, self._threads)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._popen.pid

    def send(self, line: str) -> None:
        """Send one line. Never wait: `line` shows whether it arrived."""
        self._orders.put(line)

    def line(self, deadline: float) -> str:
        """Return the next line it says, until `deadline` by the monotonic clock. Raises Failure."""
        if self._over.is_set():
            raise Failure("was ended")
        try:
            found = self._lines.get(timeout=min(max(0.0, deadline - monotonic()), TIMEOUT_MAX))
        except Empty:
            raise Silence("gave no answer in time") from None
        if found is None:
            self._lines.put(None)  # it has ended for whoever asks next, too
            raise Failure(self._ended())
        return found

    def forget(self) -> None:
        """Drop what it has said so far: lines from before a question are no answer to it."""
        with suppress(Empty):
            while (line := self._lines.get_nowait()) is not None:
                pass
            self._lines.put(line)

    def last_words(self) -> str:
        """Return the last line of its stderr that is not empty."""
        return next((line for line in reversed(list(self._words)) if line), "")

    def end(self, goodbye: str | None = None) -> None:
        """Kill and reap it; with a `goodbye` (may be empty) it first has half a second to end by itself."""
        if goodbye is not None and self._popen.poll() is None:
            if goodbye:
                self.send(goodbye)
            self._orders.put(None)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(GRACE)
        self._finalizer()

    def _ended(self) -> str:
        """Say why its output is at its end."""
        try:
            code = self._popen.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._threads[2].join(GRACE)  # so that its last words are read
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # we asked for a pipe
    return stream


# --- threads, and the end --------------------------------------------------------------------------------------------
def _write(stream: IO[bytes], orders: Queue[str | None]) -> None:
    """Hand on what is ordered; None closes the stream."""
    with suppress(OSError), stream:  # a program that has ended reads no more: its silence shows that
        while (order := orders.get()) is not None:
            stream.write(order.encode() + b"\n")
            stream.flush()


def _read(stream: IO[bytes], lines: Queue[str | None], over: Event) -> None:
    """Hand on every line, and None at the end."""
    with stream:
        while raw := stream.readline(LONGEST_LINE):
            _put(lines, raw.decode(errors="replace").rstrip("\r\n"), over)
    _put(lines, None, over)


def _put(lines: Queue[str | None], line: str | None, over: Event) -> None:
    while not over.is_set():
        with suppress(Full):
            return lines.put(line, timeout=0.1)


def _keep(stream: IO[bytes], words: deque[str]) -> None:
    with stream:
        while raw := stream.readline(LONGEST_LINE):
            words.append(raw.decode(errors="replace").strip())


def _end(popen: subprocess.Popen[bytes], orders: Queue[str | None], over: Event, threads: Sequence[Thread]) -> None:
    """Leave no process, no zombie and no open pipe."""
    over.set()
    orders.put(None)
    if popen.poll() is None:
        with suppress(OSError):  # it may end by itself just now
            if hasattr(os, "killpg"):
                os.killpg(popen.pid, signal.SIGKILL)  # and whatever it has started
            else:
                popen.kill()
        popen.wait()
    for thread in threads:
        if thread is not current_thread():  # the garbage collector may call from any
            thread.join(GRACE)  # a program's child that left its session may hold a pipe: do not wait for ever
