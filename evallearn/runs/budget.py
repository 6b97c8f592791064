"""Choose the numbers of a run that suit the speed of the game, so that it ends in time.

That is within the minutes that were given, or within ten where the game has no compiled rules.
Plain Python searches about 100 times fewer positions than compiled rules do, and games differ by more than that. So the
settings in SCALED that are not given follow from a measurement: the deepest search with which a fair part of the usual
games fits the time; where not even depth 1 allows that, fewer games, then fewer generations. Nothing but this choice
depends on the machine. It is kept in run.json, and a run whose numbers are given is the same to the byte.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evallearn.agents import default_limits
from evallearn.arena.seating import seatings
from evallearn.core.game import Game
from evallearn.core.json_shapes import ALL, has_shape
from evallearn.errors import DataError, SpecError
from evallearn.runs.recipe import Recipe
from evallearn.runs.run import RUN, check_learnable, learn_command, read_run
from evallearn.runs.speed import FIRST_GAME_SECONDS, GameSpeed, measure_together
from evallearn.runs.stage_settings import Fit, Gate, Generate, Ladder, Played

HOW_TO_COMPILE = "examples/domineering_compiled.py shows how, games/README.md tells more"
SECONDS = 600.0
"""A run may take so long unless its numbers are given."""
PLANNED = 0.6
"""The part of it that is planned: an estimate may be wrong, and other programs may want the cores."""
START_SECONDS = 15.0
"""Of a run besides games: processes, imports, fits, the page."""
RECORD_SECONDS = 1e-4
"""Of fitting and measuring, for each record."""
FAIR_SHARE = 0.05
"""Of the usual games and openings: with fewer of them a shallower search is better."""
FEWEST_GAMES = 100
"""Fewer teach next to nothing."""
LEAST_SHARE = 1 / 120
"""Of the usual games and openings: the fewest games, of 12,000."""
SHARES = tuple(LEAST_SHARE ** (i / 100) for i in range(101))
"""From 1 down to LEAST_SHARE."""


SCALED = {Generate: ("games", "depth"), Gate: ("generations", "pairs", "depth"),
          Ladder: ("pairs", "depth", "milliseconds")}  # fmt: skip
"""What suits the speed of a game, by kind of settings."""
Measured = Mapping[str, Any]
"""For run.json: what was measured, what was `chosen` by it, and about how many `seconds` the run takes."""


def choose(game: Game, folder: Path, recipe: Recipe, seed: int, workers: int) -> tuple[Recipe, Measured | None]:
    """Choose the settings in SCALED that are not given, where the time is short; return what was measured, too.

    A folder that holds a run goes on with what was chosen for it. Raises SpecError where not even the least run fits,
    unless some numbers are given.
    """
    minutes, every = recipe.given.get("minutes"), scaled_fields(recipe)
    free = [key for key in every if key not in recipe.touched]
    if not free or not any(isinstance(stage, Generate) for stage in recipe.stages):
        return recipe, None
    if game.rules is not None and minutes is None:
        return recipe, None
    stored = read_run(folder)
    if stored is not None:
        return _chosen_before(folder, stored, recipe, free)
    check_learnable(game, recipe)
    seconds = SECONDS if minutes is None else 60 * minutes * _recorded_share(recipe)
    workers, planned = min(workers, os.cpu_count() or 1), PLANNED * seconds
    usual = _usual(game, recipe, free)
    most = max(_ending(usual, every, ".depth").values(), default=1)
    fewest = sum(_games(game, _scaled(usual, free, FAIR_SHARE)))
    speed = measure_together(workers, game, most, game.opening_plies, enough=planned * workers / fewest)
    found = fit_into(game, usual, free, speed, workers, planned)
    if found is None:
        *_, found = _candidates(usual, free, speed)
        if len(free) == len(every) or math.isinf(speed.moves):  # nothing was asked for that takes so long
            raise _too_slow(game, found, numbers(found, free), seed, speed, workers)
    took = estimate(game, found, speed, workers)
    chosen = numbers(found, free)
    return found, {"chosen": chosen, "seconds": took, "workers": workers, "speed": asdict(speed)}


def scaled_fields(recipe: Recipe) -> list[str]:
    """Return the settings in SCALED, as NUMBER.FIELD."""
    parts = [(str(i), stage) for i, stage in enumerate(recipe.stages)]
    if recipe.ladder.pairs:
        parts.append(("ladder", recipe.ladder))  # type: ignore[arg-type]  # no stage, but settings
    found = [f"{name}.{key}" for name, part in parts for key in SCALED.get(type(part), ())]
    return [key for key in found if not (key.endswith(".depth") and _has_nodes(recipe, key))]


def _has_nodes(recipe: Recipe, key: str) -> bool:
    number = key.partition(".")[0]
    return number != "ladder" and getattr(recipe.stages[int(number)], "nodes", None) is not None


def numbers(recipe: Recipe, keys: Collection[str]) -> dict[str, Any]:
    """Return the values of settings that are named as NUMBER.FIELD."""
    found = {}
    for key in keys:
        number, _, name = key.partition(".")
        found[key] = getattr(recipe.ladder if number == "ladder" else recipe.stages[int(number)], name)
    return found


def _recorded_share(recipe: Recipe) -> float:
    """Return the part of the time that belongs to stages that keep records."""
    shares = [(stage.share, isinstance(stage, Generate)) for stage in recipe.stages if isinstance(stage, Played)]
    return sum(share for share, records in shares if records) / sum(share for share, _ in shares)


def _chosen_before(
    folder: Path, stored: Mapping[str, Any], recipe: Recipe, free: Sequence[str]
) -> tuple[Recipe, Measured | None]:
    """Return the choice that the folder's run was begun with; none if its numbers were given."""
    measured = stored.get("measured")
    if measured is None:
        return recipe, None
    if not _is_whole(measured, scaled_fields(recipe)):
        raise DataError(f"{folder / RUN} is damaged: remove the folder {folder}, or choose another --run")
    return recipe.changed({k: v for k, v in measured["chosen"].items() if k in free}), measured


def _is_whole(measured: Any, known: Collection[str]) -> bool:
    """Return True if run.json has what `planned` and `_chosen_before` need."""
    shape = {"seconds": float, "workers": int, "speed": {"positions_per_second": float}, "chosen": {ALL: float}}
    return has_shape(measured, shape) and all(
        key in known and (type(value) is int or key == "ladder.milliseconds")
        for key, value in measured["chosen"].items()
    )


def _usual(game: Game, recipe: Recipe, free: Sequence[str]) -> Recipe:
    """Return the recipe with depths as numbers; with more than two players, fewer openings for as many games."""
    depth, seats = default_limits(game).depth, len(seatings(game.n_players))
    changes = {key: value or depth for key, value in _ending(recipe, scaled_fields(recipe), ".depth").items()}
    changes |= {key: max(1, 2 * value // seats) for key, value in _ending(recipe, free, ".pairs").items()}
    return recipe.changed(changes)


def _ending(recipe: Recipe, keys: Collection[str], end: str) -> dict[str, Any]:
    return {key: value for key, value in numbers(recipe, keys).items() if key.endswith(end)}


# --- how long a run takes --------------------------------------------------------------------------------------------
def estimate(game: Game, recipe: Recipe, speed: GameSpeed, workers: int) -> float:
    """Estimate about how many seconds the run takes, without stages of self-play that keep no records."""
    played, records, depth = 0.0, 0.0, recipe.ladder.depth or 1
    for games, stage in _of_stages(game, recipe):
        if isinstance(stage, Generate):
            by_nodes = speed.moves * (speed.move_seconds + (stage.nodes or 0) / speed.positions_per_second)
            played += games * (speed.game_seconds(stage.depth or 1) if stage.nodes is None else by_nodes)
            records += games * speed.moves
        else:
            played += games * speed.match_seconds(stage.depth or 1)
    matches, neural, timed = _of_ladder(game, recipe)
    played += matches * speed.match_seconds(depth) + neural * speed.neural_match_seconds(depth)
    played += timed * speed.timed_match_seconds(recipe.ladder.milliseconds / 1000)
    return START_SECONDS + RECORD_SECONDS * records + played / workers


def _of_stages(game: Game, recipe: Recipe) -> list[tuple[int, Generate | Gate]]:
    """Return how many games each stage plays, in all generations."""
    found: list[tuple[int, Generate | Gate]] = []
    for block, gate in recipe.loops():
        times = gate.generations if gate else 1
        found += [(times * stage.games, stage) for _, stage in block if isinstance(stage, Generate)]
        if gate:
            found.append((times * gate.pairs * len(seatings(game.n_players)), gate))
    return found


def _of_ladder(game: Game, recipe: Recipe) -> tuple[int, int, int]:
    """Count the games in matches at equal depth, in those of the neural evaluator, and in those at equal time."""
    pairs, per_opening = recipe.ladder.pairs, len(seatings(game.n_players))
    if not pairs:
        return 0, 0, 0
    heuristics, fifth = max(1, len(game.baselines)), max(1, pairs // 5)
    best = heuristics - 1 + max(0, heuristics - 2)  # to find it, and to play it against those it did not meet
    candidates = sum(gate.generations for _, gate in recipe.loops() if gate)
    kinds = [stage.kind for stage in recipe.stages if isinstance(stage, Fit)]
    neural, learned = "neural" in kinds, len({*kinds})
    matches = (best + (candidates or "linear" in kinds)) * pairs + fifth
    return matches * per_opening, neural * pairs * per_opening, learned * fifth * per_opening


def _games(game: Game, recipe: Recipe) -> tuple[int, ...]:
    """Count the games of each stage, and those of the ladder."""
    return (*(games for games, _ in _of_stages(game, recipe)), *_of_ladder(game, recipe))


# --- the choice ------------------------------------------------------------------------------------------------------
def fit_into(
    game: Game, usual: Recipe, free: Collection[str], speed: GameSpeed, workers: int, seconds: float
) -> Recipe | None:
    """Return the first of `_candidates` that takes no longer than `seconds`; None if none does."""
    for recipe in _candidates(usual, free, speed):
        if estimate(game, recipe, speed, workers) <= seconds:
            return recipe
    return None


def _candidates(usual: Recipe, free: Collection[str], speed: GameSpeed) -> Iterator[Recipe]:
    """Yield recipes from the best to the least."""
    for depth in range(speed.depth, 0, -1):
        deep = _at_depth(usual, free, depth, speed)
        yield from (_scaled(deep, free, share) for share in SHARES if share >= FAIR_SHARE)
    least, rounds = _at_depth(usual, free, 1, speed), _ending(usual, free, ".generations")
    for generations in range(max(rounds.values(), default=1), 0, -1):
        fewer = least.changed({key: min(generations, value) for key, value in rounds.items()})
        yield from (_scaled(fewer, free, share) for share in SHARES)


def _at_depth(usual: Recipe, free: Collection[str], depth: int, speed: GameSpeed) -> Recipe:
    """Limit the searches to that depth, and those at equal time to as long as such a search takes."""
    recipe = usual.changed({key: min(depth, value) for key, value in _ending(usual, free, ".depth").items()})
    if "ladder.milliseconds" in free:
        took = 1000 * speed.search_seconds[min(recipe.ladder.depth or 1, speed.depth) - 1]
        recipe = recipe.changed({"ladder.milliseconds": max(usual.ladder.milliseconds, _rounded(took))})
    return recipe


def _scaled(recipe: Recipe, free: Collection[str], share: float) -> Recipe:
    """Return the recipe with this share of the games and openings."""
    games = {k: max(FEWEST_GAMES, int(_rounded(v * share))) for k, v in _ending(recipe, free, ".games").items()}
    pairs = {k: max(1, int(_rounded(v * share))) for k, v in _ending(recipe, free, ".pairs").items()}
    return recipe.changed(games | pairs)


def _rounded(x: float) -> float:
    """Round down to two digits."""
    unit = 10.0 ** (math.floor(math.log10(x)) - 1) if x > 0 else 1.0
    return round(math.floor(x / unit + 1e-9) * unit, 6)


def _too_slow(
    game: Game, least: Recipe, chosen: Mapping[str, Any], seed: int, speed: GameSpeed, workers: int
) -> SpecError:
    if math.isinf(speed.moves):
        what = f"no game of {game.name} ended within {FIRST_GAME_SECONDS:g} seconds of searches of depth 1"
    else:
        minutes = estimate(game, least, speed, workers) / 60
        game_seconds = speed.game_seconds(1)
        what = (
            f"a game of {game.name} takes {game_seconds:.2g} seconds by searches of depth 1, the least run about "
            f"{minutes:.0f} minutes"
        )
    slow = f"make its rules and features faster, compile them ({HOW_TO_COMPILE})"
    return SpecError(
        f"{what}: {slow if game.rules is None else 'give more minutes'}, or give the numbers yourself, "
        f"and nothing is measured: {learn_command(game, least, seed, chosen)}"
    )
