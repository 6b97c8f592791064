"""Ctrl-C that Python drops, because it came inside a __del__, ends the work all the same."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from evallearn.core.interrupts import notice_interrupts
from evallearn.core.workers import imap


class Interrupted:
    """Ctrl-C comes while it is thrown away."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def job(number: int) -> int:
    if number == 2:
        Interrupted()
    return number


def test_dropped_interrupt_ends_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped, done = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: dropped.append(what.exc_type))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        done.extend(imap(job, range(100), 1))
    assert dropped == [KeyboardInterrupt]
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_the_handler_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with notice_interrupts() as check:
            check()
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]
