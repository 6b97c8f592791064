"""The exceptions of evallearn. Each message names the value, the place and the remedy.

EvallearnError
├── GameError           a game breaks the contract, or is asked for something it does not do
│   ├── IllegalAction   an action that the rules do not allow in this position
│   └── BadNotation     a position or an action in text that cannot be read
├── SearchError         a search that cannot play this game, or limits that make no sense
├── EvaluatorError      an evaluator that does not fit, or a file that must not be trusted
├── DataError           records or a run folder that do not fit what was asked
├── EngineError         a program that plays for an agent ended, fell silent or made no legal move
└── SpecError           a name, an agent or a setting that nobody knows
    └── Diverged        weights that grew without bound, with the last stable state of the training

Interrupted (a KeyboardInterrupt): Ctrl-C during a search, with the best answer so far.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class EvallearnError(Exception):
    """Bad input, explained in one sentence. The command line prints it and exits with 2."""


class GameError(EvallearnError):
    """A game breaks the contract, or is asked for something it does not do."""


class IllegalAction(GameError):
    """An action that the rules do not allow in this position."""


class BadNotation(GameError):
    """A position or an action in text that cannot be read."""


class SearchError(EvallearnError):
    """A search that cannot play this game, or limits that make no sense."""


class EvaluatorError(EvallearnError):
    """An evaluator that does not fit, or a file that must not be trusted."""


class DataError(EvallearnError):
    """Records or a run folder that do not fit what was asked."""


class EngineError(EvallearnError):
    """A program that plays for an agent ended, fell silent or made no legal move: it forfeits the game, no more."""


class SpecError(EvallearnError):
    """A name, an agent or a setting that nobody knows."""


class Diverged(SpecError):
    """Weights that grew without bound; `training` is the last state at which all was well."""

    training: Any = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search. Whoever handles Ctrl-C handles this; `result` is the SearchResult so far."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


def unknown(kind: str, given: str, known: Iterable[str], unlisted: Iterable[str] = ()) -> SpecError:
    """Return the error for a misspelt name: it suggests the nearest one and lists the rest, but for the `unlisted`."""
    names = sorted(known)
    near = difflib.get_close_matches(given, [*names, *unlisted], n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return SpecError(f"unknown {kind} {given!r}: {hint}known: {', '.join(names) or 'none'}")
