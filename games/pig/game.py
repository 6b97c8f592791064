"""Pig: roll a die as often as you dare; a 1 loses the turn total, holding banks it; the first to reach the target wins.

A turn begins with a roll (a pass would never pay: `solver.py` shows it). Where banked points and turn total together
reach the target, they are banked at once and the game is won, since nobody would do anything else.

A roll is a chance node: action ROLL leads to it, and its outcomes are the faces 1..6. Games have no longest length,
only an ever less likely one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction, SpecError

ROLL, HOLD = 0, 7
"""The numbers between them are the faces of the die."""
FACES = (1, 2, 3, 4, 5, 6)
MIN_TARGET, MAX_TARGET = 2, 1000
GOOD_TURN = 20
"""Points at which a roll risks as much as it promises: 20 / 6 lost by a 1, (2 + 3 + 4 + 5 + 6) / 6 won by the rest."""
PLAYERS = ("first", "second")
POSITION = re.compile(
    r"([0-9]{1,9})-([0-9]{1,9})(?:[/\s]+turn=([0-9]{1,9}))?(?:[/\s]+target=([0-9]{1,9}))?"
    r"(?:[/\s]+(first|second))?(?:[/\s]+(rolling))?",
    re.ASCII | re.IGNORECASE,
)


class State(NamedTuple):
    """Banked points of both players, the turn total, whose turn it is, 1 if the die is rolling, the target."""

    first: int
    second: int
    turn: int
    player: int
    rolling: int
    target: int


def banked(s: State) -> tuple[int, int]:
    """Return the points of the player whose turn it is, then of the other."""
    return (s.first, s.second) if s.player == 0 else (s.second, s.first)


class Pig(Game[State, int]):
    """Pig for two players."""

    name: ClassVar[str] = "pig"
    rules_module: ClassVar[str] = "evallearn.games.pig.rules"
    has_chance: ClassVar[bool] = True
    n_phases: ClassVar[int] = 4
    opening_plies: ClassVar[int] = 0
    parameters: ClassVar[Mapping[str, str]] = {"target": "points that win, 2 to 1000"}
    feature_names: ClassVar[tuple[str, ...]] = (
        "banked",  # points
        "late",  # their squares, in 1024ths: points count more near the target
        "in_reach",  # the target is at most 20 banked points away: one good turn
        # The rest belongs to the player whose turn it is:
        "on_turn",  # 1
        "turn",  # the turn total
        "late_turn",  # what it would add to `late` if it were banked
        "good_turn",  # 1 if it is 20 or more
        "finish",  # 1 if the next roll may win
        "rolling",  # 1 if the die is rolling
        "at_stake",  # the turn total if the die is rolling
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "hold20": Heuristic(
            {"banked": 0.03, "turn": 0.03, "rolling": 0.1, "at_stake": -0.005},
            "By hand: points; a roll brings 20/6 of them and loses a sixth of the turn total, so it pays below 20.",
        ),
        "race": Heuristic(
            {"banked": 0.01, "turn": 0.01, "late": 0.1, "late_turn": 0.1, "rolling": 0.033, "at_stake": -0.0017},
            "By hand for a target of 100: the same, but points near the target count more; the best of six tries by "
            "their exact results one roll ahead (53 % against holding at 20, 48 % against optimal play).",
        ),
    }

    def __init__(self, target: int | str = 100) -> None:
        self.target = read_target(target)
        if self.target != 100:
            self.name = f"pig,target={self.target}"  # type: ignore[misc]  # its class names the usual game

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return no points, with the first player to roll."""
        return State(0, 0, 0, 0, 0, self.target)

    def to_play(self, s: State) -> int:
        """Return 0 for the first player, 1 for the second, CHANCE while the die rolls; at the end the winner."""
        return CHANCE if s.rolling else s.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return roll and hold; a turn begins with a roll."""
        if s.rolling or self.is_terminal(s):
            return ()
        return (ROLL, HOLD) if s.turn else (ROLL,)

    def chances(self, s: State) -> tuple[tuple[int, float], ...]:
        """Return the six faces."""
        return tuple((face, 1 / 6) for face in FACES)

    def result(self, s: State, a: int) -> State:
        """Throw the die, count a face, or bank the turn total."""
        if a not in (FACES if s.rolling else self.actions(s)):
            raise self._illegal(s, a)
        if a == ROLL:
            return s._replace(rolling=1)
        if a == HOLD:
            return self._bank(s, s.turn, 1 - s.player)
        if a == 1:
            return self._bank(s, 0, 1 - s.player)
        turn = s.turn + int(a)
        if banked(s)[0] + turn >= s.target:
            return self._bank(s, turn, s.player)
        return s._replace(turn=turn, rolling=0)

    def _bank(self, s: State, points: int, player: int) -> State:
        """Add the points and give the turn to `player`."""
        first, second = (points, 0) if s.player == 0 else (0, points)
        return State(s.first + first, s.second + second, 0, player, 0, s.target)

    def is_terminal(self, s: State) -> bool:
        """Return True if someone has reached the target."""
        return max(s.first, s.second) >= s.target

    def utility(self, s: State, player: int) -> float:
        """Return +1 for who reached the target, -1 for the other."""
        return 1.0 if (s.first, s.second)[player] >= s.target else -1.0

    def solved(self, s: State) -> dict[int, float] | None:
        """Return the value of every action by value iteration, which takes a second or two at first.

        None if the target is too far for its table.
        """
        from evallearn.games.pig.solver import MOST_POINTS, table_of, win_probability

        if s.target > MOST_POINTS:
            return None
        table = table_of(s.target)
        return {a: 2 * win_probability(table, self.result(s, a), s.player) - 1 for a in self.actions(s)}

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def observer(self, s: State) -> int:
        """Return whose turn it is, also while the die rolls."""
        return s.player

    def features(self, s: State, player: int) -> tuple[float, ...]:
        """Return the features for the player whose turn it is, with a minus for the other."""
        own, other = banked(s)
        values = (
            own - other,
            (own**2 - other**2) / 1024,
            int(own + GOOD_TURN >= s.target) - int(other + GOOD_TURN >= s.target),
            1,
            s.turn,
            ((own + s.turn) ** 2 - own**2) / 1024,
            int(s.turn >= GOOD_TURN),
            int(own + s.turn + max(FACES) >= s.target),
            s.rolling,
            s.turn if s.rolling else 0,
        )
        return values if player == s.player else tuple(-v for v in values)

    def phase(self, s: State) -> int:
        """Return 0..3: in which quarter of the way the leader stands."""
        return min(3, 4 * max(s.first, s.second) // s.target)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write points, turn total, target and whose turn it is, as in 34-51/turn=12/target=100/first, and /rolling."""
        text = f"{s.first}-{s.second}/turn={s.turn}/target={s.target}/{PLAYERS[s.player]}"
        return text + "/rolling" if s.rolling else text

    def from_text(self, text: str) -> State:
        """Read 34-51/turn=12/target=100/first/rolling, with spaces too; all but the points may be left out."""
        found = POSITION.fullmatch(text.strip())
        if not found:
            form = "expected points, turn total and whose turn it is, as in 34-51/turn=12/first"
            raise BadNotation(f"pig position {text!r}: {form}")
        first, second, turn = (int(found[i] or 0) for i in (1, 2, 3))
        target = int(found[4]) if found[4] else self.target
        s = State(first, second, turn, PLAYERS.index((found[5] or "first").lower()), int(bool(found[6])), target)
        if wrong := self._wrong(s):
            raise BadNotation(f"pig position {text!r}: {wrong}")
        return s

    def _wrong(self, s: State) -> str:
        """Say why there is no such position; return an empty text if there is."""
        own, other = banked(s)
        if not MIN_TARGET <= s.target <= MAX_TARGET:
            return f"the target is {s.target}; give {MIN_TARGET} to {MAX_TARGET}"
        if other >= s.target:
            return f"{other} points have won, so the turn is the winner's: write {PLAYERS[1 - s.player]}"
        if own >= s.target and (s.turn or s.rolling):
            return f"{own} points have won, so the turn total is 0 and no die rolls"
        if own + s.turn >= max(own + 1, s.target):
            return f"{own} and {s.turn} reach the target of {s.target}: bank them"
        return ""

    def action_to_text(self, s: State, a: int) -> str:
        """Write roll, hold, or the face of the die."""
        return {ROLL: "roll", HOLD: "hold"}.get(a, str(a))

    def action_from_text(self, s: State, text: str) -> int:
        """Read roll, r, hold and h; while the die rolls, the face 1..6 that it shows."""
        word = text.strip().lower()
        words = {str(face): face for face in FACES} if s.rolling else {"roll": ROLL, "r": ROLL, "hold": HOLD, "h": HOLD}
        if word not in words:
            expected = "the die shows 1 to 6" if s.rolling else "write roll or hold"
            raise BadNotation(f"pig move {text!r} in position {self.to_text(s)!r}: {expected}")
        self.result(s, words[word])
        return words[word]

    def board(self, s: State) -> str:
        """Draw both players' points on the way to the target, the turn total behind them, and what happens next."""
        rows = []
        for player, points in enumerate((s.first, s.second)):
            turn = s.turn if player == s.player else 0
            rows.append(f"{PLAYERS[player]:<6} |{bar(points, turn, s.target)}| {points}{f' + {turn}' if turn else ''}")
        return "\n".join([*rows, self._status(s)])

    def _status(self, s: State) -> str:
        if self.is_terminal(s):
            return f"{PLAYERS[s.player]} has reached {s.target} and won"
        if s.rolling:
            return f"{PLAYERS[s.player]} is rolling, to {s.target}"
        return f"{PLAYERS[s.player]} to {'roll or hold' if s.turn else 'roll'}, to {s.target}"

    def _illegal(self, s: State, a: int) -> IllegalAction:
        if self.is_terminal(s):
            why, legal = "the game is over", "none"
        elif s.rolling:
            why, legal = "the die is rolling", "1 2 3 4 5 6"
        else:
            why = "a turn begins with a roll" if a == HOLD else f"actions are {ROLL} (roll) and {HOLD} (hold)"
            legal = " ".join(self.action_to_text(s, b) for b in self.actions(s))
        shown = self.action_to_text(s, a) if a in (ROLL, HOLD) else repr(a)
        return IllegalAction(f'illegal action {shown} in pig position "{self.to_text(s)}": {why}; legal: {legal}')


WIDTH = 50
"""Characters from 0 points to the target."""


def bar(points: int, turn: int, target: int) -> str:
    """Draw the points as =, the turn total as +, what is missing as dots."""
    done = min(WIDTH, WIDTH * points // target)
    hoped = min(WIDTH, WIDTH * (points + turn) // target)
    return "=" * done + "+" * (hoped - done) + "." * (WIDTH - hoped)


def read_target(target: int | str) -> int:
    """Read the parameter `target`, or raise SpecError."""
    number = int(target) if isinstance(target, str) and re.fullmatch(r"[0-9]{1,9}", target.strip()) else target
    if type(number) is not int or not MIN_TARGET <= number <= MAX_TARGET:
        limits = f"give a whole number of {MIN_TARGET} to {MAX_TARGET}"
        raise SpecError(f"pig: target={target!r} cannot be; {limits}, as in target=100")
    return number
