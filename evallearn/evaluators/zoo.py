"""The zoo: evaluators that are shipped, each a file and a card that says where it comes from and what it is worth.

zoo/GAME/NAME.safetensors    at most MOST_BYTES; GAME without its parameters
zoo/GAME/NAME.json           the card; `evallearn zoo add` makes both
"""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, get_type_hints

from evallearn.core.digest import parse_json
from evallearn.core.json_shapes import build, has_shape, shape_of
from evallearn.errors import EvaluatorError, SpecError, unknown

MOST_BYTES = 1_000_000
"""Of a file: a wheel with one for every game is still small."""


class CardMatch(TypedDict):
    """Against a hand-written heuristic; Elo with its interval."""

    opponent: str
    elo: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int
    limit: str
    openings: str


class CardQuality(TypedDict):
    """How well an evaluator foretells the games of those matches."""

    on: str
    n_records: int
    log_loss: float
    baseline_log_loss: float
    sign_accuracy: float | None
    calibration_error: float


class NewCard(TypedDict):
    """What a card tells but for renamed options.

    command: what made the file; learned_from: games, or records; minutes: of that, by the clock.
    """

    game: str
    name: str
    kind: str
    command: str
    seed: int
    learned_from: dict[str, int]
    minutes: float
    bytes: int
    evallearn: str
    matches: list[CardMatch]
    quality: CardQuality


class Card(NewCard, total=False):
    """`repeat`: what makes it today, where that is another command; a net then differs a little."""

    repeat: str


def zoo_folder() -> Path:
    """Return the folder in which evaluators are shipped, as GAME/NAME.safetensors."""
    return Path(__file__).parents[1] / "zoo"


def zoo_name(game: str, name: str) -> str:
    """Return the name of an evaluator of that game in the zoo: `backgammon/net`, whatever its parameters."""
    return f"{game.partition(',')[0]}/{name}"


def zoo_names(game: str = "*") -> list[str]:
    """Return the names of the evaluators that are shipped, as `othello/patterns`: all, or those of one game."""
    wanted = game.partition(",")[0]
    return sorted(
        f"{p.parent.name}/{p.stem}" for p in zoo_folder().glob("*/*.safetensors") if wanted in ("*", p.parent.name)
    )


def zoo_file(name: str, game: str = "*") -> Path:
    """Return the file of a shipped evaluator; where the game is known, `patterns` alone will do."""
    known = zoo_names(game)
    if game != "*" and not known:
        raise SpecError(f"zoo:{name}: no evaluator is shipped for {game} yet: use zero, handwritten:NAME or a file")
    whole = name if "/" in name or game == "*" else zoo_name(game, name)
    if whole not in known:
        of = "" if game == "*" else f" of {game}"
        raise SpecError(
            f"{unknown(f'evaluator in the zoo{of}', whole, known)}, or give the path of a .safetensors file"
        )
    return zoo_folder() / f"{whole}.safetensors"


def read_card(name: str) -> Card:
    """Return the card of a shipped evaluator."""
    path = zoo_file(name).with_suffix(".json")
    try:
        card = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise EvaluatorError(f"the card {path} cannot be read ({error}): install evallearn again") from None
    missing = [k for k, kind in get_type_hints(NewCard).items() if not has_shape(card, {k: shape_of(kind)})]
    if missing:
        raise EvaluatorError(f"the card {path} does not tell its {', '.join(missing)}: install evallearn again")
    return build(Card, card)


def hardest(card: Card) -> CardMatch | None:
    """Return the card's match against the best hand-written heuristic: the one that it beats by least."""
    return min(card["matches"], key=lambda m: m["elo"], default=None)
