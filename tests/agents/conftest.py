"""No test of an engine leaves a process behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from agents.fakes import children


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    before = children()
    yield
    if children() - before:
        gc.collect()  # an agent that a test has dropped ends its process
    assert children() <= before
