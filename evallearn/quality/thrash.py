"""Thrashing: a player who goes to and fro because the evaluator sees no difference, as the lectures' Pacman: N S N S.

An agent with the evaluator plays both sides at a shallow depth; of equal actions it takes the first, as agents do. Of
each game we keep, player by player, the positions in which it was to move, and of these only what its own moves change:
the words of the position's text that ever differ before and after its own moves. (Pacman's moves change the maze with
him in it, the score and the moves left, not the ghosts, who may wander meanwhile.)

A position *returns* if it is the one of 2 (or 4) own moves ago and something was different in between. Clocks and
counters do not count: numbers that go up or down by the same amount with every own move. A *stretch* is a run of
returns, one own move after the other, at least as long as twice to and fro: A B A B A, or A B C D A B C D A. One step
back is no stretch: it may be wise. Nor is it one if the player never had a choice, or always did the same: then others
(or the dice) brought the position back.

It is an indicator. A player who has nothing better, in a drawn endgame say, may go to and fro with good reason.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evallearn.arena.openings import openings
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.result import Result
from evallearn.core.search import Limits, Search
from evallearn.core.shares import share_of
from evallearn.data.boards import on_fastest_backend
from evallearn.errors import SpecError
from evallearn.quality.playing import dice_of, random_action
from evallearn.search import search_for

PERIODS = (2, 4)
"""Own moves after which a position may return."""
LONGEST = 400
"""Plies after which a game is left."""
SHOWN = 12
"""Moves of the example."""
NUMBER = re.compile(r"(?<![A-Za-z0-9])[-+]?\d{1,18}(?![A-Za-z0-9])")
"""A number that stands alone: not the 2 of the cell f2."""
Word = tuple[str | int, ...]
"""A word of a position's text: with its numbers taken out, and then the numbers."""


@dataclass(frozen=True)
class Stretch:
    """Own moves of one player, one after the other, in which its position returned again and again."""

    player: int
    position: str
    """Where it began."""
    moves: tuple[str, ...]
    """The player's own moves, the first dozen of them."""
    length: int
    """Own moves."""
    period: int


@dataclass(frozen=True)
class Thrash(Result):
    """How much an evaluator thrashes."""

    games: int
    moves: int
    """Own moves with a choice, of all players."""
    thrashed: int
    """Those of them that are part of a stretch."""
    share: float
    """thrashed / moves."""
    share_low: float
    """The 95 % interval of the share, by games: the moves of a game have much in common."""
    share_high: float
    shares: tuple[float, ...]
    """The same for each player."""
    longest: int
    """Own moves of the longest stretch; 0 if there is none."""
    example: Stretch | None
    """The longest."""


@dataclass(frozen=True)
class Turn:
    """A position of a game and what was played in it; the last has no action."""

    state: State
    player: int
    action: Action | None
    choices: int


def thrash(
    evaluator: Evaluator, *, depth: int = 2, games: int = 10, opening_plies: int | None = None, seed: int = 1
) -> Thrash:
    """Play the evaluator against itself, from the initial position and from random openings, and count stretches."""
    if games < 1:
        raise SpecError(f"games={games}: to look for thrashing, give 1 or more")
    game = evaluator.game
    plies = game.opening_plies if opening_plies is None else opening_plies
    starts = [game.initial(), *other_starts(game, games - 1, plies, seed)]
    search = search_for(game, evaluator)
    counts, found = np.zeros((len(starts), game.n_players, 2), np.int64), []
    for number, start in enumerate(starts):
        turns = _play(game, search, start, Limits(depth=depth), dice_of(seed, number))
        for player in range(game.n_players):
            stretches, *counted = look(game, turns, player)
            counts[number, player] = counted
            found += stretches
    return _summary(counts, found)


def other_starts(game: Game, n: int, plies: int, seed: int) -> list[State]:
    """Return different random openings; fewer than n, or none, where the game has no more that go on."""
    try:
        return [opening.state for opening in openings(game, n, plies, seed)] if n else []
    except SpecError:  # every random game is over by then
        return []


def _summary(counts: np.ndarray, found: Sequence[Stretch]) -> Thrash:
    """Sum up the games; counts: int64[games, players, 2], moves with a choice and those that are part of a stretch."""
    by_player, by_game = counts.sum(axis=0).tolist(), counts.sum(axis=1)
    moves, thrashed = by_game.sum(axis=0).tolist()
    share = share_of(by_game[:, 1], by_game[:, 0])
    example = max(found, key=lambda stretch: stretch.length, default=None)
    return Thrash(
        games=len(counts),
        moves=moves,
        thrashed=thrashed,
        share=share.value if share else 0.0,
        share_low=share.low if share else 0.0,
        share_high=share.high if share else 1.0,
        shares=tuple(c[1] / c[0] if c[0] else 0.0 for c in by_player),
        longest=example.length if example else 0,
        example=example,
    )


def _play(game: Game, search: Search, s: State, limits: Limits, rng: random.Random) -> list[Turn]:
    """Play the game from `s` to its end, or to LONGEST plies; rolls are no turns."""
    fast, turns = on_fastest_backend(game), []
    for _ in range(LONGEST):
        if fast.is_terminal(s):
            break
        if (player := fast.to_play(s)) == CHANCE:
            s = fast.result(s, random_action(fast, s, rng))
            continue
        actions = fast.actions(s)
        a = search.search(s, limits).action if len(actions) > 1 else actions[0]
        turns.append(Turn(s, player, a, len(actions)))
        s = fast.result(s, a)
    return [*turns, Turn(s, game.to_play(s), None, 0)]


# --- looking for stretches -------------------------------------------------------------------------------------------
def look(game: Game, turns: Sequence[Turn], player: int) -> tuple[list[Stretch], int, int]:
    """Return (stretches, own moves with a choice, those of them in a stretch) of one player in one game."""
    own = [t for t in turns if t.player == player]
    words = _own_words(game, turns, player)
    inside: set[int] = set()
    found = []
    for period in PERIODS:
        for first, last in _runs([_returns(words, j, period) for j in range(len(words))], period + 1):
            moves = range(first - period, last)
            free = any(own[i].choices > 1 for i in moves) and len({own[i].action for i in moves}) > 1
            if free and not inside.issuperset(moves):
                inside.update(moves)
                found.append(_stretch(game, own, moves, period))
    return found, sum(t.choices > 1 for t in own), sum(own[i].choices > 1 for i in inside)


def _stretch(game: Game, own: Sequence[Turn], moves: range, period: int) -> Stretch:
    texts = tuple(game.action_to_text(own[i].state, own[i].action) for i in moves[:SHOWN])
    start = own[moves.start]
    return Stretch(start.player, game.to_text(start.state), texts, len(moves), period)


def _runs(flags: Sequence[bool], shortest: int) -> list[tuple[int, int]]:
    """Return (first, last) of every run of True that is long enough."""
    runs, first = [], None
    for i, flag in enumerate([*flags, False]):
        if flag and first is None:
            first = i
        elif not flag and first is not None:
            if i - first >= shortest:
                runs.append((first, i - 1))
            first = None
    return runs


def _own_words(game: Game, turns: Sequence[Turn], player: int) -> list[list[Word]]:
    """Return, for each position with the player to move, the words that its own moves change."""
    texts = [game.to_text(game.without_history(t.state)).split() for t in turns]
    if len({len(words) for words in texts}) > 1:  # no words to speak of: the text is one
        texts = [[" ".join(words)] for words in texts]
    changed = {
        i
        for turn, before, after in zip(turns, texts, texts[1:], strict=False)
        if turn.player == player
        for i, (a, b) in enumerate(zip(before, after, strict=True))
        if a != b
    }
    return [
        [_word(words[i]) for i in sorted(changed)]
        for turn, words in zip(turns, texts, strict=True)
        if turn.player == player
    ]


def _word(text: str) -> Word:
    return (NUMBER.sub("#", text), *(int(n) for n in NUMBER.findall(text)))


def _returns(words: Sequence[Sequence[Word]], j: int, period: int) -> bool:
    """Return True if position j is that of `period` own moves before, but for counters, and others lay in between."""
    if j < period:
        return False
    kinds = [_kind(column) for column in zip(*words[j - period : j + 1], strict=True)]
    return "other" not in kinds and "away" in kinds


def _kind(column: Sequence[Word]) -> str:
    """Return what a word does from its first position to its last: still, away (and back), counting, or other."""
    if column[0] == column[-1]:
        return "still" if all(word == column[0] for word in column) else "away"
    if len({word[0] for word in column}) > 1:
        return "other"
    kinds = {_number_kind([int(word[i]) for word in column]) for i in range(1, len(column[0]))}
    return next(kind for kind in ("other", "away", "counting", "still") if kind in kinds)


def _number_kind(numbers: Sequence[int]) -> str:
    if numbers[0] == numbers[-1]:
        return "still" if len(set(numbers)) == 1 else "away"
    steps = {b - a for a, b in pairwise(numbers)}
    return "counting" if len(steps) == 1 else "other"
