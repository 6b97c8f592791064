"""What the tests of `evallearn.play` share: sessions from a few words, small games, random states."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from evallearn.core.game import Game, State
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.play import Dialogue, Judge, Session, Verdict
from evallearn.play.seats import MakeAgent, default_agent, make_agent, make_evaluator


class PlainTicTacToe(TicTacToe):
    """Nothing to compile, for speed."""

    rules = None


class LooseEnds(TicTacToe):
    """Tic-tac-toe for three in turn, so that max^n must be asked: the mover who lines up three wins, draws are 0."""

    name = "loose_ends"
    rules = None
    n_players = 3
    antisymmetric = False
    utility_range = (-0.5, 1.0)

    def to_play(self, s: Any) -> int:
        return (s[0] | s[1]).bit_count() % 3

    def utility(self, s: Any, player: int) -> float:
        if super().utility(s, 0) == 0:
            return 0.0
        return 1.0 if (player + 1) % 3 == self.to_play(s) else -0.5

    def features(self, s: Any, player: int) -> Any:
        return TicTacToe().features(s, (s[0] | s[1]).bit_count() & 1)


def agents(game: Game) -> MakeAgent:
    return partial(make_agent, game=game)


def judge_of(game: Game, limits: Limits | None = None) -> Judge:
    return Judge(game, make_evaluator(default_agent(game), game), limits or Limits(nodes=20_000))


def session_of(game: Game, *seats: str | None, **settings: Any) -> Session:
    """A text is an agent, None a person."""
    return Session(
        game, tuple(None if text is None else make_agent(text, game, trust=FULL_TRUST) for text in seats), **settings
    )


def dialogue_of(session: Session) -> Dialogue:
    return Dialogue(session, agents(session.game))


def answers(dialogue: Dialogue, *lines: str) -> str:
    """All that is said to the lines."""
    return "\n".join(shown.text for line in lines for shown in dialogue.answer(line))


def judged(game: Game, position: str, move: str, limits: Limits | None = None) -> Verdict:
    s = game.from_text(position)
    return judge_of(game, limits).judge(s, game.action_from_text(s, move))


def finish(session: Session) -> list[Any]:
    while not session.is_over:
        if session.step() is None:
            session.play(session.game.actions(session.state)[-1])
    return [ply.action for ply in session.plies]


def walk(game: Game, seed: int) -> Iterator[State]:
    """The states of a random game in which a player can choose, but not among more than six actions."""
    rng, s = random.Random(seed), game.initial()
    while not game.is_terminal(s):
        if 1 < len(game.actions(s)) <= 6:
            yield s
        s = game.result(s, rng.choice(game.actions(s) or [outcome for outcome, _ in game.chances(s)]))
