"""Popularity: the same list for everybody, of what most people have."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights


@dataclass(frozen=True)
class Popularity:
    """An item's score is its debiased count: how many people have it, unbiased."""

    name = "popularity"

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """The counts; nothing is drawn."""
        counts = data.presence.over_people(np.ones(data.presence.shape[0]))
        return FittedLists.of(self.name, data, ItemWeights(popularity=counts.astype(np.float32)))
