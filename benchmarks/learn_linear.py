"""Learns a linear Eval generation after generation, from what searches say and how games end.

    python benchmarks/learn_linear.py chess --out chess-linear.safetensors --run runs/chess-linear
    python benchmarks/learn_linear.py checkers --out checkers-linear.safetensors --run runs/checkers-linear
    python benchmarks/learn_linear.py 2048 --out 2048-linear.safetensors --run runs/2048-linear
    python benchmarks/learn_linear.py pacman --out pacman-linear.safetensors --run runs/pacman-linear

Checkers begins with an Eval that learns from zero while it plays, by td, the others with a hand-written one. Each
generation then plays with the Eval of the one before, keeps the quiet plies, and fits the records of the last
generations by logistic regression. What is learned is the outcome of the game mixed with the value that the search
saw. The same command and seed make the same weights, on any number of workers; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from strength_command import ended

from evallearn import get_game
from evallearn.agents import SearchAgent, parse_evaluator
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.data import Dataset, SelfPlayConfig, run_selfplay
from evallearn.evaluators import load_evaluator, save_evaluator
from evallearn.runs import fit_evaluator
from evallearn.train import LinearModel, Schedule, SelfPlaySettings, SelfPlayTrainer


@dataclass(frozen=True)
class Plan:
    """What differs between the games."""

    start: str | int
    """Who plays the first generation: an Eval by name, or one that td teaches in so many games."""
    games: tuple[int, ...]
    """Of each generation."""
    limits: Limits
    """Of each move of self-play."""
    random_plies: int
    blend: tuple[float, ...]
    """The share of the outcome in what each generation learns: the search can be trusted more from one to the next."""
    remembered: int
    """So many generations are learned from, the newest included."""
    taper: bool
    """Weights go in a straight line from the opening to the endgame: fewer records are enough for those."""
    exploration: float = 0.02


PLANS = {
    "chess": Plan("handwritten:positional", (2500, 3000, 3500), Limits(nodes=400), 8, (0.2, 0.1, 0.1), 3, True),
    "checkers": Plan(20_000, (3000, 4000), Limits(nodes=300), 6, (0.1, 0.1), 2, False),
    "2048": Plan("handwritten:snake", (300, 400), Limits(depth=2), 0, (0.1, 0.1), 2, False, 0.04),
    "pacman": Plan("handwritten:hunter", (1000,), Limits(nodes=1000), 8, (0.1,), 1, False, 0.05),
}
TD_DEPTH = 3


def beginning(game: Game, plan: Plan, given: argparse.Namespace) -> Evaluator:
    """The Eval whose games teach the first generation."""
    if isinstance(plan.start, str):
        return parse_evaluator(plan.start, game, trust=FULL_TRUST)
    schedule = Schedule(shape="linear", games=plan.start)
    settings = SelfPlaySettings(target="td", depth=TD_DEPTH, seed=given.seed, schedule=schedule)
    given.run.mkdir(parents=True, exist_ok=True)
    trainer = SelfPlayTrainer(LinearModel(game), settings)
    training = trainer.fit(games=plan.start, checkpoint=given.run / "td.checkpoint")
    save_evaluator(training.freeze({"name": f"{game.name}-td"}), given.run / f"{game.name}-td.safetensors")
    print(f"{game.name}-td: {training.games} games, {training.moves} moves", flush=True)
    return load_evaluator(given.run / f"{game.name}-td.safetensors", game)


def generation(game: Game, plan: Plan, number: int, evaluator: Evaluator, given: argparse.Namespace) -> Evaluator:
    """Plays, fits and keeps the Eval of one generation."""
    agent = SearchAgent(game, evaluator, plan.limits, random_ties=True)
    config = SelfPlayConfig(
        games=plan.games[number], seed=given.seed + 1000 * number, random_plies=plan.random_plies,
        exploration=plan.exploration, quiet=True,
    )  # fmt: skip
    folders = [given.run / f"generation-{i}" for i in range(max(0, number + 1 - plan.remembered), number + 1)]
    played = run_selfplay(folders[-1], game, [agent] * game.n_players, config, workers=given.workers)
    name = f"{game.name}-linear" + ("" if number == len(plan.games) - 1 else f"-{number}")
    made = {"name": name, "command": f"python benchmarks/learn_linear.py {game.name} --seed {given.seed}"}
    dataset = Dataset(folders, game=game)
    found, details = fit_evaluator(
        "logistic", dataset, game, seed=given.seed, made=made, taper=plan.taper, target="blend",
        blend=plan.blend[number],
    )  # fmt: skip
    save_evaluator(found, given.run / f"{name}.safetensors")
    loss = details["metrics"]["log_loss"]
    print(f"{name}: {played.games} games, {dataset.n_records} records, held-out log loss {loss:.4f}", flush=True)
    return load_evaluator(given.run / f"{name}.safetensors", game)


def learn(given: argparse.Namespace) -> None:
    """All generations, then the file."""
    game, plan = get_game(given.game), PLANS[given.game]
    evaluator = beginning(game, plan, given)
    for number in range(len(plan.games)):
        evaluator = generation(game, plan, number, evaluator, given)
    save_evaluator(evaluator, given.out)  # type: ignore[arg-type]  # it came from a file


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=PLANS)
    parser.add_argument("--out", type=Path, required=True, help="the .safetensors file to write")
    parser.add_argument("--run", type=Path, required=True, help="folder for records and Evals on the way")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(words)
    return ended(lambda: learn(given))


if __name__ == "__main__":
    sys.exit(main())
