"""Ending a game before its rules do: off unless asked for, and counted in the result when it was used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from evallearn.core.game import Game
from evallearn.core.search import SearchResult
from evallearn.errors import SpecError, unknown

FORM = "write for example plies=300,win=0.95x6,draw=0.02x12"


@dataclass(frozen=True)
class Adjudication:
    """Rules for two-player games of win and loss. Values are those that the agents themselves give."""

    plies: int | None = None
    """After so many plies of play the game is a draw."""
    win: tuple[float, int] | None = None
    """(v, n): won by the player to whom each of the last n moves gave at least v of the best utility."""
    draw: tuple[float, int] | None = None
    """(v, n): drawn if each of the last n moves gave neither player more than v of the best utility."""

    @classmethod
    def from_text(cls, text: str) -> Adjudication:
        """Read `plies=300,win=0.95x6,draw=0.02x12`, or some of them."""
        found: dict[str, int | tuple[float, int]] = {}
        for part in text.split(","):
            key, _, value = part.strip().partition("=")
            if key not in ("plies", "win", "draw"):
                raise SpecError(f"{unknown('adjudication rule', key, ('plies', 'win', 'draw'))}; {FORM}")
            if key in found:
                raise SpecError(f"adjudication {text!r}: {key} is given twice: give it once")
            found[key] = _whole(value, part) if key == "plies" else _streak(value, part)
        return cls(**found)  # type: ignore[arg-type]  # each was read by its kind

    def __str__(self) -> str:
        parts = [f"plies={self.plies}"] if self.plies is not None else []
        return ",".join(parts + [f"{k}={r[0]:g}x{r[1]}" for k, r in (("win", self.win), ("draw", self.draw)) if r])

    def require(self, game: Game) -> None:
        """Refuse a game in which nobody wins or loses, or in which more than two play."""
        if str(self) and (game.n_players != 2 or not game.zero_sum or game.scored):
            raise SpecError(
                f"adjudication {str(self)!r}: only two-player games of win and loss can be adjudicated, and "
                f"{game.name} is none: leave it out"
            )


NO_ADJUDICATION = Adjudication()


def _whole(value: str, part: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", value):
        raise SpecError(f"adjudication {part!r}: give a number of plies of 1 or more; {FORM}")
    return int(value)


def _streak(value: str, part: str) -> tuple[float, int]:
    found = re.fullmatch(r"(\d*\.?\d+)x([1-9]\d{0,5})", value)
    if not found or not 0 <= float(found[1]) <= 1:
        raise SpecError(f"adjudication {part!r}: give a share of 0 to 1, x, and a number of moves; {FORM}")
    return float(found[1]), int(found[2])


@dataclass
class Watch:
    """One game under these rules."""

    rules: Adjudication
    best: float
    """The best utility of the game."""
    plies: int = 0
    leads: list[float] = field(default_factory=list)
    """The values after the last moves, in shares of the best utility, to player 0."""

    def saw(self, found: SearchResult) -> tuple[str, float] | None:
        """Return the rule that ends the game after this move, and what player 0 has won; or None."""
        rules, self.plies = self.rules, self.plies + 1
        if found.depth == 0:  # it chose without a search: its value says nothing
            self.leads.clear()
        else:
            self.leads.append(found.value / self.best * (1 if found.player == 0 else -1))
        if rules.win and (n := rules.win[1]) <= len(self.leads):
            for sign in (1.0, -1.0):
                if all(sign * v >= rules.win[0] for v in self.leads[-n:]):
                    return f"win={rules.win[0]:g}x{n}", sign
        if rules.draw and (n := rules.draw[1]) <= len(self.leads) and max(map(abs, self.leads[-n:])) <= rules.draw[0]:
            return f"draw={rules.draw[0]:g}x{n}", 0.0
        if rules.plies is not None and self.plies >= rules.plies:
            return f"plies={rules.plies}", 0.0
        return None
