"""The searches: each useful alone. A search is handed a game and an evaluator. README.md tells which is which."""

from evallearn.search.alphabeta.endings import Ending as Ending
from evallearn.search.alphabeta.endings import ending as ending
from evallearn.search.alphabeta.endings import plies_to_end as plies_to_end
from evallearn.search.alphabeta.search import AlphaBeta as AlphaBeta
from evallearn.search.exact.and_or import and_or_search as and_or_search
from evallearn.search.exact.and_or import check_plan as check_plan
from evallearn.search.exact.solver import solve as solve
from evallearn.search.expectiminimax.search import Expectiminimax as Expectiminimax
from evallearn.search.minimax import Minimax as Minimax
from evallearn.search.montecarlo.flat import FlatMonteCarlo as FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS as MCTS
from evallearn.search.multiplayer.best_reply import BestReply as BestReply
from evallearn.search.multiplayer.maxn import MaxN as MaxN
from evallearn.search.multiplayer.paranoid import Paranoid as Paranoid
from evallearn.search.registry import MONTE_CARLO as MONTE_CARLO
from evallearn.search.registry import SEARCHES as SEARCHES
from evallearn.search.registry import named_search as named_search
from evallearn.search.registry import require_limits as require_limits
from evallearn.search.registry import search_for as search_for
from evallearn.search.registry import usual_search as usual_search
