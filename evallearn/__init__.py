"""evallearn learns evaluation functions for games by self-play and proves what they are worth.

    import evallearn
    game = evallearn.get_game("othello")
    evaluator = evallearn.load("runs/othello/evaluators/linear.safetensors")
    result = evallearn.AlphaBeta(game, evaluator).search(game.initial(), evallearn.Limits(depth=6))

Everything below is imported where it is first used: `import evallearn` itself is light.
"""

# `python -m evallearn` runs this file while the current folder is still first on sys.path (see __main__.py): it
# imports only what Python has loaded by then.
import importlib

from evallearn._version import __version__ as __version__

TYPE_CHECKING = False  # type checkers know the name
if TYPE_CHECKING:
    from evallearn.agents import parse_agent
    from evallearn.arena import play_match
    from evallearn.check import check_game
    from evallearn.core.evaluator import Evaluator
    from evallearn.core.game import CHANCE, Game, Heuristic
    from evallearn.core.rules import Rules
    from evallearn.core.search import Limits, SearchResult
    from evallearn.core.trust import FULL_TRUST
    from evallearn.errors import EvallearnError, Interrupted
    from evallearn.evaluators import BoundedEval, FunctionEval, LinearEval, MlpEval, SolvedEval, save_evaluator
    from evallearn.registry import game_names, get_game, load
    from evallearn.search import (
        MCTS,
        AlphaBeta,
        BestReply,
        Expectiminimax,
        FlatMonteCarlo,
        MaxN,
        Minimax,
        Paranoid,
        and_or_search,
        check_plan,
        named_search,
        search_for,
        solve,
    )


_HOME = {
    "AlphaBeta": "search",
    "CHANCE": "core.game",
    "Evaluator": "core.evaluator",
    "FULL_TRUST": "core.trust",
    "EvallearnError": "errors",
    "FunctionEval": "evaluators",
    "Game": "core.game",
    "Heuristic": "core.game",
    "Limits": "core.search",
    "LinearEval": "evaluators",
    "Expectiminimax": "search",
    "MaxN": "search",
    "Minimax": "search",
    "search_for": "search",
    "BestReply": "search",
    "BoundedEval": "evaluators",
    "FlatMonteCarlo": "search",
    "MCTS": "search",
    "Paranoid": "search",
    "SolvedEval": "evaluators",
    "named_search": "search",
    "solve": "search",
    "Interrupted": "errors",
    "and_or_search": "search",
    "check_plan": "search",
    "MlpEval": "evaluators",
    "Rules": "core.rules",
    "SearchResult": "core.search",
    "check_game": "check",
    "game_names": "registry",
    "get_game": "registry",
    "load": "registry",
    "parse_agent": "agents",
    "play_match": "arena",
    "save_evaluator": "evaluators",
}
"""Public name -> the module that defines it."""

__all__ = [
    "CHANCE",
    "FULL_TRUST",
    "MCTS",
    "AlphaBeta",
    "BestReply",
    "BoundedEval",
    "EvallearnError",
    "Evaluator",
    "Expectiminimax",
    "FlatMonteCarlo",
    "FunctionEval",
    "Game",
    "Heuristic",
    "Interrupted",
    "Limits",
    "LinearEval",
    "MaxN",
    "Minimax",
    "MlpEval",
    "Paranoid",
    "Rules",
    "SearchResult",
    "SolvedEval",
    "and_or_search",
    "check_game",
    "check_plan",
    "game_names",
    "get_game",
    "load",
    "named_search",
    "parse_agent",
    "play_match",
    "save_evaluator",
    "search_for",
    "solve",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'evallearn' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"evallearn.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
