"""Every kind of file that is read, damaged in thousands of ways: it is read as it was, or refused in a sentence.

`file_kinds.py` is the table: kind, how it is made, how it is read, whether a checksum is promised. `mutants.py` does
the damage, `forgery.py` mends the checksums after it. `pytest -s` prints how many mutants were read as they were, were
refused, or were silently something else.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from file_kinds import KINDS, READERS, SHAPES
from mutants import OTHER, REFUSED, SAME, Kind, try_mutants

from evallearn.games.backgammon import bearoff

FEW, MANY = 40, 3000
"""Mutants of a kind: in `make test`, and in `make long`."""
ROOT = Path(__file__).parents[1]
READS = re.compile(
    r"json\.loads?\(|parse_json\(|parse_checked\(|read_checked\(|safe_open\(|\.read_bytes\(|\.read_text\(|ParquetFile\("
    r"|(?<!def )(?<![\w.])open\(path|open\(\"r|np\.load\(|fromfile\(|memmap\(|pickle\.loads?\(|_load_index\("
)

N = pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.long)], ids=["few", "many"])


@N
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_file_is_read_as_it_was_or_refused(
    kind: Kind, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bearoff, "SHAPES", SHAPES)
    tried = try_mutants(kind, tmp_path, n)
    print(tried.row(kind.name))
    assert tried.total() == n
    assert set(tried) <= {SAME, REFUSED, OTHER}
    assert kind.again or tried[REFUSED] > n // 4
    assert not (kind.promised and tried[OTHER])


@N
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.forge], ids=lambda kind: kind.name)
def test_a_forged_file_with_fitting_checksums_ends_in_no_traceback(
    kind: Kind, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bearoff, "SHAPES", SHAPES)
    tried = try_mutants(kind, tmp_path, n, forged=True)
    print(tried.row(f"{kind.name}, forged"))
    assert tried.total() == n
    assert set(tried) <= {SAME, REFUSED, OTHER}


def test_every_module_that_reads_files_is_in_the_table() -> None:
    folders = [ROOT / name for name in ("evallearn", "games", "search", "data", "train")]
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in folder.rglob("*.py")
        if not any(part.is_symlink() for part in path.parents) and READS.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(READERS)
    known, named = {kind.name for kind in KINDS}, [kinds for kinds in READERS.values() if isinstance(kinds, tuple)]
    assert {name for kinds in named for name in kinds} == known
