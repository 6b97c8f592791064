"""Matches: take 1 to k matches from one of the piles; whoever takes the last match loses (misère Nim with a limit).

Pile i (0..7) is byte i of one word, so that up to eight piles of at most 255 matches fit; k and who is to move are two
more words, and the rules need nothing else: one set of them serves all parameters. Action 255 * i + n - 1 takes n
matches from pile i and is written pile:count, counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import xor
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction, SpecError

MAX_PILES, MAX_MATCHES = 8, 255
BARS = 60
"""Matches of a pile that `board` draws; the count beside them is always whole."""
PLAYERS = ("first", "second")
POSITION = re.compile(
    r"([0-9]{1,9}(?:-[0-9]{1,9})*)(?:[/\s]+k=([0-9]{1,9}))?(?:[/\s]+(first|second))?", re.ASCII | re.IGNORECASE
)
PILE_COUNT = re.compile(r"([0-9]{1,9})(?:\s*:\s*|\s+)([0-9]{1,9})", re.ASCII)
COUNT_FROM_PILE = re.compile(
    r"(?:take\s+)?([0-9]{1,9})(?:\s+match(?:es)?)?\s+from\s+(?:pile\s+)?([0-9]{1,9})", re.ASCII | re.IGNORECASE
)


class State(NamedTuple):
    """The piles as bytes, the most that a move may take, and who is to move (0 or 1)."""

    piles: int
    k: int
    player: int


def pack(piles: Sequence[int]) -> int:
    """Return the piles as one word."""
    return int.from_bytes(bytes(piles), "little")


def unpack(piles: int) -> tuple[int, ...]:
    """Return all eight piles, the empty ones too."""
    return tuple(piles.to_bytes(MAX_PILES, "little"))


def residues(s: State) -> tuple[int, ...]:
    """Return what is left of each pile when pairs of moves have taken k + 1 at a time: it alone decides who wins."""
    return tuple(pile % (s.k + 1) for pile in unpack(s.piles))


def odd(n: int) -> int:
    """Return +1 if n is odd, else -1."""
    return 1 if n & 1 else -1


class Matches(Game[State, int]):
    """Piles of matches; the parameters set the first position, and texts may name any other."""

    name: ClassVar[str] = "matches"
    rules_module: ClassVar[str] = "evallearn.games.matches.rules"
    n_phases: ClassVar[int] = 2
    opening_plies: ClassVar[int] = 2
    parameters: ClassVar[Mapping[str, str]] = {
        "piles": "matches in each pile at the start, such as 3-5-7: 1 to 8 piles of 1 to 255 matches",
        "k": "the most matches that a move may take, 1 to 255",
    }
    # The game is impartial: each feature is about the position and counts for whoever is to move.
    feature_names: ClassVar[tuple[str, ...]] = (
        "to_move",  # 1
        "odd_matches",  # +1 if the number of matches is odd, else -1
        "odd_piles",  # the same for piles that are not empty
        "odd_ones",  # the same for piles of residue 1 (residue: pile mod k + 1)
        "nim_sum",  # +1 if the exclusive or of all residues is not 0, else -1
        "piles",  # piles that are not empty
        "big_piles",  # piles of residue 2 or more
        "matches",  # sixteenths of the number of matches
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "parity": Heuristic(
            {"odd_matches": -0.4, "odd_piles": -0.2},
            "By hand: as if every move took a single match (then it is exact), or emptied a pile.",
        ),
        "nim": Heuristic(
            ({"nim_sum": 1.5}, {"odd_ones": -1.5}),
            "Bouton's rule for misère Nim (1901) on the residues: the sign is the exact value.",
        ),
    }

    def __init__(self, piles: str | Sequence[int] = "3-5-7", k: int | str = 3) -> None:
        self.piles, self.k = read_piles(piles), read_k(k)
        if (self.piles, self.k) != ((3, 5, 7), 3):
            self.name = f"matches,piles={'-'.join(map(str, self.piles))},k={self.k}"  # type: ignore[misc]  # this one differs from its class
        shortest = sum(-(-pile // self.k) for pile in self.piles)
        self.opening_plies = min(2, shortest - 1)  # type: ignore[misc]  # no game is over before the opening is

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return the piles of the parameters, the first player to move."""
        return State(pack(self.piles), self.k, 0)

    def to_play(self, s: State) -> int:
        """Return 0 for the first player, 1 for the second."""
        return s.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the actions pile by pile, few matches first."""
        return tuple(
            MAX_MATCHES * i + n - 1 for i, pile in enumerate(unpack(s.piles)) for n in range(1, min(pile, s.k) + 1)
        )

    def result(self, s: State, a: int) -> State:
        """Remove the matches and pass the turn to the other player."""
        if a not in range(MAX_PILES * MAX_MATCHES):
            numbers = f"actions are 0..{MAX_PILES * MAX_MATCHES - 1}, written pile:count"
            raise self._illegal(s, repr(a), numbers)
        i, n = divmod(int(a), MAX_MATCHES)
        return self._take(s, i + 1, n + 1)

    def is_terminal(self, s: State) -> bool:
        """Return True if no match is left."""
        return s.piles == 0

    def utility(self, s: State, player: int) -> float:
        """Return -1 for whoever took the last match, +1 for the other, who would be to move."""
        return 1.0 if player == s.player else -1.0

    def solved(self, s: State) -> dict[int, float]:
        """Return the value of every action, +1 or -1, by the closed form."""
        from evallearn.games.matches.solver import closed_form

        return {a: -1.0 if closed_form(self.result(s, a)) else 1.0 for a in self.actions(s)}

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[float, ...]:
        """Return the features of the position for the player to move, with a minus for the other."""
        piles, rest = unpack(s.piles), residues(s)
        filled = sum(pile > 0 for pile in piles)
        values = (
            1,
            odd(sum(piles)),
            odd(filled),
            odd(rest.count(1)),
            1 if reduce(xor, rest) else -1,
            filled,
            sum(r >= 2 for r in rest),
            sum(piles) / 16,
        )
        return values if player == s.player else tuple(-v for v in values)

    def phase(self, s: State) -> int:
        """Return 0 while a residue is 2 or more, 1 once all are 0 or 1: there misère play departs from normal play."""
        return int(max(residues(s)) <= 1)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write piles, limit and who is to move, as in 3-5-7/k=3/first."""
        return f"{'-'.join(map(str, self._shown(s)))}/k={s.k}/{PLAYERS[s.player]}"

    def from_text(self, text: str) -> State:
        """Read 3-5-7/k=3/second, with spaces too; without k the game's own, without a player the first."""
        found = POSITION.fullmatch(text.strip())
        if not found:
            raise BadNotation(f"matches position {text!r}: expected piles, k and who is to move, as in 3-5-7/k=3/first")
        piles = tuple(map(int, found[1].split("-")))
        k = int(found[2]) if found[2] else self.k
        if wrong := wrong_with_piles(piles, 0) or wrong_with_k(k):
            raise BadNotation(f"matches position {text!r}: {wrong}")
        return State(pack(piles), k, PLAYERS.index((found[3] or "first").lower()))

    def action_to_text(self, s: State, a: int) -> str:
        """Write pile:count."""
        return f"{a // MAX_MATCHES + 1}:{a % MAX_MATCHES + 1}"

    def action_from_text(self, s: State, text: str) -> int:
        """Read 1:2 and 1 2 (pile, count), 2 from 1, take 2 matches from pile 1."""
        stripped = text.strip()
        if found := PILE_COUNT.fullmatch(stripped):
            pile, n = int(found[1]), int(found[2])
        elif found := COUNT_FROM_PILE.fullmatch(stripped):
            n, pile = int(found[1]), int(found[2])
        else:
            forms = "write pile:count, as in 1:2, or 2 from 1"
            raise BadNotation(f"matches move {text!r} in position {self.to_text(s)!r}: {forms}")
        self._take(s, pile, n)
        return MAX_MATCHES * (pile - 1) + n - 1

    def board(self, s: State) -> str:
        """Draw a row of matches for each pile, its number and its count before it; then who is to move."""
        rows = [f"{i} ({pile}) {drawn(pile)}".rstrip() for i, pile in enumerate(self._shown(s), 1)]
        return "\n".join([*rows, self._status(s)])

    def _shown(self, s: State) -> tuple[int, ...]:
        """Return the piles of the first position, empty ones too, and whatever a text has put beyond them."""
        return unpack(s.piles)[: max(len(self.piles), -(-s.piles.bit_length() // 8))]

    def _status(self, s: State) -> str:
        if self.is_terminal(s):
            return f"{PLAYERS[1 - s.player]} took the last match: {PLAYERS[s.player]} has won"
        return f"{PLAYERS[s.player]} to move: take 1 to {s.k} from one pile; the last match loses"

    # --- moves -----------------------------------------------------------------------------------------------------
    def _take(self, s: State, pile: int, n: int) -> State:
        """Take `n` matches from pile number `pile`, counted from 1."""
        size = unpack(s.piles)[pile - 1] if 1 <= pile <= MAX_PILES else 0
        if 1 <= n <= min(size, s.k):
            return State(s.piles - (n << 8 * (pile - 1)), s.k, 1 - s.player)
        if self.is_terminal(s):
            why = "the game is over"
        elif not 1 <= n <= s.k:
            why = f"a move takes 1 to {s.k}"
        else:
            why = f"pile {pile} has {size}" if 1 <= pile <= len(self._shown(s)) else f"there is no pile {pile}"
        raise self._illegal(s, f"{pile}:{n}", why)

    def _illegal(self, s: State, shown: str, why: str) -> IllegalAction:
        most = [(i, min(pile, s.k)) for i, pile in enumerate(unpack(s.piles), 1) if pile]
        legal = " ".join(f"{i}:1" if n == 1 else f"{i}:1..{n}" for i, n in most) or "none"
        return IllegalAction(f'illegal action {shown} in matches position "{self.to_text(s)}": {why}; legal: {legal}')


def drawn(pile: int) -> str:
    """Draw the pile as matches in fives."""
    fives = " ".join("|" * min(5, pile - i) for i in range(0, min(pile, BARS), 5))
    return fives + (" ..." if pile > BARS else "")


def wrong_with_piles(piles: Sequence[int], fewest: int) -> str:
    """Say what is wrong with the piles of a text; return an empty text if nothing is."""
    if len(piles) > MAX_PILES:
        return f"{len(piles)} piles; give 1 to {MAX_PILES}"
    bad = next((pile for pile in piles if not fewest <= pile <= MAX_MATCHES), None)
    return "" if bad is None else f"a pile of {bad}; give {fewest} to {MAX_MATCHES} matches"


def wrong_with_k(k: int) -> str:
    """Say what is wrong with the limit; return an empty text if nothing is."""
    return "" if 1 <= k <= MAX_MATCHES else f"k is {k}; give 1 to {MAX_MATCHES}"


def read_piles(piles: str | Sequence[int]) -> tuple[int, ...]:
    """Read the parameter `piles`, or raise SpecError."""
    numbers: Sequence[int] = ()
    if not isinstance(piles, str):
        numbers = piles
    elif re.fullmatch(r"[0-9]{1,9}(-[0-9]{1,9})*", piles.strip()):
        numbers = [int(pile) for pile in piles.strip().split("-")]
    if not isinstance(numbers, Sequence) or not numbers or any(type(pile) is not int for pile in numbers):
        raise SpecError(f"matches: piles={piles!r} cannot be read; write numbers with dashes, as in piles=3-5-7")
    if wrong := wrong_with_piles(numbers, 1):
        raise SpecError(f"matches: piles={piles!r} has {wrong}")
    return tuple(numbers)


def read_k(k: int | str) -> int:
    """Read the parameter `k`, or raise SpecError."""
    number = int(k) if isinstance(k, str) and re.fullmatch(r"[0-9]{1,9}", k.strip()) else k
    if type(number) is not int or wrong_with_k(number):
        raise SpecError(f"matches: k={k!r} cannot be; give a whole number of 1 to {MAX_MATCHES}, as in k=3")
    return number
