"""`evallearn learn` at its defaults: the learned evaluators beat the better hand-written heuristic at equal depth.

Long: about three minutes for Connect Four and six for Othello, per seed, on two cores. `make strength` runs it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evallearn.runs import learn


@pytest.mark.strength
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["connect_four", "othello"])
def test_learned_beats_the_better_handwritten_heuristic(name: str, seed: int, tmp_path: Path) -> None:
    result = learn(name, seed=seed, folder=tmp_path, workers=os.cpu_count() or 1)
    rows = {row.name: row for row in result.ladder}
    others = [row for n, row in rows.items() if n.startswith("handwritten:") and n != result.reference]
    assert all(row.elo <= 0 for row in others)  # the reference is the better one
    for learned in ("linear", "neural"):
        print(name, seed, learned, rows[learned], [r for r in result.equal_time if r.name == learned])
        assert rows[learned].low > 0
