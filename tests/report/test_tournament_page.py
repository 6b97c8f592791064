"""The page of a tournament or a ladder: whole, self-contained, the same match from both sides, safe."""

from __future__ import annotations

import copy
import json
import math
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from test_report import HOSTILE, assert_self_contained, parsed

from evallearn.arena.ratings import bradley_terry
from evallearn.arena.stats import ELO_LIMIT, elo_from_pairs
from evallearn.report import render_tournament, write_tournament_report
from evallearn.report.tournament_page import tournament_headline

SECTIONS = ("ratings", "cross", "matches", "made", "glossary")
LINEAR = "runs/othello-seed1/evaluators/linear.safetensors@depth=4"
NAMES = (LINEAR, "handwritten:mobility@depth=4", "mcts@nodes=500", "random")
ANSWER = f"Learned beats hand-written: {LINEAR} is +53 Elo (95 %: -2 to +65) over handwritten:mobility@depth=4."
TEXTS = ("game", "names", "anchor", "answer", "command", "folder", "evallearn")
Result = dict[str, Any]


# --- made-up results -------------------------------------------------------------------------------------------------
def match(a: str, b: str, counts: tuple[int, ...]) -> Result:
    """As MatchResult.to_json gives it, but for what this page does not use."""
    elo, n = elo_from_pairs(counts), sum(counts)
    wins, losses = 2 * counts[4] + counts[3] + counts[2], 2 * counts[0] + counts[1] + counts[2]
    return {
        "game": "othello",
        "names": [a, b],
        "seed": 7,
        "by_game": True,
        "games": 2 * n,
        "wins": wins,
        "draws": 2 * n - wins - losses,
        "losses": losses,
        "pair_counts": list(counts),
        "nodes_per_move": [100.0, 1.0],
        "seconds_per_move": [0.00005, 0.00001],
        "distinct_games": 2 * n,
        "forfeits": [],
    } | {k: getattr(elo, k) for k in ("elo", "low", "high", "score", "pairs", "los")}


def tournament() -> Result:
    """A round robin in which each is better than the next."""
    return copy.deepcopy(_rated())


@cache
def _rated() -> Result:
    matches = [
        match(NAMES[i], NAMES[j], (2, 3, 20 - 2 * (j - i), 5, 10 + 2 * (j - i)))
        for i, j in combinations(range(len(NAMES)), 2)
    ]
    ratings = bradley_terry([(*m["names"], m["pair_counts"]) for m in matches], anchor=NAMES[1])
    fields = ("name", "elo", "low", "high", "los_next", "score", "pairs")
    return {
        "game": "othello",
        "names": list(NAMES),
        "anchor": NAMES[1],
        "ratings": [{k: getattr(r, k) for k in fields} for r in ratings],
        "matches": matches,
        "command": "evallearn tournament --game othello",
        "folder": "runs/tournament",
        "files": {"games": "runs/tournament/games.jsonl"},
        "evallearn": "0.2.0",
    }


def ladder() -> Result:
    kinds = dict(zip(NAMES, ("learned", "handwritten", "search", "random"), strict=True))
    return tournament() | {"kinds": kinds, "answer": ANSWER}


def seen(page: str) -> str:
    return " ".join(" ".join(parsed(page).texts).split())


@pytest.fixture(scope="module")
def page() -> str:
    return render_tournament(ladder())


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are drawn once above; drawing takes most of the time."""
    monkeypatch.setattr("evallearn.report.arena_plots.ratings", lambda *args: "<svg></svg>")


# --- the page --------------------------------------------------------------------------------------------------------
def test_page_has_every_section_and_balanced_tags(page: str) -> None:
    found = parsed(page)
    assert [i for i in found.ids if i in SECTIONS] == list(SECTIONS)
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert page.count("<svg") == 1


def test_page_refers_to_nothing_outside(page: str) -> None:
    assert_self_contained(page)


def test_plots_take_their_colours_from_the_page(page: str) -> None:
    assert "#00f1" not in page
    assert set(re.findall(r"var\(--([a-z-]+)", page)) <= set(re.findall(r"--([a-z-]+):", page))
    assert "var(--search)" in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_page_shows_agents_by_short_names_and_whole_ones_as_titles(page: str) -> None:
    said = seen(page)
    assert "othello-seed1/linear depth 4" in said
    assert "mcts 500 nodes" in said
    assert "othello-seed1/linear, depth 4" in said  # beside the axis
    assert "safetensors" not in said
    assert f'title="{LINEAR}"' in page


def test_rating_list_counts_all_matches_of_an_agent(page: str) -> None:
    row = re.search(r'<tr><th scope="row" data-v="1.0">1</th>.*?</tr>', page, re.DOTALL)
    assert row
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row.group())
    assert cells[1] == "learned"
    assert cells[-3:] == ["240", "100", "50.0"]  # three matches of 80 games; its nodes and µs


def test_anchor_has_no_interval(no_plots: None) -> None:
    page = render_tournament(ladder())
    assert re.search(r"mobility.{0,200}<td[^>]*>0</td><td>–</td>", page, re.DOTALL)
    assert "0 Elo by definition" in page


def test_cross_table_shows_a_match_from_both_sides(no_plots: None) -> None:
    result = tournament()
    result["matches"] = [match(NAMES[0], NAMES[1], (0, 0, 10, 0, 30))]
    page = render_tournament(result)
    elo = round(elo_from_pairs((0, 0, 10, 0, 30)).elo)
    assert re.search(rf'class="plus"[^>]*70 wins, 0 draws, 10 losses[^>]*>88 %<small>\+{elo}</small>', page)
    assert re.search(rf'class="minus"[^>]*10 wins, 0 draws, 70 losses[^>]*>12 %<small>−{elo}</small>', page)
    assert page.count('aria-label="itself"') == len(NAMES)


def test_tiles_show_the_best_of_each_kind_or_the_best(no_plots: None) -> None:
    page = render_tournament(ladder())
    assert page.count("card tile") == 4
    assert "hand-written</small>" in page
    page = render_tournament(tournament())
    assert page.count("card tile") == 3
    assert "rank 1" in page


def test_somebody_far_below_is_an_arrow() -> None:
    result = ladder()
    result["ratings"][-1] |= {"elo": -1500.0, "low": -ELO_LIMIT, "high": -1200.0}
    assert "An arrow at the left edge" in render_tournament(result)


def test_forfeits_are_counted(no_plots: None) -> None:
    result = tournament()
    assert "forfeited" not in seen(render_tournament(result))
    result["matches"][0]["forfeits"] = [{"number": 1, "agent": LINEAR, "why": "it crashed"}]
    assert "forfeited" in seen(render_tournament(result))


# --- what may be missing, wrong or hostile ---------------------------------------------------------------------------
@pytest.mark.parametrize("result", [{}, {"ratings": [{"name": "x", "elo": None}]}, {"ratings": 3, "matches": [7]}])
def test_almost_empty_results_still_make_a_page(result: Result) -> None:
    page = render_tournament(result)
    assert "No agent has been rated yet." in page
    assert [i for i in parsed(page).ids if i in SECTIONS] == ["glossary"]


@pytest.mark.parametrize("key", sorted(ladder()))
def test_each_part_may_be_missing_null_or_of_another_type(key: str, no_plots: None) -> None:
    result = ladder()
    parsed(render_tournament({k: v for k, v in result.items() if k != key}))
    for other in (None, math.nan, [], {}, "x", [None, math.nan], [{}], {"random": []}):
        page = render_tournament(result | {key: other})
        parsed(page)
        assert key in TEXTS or not re.search(r"\b(nan|inf)\b", page)


@pytest.mark.parametrize("key", sorted(match("a", "b", (1, 1, 1, 1, 1))))
def test_each_part_of_a_match_may_be_missing_or_null(key: str, no_plots: None) -> None:
    for other in (None, math.nan, [None]):
        result = ladder()
        for m in result["matches"]:
            m[key] = other
        parsed(render_tournament(result))


def test_unknown_and_endless_figures_are_drawn() -> None:
    result = ladder()
    result["ratings"][0] |= {"high": ELO_LIMIT, "los_next": math.nan}
    result["ratings"][2] |= {"low": None, "high": math.inf, "score": math.nan}
    page = render_tournament(result)
    assert "at least" in page
    assert not re.search(r"\bnan\b|\binf\b", page)


def test_hostile_texts_are_escaped() -> None:
    result = json.loads(json.dumps(ladder()).replace("handwritten:mobility@depth=4", json.dumps(HOSTILE)[1:-1]))
    result |= dict.fromkeys(("game", "folder", "command", "evallearn"), HOSTILE) | {"files": {HOSTILE: HOSTILE}}
    result["kinds"][LINEAR] = HOSTILE
    page = render_tournament(result)
    assert page.count("<script") == 1
    assert "alert(&quot;x&quot;)" in page
    assert not re.search("[\x00\udcff]", page)
    parsed(page)


def test_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    result = ladder()
    before = copy.deepcopy(result)
    one = write_tournament_report(result, tmp_path / "one.html")
    two = write_tournament_report(json.loads(json.dumps(result)), tmp_path / "deep" / "two.html")
    assert one.read_bytes() == two.read_bytes()
    assert result == before


# --- words -----------------------------------------------------------------------------------------------------------
def test_headline_is_the_answer_with_short_names() -> None:
    assert tournament_headline(ladder()) == (
        "Learned beats hand-written: othello-seed1/linear at depth 4 is +53 Elo (95 %: −2 to +65) over "
        "handwritten:mobility at depth 4."
    )


def test_headline_without_an_answer_says_who_is_first() -> None:
    result = tournament()
    result["ratings"][0] |= {"elo": 53.0, "low": 20.0, "high": 90.0, "los_next": 1.0}
    assert tournament_headline(result) == (
        "othello-seed1/linear at depth 4 comes first of 4 agents in othello, +53 Elo over handwritten:mobility at "
        "depth 4 (95 %: 20 to 90); handwritten:mobility at depth 4 is 53 Elo behind (> 99.9 % sure)."
    )


def test_headline_of_an_anchor_that_is_first() -> None:
    result = tournament() | {"anchor": LINEAR}
    result["ratings"] = [{"name": LINEAR, "elo": 0.0, "low": 0.0, "high": 0.0}, {"name": "random", "elo": -300.0}]
    assert tournament_headline(result) == (
        "othello-seed1/linear at depth 4 comes first of 2 agents in othello; random is 300 Elo behind."
    )
