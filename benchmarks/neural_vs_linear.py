"""Learned nets against learned linear evaluators at equal time per move: Othello, Connect Four, checkers, chess.

    python benchmarks/neural_vs_linear.py GAME [--time-ms 10] [--pairs 100] [--run runs/neural_vs_linear]

1. Short runs: a net by each target (td without searches; td, tdleaf, rootstrap, treestrap with searches of depth 2),
   about as long as each other. It sees the game's named features; in Othello and Connect Four another one sees the
   squares, inputs of 0 or 1.
2. Each plays the zoo's linear evaluator at equal nodes. The best learns anew, `LONG` times as long.
3. That net plays as it is, or quantised with the sums of its first layer kept from position to position (NNUE),
   whichever searches faster: at equal time per move against the zoo's linear evaluator; the net of features also
   against its pattern tables, where there are some.

What is done is kept in the folder, so that the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

from accumulator import PLIES, on_squares
from strength_command import ended, show

import evallearn
from evallearn import get_game
from evallearn.agents import SearchAgent
from evallearn.arena import MatchResult, MatchSettings, play_match
from evallearn.bench.speed import Contestant, positions
from evallearn.core.evaluator import Evaluator
from evallearn.core.files import write_json
from evallearn.core.game import Game, State
from evallearn.core.search import Limits
from evallearn.evaluators import load_evaluator, save
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.quantised import quantise
from evallearn.train import NetModel, Rounds, Schedule, SelfPlaySettings, SelfPlayTrainer

HOW = (("td", 1), ("td", 2), ("tdleaf", 2), ("rootstrap", 2), ("treestrap", 2))
"""Targets, and how deep their searches look."""
# game: (games of a short run by each of these, about 20 core seconds; units)
PLAN: dict[str, tuple[tuple[int, ...], int]] = {
    "connect_four": ((70000, 50000, 50000, 50000, 18000), 32),
    "othello": ((20000, 12000, 12000, 12000, 5000), 32),
    "checkers": ((10000, 5000, 4000, 5000, 2500), 16),
    "chess": ((2500, 300, 300, 300, 240), 16),
}
SQUARES = ("connect_four", "othello")
"""Games whose boards a net may see square by square."""
LONG = 4
TRIAL_NODES, TRIAL_PAIRS, SPEED_NODES = 1000, 50, 20000


def seen(name: str, view: str) -> Game:
    """The game as a net is to see it."""
    game = get_game(name)
    return on_squares(type(game))() if view == "squares" else game


def learn(name: str, view: str, how: tuple[str, int], games: int, folder: Path) -> NetEval:
    """A net, from random weights; kept in a file."""
    path, game = folder / f"{name}-{view}-{how[0]}-{how[1]}-{games}.safetensors", seen(name, view)
    if path.exists():
        kept = load_evaluator(path, game)
        assert isinstance(kept, NetEval)
        return kept
    _, units = PLAN[name]
    start = time.process_time()
    settings = SelfPlaySettings(
        target=how[0], depth=how[1], schedule=Schedule(shape="cosine", games=games, final=0.05),
        rounds=Rounds(games=max(20, games // 50)),
    )  # fmt: skip
    model = NetModel(game, hidden=(units,), activation="clipped" if view == "squares" else "relu")
    training = SelfPlayTrainer(model, settings, threads=1).fit(games=games)
    seconds = time.process_time() - start
    print(f"{name} {view} {how[0]} {how[1]}: {games} games, {training.moves:,} positions, {seconds:.0f} core seconds, "
          f"loss {training.progress.error:.4f}", flush=True)  # fmt: skip
    net = training.freeze({"core_seconds": seconds})
    assert isinstance(net, NetEval)
    save(net, path)
    return net


def agent(name: str, evaluator: Evaluator, called: str, limits: Limits) -> SearchAgent:
    """Of the game `name`, whatever its evaluator sees of it."""
    return SearchAgent(get_game(name), evaluator, limits, name=called)


def trial(name: str, view: str, how: tuple[str, int], games: int, folder: Path) -> float:
    """The score of a short run against the linear evaluator, at equal nodes."""
    path = folder / f"{name}-{view}-{how[0]}-{how[1]}-{games}.json"
    if path.exists():
        return float(json.loads(path.read_text())["score"])
    net, limits = learn(name, view, how, games, folder), Limits(nodes=TRIAL_NODES)
    found = play_match(
        get_game(name),
        agent(name, net, f"{view} {how[0]} {how[1]}", limits),
        agent(name, evallearn.load(f"{name}/linear"), "linear", limits),
        MatchSettings(pairs=TRIAL_PAIRS),
    )
    show(found)
    write_json(path, {"score": found.score, "elo": found.elo.elo})
    return found.score


def quicker(name: str, net: NetEval) -> tuple[Evaluator, str]:
    """The net, or the same in whole numbers: which searches more nodes in a second of a core?"""
    states = [s for s, _ in positions(get_game(name), PLIES)]
    found: dict[str, tuple[float, Evaluator]] = {}
    for what, evaluator in (("float", net), ("kept sums", quantise(net))):
        player = agent(name, evaluator, what, Limits(nodes=SPEED_NODES))
        player.prepare()
        tried = Contestant(partial(searched, player, states))
        for _ in range(3):
            tried.round()
        found[what] = tried.nodes / tried.seconds, evaluator
    print("  " + ", ".join(f"{what} {speed / 1e6:.2f} M nodes/s" for what, (speed, _) in found.items()), flush=True)
    best = max(found, key=lambda what: found[what][0])
    return found[best][1], best


def searched(player: SearchAgent, states: list[State]) -> int:
    return sum(player.choose(s, 1).nodes for s in states)


def matched(name: str, net: Evaluator, what: str, rival: str, asked: argparse.Namespace) -> MatchResult:
    limits = Limits(seconds=asked.time_ms / 1000)
    found = play_match(
        get_game(name),
        agent(name, net, what, limits),
        agent(name, evallearn.load(f"{name}/{rival}"), rival, limits),
        MatchSettings(pairs=asked.pairs, seed=2),
        folder=asked.run / f"{name}-{what.replace(' ', '-')}-{rival}-{asked.time_ms}ms",
    )
    show(found)
    nodes, seconds = found.nodes_per_move, found.seconds_per_move
    spent = " and ".join(f"{1000 * each:.1f}" for each in seconds)
    print(f"  nodes per move {nodes[0]:,.0f} and {nodes[1]:,.0f}, in {spent} ms", flush=True)
    return found


def compare(asked: argparse.Namespace) -> None:
    name, folder = asked.game, asked.run
    folder.mkdir(parents=True, exist_ok=True)
    games = dict(zip(HOW, PLAN[name][0], strict=True))
    for view in asked.views if name in SQUARES else ("features",):
        tried = {how: trial(name, view, how, games[how], folder) for how in HOW}
        best = max(tried, key=lambda how: tried[how])
        net = learn(name, view, best, LONG * games[best], folder)
        quick, kind = quicker(name, net)
        for rival in ("linear", "patterns") if name in SQUARES and view == "features" else ("linear",):
            matched(name, quick, f"{view} {best[0]} {best[1]} {kind}", rival, asked)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=list(PLAN))
    parser.add_argument("--time-ms", type=float, default=10.0, help="of each move")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--views", nargs="+", choices=["features", "squares"], default=["features", "squares"])
    parser.add_argument("--run", type=Path, default=Path("runs/neural_vs_linear"))
    asked = parser.parse_args(words)
    return ended(lambda: compare(asked))


if __name__ == "__main__":
    sys.exit(main())
