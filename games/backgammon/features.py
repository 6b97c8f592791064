"""What an evaluator reads of a backgammon position: two sets of features, and heuristics that weigh them.

`rich` counts what players speak of, each as own minus opposing, so it changes its sign with the player. `tesauro` is
the raw board of TD-Gammon (Tesauro, Neural Computation 6, 1994), 198 numbers for a network. Neither reads the dice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evallearn.core.game import Heuristic
from evallearn.games.backgammon.moves import BAR, CHECKERS, HOME, OFF, ROLLS, Dice, Side, State, pips, rearmost, turns

FEATURE_SETS = ("rich", "tesauro")
RICH_NAMES = (
    "pips",  # pips to go until all checkers are off
    "wastage",  # pips that a bear-off from this home board will waste, after Keith's count
    "contact",  # pips to go until all checkers are past the last opposing one
    "shots",  # rolls of 36 that hit a blot, of the player on roll
    "shots_next",  # the same of the other player, if it were on roll
    "blots",  # single checkers that can still be hit
    "points",  # points with two checkers or more
    "home_points",  # of these, the points 1 to 6
    "block",  # of these, the points 4 to 8
    "prime",  # made points in a row, 6 at most
    "trapped_5",  # opposing checkers behind five made points in a row
    "trapped_6",  # the same behind six
    "anchors",  # made points in the opposing home board
    "advanced_anchor",  # 1 if one of them is the opposing 4 or 5 point
    "ace_anchor",  # 1 if one of them is the opposing ace point
    "bar",  # checkers on the bar
    "dance",  # with one there, the rolls of 36 that do not enter it
    "back",  # checkers in the opposing home board and on the bar
    "stuck",  # which of 1 to 6 the rearmost checker cannot move for opposing points
    "timing",  # pips that checkers on the points 7 to 18 may move until all are home
    "stacked",  # checkers above the third on a point
    "off",  # checkers borne off
    "to_save",  # without one off: pips to go until one can be, which saves the gammon
)
ADVANCED, ACE = (20, 21), 24


# --- who can hit -----------------------------------------------------------------------------------------------------
def shots(own: Side, opp: Side) -> int:
    """Count the rolls of 36 with which `own` could hit a blot, exactly: every rule of moving is respected."""
    targets = {25 - q for q in range(1, 25) if opp[q] == 1}
    if not targets:
        return 0
    points, blocked = {p for p in range(1, 25) if own[p]}, {25 - q for q in range(1, 25) if opp[q] > 1}
    n = 0
    for high, low in ROLLS:
        if high == low:
            n += doubles_hit(points, own[BAR], high, targets, blocked)
        else:
            n += 2 * mixed_hit(own, opp, (high, low), points, targets, blocked)
    return n


def ahead(points: set[int], die: int, blocked: set[int]) -> set[int]:
    """Return the points of the board on which one checker from each of `points` can land."""
    return {p - die for p in points if p > die} - blocked


def mixed_hit(own: Side, opp: Side, dice: Dice, points: set[int], targets: set[int], blocked: set[int]) -> bool:
    """Return True if two different dice hit one of the `targets`.

    A hit is legal if it takes both dice, or if the other one can be played after it. Where that is not plain, the legal
    plays are searched.
    """
    high, low = dice
    on_bar = own[BAR]
    if on_bar > 1:
        return any(ahead({BAR}, die, blocked) & targets for die in dice)
    doubtful = False
    for die, other in ((high, low), (low, high)):
        if on_bar:
            first = ahead({BAR}, die, blocked)
            second = ahead(points | first, other, blocked) if first else set()
            rest_playable = len(second) > 0
        else:
            first = ahead(points, die, blocked)
            second = ahead(first, other, blocked)
            rest_playable = len(ahead(points, other, blocked)) > 1  # one of them is not the checker that hit
        if second & targets or (first & targets and rest_playable):
            return True
        doubtful = doubtful or bool(first & targets)
    return doubtful and any(after != opp for _, after in turns(own, opp, dice).values())


def doubles_hit(points: set[int], on_bar: int, die: int, targets: set[int], blocked: set[int]) -> bool:
    """Return True if a double hits: by up to four steps of one checker, after those on the bar have entered.

    Whatever hits is legal: the moves of other checkers never hinder it, nor it them.
    """
    if on_bar:
        entered = ahead({BAR}, die, blocked)
        if not entered or entered & targets:
            return bool(entered & targets)
        points = points | entered
    for _ in range(4 - on_bar):
        points = ahead(points, die, blocked)
        if points & targets:
            return True
    return False


# --- the rich set ----------------------------------------------------------------------------------------------------
def run_lengths(made: set[int]) -> list[int]:
    """Return for each point how many made points follow each other from there upwards."""
    lengths = [0] * 26
    for p in range(24, 0, -1):
        lengths[p] = lengths[p + 1] + 1 if p in made else 0
    return lengths


def trapped(lengths: list[int], opp: Side, n: int) -> int:
    """Count opposing checkers that still have `n` made points in a row before them."""
    start = max((p for p in range(1, 25) if lengths[p] >= n), default=0)
    return sum(opp[26 - start :]) if start else 0


def wastage(own: Side) -> int:
    """Count checkers too deep, twice on the ace point, and gaps on 4 to 6: Keith's additions to the pip count."""
    deep = 2 * max(own[1] - 1, 0) + max(own[2] - 1, 0) + max(own[3] - 3, 0)
    return deep + sum(own[p] == 0 and p < rearmost(own) for p in (4, 5, 6))


def one_sided(own: Side, opp: Side) -> tuple[int, ...]:
    """Return what is counted for each side alone: RICH_NAMES without the shots."""
    made = {p for p in range(1, 25) if own[p] > 1}
    held = {25 - q for q in range(1, 25) if opp[q] > 1}
    lengths = run_lengths(made)
    rear, front = rearmost(own), 25 - rearmost(opp)
    return (
        pips(own),
        wastage(own),
        sum(own[p] * (p - front) for p in range(front + 1, 26)),
        sum(own[p] == 1 for p in range(front + 1, 25)),
        len(made),
        len(made.intersection(HOME)),
        len(made.intersection(range(4, 9))),
        min(max(lengths), 6),
        trapped(lengths, opp, 5),
        trapped(lengths, opp, 6),
        len(made.intersection(range(19, 25))),
        int(not made.isdisjoint(ADVANCED)),
        int(ACE in made),
        own[BAR],
        len(held.intersection(range(19, 25))) ** 2 if own[BAR] else 0,
        sum(own[19:]),
        len(held.intersection(range(rear - 6, rear))),
        sum(own[p] * (p - 6) for p in range(7, 19)),
        sum(max(n - 3, 0) for n in own[1:25]),
        own[OFF],
        0 if own[OFF] else sum(own[p] * (p - 6) for p in range(7, 26)),
    )


SHOTS = RICH_NAMES.index("shots")


def rich(s: State, player: int) -> tuple[int, ...]:
    """Return RICH_NAMES for `player`: own minus opposing."""
    differences = [a - b for a, b in zip(one_sided(s.own, s.opp), one_sided(s.opp, s.own), strict=True)]
    differences[SHOTS:SHOTS] = shots(s.own, s.opp), -shots(s.opp, s.own)
    return tuple(differences) if player == s.player else tuple(-d for d in differences)


# --- Tesauro's set ---------------------------------------------------------------------------------------------------
def _side_names(who: str) -> tuple[str, ...]:
    return (
        *(f"{who}_{p}_{unit}" for p in range(1, 25) for unit in ("1", "2", "3", "more")),
        f"{who}_bar",
        f"{who}_off",
    )


TESAURO_NAMES = (
    # Of each side, for the points 1..24 as it numbers them itself: 1 if there is a checker, a second, a third, and half
    # of what is above three; then half of the checkers on the bar, and the share of those that are off.
    *_side_names("own"),
    *_side_names("opp"),
    # whose turn it is
    "own_turn",
    "opp_turn",
)


def units(side: Side) -> list[float]:
    """Return the 98 inputs of one side."""
    values: list[float] = []
    for n in side[1:25]:
        values += [float(n >= 1), float(n >= 2), float(n >= 3), max(n - 3, 0) / 2]
    return [*values, side[BAR] / 2, side[OFF] / CHECKERS]


def tesauro(s: State, player: int) -> tuple[float, ...]:
    """Return TESAURO_NAMES for `player`."""
    mine, theirs, turn = (s.own, s.opp, 1.0) if player == s.player else (s.opp, s.own, 0.0)
    return (*units(mine), *units(theirs), turn, 1.0 - turn)


# --- heuristics ------------------------------------------------------------------------------------------------------
PIP, CHECKER_OFF, BLOT = 0.012, 0.05, 0.02
"""A pip is worth about 0.036 points: eight, an average roll, 0.3. A checker off counts four pips more than it had."""
RUNNING = {"pips": -PIP, "off": CHECKER_OFF, "to_save": -0.004}
FIGHTING = {
    "pips": -0.009, "shots": 0.005, "shots_next": 0.002, "blots": -0.01, "home_points": 0.04, "block": 0.05,
    "prime": 0.02, "trapped_5": 0.03, "trapped_6": 0.06, "advanced_anchor": 0.1, "ace_anchor": -0.1, "bar": -0.08,
    "dance": -0.003, "back": -0.03, "stuck": -0.01, "stacked": -0.01, "off": 0.03, "to_save": -0.002,
}  # fmt: skip
RACE_NOTE = "By hand: run home with the fewest pips, bear off, and leave no blots on the way."
RICH_HEURISTICS: Mapping[str, Heuristic] = {
    "race": Heuristic({"pips": -PIP, "off": CHECKER_OFF, "blots": -BLOT}, RACE_NOTE),
    "positional": Heuristic(
        (FIGHTING, RUNNING, RUNNING),
        "By hand: race, safety, a block, an advanced anchor, nobody left behind; the sizes were picked by eye from "
        "some sixty tries by greedy matches against Tesauro's pubeval, with which it is about even, and by what GNU "
        "Backgammon thinks of its choices in 1,000 positions.",
    ),
}


def on_units(
    of_checker: Callable[[int], float], blot: float, off: float, point: Callable[[int], float]
) -> dict[str, float]:
    """Return weights on Tesauro's inputs: for each checker on p, each blot, each checker off and each made point p."""
    weights = {"own_bar": 2 * of_checker(BAR), "own_off": CHECKERS * off}
    for p in range(1, 25):
        for unit, n in (("1", 1), ("2", 1), ("3", 1), ("more", 2)):
            weights[f"own_{p}_{unit}"] = n * of_checker(p)
        weights[f"own_{p}_1"] += blot
        weights[f"own_{p}_2"] += point(p) - blot
    return weights | {f"opp{name.removeprefix('own')}": -w for name, w in weights.items()}


TESAURO_HEURISTICS: Mapping[str, Heuristic] = {
    "race": Heuristic(on_units(lambda p: -PIP * p, -BLOT, CHECKER_OFF, lambda p: 0.0), RACE_NOTE),
    "points": Heuristic(
        on_units(lambda p: -PIP * p, -BLOT, CHECKER_OFF, lambda p: 0.06 if 4 <= p <= 8 else 0.03 if p < 4 else 0.0),
        "By hand: the same, and made points at home and before it, the middle ones double.",
    ),
}
