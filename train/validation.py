"""Training games held back to choose by (an epoch, say), so that nothing is chosen by the test split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evallearn.data.dataset import Batch, is_test
from evallearn.errors import DataError, unknown
from evallearn.train.fit.stream import RecordStream, checked

SHARE = 0.1
"""Of the training games."""
SALT = -1
"""No seed of self-play, so that this choice has nothing in common with that of the test split."""


class ValidationStream:
    """A stream whose "train" split has lost some games to a split "validation". It has no test split to look at.

    A hash of the number of a game decides, as in a `Dataset`: a game stays on its side however many are added.
    """

    def __init__(self, stream: RecordStream) -> None:
        self.stream = stream
        self.n_features, self.n_phases = stream.n_features, stream.n_phases
        self.feature_names, self.checksum = stream.feature_names, stream.checksum

    def batches(self, split: str) -> Iterator[Batch]:
        if split not in ("train", "validation"):
            raise unknown("split", split, ("train", "validation"))
        for b in self.stream.batches("train"):
            on = is_test(SALT, np.asarray(b.game), SHARE) == (split == "validation")
            yield Batch(b.features[on], b.phase[on], b.outcome[on], b.game[on])

    def require_records(self) -> None:
        """Raise DataError where there is nothing to choose by."""
        if not sum(len(b.outcome) for b in checked(self, "validation")):
            raise DataError(
                "the validation split, a tenth of the training games, holds no records, and the best epoch is chosen "
                "by its loss: play more games"
            )
