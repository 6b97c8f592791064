"""Compare the compiled backend of a game with its python backend, position by position.

First with the JIT left out, where NumPy sees a write past `max_actions`: kernels do not check bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np

from evallearn.compiled.bits import u64
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.rng import MASK64
from evallearn.core.rules import Rules
from evallearn.errors import EvallearnError

T = TypeVar("T")
Words: TypeAlias = tuple[np.uint64, ...]
Question: TypeAlias = tuple[str, Callable[[Game], Any]]
Expect = Callable[[bool, str, str, str], bool]
ALIKE = "make both backends agree"


class _Raised(Exception):
    """A rule raised; it has been reported."""


def check_rules(game: Game, histories: Sequence[Sequence[State]], expect: Expect, every: int = 1) -> None:
    """Report through `expect` wherever the backends differ on these games: on every n-th position and the last ones."""
    rules = game.rules
    assert rules is not None
    if not _check_shape(game, rules, expect):
        return
    for history in histories:
        _check_history(game, rules, history, expect)
    positions = [s for history in histories for s in (*history[:-1:every], *history[-1:])]
    with np.errstate(over="ignore"):
        try:
            if not all(_check_uncompiled(game, rules, s, expect) for s in positions):
                return
            _check_keys(game, rules, positions, expect)
        except _Raised:
            return
    _check_compiled(game, positions, expect)


def _check_shape(game: Game, rules: Rules, expect: Expect) -> bool:
    """Check that the functions are there that this kind of game needs, and no others; return whether they are."""
    by_mover = game.n_players == 2 and game.zero_sum and not game.has_chance
    kind = "a two-player zero-sum game without chance" if by_mover else "such a game"
    wanted = {
        "utility_mover": by_mover, "features_mover": by_mover,
        "utility_player": not by_mover, "features_player": not by_mover, "chances": game.has_chance,
        "observer": game.has_chance and game.n_players == 2 and game.zero_sum,
        "bounds_mover": by_mover and game.has("bounds"),
        "won_player": not by_mover and game.has("won"),
    }  # fmt: skip
    for name, need in wanted.items():
        there = getattr(rules, name) is not None
        remedy = "give it" if need else "leave it out"
        if not expect(there == need, f"rules.{name}", "is missing" if need else f"is not for {kind}", remedy):
            return False
    return expect(
        (rules.clock is None) == (rules.clock_limit == 0), "rules.clock_limit", f"is {rules.clock_limit}",
        "give clock and clock_limit, or neither",
    )  # fmt: skip


def _check_history(game: Game, rules: Rules, history: Sequence[State], expect: Expect) -> None:
    plies = len(history) - 1
    expect(
        plies <= rules.max_plies, "rules.max_plies", f"is {rules.max_plies}, a game took {plies}",
        "raise it to the longest possible game",
    )  # fmt: skip
    if rules.alternates:
        players = [p for p in (game.to_play(s) for s in history) if p != CHANCE]
        expect(
            all(p != q for p, q in pairwise(players)), "rules.alternates", f"is True, but the players moved {players}",
            "declare alternates=False",
        )  # fmt: skip


def _run(expect: Expect, name: str, remedy: str, here: str, call: Callable[[], T]) -> T:
    """Return what the rule answers uncompiled; if it raises, that is the finding."""
    try:
        return call()
    except Exception as error:  # whatever a user's rule raises
        expect(False, name, f"raised {type(error).__name__}: {error} in {here}", remedy)
        raise _Raised from None


def _words(game: Game, rules: Rules, s: State, here: str, expect: Expect) -> tuple[int, ...]:
    """Return the encoded state, checked."""
    shape = "give one unsigned 64-bit word per field of rules.State"
    words: tuple[int, ...] = _run(expect, "encode", shape, here, lambda: tuple(int(w) for w in game.encode(s)))
    fits = all(0 <= w <= MASK64 for w in words) and len(words) == rules.n_words
    if not expect(fits, "encode", f"gave {words} in {here}", shape):
        raise _Raised
    return words


def _state(game: Game, rules: Rules, s: State, expect: Expect) -> tuple[Words, str]:
    """Return the state as the rules see it, and its text."""
    here = repr(game.to_text(s))
    return rules.State(*(u64(w) for w in _words(game, rules, s, here, expect))), here


def _check_uncompiled(game: Game, rules: Rules, s: State, expect: Expect) -> bool:
    """Check the rules as plain Python on words; return False if it makes no sense to go on."""
    state, here = _state(game, rules, s, expect)
    inverse = "make it the inverse of encode"
    history = tuple(game.history(s))
    given = ([int(w) for w in state], history) if history else ([int(w) for w in state],)
    back = _run(expect, "decode", inverse, here, lambda: game.decode(*given))
    expect(back == s, "decode", f"gave {back!r}, not {s!r}", inverse)
    if rules.clock is not None:
        count = int(_run(expect, "rules.clock", "answer a count of plies", here, partial(rules.clock, state)))
        expect(
            count == len(history), "rules.clock", f"is {count} after {len(history)} positions of history in {here}",
            "clear both where a move cannot be taken back",
        )  # fmt: skip
        if game.is_terminal(s) and _is_third_occurrence(rules, state, history):
            return True  # which kernels see, not rules.is_terminal
    terminal = bool(_run(expect, "rules.is_terminal", ALIKE, here, lambda: rules.is_terminal(state)))
    ok = expect(terminal == game.is_terminal(s), "rules.is_terminal", f"is {terminal} in {here}", ALIKE)
    if terminal or not ok:
        return ok
    player = int(_run(expect, "rules.to_play", ALIKE, here, lambda: rules.to_play(state)))
    if not expect(
        player == game.to_play(s), "rules.to_play", f"gave {player}, plain {game.to_play(s)} in {here}", ALIKE
    ):
        return False
    if rules.observer is not None:
        seen_by = int(_run(expect, "rules.observer", ALIKE, here, partial(rules.observer, state)))
        plain_observer = game.observer(s)
        expect(seen_by == plain_observer, "rules.observer", f"gave {seen_by}, plain {plain_observer} in {here}", ALIKE)
    if player == CHANCE:
        found = _outcomes(game, rules, s, state, here, expect)
    else:
        found = _actions(rules, state, here, expect)
        plain_actions = list(game.actions(s))
        ok = expect(found == plain_actions, "rules.actions", f"gave {found}, plain {plain_actions} in {here}", ALIKE)
        ok &= expect(
            all(0 <= a < rules.n_actions for a in found), "rules.n_actions",
            f"is {rules.n_actions}, {here} has {found}", "raise it above the largest action",
        )  # fmt: skip
    features = np.zeros(len(game.feature_names), np.float32)
    many = f"write one number for each of {len(features)} feature_names"
    if rules.features_mover is not None:
        _run(expect, "rules.features_mover", many, here, partial(rules.features_mover, state, features))
    elif rules.features_player is not None:
        _run(expect, "rules.features_player", many, here, partial(rules.features_player, state, 0, features))
    _check_active(game, rules, state, here, expect)
    _check_cells(game, rules, s, state, here, expect)
    if rules.passed is not None and game.may_pass(s):
        after = tuple(int(w) for w in _run(expect, "rules.passed", ALIKE, here, partial(rules.passed, state)))
        plain = tuple(int(w) for w in game.encode(game.passed(s)))
        expect(after == plain, "rules.passed", f"gave {after}, plain {plain} in {here}", ALIKE)
    for a in found if ok else ():
        child = _run(expect, "rules.result", ALIKE, here, partial(_words_after, rules, state, a))
        plain = tuple(int(w) for w in game.encode(game.result(s, a)))
        ok &= expect(child == plain, "rules.result", f"gave {child}, plain {plain} for action {a} in {here}", ALIKE)
    return ok


def _check_active(game: Game, rules: Rules, state: Words, here: str, expect: Expect) -> None:
    """Check the features that are not 0, if the game finds them by itself: all of them, the last one first."""
    if rules.active_features is None or rules.features_player is None:
        return
    n = len(game.feature_names)
    x, places, values = np.zeros(n, np.float32), np.zeros(n + 1, np.int32), np.zeros(n + 1, np.float32)
    for player in range(game.n_players):
        rules.features_player(state, player, x)
        ask = partial(rules.active_features, state, player, places, values)
        many = int(_run(expect, "rules.active_features", f"write {n} places at most", here, ask))
        found = list(zip(places[:many].tolist(), values[:many].tolist(), strict=True))
        wanted = [(int(i), float(x[i])) for i in np.flatnonzero(x)[::-1]]
        expect(
            found == wanted, "rules.active_features", f"gave {found} to player {player}, the features that are not 0 "
            f"are {wanted} in {here}", "name all that features_player makes, the last one first",
        )  # fmt: skip


def _check_cells(game: Game, rules: Rules, s: State, state: Words, here: str, expect: Expect) -> None:
    """Check what pattern tables see, if the game shows it."""
    if rules.cells is None:
        return
    plain = [int(c) for c in game.cells(s, game.observer(s))]
    expect(
        len(plain) == game.n_cells and all(0 <= c < game.cell_values for c in plain), "cells",
        f"gave {len(plain)} cells from {min(plain, default=0)} to {max(plain, default=0)}",
        f"answer n_cells={game.n_cells} numbers of 0..{game.cell_values - 1}",
    )  # fmt: skip
    out = np.zeros(game.n_cells, np.int32)
    _run(expect, "rules.cells", f"write {game.n_cells} numbers", here, partial(rules.cells, state, out))
    expect(out.tolist() == plain, "rules.cells", f"gave {out.tolist()}, plain {plain} in {here}", ALIKE)
    if game.stacks:
        _check_contents(game, rules, plain, state, here, expect)


def _check_contents(game: Game, rules: Rules, cells: list[int], state: Words, here: str, expect: Expect) -> None:
    """Check what the stacks hold, and the numbers that the rules give it."""
    wanted = []
    for n, (stack, contents) in enumerate(zip(game.stacks, game.stack_contents, strict=True)):
        held, known = tuple(cells[c] for c in stack), [tuple(content) for content in contents]
        expect(held in known, "stack_contents", f"of stack {n} lack {held} of {here}", "name all that a stack can hold")
        wanted.append(known.index(held) if held in known else -1)
    if rules.contents is None:
        return
    out = np.zeros(len(wanted), np.int32)
    _run(expect, "rules.contents", f"write {len(wanted)} numbers", here, partial(rules.contents, state, out))
    expect(
        out.tolist() == wanted, "rules.contents", f"gave {out.tolist()}, the cells say {wanted} in {here}",
        "number each stack as stack_contents lists it",
    )  # fmt: skip


def _is_third_occurrence(rules: Rules, state: Words, history: Sequence[tuple[int, ...]]) -> bool:
    """Return True if the position stood on the board twice before."""
    now = int(rules.key(state))
    return sum(int(rules.key(rules.State(*map(u64, words)))) == now for words in history) >= 2


def _outcomes(game: Game, rules: Rules, s: State, state: Words, here: str, expect: Expect) -> list[int]:
    """Compare what rules.chances writes with the python backend; return the outcomes."""
    assert rules.chances is not None
    out, odds = np.zeros(rules.max_outcomes, np.int32), np.zeros(rules.max_outcomes)
    more = f"raise rules.max_outcomes above {rules.max_outcomes}, or mend the index"
    n = int(_run(expect, "rules.chances", more, here, partial(rules.chances, state, out, odds)))
    found, plain = list(zip(out[:n].tolist(), odds[:n].tolist(), strict=True)), list(game.chances(s))
    expect(found == plain, "rules.chances", f"gave {found}, plain {plain} in {here}", ALIKE)
    return [outcome for outcome, _ in found]


def _words_after(rules: Rules, state: Words, a: int) -> tuple[int, ...]:
    return tuple(int(w) for w in rules.result(state, a))


def _actions(rules: Rules, state: Words, here: str, expect: Expect) -> list[int]:
    """Return what rules.actions writes into an array of max_actions places.

    Such an array raises where a kernel would not.
    """
    out, size = np.zeros(rules.max_actions, np.int32), rules.max_actions
    raise_it = f"raise rules.max_actions above {size}, or mend the index"
    n = int(_run(expect, "rules.actions", raise_it, here, lambda: rules.actions(state, out)))
    if not expect(0 <= n <= size, "rules.actions", f"answered {n} with max_actions={size} in {here}", raise_it):
        raise _Raised
    return out[:n].tolist()  # type: ignore[no-any-return]  # NumPy does not say of what


def _check_keys(game: Game, rules: Rules, positions: Sequence[State], expect: Expect) -> None:
    """Check that two states share a key only if the mover's future is the same: then actions and features are."""
    known: dict[int, tuple[object, str]] = {}
    for s in positions:
        if game.is_terminal(s):
            continue
        state, here = _state(game, rules, s, expect)
        key = int(_run(expect, "rules.key", "answer a 64-bit word, as mix64 does", here, partial(rules.key, state)))
        mover = game.observer(s)
        future = (list(game.actions(s)), [float(f) for f in game.features(s, mover)], game.phase(s))
        other, there = known.setdefault(key, (future, here))
        expect(
            other == future, "rules.key", f"is {key} in {there} and in {here}, whose actions or features differ",
            "mix every field that the mover's future depends on",
        )  # fmt: skip


def _check_compiled(game: Game, positions: Sequence[State], expect: Expect) -> None:
    """Compare the wrapped compiled game with the python one, method by method."""
    try:
        fast = CompiledGame(game)
    except EvallearnError as error:
        what, _, remedy = str(error).removeprefix(f"{game.name}.rules ").partition(". ")
        expect(False, "rules", what, remedy[:1].lower() + remedy[1:])
        return
    for s in positions:
        here = repr(game.to_text(s))
        for method, ask in _questions(game, s):
            compiled, plain = ask(fast), ask(game)
            remedy = ALIKE
            if method.startswith("utility") and np.array_equal(np.float32(compiled), np.float32(plain)):
                remedy = "use utilities that float32 holds exactly: kernels compute with it"
            expect(compiled == plain, f"rules.{method}", f"gave {compiled}, plain {plain} in {here}", remedy)
        if not game.is_terminal(s):
            state, _ = _state(game, game.rules, s, expect)  # type: ignore[arg-type]  # it has rules
            with np.errstate(over="ignore"):
                compiled, plain = fast.key(s), int(game.rules.key(state))  # type: ignore[union-attr]
            expect(
                compiled == plain, "rules.key", f"is {compiled}, uncompiled {plain} in {here}",
                "build every constant that meets a word with u64",
            )  # fmt: skip


def _questions(game: Game, s: State) -> list[Question]:
    """Return pairs (method of the rules, what to ask of both backends)."""
    assert game.rules is not None
    view = "player" if game.rules.features_mover is None else "mover"
    always: list[Question] = [
        ("to_play", lambda g: g.to_play(s)),
        ("is_terminal", lambda g: g.is_terminal(s)),
    ]
    if game.has("won"):
        always.append(("won_player", lambda g: [float(g.won(s, p)) for p in range(game.n_players)]))
    if game.is_terminal(s):
        return [*always, (f"utility_{view}", lambda g: [float(g.utility(s, p)) for p in range(game.n_players)])]
    mover = game.observer(s)
    viewers = range(game.n_players) if view == "player" else (mover,)
    seen = [(f"features_{view}", lambda g, p=p: np.asarray(g.features(s, p), np.float32).tolist()) for p in viewers]
    asked = [*always, ("phase", lambda g: g.phase(s)), *seen]
    if game.to_play(s) == CHANCE:
        return [
            *asked,
            ("chances", lambda g: list(g.chances(s))),
            ("result", lambda g: [g.result(s, a) for a, _ in game.chances(s)]),
        ]
    return [
        *asked,
        ("actions", lambda g: list(g.actions(s))),
        ("noisy_actions", lambda g: list(g.noisy_actions(s))),
        ("forcing", lambda g: bool(g.forcing(s))),
        ("may_pass", lambda g: bool(g.may_pass(s))),
        ("bounds_mover", lambda g: tuple(g.bounds(s, mover))),
        ("result", lambda g: [g.result(s, a) for a in g.actions(s)]),
    ]
