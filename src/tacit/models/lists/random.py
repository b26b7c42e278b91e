"""Random lists: the floor under every figure of a list."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import by_user
from tacit.kernels.lists.topk import best_lists
from tacit.models.lists.fitted import Where
from tacit.models.lists.interactions import Interactions
from tacit.ratings import Codes, Ratings

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class RandomLists:
    """Lists drawn evenly from `items` items by the seed `rng`, learnt from nothing: no secret."""

    items: int
    rng: int

    def lists(self, own: Ratings, length: int = 20, *, where: Where = "device") -> Codes:
        """As `FittedLists.lists`, whatever anybody has."""
        chance = np.random.default_rng(self.rng)
        seen, _ = by_user(own.users, own.items, own.n_users, self.items)

        def score(some: slice) -> Floats:
            return chance.random((some.stop - some.start, self.items), np.float32)

        return best_lists(score, seen, self.items, length)


@dataclass(frozen=True)
class Random:
    """Learns nothing."""

    name = "random"

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> RandomLists:
        """Lists drawn by `rng`."""
        return RandomLists(data.n_items, rng)
