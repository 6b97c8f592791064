"""GNU Backgammon as an evaluator: what it says, and what it refuses. Its networks need the package gnubg-nn."""

from __future__ import annotations

import pickle
import random
import sys

import pytest

from evallearn.agents import SearchAgent, parse_agent, parse_evaluator
from evallearn.agents.gnubg import GnubgEval, equity
from evallearn.core.game import CHANCE
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import SpecError
from evallearn.games.backgammon import Backgammon
from evallearn.games.othello import Othello
from evallearn.search.dice.luck import Rolls

GAME = Backgammon()


def a_few_rolls_due(n: int) -> list:
    """Positions before a roll, of random games."""
    found, chance = [], random.Random(3)
    s = GAME.initial()
    while len(found) < n:
        s = GAME.initial() if GAME.is_terminal(s) else s
        if GAME.to_play(s) == CHANCE:
            found.append(s)
            s = GAME.result(s, chance.choice(GAME.chances(s))[0])
        else:
            s = GAME.result(s, chance.choice(GAME.actions(s)))
    return found


def test_equity_counts_gammons_and_backgammons_once_more():
    assert equity((1.0, 1.0, 1.0, 0.0, 0.0)) == 3.0
    assert equity((0.0, 0.0, 0.0, 1.0, 0.0)) == -2.0


def test_without_the_package_its_name_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    with pytest.raises(SpecError, match="gnubg:0 needs the package gnubg-nn, .*: pip install gnubg-nn"):
        parse_agent("gnubg:0", GAME, trust=FULL_TRUST)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gnubg:3", "gnubg:3: 3 plies of GNU Backgammon: give 0 to 2, as in gnubg:0"),
        ("gnubg:two", "gnubg:two: 'two' is no number of plies: give 0 to 2, as in gnubg:0"),
        ("gnubg:", "gnubg:: '' is no number of plies"),
    ],
)
def test_other_plies_are_refused(text, message):
    with pytest.raises(SpecError, match=message):
        parse_agent(text, GAME, trust=FULL_TRUST)


def test_other_games_are_refused():
    with pytest.raises(SpecError, match="gnubg:0 plays backgammon, not othello: choose another agent or game"):
        parse_agent("gnubg:0", Othello(), trust=FULL_TRUST)


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("gnubg_nn")

    def test_the_start_is_a_little_better_for_who_rolls(self):
        s = GAME.from_text("4HPwATDgc/ABMA O")
        evaluator = GnubgEval(GAME)
        assert evaluator.evaluate(s, 1) == pytest.approx(0.0676, abs=5e-4)
        assert evaluator.evaluate(s, 0) == -evaluator.evaluate(s, 1)

    def test_finished_games_are_worth_their_points(self):
        s = GAME.from_text("2LYdAAAAAAAAAA")  # the player on roll has borne off
        assert GnubgEval(GAME).evaluate(s, 0) == GAME.utility(s, 0)

    def test_an_agent_looks_one_ply_ahead_and_can_be_named_again(self):
        agent = parse_agent("gnubg:0", GAME, trust=FULL_TRUST)
        assert isinstance(agent, SearchAgent)
        assert (agent.name, agent.limits) == ("gnubg:0@depth=1", Limits(depth=1))
        s = GAME.from_text("4HPwATDgc/ABMA:31")
        again = pickle.loads(pickle.dumps(agent))
        for each in (agent, parse_agent(agent.name, GAME, trust=FULL_TRUST), again):
            assert GAME.action_to_text(s, each.choose(s, 1).action) == "8/5 6/5"

    def test_rolls_are_judged_as_one_by_one(self):
        evaluator = parse_evaluator("gnubg:0", GAME, trust=FULL_TRUST)
        quick, slow = Rolls(GAME, evaluator), Rolls(GAME, evaluator, backend="python")
        for s in a_few_rolls_due(12):
            assert quick.values(s) == slow.values(s)
