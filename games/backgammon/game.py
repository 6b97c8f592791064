"""Backgammon without the doubling cube: a gammon counts 2 points, a backgammon 3.

A turn is two plies. Before the roll the dice are to play: an outcome is the number that the dice show, 31 for a three
and a one. Then the player chooses among the positions that the roll allows, each offered once: an action is the points
from which checkers leave, in the order of play (see `moves.action_of`). Who cannot move has one action, 0.

Player 0 (X) begins. In a real game both throw one die, and the higher one begins and plays both numbers, so that the
first roll is never a double: before it the state is marked as the opening, and the fifteen other rolls are equally
likely. A position that is read from an id is not the opening unless its text says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.core.rules import KnownValues, Rules
from evallearn.errors import BadNotation, GameError, IllegalAction, unknown
from evallearn.games.backgammon import features as seen
from evallearn.games.backgammon.board import picture
from evallearn.games.backgammon.moves import (
    CHECKERS,
    NO_DICE,
    OFF,
    PASS,
    ROLLS,
    START,
    State,
    is_race,
    rearmost,
    state_of,
    turns,
    words_of,
)
from evallearn.games.backgammon.notation import (
    PLAYERS,
    dice_text,
    play_text,
    plays,
    read_dice,
    read_play,
    read_state,
    state_text,
)

CONTACT, RACE, BEAR_OFF = range(3)
"""The phases: checkers may still be hit; they have passed each other; and all of them are home."""
CHANCES = tuple((10 * high + low, 1 / 36 if high == low else 1 / 18) for high, low in ROLLS)
OPENING_CHANCES = tuple((10 * high + low, 1 / 15) for high, low in ROLLS if high != low)
WINS = ("a game", "a gammon", "a backgammon")


class Backgammon(Game[State, int]):
    """Backgammon; `features` chooses what an evaluator reads."""

    name: ClassVar[str] = "backgammon"
    has_chance: ClassVar[bool] = True
    utility_range: ClassVar[tuple[float, float]] = (-3.0, 3.0)
    levels: ClassVar[tuple[float, ...]] = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)
    n_phases: ClassVar[int] = 3
    opening_plies: ClassVar[int] = 0
    parameters: ClassVar[Mapping[str, str]] = {
        "features": "rich: counts that players speak of; tesauro: the 198 raw inputs of TD-Gammon"
    }
    views: ClassVar[tuple[str, ...]] = ("features",)
    feature_names: ClassVar[tuple[str, ...]] = seen.RICH_NAMES
    heuristics: ClassVar[Mapping[str, Heuristic]] = seen.RICH_HEURISTICS

    def __init__(self, features: str = "rich") -> None:
        if features not in seen.FEATURE_SETS:
            raise unknown("backgammon features", str(features), seen.FEATURE_SETS)
        if features == "tesauro":  # the class itself describes the other set
            self.name = "backgammon,features=tesauro"  # type: ignore[misc]  # this one differs from its class
            self.feature_names = seen.TESAURO_NAMES  # type: ignore[misc]  # this one differs from its class
            self.heuristics = seen.TESAURO_HEURISTICS  # type: ignore[misc]  # this one differs from its class
            self.antisymmetric = False  # type: ignore[misc]  # this one differs from its class

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return the usual set-up before the first roll."""
        return State(START, START, NO_DICE, 0, opening=True)

    def to_play(self, s: State) -> int:
        """Return 0 for X, 1 for O, CHANCE before a roll; at the end the loser, who would roll next."""
        return CHANCE if s.dice == NO_DICE and not self.is_terminal(s) else s.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return one action for each position that the roll allows: larger die first, higher points first."""
        return () if s.dice == NO_DICE else tuple(turns(s.own, s.opp, s.dice))

    def chances(self, s: State) -> tuple[tuple[int, float], ...]:
        """Return the 21 rolls, or the fifteen without doubles that can open a game."""
        return OPENING_CHANCES if s.opening else CHANCES

    def result(self, s: State, a: int) -> State:
        """Show `a` on the dice, or move the checkers and pass the turn to the other player."""
        if self.to_play(s) == CHANCE:
            if a not in [outcome for outcome, _ in self.chances(s)]:
                raise self._illegal(s, a)
            return State(s.own, s.opp, (int(a) // 10, int(a) % 10), s.player)
        if s.dice == NO_DICE or a not in turns(s.own, s.opp, s.dice):
            raise self._illegal(s, a)
        own, opp = turns(s.own, s.opp, s.dice)[a]
        return State(opp, own, NO_DICE, 1 - s.player)

    def is_terminal(self, s: State) -> bool:
        """Return True if a player has borne off all fifteen checkers."""
        return CHECKERS in (s.own[OFF], s.opp[OFF])

    def utility(self, s: State, player: int) -> float:
        """Return 1, 2 or 3 points to the winner: 2 if the loser has no checker off, 3 if one is also far behind."""
        winner = s.player if s.own[OFF] == CHECKERS else 1 - s.player
        return self._points(s) if player == winner else -self._points(s)

    def _points(self, s: State) -> float:
        loser = s.opp if s.own[OFF] == CHECKERS else s.own
        if loser[OFF]:
            return 1.0
        return 3.0 if any(loser[19:]) else 2.0  # from 19 on: the winner's home board and the bar

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def observer(self, s: State) -> int:
        """Return whose turn it is, also before the roll."""
        return s.player

    def features(self, s: State, player: int) -> Sequence[float]:
        """Return the chosen set, before and after the roll: no feature reads the dice."""
        return seen.rich(s, player) if self.antisymmetric else seen.tesauro(s, player)

    def phase(self, s: State) -> int:
        """Return contact, race or bear-off."""
        if not is_race(s.own, s.opp):
            return CONTACT
        return RACE if max(rearmost(s.own), rearmost(s.opp)) > 6 else BEAR_OFF

    def endgames(self) -> KnownValues:
        """Return the bear-off tables: the value of a position before a roll when all checkers are home."""
        from evallearn.games.backgammon.bearoff import default_path, default_table

        table = default_table()
        if table is None:
            raise GameError(f"no bear-off table {default_path()}: make it with `evallearn tables backgammon`")
        from evallearn.games.backgammon.bearoff_probe import known_values_of

        return known_values_of(table)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write GNU Backgammon's position id of the player on roll; `:31` for the dice, ` O` if it is O's turn."""
        return state_text(s)

    def from_text(self, text: str) -> State:
        """Read ids as in 4HPwATDgc/ABMA, 4HPwATDgc/ABMA:31 and 4HPwATDgc/ABMA:31 O."""
        return read_state(text)

    def action_to_text(self, s: State, a: int) -> str:
        """Write 8/5 6/5, bar/21*, 6/off(2) or (no play); before a roll the two dice."""
        return play_text(s, a) if s.dice != NO_DICE else str(a)

    def action_from_text(self, s: State, text: str) -> int:
        """Read plays in any order, combined or in steps; before a roll 31, 13 or 3-1."""
        if s.dice != NO_DICE:
            return read_play(s, text)
        dice = read_dice(text)
        if dice is None:
            raise BadNotation(f"backgammon dice {text!r}: expected two digits 1..6, as in 31")
        outcome = int(dice_text(dice))
        self.result(s, outcome)  # raises if no such roll can come
        return outcome

    def board(self, s: State) -> str:
        """Draw the board with the mover's numbering, pips, checkers off, dice, and whose turn it is or who has won."""
        if not self.is_terminal(s):
            return picture(s, "")
        winner = 0 if self.utility(s, 0) > 0 else 1
        points = int(self._points(s))
        return picture(s, f"{PLAYERS[winner]} has won {WINS[points - 1]} ({points} point{'s' * (points > 1)})")

    def _illegal(self, s: State, a: int) -> IllegalAction:
        if self.is_terminal(s):
            why, legal = "the game is over", "none"
        elif s.dice == NO_DICE:
            why = "the first roll is no double" if s.opening else "the dice are to be rolled"
            legal = " ".join(str(outcome) for outcome, _ in self.chances(s))
        else:
            moves = self.actions(s)
            why = (
                "a pass is allowed only without a move"
                if a == PASS
                else f"no play of {s.dice[0]}-{s.dice[1]} has this number"
            )
            legal = plays(s, moves)
        return IllegalAction(f'illegal action {a!r} in backgammon position "{self.to_text(s)}": {why}; legal: {legal}')

    # --- the compiled backend --------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules:
        """The same rules for kernels; the sets of features have one each."""
        from evallearn.games.backgammon.rules import RICH, TESAURO

        return RICH if self.antisymmetric else TESAURO

    def encode(self, s: State) -> tuple[int, ...]:
        """Return five words: bit planes of the checkers, and one for the player, the opening and the dice."""
        return words_of(s)

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """Return the state of the words: the inverse of `encode`."""
        return state_of(words)
