"""Top-N weights from noisy counts of items, and of pairs of the most frequent items (the head).

Weights between items of the head are those of EASE (Steck 2019) for a noisy co-occurrence matrix G,
whose eigenvectors above the noise edge e are retained (`tacit.models.lists.denoised`). The diagonal
of G is estimated. At most e / 4 of an item's square is included in G, or popular items would lift
noise above the edge; the rest is added to the item's own ridge, which is otherwise e / 2. These
constants were chosen on synthetic users (`benchmarks/dp_ease.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.models.lists.denoised import spectrum
from tacit.models.lists.ease_solution import LowRankSolution
from tacit.models.lists.item_weights import Directions, ItemWeights

Doubles = NDArray[np.float64]
CLEAR, RIDGE = 0.25, 0.5
"""Largest square in G, and the ridge, in units of the noise edge."""
OUTSIDE = 1e-3
"""Largest score of an item without weights, below any score from a user's own items."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyPairs:
    """Noisy co-occurrence of the n items of a head.

    `pairs`: symmetric, 0 on the diagonal, shape (n, n). `edge`: noise edge, the largest eigenvalue
    of its noise. `squares`: estimate of the diagonal, at least 0, shape (n,).
    """

    pairs: Doubles
    edge: float
    squares: Doubles


def head_weights(
    counts: Doubles,
    head: NDArray[np.bool_],
    noisy: NoisyPairs,
    *,
    clear: float = CLEAR,
    ridge: float = RIDGE,
) -> ItemWeights:
    """Return weights between the items of `head`, and the order of all others by `counts`.

    `counts`: debiased counts of items, shape (items,). `head`: mask, shape (items,).
    """
    outside = np.maximum(counts, 0)
    outside *= OUTSIDE / max(float(outside.max()), 1.0)
    pairs, edge = noisy.pairs.copy(), noisy.edge
    retained = np.minimum(noisy.squares, clear * edge)
    pairs[np.diag_indices(len(pairs))] = retained
    factors = spectrum(pairs, edge).denoised(edge)
    directions = None
    if factors.shape[1]:
        solution = LowRankSolution.of(factors, ridge * edge + noisy.squares - retained)
        directions = _expanded(solution.directions(), head)
    return ItemWeights(popularity=outside.astype(np.float32), directions=directions)


def _expanded(directions: Directions, head: NDArray[np.bool_]) -> Directions:
    """Expand weights between the items in `head` to all items; others have no direction."""

    def filled(values: NDArray[np.float32]) -> NDArray[np.float32]:
        values_of_all = np.zeros((len(head), *values.shape[1:]), np.float32)
        values_of_all[head] = values
        return values_of_all

    return Directions(
        vectors=filled(directions.vectors),
        spectrum=directions.spectrum,
        left=filled(directions.left),
        right=filled(directions.right),
    )
