"""GF-CF (Shen et al. 2021): low-pass filter on the item-item graph.

    W = R~' R~ + strength D_i^-1/2 V V' D_i^1/2,    R~ = D_u^-1/2 A D_i^-1/2

V are the leading right singular vectors of R~. With reports, A is the debiased C and degrees
include its noise, so that all entries have similar noise. The first term covers all item pairs that
share a report and is then mostly noise, so it is omitted: only V remains, shrunk to popularity
where held-out users do not gain from it (`tacit.models.lists.shrinkage`).

A warm fit reuses the shrinkage of the last search (`tacit.models.evidence.warm_start`), and starts
from the V of the last model: one power iteration follows what few new reports change.
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
from tacit.models.evidence.tuning import Tuning, tuning_for
from tacit.models.evidence.warm_start import rows_of
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
Floats = NDArray[np.float32]
PART = 8
"""With reports, at most one in `PART` directions is used: all of them would filter nothing."""


@dataclass(frozen=True, kw_only=True)
class GraphFilter:
    """GF-CF (Shen et al. 2021): low-pass filter on the item-item graph.

    `directions`: of the low-pass filter. `strength`: weight of the low-pass filter relative to the
    linear one, default as published.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.

    `warm`: an earlier `graph-filter` of fewer reports, from which this fit starts, with its
    shrinkage. It starts from scratch, and searches again, if the number of reports doubled or
    halved since the search, if their noise changed by a quarter, if `directions` or `strength`
    differ, and if the model was saved without its choices.

    Raises `RequestError` for less than one direction and a strength that is not above 0.
    """

    directions: int = 256
    strength: float = 0.3
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)
    warm: FittedLists | None = field(default=None, repr=False, compare=False)
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

        Raises `RequestError` for an engine without `state`, for a folder of another fit, and for a
        `warm` of another model or of users or items that are not in `data`.
        """
        tables, presence, start, folds = data.tables(self, rng), data.presence, None, 0
        tuning = tuning_for(self.warm, self.name, data, self._settings)
        if tuning is not None:
            start, tables = _vectors(self.warm, data), tables.within("warm")
        else:
            folds = len(judged_folds(presence)) if presence.noisy else 0
            tuning = self._searched(presence, folds, tables, rng, advance)
        known, rest = (
            presence.on(self.engine, tables.within("fit")),
            _part(advance, folds, folds + 1),
        )
        if presence.noisy:
            weights = self._shrunk(known, tuning, start, rng, rest)
        else:
            weights = self._exact(known, start, rng, rest)
        return FittedLists.of(self.name, data, *weights, tuning=tuning)

    @property
    def _settings(self) -> tuple[float, ...]:
        """Settings for which a shrinkage is chosen."""
        return float(self.directions), self.strength

    def _low_pass(
        self,
        presence: PresenceMatrix,
        rng: int,
        advance: Callable[[float], None],
        start: Floats | None = None,
    ) -> tuple[Directions, ScaledPresence]:
        """Return the low-pass filter, and the matrix that it was computed from.

        `start`: V of an earlier model.
        """
        people, items = _degrees(presence)
        scaled = ScaledPresence(presence, people**-0.5, items**-0.5)
        count = self.directions
        if presence.noisy:
            count = min(count, max(1, min(presence.shape) // PART))
        vectors, values = leading_items(scaled, count, rng=rng, start=start, advance=advance)
        low_pass = Directions(
            vectors=vectors,
            spectrum=np.full(len(values), self.strength, np.float32),
            left=(items**-0.5).astype(np.float32),
            right=(items**0.5).astype(np.float32),
        )
        return low_pass, scaled

    def _searched(
        self,
        presence: PresenceMatrix,
        folds: int,
        tables: Tables,
        rng: int,
        advance: Callable[[float], None],
    ) -> Tuning:
        """Return the shrinkage by the error of held-out users, without a choice for no `folds`."""
        if not presence.noisy:
            return Tuning.of(presence, self._settings)
        fold = fold_of_users(presence.shape[0], rng)
        device: list[HeldOutSums] = []
        provider: list[HeldOutSums] = []
        for number in range(folds):
            known = presence.where(fold != number).on(self.engine, tables.within(f"fit-{number}"))
            low_pass, _ = self._low_pass(known, rng, _part(advance, number, folds + 1))
            held = presence.where(fold == number)
            held = held.on(self.engine, tables.within(f"held-out-{number}"))
            mean, factors = shares(known), WeightFactors(low_pass.left_factors, low_pass.of_items)
            device.append(held_out_sums(held, mean, factors, noisy_rows=False))
            provider.append(held_out_sums(held, mean, factors, noisy_rows=True))
        return Tuning.of(
            presence,
            self._settings,
            device=chosen_blend(HeldOutSums.over(device), DEVICE),
            provider=chosen_blend(HeldOutSums.over(provider), PROVIDER),
        )

    def _shrunk(
        self,
        known: PresenceMatrix,
        tuning: Tuning,
        start: Floats | None,
        rng: int,
        advance: Callable[[float], None],
    ) -> tuple[ItemWeights, ItemWeights]:
        """Return the weights of devices and of the provider. `start`: V of an earlier model."""
        mean, blends = shares(known), (Blend(*tuning.device), Blend(*tuning.provider))
        if not any(blend.weights for blend in blends):
            return _popularity(mean, blends[0]), _popularity(mean, blends[1])
        low_pass, _ = self._low_pass(known, rng, advance, start)
        return _blended(mean, low_pass, blends[0]), _blended(mean, low_pass, blends[1])

    def _exact(
        self,
        known: PresenceMatrix,
        start: Floats | None,
        rng: int,
        advance: Callable[[float], None],
    ) -> tuple[ItemWeights]:
        """Return the weights without noise: both filters."""
        low_pass, scaled = self._low_pass(known, rng, advance, start)
        nothing = np.zeros(known.shape[1], np.float32)
        return (ItemWeights(popularity=nothing, directions=low_pass, between=_shared(scaled)),)


def _part(advance: Callable[[float], None], number: int, parts: int) -> Callable[[float], None]:
    """Return the callback of one of several parts of the work."""
    return lambda done: advance((number + done) / parts)


def _vectors(warm: FittedLists | None, data: Interactions) -> Floats | None:
    """Return V of the last model by the items of `data`, 0 for new ones; None if it has none."""
    directions = None if warm is None else warm.weights.directions
    if warm is None or directions is None:
        return None
    return rows_of(directions.vectors, warm.item_ids.codes(data.item_ids.ids))


def _blended(mean: Doubles, low_pass: Directions, blend: Blend) -> ItemWeights:
    """Return beta m + lambda x W."""
    if not blend.weights:
        return _popularity(mean, blend)
    scaled = replace(low_pass, spectrum=low_pass.spectrum * np.float32(blend.weights))
    return replace(_popularity(mean, blend), directions=scaled)


def _popularity(mean: Doubles, blend: Blend) -> ItemWeights:
    """Return beta m."""
    return ItemWeights(popularity=(blend.popularity * mean).astype(np.float32))


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
