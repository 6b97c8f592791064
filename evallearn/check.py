"""check_game: whether a game keeps the contract of `evallearn.Game`. For users' own games and for ours.

It plays random games and tries every promise at every position. A failure is a sentence that names the method, the
value and the remedy; all distinct failures are reported together.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evallearn.check_bounds import check_bounds
from evallearn.check_won import check_won
from evallearn.core.game import CHANCE, Action, Game, Heuristic, State
from evallearn.core.positions import START
from evallearn.errors import GameError, IllegalAction

TOO_LONG = 20_000
"""Plies after which a random game is taken to be endless."""
OPEN_CARDS = "out of scope, as every search and evaluator sees the whole state: play with open cards, or use OpenSpiel"
FAILED: Any = object()
"""What `attempt` returns where the game raised."""


@dataclass(frozen=True)
class CheckReport:
    """What was checked. A game that fails raises GameError instead."""

    game: str
    games: int
    positions: int
    backends: tuple[str, ...]


@dataclass
class _Checker:
    game: Game
    seed: int
    failures: dict[str, str] = field(default_factory=dict)
    positions: int = 0
    seen_actions: list[Action] = field(default_factory=list)
    _last: tuple[State, str] = (None, "")
    _imaged: dict[Hashable, State] = field(default_factory=dict)
    """{first image: the position that has it}, of games with symmetries."""

    def fail(self, method: str, what: str, remedy: str) -> None:
        """Keep the first failure of each kind."""
        self.failures.setdefault(f"{method}|{remedy}", f"{self.game.name}.{method}: {what}; {remedy}")

    def expect(self, ok: bool, method: str, what: str, remedy: str) -> bool:
        if not ok:
            self.fail(method, what, remedy)
        return ok

    def attempt(self, method: str, call: Callable[[], object], s: State) -> Any:
        """Return the answer of `call`, or FAILED, with a failure noted, if it raises."""
        try:
            return call()
        except Exception as error:  # whatever a user's game raises is the finding
            where = f"in state {s!r}" if method == "to_text" else f"in position {self.text(s)}"
            self.fail(method, f"raised {type(error).__name__}: {error} {where}", "it must answer for every position")
            return FAILED

    def text(self, s: State) -> str:
        """Return the position for a message; kept, because every promise about a position asks for it."""
        if s is not self._last[0]:
            try:
                self._last = s, repr(self.game.to_text(s))
            except Exception:  # the failure of to_text itself is reported by check_text
                self._last = s, repr(s)
        return self._last[1]

    # --- the game as a whole -----------------------------------------------------------------------------------------
    def check_declarations(self) -> bool:
        """Check what the game declares; return False if it makes no sense to play on."""
        game, names = self.game, self.game.feature_names
        span = f"is {game.utility_range!r}"
        if not self.expect(not game.hidden_information, "hidden_information", "is True", OPEN_CARDS) or not self.expect(
            isinstance(names, (tuple, list)) and all(isinstance(n, str) for n in names), "feature_names",
            f"is {names!r}", "write a tuple of names, ('one',) with its comma if there is only one",
        ) or not self.expect(
            isinstance(game.utility_range, (tuple, list)) and len(game.utility_range) == 2, "utility_range", span,
            "give (worst loss, best win)",
        ):  # fmt: skip
            return False
        low, high = game.utility_range
        ok = self.expect(-math.inf < low < high < math.inf, "utility_range", span, "give (worst loss, best win)")
        if game.zero_sum and game.n_players == 2:
            ok &= self.expect(low == -high, "utility_range", span, "in a zero-sum game give (-win, win)")
        ok &= self.expect(game.n_players >= 1, "n_players", f"is {game.n_players}", "give 1 or more")
        ok &= self.expect(game.n_phases >= 1, "n_phases", f"is {game.n_phases}", "give 1 or more")
        ok &= self.expect(len(set(names)) == len(names), "feature_names", f"has a name twice: {names}", "rename one")
        for name, heuristic in game.heuristics.items():
            self.check_heuristic(name, heuristic)
        return ok

    def check_heuristic(self, name: str, heuristic: Heuristic) -> None:
        if not self.expect(
            isinstance(heuristic, Heuristic), "heuristics", f"{name!r} is {heuristic!r}",
            "write Heuristic({feature: weight}, note)",
        ):  # fmt: skip
            return
        phased = not isinstance(heuristic.weights, Mapping)
        rows: list[Any] = list(heuristic.weights) if phased else [heuristic.weights]
        seen_by = self.game.seen_as(heuristic.view or self.game.name)
        strangers = {f for row in rows for f in row} - set(seen_by.feature_names)
        self.expect(
            not strangers, "heuristics", f"{name!r} weighs unknown features {sorted(strangers)}",
            "use names of feature_names",
        )  # fmt: skip
        n = self.game.n_phases
        self.expect(
            not phased or len(rows) == n, "heuristics", f"{name!r} has weights for {len(rows)} phases",
            f"give one mapping, or one for each of {n} phases",
        )  # fmt: skip

    def play(self, number: int) -> Iterator[State]:
        """Yield the positions of one random game."""
        game, rng = self.game, random.Random(f"{self.seed}/{number}")
        s = self.attempt("initial", game.initial, "the start")
        if s is FAILED:
            return
        for _ in range(TOO_LONG):
            yield s
            if game.is_terminal(s):
                return
            player = game.to_play(s)
            options = [o for o, _ in game.chances(s)] if player == CHANCE else list(game.actions(s))
            if not options:
                return
            s = game.result(s, rng.choice(options))
            if s is None:  # check_result has reported it
                return
        self.fail("is_terminal", f"a random game was not over after {TOO_LONG} plies", "make every game end")

    # --- every position ----------------------------------------------------------------------------------------------
    def check_position(self, s: State) -> None:
        self.positions += 1
        game = self.game
        player = self.attempt("to_play", lambda: game.to_play(s), s)
        terminal = self.attempt("is_terminal", lambda: game.is_terminal(s), s)
        if player is FAILED or terminal is FAILED:
            return
        self.check_hashable("result", [s])
        self.check_text(s)
        if self.game.has("images"):
            self.check_images(s)
        self.expect(
            terminal in (True, False), "is_terminal", f"answered {terminal!r} in {self.text(s)}", "answer True or False"
        )
        if not self.expect(
            player in range(game.n_players) or player == CHANCE, "to_play", f"answered {player!r} in {self.text(s)}",
            f"answer 0 to {game.n_players - 1}, or CHANCE",
        ):  # fmt: skip
            return
        if terminal:
            self.check_terminal(s)
        elif player == CHANCE:
            self.check_chance(s)
        else:
            self.check_actions(s, player)
            self.check_features(s, player)

    def check_hashable(self, method: str, things: Sequence[object]) -> bool:
        for x in things:
            try:
                hash(x)
            except TypeError:
                self.fail(method, f"gave {x!r}, an unhashable {type(x).__name__}", "use ints, tuples, frozensets")
                return False
        return True

    def check_text(self, s: State) -> None:
        game = self.game
        text = self.attempt("to_text", lambda: game.to_text(s), s)
        if text is FAILED or not self.expect(
            isinstance(text, str), "to_text", f"answered {text!r} in state {s!r}", "answer a str"
        ):
            return
        self.expect(
            text.strip() != START or s == game.initial(), "to_text", f"answered {text!r} in state {s!r}",
            "use another word: people write this one for the initial position",
        )  # fmt: skip
        back = self.attempt("from_text", lambda: game.from_text(text), s)
        if back is not FAILED:
            self.expect(back == s, "from_text", f"read {text!r} as {back!r}, not {s!r}", "make it undo to_text")

    def check_images(self, s: State) -> None:
        """Check that images hold all that a state does: only equal states have the same first image."""
        images = self.attempt("images", lambda: list(self.game.images(s)), s)
        if images is FAILED or not self.expect(bool(images), "images", "is empty", "give the state itself at least"):
            return
        if self.check_hashable("images", images):
            other = self._imaged.setdefault(images[0], s)
            self.expect(
                other == s, "images", f"begins alike for {self.text(s)} and another position, {other!r}",
                "tell all of the state, also who is to move and what the past allows",
            )  # fmt: skip

    def check_terminal(self, s: State) -> None:
        game = self.game
        low, high = game.utility_range
        values = self.attempt("utility", lambda: [float(game.utility(s, p)) for p in range(game.n_players)], s)
        if values is FAILED:
            return
        for p, v in enumerate(values):
            self.expect(
                math.isfinite(v) and low <= v <= high, "utility", f"player {p} gets {v} in {self.text(s)}",
                f"stay inside utility_range {game.utility_range}",
            )  # fmt: skip
        if game.zero_sum:
            self.expect(
                abs(sum(values)) < 1e-9, "utility", f"the players get {values} in {self.text(s)}",
                "make them sum to 0, or declare zero_sum = False",
            )  # fmt: skip

    def check_chance(self, s: State) -> None:
        game = self.game
        self.expect(game.has_chance, "has_chance", "is False, but to_play answered CHANCE", "declare has_chance = True")
        rolls = self.attempt("chances", lambda: list(game.chances(s)), s)
        if rolls is FAILED:
            return
        total = sum(p for _, p in rolls)
        self.expect(
            abs(total - 1) < 1e-9 and all(p > 0 for _, p in rolls), "chances",
            f"the probabilities sum to {total} in {self.text(s)}", "give positive probabilities that sum to 1",
        )  # fmt: skip
        for outcome, _ in rolls:
            self.check_result(s, outcome)
        self.expect(
            not self.attempt("actions", lambda: game.actions(s), s), "actions",
            f"offers actions before a roll in {self.text(s)}", "answer () where to_play is CHANCE",
        )  # fmt: skip
        observer = self.attempt("observer", lambda: game.observer(s), s)
        if observer is not FAILED:
            self.check_features(s, observer)

    def check_actions(self, s: State, player: int) -> None:
        game = self.game
        given = self.attempt("actions", lambda: game.actions(s), s)
        if given is FAILED or not self.expect(
            isinstance(given, Sequence), "actions", f"gave a {type(given).__name__}", "give a tuple or a list"
        ):
            return
        actions = list(given)
        if not self.check_hashable("actions", actions):
            return
        here = self.text(s)
        self.expect(bool(actions), "actions", f"is empty in {here}", "offer a pass, or call the state terminal")
        self.expect(len(set(actions)) == len(actions), "actions", f"has doubles in {here}: {actions}", "drop them")
        again = self.attempt("actions", lambda: list(game.actions(s)), s)
        self.expect(again == actions, "actions", f"gave {actions}, then {again} in {here}", "keep one fixed order")
        for a in actions:
            self.check_result(s, a)
            self.check_action_text(s, a)
        noisy = self.attempt("noisy_actions", lambda: list(game.noisy_actions(s)), s)
        self.expect(
            noisy is FAILED or [a for a in actions if a in noisy] == noisy, "noisy_actions",
            f"gave {noisy} in {here}, where {actions} are legal", "choose among actions(s), in their order",
        )  # fmt: skip
        illegal = next((a for a in self.seen_actions if a not in actions), None)
        self.seen_actions += [a for a in actions if a not in self.seen_actions][: max(0, 500 - len(self.seen_actions))]
        if illegal is not None:
            self.check_refusal(s, illegal)

    def check_action_text(self, s: State, a: Action) -> None:
        text = self.attempt("action_to_text", lambda: self.game.action_to_text(s, a), s)
        if text is FAILED:
            return
        back = self.attempt("action_from_text", lambda: self.game.action_from_text(s, text), s)
        if back is not FAILED:
            self.expect(
                back == a, "action_from_text", f"read {text!r} as {back!r}, not {a!r}", "make it undo action_to_text"
            )

    def check_refusal(self, s: State, illegal: Action) -> None:
        try:
            self.game.result(s, illegal)
        except IllegalAction:
            return
        except Exception as error:  # any other error is the finding
            got = f"raised {type(error).__name__}"
        else:
            got = "accepted"
        self.fail(
            "result", f"{got} the illegal action {illegal!r} in {self.text(s)}", "raise evallearn's IllegalAction"
        )

    def check_result(self, s: State, a: Action) -> None:
        before = repr(s)
        first = self.attempt("result", lambda: self.game.result(s, a), s)
        second = self.attempt("result", lambda: self.game.result(s, a), s)
        self.expect(
            repr(s) == before, "result", f"changed the state it was given, for action {a!r}", "build a new state"
        )
        if first is FAILED or second is FAILED:
            return
        self.expect(first is not None, "result", f"answered None for action {a!r}", "return the new state")
        self.expect(first == second, "result", f"gave two answers for action {a!r} in {self.text(s)}", "make it pure")

    def check_features(self, s: State, player: int) -> None:
        game, n = self.game, len(self.game.feature_names)
        phase = self.attempt("phase", lambda: game.phase(s), s)
        self.expect(
            phase is FAILED or phase in range(game.n_phases), "phase", f"is {phase!r} in {self.text(s)}",
            f"answer 0 to {game.n_phases - 1}",
        )  # fmt: skip
        players = (player, 1 - player) if game.antisymmetric and game.n_players == 2 else (player,)
        seen = self.attempt("features", lambda: [[float(f) for f in game.features(s, p)] for p in players], s)
        if seen is FAILED:
            return
        wrong = [len(x) for x in seen if len(x) != n]
        if wrong:
            self.fail("features", f"gave {wrong[0]} numbers", f"give one for each of {n} feature_names")
            return
        x = seen[0]
        for name, f in zip(game.feature_names, x, strict=True):
            self.expect(math.isfinite(f), "features", f"{name} is {f} in {self.text(s)}", "give finite numbers")
        for y in seen[1:]:
            for name, mine, theirs in zip(game.feature_names, x, y, strict=True):
                self.expect(
                    mine == -theirs or math.isnan(mine), "features",
                    f"{name} is {mine} to player {player}, {theirs} to the other in {self.text(s)}",
                    "make it antisymmetric, or declare antisymmetric = False",
                )  # fmt: skip


def check_game(game: Game, *, games: int = 10, seed: int = 0, every: int = 1) -> CheckReport:
    """Play random games and verify the contract on every position, with both backends if the game has both.

    every: check every n-th position and the last only, where a game is long and slow in plain Python.

    Raises GameError that lists every broken promise.
    """
    if not isinstance(game, Game):
        raise GameError(f"check_game got {game!r}, which is not a game: subclass evallearn.Game and pass an instance")
    if not isinstance(getattr(game, "name", None), str):
        raise GameError(f"{type(game).__name__}.name: is missing; give the game a name, as in name = 'my_game'")
    checker = _Checker(game, seed)
    backends = ["python"]
    if checker.check_declarations():
        histories = [list(_careful(checker, n, every)) for n in range(games)]
        longest = max(len(history) - 1 for history in histories)
        checker.expect(
            longest > game.opening_plies or bool(checker.failures), "opening_plies",
            f"is {game.opening_plies}, but no random game of {games} lasted longer", "make it smaller",
        )  # fmt: skip
        if game.has("bounds") and not checker.failures:
            check_bounds(game, histories, checker.expect)
        if game.has("won") and not checker.failures:
            check_won(game, histories, checker.expect)
        rules = checker.attempt("rules", lambda: game.rules, "the start")
        if rules is not None and not checker.failures:
            from evallearn.compiled.check_rules import check_rules

            backends.append("compiled")
            check_rules(game, histories, checker.expect, every)
    if checker.failures:
        raise GameError("\n".join(checker.failures.values()))
    return CheckReport(game.name, games, checker.positions, tuple(backends))


def _careful(checker: _Checker, number: int, every: int) -> Iterator[State]:
    """Yield the positions of one game, checked as it is played; whatever a broken game raises is a finding."""
    try:
        for ply, s in enumerate(checker.play(number)):
            if ply % every == 0 or checker.game.is_terminal(s):
                checker.check_position(s)
            yield s
    except Exception as error:  # whatever a user's game raises is the finding
        if not checker.failures:  # otherwise the method has been named already
            where = f"a random game ended in {type(error).__name__}: {error}"
            checker.fail("result", where, "accept every action of actions(s), in every position")
