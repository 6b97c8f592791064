"""The searches: each a file, each useful alone. A search is handed a game and an Eval."""

from evallearn.search.alphabeta import AlphaBeta
from evallearn.search.minimax import Minimax

__all__ = ["AlphaBeta", "Minimax"]
