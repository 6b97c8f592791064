"""The pages name files, sections and commands that exist; the picture of README.md shows the cards as they are."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from scripts import benchmark

from evallearn.cli import cli
from evallearn.evaluators import read_card, zoo_names

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "games/README.md", ROOT / "search/README.md"]
FILE = re.compile(r"`((?:evallearn|search|train|data|games|tests|benchmarks)/[\w/]+\.py)`")


def rows_of_the_map() -> list[str]:
    section = CONTRIBUTING.partition("## Where is ...?")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|") and "?" in line]


def test_map_answers_twenty_questions() -> None:
    rows = rows_of_the_map()
    assert len(rows) >= 20
    assert [row for row in rows if not FILE.search(row)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_files_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it tells of files that are gone")
    named = {name for name in FILE.findall(page.read_text()) if "NAME" not in name}
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    links = {link for link in re.findall(r"\]\(([^)]+)\)", page.read_text()) if "://" not in link}
    for link in sorted(links):
        path, _, section = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), link
        if section:
            assert section in anchors(target.read_text()), link


def anchors(text: str) -> set[str]:
    """Return the sections of a page as GitHub names them in links."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_folders_of_the_searches_exist() -> None:
    for name in re.findall(r"^    (search/[\w/.]+) ", CONTRIBUTING, re.MULTILINE):
        assert (ROOT / name).exists(), name


def test_every_command_is_listed() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "commands.md").read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(?:evallearn )?(\w+)", row)}
    commands = cli.list_commands(click.Context(cli))
    assert commands
    assert [name for name in commands if name not in named] == []


def test_picture_of_the_readme_shows_the_cards() -> None:
    drawn = benchmark("readme_picture").picture([read_card(name) for name in zoo_names()])
    assert (ROOT / "docs" / "strength.svg").read_text() == drawn, "run python benchmarks/readme_picture.py"
