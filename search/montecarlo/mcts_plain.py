"""UCT on the Python backend: any game that follows the formalism, in plain Python. The kernel's oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rng import SplitMix64
from evallearn.core.search import Limits, SearchResult
from evallearn.search.common.requirements import require_decision
from evallearn.search.montecarlo.playouts import Playouts, Vector, longest_playout
from evallearn.search.montecarlo.result import Counts, SampledAction, answer, most_visited

MAX_TREE_PLIES = 1000
"""No line of the tree is longer; only endless games come near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `MCTS` was asked for, checked."""

    exploration: float
    first_range: tuple[float, float]
    """Of the outcomes, before the first is seen: (inf, -inf) if it is to be learned."""
    playout_plies: int
    implicit_minimax: float
    solver: bool
    max_nodes: int
    tree_plies: int

    @property
    def first_bonus(self) -> float:
        """The exploration constant times the range of the outcomes; 0 while nothing is known."""
        low, high = self.first_range
        return self.exploration * max(0.0, high - low)

    def depth_of(self, limits: Limits) -> int:
        return min(limits.depth or self.tree_plies, self.tree_plies)


def tree_plies(game: Game) -> int:
    """How deep the tree can be."""
    return min(longest_playout(game), MAX_TREE_PLIES)


class Node:
    """A position as one line leads to it. Numbers are worth to who chose it: at the root, to who moves there."""

    __slots__ = ("action", "children", "exact", "implicit", "mover", "over", "state", "total", "tried", "visits")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.state: State = None
        self.visits, self.total, self.tried = 0, 0.0, 0
        self.children: list[Node] = []
        self.mover, self.over = 0, False
        self.exact: float | None = None
        """The proven value."""
        self.implicit = 0.0
        """The minimax value of the evaluators below."""


class PlainMCTS:
    """See `MCTS` for what it promises.

    A simulation goes down the tree from the root, plays at random (or asks the evaluator) at the first new position,
    and adds the outcome to every node on its line. A node gets its children when it is visited for the second time.
    """

    def __init__(self, game: Game, evaluator: Evaluator | None, settings: Settings) -> None:
        self.game, self.evaluator, self.settings = game, evaluator, settings
        self.playouts = Playouts(game, evaluator, settings.playout_plies)

    def search(self, s: State, limits: Limits, *, seed: int | None) -> SearchResult:
        start = perf_counter()
        require_decision(self.game, s)
        self.rng, self.leaf_calls, self.deepest, done = SplitMix64(seed), 0, 0, 0
        self.max_depth = self.settings.depth_of(limits)
        self.low, self.high = self.settings.first_range
        self.bonus = self.settings.first_bonus
        self.root = root = Node(None)
        root.state, root.mover = s, self.game.to_play(s)
        self.used, self.room = 1, max(self.settings.max_nodes, 1 + len(self.game.actions(s)))
        self.add_children(root)
        squares: dict[Action, float] = dict.fromkeys(self.game.actions(s), 0.0)
        interrupted = False
        try:
            while (limits.nodes is None or done < limits.nodes) and root.exact is None:
                if limits.seconds is not None and perf_counter() - start >= limits.seconds:
                    break
                tried, value = self.simulate()
                squares[tried.action] += value * value
                done += 1
        except KeyboardInterrupt:
            interrupted = True
        children = {c.action: c for c in root.children}
        found = [
            SampledAction(a, children[a].visits, children[a].total, q, children[a].exact) for a, q in squares.items()
        ]
        return answer(
            self.game,
            s,
            found,
            Counts(done, self.leaf_calls, self.deepest, perf_counter() - start),
            seed=seed,
            choice=most_visited,
            line_after=lambda action: line_after(children[action], self.game),
            proven=root.exact is not None,
            evaluator=self.evaluator,
            interrupted=interrupted,
        )

    # --- a simulation ------------------------------------------------------------------------------------------------
    def simulate(self) -> tuple[Node, float]:
        """One descent, one leaf, one backup: the root action that was tried, and what came of it to who tried it."""
        line, better = [self.root], []
        while (outcome := self.outcome_at(line)) is None:
            node = line[-1]
            child, instead = (self.roll(node), None) if node.mover == CHANCE else self.choose_child(node)
            self.enter(child, node)
            line.append(child)
            better.append(instead)
        self.deepest = max(self.deepest, len(line) - 1)
        if min(outcome) < self.low or max(outcome) > self.high:
            self.low, self.high = min(self.low, *outcome), max(self.high, *outcome)
            self.bonus = self.settings.exploration * (self.high - self.low)
        if self.settings.solver:
            self.prove(line, outcome)
        if self.settings.implicit_minimax:
            self.update_implicit(line, outcome)
        return line[1], self.back_up(line, better, outcome)

    def outcome_at(self, line: list[Node]) -> Vector | None:
        """Return what the end of the line is worth to each player, or None if the line goes on."""
        node = line[-1]
        if node.children:
            return None
        if node.over:
            self.leaf_calls += 1
            return self.playouts.end(node.state)
        if node.visits and len(line) <= self.max_depth and self.add_children(node):
            return None
        self.leaf_calls += 1
        return self.playouts(node.state, self.rng)

    def back_up(self, line: list[Node], better: list[float | None], outcome: Vector) -> float:
        """Each node on the line adds what the outcome is worth to who chose it; returns what the first action added.

        Where a better child is proven, its value goes up from there; the simulation only helps to prove the others.
        """
        choosers = [self.root.mover]
        for node in line[:-1]:
            choosers.append(node.mover if node.mover != CHANCE else choosers[-1])  # the dice choose for who threw them
        value = 0.0
        for node, chooser, instead in reversed(list(zip(line, choosers, [*better, None], strict=True))):
            if instead is not None:
                outcome = (instead, -instead) if node.mover == 0 else (-instead, instead)
            node.visits += 1
            node.total += outcome[chooser]
            value = outcome[chooser] if node is line[1] else value
        return value

    def enter(self, child: Node, parent: Node) -> None:
        """Look at the position when its node is reached for the first time."""
        if child.visits == 0:
            child.state = self.game.result(parent.state, child.action)
            child.mover, child.over = self.game.to_play(child.state), self.game.is_terminal(child.state)

    def add_children(self, node: Node) -> bool:
        """Add a node for every action or outcome; return False, with nothing done, if the tree is full."""
        game, s = self.game, node.state
        choices = [o for o, _ in game.chances(s)] if node.mover == CHANCE else game.actions(s)
        if self.used + len(choices) > self.room:
            return False
        self.used += len(choices)
        node.children = [Node(a) for a in choices]
        if self.settings.implicit_minimax:
            for child in node.children:
                self.leaf_calls += 1
                t = game.result(s, child.action)
                known = self.playouts.end(t) if game.is_terminal(t) else self.playouts.guess(t)
                child.implicit = known[node.mover]
        return True

    def choose_child(self, node: Node) -> tuple[Node, float | None]:
        """Return an untried child at random, else the best by UCB1 of those that are not proven.

        With it the value of a proven child that is better still, if there is one: what the node is worth this time.
        """
        children = node.children
        if node.tried < len(children):
            i, j = node.tried, node.tried + self.rng.below(len(children) - node.tried)
            children[i], children[j] = children[j], children[i]
            node.tried += 1
            return children[i], None
        bonus, alpha = self.bonus * math.sqrt(math.log(node.visits)), self.settings.implicit_minimax

        def score(child: Node) -> float:
            mean = child.total / child.visits
            if alpha:
                mean = (1.0 - alpha) * mean + alpha * child.implicit
            return mean + bonus / math.sqrt(child.visits)

        proven = max((c.exact for c in children if c.exact is not None), default=-math.inf)
        best = max((c for c in children if c.exact is None), key=score)
        return best, proven if proven > score(best) else None

    def roll(self, node: Node) -> Node:
        """Return the child that the dice say."""
        return node.children[self.rng.index(self.game.chances(node.state))]

    # --- what is known for certain -----------------------------------------------------------------------------------
    def prove(self, line: list[Node], outcome: Vector) -> None:
        """MCTS-Solver (Winands et al. 2008): ends are proven; so is a node with a proven win or all children proven."""
        if not line[-1].over or line[-1].exact is not None:
            return
        line[-1].exact = outcome[chooser_of(line)]
        for n in range(len(line) - 1, 0, -1):
            parent = line[n - 1]
            proven = [c.exact for c in parent.children if c.exact is not None]
            if len(proven) < len(parent.children) and max(proven) < self.game.utility_range[1]:
                return
            parent.exact = to_chooser(max(proven), line[:n])

    def update_implicit(self, line: list[Node], outcome: Vector) -> None:
        """Implicit minimax (Lanctot et al. 2014): minimax of the evaluators, kept beside the means."""
        for n in range(len(line), 0, -1):
            node = line[n - 1]
            if node.exact is not None:
                node.implicit = node.exact
            elif node.over:
                node.implicit = outcome[chooser_of(line[:n])]
            elif node.children:
                node.implicit = to_chooser(max(c.implicit for c in node.children), line[:n])


def chooser_of(line: list[Node]) -> int:
    """Who chose the end of the line (in a game without chance); of the root, who moves there."""
    return line[-2].mover if len(line) > 1 else line[0].mover


def to_chooser(value_mover: float, line: list[Node]) -> float:
    """Return a value to who moves at the end of the line, as who chose it sees it."""
    return value_mover if line[-1].mover == chooser_of(line) else -value_mover


def line_after(node: Node, game: Game) -> list[Action]:
    """Return the line below, each choice made as the root's; it ends where dice are rolled."""
    line: list[Action] = []
    while node.children and node.mover != CHANCE:
        found = [SampledAction(c.action, c.visits, c.total, 0.0, c.exact) for c in node.children]
        best = most_visited(found, range(len(found)), game)
        if not found[best].visits:
            break
        line.append(found[best].action)
        node = node.children[best]
    return line
