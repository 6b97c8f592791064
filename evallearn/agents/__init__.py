"""Agents: who plays. A random one, a search with an evaluator, or a program; each can be written as a short text."""

from evallearn.agents.base import DEFAULT_LIMITS, Agent, PlayoutAgent, RandomAgent, SearchAgent, default_limits
from evallearn.agents.cmd import CmdAgent
from evallearn.agents.describe import (
    as_agent,
    parse_agent,
    parse_evaluator,
    parse_limits,
    search_of,
    split_limits,
    zero_evaluator,
)
from evallearn.agents.engine import EngineAgent
from evallearn.agents.gtp import GtpAgent
from evallearn.agents.uci import UciAgent

__all__ = [
    "DEFAULT_LIMITS",
    "Agent",
    "CmdAgent",
    "EngineAgent",
    "GtpAgent",
    "PlayoutAgent",
    "RandomAgent",
    "SearchAgent",
    "UciAgent",
    "as_agent",
    "default_limits",
    "parse_agent",
    "parse_evaluator",
    "parse_limits",
    "search_of",
    "split_limits",
    "zero_evaluator",
]
