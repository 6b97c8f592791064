"""How fast do nets learn and judge backgammon? 198-80-5, one core, CPU time, everything in one run.

    python benchmarks/neural_speed.py

Learning: games against itself per second, everything included (dice, moves, choice by one ply, inputs, learning), by
`SelfPlayTrainer` and by the loop that everybody writes first: torch, one position at a time. That loop gets our own
move generator and inputs through the methods of the game, learns by TD(0) with one step of Adam per move (traces would
cost it more), and begins with the same net, so that games are as long.

Judging: evaluations per second by our kernel, by torch with one position at a time and with many, and by GNU
Backgammon's networks (package gnubg-nn, one call per position, 0 plies), which are larger (250-128-5) and find their
own inputs. torch uses one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

from evallearn import get_game
from evallearn.compiled.game import CompiledGame
from evallearn.compiled.specialise import specialise
from evallearn.core.game import CHANCE
from evallearn.errors import EvallearnError
from evallearn.evaluators.net import NetEval
from evallearn.train import NetModel, SelfPlaySettings, SelfPlayTrainer
from evallearn.train.selfplay.rounds import RoundsLearner

GAME = "backgammon,features=tesauro"
MUST = 50.0
"""Times as many games per second as the torch loop."""
TEMPLATE = Path(__file__).with_name("neural_speed_kernel.py")


def warm_net(hidden: int, games: int) -> NetEval:
    """A net that has learned a little: games of one that knows nothing are three times as long."""
    model = NetModel(get_game(GAME), hidden=(hidden,), per_phase=False)
    SelfPlayTrainer(model, threads=1).fit(games=games)
    return model.evaluator()


def rate(work: Callable[[], int], seconds: float) -> tuple[float, float]:
    """(units of work per second of CPU time, seconds), after one call that does not count."""
    work()
    done, start = 0, process_time()
    while process_time() - start < seconds:
        done += work()
    spent = process_time() - start
    return done / spent, spent


# --- learning --------------------------------------------------------------------------------------------------------
def our_learning(net: NetEval, seconds: float) -> dict[str, Any]:
    learner = SelfPlayTrainer(NetModel(net.game, start=net), threads=1).learner
    learner.learn(1)
    first = learner.games, learner.moves

    def work() -> int:
        before = learner.games
        learner.learn(1)  # a round is the least
        return learner.games - before

    games, spent = rate(work, seconds)
    moves = (learner.moves - first[1]) / (learner.games - first[0])
    return learned(games, moves, spent)


def learned(games: float, moves: float, spent: float) -> dict[str, Any]:
    """games: per second; moves: per game."""
    return {
        "games_per_second": games,
        "moves_per_game": moves,
        "moves_per_second": games * moves,
        "cpu_seconds": spent,
    }


def torch_net(net: NetEval) -> torch.nn.Sequential:
    """The same net in torch."""
    t = {k: torch.from_numpy(v[0]) for k, v in net.tensors().items() if v.ndim > 1}
    model = torch.nn.Sequential(
        torch.nn.Linear(198, net.h1), torch.nn.ReLU(), torch.nn.Linear(net.h1, net.outputs), torch.nn.Sigmoid()
    )
    with torch.no_grad():
        for layer, w, b in ((model[0], "w1", "b1"), (model[2], "w3", "b3")):
            layer.weight.copy_(t[w].T)
            layer.bias.copy_(t[b])
    return model


class TorchLoop:
    """TD(0), one position at a time."""

    def __init__(self, net: NetEval, seed: int = 1) -> None:
        self.game, self.net, self.rng = CompiledGame(net.game), torch_net(net), random.Random(seed)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.levels = torch.tensor(net.levels)
        self.games = self.moves = 0

    def judge(self, s: Any, player: int) -> torch.Tensor:
        """The chances of each result to `player`, without learning."""
        if self.game.is_terminal(s):
            return (self.game.utility(s, player) > (self.levels[:-1] + self.levels[1:]) / 2).float()
        with torch.no_grad():
            y = self.net(self.inputs(s))
        return y if self.game.observer(s) == player else 1 - y.flip(0)

    def inputs(self, s: Any) -> torch.Tensor:
        return torch.tensor(self.game.features(s, self.game.observer(s)), dtype=torch.float32)

    def play(self) -> int:
        """One game; every move teaches the position before its roll."""
        game, s, steps = self.game, self.game.initial(), self.levels.diff()
        while not game.is_terminal(s):
            x, observer = self.inputs(s), game.observer(s)
            if game.to_play(s) == CHANCE:
                outcomes, odds = zip(*game.chances(s), strict=True)
                s = game.result(s, self.rng.choices(outcomes, odds)[0])
            player, best, highest = game.to_play(s), None, -float("inf")
            for after in [game.result(s, a) for a in game.actions(s)]:  # all at once: it finds the moves once
                chances = self.judge(after, player)
                worth = float(steps @ chances)
                if worth > highest:
                    best, highest, following = after, worth, chances
            target = following if player == observer else 1 - following.flip(0)
            self.optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy(self.net(x), target).backward()
            self.optimizer.step()
            s = best
            self.moves += 1
        self.games += 1
        return 1


def torch_learning(net: NetEval, seconds: float) -> dict[str, Any]:
    loop = TorchLoop(net)
    games, spent = rate(loop.play, seconds)
    return learned(games, loop.moves / loop.games, spent)


# --- judging ---------------------------------------------------------------------------------------------------------
def judging(net: NetEval, batch: int, seconds: float) -> dict[str, float]:
    """Evaluations per second, of `batch` different positions of games."""
    words = distinct(net, batch)
    rules = net.game.rules
    assert rules is not None
    kernel: Any = specialise(TEMPLATE, rules, net.kernels(), H1=net.h1)
    box, n = net.params(), len(words)
    out, alone = np.empty((n, net.outputs)), np.empty((n, net.outputs))
    places, values, counts = np.zeros((n, 199), np.int32), np.zeros((n, 199), np.float32), np.zeros(n, np.int64)
    kernel.find(words, box, places, values, counts)

    def whole() -> int:
        kernel.positions(words, box, out)
        return n

    def net_alone() -> int:
        kernel.net_alone(places, values, counts, box, alone)
        return n

    x = np.zeros((n, 198), np.float32)
    for i in range(n):
        x[i, places[i, : counts[i]]] = values[i, : counts[i]]
    model, rows = torch_net(net), torch.from_numpy(x)

    def one_by_one() -> int:
        for row in rows[:256]:
            model(row)
        return min(n, 256)

    def together() -> int:
        model(rows)
        return n

    with torch.inference_mode():
        found = {
            "evallearn, from the position": rate(whole, seconds)[0],
            "evallearn, the net alone": rate(net_alone, seconds)[0],
            "torch, one position at a time": rate(one_by_one, seconds)[0],
            f"torch, {n} positions at a time": rate(together, seconds)[0],
        }
        same = model(rows).numpy()[:, 2]  # the chance to win, which no other output corrects
    assert out.tobytes() == alone.tobytes()
    assert np.abs(out[:, 2] - same).max() < 1e-4
    gnubg = gnubg_rate(net, words)
    return found if gnubg is None else {**found, "GNU Backgammon, 0 plies": gnubg}


def distinct(net: NetEval, n: int) -> np.ndarray:
    """n different positions of games that the net plays against itself."""
    learner = SelfPlayTrainer(NetModel(net.game, start=net), SelfPlaySettings(seed=2), threads=1).learner
    assert isinstance(learner, RoundsLearner)
    words = np.unique(learner.play(net, 0, 2 + n // 20, 0).words, axis=0)
    return np.ascontiguousarray(words[np.random.default_rng(1).permutation(len(words))[:n]])


def gnubg_rate(net: NetEval, words: np.ndarray) -> float | None:
    """Each position once: it remembers what it has judged. None where it is not installed."""
    try:
        from gnubg_nn import probabilities
    except ImportError:
        return None
    states = [net.game.decode([int(w) for w in row]) for row in words]
    boards = [[list(s.opp[1:]), list(s.own[1:])] for s in states]
    probabilities(boards[0], 0)
    start = process_time()
    for board in boards[1:]:
        probabilities(board, 0)
    return (len(boards) - 1) / max(process_time() - start, 1e-9)


# --- the command -----------------------------------------------------------------------------------------------------
def measure(options: argparse.Namespace) -> dict[str, Any]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        net = warm_net(options.hidden, options.warm)
        ours, theirs = our_learning(net, options.seconds), torch_learning(net, options.seconds)
        return {
            "net": f"198-{options.hidden}-5", "load": os.getloadavg()[0], "cores": os.cpu_count(),
            "learning": {"evallearn": ours, "torch loop": theirs},
            "times_as_fast": ours["games_per_second"] / theirs["games_per_second"], "must": MUST,
            "times_as_fast_by_moves": ours["moves_per_second"] / theirs["moves_per_second"],
            "evaluations_per_second": judging(net, options.batch, options.seconds / 4),
        }  # fmt: skip
    finally:
        torch.set_num_threads(threads)


def show(found: dict[str, Any]) -> None:
    print(f"{found['net']}, one core, CPU time; load of the machine {found['load']:.1f} on {found['cores']} cores\n")
    print(f"{'learning':<34}{'games/s':>12}{'moves/s':>12}{'moves/game':>12}")
    for name, row in found["learning"].items():
        print(
            f"{name:<34}{row['games_per_second']:>12,.1f}{row['moves_per_second']:>12,.0f}{row['moves_per_game']:>12.1f}"
        )
    times = f"times as fast (must be {MUST:.0f})"
    print(f"{times:<34}{found['times_as_fast']:>12,.0f}{found['times_as_fast_by_moves']:>12,.0f}\n")
    print(f"{'judging':<34}{'positions/s':>12}")
    for name, value in found["evaluations_per_second"].items():
        print(f"{name:<34}{value:>12,.0f}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of CPU time for each way to learn")
    parser.add_argument("--hidden", type=int, default=80)
    parser.add_argument("--warm", type=int, default=2000, help="games that the net has learned from before")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        found = measure(options)
    except EvallearnError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
