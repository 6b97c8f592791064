"""What a study of features suggests, in plain words: which to leave out, which are missed most, what to beware of."""

from __future__ import annotations

from evallearn.insight.worth import FeatureStudy, FeatureWorth

COPY = 0.95
"""Correlation from which on one feature is nearly a copy of another."""
INFLATED = 10.0
"""Variance inflation from which on a weight means little without those of its partners."""
NOTHING = 0.001
"""Held-out log loss that nobody would miss: a search one ply deeper gains a hundred times as much."""
RELIED_ON = 0.02
"""Loss by shuffling from which on a feature is worth a warning: twenty times NOTHING."""
ALIKE = 0.5
"""Correlation from which on one feature can stand in for another."""
CARRIERS = 5


def redundant(study: FeatureStudy) -> list[str]:
    """Return a sentence for each feature that could be left out.

    Leave out one at a time: partners stand in for each other.
    """
    said = [(f, reason) for f in study.features if (reason := _reason(f, study)) is not None]
    return [f"{f.name} {reason}." for f, reason in said]


def _reason(f: FeatureWorth, study: FeatureStudy) -> str | None:
    if f.constant:
        return f"is {f.mean:g} in every record, so nothing can be learned about it: leave it out, or mend it"
    if abs(f.partner_correlation) >= COPY and _lesser(f, study):
        return (
            f"is nearly a copy of {f.partner} (correlation {f.partner_correlation:+.2f}): one of the two is enough, "
            f"and without {f.name} the loss changes by {_change(f.dropped.value)}"
        )
    if f.weight_may_be_zero and f.dropped.low <= 0.0 and f.dropped.value < NOTHING:
        return (
            f"may be left out: its weight could be 0 ({f.weight.low:+.3f} to {f.weight.high:+.3f}) and without it the "
            f"held-out loss changes by {_change(f.dropped.value)} ({f.dropped.low:+.4f} to {f.dropped.high:+.4f})"
        )
    return None


def _lesser(f: FeatureWorth, study: FeatureStudy) -> bool:
    """Return True for the one of a pair of copies that correlates less with the outcome; of equals, for the later."""
    names = [g.name for g in study.features]
    other = study.features[names.index(f.partner)]
    mine, theirs = abs(f.outcome_correlation), abs(other.outcome_correlation)
    return other.partner != f.name or (mine, -names.index(f.name)) < (theirs, -names.index(other.name))


def carriers(study: FeatureStudy) -> list[str]:
    """Return a sentence for each feature that is missed most: what is lost without it is more than noise."""
    needed = [f for f in study.features if f.dropped.low > 0.0]
    most = sorted(needed, key=lambda f: -f.dropped.value)[:CARRIERS]
    return [
        f"{f.name}: without it the held-out loss rises by {f.dropped.value:.4f} ({f.dropped.low:.4f} to "
        f"{f.dropped.high:.4f}); shuffled, by {f.shuffled.value:.4f}."
        for f in most
    ]


def cautions(study: FeatureStudy) -> list[str]:
    """Return what to keep in mind when the weights are read."""
    found = [
        f"{f.name} is told by the others (variance inflation {f.inflation:.0f}, most of all {f.partner}): its weight "
        "means little on its own."
        for f in study.features
        if f.inflation >= INFLATED
    ]
    found += [
        f"{f.name} is relied on (shuffled, the loss rises by {f.shuffled.value:.4f}) but not missed for certain when "
        f"it is left out: others stand in for it, most of all {f.partner}. Do not leave out both."
        for f in study.features
        if _stood_in_for(f)
    ]
    if study.log_loss >= study.baseline_log_loss:
        found.append(
            f"The {study.eval} foretells held-out games no better than a constant (log loss {study.log_loss:.4f}, "
            f"constant {study.baseline_log_loss:.4f}): the figures below say little."
        )
    if not carriers(study):
        found.append(
            f"No single feature is missed on {study.held_out_games} held-out games: they are few, or the features "
            "stand in for each other. More games make the intervals shorter."
        )
    return found


def _stood_in_for(f: FeatureWorth) -> bool:
    """Return True where shuffling hurts, leaving out does not, and another feature correlates with it."""
    relied_on = f.shuffled.low > 0.0 and f.shuffled.value >= RELIED_ON
    return relied_on and f.dropped.low <= 0.0 and abs(f.partner_correlation) >= ALIKE


def _change(loss: float) -> str:
    return f"{loss:+.4f}"
