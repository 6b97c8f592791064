"""Chess: the laws of FIDE, with the drawing rules applied at once and not only when somebody claims them.

The game is drawn by stalemate, by a third occurrence of the position, after fifty moves of each player without a
capture or a pawn move (unless the last one mates), and where the material cannot mate: king against king, one minor
piece more, or bishops that all stand on one colour. White moves first and is player 0. `moves.py` says what an
action is; positions are written in FEN, moves in SAN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from evallearn.core.game import Game, Heuristic
from evallearn.core.rules import Rules
from evallearn.errors import BadNotation, IllegalAction, unknown
from evallearn.games.chess import features as chess_features
from evallearn.games.chess import fen as chess_fen
from evallearn.games.chess import lecture
from evallearn.games.chess import san as chess_san
from evallearn.games.chess.moves import NO_SQUARE, PIECES, START, in_check, is_noisy, legal_moves
from evallearn.games.chess.state import State, advance, decode, encode, is_mate, move_between, why_drawn

N_ACTIONS = 5 * 4096
"""64 * 64 pairs of squares, without and with each of the four promotions."""


class Chess(Game[State, int]):
    """Chess; an action is 64 * from + to, plus 4096 times 1 to 4 for a promotion to N, B, R or Q."""

    name: ClassVar[str] = "chess"
    version: ClassVar[int] = 3
    n_phases: ClassVar[int] = chess_features.N_PHASES
    opening_plies: ClassVar[int] = 6
    wins_by_mate: ClassVar[bool] = True
    feature_names: ClassVar[tuple[str, ...]] = chess_features.NAMES
    heuristics: ClassVar[Mapping[str, Heuristic]] = chess_features.HEURISTICS
    parameters: ClassVar[Mapping[str, str]] = {
        "features": "full: all of them; lecture: the material of the lectures, in seven counts"
    }
    views: ClassVar[tuple[str, ...]] = ("features",)

    search_settings: ClassVar[Mapping[str, int]] = {
        "quiescence": 10, "extensions": 4, "null_move": True, "late_move_reductions": True,
        "futility": True, "path_independent_table": True, "use_partial_iteration": True,
    }  # fmt: skip

    def __init__(self, features: str = "full") -> None:
        if features not in ("full", "lecture"):
            raise unknown("chess features", str(features), ("full", "lecture"))
        if features == "lecture":  # the class itself describes the other set
            self.name = "chess,features=lecture"  # type: ignore[misc]  # this one differs from its class
            self.feature_names = lecture.NAMES  # type: ignore[misc]  # this one differs from its class

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return the usual array, White to move."""
        return State(START)

    def to_play(self, s: State) -> int:
        """Return 0 for White, 1 for Black."""
        return s.position.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the legal moves: what wins most by itself first, then the least piece, then the lowest number."""
        return () if self.is_terminal(s) else legal_moves(s.position)

    def result(self, s: State, a: int) -> State:
        """Return the state after the move; its history grows, or starts anew after a capture or a pawn move."""
        if a not in self.actions(s):
            raise self._illegal(s, a)
        return advance(s, int(a))

    def is_terminal(self, s: State) -> bool:
        """Return True for mate or a draw."""
        return is_mate(s) or bool(why_drawn(s))

    def utility(self, s: State, player: int) -> float:
        """Return -1 for the player who is mated, +1 for the other, 0 for a draw."""
        if not is_mate(s):
            return 0.0
        return -1.0 if player == s.position.player else 1.0

    def noisy_actions(self, s: State) -> tuple[int, ...]:
        """Return captures and promotions to a queen that lose nothing by exchanges.

        The same holds in check: other evasions are left out.
        """
        return tuple(a for a in self.actions(s) if is_noisy(s.position, a))

    def forcing(self, s: State) -> bool:
        """Return True if the player to move is in check."""
        return in_check(s.position.squares, s.position.player)

    def may_pass(self, s: State) -> bool:
        """Return True unless in check or with king and pawns alone, where zugzwang is common."""
        own = PIECES[s.position.player][1:-1]
        return not self.forcing(s) and any(piece in own for piece in s.position.squares)

    def passed(self, s: State) -> State:
        """Return the same board with the other side to move."""
        position = s.position._replace(player=1 - s.position.player, en_passant=NO_SQUARE)
        return State(position, 0, s.number + s.position.player)

    def perft_children(self, s: State) -> list[State]:
        """Return the children for perft, which by custom goes on where the game is drawn by a rule."""
        return [advance(s, a) for a in legal_moves(s.position)]

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return own minus opposing counts; of threats also their sum, negated if it is not the player's turn."""
        squares, mover = s.position.squares, s.position.player
        by_lecture = self.feature_names == lecture.NAMES
        values = lecture.features(squares) if by_lecture else chess_features.features(squares, mover)
        return values if player == 0 else tuple(-v for v in values)

    def phase(self, s: State) -> int:
        """Return 0 to 5 by the pieces that are left."""
        return chess_features.phase(s.position.squares)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write FEN; with a history, the FEN before it and then, as in UCI, "moves g1f3 g8f6"."""
        states = [*map(decode, s.history), s]
        moves = [chess_san.uci(move_between(*pair)) for pair in pairwise(states)]
        return " ".join([chess_fen.write_fen(states[0]), *(["moves", *moves] if moves else [])])

    def from_text(self, text: str) -> State:
        """Read FEN or "startpos", then perhaps "moves" and moves in UCI or SAN."""
        words = text.split()
        at = words.index("moves") if "moves" in words else len(words)
        start = " ".join(words[:at])
        s = self.initial() if start == "startpos" else chess_fen.read_fen(start)
        for i, word in enumerate(words[at + 1 :], 1):
            try:
                s = self.result(s, self.action_from_text(s, word))
            except (IllegalAction, BadNotation) as error:
                raise BadNotation(f"chess position {text!r}: move {i}: {error}") from None
        return s

    def action_to_text(self, s: State, a: int) -> str:
        """Write SAN: Nf3, exd5, O-O, e8=Q+."""
        return chess_san.san(s.position, a)

    def action_from_text(self, s: State, text: str) -> int:
        """Read SAN and UCI, forgivingly; what fits two moves is refused."""
        return chess_san.read_move(s, text)

    def board(self, s: State) -> str:
        """Draw eight ranks with coordinates, capitals for White, and who is to move or how the game ended."""
        squares, frame = s.position.squares, "  +-----------------+"
        ranks = [f"{i + 1} | {' '.join(squares[8 * i : 8 * i + 8])} |" for i in reversed(range(8))]
        return "\n".join([frame, *ranks, frame, "    a b c d e f g h", self._status(s)])

    def _status(self, s: State) -> str:
        mover, other = chess_fen.PLAYERS[s.position.player], chess_fen.PLAYERS[1 - s.position.player]
        if is_mate(s):
            return f"{mover} is mated: {other} has won"
        if why := why_drawn(s):
            return f"a draw: {why}"
        return f"{mover} to move" + (", in check" if in_check(s.position.squares, s.position.player) else "")

    def _illegal(self, s: State, a: int) -> IllegalAction:
        known = a in range(N_ACTIONS)
        shown = chess_san.uci(int(a)) if known else repr(a)
        if not known:
            why = f"actions are 0..{N_ACTIONS - 1}"
        elif self.is_terminal(s):
            why = f"the game is over, {why_drawn(s) or 'mate'}"
        else:
            why = "that is not a legal move"
        legal = " ".join(chess_san.bare_san(s.position, b) for b in self.actions(s)) or "none"
        return IllegalAction(f'illegal action {shown} in chess position "{self.to_text(s)}": {why}; legal: {legal}')

    # --- the compiled backend --------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules:
        """The same rules for kernels; the sets of features have one each."""
        if self.feature_names == lecture.NAMES:
            from evallearn.games.chess.lecture_rules import LECTURE_RULES

            return LECTURE_RULES
        from evallearn.games.chess.rules import RULES

        return RULES

    def encode(self, s: State) -> tuple[int, ...]:
        """Return a word per kind of piece, White's pieces, and the rest."""
        return encode(s)

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """Return the state: the inverse of `encode` and `history`."""
        return decode(words, history)

    def history(self, s: State) -> Sequence[tuple[int, ...]]:
        """Return the positions since the last capture or pawn move."""
        return s.history
