"""What quantised nets gain in alpha-beta, and what of it is owed to the incremental accumulator.

    python benchmarks/accumulator.py [--hidden 64] [--games 2000] [--depth 8]

Nets are trained for a moment on the games' named features, of which most change with every move, and on their squares
(one input for each thing that may stand on a square), of which few do. The same positions are searched with

    float   the net as it was learned
    full    quantised; every sum is added from the start
    kept    quantised; sums are kept, and what changed is added

in turn, one thread, the best of some rounds by CPU time. "full" and "kept" must search the same nodes.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from evallearn.train.neural import NeuralTrainer

from evallearn.bench.speed import Contestant, positions
from evallearn.compiled.specialise import specialise
from evallearn.core.game import Game, State
from evallearn.core.rules import Rules
from evallearn.core.search import Limits
from evallearn.evaluators.quantised import QuantisedNet, quantise
from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.search import AlphaBeta

TEMPLATE = Path(__file__).with_name("squares_kernel.py")
PLIES = (4, 10, 16, 22)
ROUNDS = 5


def on_squares(base: type[Game]) -> type[Game]:
    """The game, seen by a net square by square."""

    class Squares(base):  # type: ignore[misc, valid-type]  # a class that is handed in
        name = f"{base.name},features=squares"
        views: ClassVar[tuple[str, ...]] = ("features",)  # the same game, through other eyes
        feature_names = tuple(f"{c}={v}" for v in range(1, base.cell_values) for c in range(base.n_cells))
        heuristics: dict[str, Any] = {}  # noqa: RUF012  # those of the base weigh other features

        def features(self, s: State, player: int) -> list[float]:
            cells = self.cells(s, player)
            return [float(cell == v) for v in range(1, self.cell_values) for cell in cells]

        @cached_property
        def rules(self) -> Rules:
            rules: Rules = super().rules
            module: Any = specialise(TEMPLATE, rules, N_CELLS=self.n_cells, VALUES=self.cell_values)
            return replace(rules, features_mover=module.features_mover)

    return Squares


class Full(QuantisedNet):
    """Adds everything at every position."""

    incremental = False


def contestants(game: Game, hidden: tuple[int, ...], games: int, depth: int) -> dict[str, Contestant]:
    net = NeuralTrainer(hidden=hidden, threads=1).fit(game, games=games).evaluator()
    kept = quantise(net)
    states = [s for s, _ in positions(game, PLIES)]

    def searching(evaluator: Any) -> Contestant:
        search = AlphaBeta(game, evaluator)
        return Contestant(lambda: sum(search.search(s, Limits(depth=depth)).nodes for s in states))

    return {"float": searching(net), "full": searching(Full(game, kept.tensors())), "kept": searching(kept)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--hidden", type=int, nargs="+", default=[64])
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=8)
    asked = parser.parse_args()
    for base in (Othello, ConnectFour):
        for game in (base(), on_squares(base)()):
            found = contestants(game, tuple(asked.hidden), asked.games, asked.depth)
            for _ in range(ROUNDS):
                for contestant in found.values():
                    contestant.round()
            assert found["full"].nodes == found["kept"].nodes
            speed = {name: c.nodes / c.seconds for name, c in found.items()}
            print(f"{game.name}, {len(game.feature_names)} inputs, {asked.hidden} units, depth {asked.depth}")
            for name, contestant in found.items():
                print(
                    f"  {name:5} {contestant.nodes:>9,} nodes  {speed[name] / 1e6:5.2f} M nodes/s  "
                    f"x {speed[name] / speed['float']:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
