"""Thrashing: Pacman's known case and its opposite, games in which nothing can return, and the detector by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from toys import CoinRace, Takeaway

from evallearn import get_game
from evallearn.core.game import Game
from evallearn.errors import SpecError
from evallearn.evaluators import FunctionEval, LinearEval, heuristic
from evallearn.games.pacman.seats import WAYS
from evallearn.quality import Stretch, Thrash, thrash
from evallearn.quality.formatting import thrash_verdict
from evallearn.quality.playing import dice_of
from evallearn.quality.thrash import Turn, look, other_starts


class Walk(Takeaway):
    """Two walkers; a state is its own text: words that say where they are, and a clock."""

    name = "walk"

    def to_text(self, s: Any) -> str:
        return str(s)

    def action_to_text(self, s: Any, a: Any) -> str:
        return str(a)


def turns(*texts: str, choices: int = 2) -> list[Turn]:
    """What player 0 and player 1 faced in turn; the last has no action."""
    return [Turn(t, i % 2, f"m{i}" if i < len(texts) - 1 else None, choices) for i, t in enumerate(texts)]


def walk(places: str, others: str = "", *, step: int = -1) -> list[str]:
    """Positions with player 0 on these places; player 1 stands on `others`, and a clock runs."""
    texts = []
    for i, place in enumerate(places):
        other = others[i] if others else "x"
        after = places[i + 1] if i + 1 < len(places) else place
        texts += [f"me={place} you={other} left={90 + step * i}", f"me={after} you={other} left={90 + step * i + step}"]
    return texts


def found(texts: list[str], choices: int = 2) -> tuple[int, int, int]:
    """(stretches, longest, moves inside)."""
    stretches, _, inside = look(Walk(), turns(*texts, choices=choices), 0)
    return len(stretches), max((s.length for s in stretches), default=0), inside


def test_to_and_fro_twice_is_a_stretch() -> None:
    assert found(walk("ABABA")) == (1, 4, 4)
    assert found(walk("ABABABABC")) == (1, 7, 7)


def test_one_step_back_is_none() -> None:
    assert found(walk("ABAC")) == (0, 0, 0)
    assert found(walk("ABABC")) == (0, 0, 0)


def test_a_round_of_four_is_a_stretch_when_it_was_gone_twice() -> None:
    assert found(walk("ABCDABCDA")) == (1, 8, 8)
    assert found(walk("ABCDABCD")) == (0, 0, 0)


def test_standing_still_and_going_on_are_none() -> None:
    assert found(walk("AAAAAAAA")) == (0, 0, 0)
    assert found(walk("ABCDEFGH")) == (0, 0, 0)


def test_the_others_may_move_meanwhile() -> None:
    assert found(walk("ABABA", "pqrst")) == (1, 4, 4)


def test_a_clock_may_run_up_or_stand() -> None:
    assert found(walk("ABABA", step=1)) == (1, 4, 4)
    assert found(walk("ABABA", step=0)) == (1, 4, 4)


def test_a_number_that_jumps_is_no_clock() -> None:
    texts = walk("ABABA")
    assert found([*texts[:4], *(t.replace("left=8", "left=1") for t in texts[4:])]) == (0, 0, 0)


def test_who_had_no_choice_does_not_thrash() -> None:
    assert found(walk("ABABABA"), choices=1) == (0, 0, 0)


def test_whom_others_bring_back_does_not_thrash() -> None:
    same = [Turn(t.state, t.player, t.action and "roll", 2) for t in turns(*walk("ABABABA"))]
    assert look(Walk(), same, 0)[0] == []


@pytest.mark.parametrize(("name", "ghosts"), [("hungry", "together"), *product(["hunter"], WAYS)])
def test_pacman_thrashes_with_the_score_alone_and_not_with_others(name: str, ghosts: str) -> None:
    game = get_game(f"pacman,maze=thrash,moves=40,ghosts={ghosts}")
    bad = thrash(heuristic(game, "score"), depth=2, games=3)
    assert bad.share > 0.9
    assert bad.longest >= 36
    assert bad.example is not None
    assert (bad.example.player, bad.example.period) == (0, 2)
    assert set(zip(bad.example.moves, bad.example.moves[1:], strict=False)) == {("north", "south"), ("south", "north")}
    assert bad.shares[0] > 0.9
    assert thrash_verdict(bad).startswith("Thrashes: ")
    good = thrash(heuristic(game, name), depth=2, games=3)
    assert (good.share, good.longest, good.example) == (0.0, 0, None)
    assert thrash_verdict(good).startswith("Does not thrash: in ")


@pytest.mark.parametrize("name", ["connect_four", "matches"])
def test_where_nothing_can_return_nobody_thrashes(name: str) -> None:
    game = get_game(name)
    for name in game.heuristics:
        found = thrash(heuristic(game, name), depth=2, games=4)
        assert (found.thrashed, found.example) == (0, None)
        assert found.moves > 0


def test_games_with_dice_repeat_for_a_seed() -> None:
    game = CoinRace()
    still = FunctionEval(game, lambda s, p: 0.0)
    assert thrash(still, depth=1, games=4, seed=3) == thrash(still, depth=1, games=4, seed=3)
    assert thrash(still, depth=1, games=4, opening_plies=0).games == 4


def test_verdicts_for_little_and_for_nothing() -> None:
    stretch = Stretch(0, "x", ("a", "b", "a", "b"), 4, 2)
    little = Thrash(10, 1000, 4, 0.004, 0.001, 0.02, (0.004,), 4, stretch)
    said = "Hardly thrashes: 0.4 % of 1,000 moves of 10 games against itself (95 %: 0.1 to 2.0) go to and fro"
    assert thrash_verdict(little).startswith(said)
    never = Thrash(10, 1000, 0, 0.0, 0.0, 0.2, (0.0,), 0, None)
    assert thrash_verdict(never).endswith("nobody went to and fro (95 %: at most 20 % of moves).")
    assert thrash_verdict(Thrash(2, 0, 0, 0.0, 0.0, 1.0, (0.0,), 0, None)).startswith("Nobody had a choice in 2 games")


def test_no_games_are_refused() -> None:
    with pytest.raises(SpecError, match="games=0: to look for thrashing, give 1 or more"):
        thrash(LinearEval.zero(Takeaway()), games=0)


def test_openings_are_different_and_no_more_than_there_are() -> None:
    game: Game = Takeaway()
    assert sorted(other_starts(game, 50, 1, 1)) == [(9, 1), (10, 1)]  # type: ignore[type-var]
    assert other_starts(game, 50, 40, 1) == other_starts(game, 0, 1, 1) == []
    assert dice_of(1, 2).random() == dice_of(1, 2).random() != dice_of(2, 1).random()
