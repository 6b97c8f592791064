"""`evallearn analyse`: what it finds, what it shows, and how it takes bad input and Ctrl-C."""

from __future__ import annotations

import json
from typing import Any

import pytest
from interrupting import ctrl_c_after

from evallearn import get_game
from evallearn.cli import run


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(["analyse", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_winning_move_is_found_and_proven(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "connect_four", "112233", "--depth", "4")
    best = found["analysis"]
    assert (best["action"], best["value"], best["exact"], best["line"]) == ("4", 1.0, True, ["4"])
    assert (found["player"], found["limits"], found["stopped"]) == (0, "depth=4", False)
    assert [row["value"] for row in best["actions"]] == sorted((row["value"] for row in best["actions"]), reverse=True)
    assert len(best["actions"]) == 7
    assert best["nodes"] > best["leaf_calls"] > 0


def test_people_see_board_actions_line_and_effort(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyse", "connect_four", "112233", "--depth", "4"]) == 0
    shown = capsys.readouterr().out
    best = "best: 4, worth +1, a win in 1 ply (proven)"
    for words in ("1 X X X . . . .", "value to first", best, "line: 4", "leaves"):
        assert words in shown, shown
    assert shown.index("1 X X X") < shown.index("value to first") < shown.index("best: 4")


def test_value_and_best_action_are_those_of_the_list_wherever_the_search_is_stopped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Checkers takes a better action of a depth that was begun: not where the values of all are shown."""
    for nodes in range(300, 900, 60):
        found = json_of(capsys, "checkers", "--eval", "handwritten:positional", "--nodes", str(nodes))["analysis"]
        values = [row["value"] for row in found["actions"]]
        assert (found["action"], found["value"]) == (found["actions"][0]["action"], values[0])
        assert values == sorted(values, reverse=True)
        assert (found["value_depth"], found["line"][0]) == (found["depth"], found["action"])


def test_mate_is_proven_and_says_in_how_many_moves(capsys: pytest.CaptureFixture[str]) -> None:
    minimax = ("--search", "minimax", "--depth", "2")  # it compiles no kernel of its own
    mate = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
    assert run(["analyse", "chess", mate, *minimax]) == 0
    assert "best: Qxf7#, worth +1, mate in 1 (proven)" in capsys.readouterr().out
    found = json_of(capsys, "chess", mate, *minimax)["analysis"]
    assert (found["exact"], found["plies_to_end"], found["values"]) == (True, 1, [1.0, -1.0])


@pytest.mark.long
def test_mate_is_proven_by_the_search_that_suits_chess(capsys: pytest.CaptureFixture[str]) -> None:
    """Its settings are unsound: a small search of its own proves what they found."""
    for position, depth, words in (
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "4", "mate in 1"),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "7", "mate in 3"),
        ("1r3r1k/5Bpp/8/8/P2qQ3/5R2/1b4PP/5K2 w - - 0 1", "6", "mate in 3"),
    ):
        assert run(["analyse", "chess", position, "--depth", depth]) == 0
        assert f"worth +1, {words} (proven)" in capsys.readouterr().out


def test_values_to_all_are_shown_where_there_are_three_players(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("at_the_board:LooseEnds", "X.XO.O...", "--depth", "2")
    found = json_of(capsys, *arguments)["analysis"]
    assert (found["action"], found["values"]) == ("2", [-0.5, 1.0, -0.5])
    assert run(["analyse", *arguments]) == 0
    assert "to all: -0.500 to first, +1 to second, -0.500 to third" in capsys.readouterr().out


def test_ten_actions_are_shown_unless_all_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    minimax = ["--search", "minimax", "--depth", "1"]  # it compiles no kernel of its own
    assert run(["analyse", "chess", *minimax]) == 0
    assert "and 10 more: --all shows them" in capsys.readouterr().out
    assert run(["analyse", "chess", *minimax, "--all"]) == 0
    shown = capsys.readouterr().out
    assert "more: --all" not in shown
    game = get_game("chess")
    assert all(game.action_to_text(game.initial(), a) in shown for a in game.actions(game.initial()))


def test_line_is_in_the_notation_of_each_position(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "checkers", "--depth", "3", "--search", "minimax", "--eval", "handwritten:material")[
        "analysis"
    ]
    game = get_game("checkers")
    s = game.initial()
    for text in found["line"]:
        s = game.result(s, game.action_from_text(s, text))
    assert len(found["line"]) == 3


def test_exact_values_of_a_solved_game_stand_beside_the_estimates(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "matches", "--search", "minimax", "--depth", "2")["analysis"]["actions"]
    assert {row["solved"] for row in found} == {1.0, -1.0}
    assert run(["analyse", "matches", "--search", "minimax", "--depth", "2"]) == 0
    assert "+1, a win" in capsys.readouterr().out


@pytest.mark.long
def test_dice_are_named_with_roll(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "backgammon", "4HPwATDgc/ABMA", "--roll", "1", "3")
    assert found["analysis"]["action"] == "8/5 6/5"
    assert len(found["analysis"]["actions"]) == 16


def test_monte_carlo_search_shows_its_simulations(capsys: pytest.CaptureFixture[str]) -> None:
    """A game without rules for the compiled backend: nothing to compile."""
    arguments = ("toys:Takeaway", "5:0", "--search", "mcts", "--nodes", "500")
    found = json_of(capsys, *arguments)["analysis"]
    assert found["action"] == "2"
    assert 0 < sum(row["simulations"] for row in found["actions"]) <= 500
    again = json_of(capsys, *arguments)["analysis"]
    assert {k: v for k, v in found.items() if k != "seconds"} == {k: v for k, v in again.items() if k != "seconds"}
    assert run(["analyse", *arguments]) == 0
    assert "simulations" in capsys.readouterr().out


ALPHABETA = {"no pruning", "alpha-beta", "+ table", "+ killers, history", "+ PVS", "+ aspiration"}
SAMPLING = {"MCTS", "flat Monte Carlo"}


def test_comparison_shows_every_setting_that_suits_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("toys:Takeaway", "8:0", "--depth", "6", "--nodes", "400", "--compare")
    found = json_of(capsys, *arguments)["comparison"]
    by_name = {row["setting"]: row for row in found}
    assert set(by_name) == ALPHABETA | {"late moves reduced"} | SAMPLING
    assert {by_name[name]["action"] for name in ALPHABETA} == {"2"}
    assert by_name["alpha-beta"]["nodes"] < by_name["no pruning"]["nodes"]
    assert run(["analyse", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "the same limits for all" in shown
    assert all(name in shown for name in by_name)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("pig", "--depth", "2"), {"expectiminimax", "+ table", "+ Star1", "Star2 (default)"} | SAMPLING),
        (("three_player_connect", "--depth", "2"), {"max^n", "paranoid", "best reply"} | SAMPLING),
        (
            ("chess", "--depth", "2"),
            ALPHABETA
            | {"+ captures first", "+ quiescence", "+ extensions", "+ null moves", "late moves reduced", "two threads"}
            | SAMPLING,
        ),
    ],
)
@pytest.mark.long
def test_comparison_suits_every_kind_of_game(
    arguments: tuple[str, ...], expected: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = json_of(capsys, *arguments, "--nodes", "300", "--compare")["comparison"]
    assert {row["setting"] for row in found} == expected


@pytest.mark.parametrize("extra", [[], ["--compare"]])
def test_ctrl_c_shows_the_best_so_far_and_exits_with_130(extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(["analyse", "othello", "--depth", "1"])  # compiled, or fetched
    with ctrl_c_after(0.4):
        assert run(["analyse", "othello", "--depth", "60", *extra]) == 130
    told = capsys.readouterr()
    assert "stopped by Ctrl-C: the best so far" in told.err
    assert "best: " in told.out
    assert "Traceback" not in told.err


BAD = {
    "analyse otello": "unknown game 'otello': did you mean 'othello'?",
    "analyse othello nonsense": "nonsense",
    "analyse othello --search alfabeta": "unknown search 'alfabeta': did you mean 'alphabeta'?",
    "analyse othello --eval handwriten:mobility": "did you mean 'handwritten:mobility'?",
    "analyse othello --depth 0": "'--depth': 0 is not in the range 1<=x<=",
    "analyse othello --time -1": "'--time': -1.0 is not in the range 0<x<=",
    "analyse othello --depth x": "'x' is not a valid integer",
    "analyse tic_tac_toe XXXOO....": "the game is over in tic_tac_toe position 'XXXOO....': there is nothing to",
    "analyse backgammon": "waits for chance: name two dice with --roll D D, or give a position after it, such as",
    "analyse backgammon --roll 7 1": "--roll 7 1: no such roll in backgammon",
    "analyse chess --roll 1 2": "--roll: nothing is rolled in chess position",
    "analyse three_player_connect --search alphabeta": "three_player_connect has 3 players: use max^n",
    "analyse pig --search alphabeta": "pig rolls dice: use expectiminimax",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_told_in_a_sentence_and_exits_with_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 2
    told = capsys.readouterr()
    assert BAD[line] in " ".join(told.err.split())
    assert "Traceback" not in told.err
    assert told.out == ""
