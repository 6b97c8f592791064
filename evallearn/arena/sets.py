"""A set of games as a line of a match's journal, and back. Nothing in a line is trusted: games are played over.

Actions are written as the numbers they are in the compiled game, because turning them into text takes longer than a
quick search; where a game has none, as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from evallearn.arena.openings import Opening
from evallearn.arena.records import ADJUDICATED, FORFEIT, NEAR
from evallearn.arena.seating import Played, Seats, seatings
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.json_shapes import JsonDict, items
from evallearn.data.boards import board_of, on_fastest_backend

MOST = 2**62
"""Of a counter: more than any machine can count."""


def packed_set(game: Game, number: int, opening: Opening, played: Sequence[Played]) -> JsonDict:
    """Return what the line of a set says."""
    return {
        "set": number,
        "opening": packed_opening(game, opening),
        "games": [{**g.to_json(), "actions": _packed(game, opening.state, g.actions)} for g in played],
    }


def packed_opening(game: Game, opening: Opening) -> list[int | str] | str:
    """Return how the opening came about, or the position in text where that is not known."""
    if opening.actions is None:
        return game.to_text(opening.state)
    return _packed(game, game.initial(), opening.actions)


def _packed(game: Game, s: State, actions: Sequence[Action]) -> list[int | str]:
    if game.rules is not None:
        return [int(a) for a in actions]  # by contract integers
    return list(game.line_to_text(s, actions))


def read_move(game: Game, s: State, text: str) -> Action:
    """Return the action, or the outcome of the dice, that `text` says. Raises GameError."""
    rolls = {game.action_to_text(s, o): o for o, _ in game.chances(s)} if game.to_play(s) == CHANCE else {}
    return rolls[text] if text in rolls else game.action_from_text(s, text)


class SetReader:
    """Reads sets of one game, and plays them over on its fastest backend."""

    def __init__(self, game: Game) -> None:
        self.game, self.board = game, board_of(on_fastest_backend(game))
        self.low, self.high = (bound + sign * NEAR for bound, sign in zip(game.utility_range, (-1, 1), strict=True))

    def read(self, entry: JsonDict) -> tuple[int, Opening, list[Played]]:
        """Return number, opening and games of the set. Raises ValueError or GameError where one cannot be."""
        require(set(entry) == {"set", "opening", "games"}, "its fields are not set, opening and games")
        number = entry["set"]
        if not is_count(number):
            raise ValueError("its set is no whole number")
        opening, games, ways = self._opening(entry["opening"]), items(entry["games"]), seatings(self.game.n_players)
        require(len(games) == len(ways), f"it does not hold {len(ways)} games")
        played = [self._played(data, seats) for data, seats in zip(games, ways, strict=True)]
        for g in played:
            self._play_over(opening.state, g)
        return number, opening, played

    def _opening(self, written: object) -> Opening:
        if isinstance(written, str):
            s = self.game.from_text(written)
            require(not self.game.is_terminal(s), "its opening is a finished game")
            return Opening(s)
        self._require_moves(written)
        actions, n = self._walk(None, items(written))
        require(n > 0, "its opening is a finished game")
        return Opening(self.board.state(), tuple(actions))

    def _walk(self, start: State, written: Sequence[Action]) -> tuple[list[Action], int]:
        """Return the actions, and how many there are after them: 0 if the game is over."""
        game, board, actions = self.game, self.board, list[Action]()
        board.reset(start)
        n = len(board.look())
        for each in written:
            a = each if game.rules is not None else read_move(game, board.state(), each)
            n = board.step(a)
            require(n >= 0, f"move {len(actions) + 1}, {each!r}, is not legal")
            actions.append(a)
        return actions, n

    def _played(self, data: Any, seats: Seats) -> Played:
        """Return the game, every field of its type."""
        require(isinstance(data, dict) and set(data) == set(Played.__slots__), "it holds a game with other fields")
        g = Played(**{**data, "seats": seats})
        require(data["seats"] == list(seats), f"seats {data['seats']!r} where {list(seats)} are next")
        self._require_moves(data["actions"])
        require(are(g.utilities, self.game.n_players, self.is_utility), "its utilities are not those of players")
        require(are(g.moves, 2, is_count) and are(g.nodes, 2, is_count), "its moves or nodes are no two counts")
        require(are(g.seconds, 2, is_time), "its seconds are no two times")
        require(g.luck is None or is_finite(g.luck), "its luck is no number")
        require(isinstance(g.end, str) and g.forfeited_by in (None, 0, 1), "nobody can say how it ended")
        require(g.end.startswith(FORFEIT) == (g.forfeited_by is not None), "nobody can say who forfeited it")
        return g

    def _require_moves(self, written: object) -> None:
        """Refuse what is no list of moves in the form of this game: small numbers, or texts."""
        small = self.game.rules is not None
        moves = isinstance(written, list) and all(is_small(a) if small else isinstance(a, str) for a in written)
        require(moves, "it holds moves that are none")

    def _play_over(self, start: State, g: Played) -> None:
        """Raise ValueError for a game that the rules do not allow, or that ended otherwise."""
        g.actions, n = self._walk(start, g.actions)
        if g.end:
            require(n > 0 and g.end.partition(":")[0] in (FORFEIT, ADJUDICATED), f"no game ends by {g.end[:60]!r}")
            return
        require(n == 0, f"a game goes on after {len(g.actions)} moves")
        both = zip(g.utilities, self.board.utilities(), strict=True)
        same = all(math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR) for a, b in both)
        require(same, "a result is not that of its moves")

    def is_utility(self, x: object) -> bool:
        """Return whether the game can give so much."""
        return is_finite(x) and self.low <= x <= self.high


# --- shapes ----------------------------------------------------------------------------------------------------------
def require(ok: bool, why: str) -> None:
    """Raise ValueError if it is not so."""
    if not ok:
        raise ValueError(why)


def are(values: object, n: int, kind: Callable[[object], bool]) -> bool:
    """Return whether it is a list of n such values."""
    return isinstance(values, list) and len(values) == n and all(map(kind, values))


def is_count(x: object) -> TypeGuard[int]:
    return type(x) is int and 0 <= x < MOST


def is_small(x: object) -> bool:
    return type(x) is int and abs(x) < 2**31


def is_finite(x: object) -> TypeGuard[float]:
    return isinstance(x, int | float) and type(x) is not bool and abs(x) < 1e300


def is_time(x: object) -> bool:
    return is_finite(x) and x >= 0
