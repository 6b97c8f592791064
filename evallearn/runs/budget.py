"""Choose the numbers of a run that suit the speed of a game without compiled rules, so that it ends within minutes.

Plain Python searches about 100 times fewer positions than compiled rules do, and games differ by more than that. So the
settings in SCALED that are not given follow from a measurement: the deepest search with which a fair part of the usual
games fits the time; where not even depth 1 allows that, fewer games, then fewer generations. Nothing but this choice
depends on the machine. It is kept in run.json, and a run whose numbers are given is the same to the byte.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evallearn.agents import default_limits
from evallearn.arena.seating import seatings
from evallearn.core.game import Game
from evallearn.errors import DataError, SpecError
from evallearn.runs.config import SCALED, LearnConfig, learn_command
from evallearn.runs.run import RUN, check_learnable, read_run
from evallearn.runs.speed import FIRST_GAME_SECONDS, GameSpeed, measure_together

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
LEAST_SHARE = 1 / 120
"""Of the usual games and openings: 100 games, the fewest that LearnConfig takes."""
SHARES = tuple(LEAST_SHARE ** (i / 100) for i in range(101))
"""From 1 down to LEAST_SHARE."""


@dataclass(frozen=True)
class Choice:
    """A configuration that suits the game's speed."""

    config: LearnConfig
    measured: Mapping[str, Any] | None = None
    """For run.json: what was measured, what was `chosen` by it, and about how many `seconds` the run takes."""


def choose_config(
    game: Game, folder: Path, config: LearnConfig, given: Collection[str], workers: int, seconds: float = SECONDS
) -> Choice:
    """Choose the settings in SCALED that are not given, where the game has no compiled rules.

    A folder that holds a run goes on with what was chosen for it. Raises SpecError where not even the least run fits,
    unless some numbers are given.
    """
    free = [name for name in SCALED if name not in given]
    if game.rules is not None or not free:
        return Choice(config)
    stored = read_run(folder)
    if stored is not None:
        return _chosen_before(folder, stored, config, free)
    check_learnable(game, config)
    workers, planned = min(workers, os.cpu_count() or 1), PLANNED * seconds
    usual = _usual(game, config, free)
    most = max(usual.depth or 1, usual.match_depth or 1)
    plies = game.opening_plies if config.random_plies is None else config.random_plies
    speed = measure_together(workers, game, most, plies, enough=planned * workers / _fewest_games(game, usual, free))
    found = fit_into(game, usual, free, speed, workers, planned)
    if found is None:
        *_, found = _candidates(usual, free, speed)
        if len(free) == len(SCALED) or math.isinf(speed.moves):  # nothing was asked for that takes so long
            raise _too_slow(game, found, speed, workers)
    took = estimate(game, found, speed, workers)
    chosen = {name: getattr(found, name) for name in free}
    return Choice(found, {"chosen": chosen, "seconds": took, "workers": workers, "speed": asdict(speed)})


def _chosen_before(folder: Path, stored: Mapping[str, Any], config: LearnConfig, free: Sequence[str]) -> Choice:
    """Return the choice that the folder's run was begun with; none if its numbers were given."""
    measured = stored.get("measured")
    if measured is None:
        return Choice(config)
    if not _is_whole(measured):
        raise DataError(f"{folder / RUN} is damaged: remove the folder {folder}, or choose another --run")
    return Choice(replace(config, **{k: v for k, v in measured["chosen"].items() if k in free}), measured)


def _is_whole(measured: Any) -> bool:
    """Return True if run.json has what `planned` and `_chosen_before` need."""
    try:
        figures = measured["seconds"], measured["workers"], measured["speed"]["positions_per_second"]
        chosen = dict(measured["chosen"])
    except (TypeError, KeyError, ValueError):
        return False
    kinds = {name: float if name == "match_milliseconds" else int for name in SCALED}
    return all(type(x) in (int, float) and math.isfinite(x) for x in figures) and all(
        type(v) is kinds.get(k) for k, v in chosen.items()
    )


def _usual(game: Game, config: LearnConfig, free: Sequence[str]) -> LearnConfig:
    """Return the configuration with depths as numbers; with more than two players, fewer openings for as many games."""
    depth = default_limits(game).depth
    pairs = config.match_pairs
    if "match_pairs" in free:
        pairs = max(1, 2 * pairs // len(seatings(game.n_players)))
    return replace(config, depth=config.depth or depth, match_depth=config.match_depth or depth, match_pairs=pairs)


# --- how long a run takes --------------------------------------------------------------------------------------------
def estimate(game: Game, config: LearnConfig, speed: GameSpeed, workers: int) -> float:
    """Estimate about how many seconds `learn` takes."""
    depth, match_depth = config.depth or 1, config.match_depth or 1
    own, matches, neural, timed = _games(game, config)
    played = (
        own * speed.game_seconds(depth)
        + matches * speed.match_seconds(match_depth)
        + neural * speed.neural_match_seconds(match_depth)
        + timed * speed.timed_match_seconds(config.match_milliseconds / 1000)
    )
    return START_SECONDS + RECORD_SECONDS * own * speed.moves + played / workers


def _games(game: Game, config: LearnConfig) -> tuple[int, int, int, int]:
    """Count the games in self-play, in matches, in those of the neural evaluator, and in those at equal time."""
    heuristics, per_opening = max(1, len(game.baselines)), len(seatings(game.n_players))
    best = heuristics - 1 + max(0, heuristics - 2)  # to find it, and to play it against those it did not meet
    fifth = max(1, config.match_pairs // 5)
    matches = (best + 2 * config.generations) * config.match_pairs + fifth
    return (
        config.generations * config.games,
        matches * per_opening,
        config.match_pairs * per_opening,
        2 * fifth * per_opening,
    )


def _fewest_games(game: Game, usual: LearnConfig, free: Sequence[str]) -> int:
    """Return how many games the least fair share has."""
    return sum(_games(game, _scaled(usual, free, FAIR_SHARE)))


# --- the choice ------------------------------------------------------------------------------------------------------
def fit_into(
    game: Game, usual: LearnConfig, free: Collection[str], speed: GameSpeed, workers: int, seconds: float
) -> LearnConfig | None:
    """Return the first of `_candidates` that takes no longer than `seconds`; None if none does."""
    for config in _candidates(usual, free, speed):
        if estimate(game, config, speed, workers) <= seconds:
            return config
    return None


def _candidates(usual: LearnConfig, free: Collection[str], speed: GameSpeed) -> Iterator[LearnConfig]:
    """Yield configurations from the best to the least."""
    for depth in range(speed.depth, 0, -1):
        deep = _at_depth(usual, free, depth, speed)
        yield from (_scaled(deep, free, share) for share in SHARES if share >= FAIR_SHARE)
    least = _at_depth(usual, free, 1, speed)
    for generations in range(usual.generations, 0, -1) if "generations" in free else [usual.generations]:
        fewer = replace(least, generations=generations)
        yield from (_scaled(fewer, free, share) for share in SHARES)


def _at_depth(usual: LearnConfig, free: Collection[str], depth: int, speed: GameSpeed) -> LearnConfig:
    """Limit the searches to that depth, and those at equal time to as long as such a search takes."""
    changes: dict[str, Any] = {
        name: min(depth, getattr(usual, name)) for name in ("depth", "match_depth") if name in free
    }
    config = replace(usual, **changes)
    if "match_milliseconds" in free:
        took = 1000 * speed.search_seconds[min(config.match_depth or 1, speed.depth) - 1]
        config = replace(config, match_milliseconds=max(usual.match_milliseconds, _rounded(took)))
    return config


def _scaled(config: LearnConfig, free: Collection[str], share: float) -> LearnConfig:
    """Return the configuration with this share of the games and openings."""
    games = max(100, int(_rounded(config.games * share)))
    pairs = max(1, int(_rounded(config.match_pairs * share)))
    config = replace(config, games=games) if "games" in free else config
    return replace(config, match_pairs=pairs) if "match_pairs" in free else config


def _rounded(x: float) -> float:
    """Round down to two digits."""
    unit = 10.0 ** (math.floor(math.log10(x)) - 1) if x > 0 else 1.0
    return round(math.floor(x / unit + 1e-9) * unit, 6)


def _too_slow(game: Game, least: LearnConfig, speed: GameSpeed, workers: int) -> SpecError:
    if math.isinf(speed.moves):
        what = f"no game of {game.name} ended within {FIRST_GAME_SECONDS:g} seconds of searches of depth 1"
    else:
        minutes = estimate(game, least, speed, workers) / 60
        game_seconds = speed.game_seconds(1)
        what = (
            f"a game of {game.name} takes {game_seconds:.2g} seconds by searches of depth 1, the least run about "
            f"{minutes:.0f} minutes"
        )
    return SpecError(
        f"{what}: make its rules and features faster, compile them ({HOW_TO_COMPILE}), or give the numbers yourself, "
        f"and nothing is measured: {learn_command(game, least)}"
    )
