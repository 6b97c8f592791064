"""How strong is backgammon with an evaluator? Against GNU Backgammon's judgement, pubeval, and GNU Backgammon.

    python benchmarks/backgammon_strength.py reference WHO [--depth N]       equity lost per decision, in millipoints
    python benchmarks/backgammon_strength.py pubeval   WHO [--games 10000]   points per game
    python benchmarks/backgammon_strength.py gnubg     WHO [--games 1000] [--luck]

WHO is a .safetensors file, handwritten:NAME or any other agent; also gnubg:0, and pubeval itself. Depth 1 is what
GNU Backgammon calls 0 plies: take the best position after the move, by the evaluator alone; depth 2 is 1 ply. Every
dice sequence is played twice with the seats swapped, and the standard errors are those of the pairs.

`reference`: 1,000 unforced decisions with GNU Backgammon's 2-ply equity of every move. Four strata are weighted by
their share in real games. The static evaluator is also compared with the equity of each position before the roll, at 0
and 2 plies. `gnubg` plays the networks of the package gnubg-nn; --luck takes the luck of the dice off, as judged by the
same networks (0.3 s of a core per game), or with `--luck own` by the evaluator itself.
Data are read from ../shared/reference; where they or the package are absent, it says so and ends.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from pubeval import PubevalAgent, play_pairs, read_weights

from evallearn import get_game, parse_agent, play_match
from evallearn.agents import Agent, SearchAgent, split_limits
from evallearn.arena import MatchSettings
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.shares import Share, counted, share_of
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import DataError, EvallearnError, SpecError
from evallearn.evaluators import read_header
from evallearn.games.backgammon.notation import position_id

REFERENCE = Path(__file__).resolve().parents[2] / "shared/reference/backgammon"
DECISIONS, SHARES = "gnubg_reference_dev.jsonl", "gnubg_reference.meta.json"
BLUNDER = 0.1
"""Points."""
SUFFIX = ".safetensors"


class Absent(Exception):
    """Something is missing that nobody has to have: what was not measured, and why."""


def needed(name: str) -> Path:
    """A part of the reference data."""
    path = REFERENCE / name
    if not path.exists():
        raise Absent(f"{path} is not there: nothing was measured")
    return path


# --- who plays -------------------------------------------------------------------------------------------------------
def game_of(given: argparse.Namespace) -> Game:
    """The game of the file's header, or the one that was named."""
    what = split_limits(given.who)[0]
    name = given.game or (read_header(what)["game"] if what.endswith(SUFFIX) and ":" not in what else "backgammon")
    if name.partition(",")[0] != "backgammon":
        raise SpecError(f"{what} is an evaluator of {name}: this benchmark plays backgammon")
    return get_game(name)


def agent_of(given: argparse.Namespace, game: Game) -> Agent:
    """WHO, with the depth unless it names limits of its own."""
    what, limits = split_limits(given.who)
    if what == "pubeval":
        return PubevalAgent(game, read_weights(needed("pubeval")))
    if limits and given.depth:
        raise SpecError(f"{given.who!r} and --depth {given.depth}: give one of the two limits")
    return parse_agent(
        given.who if limits or what == "random" else f"{what}@depth={given.depth or 1}", game, trust=FULL_TRUST
    )


# --- the reference ---------------------------------------------------------------------------------------------------
def read_decisions(path: Path) -> list[dict[str, Any]]:
    """The rows; those who use them name what is wrong with one."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append({key: row[key] for key in ("id", "dice", "stratum", "cand", "s0", "s2")})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}:{number}: no decision ({error!r}): get the file again") from None
    return rows


def loss_of(agent: Agent, row: dict[str, Any]) -> float:
    """Points that the agent's move gives away, by the equities of the reference."""
    game = agent.game
    s: Any = game.from_text(f"{row['id']}:{row['dice'][0]}{row['dice'][1]}")
    after: Any = game.result(s, agent.choose(s, 1).action)
    equities = {candidate[0]: candidate[1] for candidate in row["cand"]}
    found = position_id(after.own, after.opp)
    if found not in equities:
        raise DataError(f"decision {game.to_text(s)}: the reference does not know the move to {found}")
    return max(0.0, max(equities.values()) - equities[found])


def losses(agent: Agent, rows: list[dict[str, Any]], shares: dict[str, float]) -> dict[str, Any]:
    """Millipoints by stratum, and the mean in the natural mix with its standard error."""
    by_stratum: dict[str, list[float]] = {}
    for row in rows:
        by_stratum.setdefault(row["stratum"], []).append(loss_of(agent, row))
    strata, mean, variance = {}, 0.0, 0.0
    whole = sum(shares[name] for name in by_stratum)
    for name, found in sorted(by_stratum.items()):
        x, share = 1000 * np.array(found), shares[name] / whole
        strata[name] = {
            "n": len(x),
            "millipoints": float(x.mean()),
            "best_move": asdict(counted(int((x <= 1e-6).sum()), len(x))),
            "blunders": asdict(counted(int((x > 1000 * BLUNDER).sum()), len(x))),
        }
        mean += share * float(x.mean())
        variance += share**2 * float(x.var()) / len(x)
    return {"millipoints": mean, "standard_error": math.sqrt(variance), "strata": strata}


def static_errors(evaluator: Evaluator, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Root mean squares of the evaluator's equity before the roll less that of the reference, in points."""
    states: list[Any] = [evaluator.game.from_text(row["id"]) for row in rows]
    values = np.array([evaluator.evaluate(s, s.player) for s in states])
    strata = np.array([row["stratum"] for row in rows])
    found: dict[str, Any] = {}
    for column in ("s0", "s2"):
        squares = (values - np.array([row[column][5] for row in rows])) ** 2
        parts = {name: float(np.sqrt(squares[strata == name].mean())) for name in sorted(set(strata.tolist()))}
        found[column] = {"rmse": float(np.sqrt(squares.mean())), "strata": parts}
    return found


def reference(given: argparse.Namespace) -> dict[str, Any]:
    rows, meta = read_decisions(needed(DECISIONS)), json.loads(needed(SHARES).read_text())
    agent = agent_of(given, game_of(given))
    found = {"who": agent.name, **losses(agent, rows, meta["natural_share_of_unforced_decisions"])}
    if isinstance(agent, SearchAgent):
        found["static"] = static_errors(agent.evaluator, rows)
    return found


def show_reference(found: dict[str, Any]) -> None:
    print(f"{found['who']}: {found['millipoints']:.1f} +- {found['standard_error']:.1f} millipoints per decision")
    for name, row in found["strata"].items():
        print(
            f"  {name:<8} {row['n']:4} decisions {row['millipoints']:7.2f} millipoints, "
            f"best move {Share(**row['best_move'])}, blunders {Share(**row['blunders'])}"
        )
    for column, row in found.get("static", {}).items():
        parts = ", ".join(f"{name} {value:.4f}" for name, value in row["strata"].items())
        print(f"  static evaluator against {column[1]} plies: RMSE {row['rmse']:.4f} points ({parts})")


# --- matches ---------------------------------------------------------------------------------------------------------
def pairs_of(given: argparse.Namespace, usual: int) -> int:
    games = usual if given.games is None else given.games
    if games < 4:
        raise SpecError(f"--games {games}: give 4 or more: a standard error needs two pairs")
    return (games + 1) // 2


def pubeval(given: argparse.Namespace) -> dict[str, Any]:
    weights, pairs = read_weights(needed("pubeval")), pairs_of(given, 10_000)
    game = game_of(given)
    agent = agent_of(given, game)
    points = play_pairs(game, agent, weights, pairs, given.seed)
    return {
        "who": agent.name, "rival": "pubeval", "games": points.size, "seed": given.seed,
        "points_per_game": float(points.mean()),
        "standard_error": float(points.mean(axis=1).std(ddof=1) / math.sqrt(pairs)),
        "wins": of_pairs(points > 0), "gammons": of_pairs(points > 1), "gammons_lost": of_pairs(points < -1),
    }  # fmt: skip


def of_pairs(hits: np.ndarray) -> dict[str, float]:
    """The share of hits, bool[pairs, 2]; the two games of a pair have the same dice."""
    found = share_of(hits.sum(axis=1), np.full(len(hits), 2))
    assert found is not None  # there is a pair or more
    return asdict(found)


def gnubg(given: argparse.Namespace) -> dict[str, Any]:
    if find_spec("gnubg_nn") is None:
        raise Absent("the package gnubg-nn is not installed (pip install gnubg-nn): nothing was measured")
    game, pairs = game_of(given), pairs_of(given, 1000)
    agent, rival = agent_of(given, game), parse_agent("gnubg:0", game, trust=FULL_TRUST)
    judge = {None: "none", "gnubg": "gnubg:0", "own": split_limits(given.who)[0]}[given.luck]
    found = play_match(
        game, agent, rival, MatchSettings(pairs=pairs, seed=given.seed, luck=judge), workers=given.workers
    )
    figures = {
        "who": agent.name, "rival": rival.name, "games": found.games, "seed": given.seed,
        "points_per_game": found.margin.value, "standard_error": found.margin.standard_error,
        "wins": asdict(counted(found.wins, found.games)),
    }  # fmt: skip
    if found.luck is not None:
        fair = found.luck
        figures |= {"luck_adjusted": fair.margin.value, "luck_adjusted_standard_error": fair.margin.standard_error}
        figures |= {"variance_ratio": fair.variance_ratio, "judge": judge}
    return figures


def show_match(found: dict[str, Any]) -> None:
    points = f"{found['points_per_game']:+.4f} +- {found['standard_error']:.4f} points per game"
    print(f"{found['who']} - {found['rival']}, {found['games']} games: {points}, won {Share(**found['wins'])}")
    if "luck_adjusted" in found:
        fair = f"{found['luck_adjusted']:+.4f} +- {found['luck_adjusted_standard_error']:.4f}"
        print(f"  luck off: {fair} (variance {found['variance_ratio']:.3f} of the plain, judge {found['judge']})")
    if "gammons" in found:
        print(f"  gammons won {Share(**found['gammons'])}, lost {Share(**found['gammons_lost'])}")


COMMANDS = {"reference": (reference, show_reference), "pubeval": (pubeval, show_match), "gnubg": (gnubg, show_match)}


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("who")
    parser.add_argument("--depth", type=int, help="plies of our counting; 1 by default")
    parser.add_argument("--game", help="by default that of the file, or backgammon")
    parser.add_argument("--games", type=int, help="by default 10,000 against pubeval, 1,000 against gnubg")
    parser.add_argument("--luck", nargs="?", const="gnubg", choices=("gnubg", "own"), help="gnubg: who judges luck")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="gnubg: processes")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Exit code 2 for bad input, 0 where there is nothing to measure with."""
    given = arguments(words)
    measure, show = COMMANDS[given.what]
    try:
        found = measure(given)
    except Absent as absent:
        print(absent)
        return 0
    except EvallearnError as error:
        print(error, file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
