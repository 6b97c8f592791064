"""The verdicts: one plain sentence for each part."""

from __future__ import annotations

from evallearn.quality.figures import Figure
from evallearn.quality.measure import Measured
from evallearn.quality.swing import Swing
from evallearn.quality.thrash import Thrash

OVERCONFIDENT, MODEST = 0.8, 1.25
"""Slopes of the reference's value on the evaluator's within which values mean about what they say."""
CALM, ROUGH = 0.03, 0.12
"""Mean changes from depth to depth, as shares of a win (or of the spread, in a game for points)."""
PARITY = 0.02
"""A share of a win: a smaller gap between odd and even depths is not worth a word."""
THRASHES = 0.02
"""The share of moves from which on an evaluator is said to thrash."""


def percent(value: float) -> str:
    """Format 0.714 as 71 %; whole, but for what would round to all or nothing."""
    whole = round(100 * value)
    if (whole == 0 and value > 0) or (whole == 100 and value < 1):
        return f"{100 * value:.1f} %"
    return f"{whole} %"


def within(figure: Figure) -> str:
    """Format a share with its interval, as in 71 % (95 %: 67 to 75)."""
    return f"{percent(figure.value)} (95 %: {100 * figure.low:.0f} to {100 * figure.high:.0f})"


def compact(value: float) -> str:
    """Format a number with about three digits, whatever the size."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def choices_verdict(m: Measured) -> str | None:
    """Say how well it chooses, compared with random choice."""
    if m.agreement is None or m.loss is None:
        return None
    chance = m.random["agreement"]
    if m.agreement.low > chance:
        than = "better than chance"
    elif m.agreement.high < chance:
        than = "worse than chance"
    else:
        than = "no better than chance"
    text = f"Chooses {than}: as good as the best in {within(m.agreement)} of positions, at random {percent(chance)};"
    return f"{text} it gives away {compact(m.loss.value)} a move, at random {compact(m.random['loss'])}."


def values_verdict(m: Measured) -> str | None:
    """Say whether values mean what they say, and where they have the wrong sign."""
    if m.correlation is None:
        return None
    text = f"Its values follow the reference's with a rank correlation of {m.correlation.value:.2f}"
    if m.calibration is None or m.brier is None:
        return f"{text}."
    if m.slope is None:
        text += "; it says 0 of every position"
    elif m.slope < 0:
        text += "; they point the wrong way"
    elif m.slope < OVERCONFIDENT:
        text += "; it is overconfident"
    else:
        text += "; it is too modest" if m.slope > MODEST else "; they mean about what they say"
    text += f" (Brier score {m.brier.value:.3f}, the best constant {m.calibration.baseline_brier:.3f})."
    return f"{text} {signs_verdict(m)}".strip()


def signs_verdict(m: Measured) -> str:
    if m.signs is None:
        return ""
    text = f"It takes the wrong side to be better in {within(m.signs)} of clear positions"
    worst = max(m.phases, key=lambda p: p.errors.value, default=None)
    if worst is None or worst.errors.low <= m.signs.value:
        return f"{text}."
    return f"{text}, most often {worst.phase}: {percent(worst.errors.value)}."


def swing_verdict(swings: tuple[Swing, ...], scale: float) -> str | None:
    """Say whether the value depends on where the search stops. scale: what a change is compared with."""
    steps = swings[0].steps[1:] if swings else ()
    if not steps:
        return None
    change, quiet = _mean_change(swings[0]), ""
    if len(swings) > 1 and change > 0:
        less = 1 - _mean_change(swings[1]) / change
        quiet = f" With quiescence it moves {percent(abs(less))} {'less' if less >= 0 else 'more'}."
    share = change / scale
    how = "hardly moves" if share < CALM else "moves" if share < ROUGH else "swings strongly"
    last = steps[-1]
    text = f"The value {how} from depth to depth: by {compact(change)} on average from depth 1 to {last.depth}"
    turned = (
        f", and at the last step the choice turns in {percent(last.turned.value)} of positions" if last.turned else ""
    )
    return f"{text}{turned}; {_parity(swings[0], scale)}.{quiet}"


def _mean_change(swing: Swing) -> float:
    """Return the mean change from depth 1 on: the first step is from no search to some."""
    steps = swing.steps[1:]
    return sum(step.change.value for step in steps) / len(steps)


def _parity(swing: Swing, scale: float) -> str:
    gap = swing.odd_even
    if gap is None or gap.low <= 0 <= gap.high or abs(gap.value) < PARITY * scale:
        return "no swing with parity"
    better = "better" if gap.value > 0 else "worse"
    return f"it swings with parity, odd depths look {better} to the mover by {compact(abs(gap.value))}"


def thrash_verdict(found: Thrash) -> str:
    """Say whether it goes to and fro."""
    if not found.moves:
        return f"Nobody had a choice in {found.games} games against itself: nothing can be said of thrashing."
    seen = f"{found.moves:,} moves of {found.games} games against itself"
    if found.example is None:
        return (
            f"Does not thrash: in {seen} nobody went to and fro (95 %: at most {percent(found.share_high)} of moves)."
        )
    how = "Thrashes" if found.share >= THRASHES else "Hardly thrashes"
    shown = " ".join(found.example.moves[:4])
    return (
        f"{how}: {percent(found.share)} of {seen} (95 %: {100 * found.share_low:.1f} to "
        f"{100 * found.share_high:.1f}) go to and fro, up to {found.longest} in a row: {shown} ..."
    )
