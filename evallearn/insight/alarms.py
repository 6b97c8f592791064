"""Alarms: signs of errors on the way from games to an evaluator, each a sentence with a figure and a remedy.

    for alarm in check_alarms(gather(dataset, evaluator)):
        print(alarm.text)

Each check is silent on healthy data and where there is too little data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evallearn.data import Dataset
from evallearn.evaluators.features import FeatureEval
from evallearn.insight.evidence import Evidence, Sample, gather_all
from evallearn.insight.resampling import by_game
from evallearn.insight.worth import log_losses

FEW_GAMES = 20
"""Below so many nothing is said about their means."""
ERRORS = 3.0
"""Standard errors beyond which a sign is wrong: by chance once in 700."""
SAME = 0.005
"""Standard deviation of values that are all the same."""
ALIKE = 0.1
"""Standard deviation below which outcomes are close together themselves, as where the best utility is only a bound, so
that values may be, too: those of 2048 have 0.006."""
SURE = 0.99
"""|value| that claims at least 199 wins of 200."""
ONE_SIDED = 0.9
"""Share of the games beyond which outcomes are all alike."""
UNCALIBRATED = 0.05
"""Mean distance between value and outcome, beyond what luck explains."""
BINS = 20
ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Alarm:
    """Something to look into."""

    name: str
    text: str
    """What was seen, in figures, and what to do about it."""


def check_alarms(evidence: Evidence) -> list[Alarm]:
    """Return the alarms that ring, in the order of CHECKS."""
    return [Alarm(name, text) for name, check in CHECKS.items() if (text := check(evidence)) is not None]


def alarms_about(dataset: Dataset, evaluators: Mapping[str, FeatureEval]) -> list[dict[str, str]]:
    """Return the alarms that ring about any of these evaluators of one game.

    They are for JSON: name, text, and which evaluators they are about.
    """
    found: dict[Alarm, list[str]] = {}
    for name, evidence in zip(evaluators, gather_all(dataset, list(evaluators.values())), strict=True):
        for alarm in check_alarms(evidence):
            found.setdefault(alarm, []).append(name)  # what is wrong with the records is reported once
    return [{"name": a.name, "about": ", ".join(names), "text": a.text} for a, names in found.items()]


# --- is anything learned? --------------------------------------------------------------------------------------------
def worse_than_constant(e: Evidence) -> str | None:
    """Warn if the held-out loss is no better than that of always saying the mean of the training records."""
    loss = float(log_losses(e.test.value, e.test.outcome).mean())
    constant = np.full(len(e.test), e.train.outcome.mean())
    baseline = float(log_losses(constant, e.test.outcome).mean())
    if loss < baseline:
        return None
    return (
        f"The evaluator is worse than a constant: held-out log loss {loss:.4f}, always saying {constant[0]:+.3f} gives "
        f"{baseline:.4f}. Fit it to more games or with a larger penalty (alpha), and look at the other alarms."
    )


def constant_value(e: Evidence) -> str | None:
    """Warn if the evaluator says the same of every position."""
    spread = float(e.test.value.std())
    if len(e.test) < 2 or spread >= SAME * min(1.0, float(e.test.outcome.std()) / ALIKE):
        return None
    return (
        f"The evaluator says nearly the same of every position: {e.test.value.mean():+.3f}, standard deviation "
        f"{spread:.2g}. See with `evallearn info` whether its weights are all 0, and whether the features vary."
    )


def wrong_sign(e: Evidence) -> str | None:
    """Warn if positions that a seat went on to win are valued lower than those that it went on to lose."""
    for seat in range(e.n_players):
        mine, outcome = e.test.player == seat, e.test.outcome
        won, lost = _means(e.test, mine & (outcome > 0)), _means(e.test, mine & (outcome < 0))
        if min(len(won), len(lost)) < FEW_GAMES:
            continue
        error = np.sqrt(won.var() / len(won) + lost.var() / len(lost))
        if won.mean() - lost.mean() < -ERRORS * error:
            return (
                f"The sign is wrong for the {_ordinal(seat)} player: positions that it won are valued "
                f"{won.mean():+.3f} in the mean, those that it lost {lost.mean():+.3f}. Check that "
                "utility(s, player) and features(s, player) of the game take the side of `player`, then "
                "make the records again."
            )
    return None


def _means(sample: Sample, rows: np.ndarray) -> np.ndarray:
    """Return the mean value of each game, over the records in `rows`."""
    if not rows.any():
        return np.zeros(0)
    value = sample.value[rows]
    _, sums = by_game(sample.game[rows], np.column_stack([value, np.ones(len(value))]))
    means: np.ndarray = sums[:, 0] / sums[:, 1]
    return means


def _ordinal(seat: int) -> str:
    return ORDINALS[seat] if seat < len(ORDINALS) else f"{seat + 1}th"


# --- is the held-out figure honest? ----------------------------------------------------------------------------------
def games_in_both(e: Evidence) -> str | None:
    """Warn if the same game numbers are in both splits."""
    both = np.intersect1d(e.train.game, e.test.game)
    if not len(both):
        return None
    return (
        f"{len(both)} games, such as number {both[0]}, are both learned from and held out: the held-out loss is no "
        "proof. Split by game, never by position."
    )


def positions_in_both(e: Evidence) -> str | None:
    """Warn if held-out positions occur in training games more often than training positions in other training games."""
    known = np.isin(e.test.position, e.train.position)
    _, sums = by_game(e.test.game, np.column_stack([known, np.ones(len(known))]))
    seen, usual = float(known.mean()), _in_other_games(e.train)
    error = float((sums[:, 0] / sums[:, 1]).std() / np.sqrt(len(sums)))
    if seen <= usual + 0.05 + ERRORS * error:
        return None
    return (
        f"{seen:.0%} of the held-out positions were learned from, while only {usual:.0%} of the training positions "
        "occur in a second training game: held-out games are copies. Leave out the folder that was named twice, "
        "or play with another seed."
    )


def _in_other_games(sample: Sample) -> float:
    """Return the share of records whose position occurs in another game of the sample too."""
    pairs = np.unique(np.stack([sample.position, sample.game.astype(np.uint64)]), axis=1)
    keys, games = np.unique(pairs[0], return_counts=True)
    return float((games[np.searchsorted(keys, sample.position)] > 1).mean())


def repeated_games(e: Evidence) -> str | None:
    """Warn if self-play plays the same games again and again."""
    parts = [_signatures(s) for s in (e.train, e.test)]
    n, different = sum(map(len, parts)), len(np.unique(np.concatenate(parts)))
    if n < FEW_GAMES or different >= n / 2:
        return None
    return (
        f"Only {different} of {n} games differ: copies are no new evidence, and held-out games are known already. Play "
        "with more random opening plies or a larger epsilon (in a very small game there may be no more)."
    )


def _signatures(sample: Sample) -> np.ndarray:
    """Return uint64[games]: equal for games with the same positions."""
    _, index = np.unique(sample.game, return_inverse=True)
    sums = np.zeros(int(index.max(initial=-1)) + 1, np.uint64)
    np.add.at(sums, index, sample.position)  # hashes: their sum, which wraps around, is one too
    return sums


def too_good(e: Evidence) -> str | None:
    """Warn if held-out games are predicted nearly without fault."""
    decided = e.test.outcome != 0
    if e.n_players < 2 or len(np.unique(e.test.game[decided])) < FEW_GAMES:
        return None
    right = float((np.sign(e.test.value[decided]) == np.sign(e.test.outcome[decided])).mean())
    loss = float(log_losses(e.test.value, e.test.outcome).mean())
    if right < 0.99 or loss > 0.1:
        return None
    return (
        f"The evaluator names the winner in {right:.1%} of the held-out positions (log loss {loss:.4f}): too good to "
        f"be "
        "true. Unless its features solve the game, one of them knows the outcome: find it with `evallearn features`."
    )


# --- do the values mean what they say? -------------------------------------------------------------------------------
def saturated(e: Evidence) -> str | None:
    """Warn if many values claim certainty, and too many of them are wrong."""
    sure = np.abs(e.test.value) > SURE
    if sure.mean() < 0.01 or len(np.unique(e.test.game[sure])) < FEW_GAMES:
        return None
    wrong = float((np.sign(e.test.value[sure]) != np.sign(e.test.outcome[sure])).mean())
    if wrong <= 0.02:  # four times what such values admit
        return None
    return (
        f"{sure.mean():.0%} of the held-out values lie beyond {SURE}, and {wrong:.1%} of those are wrong: the output "
        "is saturated, and a search sees no difference among such positions. Scale the weights down, or fit with a "
        "larger penalty (alpha)."
    )


def one_sided(e: Evidence) -> str | None:
    """Warn if nearly all games end alike."""
    if e.n_players < 2:
        return None
    sample = e.train
    pairs, first = np.unique(np.stack([sample.player, sample.game]), axis=1, return_index=True)
    outcome = sample.outcome[first]
    if len(np.unique(pairs[1])) < FEW_GAMES:
        return None
    said = {f"the {_ordinal(k)} player wins": float((outcome[pairs[0] == k] > 0).mean())
            for k in range(e.n_players) if (pairs[0] == k).any()}  # fmt: skip
    said["nobody wins"] = float((outcome == 0).mean())
    what, share = max(said.items(), key=lambda item: item[1])
    if share < ONE_SIDED:
        return None
    return (
        f"Outcomes are one-sided: {what} in {share:.0%} of the games, so that there is little to learn from. Open with "
        "more random plies, or let weaker or more even players make the records."
    )


def uncalibrated(e: Evidence) -> str | None:
    """Warn if values are not the mean of what follows in a game of chance, where expectiminimax adds them up."""
    if not e.has_chance or len(np.unique(e.test.game)) < FEW_GAMES:
        return None
    index = np.minimum(((e.test.value + 1.0) / 2.0 * BINS).astype(np.int64), BINS - 1)
    error = luck = 0.0
    for k in np.unique(index):
        rows = index == k
        games = len(np.unique(e.test.game[rows]))
        error += rows.sum() * abs(e.test.value[rows].mean() - e.test.outcome[rows].mean())
        luck += rows.sum() * 0.8 * e.test.outcome[rows].std() / np.sqrt(games)  # the mean of |x| is 0.8 deviations
    error, luck = error / len(e.test), luck / len(e.test)
    if error <= luck + UNCALIBRATED:
        return None
    return (
        f"Values are off by {error:.3f} in the mean (luck alone: {luck:.3f}), and this is a game of chance, in which a "
        "search averages them. Fit by logistic regression on these records, which sets the scale right."
    )


CHECKS: dict[str, Callable[[Evidence], str | None]] = {
    check.__name__: check
    for check in (
        worse_than_constant,
        constant_value,
        wrong_sign,
        games_in_both,
        positions_in_both,
        repeated_games,
        too_good,
        saturated,
        one_sided,
        uncalibrated,
    )
}
"""Every check by its name: the sentence if it rings, else None."""
