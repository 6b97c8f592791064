"""A person at the board: sessions, verdicts, saved games. `evallearn.cli.play` puts them on a terminal."""

from evallearn.play.dialogue import Dialogue, Shown
from evallearn.play.saved import load_game, save_game
from evallearn.play.session import Ply, Session
from evallearn.play.verdict import Analysis, Judge, Verdict

__all__ = ["Analysis", "Dialogue", "Judge", "Ply", "Session", "Shown", "Verdict", "load_game", "save_game"]
