"""GF-CF (Shen et al. 2021): low-pass filter on the item-item graph.

    W = R~' R~ + strength D_i^-1/2 V V' D_i^1/2,    R~ = D_u^-1/2 A D_i^-1/2

V are the leading right singular vectors of R~. With reports, A is the debiased C and degrees
include its noise, so that all entries have similar noise. The first term covers all item pairs that
share a report and is then mostly noise, so it is omitted: only V remains.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.denoised import ScaledPresence, leading_items
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.interactions import Interactions
from tacit.models.lists.item_weights import Directions, ItemWeights

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
        presence = data.presence.on(self.engine, data.tables(self, rng))
        people, items = _degrees(presence)
        scaled = ScaledPresence(presence, people**-0.5, items**-0.5)
        count = min(self.directions, max(1, min(presence.shape) // PART))
        count = count if _noisy(presence) else self.directions
        vectors, values = leading_items(scaled, count, rng=rng, advance=advance)
        low_pass = Directions(
            vectors=vectors,
            spectrum=np.full(len(values), self.strength, np.float32),
            left=(items**-0.5).astype(np.float32),
            right=(items**0.5).astype(np.float32),
        )
        weights = ItemWeights(
            popularity=np.zeros(data.n_items, np.float32),
            directions=low_pass,
            between=None if _noisy(presence) else _shared(scaled),
        )
        return FittedLists.of(self.name, data, weights)


def _noisy(presence: PresenceMatrix) -> bool:
    return presence.protected or presence.asked is not None


def _degrees(presence: PresenceMatrix) -> tuple[Doubles, Doubles]:
    """Return the degrees of users and items, including noise; at least 1."""
    if _noisy(presence):
        return presence.degrees
    m, n = presence.shape
    people, items = presence.over_items(np.ones(n)), presence.over_people(np.ones(m))
    return np.maximum(people, 1), np.maximum(items, 1)


def _shared(scaled: ScaledPresence) -> csr_array:
    """Return R~' R~, sparse: most item pairs share no user."""
    rows = diags_array(scaled.people) @ scaled.presence.reported @ diags_array(scaled.items)
    light = csr_array(rows).astype(np.float32)
    return csr_array(light.T @ light)
