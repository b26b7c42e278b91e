"""Baselines of top-N metrics: popularity and random lists."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.kernels.ranking.topk import best_lists
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.exclusion import Where, items_by_user, maker_exclusion
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import ItemWeights
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings
from tacit.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class Popularity:
    """Popularity: the most frequent items, the same list for all users.

    Score items by their debiased counts, unbiased estimates of their numbers of users.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.
    """

    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)
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


Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomLists:
    """Uniform random lists from the public seed `rng`.

    `presence`: the reports, for the items that a provider excludes.
    """

    user_ids: Vocabulary
    item_ids: Vocabulary
    presence: PresenceMatrix
    guarantee: Guarantee
    rng: int

    def lists(self, own: Ratings, length: int = 20, *, where: Where = "device") -> Codes:
        """Return random lists with the exclusions of `FittedLists.lists`."""
        own_items = items_by_user(own.aligned(self.user_ids, self.item_ids))
        users, excluded = maker_exclusion(own_items, self.presence, self.guarantee, where)
        generator = np.random.default_rng(self.rng)

        def score(some: slice) -> Floats:
            return generator.random((some.stop - some.start, len(self.item_ids)), np.float32)

        codes = np.full((len(self.user_ids), length), -1, np.int32)
        codes[users] = best_lists(score, excluded, len(self.item_ids), length)
        return codes


@dataclass(frozen=True)
class Random:
    """Random lists: the baseline of all top-N metrics.

    Nothing is fitted.
    """

    name = "random"

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> RandomLists:
        """Return lists drawn by `rng`."""
        return RandomLists(
            user_ids=data.user_ids,
            item_ids=data.item_ids,
            presence=data.presence,
            guarantee=data.guarantee,
            rng=rng,
        )
