"""Self-play with dice, for one player, for three, and for points: who is recorded, what they saw, what they got."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from toys import CoinRace

from evallearn import get_game
from evallearn.agents import RandomAgent
from evallearn.cli import run
from evallearn.core.game import CHANCE, Game
from evallearn.data import Dataset, RecordSettings, generate_records, play_game
from evallearn.data.boards import on_fastest_backend

GHOSTS = ("pacman,maze=two_ghosts,ghosts=apart", "pacman,maze=two_ghosts,ghosts=random")
NAMES = ("pig,target=30", "backgammon", "2048", "pacman", *GHOSTS, "three_player_connect", "tic_tac_toe")
CONFIG = RecordSettings(games=6, seed=3, opening_plies=4, epsilon=0.0, games_per_shard=4)


def agents(game: Game) -> list[RandomAgent]:
    return [RandomAgent(game)] * game.n_players


@pytest.mark.parametrize("name", NAMES)
def test_records_are_decisions_as_the_player_to_move_saw_them(name: str, tmp_path: Path) -> None:
    game = get_game(name)
    generate_records(tmp_path, game, agents(game), CONFIG)
    dataset = Dataset(tmp_path, game=game, test_share=0.0)
    assert dataset.n_games == CONFIG.games
    low, high = game.utility_range
    for i, (s, record) in enumerate(dataset.states(game)):
        assert low <= record.outcome <= high
        if i % 7 == 0:  # in plain Python is slow
            assert game.to_play(s) == record.player != CHANCE
            seen = np.asarray(game.features(s, record.player), "<f4")
            assert np.array_equal(np.frombuffer(record.features, "<f4"), seen)
            assert record.action in game.actions(s)
            assert record.phase == game.phase(s)
    for batch in dataset.batches("train"):
        assert np.abs(batch.outcome).max() <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_every_player_is_told_what_the_end_was_worth_to_them(name: str) -> None:
    game = get_game(name)
    fast = on_fastest_backend(game)
    for number in range(3):
        records = play_game(fast, agents(game), CONFIG, number)
        last = records[-1]
        s = game.result(game.decode(np.frombuffer(last.state, "<u8").tolist()), last.action)
        told = {r.player: r.outcome for r in records}
        assert all(r.outcome == told[r.player] for r in records)
        if game.is_terminal(s):  # else the dice ended it
            assert told == {p: game.utility(s, p) for p in told}
        assert [r.ply for r in records] == sorted({r.ply for r in records})


class Loaded(CoinRace):
    """One step in nine throws of ten."""

    def chances(self, s: tuple[int, ...]) -> Sequence[tuple[int, float]]:
        return ((1, 0.9), (2, 0.1))


@pytest.mark.parametrize("plies", [0, 5])
def test_dice_fall_as_often_as_the_rules_say_in_openings_too(plies: int) -> None:
    game = Loaded()
    played = [play_game(game, agents(game), RecordSettings(opening_plies=plies), n) for n in range(600)]
    coins = [game.from_text(str(records[0].state))[3] for records in played]
    assert 30 < coins.count(2) < 95  # 60 are expected; beyond lie five deviations


def test_openings_end_where_somebody_decides() -> None:
    game = get_game("backgammon")
    for plies in (0, 1, 2, 3):
        first = play_game(on_fastest_backend(game), agents(game), RecordSettings(opening_plies=plies), 1)[0]
        assert first.ply in (plies, plies + 1)
        s = game.decode(np.frombuffer(first.state, "<u8").tolist())
        assert game.to_play(s) == first.player


@pytest.mark.long  # test_selfplay.py shows it without dice
def test_the_number_of_workers_does_not_matter_with_dice(tmp_path: Path) -> None:
    game = get_game("pig,target=30")
    one, two = (generate_records(tmp_path / str(w), game, agents(game), CONFIG, workers=w) for w in (1, 2))
    assert one.checksum == two.checksum


@pytest.mark.long
@pytest.mark.parametrize("name", ["pig", "2048", "pacman", "three_player_connect", "backgammon"])
def test_learn_learns_every_game(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["--generations=1", "--games=100", "--match-pairs=3", "--match-milliseconds=1", "--workers=1"]
    assert run(["learn", name, "--run=run", *small]) == 0
    assert Path("run/evaluators/linear.safetensors").exists()
