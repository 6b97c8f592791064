"""A person at the board: sessions, verdicts, saved games. `evallearn.cli.play` puts them on a terminal."""

from evallearn.play.dialogue import Dialogue as Dialogue
from evallearn.play.dialogue import Shown as Shown
from evallearn.play.saved import load_game as load_game
from evallearn.play.saved import save_game as save_game
from evallearn.play.session import Session as Session
from evallearn.play.verdict import Judge as Judge
from evallearn.play.verdict import Verdict as Verdict
