"""The searches: each a file, each useful alone. A search is handed a game and an Eval."""

from evallearn.search.alphabeta import AlphaBeta
from evallearn.search.choose import search_for
from evallearn.search.expectiminimax import Expectiminimax
from evallearn.search.maxn import MaxN
from evallearn.search.minimax import Minimax

__all__ = ["AlphaBeta", "Expectiminimax", "MaxN", "Minimax", "search_for"]
