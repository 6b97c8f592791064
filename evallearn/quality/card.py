"""The card of an evaluator for the zoo: where it comes from, and how it scores against every hand-written heuristic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TypedDict

import numpy as np

from evallearn import __version__
from evallearn.agents import SearchAgent, default_limits, parse_evaluator
from evallearn.arena import MatchResult, MatchSettings, play_match
from evallearn.arena.records import GameRecord, play_over
from evallearn.core.checksum import read_checked
from evallearn.core.files import write_json
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.json_shapes import JsonDict, build, has_shape, shape_of
from evallearn.core.search import Limits
from evallearn.errors import DataError, EvaluatorError, unknown
from evallearn.evaluators import FeatureEval, load_evaluator, save
from evallearn.evaluators.zoo import MOST_BYTES, zoo_folder, zoo_name
from evallearn.registry import get_game
from evallearn.train.fit.metrics import measure
from evallearn.train.fit.stream import ArrayStream

PAIRS = 400
"""Openings of each match: intervals of some 20 Elo to either side."""
NODES = Limits(nodes=2000)
"""Per move, where alpha-beta plays: here an evaluator loses nothing by taking more time, but by pruning badly."""
QUALITY_GAMES = 400
"""That are played over for calibration: enough, and chess is slow in plain Python."""
FIGURES = ("log_loss", "baseline_log_loss", "brier", "sign_accuracy", "sign_accuracy_low", "sign_accuracy_high",
           "calibration_error", "n_records")  # fmt: skip
Progress = Callable[[int, int], None]


class FinishedRun(TypedDict):
    """What a card tells of the run that made the evaluator."""

    game: str
    command: str
    games: int
    records: int
    fits: dict[str, object]
    seconds: dict[str, float]


"""What the result of a run must tell."""


def add_run(
    folder: Path,
    name: str,
    evaluator: str | None = None,
    *,
    game: Game | None = None,
    out: Path | None = None,
    limits: Limits | None = None,
    pairs: int = PAIRS,
    seed: int = 1,
    workers: int = 1,
    on_progress: Callable[[str], Progress] = lambda title: lambda done, total: None,
) -> Path:
    """Make the card of an evaluator of a run, and ship both; return the file.

    evaluator: linear, neural, patterns or net; None: the one of that name, or else the first. game: None: the shipped
    one that the run names. out: None: where evallearn's own are. The others are those of `make_card`.

    Raises DataError for a folder without a finished run.
    """
    path, remedy = folder / "result.json", "the command of its run writes it again"
    if not path.exists():
        raise DataError(f"{folder} holds no finished run: give a folder that `evallearn learn` made")
    found = read_checked(path, remedy)
    if not has_shape(found, shape_of(FinishedRun)):
        raise DataError(f"{path} does not tell its {', '.join(FinishedRun.__annotations__)}: {remedy}")
    run = build(FinishedRun, {key: found[key] for key in FinishedRun.__annotations__})
    known = sorted(p.stem for p in (folder / "evaluators").glob("*.safetensors"))
    which = evaluator or (name if name in known else next((k for k in known if "-" not in k), ""))
    if which not in known:
        raise unknown(f"evaluator of {folder}", which, known)
    loaded = load_evaluator(folder / "evaluators" / f"{which}.safetensors", game or get_game(run["game"]))
    assert isinstance(loaded, FeatureEval)
    learned_from = {"games": run["games"], "records" if run["fits"] else "moves": run["records"]}
    minutes = sum(run["seconds"].values()) / 60
    card = make_card(
        loaded, name, command=run["command"], minutes=minutes, learned_from=learned_from, limits=limits, pairs=pairs,
        seed=seed, workers=workers, on_progress=on_progress,
    )  # fmt: skip
    return add_to_zoo(loaded, card, out or zoo_folder())


def card_limits(game: Game) -> Limits:
    """Return the limits of both sides in a card's matches: equal nodes, or a depth where a search cannot use nodes."""
    return default_limits(game) if game.has_chance or game.n_players != 2 else NODES


def make_card(
    evaluator: FeatureEval,
    name: str,
    *,
    command: str,
    minutes: float,
    learned_from: dict[str, int],
    limits: Limits | None = None,
    pairs: int = PAIRS,
    seed: int = 1,
    workers: int = 1,
    on_progress: Callable[[str], Progress] = lambda title: lambda done, total: None,
) -> JsonDict:
    """Play the matches and return the card; the same arguments give the same card, on any number of workers."""
    game = evaluator.game
    limits = limits or card_limits(game)
    own = SearchAgent(game, evaluator, limits, name=f"zoo:{zoo_name(game.name, name)}@{limits}")
    matches, played = [], list[GameRecord]()
    for heuristic in game.baselines:
        opponent = f"handwritten:{heuristic}"
        other = SearchAgent(game, parse_evaluator(opponent, game), limits, name=f"{opponent}@{limits}")
        move = on_progress(f"{name} - {opponent}")
        found = play_match(
            game, own, other, MatchSettings(pairs=pairs, seed=seed), workers=workers, keep_games=True,
            on_progress=lambda tally, move=move: move(tally.sets, tally.of),  # type: ignore[misc]  # mypy: no defaults
        )  # fmt: skip
        matches.append(match_row(opponent, found, limits, seed))
        played += found.records[: -(-QUALITY_GAMES // len(game.baselines))]
    return {
        "game": game.name,
        "name": name,
        "kind": evaluator.kind,
        "command": command,
        "seed": int(str(evaluator.metadata.get("seed", 0))),
        "learned_from": learned_from,
        "minutes": round(float(minutes), 2),
        "evallearn": __version__,
        "matches": matches,
        "quality": foresight(evaluator, played),
    }


def match_row(opponent: str, found: MatchResult, limits: Limits, seed: int) -> JsonDict:
    """Return a match as cards have it: the figures, and the conditions under which they hold."""
    elo = found.elo
    return {
        "opponent": opponent,
        "elo": round(elo.elo, 1), "low": round(elo.low, 1), "high": round(elo.high, 1), "score": round(found.score, 4),
        "games": found.games, "distinct_games": found.distinct_games,
        "wins": found.wins, "draws": found.draws, "losses": found.losses,
        "margin": round(found.margin.value, 4),
        "limit": str(limits), "openings": f"{found.opening_plies} random plies", "seed": seed,
    }  # fmt: skip


def foresight(evaluator: FeatureEval, played: Sequence[GameRecord]) -> JsonDict:
    """Measure how well the evaluator, without search, predicts how these games end: log loss, calibration and so on."""
    game, states, players, outcomes, numbers = evaluator.game, list[State](), list[int](), list[float](), list[int]()
    for number, record in enumerate(played):
        found = play_over(game, record)
        for s in found.states[found.opening_plies : -1]:
            if game.to_play(s) != CHANCE:
                states.append(s)
                players.append(game.to_play(s))
                outcomes.append(record.utilities[players[-1]])
                numbers.append(number)
    values = np.asarray(evaluator.evaluate_batch(states, players), np.float64)
    low, high = game.utility_range
    won = np.array([game.won(s, p) if game.has("won") else low for s, p in zip(states, players, strict=True)])
    middle, scale = (high + won) / 2, (high - won) / 2
    shares, ends = ((np.asarray(x) - middle) / scale for x in (values, outcomes))
    stream = ArrayStream(shares[:, None], ends, game=np.array(numbers), test_share=0.0)
    metrics = measure(lambda x, phase: x[:, 0], stream, "train")
    figures = {k: getattr(metrics, k) for k in FIGURES}
    told = {k: None if x is None else round(x, 4) for k, x in figures.items()}
    return {"on": f"positions of {len(played)} games of the matches", **told}


def add_to_zoo(evaluator: FeatureEval, card: JsonDict, folder: Path) -> Path:
    """Write the file and its card; the header of the file holds the command of the card."""
    path: Path = folder / f"{zoo_name(str(card['game']), str(card['name']))}.safetensors"
    shipped = copy(evaluator)
    shipped.metadata = {**evaluator.metadata, "name": card["name"], "command": card["command"]}
    save(shipped, path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        path.unlink()
        raise EvaluatorError(
            f"{path.name} has {size:,} bytes, the zoo takes at most {MOST_BYTES:,}: ship one with fewer weights"
        )
    write_json(path.with_suffix(".json"), {**card, "bytes": size})
    return path
