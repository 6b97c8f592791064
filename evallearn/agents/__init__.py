"""Agents: who plays. A random one, a search with an evaluator, or a program; each can be written as a short text."""

from evallearn.agents.base import DEFAULT_LIMITS as DEFAULT_LIMITS
from evallearn.agents.base import Agent as Agent
from evallearn.agents.base import PlayoutAgent as PlayoutAgent
from evallearn.agents.base import RandomAgent as RandomAgent
from evallearn.agents.base import SearchAgent as SearchAgent
from evallearn.agents.base import default_limits as default_limits
from evallearn.agents.cmd import CmdAgent as CmdAgent
from evallearn.agents.describe import as_agent as as_agent
from evallearn.agents.describe import parse_agent as parse_agent
from evallearn.agents.describe import parse_evaluator as parse_evaluator
from evallearn.agents.describe import parse_limits as parse_limits
from evallearn.agents.describe import search_of as search_of
from evallearn.agents.describe import split_limits as split_limits
from evallearn.agents.describe import zero_evaluator as zero_evaluator
from evallearn.agents.engine import EngineAgent as EngineAgent
from evallearn.agents.gtp import GtpAgent as GtpAgent
