"""What a position should be worth: the targets by name, and the one formula that all learners share.

A game is a row of decisions t. The model said `value[t]`; looking ahead said `backup[t]`; `trace[t]` is the probability
of the move that was made under the policy that is learned. With all terms turned to the mover of t,

    G[t] = backup[t] + lambda * trace[t] * (G[t + 1] - value[t + 1])

is the lambda-return that position t should be worth (Sutton 1988; the trace cuts it as in tree backup: Precup, Sutton &
Singh 2000). It serves every model and every target; targets differ in what `backup` is and which positions learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evallearn.core.settings import SHARE, Settings, setting
from evallearn.errors import SpecError, unknown

BACKUPS = ("result", "next", "search", "expectation")
LEARN_AT = ("root", "leaf", "quiet", "tree")


@dataclass(frozen=True, kw_only=True)
class Target(Settings):
    """What a position should be worth; `TARGETS` holds the named ones."""

    backup: str = setting("next", "What a position is compared with.", choices=BACKUPS)
    learn_at: str = setting("root", "Which positions learn.", choices=LEARN_AT)
    lambda_: float = setting(0.7, "Decay of the lambda-return.", SHARE)
    outcome_share: float = setting(0.0, "Share of the result that is blended in.", SHARE)

    @property
    def is_from_records(self) -> bool:
        """Whether records teach it, which know the result and what a search said."""
        return self.backup == "result" or self.outcome_share > 0


TARGETS = {
    "outcome": Target(backup="result", lambda_=0.0),
    "blend": Target(backup="search", lambda_=0.0, outcome_share=0.5),
    "texel": Target(backup="result", learn_at="quiet", lambda_=0.0),
    "td": Target(),
    "tdleaf": Target(learn_at="leaf"),
    "rootstrap": Target(backup="search", lambda_=0.0),
    "treestrap": Target(backup="search", learn_at="tree", lambda_=0.0),
    "expectation": Target(backup="expectation", lambda_=0.6),
}
"""outcome      how the game ended
blend        what the search said of the position, and a share of the outcome
texel        how the game ended, learned at quiet leaves (as the chess program Texel was tuned)
td           the value of the next position, or of a search where the best move was not played (Sutton 1988)
tdleaf       the same of the searches' values, learned at their leaves (Baxter, Tridgell & Weaver 2000)
rootstrap    what the search said of the position
treestrap    what the search said of every node; a bound only if the model breaks it (Veness et al. 2009)
expectation  the mean over all rolls, one ply ahead
"""
RECORD_TARGETS = tuple(name for name, target in TARGETS.items() if target.is_from_records)
"""Those that are learned from records."""
SEARCH_TARGETS = ("td", "tdleaf", "rootstrap", "treestrap")
"""Those that are learned while the model plays."""
SELF_PLAY_TARGETS = (*SEARCH_TARGETS, "expectation")
"""Those of all models."""
LINEAR_TARGETS = (*RECORD_TARGETS, *SEARCH_TARGETS)


def lambda_errors(errors: Any, trace: Any, mover: Any, lambda_: Any, first: Any, end: Any) -> None:
    """Turn backup - value into G - value, in place, the last decision first.

    errors: float64[T, outputs], each seen by mover[t]; only the rows from `first` to before `end` count. Of several
    outputs, P(utility >= level), the other player sees each in the opposite place, and an error with its sign changed.
    """
    outputs = errors.shape[1]
    for t in range(end - 2, first - 1, -1):
        for j in range(outputs):
            later = errors[t + 1, j] if mover[t] == mover[t + 1] else -errors[t + 1, outputs - 1 - j]
            errors[t, j] += lambda_ * (trace[t] * later)


def returns(backup: np.ndarray, value: np.ndarray, trace: np.ndarray, mover: np.ndarray, lambda_: float) -> np.ndarray:
    """Return G, float64[T, outputs], of one game: see the module's text. Changes none of its arguments."""
    errors = np.subtract(backup, value, dtype=np.float64)
    lambda_errors(errors, trace, mover, lambda_, 0, len(errors))
    result: np.ndarray = value + errors
    return result


def check_target(target: str, outcome_share: float | None = None) -> None:
    """Refuse a target that linear evaluators do not learn, and a share that is none."""
    if target not in TARGETS or TARGETS[target].backup == "expectation":
        raise unknown("target", target, LINEAR_TARGETS)
    if outcome_share is not None and not 0.0 <= outcome_share <= 1.0:
        raise SpecError(
            f"outcome_share={outcome_share!r}: give the share of the outcome, from 0 (the search alone) to 1"
        )
