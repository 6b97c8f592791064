"""Agents as short texts: `WHO@LIMITS`, wherever a player is asked for.

random                                        any legal action
zero@depth=4                                  a search that only knows how games end
handwritten:NAME@depth=4                      a heuristic of the game
zoo:NAME@time=0.1                             an evaluator that is shipped; zoo:GAME/NAME says it in full
solved:EVAL                                   the game's tables first (evallearn tables), the evaluator elsewhere
bounded:EVAL                                  the evaluator within the bounds of the game, by which alpha-beta prunes
gnubg:0                                       GNU Backgammon's networks, at 0, 1 or 2 plies
runs/x/evaluators/linear.safetensors@nodes=20000,time=0.1
SEARCH[,OPTION=VALUE..][:EVAL]@LIMITS         a search by its name, as mcts,leaf=playout:zero@nodes=500
uci:PROGRAM[,OPTION=VALUE..]@LIMITS           a chess engine; gtp: and cmd: for other games and programs

A text may come from a file: what it may name, `trust` says. docs/agents.md has more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from evallearn.agents.base import Agent, PlayoutAgent, RandomAgent, SearchAgent, default_limits
from evallearn.agents.cmd import CmdAgent
from evallearn.agents.engine import EngineAgent
from evallearn.agents.gnubg import parse_gnubg
from evallearn.agents.gtp import GtpAgent
from evallearn.agents.options import needs_eval, read_options, search_settings, trailing_options
from evallearn.agents.uci import UciAgent
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game, State
from evallearn.core.json_shapes import JsonDict, build
from evallearn.core.search import Limits
from evallearn.core.trust import NO_TRUST, Trust
from evallearn.errors import SearchError, SpecError, unknown
from evallearn.evaluators import (
    BoundedEval,
    FunctionEval,
    LinearEval,
    SolvedEval,
    heuristic,
    load_evaluator,
    zoo_file,
    zoo_names,
)
from evallearn.search import SEARCHES

ENGINES: Mapping[str, type[EngineAgent]] = {"uci": UciAgent, "gtp": GtpAgent, "cmd": CmdAgent}
FORMS = (
    "or the path of a .safetensors file; a search in front, as mcts:zero or paranoid,pruning=off:zero; "
    "an engine as uci:PROGRAM, gtp:PROGRAM or cmd:PROGRAM; then @depth=4, @nodes=20000 or @time=0.1"
)


def parse_limits(text: str) -> Limits:
    """Read limits as in `depth=4`, `nodes=20000` or `depth=8,time=0.1`."""
    kinds = {"depth": int, "nodes": int, "time": float}
    found: JsonDict = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key not in kinds:
            raise unknown("limit", key, kinds)
        try:
            found["seconds" if key == "time" else key] = kinds[key](value)
        except ValueError:
            raise SpecError(f"limit {part!r}: {value!r} is no number; write for example depth=4") from None
    try:
        return build(Limits, found)
    except SearchError as error:
        raise SpecError(f"limits {text!r}: {error}") from None


# --- agents ----------------------------------------------------------------------------------------------------------
def as_agent(what: Agent | str, game: Game) -> Agent:
    """Return an agent as it is, and a text as the agent that it describes. Raises SpecError for anything else."""
    if isinstance(what, Agent):
        return what
    return parse_agent(what, game, trust=Trust(remedy="parse_agent(text, game, trust=evallearn.FULL_TRUST) allows it"))


def _no_text(what: object) -> SpecError:
    """Return the error for an agent that is neither an agent nor a text."""
    if isinstance(what, Evaluator):
        return SpecError(f"{what!r} is an evaluator, no agent: write SearchAgent(game, evaluator, Limits(depth=4))")
    remedy = ": a function is wrapped twice, SearchAgent(game, FunctionEval(game, function))" if callable(what) else ""
    return SpecError(f"a {type(what).__name__} is no agent: give an Agent, or a text such as 'random'{remedy}")


def parse_agent(text: str, game: Game, limits: Limits | None = None, *, trust: Trust = NO_TRUST) -> Agent:
    """Return the agent that `text` describes; `limits` where it names none, or else a depth that suits the game.

    Its name describes it too: parse_agent(agent.name, game, trust=trust) is the same agent. Programs, files and
    gnubg need FULL_TRUST.
    """
    if not isinstance(text, str):
        raise _no_text(text)
    what, own = split_limits(text)
    kind, colon, rest = what.partition(":")
    if what == "random":
        return RandomAgent(game)
    if kind in ENGINES and colon:
        trust.require_program(text)
        return _engine(kind, rest, game, own, limits)
    if search_of(what) is not None:
        return _search_agent(what, game, own or limits, trust)
    limits = own or limits or default_limits(game)
    return SearchAgent(game, _evaluator(what, game, trust), limits, name=f"{what}@{limits}")


def search_of(text: str) -> str | None:
    """Return the search that the description of an agent names, if it names one."""
    name = text.partition("@")[0].partition(":")[0].partition(",")[0]
    return name if name in SEARCHES else None


def split_limits(text: str) -> tuple[str, Limits | None]:
    """Return what stands before the last @, and the limits after it; None if there are none."""
    what, _, after = text.rpartition("@")
    if not what or "=" not in after:  # an @ may well be part of a path
        return text, None
    return what, parse_limits(after)


def _engine(kind: str, text: str, game: Game, own: Limits | None, given: Limits | None) -> EngineAgent:
    """Return `PROGRAM arguments,OPTION=VALUE` as an agent; GTP gets no default limits: it cannot obey them."""
    command, parts = trailing_options(text)
    limits = own if kind == "gtp" else own or given
    return ENGINES[kind](game, command.strip(), limits, read_options(parts, f"{kind}:{command}"))


def _search_agent(what: str, game: Game, limits: Limits | None, trust: Trust) -> Agent:
    """Return `SEARCH,OPTION=VALUE:EVAL` as an agent."""
    head, _, evaluator = what.partition(":")
    search, *parts = head.split(",")
    settings = search_settings(search, parts)
    limits = limits or default_limits(game, search)
    name = f"{what}@{limits}"
    if needs_eval(search) and not evaluator:
        raise SpecError(f"agent {what!r}: {search} needs an evaluator: write {head}:zero or {head}:handwritten:NAME")
    if not evaluator:
        return PlayoutAgent(game, search, limits, settings, name)
    return SearchAgent(game, _evaluator(evaluator, game, trust), limits, name=name, search=search, settings=settings)


def _evaluator(text: str, game: Game, trust: Trust) -> Evaluator:
    """Return an evaluator for an agent, which may know nothing of a game without features."""
    others = ("random", *SEARCHES)
    return zero_evaluator(game) if text == "zero" else parse_evaluator(text, game, others, trust=trust)


# --- evaluators ------------------------------------------------------------------------------------------------------
def parse_evaluator(text: str, game: Game, others: tuple[str, ...] = (), *, trust: Trust = NO_TRUST) -> Evaluator:
    """Return the evaluator that `text` names.

    It is zero, handwritten:NAME, zoo:NAME, solved:EVAL, bounded:EVAL, gnubg:PLIES, or a file.

    `others` are suggested too. Files and gnubg need FULL_TRUST.
    """
    kind, colon, name = text.partition(":")
    if text == "zero":
        return LinearEval.zero(game)
    if kind == "handwritten" and colon:
        return heuristic(game, name)
    if kind == "solved" and colon:
        return SolvedEval(_below(kind, name, game, trust))
    if kind == "bounded" and colon:
        return BoundedEval(_below(kind, name, game, trust))
    if kind == "gnubg" and colon:
        trust.require_module(text, "gnubg_nn")
        return parse_gnubg(name, game)
    if kind == "zoo" and colon:
        return load_evaluator(zoo_file(name, game.name), game)
    if Path(text).suffix == ".safetensors" or (trust.may_open(text) and os.path.exists(text)):
        trust.require_file(text)
        return load_evaluator(text, game)
    raise _unknown(text, game, others)


def _below(layer: str, text: str, game: Game, trust: Trust) -> Evaluator:
    """Return the evaluator that `solved:` or `bounded:` is put upon."""
    if layer in text.split(":")[:2]:  # a text from a file may say it ten thousand times
        raise SpecError(f"evaluator {f'{layer}:{text}'[:60]!r}: write {layer}: once")
    return parse_evaluator(text, game, trust=trust)


def _unknown(text: str, game: Game, others: tuple[str, ...]) -> SpecError:
    known = [
        *others,
        "zero",
        *(f"handwritten:{h}" for h in game.heuristics),
        *(f"zoo:{z}" for z in zoo_names(game.name)),
    ]
    if not others:
        return SpecError(f"{unknown('evaluator', text, known)}, or the path of a .safetensors file")
    return SpecError(f"{unknown('agent', text, known, _corrected(text))}, {FORMS}")


def _corrected(text: str) -> list[str]:
    """Spell the search or the protocol right with which the text begins: mcts:zero for mtcs:zero."""
    kind = text.partition(":")[0].partition(",")[0]
    return [near + text[len(kind) :] for near in get_close_matches(kind, [*SEARCHES, *ENGINES], n=1, cutoff=0.5)]


def zero_evaluator(game: Game) -> Evaluator:
    """Return the evaluator that knows nothing, also for a game without features: the middle of what can be won."""
    if game.feature_names:
        return LinearEval.zero(game)
    evaluator = FunctionEval(game, partial(_constant, sum(game.utility_range) / 2))
    evaluator.name = "zero"
    return evaluator


def _constant(value: float, s: State, player: int) -> float:
    return value
