"""The benchmarks of chess and checkers: what they read, what they refuse, what counts as solved or kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import benchmark

from evallearn.agents import RandomAgent
from evallearn.errors import DataError
from evallearn.games.checkers.table import build_table


def test_epd_problems_are_solved_by_best_moves_or_by_avoiding_others(tmp_path):
    chess = benchmark("chess_strength")
    path = tmp_path / "two.epd"
    path.write_text('6k1/8/8/8/8/8/8/R5K1 w - - bm Ra8+ Ra7; id "one";\n\n6k1/8/8/8/8/8/8/R5K1 w - - am Kf1;\n')
    best, avoid = chess.read_epd(path)
    moves = {text: chess.GAME.action_from_text(best.state, text) for text in ("Ra8+", "Ra7", "Kf1")}
    assert [best.solved_by(a) for a in moves.values()] == [True, True, False]
    assert [avoid.solved_by(a) for a in moves.values()] == [True, True, False]
    assert (best.name, avoid.name) == ("one", "3")


def test_epd_without_moves_is_refused(tmp_path):
    path = tmp_path / "bad.epd"
    path.write_text("6k1/8/8/8/8/8/8/R5K1 w - -\n")
    with pytest.raises(DataError, match=r"bad.epd:1: no best move \(bm\) and none to avoid \(am\): give one of them"):
        list(benchmark("chess_strength").read_epd(path))


def test_unknown_evals_end_with_2(capsys):
    assert benchmark("chess_strength").main(["match", "handwritten:positonal"]) == 2
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words", "place"),
    [("chess_strength", ["wac"], "REFERENCE"), ("checkers_strength", ["endgames"], "SAMPLE")],
)
def test_absent_reference_data_are_named(name, words, place, monkeypatch, capsys):
    module = benchmark(name)
    monkeypatch.setattr(module, place, Path("nowhere"))
    assert module.main(words) == 2
    assert "is absent: this benchmark needs the reference data in ../shared/reference" in capsys.readouterr().err


def test_mistakes_are_moves_that_give_value_away(tmp_path):
    checkers = benchmark("checkers_strength")
    path = tmp_path / "sample.csv"
    path.write_text('fen,value_for_side_to_move\n"B:WK32:BK1",draw\n')
    endings, table = list(checkers.read_sample(path)), build_table(2)
    assert checkers.mistakes(RandomAgent(checkers.GAME), endings, table) == []
    wrong = [endings[0]._replace(value=1)]
    assert [left for _, left in checkers.mistakes(RandomAgent(checkers.GAME), wrong, table)] == [0]


def test_unknown_values_of_endings_are_refused(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text('fen,value_for_side_to_move\n"B:WK32:BK1",won\n')
    with pytest.raises(DataError, match=r"bad.csv:2: the value is 'won': give one of win, draw, loss"):
        list(benchmark("checkers_strength").read_sample(path))
