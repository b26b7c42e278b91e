"""GF-CF (Shen et al. 2021): low-pass filter on the item-item graph.

    W = R~' R~ + strength D_i^-1/2 V V' D_i^1/2,    R~ = D_u^-1/2 A D_i^-1/2

V are the leading right singular vectors of R~. With reports, A is the debiased C and degrees
include its noise, so that all entries have similar noise. The first term covers all item pairs that
share a report and is then mostly noise, so it is omitted: only V remains, shrunk to popularity
where held-out users do not gain from it (`tacit.models.lists.shrinkage`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from tacit.engines.engine import Engine
from tacit.engines.tables import Tables
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.denoised import ScaledPresence, leading_items
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.models.lists.shrinkage import (
    DEVICE,
    PROVIDER,
    Blend,
    HeldOutSums,
    WeightFactors,
    chosen_blend,
    fold_of_users,
    held_out_sums,
    judged_folds,
    shares,
)

Doubles = NDArray[np.float64]
PART = 8
"""With reports, at most one in `PART` directions is used: all of them would filter nothing."""


@dataclass(frozen=True, kw_only=True)
class GraphFilter:
    """GF-CF (Shen et al. 2021): low-pass filter on the item-item graph.

    `directions`: of the low-pass filter. `strength`: weight of the low-pass filter relative to the
    linear one, default as published.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.

    Raises `RequestError` for less than one direction and a strength that is not above 0.
    """

    directions: int = 256
    strength: float = 0.3
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)
    name = "graph-filter"

    def __post_init__(self) -> None:
        if self.directions < 1 or not self.strength > 0:
            raise RequestError(
                f"directions must be at least 1 and strength above 0, got {self.directions} "
                f"directions and a strength of {self.strength:g}."
            )

    def fit(
        self,
        data: Interactions,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
    ) -> FittedLists:
        """Fit the filter to interactions. `rng`: seed of the initial directions.

        Raises `RequestError` for an engine without `state`, and for a folder of another fit.
        """
        tables = data.tables(self, rng)
        if data.presence.noisy:
            weights = self._shrunk(data.presence, tables, rng, advance)
            return FittedLists.of(self.name, data, *weights)
        low_pass, scaled = self._low_pass(data.presence.on(self.engine, tables), rng, advance)
        nothing = np.zeros(data.n_items, np.float32)
        weights = ItemWeights(popularity=nothing, directions=low_pass, between=_shared(scaled))
        return FittedLists.of(self.name, data, weights)

    def _low_pass(
        self, presence: PresenceMatrix, rng: int, advance: Callable[[float], None]
    ) -> tuple[Directions, ScaledPresence]:
        """Return the low-pass filter, and the matrix that it was computed from."""
        people, items = _degrees(presence)
        scaled = ScaledPresence(presence, people**-0.5, items**-0.5)
        count = self.directions
        if presence.noisy:
            count = min(count, max(1, min(presence.shape) // PART))
        vectors, values = leading_items(scaled, count, rng=rng, advance=advance)
        low_pass = Directions(
            vectors=vectors,
            spectrum=np.full(len(values), self.strength, np.float32),
            left=(items**-0.5).astype(np.float32),
            right=(items**0.5).astype(np.float32),
        )
        return low_pass, scaled

    def _shrunk(
        self,
        presence: PresenceMatrix,
        tables: Tables,
        rng: int,
        advance: Callable[[float], None],
    ) -> tuple[ItemWeights, ItemWeights]:
        """Return the weights of devices and those of the provider."""
        fold, folds = fold_of_users(presence.shape[0], rng), judged_folds(presence)
        fits = len(folds) + 1
        device: list[HeldOutSums] = []
        provider: list[HeldOutSums] = []

        def fitted(some: NDArray[np.bool_], number: int) -> tuple[Doubles, Directions]:
            known = presence.where(some).on(self.engine, tables.within(f"fit-{number}"))
            low_pass, _ = self._low_pass(known, rng, lambda done: advance((number + done) / fits))
            return shares(known), low_pass

        for number in folds:
            mean, low_pass = fitted(fold != number, number)
            held = presence.where(fold == number)
            held = held.on(self.engine, tables.within(f"held-out-{number}"))
            factors = WeightFactors(low_pass.left_factors, low_pass.of_items)
            device.append(held_out_sums(held, mean, factors, noisy_rows=False))
            provider.append(held_out_sums(held, mean, factors, noisy_rows=True))
        mean, low_pass = fitted(np.ones(len(fold), np.bool_), len(folds))
        return (
            _blended(mean, low_pass, chosen_blend(HeldOutSums.over(device), DEVICE)),
            _blended(mean, low_pass, chosen_blend(HeldOutSums.over(provider), PROVIDER)),
        )


def _blended(mean: Doubles, low_pass: Directions, blend: Blend) -> ItemWeights:
    """Return beta m + lambda x W."""
    scaled = replace(low_pass, spectrum=low_pass.spectrum * np.float32(blend.weights))
    return ItemWeights(
        popularity=(blend.popularity * mean).astype(np.float32),
        directions=scaled if blend.weights else None,
    )


def _degrees(presence: PresenceMatrix) -> tuple[Doubles, Doubles]:
    """Return the degrees of users and items, including noise; at least 1."""
    if presence.noisy:
        return presence.degrees
    m, n = presence.shape
    people, items = presence.over_items(np.ones(n)), presence.over_people(np.ones(m))
    return np.maximum(people, 1), np.maximum(items, 1)


def _shared(scaled: ScaledPresence) -> csr_array:
    """Return R~' R~, sparse: most item pairs share no user."""
    rows = diags_array(scaled.people) @ scaled.presence.reported @ diags_array(scaled.items)
    light = csr_array(rows).astype(np.float32)
    return csr_array(light.T @ light)
