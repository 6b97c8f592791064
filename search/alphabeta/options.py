"""What alpha-beta can be told. Each option is the same on both backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from evallearn.core.game import Game
from evallearn.core.search import IsCutoff
from evallearn.errors import SearchError
from evallearn.search.common.requirements import cut_at_depth

MOST_PLIES = 60
"""Beyond the depth: more than any exchange takes."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The first group changes only how many nodes an answer takes; the second what is asked; the third is unsound."""

    table: bool = True
    """A transposition table, trusted only where it holds what minimax would find."""
    killers: bool = True
    """What refuted a sister position is tried early."""
    history: bool = True
    """Then what refuted others anywhere."""
    noisy_first: bool = True
    """Captures and the like (`Game.noisy_actions`) before killers."""
    pvs: bool = True
    """Principal variation search: whether an action beats the best so far is asked first, how good it is only then."""
    aspiration: bool = True
    """Each depth first looks near the value of two plies before: odd and even depths see things differently."""
    bounds: bool = True
    """Positions that the bounds of the evaluator decide are left alone, if it offers any (`Evaluator.bounds`)."""
    order_by_eval: bool = False
    """Where the table has no action, quiet ones are tried in the order in which EVAL likes the positions after them,
    not by history. Off, because it saves nodes only where the other switches do not: see `evallearn bench search`."""

    quiescence: int = 0
    """Plies beyond the cutoff in which noisy actions are tried, so that EVAL judges quiet states only. A player may
    decline them all, but not where `Game.forcing` says that something must be answered: there all actions are tried."""
    extensions: int = 0
    """Plies by which forcing positions (`Game.forcing`) may lengthen a line, against the horizon effect."""
    is_cutoff: IsCutoff = cut_at_depth
    """is_cutoff(s, depth_left) says where EVAL is asked; on the compiled backend Numba must understand it."""

    null_move: bool = False
    """If even passing is too good for the opponent, a move is: wrong in zugzwang, so `Game.may_pass` must allow it."""
    late_move_reductions: bool = False
    """Quiet actions far down the order are searched one or two plies less deep unless they surprise."""
    futility: bool = False
    """Near the cutoff, a state that EVAL finds far too good for the opponent is left alone, and quiet actions that
    EVAL finds hopeless are; nobody passes who does not stand well enough already."""
    path_independent_table: bool = False
    """The table is believed by any path, and what was found at a greater depth too: a repetition may be overlooked."""
    use_partial_iteration: bool = False
    """Where a limit strikes in the middle of a depth, a better action that it has found already is taken; not where the
    values of all actions are asked for: all of them, and the action, are of the last depth that was finished."""

    def __post_init__(self) -> None:
        for name in ("quiescence", "extensions"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_PLIES:
                raise SearchError(f"{name}={value!r}: give a number of plies from 0 to {MOST_PLIES}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool" and not isinstance(value, bool):
                raise SearchError(f"{field.name}={value!r}: give True or False")

    def require_hooks(self, game: Game) -> None:
        """Refuse what the game has no answer for: it would silently do nothing."""
        needs = {"quiescence": "noisy_actions", "extensions": "forcing", "null_move": "may_pass"}
        for option, hook in needs.items():
            if getattr(self, option) and not game.has(hook):
                raise SearchError(f"{option}: {game.name} does not say its {hook}: leave {option} out")

    def without(self, names: Sequence[str]) -> Options:
        """Return the same options with these off."""
        return replace(self, **{name: type(getattr(self, name))(0) for name in names})

    @property
    def selective(self) -> bool:
        """True if some lines are longer or shorter than the depth."""
        return bool(self.quiescence or self.extensions or self.null_move or self.late_move_reductions or self.futility)


UNSOUND = ("null_move", "late_move_reductions", "futility", "path_independent_table", "use_partial_iteration")
LENGTHENING = ("quiescence", "extensions")
MISLEADING = ("null_move", "path_independent_table", "use_partial_iteration")
"""Those that may take for a win what is none; the other unsound ones only overlook wins."""


def sound(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings without those that may change a value."""
    return {name: value for name, value in settings.items() if name not in UNSOUND}
