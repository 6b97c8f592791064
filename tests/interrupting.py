"""Ctrl-C for the tests of searches."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[list[float]]:
    """Sends SIGINT to the main thread, as a terminal does; yields when it was sent.

    Without the garbage collector: Hypothesis has a callback in it, and Python drops a Ctrl-C that arrives there.
    """
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]  # it has one

    timer = threading.Timer(seconds, send)
    gc.disable()
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        gc.enable()
