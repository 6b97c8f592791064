"""Agents that fail in the middle of a match: the game is forfeited and told, all others count."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evallearn import get_game
from evallearn.agents import Agent, RandomAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.journal import read_sets
from evallearn.arena.seating import seatings
from evallearn.arena.table import _forfeited
from evallearn.core.game import Game
from evallearn.core.search import SearchResult
from evallearn.errors import EngineError, SpecError
from evallearn.games.tic_tac_toe import TicTacToe

TTT = TicTacToe()


@dataclass
class Fragile(Agent):
    """Plays the first action; fails on the n-th question it is asked, if the question is in `fails`."""

    game: Game
    name: str = "fragile"
    fails: Any = ()
    asked: int = 0
    closed: int = 0

    def choose(self, s: Any, seed: int) -> SearchResult:
        self.asked += 1
        if self.asked in self.fails:
            raise EngineError(f"fragile stopped answering in {self.game.to_text(s)!r}")
        return SearchResult(self.game.actions(s)[0], 0.0, self.game.to_play(s), 1, 1, (), False, 0.0)

    def close(self) -> None:
        self.closed += 1


@dataclass
class Follower(RandomAgent):
    """Writes down what it is told."""

    name: str = "follower"
    told: list[Any] = field(default_factory=list)
    follows = True

    def begin(self, opening: Any) -> None:
        self.told.append(("begin", list(opening)))

    def played(self, s: Any, a: Any) -> None:
        self.told.append((s, a))


def test_forfeited_games_are_lost_and_told() -> None:
    agent = Fragile(TTT, fails={4, 11})
    found = play_match(TTT, agent, RandomAgent(TTT), MatchSettings(pairs=10, opening_plies=2, seed=1), keep_games=True)
    assert found.games == 20
    assert [f.agent for f in found.forfeits] == ["fragile", "fragile"]
    assert all(f.why.startswith("fragile stopped answering in '") for f in found.forfeits)
    ended = [r for r in found.records if r.end]
    assert [r.number for r in ended] == [f.number for f in found.forfeits]
    assert all(r.end.startswith("forfeit: fragile stopped") for r in ended)
    assert all(r.utilities[r.players.index("fragile")] == -1 for r in ended)
    assert found.losses >= 2
    assert agent.closed == 1


def test_engine_that_fails_always_stops_the_match_and_is_played_again(tmp_path: Path) -> None:
    agent, config = Fragile(TTT, fails=range(21, 10**6)), MatchSettings(pairs=20, opening_plies=2, seed=1)
    message = (
        r"fragile forfeited 10 games in a row, the last because: fragile stopped answering in '.*'; "
        rf"\d+ games before them are kept in {tmp_path}: mend it, and the same command goes on"
    )
    with pytest.raises(EngineError, match=message):
        play_match(TTT, agent, RandomAgent(TTT), config, folder=tmp_path)
    kept = read_sets(tmp_path, TTT)
    assert 0 < len(kept) < 10
    assert sorted(kept) == list(range(len(kept)))
    mended = play_match(TTT, Fragile(TTT), RandomAgent(TTT), config, folder=tmp_path)
    assert mended.games == 40
    assert len(mended.forfeits) <= 1  # of the set before the row began
    with pytest.raises(EngineError, match="in a row, the last because: .*': mend it"):
        play_match(TTT, Fragile(TTT, fails=range(10**6)), RandomAgent(TTT), config)


def test_failing_costs_a_loss_and_the_others_share_it() -> None:
    assert _forfeited(TTT, (0, 1), 0) == [-1, 1]
    assert _forfeited(get_game("backgammon"), (1, 0), 1) == [-1, 1]
    three = get_game("three_player_connect")
    for seats in seatings(3):
        utilities = _forfeited(three, seats, 0)
        assert sum(utilities) == pytest.approx(0)
        assert all((u == -0.5) == (side == 0) for u, side in zip(utilities, seats, strict=True))
    assert _forfeited(get_game("2048"), (1,), 1) == [0.0]


def test_followers_are_told_the_opening_and_every_move() -> None:
    a, b = Follower(TTT), Fragile(TTT)
    found = play_match(TTT, a, b, MatchSettings(pairs=2, opening_plies=3, seed=1), keep_games=True)
    begins = [i for i, told in enumerate(a.told) if told[0] == "begin"]
    assert len(begins) == found.games
    for record, start, end in zip(found.records, begins, [*begins[1:], len(a.told)], strict=True):
        s = TTT.initial()
        for action in a.told[start][1]:
            s = TTT.result(s, action)
        assert TTT.to_text(s) == record.opening
        moves = a.told[start + 1 : end]
        assert [TTT.action_to_text(*told) for told in moves] == list(record.actions)


def test_follower_of_positions_without_their_moves_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("X...O....\n")
    config = MatchSettings(openings=path)
    with pytest.raises(
        SpecError, match="agent follower follows a game move by move, .* positions only: use random plies"
    ):
        play_match(TTT, Follower(TTT), RandomAgent(TTT), config)
