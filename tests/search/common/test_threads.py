"""Kernels in threads: whoever gets the signal, Ctrl-C ends the search."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

from evallearn.search.common.threads import KernelThreads


def test_ctrl_c_that_reaches_another_thread_is_heard() -> None:
    stop = np.zeros(1, np.int64)

    def work() -> None:
        """Ten seconds, unless it is stopped; the signal comes to this very thread and wakes no other."""
        time.sleep(0.2)  # until the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        end = time.monotonic() + 10
        while not stop[0] and time.monotonic() < end:
            time.sleep(0.01)

    start = time.monotonic()
    assert KernelThreads([stop]).run([work], deadline=None, short=False)
    assert time.monotonic() - start < 8


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_a_deadline_stops_the_kernel(seconds: float) -> None:
    stop, ended = np.zeros(1, np.int64), threading.Event()

    def work() -> None:
        while not stop[0]:
            time.sleep(0.01)
        ended.set()

    start = time.perf_counter()
    assert not KernelThreads([stop]).run([work], deadline=start + seconds, short=False)
    assert ended.is_set()
    assert time.perf_counter() - start >= seconds
