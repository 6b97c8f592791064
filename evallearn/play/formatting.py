"""Verdicts, moves and results in words; plain text that reads the same without colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evallearn.agents import Agent
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.play.seats import ordinal
from evallearn.play.session import Ply, Session
from evallearn.play.verdict import Judge, Verdict, mean_loss

SHOWN_MOVES = 8
"""Moves of a line that are shown."""
WIDTH = 78
"""Characters of a line."""


# --- who ------------------------------------------------------------------------------------------------------------
def who(session: Session, player: int) -> str:
    """Return `you` and `the machine` where that is enough, else `first`, `second` and so on."""
    people = session.people
    if player in people:
        return "you" if len(people) == 1 else ordinal(player)
    return "the machine" if people and len(session.seats) == 2 else ordinal(player)


def seat_line(session: Session, player: int) -> str:
    """Format a seat as in `first: you` or `second: handwritten:nim@nodes=300000,time=1`."""
    agent: Agent | None = session.seats[player]
    return f"{ordinal(player)}: {'you' if agent is None else agent.name}"


# --- how much -------------------------------------------------------------------------------------------------------
def number(game: Game, value: float) -> str:
    """Format a value with three significant places below the utility range, and without them where it is whole."""
    if abs(value - round(value)) < 1e-6:  # sums over dice are rounded
        return f"{round(value):+d}" if round(value) else "0"
    return f"{value:+.{_places(game)}f}"


def amount(game: Game, value: float) -> str:
    """Format a difference, without its sign."""
    smallest = 10.0 ** -_places(game)
    return f"less than {smallest:g}" if value < smallest else number(game, value).removeprefix("+")


def _places(game: Game) -> int:
    low, high = game.utility_range
    return min(6, max(1, 3 - round(math.log10((high - low) / 2))))


def format_value(game: Game, value: float, proven: bool, plies: int | None = None) -> str:
    """Format a value as `+1, a win` where it is proven and the game is won, drawn or lost; else as a number.

    plies: how many it takes to the end of the game, if that is known: `+1, a win in 3 plies`, in chess `+1, mate in 2`.
    """
    low, high = game.utility_range
    if not proven or high != 1 or value not in (low, 0.0, high):
        return number(game, value)
    if value == 0.0 or plies is None:
        return f"{number(game, value)}, a {'draw' if value == 0.0 else 'win' if value == high else 'loss'}"
    if game.wins_by_mate:
        return f"{number(game, value)}, {'mate' if value == high else 'mated'} in {(plies + (value == high)) // 2}"
    soon = "1 ply" if plies == 1 else f"{plies} plies"
    return f"{number(game, value)}, a {'win' if value == high else 'loss'} in {soon}"


def certainty(proven: bool, depth: int | None, value_depth: int | None = None) -> str:
    """Say that a value is proven, or how deep the estimate searched; value_depth: as in `SearchResult`."""
    if proven:
        return "proven"
    begun = depth is not None and value_depth is not None and value_depth > depth
    return f"estimated, depth {value_depth}, not finished" if begun else f"estimated, depth {depth}"


# --- moves ----------------------------------------------------------------------------------------------------------
def then(game: Game, s: State, line: Sequence[Action]) -> str:
    """Say how a line goes on after its first move, if it does."""
    words = game.line_to_text(s, line[:SHOWN_MOVES])[1:]
    return f"; then {in_a_row(words)}{' ...' if len(line) > SHOWN_MOVES else ''}" if words else ""


def in_a_row(moves: Sequence[str]) -> str:
    """Format moves one after the other, kept apart also where a move is several words."""
    return (", " if any(" " in move for move in moves) else " ").join(moves)


def ply_text(session: Session, ply: Ply) -> str:
    """Say what the dice or an agent did: `the machine plays 2:3 (it expects +0.412, depth 9)`."""
    game, move = session.game, session.game.action_to_text(ply.before, ply.action)
    if ply.player == CHANCE:
        return (
            f"chance: {move}" if game.n_players == 1 else f"dice for {who(session, game.observer(ply.before))}: {move}"
        )
    text = f"{who(session, ply.player)} {'play' if who(session, ply.player) == 'you' else 'plays'} {move}"
    found = ply.thought
    if found is None or not (found.value_depth or found.depth):
        return text
    end = session.ending(ply)
    expects = format_value(game, found.value, end.proven, end.plies)
    if found.values is not None and game.n_players > 2:
        expects += f"; {shares(game, found.values, lambda player: who(session, player))}"
    return f"{text}   (it expects {expects}; {certainty(end.proven, found.depth, found.value_depth)})"


def shares(game: Game, values: Sequence[float], name: Callable[[int], str]) -> str:
    """Format what each player has: `+1 to you, -0.5 to second, -0.5 to third`."""
    return ", ".join(f"{number(game, value)} to {name(player)}" for player, value in enumerate(values))


def columns(words: Sequence[str], width: int = WIDTH) -> str:
    """Set the words in columns, read from left to right."""
    cell = max(map(len, words)) + 2
    each = max(1, width // cell)
    rows = (words[i : i + each] for i in range(0, len(words), each))
    return "\n".join("".join(word.ljust(cell) for word in row).rstrip() for row in rows)


# --- verdicts -------------------------------------------------------------------------------------------------------
def optimal(game: Game) -> str:
    """Say in which sense moves of this game are optimal."""
    if game.n_players > 2 or not (game.zero_sum or game.n_players == 1):
        return "optimal by max^n"
    if game.has_chance:
        return "optimal in expectation"
    return "minimax-optimal" if game.n_players == 2 else "optimal"


def verdict_text(game: Game, s: State, verdict: Verdict) -> str:
    """Format the verdict on a move in `s`: optimal or not, how sure that is, what it is worth, and what was better."""
    move = game.action_to_text(s, verdict.action)
    sure = certainty(verdict.proven, verdict.depth)
    value = format_value(game, verdict.value, verdict.value_proven, verdict.plies)
    if verdict.optimal:
        like = ", like every other move" if verdict.indifferent else ""
        return f"{move} is {'' if verdict.proven else 'probably '}{optimal(game)} ({sure}), worth {value}{like}"
    best = game.action_to_text(s, verdict.best)
    best_value = format_value(game, verdict.best_value, verdict.best_proven, verdict.best_plies)
    perhaps = "" if verdict.proven else "probably "
    text = f"{move} is {perhaps}not {optimal(game)} ({sure}), worth {value}: {amount(game, verdict.loss)} given away"
    return f"{text}\nbetter: {best}, worth {best_value}{then(game, s, verdict.line)}"


def only_move_text(game: Game, s: State, a: Action) -> str:
    """Format the verdict on a move without an alternative."""
    return f"{game.action_to_text(s, a)} is the only move"


def hint_text(judge: Judge, s: State) -> str:
    """Format the best move, what it is worth and how the game would go on."""
    game, found = judge.game, judge.analyse(s)
    proven = judge.best_is_proven(s, found)
    best = game.action_to_text(s, found.best)
    plies = judge.plies(s, found.best, found.value) if proven else None
    sure, value = certainty(proven, found.depth), format_value(game, found.value, proven, plies)
    return f"{best} is best ({sure}), worth {value}{then(game, s, found.line)}"


# --- the end --------------------------------------------------------------------------------------------------------
def result_text(session: Session) -> str:
    """Say who has won and what the end is worth."""
    game, s = session.game, session.state
    points = [game.utility(s, player) for player in range(game.n_players)]
    if game.n_players == 1:
        return f"the game is over: worth {number(game, points[0]).removeprefix('+')} to {who(session, 0)}"
    best = max(points)
    winners = [who(session, player) for player, value in enumerate(points) if value == best]
    if len(winners) == game.n_players:
        return "a draw"
    told = shares(game, points, lambda player: who(session, player))
    return f"{' and '.join(winners)} {'have' if winners[0] == 'you' or len(winners) > 1 else 'has'} won: {told}"


def summary_text(session: Session, player: int) -> str:
    """Say how many moves of a person were optimal and what the others cost."""
    verdicts = session.verdicts(player)
    judged = [verdict for verdict in verdicts if verdict]
    name = who(session, player)
    whose = "your" if name == "you" else f"{name}'s"
    if not judged:
        return f"{whose} moves: {'none was judged' if verdicts else 'none yet that was a choice'}"
    good, proven = sum(verdict.optimal for verdict in judged), sum(verdict.proven for verdict in judged)
    loss = mean_loss(judged)
    given_away = amount(session.game, loss) if loss else "0"
    not_judged = f", {len(verdicts) - len(judged)} more not judged" if len(verdicts) > len(judged) else ""
    return (
        f"{whose} moves with a choice: {good} of {len(judged)} {optimal(session.game)}, mean loss {given_away} "
        f"({proven} of the verdicts proven{not_judged})"
    )
