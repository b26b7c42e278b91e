"""Popularity: the most frequent items, the same list for all users."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tacit.engines.engine import Engine
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights


@dataclass(frozen=True, kw_only=True)
class Popularity:
    """Score items by their debiased counts, unbiased estimates of their numbers of users.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.
    """

    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)
    name = "popularity"

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Compute the counts; deterministic.

        Raises `RequestError` for an engine without `state`, and for a folder of another fit.
        """
        presence = data.presence.on(self.engine, data.tables(self, rng))
        counts = presence.over_people(np.ones(presence.shape[0]))
        return FittedLists.of(self.name, data, ItemWeights(popularity=counts.astype(np.float32)))
