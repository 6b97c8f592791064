"""Running a kernel so that clocks and Ctrl-C are heard: it works in a thread, releases the GIL and watches a flag."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import perf_counter

import numpy as np

HEARD_WITHIN = 0.2
"""Seconds: the main thread looks up so often, since Ctrl-C may reach another thread and would not wake it."""


class KernelThreads:
    """Threads for the kernels of one search. A kernel must return soon after its flag was set."""

    def __init__(self, stops: Sequence[np.ndarray]) -> None:
        """Take the stop flags of the kernels.

        stops: for each kernel that may run at a time, a one-element view of its stop flag.
        """
        self.stops = stops
        self.pool: ThreadPoolExecutor | None = None

    def run(self, works: Sequence[Callable[[], object]], *, deadline: float | None, short: bool) -> bool:
        """Run the kernels until one has finished its work, or `perf_counter()` reaches the deadline.

        short: the work takes milliseconds, and is done in the caller's thread. True if Ctrl-C ended it: the search
        then raises `Interrupted` with what it has.
        """
        for stop in self.stops:
            stop[0] = 0
        if short and deadline is None and len(works) == 1:
            try:
                works[0]()
            except KeyboardInterrupt:  # heard when the kernel has returned
                return True
            return False
        if self.pool is None:
            self.pool = ThreadPoolExecutor(len(self.stops), "search")
        running: list[Future[object]] = []
        interrupted, end = False, math.inf if deadline is None else deadline
        try:
            running.extend(map(self.pool.submit, works))
            while (left := end - perf_counter()) > 0:
                if wait(running, min(left, HEARD_WITHIN), FIRST_COMPLETED).done:
                    break
        except KeyboardInterrupt:
            interrupted = True
        finally:
            for stop in self.stops:
                stop[0] = 1
            wait(running)
        for each in running:
            each.result()  # raises what the kernel raised
        return interrupted
