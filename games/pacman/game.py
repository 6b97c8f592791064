"""Pacman in small mazes: he eats, the ghosts chase him, and the score is what they play for.

A two-player zero-sum game without chance, as minimax needs it: player 0 is Pacman, player 1 moves every ghost, one
after the other, so that player 1 plays several times in a row where there are several. Or each ghost is a player, or
chance moves them: `seats.py`. The rules are those of the classic teaching version:

- Each move costs Pacman a point, waiting too. A dot is worth 10; the last one wins 500 more and ends the game.
- A ghost does not wait, and it turns back only where there is no other way.
- After each single move Pacman meets the ghosts that stand on his cell, after a ghost's move only that one. Nobody
  slips past: to change places, the first to move steps onto the other, and they meet.
- A capsule scares all ghosts for their next 40 moves each. A scared ghost that is met gives 200 points and goes on from
  its start, not scared (on Pacman's very cell they meet only if Pacman waits there). Any other catches Pacman: 500
  points lost, and the game is over. What lies on a cell is eaten before anyone is met, and who has won is not caught.
- When Pacman has no moves left and the ghosts have answered the last, the game is over with the score as it is.

Unlike there, scared ghosts are as fast as ever, and being caught by two at once costs 500 points once.
"""

# Who plays the ghosts makes an instance differ from its class, hence:
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.core.rules import Rules
from evallearn.errors import BadNotation, IllegalAction, SpecError, unknown
from evallearn.games.pacman import notation as notation
from evallearn.games.pacman import seats
from evallearn.games.pacman.bounds import score_bounds
from evallearn.games.pacman.moves import choices, move_ghost, move_pacman
from evallearn.games.pacman.seats import APART, NEAR, RANDOM, TOGETHER, WAYS
from evallearn.games.pacman.state import (
    EAST,
    MAX_MOVES,
    MAZES,
    MOST_POINTS,
    NORTH,
    SOUTH,
    STOP,
    WEST,
    State,
    cells_of,
)

ACTIONS = ("north", "east", "south", "west", "stop")
ALIASES = {name: a for a, name in enumerate(ACTIONS)} | {
    **{"n": NORTH, "e": EAST, "s": SOUTH, "w": WEST},
    **{"up": NORTH, "right": EAST, "down": SOUTH, "left": WEST},
    **{"stay": STOP, "wait": STOP, ".": STOP},
}
POINT = 1 / MOST_POINTS
"""The weight of one point: for scores of a few hundred, tanh(x * POINT) * MOST_POINTS is nearly x."""
HUNGRY = {"side": 300, "score": 1, "tour": -3, "ghosts_1": -100, "ghosts_2": -20}
HUNTER = {**HUNGRY, "capsule_near": 1, "scared": 20, "scared_near": 8}
"""Heuristics in points."""


class Pacman(Game[State, int]):
    """Pacman; an action is 0 north, 1 east, 2 south, 3 west, 4 stop."""

    name: ClassVar[str] = "pacman"
    utility_range: ClassVar[tuple[float, float]] = (-float(MOST_POINTS), float(MOST_POINTS))
    scored: ClassVar[bool] = True
    opening_plies: ClassVar[int] = 4
    parameters: ClassVar[Mapping[str, str]] = {
        "maze": f"one of {', '.join(MAZES)}, or rows such as %%%%%/%P.G%/%%%%% (default small)",
        "moves": f"how many moves Pacman has, 1 to {MAX_MOVES} (default {notation.DEFAULT_MOVES})",
        "ghosts": "together: one player; apart: a player each; random: moved by chance (default together)",
    }
    # From Pacman's side; to the ghosts all have the opposite sign. Distances are steps through the maze.
    feature_names: ClassVar[tuple[str, ...]] = (
        "side",  # always 1: what the game is worth to Pacman, whatever else
        "score",  # points so far
        "food",  # dots left
        # Steps to eat everything, always going to the nearest dot. (The steps to that one alone jump when it is eaten:
        # an evaluator with them makes Pacman stand beside it.)
        "tour",
        "ghosts_1",  # ghosts that are not scared within 1 step
        "ghosts_2",  # within 2 steps
        "ghosts_4",  # within 4 steps
        "exits",  # ways out of Pacman's cell: 1 is a dead end
        "territory",  # cells that he reaches sooner than every ghost that is not scared
        "safe_food",  # dots on such cells
        "capsules",  # capsules left
        "capsule_near",  # 8 - steps to the nearest capsule, or 0
        "scared",  # scared ghosts
        "scared_near",  # 8 - steps to the nearest scared ghost, or 0
        "late",  # steps of the tour for which no moves are left
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "score": Heuristic(
            {"score": 1},
            "The lectures' bad example: points alone. What lies beyond the horizon is worth nothing, and food eaten "
            "later is worth as much as food eaten now, so Pacman thrashes.",
            unit=POINT,
        ),
        "hungry": Heuristic(
            HUNGRY,
            "By hand: the way through the dots left, and fear of a ghost one or two steps away. Being alive counts "
            "300: without that, a Pacman with a long way to go would rather be caught.",
            unit=POINT,
        ),
        "hunter": Heuristic(
            HUNTER,
            "By hand: as hungry, and it goes for capsules and scared ghosts; picked by eye from a dozen tries.",
            unit=POINT,
        ),
    }

    def __init__(self, maze: str = "small", moves: int | str = notation.DEFAULT_MOVES, ghosts: str = TOGETHER) -> None:
        """Set up the maze.

        maze: a name or rows; moves: how many Pacman has; ghosts: who plays them.
        """
        limit = str(moves).strip()
        if not (limit.isascii() and limit.isdigit() and len(limit) < 9 and 1 <= int(limit) <= MAX_MOVES):
            raise SpecError(f"pacman moves={moves!r}: give a whole number from 1 to {MAX_MOVES}")
        known = maze in MAZES
        if not known and "%" not in str(maze):
            raise SpecError(f"{unknown('pacman maze', str(maze), MAZES)}, or rows such as %%%%%/%P.G%/%%%%%")
        try:
            s = notation.read_maze(MAZES[maze] if known else str(maze))
        except BadNotation as error:
            raise SpecError(f"pacman maze={maze!r}: {error}") from None
        self._initial = s._replace(moves=int(limit))
        given = [] if maze == "small" else [f"maze={maze if known else notation.rows_text(s, ghosts=True)}"]
        given += [] if int(limit) == notation.DEFAULT_MOVES else [f"moves={int(limit)}"]
        given += self._seat(ghosts)
        if given:
            self.name = ",".join(["pacman", *given])

    def _seat(self, ghosts: str) -> list[str]:
        """Give the ghosts their players; return what the name must say of it."""
        if ghosts not in WAYS:
            raise unknown("pacman ghosts", str(ghosts), WAYS)
        self.ghosts = ghosts
        if ghosts == TOGETHER:
            return []
        self.zero_sum = self.antisymmetric = False
        if ghosts == RANDOM:
            self.n_players, self.has_chance = 1, True
        else:
            self.n_players = 1 + len(self._initial.ghosts)
            self.feature_names = (*self.feature_names, *seats.APART_NAMES)
            self.heuristics = seats.greedy(self.heuristics)
        return [f"ghosts={ghosts}"]

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return the maze as drawn, Pacman to move."""
        return self._initial

    def to_play(self, s: State) -> int:
        """Return 0 for Pacman, 1 for every ghost; or i for the i-th ghost; or CHANCE for every ghost."""
        if self.ghosts == RANDOM:
            return CHANCE if s.turn and not s.is_over else 0
        return s.turn if self.ghosts == APART else min(s.turn, 1)

    def actions(self, s: State) -> tuple[int, ...]:
        """Return north, east, south, west, as far as they are open; then stop.

        Stop is for Pacman always, and for a ghost where there is no exit.
        """
        return () if self.to_play(s) == CHANCE else choices(s)

    def chances(self, s: State) -> list[tuple[int, float]]:
        """Return all moves of a ghost that goes at random, with the same probability."""
        ways = choices(s)
        return [(a, 1 / len(ways)) for a in ways]

    def result(self, s: State, a: int) -> State:
        """Move Pacman or the ghost whose turn it is one step, and pass the turn to the next one."""
        if a not in choices(s):
            raise self._illegal(s, a)
        after = move_pacman(s, int(a)) if s.turn == 0 else move_ghost(s, s.turn - 1, int(a))
        return after._replace(turn=(s.turn + 1) % (1 + len(s.ghosts)))

    def is_terminal(self, s: State) -> bool:
        """Return True if Pacman is caught, all food is eaten, or no moves are left."""
        return s.is_over

    def utility(self, s: State, player: int) -> float:
        """Return the score to Pacman, its negative to the ghosts; to ghosts apart what `seats.py` says."""
        if self.ghosts == APART:
            return seats.utility_apart(s, player)
        return float(s.score if player == 0 else 0 - s.score)

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        """Return what `score_bounds` says, negated for the ghosts, apart or not."""
        if self.ghosts == APART and s.is_over:
            return (self.utility(s, player),) * 2
        least, most = score_bounds(s)
        return (float(least), float(most)) if player == 0 else (0.0 - most, 0.0 - least)

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return what feature_names says, negated for the ghosts."""
        away = s.distances([s.pacman])
        ghost_away = s.distances(ghost.cell for ghost in s.ghosts if not ghost.scared)
        safe = [cell for cell, d in away.items() if d < ghost_away.get(cell, d + 1)]
        ghosts = [away[g.cell] for g in s.ghosts if not g.scared and g.cell in away]
        scared = [away[g.cell] for g in s.ghosts if g.scared and g.cell in away]
        capsules = [away[cell] for cell in cells_of(s.capsules)]
        tour = s.tour()
        values = (
            1,
            s.score,
            s.food.bit_count(),
            tour,
            *(sum(d <= near for d in ghosts) for near in (1, 2, 4)),
            len(s.steps(s.pacman)),
            len(safe),
            sum(s.food >> cell & 1 for cell in safe),
            len(capsules),
            max([0, *(NEAR - d for d in capsules)]),
            sum(ghost.scared > 0 for ghost in s.ghosts),
            max([0, *(NEAR - d for d in scared)]),
            max(0, tour - s.moves),
        )
        seen = values if player == 0 else tuple(-v for v in values)
        return (*seen, *seats.nearness(s, player, away)) if self.ghosts == APART else seen

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write the rows with / between them, the ghosts, the score, the moves left and whose turn it is."""
        return notation.to_text(s)

    def from_text(self, text: str) -> State:
        """Read to_text's form, and a maze alone as its starting position."""
        s = notation.from_text(text)
        if self.ghosts == APART:
            notation.check_apart(text, s, self.n_players - 1, self.name)
        return s

    def action_to_text(self, s: State, a: int) -> str:
        """Write north, east, south, west, stop."""
        return ACTIONS[a]

    def action_from_text(self, s: State, text: str) -> int:
        """Read the words, n e s w, up right down left, and stay or wait for stop."""
        word = text.strip().lower()
        if word not in ALIASES:
            raise BadNotation(f"pacman: {text!r} is no move; expected one of {' '.join(ACTIONS)}")
        if ALIASES[word] not in choices(s):
            raise self._illegal(s, ALIASES[word])
        return ALIASES[word]

    def board(self, s: State) -> str:
        """Draw the maze with coordinates, each ghost as its number, the score and who is to move."""
        return f"{notation.picture(s)}\n{self._status(s)}"

    def _status(self, s: State) -> str:
        if s.caught:
            return "Pacman is caught"
        if not s.food:
            return "Pacman has won"
        if s.is_over:
            return "no moves are left"
        mover = f"ghost {s.turn}" if s.turn else "Pacman"
        return f"{mover} {'goes at random' if self.to_play(s) == CHANCE else 'to move'}: {self._legal(s)}"

    def _legal(self, s: State) -> str:
        return " ".join(ACTIONS[a] for a in choices(s)) or "none"

    def _illegal(self, s: State, a: int) -> IllegalAction:
        shown = ACTIONS[int(a)] if a in range(5) else repr(a)
        why = f"{self._why_not(s, a)}; legal: {self._legal(s)}"
        return IllegalAction(f'illegal action {shown} in pacman position "{self.to_text(s)}": {why}')

    def _why_not(self, s: State, a: int) -> str:
        if a not in range(5):
            return "actions are 0 north, 1 east, 2 south, 3 west, 4 stop"
        if s.is_over:
            return "the game is over"
        if a == STOP:
            return "ghosts do not stop"
        here = s.ghosts[s.turn - 1].cell if s.turn else s.pacman
        return "a ghost turns back only in a dead end" if a in s.steps(here) else "a wall is there"

    # --- the compiled backend --------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules:
        """The same rules for kernels, as the ghosts are played."""
        if self.ghosts == TOGETHER:
            from evallearn.games.pacman.rules import RULES

            return RULES
        from evallearn.games.pacman.seats_rules import APART_RULES, RANDOM_RULES

        return APART_RULES if self.ghosts == APART else RANDOM_RULES

    def encode(self, s: State) -> tuple[int, ...]:
        """Return the words of the position: see `notation.py`."""
        return notation.encode(s)

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """Return the state of the words: the inverse of `encode`."""
        return notation.decode(words)
