"""What a change of the code's shape must not change: records, fitted weights, tables, matches, values, searches.

`golden.json` holds a digest of each, and some of its numbers. Sums of floating-point numbers run in another order on
another kind of processor: there the numbers of what is fitted are compared, not the digests.
Rewrite it by hand only, and tell why in CHANGELOG.md: EVALLEARN_GOLDEN=write pytest -n 0 tests/test_golden.py
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow.parquet as pq
import pytest
from playing import random_game
from toys import LINES

from evallearn import Limits, get_game, load
from evallearn.agents import parse_agent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.quick_match import quick_match
from evallearn.compiled.game import CompiledGame
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game
from evallearn.core.patterns import PatternSet
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.evaluators import heuristic
from evallearn.evaluators.zoo import zoo_names
from evallearn.registry import game_names
from evallearn.search import SEARCHES
from evallearn.train import LinearFitter
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer

FILE = Path(__file__).with_name("golden.json")
KNOWN: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}


def machine() -> str:
    """What the last bits of a sum may depend on."""
    return (
        f"{platform.machine()} {numba.core.codegen.get_host_cpu_features()} numba {numba.__version__} {np.__version__}"
    )


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def check(name: str, found: np.ndarray | bytes, *, exact: bool = True) -> None:
    """Compare with what is known of `name`, or write it down."""
    data = found if isinstance(found, bytes) else np.ascontiguousarray(found).tobytes()
    some = [] if isinstance(found, bytes) else [float(f"{v:.7g}") for v in np.ravel(found)[:: max(1, found.size // 8)]]
    entry = {"digest": digest(data), "some": some, "machine": "" if exact else digest(machine().encode())}
    if os.environ.get("EVALLEARN_GOLDEN") == "write":
        KNOWN[name] = entry
        FILE.write_text(json.dumps(dict(sorted(KNOWN.items())), indent=1) + "\n")
    known = KNOWN[name]
    assert np.allclose(some, known["some"], rtol=1e-3, atol=1e-5)
    if known["machine"] == entry["machine"]:
        assert entry["digest"] == known["digest"]


# --- records and what is fitted to them ------------------------------------------------------------------------------
RECORDS = {
    "connect_four": ("alphabeta:handwritten:threats@depth=2", 60),
    "othello": ("handwritten:mobility@depth=1", 12),
    "checkers": ("handwritten:positional@nodes=200", 6),
    "chess": ("handwritten:material@nodes=200", 3),
    "backgammon": ("handwritten:race@depth=1", 4),
    "three_player_connect": ("maxn:handwritten:lines@depth=2", 20),
    "matches,piles=3-4-5,k=3": ("random", 100),
    "pig": ("random", 40),
    "pacman": ("random", 10),
    "2048": ("random", 3),
}
"""Both seats, and games."""
METHODS = ("ridge", "logistic", "sgd", "lasso", "elasticnet", "wdl")


def records(folder: Path, game: Game, agent: str, games: int) -> Path:
    agents = [parse_agent(agent, game)] * game.n_players
    generate_records(folder, game, agents, RecordSettings(games=games, seed=5, opening_plies=3))
    return folder


@pytest.mark.parametrize("name", RECORDS)
def test_columns_of_records(name: str, tmp_path: Path) -> None:
    agent, games = RECORDS[name]
    folder = records(tmp_path, get_game(name), agent, games)
    tables = [pq.read_table(path) for path in sorted((folder / "records").glob("*.parquet"))]
    for column in tables[0].column_names:
        found = [value for table in tables for value in table[column].to_pylist()]
        check(f"records/{name}/{column}", repr(found).encode(), exact=column != "value")


@pytest.fixture(scope="module")
def fitted_to(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return records(tmp_path_factory.mktemp("golden"), get_game("connect_four"), *RECORDS["connect_four"])


@pytest.mark.parametrize("method", METHODS)
def test_fitted_weights(method: str, fitted_to: Path) -> None:
    trainer = LinearFitter(method=method).fit(Dataset(fitted_to))
    check(f"fitted/{method}", np.c_[trainer.weights_, trainer.bias_], exact=False)


# --- learning without records ----------------------------------------------------------------------------------------
TABLES: dict[str, tuple[str | PatternSet, int, dict[str, Any]]] = {
    "connect_four/lines": (
        LINES,
        2000,
        {"lambda_": 0.3, "schedule": Schedule(half_life=2, shape="linear", games=9), "max_opening_plies": 0},
    ),
    "connect_four/lines, two learners": (LINES, 2000, {"learners": 2, "merge_every": 500}),
    "othello/straight-3": ("straight-3", 100, {}),
}
"""Patterns, games, settings."""


@pytest.mark.parametrize("name", TABLES)
def test_pattern_tables(name: str) -> None:
    patterns, games, settings = TABLES[name]
    model = PatternModel(get_game(name.partition("/")[0]), patterns)
    SelfPlayTrainer(model, SelfPlaySettings(seed=3, **settings)).fit(games=games)
    check(f"tables/{name}", model.tables(), exact=False)


# --- what evaluators say ---------------------------------------------------------------------------------------------
def positions(game: Game, n: int) -> list[Any]:
    """States of random games, as many of each game's own kind as come up: terminal ones and rolls too."""
    fast, found = CompiledGame(game), []
    for seed in range(n):
        found += [s for s, _ in random_game(fast, seed)]
        if len(found) >= n:
            break
    return found[:n]


def said(evaluator: Evaluator, game: Game, n: int) -> np.ndarray:
    states = positions(game, n)
    return evaluator.evaluate_batch(states, [s % game.n_players for s in range(len(states))])


@pytest.mark.parametrize("name", zoo_names())
def test_values_of_shipped_files(name: str) -> None:
    evaluator = load(name)
    check(f"values/{name}", said(evaluator, evaluator.game, 1000), exact=False)


@pytest.mark.parametrize("name", game_names())
def test_values_of_hand_written_heuristics(name: str) -> None:
    game = get_game(name)
    for which in game.heuristics:
        found = said(heuristic(game, which), game, 200)
        check(f"heuristics/{name}/{which}", found, exact=False)


# --- searches and matches --------------------------------------------------------------------------------------------
LIMITS = {"minimax": Limits(depth=2), "mcts": Limits(nodes=200), "flat": Limits(nodes=200)}
GAMES = {"alphabeta": "othello", "expectiminimax": "backgammon", "paranoid": "three_player_connect"}
GAMES |= dict.fromkeys(("maxn", "bestreply"), "three_player_connect") | dict.fromkeys(
    ("minimax", "mcts", "flat"), "tic_tac_toe"
)


@pytest.mark.parametrize("name", SEARCHES)
def test_what_searches_find(name: str) -> None:
    game = get_game(GAMES[name])
    search = SEARCHES[name](game, heuristic(game, min(game.heuristics)))
    lines = []
    for s in positions(game, 300)[::60]:
        if not game.is_terminal(s) and game.to_play(s) != CHANCE:
            r = search.search(s, LIMITS.get(name, Limits(depth=2)), seed=4)
            lines.append(f"{r.action} {r.value:.5f} {r.depth} {r.nodes} {r.pv} {r.exact} {r.leaf_calls}")
    check(f"searches/{name}", "\n".join(lines).encode())


MATCHES = {
    "connect_four": ("zoo:linear@depth=2", "handwritten:threats@depth=2"),
    "chess": ("zoo:linear@nodes=100", "random"),
    "backgammon": ("handwritten:race@depth=1", "random"),
    "three_player_connect": ("handwritten:lines@depth=1", "random"),
    "pacman": ("handwritten:hungry@depth=1", "random"),
}


@pytest.mark.parametrize("name", MATCHES)
def test_matches_of_a_seed(name: str) -> None:
    game = get_game(name)
    agents = [parse_agent(text, game) for text in MATCHES[name]]
    found = play_match(game, *agents, MatchSettings(pairs=4, seed=7), keep_games=True)
    games = [(g.opening, g.players, g.actions, g.utilities) for g in found.records]
    check(f"matches/{name}", repr((games, found.pair_counts, found.elo, found.nodes)).encode())


def test_quick_matches_of_a_seed() -> None:
    game = get_game("connect_four")
    found = quick_match(load("connect_four/linear"), heuristic(game, "threats"), pairs=50, seed=2, opening_plies=4)
    figures = f"points={found.points!r}, standard_error={found.standard_error!r}, games={found.games!r}"
    check("quick matches/connect_four", f"Meeting({figures})".encode())  # as it was written down
