"""AND-OR search: the erratic vacuum cleaner, and random problems against the textbook's own algorithm."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.errors import SearchError
from evallearn.search.exact.and_or import Again, Done, Plan, Problem, Step, and_or_search, check_plan

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def vacuum(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import vacuum

    return vacuum


class Table:
    """table[s] is {action: outcomes}; the problem begins in 0."""

    def __init__(self, table: dict[int, dict[str, list[int]]], goals: set[int]) -> None:
        self.table, self.goals = table, goals

    def initial(self) -> int:
        return 0

    def actions(self, s: int) -> list[str]:
        return list(self.table.get(s, {}))

    def results(self, s: int, a: str) -> list[int]:
        return self.table[s][a]

    def is_goal(self, s: int) -> bool:
        return s in self.goals


# --- the textbook ----------------------------------------------------------------------------------------------------
def test_erratic_vacuum_has_the_textbooks_plan(vacuum: Any) -> None:
    """[Suck, if State = 5 then [Right, Suck] else []]."""
    problem = vacuum.Vacuum()
    plan = and_or_search(problem)
    five, six, seven, eight = (
        vacuum.State(room, dirt) for dirt in ((False, True), (False, False)) for room in (vacuum.LEFT, vacuum.RIGHT)
    )
    assert [str(s) for s in (five, six, seven, eight)] == ["5", "6", "7", "8"]
    right = Step("right", {six: Step("suck", {eight: Done()})})
    assert plan == Step("suck", {five: right, seven: Done()})
    assert str(plan) == "suck; if 5: right; suck"
    assert check_plan(problem, plan) == 5


def test_slippery_vacuum_needs_a_loop(vacuum: Any) -> None:
    """[Suck, L1: Right, if State = 5 then L1 else Suck]."""
    problem = vacuum.Vacuum(erratic=False, slippery=True)
    assert and_or_search(problem) is None
    plan = and_or_search(problem, cyclic=True)
    assert str(plan) == "suck; L1: right; (if 5: L1) (if 6: suck)"
    assert check_plan(problem, plan) == 4


def test_a_plan_that_is_sure_to_end_is_preferred_to_a_loop(vacuum: Any) -> None:
    assert and_or_search(vacuum.Vacuum(), cyclic=True) == and_or_search(vacuum.Vacuum())


def test_example_runs(vacuum: Any, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "vacuum.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "erratic:  suck; if 5: right; suck",
        "slippery: suck; L1: right; (if 5: L1) (if 6: suck)",
        "slippery, but it must be sure to end: None",
    ]


# --- random problems -------------------------------------------------------------------------------------------------
def textbook_search(problem: Problem) -> Plan | None:
    """AND-OR-SEARCH of the textbook: depth first, a state that is on the path already fails."""

    def or_search(s: Any, path: tuple[Any, ...]) -> Plan | None:
        if problem.is_goal(s):
            return Done()
        if s in path:
            return None
        for a in problem.actions(s):
            then = {t: or_search(t, (*path, s)) for t in problem.results(s, a)}
            if None not in then.values():
                return Step(a, then)  # type: ignore[arg-type]  # none of them is None
        return None

    return or_search(problem.initial(), ())


def can_insist(problem: Table, n: int) -> bool:
    """True if from the first state a goal can be kept in reach for ever: the largest set of states that can do so."""
    keeping = set(range(n))
    while True:
        near = {s for s in keeping if problem.is_goal(s)}
        for _ in range(n):
            near |= {
                s
                for s in keeping
                for a in problem.actions(s)
                if keeping >= set(problem.results(s, a)) and near & set(problem.results(s, a))
            }
        if near == keeping:
            return 0 in keeping
        keeping = near


def longest_way(plan: Plan) -> int:
    return 1 + max(map(longest_way, plan.then.values())) if isinstance(plan, Step) else 0


@st.composite
def problems(draw: st.DrawFn) -> tuple[Table, int]:
    n = draw(st.integers(2, 7))
    outcomes = st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)
    table = {s: draw(st.dictionaries(st.sampled_from("abc"), outcomes, max_size=3)) for s in range(n)}
    return Table(table, draw(st.sets(st.integers(1, n - 1), max_size=2))), n


@settings(max_examples=40)
@given(problems())
def test_a_plan_is_found_exactly_where_the_textbook_finds_one_and_is_no_longer(case: tuple[Table, int]) -> None:
    problem, _ = case
    plan, expected = and_or_search(problem), textbook_search(problem)
    assert (plan is None) == (expected is None)
    if plan is not None and expected is not None:
        check_plan(problem, plan)
        check_plan(problem, expected)
        assert longest_way(plan) <= longest_way(expected)


@settings(max_examples=40)
@given(problems())
def test_a_cyclic_plan_is_found_exactly_where_a_goal_can_be_kept_in_reach(case: tuple[Table, int]) -> None:
    problem, n = case
    plan = and_or_search(problem, cyclic=True)
    assert (plan is not None) == can_insist(problem, n)
    if plan is not None:
        check_plan(problem, plan)


def test_long_plans_need_no_deep_recursion() -> None:
    n = 3 * sys.getrecursionlimit()
    corridor = Table({s: {"go": [s, s + 1]} for s in range(n)}, {n})
    plan = and_or_search(corridor, cyclic=True)
    assert plan is not None
    assert check_plan(corridor, plan) == n + 1


# --- refusals --------------------------------------------------------------------------------------------------------
DOOR = Table({0: {"push": [0, 1], "kick": [2]}, 2: {}}, {1})
"""Pushing may not move it; kicking breaks it."""


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Done(), "the plan ends in state 0, which is no goal"),
        (Step("pull", {}), "the plan wants 'pull' in state 0, where that cannot be done"),
        (Step("push", {1: Done()}), "the plan says nothing about state 0 after 'push' in state 0"),
        (Step("push", {0: Again("L1"), 1: Done()}), "the plan goes on at 'L1' in state 0, which no step is called"),
        (Step("push", {0: Step("kick", {2: Done()}), 1: Done()}), "the plan ends in state 2, which is no goal"),
    ],
)
def test_plan_that_fails_is_refused_with_the_place(plan: Plan, message: str) -> None:
    with pytest.raises(SearchError, match=message):
        check_plan(DOOR, plan)


def test_plan_without_hope_is_refused() -> None:
    circle = Table({0: {"go": [1]}, 1: {"back": [0]}}, {2})
    with pytest.raises(SearchError, match="the plan goes round in circles from state 0: no goal is in reach"):
        check_plan(circle, Step("go", {1: Step("back", {0: Again("L1")})}, "L1"))
    assert and_or_search(circle, cyclic=True) is None


def test_door_is_pushed_until_it_opens() -> None:
    assert and_or_search(DOOR) is None
    assert str(and_or_search(DOOR, cyclic=True)) == "L1: push; if 0: L1"


def test_goal_needs_no_plan_and_a_dead_end_has_none() -> None:
    assert and_or_search(Table({}, {0})) == Done()
    assert str(Done()) == "done"
    assert and_or_search(Table({}, {1}), cyclic=True) is None


def test_problem_that_breaks_the_contract_or_is_too_large_is_refused() -> None:
    with pytest.raises(SearchError, match=r"action 'go' in state 0 has no results: results\(s, a\) must name one"):
        and_or_search(Table({0: {"go": []}}, {1}))
    with pytest.raises(SearchError, match="the problem has more than 10 states: raise max_states"):
        and_or_search(Table({s: {"go": [s + 1]} for s in range(50)}, {50}), max_states=10)
