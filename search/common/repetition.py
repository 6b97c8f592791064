"""The rules that look back, for the kernels of the searches that remember a past."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from evallearn.compiled.specialise import specialise
from evallearn.core.rules import Rules

TEMPLATE = Path(__file__).with_name("repetition_kernel.py")


def repetition_kernels(rules: Rules, *, cuts_at_depth: bool = True) -> ModuleType:
    """Return the specialised template of `repetition_kernel.py`.

    It holds `occurred`, `is_third_occurrence`, `table_key`, `push_history` and RETURN.
    """
    return specialise(TEMPLATE, rules, CUTS_AT_DEPTH=cuts_at_depth)
