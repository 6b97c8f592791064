"""Linear algebra on one thread: sums are added in the same order, and end in the same last bit, on every machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types


@cache
def _libraries() -> Any:
    """Return the libraries that NumPy and scikit-learn have loaded.

    To look for them takes longer than to fit a small data set.
    """
    import sklearn.linear_model  # noqa: F401  # loads SciPy, whose BLAS is not NumPy's: both must be there by now

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return what lets BLAS run on one thread, for a `with` block."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited
