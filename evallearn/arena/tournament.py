"""Many agents: round robin or gauntlet, one match for each pairing, and a rating list over all of them.

Every match has its folder, named after its terms: a tournament that is stopped, or run again with one more agent, finds
what was played before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

from evallearn.agents import Agent, as_agent
from evallearn.arena.match import MatchSettings, check_match, play_held_match
from evallearn.arena.ratings import Rating, bradley_terry
from evallearn.arena.result import MatchResult, Tally
from evallearn.core.digest import digest, plain_json
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.locks import hold_folder
from evallearn.core.workers import keep_workers
from evallearn.errors import SpecError

OnProgress = Callable[[int, Tally], None]
"""on_progress(number of the match, its tally)"""


@dataclass(frozen=True)
class TournamentResult:
    """The matches and what they say together."""

    game: str
    names: tuple[str, ...]
    matches: tuple[MatchResult, ...]
    ratings: tuple[Rating, ...]
    """The strongest first; the anchor is 0 Elo."""
    anchor: str

    def __repr__(self) -> str:
        return f"<tournament of {self.game}: {', '.join(f'{r.name} {r.elo:+.0f}' for r in self.ratings)}>"

    @property
    def stopped_by_sprt(self) -> int:
        """Matches that an SPRT stopped: ratings are not corrected for that, and lie too far apart."""
        return sum(m.sprt is not None and m.sprt.decision is not None for m in self.matches)

    def to_json(self) -> JsonDict:
        """Return everything, in plain types."""
        return plain_json({
            "game": self.game,
            "names": self.names,
            "anchor": self.anchor,
            "stopped_by_sprt": self.stopped_by_sprt,
            "ratings": [asdict(r) for r in self.ratings],
            "matches": [m.to_json() for m in self.matches],
        })  # fmt: skip


def match_folder(base: Path, game: Game, agents: Sequence[Agent], config: MatchSettings) -> Path:
    """Return where a match is kept: the same terms, the same folder."""
    terms = json.dumps(config.terms(game, agents), sort_keys=True)
    return base / f"{file_name(game.name.partition(',')[0])}-{digest(terms)[:12]}"


def pairings(n: int, *, gauntlet: bool = False) -> list[tuple[int, int]]:
    """Pair everybody with everybody, or the first with each of the others."""
    return [(0, j) for j in range(1, n)] if gauntlet else list(combinations(range(n), 2))


def kind_of(name: str) -> str:
    """Return random, zero, handwritten, learned, search or engine, by an agent's description."""
    what, _, _ = name.partition("@")
    head = what.partition(":")[0].partition(",")[0]
    if head in ("random", "zero", "handwritten"):
        return head
    if head in ("uci", "gtp", "cmd"):
        return "engine"
    is_file = what.endswith(".safetensors") and ":" not in what
    return "learned" if is_file or head == "zoo" else "search"


def play_tournament(
    game: Game,
    agents: Sequence[Agent | str],
    config: MatchSettings | None = None,
    *,
    gauntlet: bool = False,
    anchor: str | None = None,
    workers: int = 1,
    folder: Path | None = None,
    on_progress: OnProgress | None = None,
) -> TournamentResult:
    """Play every pairing of the agents, or of texts that `parse_agent` reads, as a match by the same terms.

    `anchor` is 0 Elo: by default the best hand-written, or the last. Raises DataError for a folder in which another
    match is being played: before anything is, if it is one by then.
    """
    config, players = config or MatchSettings(), [as_agent(a, game) for a in agents]
    names = [a.name for a in players]
    if len(names) < 2 or len(set(names)) < len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        what = f"{', '.join(twice)} is given twice" if twice else f"{len(names)} agents"
        raise SpecError(f"a tournament of {what}: give two or more different ones")
    if anchor is not None and anchor not in names:
        raise SpecError(f"anchor {anchor!r} does not take part: give one of {', '.join(names)}")
    for agent in players:
        game = check_match(game, (agent,), config, workers)
    pairs = pairings(len(players), gauntlet=gauntlet)
    folders = [match_folder(folder, game, (players[i], players[j]), config) if folder else None for i, j in pairs]
    found: dict[tuple[int, int], MatchResult] = {}
    with keep_workers(), _hold_first(folders):
        for number, ((i, j), place) in enumerate(zip(pairs, folders, strict=True)):
            with hold_folder(place) if place and number else nullcontext():
                found[i, j] = play_held_match(
                    game, (players[i], players[j]), config, workers=workers, folder=place,
                    on_progress=_numbered(on_progress, number),
                )  # fmt: skip
    results = [(names[i], names[j], m.pair_counts) for (i, j), m in found.items()]
    zero = anchor or _best_by_hand(results, names)
    return TournamentResult(game.name, tuple(names), tuple(found.values()), _ranked(results, zero, config.seed), zero)


@contextmanager
def _hold_first(folders: Sequence[Path | None]) -> Iterator[None]:
    """Keep the first folder to the end, so that nobody plays the same tournament meanwhile; the others must be free."""
    if folders[0] is None:
        yield
        return
    with hold_folder(folders[0]):
        for other in folders[1:]:
            if other is not None and other.exists():
                with hold_folder(other):
                    pass
        yield


def _ranked(results: Sequence[tuple[str, str, Sequence[int]]], anchor: str, seed: int) -> tuple[Rating, ...]:
    return tuple(sorted(bradley_terry(results, anchor=anchor, seed=seed), key=lambda r: (-r.elo, r.name)))


def _best_by_hand(results: Sequence[tuple[str, str, Sequence[int]]], names: Sequence[str]) -> str:
    ranked = _ranked(results, names[-1], 0)
    return next((r.name for r in ranked if kind_of(r.name) == "handwritten"), names[-1])


def _numbered(on_progress: OnProgress | None, number: int) -> Callable[[Tally], None] | None:
    return None if on_progress is None else lambda tally: on_progress(number, tally)
