"""An engine does not outlive the process that started it, however that one ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toys import python_path

from evallearn.agents.process import dies_with_us

DEAF = """
import sys, time
print("ready", flush=True)
while True:
    time.sleep(0.05)  # it never looks at its input
"""
STARTS = """
import sys, time
from evallearn.agents.process import EngineProcess
engine = EngineProcess([sys.executable, "deaf.py"])
engine.line(time.monotonic() + 20)
print(engine.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not dies_with_us(), reason="this system has no setpriv")
def test_killed_parent_takes_a_deaf_engine_with_it(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(DEAF)
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": python_path()},
    )  # fmt: skip
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Neither gone nor a zombie that nobody has asked for yet."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
