"""Self-play: agents play a game against each other, and every ply of theirs becomes a record.

A game depends on (seed, game number) and nothing else, a shard holds fixed game numbers, and it is whole or absent.
So the number of workers does not matter, and a run that was killed goes on with the shards that are missing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evallearn.core.game import CHANCE
from evallearn.core.json_shapes import JsonDict
from evallearn.core.locks import hold_folder
from evallearn.core.settings import DERIVED_SEED, SHARE, Settings, setting, whole
from evallearn.core.workers import imap
from evallearn.data.boards import Board, board_of, on_fastest_backend
from evallearn.data.manifest import Manifest, build_manifest, manifest_path, read_manifest, write_manifest
from evallearn.data.origin import Origin
from evallearn.data.shards import (
    Record,
    ShardInfo,
    inspect_shard,
    remove_leftovers,
    shard_paths,
    write_shard,
)
from evallearn.errors import DataError, IllegalAction

if TYPE_CHECKING:
    from evallearn.agents import Agent
    from evallearn.core.game import Action, Game, State

MAX_PLIES = 2**15
"""A longer game does not fit the column `ply`, and has most likely no end."""
MAX_DEPTH = 127
"""The largest number in the column `depth`; a deeper search is stored as this deep."""
MAX_OPENINGS = 1000
"""Openings in a row that may end the game before the error that openings are too long."""

Progress = Callable[[int, int, int], None]
"""on_progress(games_done, games_total, records)"""


@dataclass(frozen=True)
class RecordSettings(Settings):
    """Which games are played. All but `games` must stay the same in one folder; `games` may grow."""

    games: int = setting(2000, "How many games.", whole(1, 2**31 - 1))
    seed: int = setting(0, "The same seed gives the same records, whatever the number of workers.", DERIVED_SEED)
    opening_plies: int = setting(
        6, "Random plies, rolls of the dice included, that open each game; they are not recorded.", whole(0, MAX_PLIES)
    )
    epsilon: float = setting(
        0.1, "Share of plies at which a random action is played instead of the agent's choice.", SHARE
    )
    games_per_shard: int = setting(64, "Games per file: a kill loses at most this many per worker.", whole(1, 10_000))
    quiet: bool = setting(False, "Keep only plies at which nothing must be answered or taken.")
    # A search with quiescence evaluates such states, and their features say what the outcome is owed to.

    def settings(self) -> JsonDict:
        """Return what a shard's records depend on: everything but the number of games."""
        kept = {k: v for k, v in self.to_json().items() if k != "games" and (k != "quiet" or v)}
        return kept | {"epsilon": float(self.epsilon)}

    def numbers(self, shard: int) -> range:
        """Return the game numbers of a shard."""
        return range(shard * self.games_per_shard, min((shard + 1) * self.games_per_shard, self.games))

    def n_shards(self) -> int:
        """Return how many shards hold all games."""
        return -(-self.games // self.games_per_shard)


# --- one game --------------------------------------------------------------------------------------------------------
def play_game(game: Game, agents: Sequence[Agent], config: RecordSettings, number: int) -> list[Record]:
    """Play game `number`; return the records of the plies after the random opening, with the outcome filled in."""
    game = on_fastest_backend(game)
    board = board_of(game)
    rng = random.Random(f"{config.seed}/{number}")
    actions, ply = _opening(board, config.opening_plies, rng)
    plies, won = list[tuple[int, int, *tuple[object, ...]]](), list[float | None]()
    while actions:
        if ply >= MAX_PLIES:
            raise DataError(f"{game.name} game {number} did not end in {MAX_PLIES} plies: give it a rule that ends it")
        player = board.player
        if player == CHANCE:
            actions, ply = _rolled(board, actions, rng), ply + 1
            continue
        seen, s, points = board.seen(), board.state(), board.won()
        found = agents[player].choose(s, rng.getrandbits(32))
        explores, pick = rng.random() < config.epsilon, rng.random()  # always two draws: agents stay comparable
        action = actions[int(pick * len(actions))] if explores else found.action
        if action not in actions:
            raise _illegal(board, agents[player], action, actions)
        if not plies or not config.quiet or is_quiet(game, s, found.action):  # the first: no game is without a record
            plies.append((ply, player, *seen, board.stored(action), found.value, min(found.depth, MAX_DEPTH)))
            won.append(points)
        board.advance(action)
        actions = board.look()
        ply += 1
    outcomes = board.utilities()
    return [Record._make((number, *p, outcomes[p[1]], w)) for p, w in zip(plies, won, strict=True)]


def is_quiet(game: Game, s: State, action: Action) -> bool:
    """Return True if nothing must be answered in `s` and the action is not noisy."""
    return not game.forcing(s) and action not in game.noisy_actions(s)


def _opening(board: Board, plies: int, rng: random.Random) -> tuple[Sequence[Action], int]:
    """Play random plies, then roll until a player is to move; start again if that ends the game, so each has a record.

    Returns the legal actions, and how many plies it took.
    """
    for _ in range(MAX_OPENINGS):
        board.reset()
        actions, ply = board.look(), 0
        while actions and (ply < plies or board.player == CHANCE):
            if board.player == CHANCE:
                actions = _rolled(board, actions, rng)
            else:
                board.advance(actions[int(rng.random() * len(actions))])
                actions = board.look()
            ply += 1
        if actions:
            return actions, ply
    raise DataError(
        f"opening_plies={plies}: {MAX_OPENINGS} random openings in a row ended the game of {board.game.name}: use fewer"
    )


def _rolled(board: Board, outcomes: Sequence[Action], rng: random.Random) -> Sequence[Action]:
    """Let chance play; return what can be done after it."""
    board.advance(rng.choices(outcomes, board.probabilities())[0])
    return board.look()  # type: ignore[no-any-return]  # a board of either backend


def _illegal(board: Board, agent: Agent, action: Action, actions: Sequence[Action]) -> IllegalAction:
    game, s = board.game, board.state()
    legal = " ".join(game.action_to_text(s, a) for a in actions)
    where = f"{game.name} position {game.to_text(s)!r}"
    return IllegalAction(f"agent {agent.name} chose {action!r} in {where}; legal: {legal}: correct its `choose`")


# --- many games ------------------------------------------------------------------------------------------------------
@dataclass
class ShardMaker:
    """The job of a worker: shard number -> its games, played and written."""

    folder: Path
    game: Game
    agents: Sequence[Agent]
    config: RecordSettings
    origin: Origin
    _fast: Game | None = field(default=None, init=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_fast": None}  # a worker loads kernels of its own

    def __call__(self, shard: int) -> ShardInfo:
        self._fast = self._fast or on_fastest_backend(self.game)
        played = (play_game(self._fast, self.agents, self.config, n) for n in self.config.numbers(shard))
        return write_shard(self.folder, shard, [record for records in played for record in records], self.origin)


def generate_records(
    folder: str | Path,
    game: Game,
    agents: Sequence[Agent | str],
    config: RecordSettings | None = None,
    workers: int = 1,
    on_progress: Progress | None = None,
) -> Manifest:
    """Make the records that are missing in `folder` and its manifest; the same call resumes where it stopped.

    agents: one per player, or texts that `parse_agent` reads. Ctrl-C or a kill at any moment leaves whole shards only.
    """
    from evallearn.agents import as_agent

    folder, game, config = Path(folder), getattr(game, "plain", game), config or RecordSettings()
    players = [as_agent(a, game) for a in agents]
    _check_players(game, players)
    origin = Origin.of(game, players, config.settings())
    with hold_folder(folder), _tidied(folder):
        done = dict(_kept_shards(folder, origin, config))
        missing = [i for i in range(config.n_shards()) if i not in done]
        if missing:
            manifest_path(folder).unlink(missing_ok=True)  # it would be wrong from the first new shard on
        count = Counter(config.games, on_progress)
        count.add(*done.values())
        maker = ShardMaker(folder, game, players, config, origin)
        for agent in players if missing else ():
            agent.prepare()  # here first: it is announced, and done once instead of in every worker
        with closing(imap(maker, missing, workers)) as results:  # type: ignore[type-var]  # a generator
            for k, info in results:
                done[missing[k]] = info
                count.add(info)
        manifest = build_manifest(origin, [done[i] for i in sorted(done)])
        write_manifest(folder, manifest)
    return manifest


@dataclass
class Counter:
    """Counts what is done and reports it."""

    total: int
    on_progress: Progress | None
    games: int = 0
    records: int = 0

    def add(self, *shards: ShardInfo) -> None:
        self.games += sum(s.games for s in shards)
        self.records += sum(s.records for s in shards)
        if self.on_progress is not None:
            self.on_progress(self.games, self.total, self.records)


def _check_players(game: Game, agents: Sequence[Agent]) -> None:
    if len(agents) != game.n_players:
        raise DataError(f"{len(agents)} agents for {game.name}: name {game.n_players}, one per player")
    for agent in agents:
        if agent.game.name != game.name:
            raise DataError(f"agent {agent.name} plays {agent.game.name}, not {game.name}: name one of that game")


def _kept_shards(folder: Path, origin: Origin, config: RecordSettings) -> Iterator[tuple[int, ShardInfo]]:
    """Yield (index, info) of the shards that need not be made again; refuse a folder that holds something else."""
    manifest = read_manifest(folder)
    listed = {s.name: s.sha256 for s in manifest.shards} if manifest else {}
    for index, path in shard_paths(folder):
        there, info = inspect_shard(path, listed.get(path.name))
        if differences := there.differences(origin):
            raise DataError(
                f"{folder} holds records of other settings ({'; '.join(differences)}): use another folder or remove it"
            )
        wanted = config.numbers(index)
        if info.games > len(wanted):
            raise DataError(
                f"{path} holds games up to {info.first_game + info.games - 1}, only {config.games} games are asked: "
                "ask for at least as many as there are, or choose another folder"
            )
        if info.first_game != wanted.start:
            raise DataError(f"{path} holds games from {info.first_game}, its name says {wanted.start}: rename it back")
        if info.games == len(wanted):  # else it was the last one, and `games` has grown
            yield index, info


@contextmanager
def _tidied(folder: Path) -> Iterator[None]:
    """Yield the folder for records; remove leftovers of killed runs before and after."""
    (folder / "records").mkdir(exist_ok=True)
    remove_leftovers(folder)
    try:
        yield
    finally:
        remove_leftovers(folder)
