"""The page of a match: whole, self-contained, honest about who is stronger, safe, and the same for the same result."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from test_report import HOSTILE, assert_self_contained, parsed

from evallearn.arena.stats import ELO_LIMIT, elo_from_pairs
from evallearn.report import render_match, write_match_report
from evallearn.report.formatting import percent, points, short_agent, sureness
from evallearn.report.match_page import match_headline

SECTIONS = ("curve", "sets", "points", "costs", "endings", "made", "glossary")
TEXTS = ("game", "names", "seed", "command", "folder", "files", "evallearn")
LINEAR = "runs/backgammon-seed1/evaluators/linear.safetensors@depth=4"
Result = dict[str, Any]


# --- made-up results -------------------------------------------------------------------------------------------------
def match(**changes: Any) -> Result:
    """As MatchResult.to_json gives it, with what the command line adds."""
    counts = (60, 120, 400, 220, 200)
    elo = elo_from_pairs(counts)
    figures = {
        k: getattr(elo, k) for k in ("elo", "low", "high", "score", "pairs", "los", "nelo", "nelo_low", "nelo_high")
    }
    return {
        "game": "backgammon",
        "names": [LINEAR, "handwritten:race@depth=4"],
        "seed": 1,
        "opening_plies": 4,
        "by_game": True,
        "games": 2000,
        "wins": 1090,
        "draws": 200,
        "losses": 710,
        "pair_counts": list(counts),
        **figures,
        "margin": {"value": 0.19, "low": 0.15, "high": 0.23, "standard_error": 0.02, "n": 1000},
        "luck": {
            "margin": {"value": 0.21, "low": 0.19, "high": 0.23, "standard_error": 0.01, "n": 1000},
            "slope": 0.97,
            "variance_ratio": 0.25,
        },
        "sprt": None,
        "stop": None,
        "distinct_games": 1998,
        "pairs_asked": 1000,
        "moves": [40000, 40100],
        "nodes": [4000000, 8020000],
        "seconds": [2.0, 2.406],
        "nodes_per_move": [100.0, 200.0],
        "seconds_per_move": [0.00005, 0.00006],
        "forfeits": [],
        "adjudicated": {},
        "curve": [[20 * n, 66 + 90 / n, 66 - 200 / n, 66 + 300 / n] for n in range(1, 51)],
        "command": f"evallearn match {LINEAR} handwritten:race@depth=4 --game backgammon",
        "folder": "runs/matches/backgammon-1a2b3c",
        "files": {"games": "runs/matches/backgammon-1a2b3c/games.jsonl"},
        "evallearn": "0.2.0",
    } | changes


STOP = {
    "elo_corrected": True,
    "elo_as_counted": 73.2,
    "low_as_counted": 50.0,
    "high_as_counted": 95.0,
    "uncorrected": ["score", "margin", "luck", "curve"],
}


def sprt(decision: str | None, **more: Any) -> Result:
    return {"llr": 1.5 if decision is None else 2.96, "lower": -2.94, "upper": 2.94, "decision": decision} | more


def seen(page: str) -> str:
    return " ".join(" ".join(parsed(page).texts).split())


@pytest.fixture(scope="module")
def page() -> str:
    return render_match(match())


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are drawn once above; drawing takes most of the time."""
    for name in ("settling", "pentanomial", "margins"):
        monkeypatch.setattr(f"evallearn.report.arena_plots.{name}", lambda *args: "<svg></svg>")


# --- the page --------------------------------------------------------------------------------------------------------
def test_page_has_every_section_and_balanced_tags(page: str) -> None:
    found = parsed(page)
    assert [i for i in found.ids if i in SECTIONS] == list(SECTIONS)
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert page.count("<svg") == 3


def test_page_refers_to_nothing_outside(page: str) -> None:
    assert_self_contained(page)


def test_plots_take_their_colours_from_the_page(page: str) -> None:
    assert "#00f1" not in page
    of_heat_maps = {"n", "a"}
    assert set(re.findall(r"var\(--([a-z-]+)", page)) <= set(re.findall(r"--([a-z-]+):", page)) | of_heat_maps


def test_page_shows_the_figures(page: str) -> None:
    said = seen(page)
    for figure in ("+67", "59.5 %", "1,090 / 200 / 710", "> 99.9 %", "backgammon-seed1/linear", "2,000,000", "+0.1900"):
        assert figure in said, figure
    assert "The dice were worth 75 % of the variance" in said
    assert "4.0 times as many" in said
    assert "Every game ended by the rules" in said
    assert f'title="{LINEAR}"' in page


def test_glossary_explains_what_the_page_uses(no_plots: None) -> None:
    said = seen(render_match(match()))
    assert "Luck adjustment" in said
    assert "Sequential probability" not in said
    said = seen(render_match(match(luck=None, sprt=sprt("H1"))))
    assert "Luck adjustment" not in said
    assert "Sequential probability" in said


def test_sprt_has_a_gauge_and_a_warning(no_plots: None) -> None:
    page = render_match(match(sprt=sprt("H1"), pairs_asked=5000))
    assert 'style="left:100.0%"' in page
    assert "H1 accepted" in page
    assert "ends too far out. The Elo above is not corrected for the stop." in " ".join(page.split())
    assert "1,000 of 5,000: the SPRT has decided" in page
    page = render_match(match(sprt=sprt(None)))
    assert 'style="left:75.5%"' in page
    assert "not decided" in page


def test_page_says_whether_the_stop_is_corrected(no_plots: None) -> None:
    corrected = match(sprt=sprt("H1"), stop=STOP)
    said = seen(render_match(corrected))
    assert "corrected for the stop (counted: +73)" in said
    assert "The Elo above is corrected for the stop." in said
    assert "sets not corrected for the stop" in said  # the score
    assert "Not corrected for the stop: the SPRT found a moment when it looked clear." in said  # the points
    assert match_headline(corrected).endswith(", corrected for the stop.")
    assert match_headline(match(sprt=sprt("H1"), stop=STOP | {"elo_corrected": False})).endswith(
        ", not corrected for the stop."
    )
    undecided = seen(render_match(match(sprt=sprt(None), stop=STOP)))
    assert "The Elo above" not in undecided
    assert "counted: +7" not in undecided


def test_fewer_openings_than_asked_for_are_explained(no_plots: None) -> None:
    assert "1,000 of 5,000: the game has no more different openings" in render_match(match(pairs_asked=5000))


def test_whole_sets_are_called_so() -> None:
    result = match(by_game=False, wins=90, draws=1, losses=9, pair_counts=[9, 0, 1, 0, 90], pairs=100, luck=None)
    said = seen(render_match(result))
    assert "more points in 90 of 100 openings, as many in 1, fewer in 9" in said
    assert "100 openings, by who had more points" in said
    assert "no winner" in said
    assert "¼" not in said


def test_forfeits_and_adjudications_are_told(no_plots: None) -> None:
    forfeits = [
        {"number": i, "agent": "uci:/usr/games/stockfish@nodes=10", "why": f"said bestmove {i}"} for i in range(60)
    ]
    said = seen(render_match(match(forfeits=forfeits, adjudicated={"plies=300": 12, "draw=0.02x12": 0})))
    assert "60 games were forfeited" in said
    assert "uci:stockfish" in said
    assert "said bestmove 49" in said
    assert "said bestmove 50" not in said
    assert "plies=300 12" in said
    assert "draw=0.02x12" not in said
    assert "by the rules of the game" not in said


def test_no_normalised_elo_where_no_deviation_is_known(no_plots: None) -> None:
    assert "normalised" in seen(render_match(match()))
    assert "normalised" not in seen(render_match(match(high=ELO_LIMIT)))


# --- what may be missing, wrong or hostile ---------------------------------------------------------------------------
@pytest.mark.parametrize("result", [{}, {"names": None}, {"curve": [[1, None, 2, 3], 7], "pair_counts": [0] * 5}])
def test_almost_empty_results_still_make_a_page(result: Result) -> None:
    page = render_match(result)
    assert "has not been measured" in page
    assert "<svg" not in page
    assert [i for i in parsed(page).ids if i in SECTIONS] == ["glossary"]


@pytest.mark.parametrize("key", sorted(match()))
def test_each_part_may_be_missing_null_or_of_another_type(key: str, no_plots: None) -> None:
    result = match(sprt=sprt("H1"))
    parsed(render_match({k: v for k, v in result.items() if k != key}))
    for other in (None, math.nan, [], {}, "x", [None, math.nan], [[]], {"margin": math.inf}):
        page = render_match(result | {key: other})
        parsed(page)
        assert key in TEXTS or not re.search(r"\b(nan|inf)\b", page)


def test_unknown_and_endless_figures_are_drawn() -> None:
    curve = [[1, math.nan, 0, 0], [2, 300.0, -ELO_LIMIT, ELO_LIMIT], [3, 300.0, 80.0, ELO_LIMIT]]
    page = render_match(match(high=ELO_LIMIT, low=80.0, elo=300.0, curve=curve, los=math.nan, nelo=None))
    assert "at least 80" in page
    assert not re.search(r"\bnan\b|\binf\b", page)


def test_hostile_texts_are_escaped(no_plots: None) -> None:
    forfeits = [{"number": HOSTILE, "agent": HOSTILE, "why": HOSTILE}]
    hostile = dict.fromkeys(("game", "seed", "folder", "command", "evallearn"), HOSTILE)
    page = render_match(
        match(
            **hostile,
            names=[HOSTILE, "b" + HOSTILE],
            forfeits=forfeits,
            adjudicated={HOSTILE: 3},
            files={HOSTILE: HOSTILE},
        )
    )
    assert page.count("<script") == 1
    assert "alert(&quot;x&quot;)" in page
    assert not re.search("[\x00\udcff]", page)
    parsed(page)


def test_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    result = match()
    before = copy.deepcopy(result)
    one = write_match_report(result, tmp_path / "one.html")
    two = write_match_report(json.loads(json.dumps(result)), tmp_path / "deep" / "two.html")
    assert one.read_bytes() == two.read_bytes()
    assert result == before


# --- words -----------------------------------------------------------------------------------------------------------
def test_headline_of_a_win() -> None:
    assert match_headline(match(elo=53.2, low=42.0, high=65.1)) == (
        "backgammon-seed1/linear beats handwritten:race by 53 Elo (95 %: 42 to 65) in 2,000 games of backgammon at "
        "depth 4: 1,090 won, 200 drawn, 710 lost."
    )


def test_headline_of_a_loss_turns_the_interval() -> None:
    said = match_headline(match(elo=-53.2, low=-65.1, high=-42.0))
    assert said.startswith(
        "backgammon-seed1/linear loses to handwritten:race by 53 Elo (95 %: 42 to 65) in 2,000 games"
    )


def test_headline_of_an_undecided_match() -> None:
    said = match_headline(match(elo=3.0, low=-10.0, high=16.0, sprt=sprt(None)))
    assert "linear and handwritten:race cannot be told apart in 2,000 games" in said
    assert "+3 Elo for backgammon-seed1/linear (95 %: −10 to 16)" in said
    assert said.endswith("; the SPRT has not decided.")


@pytest.mark.parametrize(("decision", "verb"), [("H1", "passes"), ("H0", "does not pass")])
def test_headline_of_a_decided_sprt(decision: str, verb: str) -> None:
    terms = {"elo0": 0.0, "elo1": 5.0, "model": "logistic"}
    said = match_headline(match(sprt=sprt(decision, **terms)))
    assert said.startswith(
        f"backgammon-seed1/linear {verb} the test against handwritten:race: the SPRT accepts {decision} ("
    )
    assert "H1 (+5 Elo)" in said
    assert "H0 (0 Elo)" in said
    assert "H0 over H1 after" in match_headline(match(sprt=sprt("H0")))


def test_headline_tells_limits_that_differ_and_names_that_do_not() -> None:
    said = match_headline(match(names=["zero@depth=3", "zero@time=0.005"]))
    assert said.startswith("zero (depth 3) beats zero (5 ms a move) by")
    assert match_headline(match(names=["zero@depth=3"] * 2)).startswith(
        "A (zero (depth 3)) beats B (zero (depth 3)) by"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (LINEAR, ("backgammon-seed1/linear", "depth 4")),
        ("/data/me/runs/c4/evaluators/neural.safetensors@depth=8,time=0.1", ("c4/neural", "depth 8, 100 ms a move")),
        (r"C:\runs\c4\evaluators\neural.safetensors", ("C:c4/neural", "")),
        ("runs/mine.safetensors", ("mine", "")),
        (
            "mcts,leaf=playout:runs/c4/evaluators/linear.safetensors@nodes=800",
            ("mcts,leaf=playout:c4/linear", "800 nodes"),
        ),
        ("uci:/usr/games/stockfish,Skill Level=3@time=1", ("uci:stockfish,Skill Level=3", "1 s a move")),
        ("cmd:python /opt/bot/main.py", ("cmd:python main.py", "")),
        ("zoo:othello/linear@depth=4", ("zoo:othello/linear", "depth 4")),
        ("me@home", ("me@home", "")),
        ("random", ("random", "")),
    ],
)
def test_agents_are_called_by_short_names(name: str, said: tuple[str, str]) -> None:
    assert short_agent(name) == said


def test_shares_and_points_in_words() -> None:
    assert [percent(x) for x in (0, 0.573, 0.99999, 1, None)] == ["0.0 %", "57.3 %", "> 99.9 %", "100.0 %", "–"]
    assert [sureness(x) for x in (0.0, 0.5, 1.0, math.nan)] == ["< 0.1 %", "50.0 %", "> 99.9 %", "–"]
    assert [points(x) for x in (0.19, -23.456, 12354.7, None)] == ["+0.1900", "−23.46", "+12,355", "–"]
