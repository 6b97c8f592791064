"""The kernels that look one ply ahead, for those that play or judge by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evallearn.compiled.specialise import specialise
from evallearn.core.evaluator import EvalKernel
from evallearn.core.rules import Rules


def one_ply(rules: Rules, kernel: EvalKernel) -> Any:
    """Return one_ply_kernel.py, specialised."""
    return specialise(Path(__file__).with_name("one_ply_kernel.py"), rules, evaluate_player=kernel.evaluate_player)
