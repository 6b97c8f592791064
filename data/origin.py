"""Where records come from: the game, its features, who played and with which settings.

It stands in every shard, so that records which do not belong together are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.json_shapes import Json, JsonDict, build, has_shape

if TYPE_CHECKING:
    from evallearn.agents import Agent
    from evallearn.core.game import Game


@dataclass(frozen=True)
class Origin:
    """Everything that is the same for all records of a folder."""

    game: str
    game_version: int
    feature_hash: str
    feature_names: tuple[str, ...]
    n_phases: int
    n_words: int
    """64-bit words of a state; 0 where states and actions are text."""
    win: float
    """The utility of the best win: what makes outcomes of one game comparable with those of another."""
    loss: float
    """That of the worst loss."""
    agents: tuple[str, ...] = ()
    agent_hashes: tuple[str, ...] = ()
    settings: Json | None = None
    """What else decides which games are played: seed, openings, epsilon."""
    accumulates: bool = False
    """True where the game knows what is won already (`Game.won`): its records store it, too."""

    @classmethod
    def of(cls, game: Game, agents: Sequence[Agent] = (), settings: Json | None = None) -> Origin:
        """Return the origin of records that `agents` make of `game`."""
        from evallearn.evaluators.features import feature_hash

        n_words = 0 if game.rules is None else game.rules.n_words
        return cls(
            game.name,
            game.version,
            feature_hash(game),
            tuple(game.feature_names),
            game.n_phases,
            n_words,
            float(game.utility_range[1]),
            float(game.utility_range[0]),
            tuple(short_name(a) for a in agents),
            tuple(agent_hash(a) for a in agents),
            dict(settings or {}),
            game.has("won"),
        )

    def to_json(self) -> JsonDict:
        """Return what `from_json` reads. For games that do not accumulate it is what it was before any did."""
        values = asdict(self)
        if not self.accumulates:
            del values["accumulates"]
        return values

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Origin:
        """Build the origin from what `to_json` gave; raise KeyError or TypeError where `found` is something else."""
        found = {"loss": -found["win"], "accumulates": False, **found}  # earlier versions kept no other games
        values = {f.name: found[f.name] for f in fields(cls)}
        if not has_shape(values, SHAPE) or not has_shape((values["settings"] or {}).get("seed", 0), int):
            raise TypeError("it does not tell where the records come from")
        return build(cls, values | {k: tuple(v) for k, v in values.items() if isinstance(v, list)})

    def same_features(self, other: Origin) -> bool:
        """Return True if records of both can be learned from together."""
        return all(getattr(self, k) == getattr(other, k) for k in FEATURE_FIELDS)

    def share(self, outcome: np.ndarray, won: np.ndarray | None = None) -> np.ndarray:
        """Scale outcomes to float32[n] in [-1, 1], from the worst loss to the best win: an evaluator's squashed range.

        won: what was won already, where utility accumulates; then the scale begins there.
        """
        if won is not None:
            left = np.float64(self.win) - won
            return (2.0 * (outcome - np.asarray(won, np.float64)) / left - 1.0).astype(np.float32)
        middle, half = (self.win + self.loss) / 2, (self.win - self.loss) / 2
        shares: np.ndarray = (outcome - np.float32(middle)) / np.float32(half)
        return shares

    def features_text(self) -> str:
        """Describe, for a message, which features the records hold."""
        count = f"{len(self.feature_names)} features in {self.n_phases} phases"
        return f"{self.game} v{self.game_version}, {count} ({self.feature_hash})"

    def differences(self, other: Origin) -> list[str]:
        """Return what keeps records of both from lying in one folder."""
        mine, theirs = asdict(self), asdict(other)
        keys = [k for k in mine if k != "settings"]
        here, there = self.settings or {}, other.settings or {}
        return _differences(mine, theirs, keys) + _differences(here, there, sorted({*here, *there}))


SHAPE = {
    "game": str, "game_version": int, "feature_hash": str, "feature_names": [str], "n_phases": int, "n_words": int,
    "win": float, "loss": float, "agents": [str], "agent_hashes": [str], "settings": (dict, None),
    "accumulates": bool,
}  # fmt: skip
"""Of an origin as JSON carries it."""

FEATURE_FIELDS = (
    "game", "game_version", "feature_hash", "feature_names", "n_phases", "n_words", "win", "loss", "accumulates",
)  # fmt: skip


def _differences(mine: Json, theirs: Json, keys: Sequence[str]) -> list[str]:
    unlike = [k for k in keys if mine.get(k) != theirs.get(k)]
    return [f"{k} {_plain(mine.get(k))} there, {_plain(theirs.get(k))} asked" for k in unlike]


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def short_name(agent: Agent) -> str:
    """Return the agent's name without the folders of an evaluator file: a copy elsewhere makes the same records."""
    return agent.name.rsplit("/", 1)[-1]


def agent_hash(agent: Agent) -> str:
    """Return twelve digits for what decides an agent's play beside its name: limits, tie-break and learned numbers."""
    seen = [type(agent).__name__, short_name(agent), *(str(getattr(agent, k, "")) for k in ("limits", "random_ties"))]
    tensors = getattr(getattr(agent, "evaluator", None), "tensors", dict)
    return digest(repr(seen), *(part for named in sorted(tensors().items()) for part in named))[:12]
