"""For all tests: what the place they are started from must not change.

Hypothesis must not take a busy machine for a slow function. Where PYTHONDONTWRITEBYTECODE is set, every worker would
rewrite the asserts of all test files again, and every process that a test starts would compile the package again. And
a script's background jobs ignore Ctrl-C, so that a search which a test interrupts would never end. What the tests have
imported stays for good: the garbage collector need not look through it while kernels are compiled. As many tests run
at a time as there are cores, so each has one thread for its linear algebra.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from hypothesis import settings

settings.register_profile("evallearn", deadline=None)
settings.load_profile("evallearn")
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
