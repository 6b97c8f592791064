"""The searches: each useful alone. A search is handed a game and an Eval. README.md tells which is which."""

from evallearn.search.alphabeta import AlphaBeta
from evallearn.search.andor import and_or_search, check_plan
from evallearn.search.best_reply import BestReply
from evallearn.search.choose import (
    MONTE_CARLO,
    SEARCHES,
    named_search,
    require_limits,
    search_for,
    usual_search,
)
from evallearn.search.endings import Ending, ending, plies_to_end
from evallearn.search.expectiminimax import Expectiminimax
from evallearn.search.maxn import MaxN
from evallearn.search.mcts import MCTS
from evallearn.search.minimax import Minimax
from evallearn.search.montecarlo import FlatMonteCarlo
from evallearn.search.paranoid import Paranoid
from evallearn.search.solver import Solution, solve

__all__ = [
    "MCTS",
    "MONTE_CARLO",
    "SEARCHES",
    "AlphaBeta",
    "BestReply",
    "Ending",
    "Expectiminimax",
    "FlatMonteCarlo",
    "MaxN",
    "Minimax",
    "Paranoid",
    "Solution",
    "and_or_search",
    "check_plan",
    "ending",
    "named_search",
    "plies_to_end",
    "require_limits",
    "search_for",
    "solve",
    "usual_search",
]
