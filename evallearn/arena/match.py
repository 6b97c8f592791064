"""Matches: every opening is played from every seat, so that neither side owes anything to luck or to the first move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from evallearn._version import __version__
from evallearn.agents import Agent, as_agent, parse_evaluator
from evallearn.arena.adjudication import NO_ADJUDICATION, Adjudication
from evallearn.arena.journal import MatchJournal, identity, read_names, read_sets
from evallearn.arena.openings import Opening, openings, read_openings, read_text, take
from evallearn.arena.records import GameRecord, replay
from evallearn.arena.result import MatchResult, Tally
from evallearn.arena.seating import Played
from evallearn.arena.sprt import Sprt
from evallearn.arena.table import Table
from evallearn.core.digest import digest, weights_mark
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.locks import hold_folder
from evallearn.core.settings import DERIVED_SEED, OPENING_PLIES, PAIRS, Settings, setting
from evallearn.core.trust import FULL_TRUST
from evallearn.core.workers import check_workers, imap
from evallearn.errors import EngineError, SpecError

SETS_PER_JOB = 4
"""Few, so that progress is seen; enough that passing them to a worker (0.1 ms) does not count."""
FORFEITS_IN_A_ROW = 10
"""So many mean that an engine is broken, not weak: the match stops, and they are played again when it goes on."""
QUICK_SETS = 100
"""From so many sets on, compiling a kernel for whole games (once, some seconds) is worth the while."""
NOBODY = "none"
"""In place of the evaluator that measures luck: the dice stay in the result."""


@dataclass(frozen=True, kw_only=True)
class MatchSettings(Settings):
    """The terms of a match."""

    pairs: int = setting(200, "Openings; each is played from every seat, by two players twice.", PAIRS)
    opening_plies: int | None = setting(None, "Random plies of each opening", OPENING_PLIES, auto="what suits the game")
    openings: Path | None = setting(None, "A file of positions, one a line, instead of random openings.")
    repeat: bool = setting(False, "Play openings again where the game has too few.")  # some games then count twice
    seed: int = setting(1, "Of openings, dice and searches.", DERIVED_SEED)
    adjudication: Adjudication = NO_ADJUDICATION
    sprt: Sprt | None = None
    """Stop as soon as it has decided."""
    luck: str | None = None
    """The evaluator that measures the luck of the dice, as a person wrote it, or "none".
    None: the game's last heuristic, where there are dice."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.openings is not None and self.opening_plies is not None:
            raise SpecError(f"openings of {self.openings} and {self.opening_plies} random plies: give one of the two")

    def plies(self, game: Game) -> int:
        """Return how many random plies each opening has."""
        if self.openings is not None:
            return 0
        return game.opening_plies if self.opening_plies is None else self.opening_plies

    def starts(self, game: Game) -> list[Opening]:
        """Return the opening of each set."""
        if self.openings is not None:
            return take(read_openings(self.openings, game), self.pairs, repeat=self.repeat or game.has_chance)
        return openings(game, self.pairs, self.plies(game), self.seed, repeat=self.repeat)

    def judge(self, game: Game) -> Evaluator | None:
        """Return the evaluator that measures how lucky the dice were, or None."""
        can = game.has_chance and game.n_players == 2 and game.zero_sum
        if self.luck not in (None, NOBODY) and not can:
            raise SpecError(f"luck={self.luck!r}: luck is judged in two-player games with dice; {game.name} is none")
        if self.luck == NOBODY or not can or (self.luck is None and not game.heuristics):
            return None
        return parse_evaluator(self.luck or f"handwritten:{list(game.heuristics)[-1]}", game, trust=FULL_TRUST)

    def terms(self, game: Game, agents: Sequence[Agent]) -> JsonDict:
        """Return what every set of the match depends on: neither how many there are nor when the SPRT stops."""
        judge = self.judge(game)
        return {
            "format": "evallearn match",
            "version": 1,
            "evallearn": __version__,
            "game": game.name,
            "game_version": game.version,
            "agents": [identity(a) for a in agents],
            "seed": self.seed,
            "openings": f"{self.plies(game)} random plies" if self.openings is None else _marked(self.openings),
            "repeat": self.repeat,
            "adjudication": str(self.adjudication),
            "luck": None if judge is None else judge.name + weights_mark(judge),
        }


def _marked(openings: Path) -> str:
    """Return the file's name and a digest of what it says now."""
    return f"{openings} #{digest(read_text(openings))[:10]}"


def play_match(
    game: Game,
    a: Agent | str,
    b: Agent | str,
    config: MatchSettings | None = None,
    *,
    workers: int = 1,
    folder: Path | None = None,
    on_progress: Callable[[Tally], None] | None = None,
    keep_games: bool = False,
) -> MatchResult:
    """Play A against B, agents or texts that `parse_agent` reads: each opening from every seat.

    A game with fewer different openings of that length gets fewer sets: see `pairs` and `pairs_asked` of the result.
    The same seed gives the same result (but for `seconds`) with any number of workers, unless time limits an agent.
    folder: where every finished set is kept, and where a match that was stopped goes on. `on_progress(tally)` is called
    as sets finish, in their order. An engine that fails loses the game; see `forfeits` of the result.

    Raises DataError for a folder in which another match is being played.
    """
    config = config or MatchSettings()
    agents = as_agent(a, game), as_agent(b, game)
    game = check_match(game, agents, config, workers)
    with hold_folder(folder) if folder else nullcontext():
        return play_held_match(
            game, agents, config, workers=workers, folder=folder, on_progress=on_progress, keep_games=keep_games
        )


def check_match(game: Game, agents: Sequence[Agent], config: MatchSettings, workers: int) -> Game:
    """Refuse what cannot be played; return the game in plain Python: the board compiles its own."""
    game = getattr(game, "plain", game)
    if not isinstance(config, MatchSettings):
        raise SpecError(f"config={config!r}: give MatchSettings(pairs=...), after the two agents")
    check_workers(workers)
    config.adjudication.require(game)
    for agent in agents:
        if agent.game.name != game.name:
            raise SpecError(f"agent {agent.name} plays {agent.game.name}, but the match is {game.name}: rebuild it")
    return game


def play_held_match(
    game: Game,
    agents: tuple[Agent, Agent],
    config: MatchSettings,
    *,
    workers: int,
    folder: Path | None,
    on_progress: Callable[[Tally], None] | None,
    keep_games: bool = False,
) -> MatchResult:
    """Play a match that was checked, in a folder that the caller holds."""
    starts = config.starts(game)
    _require_moves(agents, starts)
    quick = len(starts) >= QUICK_SETS
    table = Table(game, agents, config.seed, config.adjudication, config.judge(game), quick)
    journal = MatchJournal(folder, game, config.terms(game, agents)) if folder else None
    tally = Tally(game, (agents[0].name, agents[1].name), config.sprt, len(starts))
    records: list[GameRecord] = []
    try:
        done = journal.open(starts) if journal else {}
        for played in _in_order(table, starts, done, workers, journal):
            number = tally.sets
            tally.add(starts[number], played)
            if keep_games:
                records += records_of(game, tally.names, number, starts[number], played)
            if on_progress:
                on_progress(tally)
            _require_engines(tally, journal)
            state = tally.sprt
            if state and state.decision:
                break
    finally:
        table.close()
        if journal:
            journal.close()
    return tally.result(seed=config.seed, opening_plies=config.plies(game), asked=config.pairs, records=records)


def _require_moves(agents: Sequence[Agent], starts: Sequence[Opening]) -> None:
    """Refuse openings without moves for an engine with a board of its own: it must know how a position came about."""
    for agent in agents:
        if agent.follows and any(o.actions is None for o in starts):
            raise SpecError(
                f"agent {agent.name} follows a game move by move, but a file of openings tells positions only: "
                "use random plies"
            )


def _in_order(
    table: Table, starts: Sequence[Opening], done: dict[int, list[Played]], workers: int, journal: MatchJournal | None
) -> Iterator[list[Played]]:
    """Yield the games of each set, in the order of the sets, whoever finishes first; those done are not replayed."""
    todo = [(i, o) for i, o in enumerate(starts) if i not in done]
    size = 1 if workers == 1 else min(SETS_PER_JOB, -(-len(todo) // (4 * workers)) or 1)
    jobs = [todo[i : i + size] for i in range(0, len(todo), size)]
    if jobs:
        for agent in table.agents:
            agent.prepare()  # here first: it is announced, and done once instead of in every worker
        if min(workers, len(jobs)) > 1:
            table.close()
    waiting, due = dict(done), 0
    while due in waiting:
        yield waiting.pop(due)
        due += 1
    with closing(imap(table, jobs, workers)) as results:
        for index, sets in results:
            for (number, _), played in zip(jobs[index], sets, strict=True):
                waiting[number] = played
                if journal:
                    journal.write(number, played)
            while due in waiting:
                yield waiting.pop(due)
                due += 1


def _require_engines(tally: Tally, journal: MatchJournal | None) -> None:
    """Stop where an engine fails again and again."""
    for side, n in enumerate(tally.forfeits_in_a_row):
        if n >= FORFEITS_IN_A_ROW:
            per_set = tally.games // tally.sets
            again = list(range(tally.sets - -(-n // per_set), tally.sets))
            kept = ""
            if journal:
                journal.forget(again)
                kept = f"; {tally.games - len(again) * per_set} games before them are kept in {journal.folder}"
            raise EngineError(
                f"{tally.names[side]} forfeited {n} games in a row, the last because: {tally.forfeits[-1].why}{kept}: "
                "mend it, and the same command goes on"
            )


def kept_games(folder: Path, game: Game) -> list[GameRecord]:
    """Read the games of a match's folder, finished or not, each played over by the rules. Raises DataError."""
    names, records = read_names(folder), list[GameRecord]()
    for i, (opening, played) in sorted(read_sets(folder, game).items()):
        records += records_of(game, names, i, opening, played)
    for record in records:
        replay(game, record, source=str(folder))
    return records


def records_of(
    game: Game, names: tuple[str, str], number: int, start: Opening, played: Sequence[Played]
) -> list[GameRecord]:
    """Return the games of a set in text, as files keep them."""
    opening = None if start.actions is None else game.line_to_text(game.initial(), start.actions)
    return [
        GameRecord(
            number=number * len(played) + i,
            opening=game.to_text(start.state),
            opening_actions=opening,
            players=tuple(names[side] for side in g.seats),
            actions=game.line_to_text(start.state, g.actions),
            utilities=tuple(g.utilities),
            end=g.end,
            set=number,
        )
        for i, g in enumerate(played)
    ]
