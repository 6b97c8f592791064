"""The compiled floor of a game against its plain floor, position by position.

First with the JIT left out, where a write past `max_actions` can be seen: kernels do not check bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evallearn.compiled.bits import MASK64, u64
from evallearn.compiled.game import CompiledGame
from evallearn.errors import EvallearnError, GameError
from evallearn.protocols import Game, Rules, State

Expect = Callable[[bool, str, str, str], bool]
ALIKE = "make both floors agree"


class _Watched:
    """A buffer that notices what a kernel would not: a write outside its bounds."""

    def __init__(self, size: int, what: str) -> None:
        self.cells, self.what = [0.0] * size, what

    def __setitem__(self, i: int, x: Any) -> None:
        if not 0 <= i < len(self.cells):
            raise GameError(f"{self.what} wrote to place {i} of {len(self.cells)}")
        self.cells[i] = x

    def __getitem__(self, i: int) -> Any:
        if not 0 <= i < len(self.cells):
            raise GameError(f"{self.what} read place {i} of {len(self.cells)}")
        return self.cells[i]


def check_rules(game: Game, histories: Sequence[Sequence[State]], expect: Expect) -> None:
    """Report through `expect` wherever the floors differ on these games."""
    rules = game.rules
    assert rules is not None
    for history in histories:
        expect(
            len(history) - 1 <= rules.max_plies, "rules.max_plies", f"is {rules.max_plies}, a game took {len(history) - 1}",
            "raise it to the longest possible game",
        )  # fmt: skip
        if rules.alternates:
            players = [game.to_play(s) for s in history]
            expect(
                all(p != q for p, q in zip(players, players[1:], strict=False)), "rules.alternates",
                f"is True, but the players moved {players}", "declare alternates=False",
            )  # fmt: skip
    positions = [s for history in histories for s in history]
    with np.errstate(over="ignore"):
        if not all(_check_uncompiled(game, rules, s, expect) for s in positions):
            return
    _check_compiled(game, positions, expect)


def _check_uncompiled(game: Game, rules: Rules, s: State, expect: Expect) -> bool:
    """The rules as plain Python on words; False if it makes no sense to go on."""
    here = repr(game.to_text(s))
    words = game.encode(s)
    if not expect(
        all(0 <= int(w) <= MASK64 for w in words) and len(words) == len(rules.State._fields),  # type: ignore[attr-defined]
        "encode", f"gave {words} in {here}", "give one unsigned 64-bit word per field of rules.State",
    ):  # fmt: skip
        return False
    expect(game.decode([int(w) for w in words]) == s, "decode", f"did not undo encode in {here}", "make it the inverse")
    state = rules.State(*(u64(w) for w in words))
    try:
        return _compare_uncompiled(game, rules, s, state, here, expect)
    except Exception as error:  # whatever the rules raise is the finding
        return expect(
            False, "rules", f"raised {type(error).__name__}: {error} in {here}",
            "mind max_actions and the number of features",
        )  # fmt: skip


def _compare_uncompiled(game: Game, rules: Rules, s: State, state: Any, here: str, expect: Expect) -> bool:
    terminal = bool(rules.is_terminal(state))
    ok = expect(terminal == game.is_terminal(s), "rules.is_terminal", f"is {terminal} in {here}", ALIKE)
    if not ok or terminal:
        return ok
    buffer = _Watched(rules.max_actions, "rules.actions")
    found = [int(buffer[i]) for i in range(int(rules.actions(state, buffer)))]
    ok &= expect(
        found == list(game.actions(s)), "rules.actions", f"gave {found}, plain {list(game.actions(s))} in {here}", ALIKE
    )
    ok &= expect(
        all(0 <= a < rules.n_actions for a in found), "rules.n_actions", f"is {rules.n_actions}, but {here} has {found}",
        "raise it above the largest action",
    )  # fmt: skip
    features = _Watched(len(game.feature_names), "rules.features_mover")
    rules.features_mover(state, features)
    for a in found if ok else ():
        child = tuple(int(w) for w in rules.result(state, a))
        plain = tuple(int(w) for w in game.encode(game.result(s, a)))
        ok &= expect(child == plain, "rules.result", f"gave {child}, plain {plain} for action {a} in {here}", ALIKE)
    return ok


def _check_compiled(game: Game, positions: Sequence[State], expect: Expect) -> None:
    """Method by method: the wrapped compiled game against the plain one."""
    try:
        fast = CompiledGame(game)
    except EvallearnError as error:
        expect(False, "rules", str(error), "see the line it names")
        return
    for s in positions:
        here = repr(game.to_text(s))
        questions: list[tuple[str, Callable[[Game], Any]]] = [
            ("to_play", lambda g, s=s: g.to_play(s)),
            ("is_terminal", lambda g, s=s: g.is_terminal(s)),
        ]
        if game.is_terminal(s):
            questions.append(("utility_mover", lambda g, s=s: [float(g.utility(s, p)) for p in range(2)]))
        else:
            mover = game.to_play(s)
            questions += [
                ("actions", lambda g, s=s: list(g.actions(s))),
                ("result", lambda g, s=s: [g.result(s, a) for a in g.actions(s)]),
                ("phase", lambda g, s=s: g.phase(s)),
                ("features_mover", lambda g, s=s, p=mover: np.asarray(g.features(s, p), np.float32).tolist()),
            ]
        for method, ask in questions:
            compiled, plain = ask(fast), ask(game)
            expect(compiled == plain, f"rules.{method}", f"gave {compiled}, plain {plain} in {here}", ALIKE)
