"""The searches: each useful alone. A search is handed a game and an Eval. README.md tells which is which."""

from evallearn.search.alphabeta.endings import Ending, ending, plies_to_end
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.exact.and_or import and_or_search, check_plan
from evallearn.search.exact.solver import Solution, solve
from evallearn.search.expectiminimax.search import Expectiminimax
from evallearn.search.minimax import Minimax
from evallearn.search.montecarlo.flat import FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.maxn import MaxN
from evallearn.search.multiplayer.paranoid import Paranoid
from evallearn.search.registry import MONTE_CARLO, SEARCHES, named_search, require_limits, search_for, usual_search

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
