"""A GTP engine for tests, for any two-player game without dice: it plays the last legal move on its own board."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from evallearn.errors import GameError
from evallearn.games.othello import Othello
from evallearn.games.tic_tac_toe import TicTacToe

COMMANDS = "list_commands\nboardsize\nset_game\nclear_board\nplay\ngenmove\nquit"


class Engine:
    """Its board, and how it misbehaves."""

    def __init__(self, game: str, mode: str) -> None:
        self.game = {"othello": Othello, "tic_tac_toe": TicTacToe}[game]()
        self.mode, self.s = mode, self.game.initial()

    def clear_board(self) -> str:
        self.s = self.game.initial()
        return ""

    def list_commands(self) -> str:
        return COMMANDS if self.mode == "games" else COMMANDS.replace("set_game\n", "")

    def boardsize(self, size: str) -> str:
        if size != "8":
            raise ValueError("unacceptable size")
        return ""

    def set_game(self, name: str) -> str:
        if name != "Othello" or self.mode != "games":
            raise ValueError("unsupported game")
        return ""

    def play(self, colour: str, move: str) -> str:
        if move == "pass" and self.mode == "implicit":
            raise ValueError("syntax error")
        self._forced_pass()
        if colour != "bw"[self.game.to_play(self.s)]:
            raise ValueError("not your turn")
        self.s = self.game.result(self.s, self.game.action_from_text(self.s, move))
        return ""

    def genmove(self, colour: str) -> str:
        if self.mode == "resign":
            return "resign"
        if self.mode == "lost":
            raise ValueError("I am lost")
        if self.mode == "implicit" and colour != "bw"[self.game.to_play(self.s)]:
            self._forced_pass()
        move = self.game.action_to_text(self.s, self.game.actions(self.s)[-1])
        if move != "pass" or self.mode != "implicit":
            self.play(colour, move)
        return move.upper()

    def _forced_pass(self) -> None:
        """As gtp-rhino does: whoever must pass is passed over."""
        legal = self.game.actions(self.s)
        if self.mode == "implicit" and [self.game.action_to_text(self.s, a) for a in legal] == ["pass"]:
            self.s = self.game.result(self.s, legal[0])


def main(game: str, mode: str) -> None:
    """The life of an engine."""
    engine = Engine(game, mode)
    for line in sys.stdin:
        print(line.strip(), file=sys.stderr, flush=True)
        command, *arguments = line.split()
        if command == "quit":
            return
        try:
            print(f"= {getattr(engine, command)(*arguments)}\n", flush=True)
        except (GameError, ValueError) as error:
            print(f"? {error}\n", flush=True)


main(*sys.argv[1:])
