"""Cross-domain inputs of a trainer: users with ratings in both domains, and the target domain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SOURCE_WEIGHT = 0.5
"""Weight of a source rating in all sums, relative to a target rating.

Source ratings determine a user's row, for which item means, averaged over a profile, may be coarse.
Target ratings determine the predicted items."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """Cross-domain inputs.

    `links`: users with ratings in the target and elsewhere, shape (users,), secret. `domain`: of
    each item, shape (items,), public. `target`: one of the domains, public.
    """

    links: NDArray[np.bool_]
    domain: NDArray[np.int64]
    target: int

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Items of the target domain, shape (items,)."""
        return self.domain == self.target

    @property
    def emphasis(self) -> NDArray[np.float64]:
        """Relative weights of items in a user's contribution, shape (items,)."""
        return np.where(self.asked, 1.0, SOURCE_WEIGHT)
