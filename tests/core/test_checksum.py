"""Files that notice damage: what is written is read back, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evallearn.core.checksum import Journal, read_checked, with_checksum, write_checked
from evallearn.core.json_shapes import ALL, has_shape
from evallearn.errors import DataError

DATA = {"name": "é", "numbers": (1, 2.5, -0.0), "by": {10: "ten", 9: "nine"}, "none": None}
PLAIN = {"name": "é", "numbers": [1, 2.5, -0.0], "by": {"10": "ten", "9": "nine"}, "none": None}


def test_an_object_is_read_as_json_gives_it_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.json"
    write_checked(path, DATA, "this")
    assert read_checked(path, "", "this") == PLAIN
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))
    assert read_checked(path, "", "this") == PLAIN  # laid out in another way, it says the same
    with pytest.raises(DataError, match=r"x\.json is damaged \(its checksum does not fit\): do that"):
        read_checked(path, "do that", "other")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("7", "it is no JSON object"),
        ("{}", "it has no checksum, as files of earlier versions"),
        ('{"sha256": 7}', "its checksum does not fit"),
        ('{"x": %s, "sha256": ""}' % ("[" * 900 + "]" * 900), "its checksum does not fit|it is not JSON"),
        (json.dumps({**with_checksum(DATA), "more": 1}), "its checksum does not fit"),
    ],
)
def test_damage_is_told_with_the_remedy(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=rf"x\.json is damaged \(({why})\): do that"):
        read_checked(tmp_path / "x.json", "do that")


def test_what_is_no_file_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be read \(.*directory\): do that"):
        read_checked(tmp_path, "do that")


def test_a_journal_goes_on_where_it_stopped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal(tmp_path / "x.jsonl", "this", "it is done again")
    assert journal.open() == []
    journal.append(DATA)
    journal.append({"n": 2})
    journal.close()
    journal.close()  # once more does no harm
    with journal.path.open("ab") as file:
        file.write(b'{"line":3,"n')
    again = Journal(journal.path, "this", "it is done again")
    assert again.read() == [PLAIN, {"n": 2}]
    assert again.open() == [PLAIN, {"n": 2}]
    assert "x.jsonl ends in a torn line: it is left out, and it is done again" in caplog.text
    again.append({"n": 3})
    again.close()
    assert journal.read() == [PLAIN, {"n": 2}, {"n": 3}]
    assert journal.is_ours()
    assert not Journal(journal.path, "other", "").is_ours()
    assert all(isinstance(json.loads(line)["line"], int) for line in journal.path.read_text().splitlines())


@pytest.mark.parametrize(
    ("value", "shape", "fits"),
    [
        (1, int, True), (1, float, True), (1.5, int, False), (True, int, False), (10**400, int, False),
        (float("nan"), float, False), (float("inf"), float, False), ("x", str, True), (None, None, True),
        (None, (str, None), True), (7, (str, None), False), ([1, 2], [int], True), ([1, "x"], [int], False),
        ({"a": 1, "b": 2}, {"a": int}, True), ({"b": 2}, {"a": int}, False), ({"a": 1}, {ALL: str}, False),
        ({}, {ALL: str}, True), ([], {ALL: str}, False), ({"a": None}, {"a": None}, True), ({}, {"a": None}, False),
    ],
)  # fmt: skip
def test_shapes(value: object, shape: object, fits: bool) -> None:
    assert has_shape(value, shape) == fits
