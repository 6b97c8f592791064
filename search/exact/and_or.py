"""AND-OR graph search: plans for one agent whose actions may have several outcomes (Russell & Norvig, chapter 4).

Where the agent chooses is an OR node, where the world answers an AND node: a plan names one action for each state that
may arise, and has to cope with every outcome. That is no game: nobody plays against the agent, and no outcome has a
probability. The textbook's search is depth-first and may look at a state again for every way that leads there. This
one goes from the goals backwards over the states that can be reached: it looks at every outcome once, and of all plans
that are sure to end it finds one whose longest way to the goal is shortest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias

from evallearn.core.game import A, S
from evallearn.errors import SearchError

LONGEST_TEXT = 100
"""Steps in a row that a plan's text shows."""


class Problem(Protocol[S, A]):
    """What the search asks for. States and actions are hashable."""

    def initial(self) -> S:
        """Return the state in which the agent begins."""

    def actions(self, s: S) -> Sequence[A]:
        """Return what the agent can do."""

    def results(self, s: S, a: A) -> Collection[S]:
        """Every state that `a` may lead to: one or more."""

    def is_goal(self, s: S) -> bool:
        """Return True if nothing is left to do."""


@dataclass(frozen=True)
class Done:
    """The empty plan: a goal is reached."""

    def __str__(self) -> str:
        return "done"


@dataclass(frozen=True)
class Again:
    """Go on as in the step that bears this label: a loop."""

    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Step(Generic[S, A]):
    """Do `action`; then, in whatever state that led to, follow the plan for it."""

    action: A
    then: Mapping[S, Plan[S, A]] = field(hash=False)
    label: str | None = None

    def __str__(self) -> str:
        """`suck; if 5: right; suck`: outcomes that need different plans are told apart, goals say nothing."""
        return self._text(LONGEST_TEXT)

    def _text(self, steps: int) -> str:
        """Return the first `steps` steps of the plan as text."""
        if steps == 0:
            return "..."
        text = f"{self.label}: {self.action}" if self.label else str(self.action)
        texts = {s: plan._text(steps - 1) if isinstance(plan, Step) else str(plan) for s, plan in self.then.items()}
        if len(set(texts.values())) == 1:
            only = next(iter(texts.values()))
            return text if only == "done" else f"{text}; {only}"
        cases = [f"if {s}: {plan}" for s, plan in texts.items() if plan != "done"]
        return f"{text}; {cases[0]}" if len(cases) == 1 else f"{text}; {' '.join(f'({case})' for case in cases)}"


Plan: TypeAlias = Done | Step[S, A] | Again


@dataclass(frozen=True)
class Graph(Generic[S, A]):
    """The states that can be reached."""

    goals: set[S] = field(default_factory=set)
    outcomes: dict[S, dict[A, tuple[S, ...]]] = field(default_factory=dict)
    """outcomes[s][a]; a goal has no actions."""

    def before(self) -> dict[S, list[tuple[S, A]]]:
        """{state: the (state, action) that may lead there}."""
        found: dict[S, list[tuple[S, A]]] = {s: [] for s in self.outcomes}
        for s, actions in self.outcomes.items():
            for a, following in actions.items():
                for t in following:
                    found[t].append((s, a))
        return found


def and_or_search(problem: Problem[S, A], *, cyclic: bool = False, max_states: int = 1_000_000) -> Plan[S, A] | None:
    """Return a plan that reaches a goal whatever happens, or None if there is none.

    cyclic: where no plan is sure to end, also accept one that tries again: it reaches a goal unless the same bad luck
    goes on forever. From every state of such a plan a goal can be reached. Raises SearchError where more than
    `max_states` states can be reached.
    """
    start, graph = problem.initial(), explore(problem, max_states)
    if start in graph.goals:
        return Done()
    choice = sure_choices(graph)
    if start not in choice and cyclic:
        choice = hopeful_choices(graph)
    return write(start, choice, graph) if start in choice else None


def explore(problem: Problem[S, A], max_states: int) -> Graph[S, A]:
    """Every state that can be reached, with all outcomes of all actions."""
    graph, start = Graph[S, A](), problem.initial()
    graph.outcomes[start] = {}
    queue = deque([start])
    while queue:
        s = queue.popleft()
        if problem.is_goal(s):
            graph.goals.add(s)
            continue
        for a in problem.actions(s):
            following = tuple(dict.fromkeys(problem.results(s, a)))
            if not following:
                raise SearchError(f"action {a!r} in state {s!r} has no results: results(s, a) must name one or more")
            graph.outcomes[s][a] = following
            for t in following:
                if t not in graph.outcomes:
                    graph.outcomes[t] = {}
                    queue.append(t)
        if len(graph.outcomes) > max_states:
            raise SearchError(f"the problem has more than {max_states:,} states: raise max_states, or state it smaller")
    return graph


def sure_choices(graph: Graph[S, A]) -> dict[S, A]:
    """{state: action} for all states from which a goal is sure to be reached.

    Round by round those are added for which some action has all its outcomes among those known before; of several
    such actions the first counts.
    """
    before = graph.before()
    unknown = {(s, a): len(following) for s, actions in graph.outcomes.items() for a, following in actions.items()}
    choice: dict[S, A] = {}
    reached = list(graph.goals)
    while reached:
        ready: dict[S, set[A]] = {}
        for t in reached:
            for s, a in before[t]:
                unknown[s, a] -= 1
                if unknown[s, a] == 0 and s not in choice:
                    ready.setdefault(s, set()).add(a)
        choice |= {s: next(a for a in graph.outcomes[s] if a in actions) for s, actions in ready.items()}
        reached = list(ready)
    return choice


def hopeful_choices(graph: Graph[S, A]) -> dict[S, A]:
    """{state: action} for all states from which a goal stays in reach, however the actions turn out.

    States from which none is in reach are dropped, then the actions that may lead to them, and so on until nothing is
    left to drop. Each choice may lead one step nearer to a goal, so that trying long enough gets there.
    """
    before, alive = graph.before(), set(graph.outcomes)
    while True:
        choice: dict[S, A] = {}
        queue = deque(graph.goals)
        while queue:
            for s, a in before[queue.popleft()]:
                if s not in choice and s in alive and alive.issuperset(graph.outcomes[s][a]):
                    choice[s] = a
                    queue.append(s)
        if len(choice) + len(graph.goals) == len(alive):
            return choice
        alive = choice.keys() | graph.goals


def write(start: S, choice: Mapping[S, A], graph: Graph[S, A]) -> Plan[S, A]:
    """Return the choices as a nested plan; a state that is met again below itself becomes a loop."""
    labels: dict[S, str] = {}
    plans: dict[S, Plan[S, A]] = {s: Done() for s in graph.goals}

    def opened(s: S) -> tuple[S, dict[S, Plan[S, A]], Iterator[S]]:
        return s, {}, iter(graph.outcomes[s][choice[s]])

    path = [opened(start)]
    on_path = {start}
    while path:
        s, then, rest = path[-1]
        for t in rest:
            if t in plans:
                then[t] = plans[t]
            elif t in on_path:
                then[t] = Again(labels.setdefault(t, f"L{len(labels) + 1}"))
            else:
                on_path.add(t)
                path.append(opened(t))
                break
        else:
            path.pop()
            plans[s] = Step(choice[s], then, labels.get(s))
            if path:
                path[-1][1][s] = plans[s]
    return plans[start]


def check_plan(problem: Problem[S, A], plan: Plan[S, A]) -> int:
    """Follow every outcome of the plan: how many situations (state, step) it has. Raises SearchError if it fails.

    It fails if it names an action that cannot be done, forgets an outcome, stops before the goal, or holds a situation
    from which no goal is in reach.
    """
    steps = {step.label: step for step in _steps(plan) if step.label}
    after: dict[tuple[S, int], list[tuple[S, int]]] = {}
    queue, finished = deque([(problem.initial(), plan)]), []
    while queue:
        s, rest = queue.popleft()
        here = rest
        if isinstance(here, Again):
            if here.label not in steps:
                raise SearchError(f"the plan goes on at {here.label!r} in state {s!r}, which no step is called")
            here = steps[here.label]
        if (s, id(here)) in after:
            continue
        after[s, id(here)] = []
        if isinstance(here, Done):
            if not problem.is_goal(s):
                raise SearchError(f"the plan ends in state {s!r}, which is no goal")
            finished.append((s, id(here)))
            continue
        if here.action not in problem.actions(s):
            raise SearchError(f"the plan wants {here.action!r} in state {s!r}, where that cannot be done")
        for t in problem.results(s, here.action):
            if t not in here.then:
                raise SearchError(f"the plan says nothing about state {t!r} after {here.action!r} in state {s!r}")
            then = here.then[t]
            queue.append((t, then))
            after[s, id(here)].append((t, id(steps.get(then.label, then) if isinstance(then, Again) else then)))
    _require_hope(after, finished)
    return len(after)


def _require_hope(after: Mapping[tuple[S, int], Sequence[tuple[S, int]]], finished: Sequence[tuple[S, int]]) -> None:
    """From every situation one must be in reach that is finished."""
    before: dict[tuple[S, int], list[tuple[S, int]]] = {situation: [] for situation in after}
    for situation, following in after.items():
        for other in following:
            before[other].append(situation)
    hopeful, queue = set(finished), deque(finished)
    while queue:
        for situation in before[queue.popleft()]:
            if situation not in hopeful:
                hopeful.add(situation)
                queue.append(situation)
    for s, _ in (situation for situation in after if situation not in hopeful):
        raise SearchError(f"the plan goes round in circles from state {s!r}: no goal is in reach")


def _steps(plan: Plan[S, A]) -> Iterator[Step[S, A]]:
    """Every step of the plan, shared ones once."""
    seen: set[int] = set()
    stack: list[Plan[S, A]] = [plan]
    while stack:
        here = stack.pop()
        if isinstance(here, Step) and id(here) not in seen:
            seen.add(id(here))
            yield here
            stack.extend(here.then.values())
