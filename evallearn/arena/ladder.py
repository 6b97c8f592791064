"""All known evaluators of a game in one rating list: it shows whether the learned one beats the hand-written ones."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path

from evallearn.agents import Agent, SearchAgent, parse_agent
from evallearn.arena.journal import identity
from evallearn.arena.ratings import Rating
from evallearn.arena.tournament import kind_of
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.core.trust import is_inside
from evallearn.errors import EvallearnError
from evallearn.evaluators import load_evaluator, read_header, zoo_names

EARLIER = re.compile(r"-\d+$")
"""The names that `learn` gives to the evaluators of its earlier generations."""
SIMULATIONS = 500
"""Of the Monte Carlo search that takes part: what search is worth without any evaluator."""
log = logging.getLogger(__name__)


def known_agents(game: Game, limits: Limits, runs: Path) -> dict[str, Agent]:
    """Return {name: agent}: all that there is to compare in this game.

    These are random play, every heuristic, every learned evaluator of the zoo and of `runs`, and search without one.
    """
    named = ["random", "zero", *(f"handwritten:{h}" for h in game.heuristics)]
    named += [f"zoo:{name}" for name in zoo_names(game.name)]
    agents = [parse_agent(text, game, limits) for text in named]
    agents += [learned(path, game, limits) for path in learned_files(game, runs)]
    agents += [parse_agent(f"mcts@nodes={SIMULATIONS}", game)]
    found: dict[str, Agent] = {}
    for agent in agents:
        found.setdefault(identity(agent).rpartition("#")[2] or agent.name, agent)  # a copy of a file is not new
    return {agent.name: agent for agent in found.values()}


def learned(path: Path, game: Game, limits: Limits) -> Agent:
    """Return the evaluator of the file as an agent.

    Not by `parse_agent`: a path such as `cmd:PROGRAM/x.safetensors` would start a program. Its name begins with `./`,
    so that it starts none wherever it is read.
    """
    text = os.path.join(os.curdir, path) if ":" in path.parts[0] and not path.is_absolute() else str(path)
    return SearchAgent(game, load_evaluator(path, game), limits, name=f"{text}@{limits}")


def learned_files(game: Game, runs: Path) -> list[Path]:
    """Return the evaluator files of this game in `runs`, but for those of earlier generations; log damaged ones."""
    found = []
    for path in sorted(runs.rglob("*.safetensors")):
        if EARLIER.search(path.stem):
            continue
        if not is_inside(path, runs):
            log.info("left out: %s is a link to a file outside of %s: name it as an agent of your own", path, runs)
            continue
        try:
            header = read_header(path)
        except EvallearnError as error:
            log.info("left out: %s", error)
            continue
        if header["game"] == game.name:
            found.append(path)
    return found


def answer(ratings: Sequence[Rating]) -> str:
    """Say in one sentence how learned compares with hand-written; ratings: the strongest first."""
    best = {kind: next((r for r in ratings if kind_of(r.name) == kind), None) for kind in ("learned", "handwritten")}
    learned, by_hand = best["learned"], best["handwritten"]
    if learned is None or by_hand is None:
        what = "learned evaluator" if learned is None else "hand-written heuristic"
        return f"No {what} takes part: {'evallearn learn makes some' if learned is None else 'the game has none'}."
    elo, low, high = (x - by_hand.elo for x in (learned.elo, learned.low, learned.high))
    sure = f"{elo:+.0f} Elo (95 %: {low:+.0f} to {high:+.0f})"
    if low > 0:
        return f"Learned beats hand-written: {learned.name} is {sure} over {by_hand.name}."
    if high < 0:
        return f"Hand-written is still ahead: {learned.name} is {sure} against {by_hand.name}."
    return f"Learned and hand-written cannot be told apart: {learned.name} is {sure} against {by_hand.name}."
