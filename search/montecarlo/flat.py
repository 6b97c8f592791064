"""Flat Monte Carlo: every action is as good as random playouts from it come out. The simplest sampled search."""

from __future__ import annotations

from time import perf_counter

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S, State
from evallearn.core.rng import SplitMix64
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import require_decision, require_own_eval
from evallearn.search.montecarlo.playouts import Playouts, playout_plies, require_simulations
from evallearn.search.montecarlo.result import Counts, SampledAction, answer, best_mean


class FlatMonteCarlo(Search[S, A]):
    """Random playouts of the root's actions in turn, so that each has as many as the others, or one more.

    For any number of players, with or without chance. The value of an action is the mean result to the player who
    moves, and nothing is proven: the others are taken to play at random too. The same seed gives the same answer on
    both backends; no seed means seed 0. Limits: nodes (playouts), seconds, or both; a depth changes nothing.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S] | None = None,
        *,
        playout_depth: int | None = None,
        backend: Backend = "auto",
    ) -> None:
        """playout_depth: plies (rolls count) after which the evaluator answers; None plays to the end.

        A playout that is longer than rules.max_plies (10,000 plies without rules) is cut in any case: the evaluator
        answers, or, without one, the middle of the utility range.
        """
        if evaluator is not None:
            require_own_eval(game, evaluator)
        self.game, self.evaluator = game, evaluator
        plies = playout_plies(game, evaluator, playout_depth)
        kernel = eval_kernel(game, evaluator, backend)
        self.backend: Backend = "python" if kernel is None else "compiled"
        self._search: PlainFlat | CompiledFlat
        if kernel is None:
            self._search = PlainFlat(game, evaluator, plies)
        else:
            from evallearn.search.montecarlo.playouts_compiled import CompiledFlat

            self._search = CompiledFlat(game, kernel, plies)

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Playouts until a limit strikes. Visits and action values come with the result, asked for or not."""
        start = perf_counter()
        require_simulations(limits, "flat monte carlo")
        found, interrupted = self._search.sample(s, limits, seed, start)
        done = sum(f.visits for f in found)
        return answer(
            self.game,
            s,
            found,
            Counts(done, done, 1, perf_counter() - start),
            seed=seed,
            choice=best_mean,
            line_after=lambda action: (),
            proven=False,
            evaluator=self.evaluator,
            interrupted=interrupted,
        )


class PlainFlat:
    """On the Python backend."""

    def __init__(self, game: Game, evaluator: Evaluator | None, plies: int) -> None:
        self.game, self.playouts = game, Playouts(game, evaluator, plies)

    def sample(self, s: State, limits: Limits, seed: int | None, start: float) -> tuple[list[SampledAction], bool]:
        """Return what the playouts said of each action, and whether Ctrl-C ended them."""
        require_decision(self.game, s)
        player, actions, rng = self.game.to_play(s), self.game.actions(s), SplitMix64(seed)
        values: list[list[float]] = [[] for _ in actions]
        done, interrupted = 0, False
        try:
            while limits.nodes is None or done < limits.nodes:
                if limits.seconds is not None and perf_counter() - start >= limits.seconds:
                    break
                i = done % len(actions)
                t = self.game.result(s, actions[i])
                ended = self.game.is_terminal(t)
                values[i].append((self.playouts.end(t) if ended else self.playouts(t, rng))[player])
                done += 1
        except KeyboardInterrupt:
            interrupted = True
        return [
            SampledAction(a, len(v), sum(v), sum(x * x for x in v)) for a, v in zip(actions, values, strict=True)
        ], interrupted
