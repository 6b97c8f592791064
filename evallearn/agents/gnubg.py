"""GNU Backgammon as an evaluator: its networks in this process, by the package gnubg-nn, an optional dependency.

`gnubg:0` is what the networks say of a position, `gnubg:1` and `gnubg:2` search one and two moves further, counted
as GNU Backgammon counts. An agent that takes the best position after its move plays as GNU Backgammon does at that ply,
but for the filter by which the program saves time from two plies on: here every move is evaluated at full depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.errors import SpecError
from evallearn.evaluators.squash import BOUND
from evallearn.games.backgammon.moves import CHECKERS, NO_DICE, OFF, Side, State

MOST_PLIES = 2
"""Beyond, a move takes minutes."""
CACHED = 1 << 18
"""Positions whose equity is kept: those after the 21 rolls of one position are many, and often the same."""
Probabilities = Sequence[float]
"""(win, win a gammon or more, win a backgammon, lose a gammon or more, lose a backgammon)"""
Judge = Callable[[list[list[int]], int], Probabilities]


def equity(p: Probabilities) -> float:
    """Return points per game without the cube."""
    return 2 * p[0] - 1 + p[1] + p[2] - p[3] - p[4]


class GnubgEval(Evaluator):
    """The equity, without the cube, that GNU Backgammon gives the player on roll; for the Python backend only.

    It ignores dice: with or without a roll, a position has its value before the roll.
    """

    def __init__(self, game: Game, plies: int = 0) -> None:
        """Load the networks. Raises SpecError for another game, for too many plies, and where gnubg-nn is missing."""
        self.name = f"gnubg:{plies}"
        if game.name.partition(",")[0] != "backgammon":
            raise SpecError(f"{self.name} plays backgammon, not {game.name}: choose another agent or game")
        if plies not in range(MOST_PLIES + 1):
            raise SpecError(f"{self.name}: {plies} plies of GNU Backgammon: give 0 to {MOST_PLIES}, as in gnubg:0")
        self.game, self.plies, self.middle, self.scale = game, plies, 0.0, game.utility_range[1]
        self._judge: Judge | None = networks(self.name)
        self._known: dict[tuple[Side, Side], float] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_judge": None, "_known": {}}  # a module does not travel

    def evaluate(self, s: State, player: int) -> float:
        if CHECKERS in (s.own[OFF], s.opp[OFF]):
            return self.game.utility(s, player)
        value = self.to_roller(s.own, s.opp)
        return value if player == s.player else 0.0 - value

    def to_roller(self, own: Side, opp: Side) -> float:
        """Return the equity to the player on roll, who has `own`, in an unfinished position."""
        found = self._known.get((own, opp))
        if found is None:
            self._judge = self._judge or networks(self.name)
            found = equity(self._judge([list(opp[1:]), list(own[1:])], self.plies))
            found = min(max(found, -BOUND * self.scale), BOUND * self.scale) + 0.0
            if len(self._known) >= CACHED:
                self._known.clear()
            self._known[own, opp] = found
        return found

    def roll_values(self, s: State) -> dict[int, tuple[float, float]]:
        """Return what `Rolls.values` answers, ten times as fast: gnubg-nn makes the moves too."""
        import gnubg_nn

        sign, board = 1.0 if s.player == 0 else -1.0, [list(s.opp[1:]), list(s.own[1:])]
        found: dict[int, tuple[float, float]] = {}
        outcome: int  # the two dice
        for outcome, p in self.game.chances(s):
            keys = gnubg_nn.moves(board, *divmod(outcome, 10))
            boards = map(gnubg_nn.board_from_position_key, keys) if keys else [board]
            found[outcome] = p, sign * max(self._to_mover(*sides) for sides in boards) + 0.0  # never -0.0
        return found

    def _to_mover(self, opp: Sequence[int], own: Sequence[int]) -> float:
        """Return what a position is worth to the player who has just moved, and has `own`."""
        mine, theirs = (CHECKERS - sum(own), *own), (CHECKERS - sum(opp), *opp)
        if mine[OFF] == CHECKERS:
            return self.game.utility(State(theirs, mine, NO_DICE, 1), 0)
        return -self.to_roller(theirs, mine)


def networks(who: str) -> Judge:
    """Return the function of gnubg-nn that values a board. Raises SpecError."""
    try:
        from gnubg_nn import probabilities
    except ImportError:
        raise SpecError(
            f"{who} needs the package gnubg-nn, the networks of GNU Backgammon: pip install gnubg-nn"
        ) from None
    return probabilities  # type: ignore[no-any-return]  # it has no types


def parse_gnubg(text: str, game: Game) -> GnubgEval:
    """Read the `0` of `gnubg:0`."""
    if not text.isdecimal() or len(text) > 9:
        raise SpecError(f"gnubg:{text}: {text!r} is no number of plies: give 0 to {MOST_PLIES}, as in gnubg:0")
    return GnubgEval(game, int(text))
