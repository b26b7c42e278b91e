"""What a training across domains is told: who links them, and which of them is asked about."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SOURCE_WEIGHT = 0.5
"""Of a source's rating beside one of the target in all sums.

Ratings of the source tell a person's own place, for which item means, averaged over a profile, may
be coarse; those of the target tell the very items that are asked about."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """`links`: who has ratings in the target and elsewhere, shape (people,), secret. `domain`: of
    each item, shape (items,), and `target`: the number of one; public."""

    links: NDArray[np.bool_]
    domain: NDArray[np.int64]
    target: int

    @property
    def asked(self) -> NDArray[np.bool_]:
        """The items of the target, shape (items,)."""
        return self.domain == self.target

    @property
    def emphasis(self) -> NDArray[np.float64]:
        """What a person's weights are in proportion to, shape (items,)."""
        return np.where(self.asked, 1.0, SOURCE_WEIGHT)
