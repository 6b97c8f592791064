"""Weights that are not free: features tied to one weight, and weights that go in a straight line through the phases.

Both are linear maps. Ties shorten the records (tied features are added up, and their sum gets one weight); a taper
shortens the parameters (two vectors instead of one per phase), so the sums over the records stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evallearn.data.dataset import Batch
from evallearn.errors import SpecError, unknown
from evallearn.train.fit.newton import Sums, Triple
from evallearn.train.fit.stream import RecordStream, checked

Tied = Sequence[Sequence[str]]
"""Groups of features with one weight each; a name that begins with "-" takes the negative of it."""


def tie_matrix(tied: Tied, names: Sequence[str]) -> np.ndarray:
    """Return float64[n_features, n_weights]: which weight each feature takes, and with which sign."""
    groups: dict[int, list[tuple[int, float]]] = {}
    where: dict[int, int] = {}
    for group in tied:
        if isinstance(group, str) or len(group) < 2:
            raise SpecError(f"tied={group!r} ties nothing: name two features or more, for example ('a', '-b')")
        members = [_member(name, names) for name in group]
        for i, _ in members:
            if i in where:
                raise SpecError(
                    f"feature {names[i]!r} is tied twice: write all features that share a weight in one tuple"
                )
            where[i] = members[0][0]
        groups[members[0][0]] = members
    columns = [groups.get(i, [(i, 1.0)]) for i in range(len(names)) if where.get(i, i) == i]
    matrix = np.zeros((len(names), len(columns)))
    for j, members in enumerate(columns):
        for i, sign in members:
            matrix[i, j] = sign
    return matrix


def _member(name: str, names: Sequence[str]) -> tuple[int, float]:
    if name in names:  # first of all: a feature's own name may begin with a minus
        return names.index(name), 1.0
    if name.startswith("-") and name[1:] in names:
        return names.index(name[1:]), -1.0
    raise unknown("feature in tied", name, names)


class TiedStream:
    """The records of another stream with the features of each tie added up to one."""

    def __init__(self, stream: RecordStream, tied: Tied) -> None:
        self._stream = stream
        self.matrix = tie_matrix(tied, stream.feature_names)
        self.n_features, self.n_phases = self.matrix.shape[1], stream.n_phases
        self.feature_names = tuple(_sum_name(column, stream.feature_names) for column in self.matrix.T)
        self.checksum, self.accumulates = stream.checksum, getattr(stream, "accumulates", False)

    def batches(self, split: str) -> Iterator[Batch]:
        matrix = self.matrix.astype(np.float32)
        for b in checked(self._stream, split):  # before they are added up, so that a message names the one at fault
            yield Batch(b.features @ matrix, b.phase, b.outcome, b.game)


def _sum_name(column: np.ndarray, names: Sequence[str]) -> str:
    text = "".join(("+" if sign > 0 else "-") + name for sign, name in zip(column, names, strict=True) if sign)
    return text.removeprefix("+")


# --- the taper -----------------------------------------------------------------------------------------------------
def taper_map(n_phases: int, d: int, extra: int = 0) -> np.ndarray:
    """Return float64[n_phases, d + extra, 2 d + extra]: how a phase's coefficients follow from the shared ones.

    The shared ones are (half the change, the middle, extra).

    Phase k takes middle + (2 k / (n_phases - 1) - 1) * change: the opening the middle minus the change, the endgame
    plus it. The `extra` coefficients are the same in all phases.
    """
    one, steps = np.eye(d), np.linspace(-1.0, 1.0, n_phases)
    maps = np.zeros((n_phases, d + extra, 2 * d + extra))
    for k, step in enumerate(steps):
        maps[k, :d, : 2 * d] = np.hstack([step * one, one])
        maps[k, d:, 2 * d :] = np.eye(extra)
    return maps


def gather(maps: np.ndarray, gram: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (gram [m, m], slope [m]) of the shared parameters, from those of each phase's coefficients."""
    total = sum((m.T @ g @ m for m, g in zip(maps, gram, strict=True)), np.zeros((maps.shape[2],) * 2))
    return total, np.einsum("kai,ka->i", maps, slope)


def shared(sums: Sums, maps: np.ndarray) -> Sums:
    """Return the sums as a function of the shared parameters [1, m]."""

    def of_params(params: np.ndarray) -> Triple:
        gram, slope, loss = sums(maps @ params[0])
        total, direction = gather(maps, gram, slope)
        return total[None], direction[None], np.array([loss.sum()])

    return of_params
