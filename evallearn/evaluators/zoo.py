"""The zoo: evaluators that are shipped, each a file and a card that says where it comes from and what it is worth.

zoo/GAME/NAME.safetensors    at most MOST_BYTES; GAME without its parameters
zoo/GAME/NAME.json           the card; `evallearn zoo add` makes both
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evallearn.core.digest import parse_json
from evallearn.core.shapes import ALL, has_shape
from evallearn.errors import EvaluatorError, SpecError, unknown

MOST_BYTES = 1_000_000
"""Of a file: a wheel with one for every game is still small."""
MATCH = {
    "opponent": str, "elo": float, "low": float, "high": float, "games": int, "wins": int, "draws": int, "losses": int,
    "limit": str, "openings": str,
}  # fmt: skip
QUALITY = {
    "on": str, "n_records": int, "log_loss": float, "baseline_log_loss": float, "sign_accuracy": (float, None),
    "calibration_error": float,
}  # fmt: skip
CARD = {
    "game": str,
    "name": str,
    "kind": str,
    "command": str,
    "seed": int,
    "learned_from": {ALL: int},
    "minutes": float,
    "bytes": int,
    "evallearn": str,
    "matches": [MATCH],
    "quality": QUALITY,
}
"""What a card tells.

command: what made the file; `repeat`: what does so today, where that is another one (a net then differs a little).
learned_from: games, or records. minutes: of that, by the clock. matches: against each hand-written heuristic. quality:
how well it foretells the games of those matches.
"""


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
        raise SpecError(f"zoo:{name}: no Eval is shipped for {game} yet: use zero, handwritten:NAME or a file")
    whole = name if "/" in name or game == "*" else zoo_name(game, name)
    if whole not in known:
        of = "" if game == "*" else f" of {game}"
        raise SpecError(f"{unknown(f'Eval in the zoo{of}', whole, known)}, or give the path of a .safetensors file")
    return zoo_folder() / f"{whole}.safetensors"


def read_card(name: str) -> dict[str, Any]:
    """Return the card of a shipped evaluator."""
    path = zoo_file(name).with_suffix(".json")
    try:
        card: Any = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise EvaluatorError(f"the card {path} cannot be read ({error}): install evallearn again") from None
    missing = [k for k, shape in CARD.items() if not has_shape(card, {k: shape})]
    if missing:
        raise EvaluatorError(f"the card {path} does not tell its {', '.join(missing)}: install evallearn again")
    return dict(card)


def hardest(card: dict[str, Any]) -> dict[str, Any] | None:
    """Return the card's match against the best hand-written heuristic: the one that it beats by least."""
    return min(card["matches"], key=lambda m: float(m["elo"]), default=None)
