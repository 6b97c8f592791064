"""For all tests: Hypothesis must not take a busy machine for a slow function, and bytecode is kept.

Where PYTHONDONTWRITEBYTECODE is set, every worker would rewrite the asserts of all test files again, and every process
that a test starts would compile the package again.
"""

from __future__ import annotations

import os
import sys

from hypothesis import settings

settings.register_profile("evallearn", deadline=None)
settings.load_profile("evallearn")
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
