"""Scores of games as chess and checkers players know them, PGN and PDN: a record becomes such a game, and back.

If it is known how the opening came about, its moves are the first of the game, and the tag OpeningPlies says how many;
else FEN gives the position. A text such as "FEN moves ..." becomes that FEN and these moves. Round is set.number,
PlyCount shows whether moves are missing. A forfeit has Termination "rules infraction", an adjudication "adjudication",
and a comment at the end says why. A file without OpeningPlies is somebody else's: there a game may stop anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evallearn.arena.records import ADJUDICATED, FORFEIT, GameRecord, legal_action, numbers, position
from evallearn.arena.transcripts import UNKNOWN, UNWRITABLE
from evallearn.core.game import Action, Game, State
from evallearn.errors import BadNotation, DataError, GameError

UTILITIES = {"1-0": (1.0, -1.0), "0-1": (-1.0, 1.0), "1/2-1/2": (0.0, 0.0)}
"""To the player who begins (White in chess, Black in checkers) and to the other."""
TERMINATIONS = {FORFEIT: "rules infraction", ADJUDICATED: "adjudication"}
KNOWN, FROM = "OpeningPlies", "OpeningFrom"
POSITION = "position"
"""What OpeningFrom says where the start is the initial position, and yet not meant as the way to the opening."""


@dataclass(frozen=True)
class Score:
    """What PGN and PDN have in common."""

    start: State
    actions: Sequence[Action]
    result: str
    tags: Mapping[str, str]
    comments: Mapping[int, str]
    """{plies before it: text}."""


# --- the two notations; imported when they are needed, so that a match of another game is not slowed down ------------
def write_pgn_game(game: Game, record: GameRecord, where: str) -> str:
    """Return a game of chess as PGN."""
    from evallearn.games.chess.notation import PgnGame, write_pgn

    score = score_of(game, record, ("White", "Black"), where)
    return write_pgn([PgnGame(tuple(score.actions), score.start, score.result, score.tags, score.comments)])


def read_pgn_games(game: Game, text: str, source: str) -> Iterator[GameRecord]:
    """Read games of chess from PGN."""
    from evallearn.games.chess.notation import read_pgn

    games = _parsed(read_pgn, text, source)
    scores = [Score(g.start, g.moves, g.result, g.tags, g.comments) for g in games]
    return _records(game, scores, ("White", "Black"), source)


def write_pdn_game(game: Game, record: GameRecord, where: str) -> str:
    """Return a game of checkers as PDN; a comment in PDN cannot hold }, which becomes )."""
    from evallearn.games.checkers.pdn import PdnGame, write_pdn

    score = score_of(game, record, ("Black", "White"), where)
    comments = {at: comment.replace("}", ")") for at, comment in score.comments.items()}
    return write_pdn([PdnGame(tuple(score.actions), score.start, score.result, score.tags, comments)])


def read_pdn_games(game: Game, text: str, source: str) -> Iterator[GameRecord]:
    """Read games of checkers from PDN."""
    from evallearn.games.checkers.pdn import read_pdn

    games = _parsed(read_pdn, text, source)
    scores = [Score(g.start, g.actions, g.result, g.tags, g.comments) for g in games]
    return _records(game, scores, ("Black", "White"), source)


def _parsed(read: Callable[[str], list[Any]], text: str, source: str) -> list[Any]:
    try:
        return read(text)
    except BadNotation as error:
        raise DataError(f"{source}: {error}: correct it, or take the game out of the file") from None


# --- out -------------------------------------------------------------------------------------------------------------
def score_of(game: Game, record: GameRecord, colours: tuple[str, str], where: str) -> Score:
    """Return the record as a score. Raises DataError where a move is illegal, or the notation cannot say it."""
    result = next((text for text, both in UTILITIES.items() if both == record.utilities), None)
    if result is None:
        raise DataError(
            f"{where}: no result says {numbers(record.utilities)}; known: 1-0 0-1 1/2-1/2: write .jsonl instead"
        )
    for name in record.players:
        if UNWRITABLE.search(name):
            raise DataError(f"{where}: player {name!r}: no tag can hold that name: write .jsonl instead")
    start, opening = _way_to_opening(game, record, where)
    actions = _actions(game, start, (*opening, *record.actions), where)
    tags = {
        "Round": f"{record.set}.{record.number}",
        **dict(zip(colours, record.players, strict=True)),
        "PlyCount": str(len(actions)),
        KNOWN: str(len(opening)),
    }
    if start == game.initial() and record.opening_actions is None:
        tags[FROM] = POSITION
    if not record.end:
        return Score(start, actions, result, tags, {})
    tags["Termination"] = TERMINATIONS.get(record.end.partition(":")[0], "unterminated")
    return Score(start, actions, result, tags, {len(actions): record.end})


def _way_to_opening(game: Game, record: GameRecord, where: str) -> tuple[State, tuple[str, ...]]:
    """Return (where the score begins, the moves from there to the opening)."""
    if record.opening_actions is not None:
        return game.initial(), record.opening_actions
    fen, _, moves = game.to_text(position(game, record.opening, where)).partition(" moves ")
    return game.from_text(fen), tuple(moves.split())


def _actions(game: Game, s: State, texts: Sequence[str], where: str) -> list[Action]:
    actions = []
    for ply, text in enumerate(texts, 1):
        actions.append(legal_action(game, s, text, f"{where}, ply {ply}, {text!r}"))
        s = game.result(s, actions[-1])
    return actions


# --- in --------------------------------------------------------------------------------------------------------------
def _records(game: Game, scores: Sequence[Score], colours: tuple[str, str], source: str) -> Iterator[GameRecord]:
    for index, score in enumerate(scores, 1):
        where = f"{source}: game {index} of the file"
        if score.result not in UTILITIES:
            raise DataError(f"{where} has the result {score.result!r}: write 1-0, 0-1 or 1/2-1/2, or take it out")
        texts, states = _texts(game, score, where)
        players = tuple(score.tags.get(colour, UNKNOWN) for colour in colours)
        if KNOWN in score.tags:
            yield _ours(game, score, texts, states, players, where)
        else:
            yield _anybodys(game, score, index, texts, states, players)


def _texts(game: Game, score: Score, where: str) -> tuple[tuple[str, ...], list[State]]:
    """Return the moves as the game writes them, and the positions, one more; unlike in files, a draw ends the game."""
    texts, states = [], [score.start]
    for ply, a in enumerate(score.actions, 1):
        try:
            texts.append(game.action_to_text(states[-1], a))
            states.append(game.result(states[-1], a))
        except GameError as error:
            raise DataError(f"{where}, ply {ply}: {error}: cut the game off before it") from None
    return tuple(texts), states


def _ours(
    game: Game, score: Score, texts: tuple[str, ...], states: list[State], players: tuple[str, ...], where: str
) -> GameRecord:
    in_set, number = _whole(score.tags, "Round", r"([0-9]{1,18})\.([0-9]{1,18})", where)
    (plies,) = _whole(score.tags, "PlyCount", "([0-9]{1,18})", where)
    (opening,) = _whole(score.tags, KNOWN, "([0-9]{1,18})", where)
    if plies != len(texts) or opening > plies:
        raise DataError(
            f"{where} has {len(texts)} plies, but PlyCount says {plies} and OpeningPlies {opening}: moves are missing, "
            "or correct the tags"
        )
    known = score.start == game.initial() and score.tags.get(FROM) != POSITION
    return GameRecord(
        number=number,
        opening=game.to_text(states[opening]),
        opening_actions=texts[:opening] if known else None,
        players=players,
        actions=texts[opening:],
        utilities=UTILITIES[score.result],
        end=_end(score, where),
        set=in_set,
    )


def _end(score: Score, where: str) -> str:
    if "Termination" not in score.tags:
        return ""
    end = score.comments.get(len(score.actions), "")
    expected = TERMINATIONS.get(end.partition(":")[0])
    if expected is None or expected != score.tags["Termination"]:
        raise DataError(
            f"{where}: Termination is {score.tags['Termination']!r}, but the comment at the end is {end!r}: expected "
            f"'{FORFEIT}: why' for 'rules infraction', '{ADJUDICATED}: which rule' for 'adjudication'"
        )
    return end


def _anybodys(
    game: Game, score: Score, index: int, texts: tuple[str, ...], states: list[State], players: tuple[str, ...]
) -> GameRecord:
    """Return somebody else's game: the players may have resigned, agreed on a draw, or lost by the clock."""
    end = "" if game.is_terminal(states[-1]) else f"{ADJUDICATED}: {score.tags.get('Termination', 'as the file says')}"
    known = () if score.start == game.initial() else None
    opening = game.to_text(states[0])
    return GameRecord(index, opening, known, players, texts, UTILITIES[score.result], end)


def _whole(tags: Mapping[str, str], name: str, pattern: str, where: str) -> tuple[int, ...]:
    found = re.fullmatch(pattern, tags.get(name, ""))
    if found is None:
        what = "set.number, as in 3.7" if name == "Round" else "a whole number"
        raise DataError(f"{where}: the tag {name} is {tags.get(name)!r}: expected {what}")
    return tuple(map(int, found.groups()))
