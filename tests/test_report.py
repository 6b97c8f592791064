"""The report page: whole, self-contained, honest, safe, and the same bytes for the same result."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evallearn.arena.stats import ELO_LIMIT
from evallearn.report import render, write_report
from evallearn.report.formatting import ELO_END, duration, fixed, headline, interval, limit_words, signed

SECTIONS = ("ladder", "learning", "training", "calibration", "weights", "made", "glossary")
HOSTILE = '<script>alert("x")</script>&\x00\udcff$y'
VOID = {"meta", "br", "hr", "img", "input", "link"}
Result = dict[str, Any]


# --- made-up results -------------------------------------------------------------------------------------------------
def entry(name: str, elo: float, half: float = 30.0, limit: str = "depth=4", **more: Any) -> Result:
    played = {"games": 400, "distinct_games": 396, "wins": 270, "draws": 21, "losses": 109}
    figures = {"nodes_per_move": [371.9, 433.2], "seconds_per_move": [0.000061, 0.000044]}
    return {"name": name, "elo": elo, "low": elo - half, "high": elo + half, "limit": limit} | played | figures | more


def metrics(error: float, loss: float) -> Result:
    """As Metrics.to_json gives them."""
    edges = [i / 10 - 1 for i in range(21)]
    bins = [
        {
            "low": low,
            "high": high,
            "predicted": (low + high) / 2,
            "outcome": math.tanh((1 + 8 * error) * math.atanh((low + high) / 2)),
            "count": round(900 * (1.3 - abs(low + high) / 2)),
        }
        for low, high in itertools.pairwise(edges)
    ]
    return {
        "split": "test",
        "n_records": sum(int(b["count"]) for b in bins),
        "n_decided": 17000,
        "log_loss": loss,
        "brier": loss / 3,
        "mse": 4 * loss / 3,
        "sign_accuracy": 0.713,
        "baseline_log_loss": 0.6925,
        "baseline_brier": 0.24,
        "calibration_error": abs(error),
        "calibration": bins,
    }


def full_result() -> Result:
    features = ["discs", "mobility", "potential_mobility", "corners", "c_squares", "x_squares", "frontier", "parity"]
    features += ["stable", "edges"]
    weights = [[0.9 * math.sin(1.7 * j + 0.6 * p) * 0.8 ** (j % 5) for j in range(len(features))] for p in range(6)]
    history = [
        {"epoch": i, "train_loss": 0.52 + 0.15 * 0.75**i, "validation_loss": 0.55 + 0.13 * 0.7**i + 0.0004 * i}
        for i in range(1, 21)
    ]
    return {
        "evallearn": "0.1.0",
        "game": "othello",
        "run": "runs/othello-seed1",
        "seed": 1,
        "command": "evallearn learn othello --seed 1",
        "settings": {"generations": 3, "games": 3000, "depth": 3, "epsilon": 0.1, "workers": 2, "resume": True},
        "records": 183000,
        "seconds": {"self-play 0": 12.3, "fit 0": 1.2, "self-play 1": 31.0, "fit 1": 1.3, "self-play 2": 33.4}
        | {"fit linear": 1.4, "fit neural": 40.7, "match linear": 20.1, "match neural": 38.8},
        "files": {k: f"runs/othello-seed1/{k}.safetensors" for k in ("linear", "neural")}
        | {"report": "runs/othello-seed1/report.html"},
        "reference": "handwritten:mobility",
        "ladder": [
            entry("random", -812, low=-ELO_END, high=-650.0, nodes_per_move=[1.0, 433.2]),
            entry("handwritten:positional", -96.3),
            {"name": "handwritten:mobility", "elo": 0, "low": 0, "high": 0, "games": 0, "distinct_games": 0},
            entry("linear", 171.2, low=143.0, high=201.4),
            entry("neural", 214.0, seconds_per_move=[0.00124, 0.000044]),
        ],
        "equal_time": [entry("linear", 150.2, 31, "time=0.005"), entry("neural", -58.9, 29, "time=0.005")],
        "generations": [
            {"generation": g, "generator": f"{'linear' if g else 'zero'}@depth=4", "games": 3000, "records": 61000}
            | {"checksum": f"ab12cd34ef{g}", "elo": elo, "low": elo - 30, "high": elo + 31}
            | {"log_loss": loss, "baseline_log_loss": 0.693 - g / 900, "promoted": g < 2}
            | {"gate": {"opponent": "zero", "elo": 40.0 - 19 * g, "low": 9.0 - 20 * g, "high": 75.0, "los": 0.99}}
            for g, elo, loss in ((0, 35.1, 0.611), (1, 128.0, 0.574), (2, 166.0, 0.566))
        ],
        "champion": 1,
        "alarms": [{"name": "saturated", "about": "neural", "text": "3 % of the held-out values lie beyond <0.99>."}],
        "stopped": "stopped after 3 generations: 1 in a row brought no better evaluator",
        "fits": {
            "linear": {"metrics": metrics(0.011, 0.5662), "seconds": 1.2},
            "neural": {"metrics": metrics(0.019, 0.5512), "history": history},
            "handwritten:mobility": {"metrics": metrics(-0.06, 0.641)},
        },
        "weights": {
            "features": features,
            "weights": weights,
            "bias": [0.01 * p for p in range(6)],
            "spread": [0.31, 0.42, 0.3, 0.2, 0.25, 0.22, 0.4, 0.9, 0.35, 0.28],
        },
    }


def minimal_result() -> Result:
    return {
        "game": "nim",
        "records": 1200,
        "ladder": [{"name": "random", "elo": -300.0}, {"name": "linear", "elo": 40}],
    }


@pytest.fixture(scope="module")
def page() -> str:
    return render(full_result())


# --- the page --------------------------------------------------------------------------------------------------------
class Balance(HTMLParser):
    """Fails at a tag that is closed wrongly; gathers ids and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(attrs)

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), attrs
        self.ids += [v for k, v in attrs if k == "id" and v]
        self.links += [v for k, v in attrs if k == "href" and v]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: str) -> Balance:
    parser = Balance()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def assert_self_contained(page: str) -> None:
    assert not re.search(r"https?:", page)
    assert not re.search(r"""\b(src|href)\s*=\s*(?!"#)""", page)
    assert not re.search(r"url\((?!#)|@import|<link|<img|<iframe", page)


def test_full_report_has_every_section_and_balanced_tags(page: str) -> None:
    found = parsed(page)
    assert [i for i in found.ids if i in SECTIONS] == list(SECTIONS)
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert page.count("<svg") == 1 + 3 + 1 + 3


def test_report_refers_to_nothing_outside(page: str) -> None:
    assert_self_contained(page)
    assert_self_contained(render(minimal_result()))


def test_plots_take_their_colours_from_the_page(page: str) -> None:
    assert "#00f1" not in page
    assert set(re.findall(r"var\(--([a-z-]+)", page)) <= set(re.findall(r"--([a-z-]+):", page))


def test_report_shows_the_figures(page: str) -> None:
    seen = " ".join(" ".join(parsed(page).texts).split())
    for figure in (
        "+171",
        "143 to 201",
        "at most −650",
        "270 / 21 / 109",
        "5 ms a move",
        "1,240",
        "ab12cd34ef",
        "71.3 %",
    ):
        assert figure in seen, figure
    assert "linear, error 0.011" in seen
    assert "weight × spread" in seen


def test_alarms_stand_near_the_top_or_it_is_said_that_none_rang(page: str) -> None:
    header = page[: page.index("<nav")]
    assert '<div class="card alarm"><h3>Alarm</h3>' in header
    assert "3 % of the held-out values lie beyond &lt;0.99&gt;." in header
    silent = render(minimal_result() | {"alarms": []})
    assert "No alarm rang." in silent
    assert "alarm rang" not in render(minimal_result())


def test_minimal_report_leaves_out_what_it_lacks() -> None:
    found = parsed(render(minimal_result()))
    assert [i for i in found.ids if i in SECTIONS] == ["ladder", "made", "glossary"]


@pytest.mark.parametrize("result", [{}, {"ladder": []}, {"ladder": [{"name": "linear"}], "fits": {"linear": {}}}])
def test_almost_empty_results_still_make_a_page(result: Result) -> None:
    parsed(render(result))


@pytest.mark.parametrize("key", sorted(full_result()))
def test_each_part_may_be_missing_or_null(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ladder", "elo_curve", "gate_plot", "loss_curve", "training_curve", "calibration"):
        monkeypatch.setattr(f"evallearn.report.plots.{name}", lambda *args: "")  # they have been drawn above
    result = full_result()
    parsed(render({k: v for k, v in result.items() if k != key}))
    parsed(render(result | {key: None}))


def test_hostile_names_are_escaped() -> None:
    result = json.loads(json.dumps(full_result()).replace("handwritten:mobility", json.dumps(HOSTILE)[1:-1]))
    for key in ("game", "run", "command"):
        result[key] = HOSTILE
    result["weights"]["features"][0] = result["generations"][0]["generator"] = HOSTILE
    result["settings"][HOSTILE] = result["seconds"]["x"] = result["files"][HOSTILE] = HOSTILE
    result["seconds"][HOSTILE] = 1.0
    page = render(result)
    assert page.count("<script") == 1
    assert "alert(&quot;x&quot;)" in page
    assert not re.search("[\x00\udcff]", page)
    parsed(page)


def test_unknown_and_endless_figures_are_drawn() -> None:
    result = full_result()
    result["ladder"][3] |= {"elo": 900.0, "low": 700.0, "high": ELO_END}
    result["ladder"][4] |= {"elo": math.nan, "low": None, "high": math.inf}
    result["generations"][1] |= {"elo": None, "log_loss": math.nan, "gate": None, "promoted": None}
    result["fits"]["linear"]["metrics"] |= {"sign_accuracy": None, "calibration": []}
    page = render(result)
    assert "at least 700" in page
    assert not re.search(r"\bnan\b|\binf\b", page)


# --- the file --------------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    import matplotlib

    result = full_result()
    before = copy.deepcopy(result)
    one = write_report(result, tmp_path / "one.html")
    with matplotlib.rc_context({"font.size": 20.0, "lines.linewidth": 7.0}):
        two = write_report(result, tmp_path / "deep" / "two.html")
    assert one.read_bytes() == two.read_bytes()
    assert result == before
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["one.html", "two.html"]


def test_a_failed_report_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_report(minimal_result(), tmp_path / "report.html")
    old = path.read_bytes()

    def full_disk(*args: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_report(minimal_result() | {"records": 1300}, path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_importing_the_report_does_not_import_matplotlib() -> None:
    code = "import sys, evallearn.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- words -----------------------------------------------------------------------------------------------------------
def with_linear(**changes: Any) -> Result:
    result = full_result()
    result["ladder"][3] |= changes
    return result


def test_headline_of_a_win() -> None:
    assert headline(full_result()) == (
        "On this machine evallearn learned a linear evaluator for othello from 183,000 positions of self-play; at "
        "equal "
        "depth it beats the best hand-written heuristic, mobility, by 171 Elo (95 %: 143 to 201)."
    )


def test_headline_of_a_loss() -> None:
    said = headline(with_linear(elo=-40.0, low=-70.0, high=-11.0))
    assert said.endswith(
        "it does not beat the best hand-written heuristic, mobility: it is 40 Elo weaker (95 %: −70 to −11)."
    )


@pytest.mark.parametrize(("low", "high"), [(-10.0, 28.0), (0.0, 20.0), (None, None)])
def test_headline_of_an_undecided_match(low: float | None, high: float | None) -> None:
    said = headline(with_linear(elo=9.0, low=low, high=high))
    assert "cannot be told apart from the best hand-written heuristic, mobility: +9 Elo" in said
    assert "beat" not in said


def test_headline_without_a_learned_eval() -> None:
    assert "no learned evaluator has been matched yet" in headline({"game": "nim", "ladder": [entry("random", -300.0)]})


def test_headline_speaks_of_the_neural_eval_if_it_is_alone() -> None:
    result = full_result()
    del result["ladder"][3]
    assert "learned a neural evaluator" in headline(result)


def test_numbers_in_words() -> None:
    assert [fixed(x) for x in (183000, -0.2, None, math.nan)] == ["183,000", "0", "–", "–"]
    assert [signed(x) for x in (171.2, -32, 0.1)] == ["+171", "−32", "0"]
    assert [duration(x) for x in (0.04, 59.96, 245, 7800)] == ["0.0 s", "1 min 00 s", "4 min 05 s", "2 h 10 min"]
    assert [limit_words(x) for x in ("depth=4", "time=0.005", "nodes=20000", None)] == [
        "depth 4", "5 ms a move", "20,000 nodes", "",
    ]  # fmt: skip
    assert interval({"low": -10.2, "high": 33.3}) == "−10 to 33"


def test_an_interval_has_no_end_where_the_arena_says_so() -> None:
    assert ELO_END == ELO_LIMIT
    assert interval({"low": 500.0, "high": ELO_LIMIT}) == "at least 500"
