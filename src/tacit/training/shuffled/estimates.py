"""Estimates from counts of shuffled messages, which are all that the provider has.

Uniform messages are spread evenly over all buckets, so the mean count of buckets that no device has
is subtracted. A device sends at most M own messages, so a user with more has a smaller weight in
each: estimated counts rank items and relate them, and are not numbers of users.

No message is about a diagonal entry of the co-occurrence matrix G. With its true diagonal, G has no
negative eigenvalue. The diagonal is taken in proportion to the sums of the rows, and is the least
with which no eigenvalue is below that of noise, -e for the noise edge e.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from tacit.models.lists.item_weights import ItemWeights
from tacit.training.person.head_weights import NoisyPairs

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
HALVINGS = 12


def item_estimates(counts: Longs, items: int) -> Doubles:
    """Return debiased counts, shape (items,). `counts`: of all items, then of unused buckets."""
    return counts[:items] - counts[items:].mean()


def popularity_weights(counts: Doubles) -> ItemWeights:
    """Return the weights of a list by popularity. `counts`: debiased, shape (items,)."""
    return ItemWeights(popularity=counts.astype(np.float32))


def pair_estimates(counts: Longs, size: int) -> NoisyPairs:
    """Return the co-occurrence of the head, as far as messages of the round `pairs` show it.

    `counts`: messages per bucket, shape (n (n + 1) / 2,), as `pair_bucket` in
    `tacit.device.shuffled.bundle` numbers them. `size`: n.
    """
    pairs = np.zeros((size, size))
    pairs[np.tril_indices(size)] = counts
    # The mean of the decoys is unbiased. Their median is not, in a skewed law of counts.
    pairs -= np.diag(pairs).mean()
    pairs = np.tril(pairs, -1)
    pairs += pairs.T
    edge = 2 * float(np.sqrt(max(counts.mean(), 1.0) * size))
    return NoisyPairs(pairs=pairs, edge=edge, squares=_squares(pairs, edge))


def _squares(pairs: Doubles, edge: float) -> Doubles:
    """Return the diagonal: sums of rows times the least scale, by bisection."""
    sums = np.maximum(pairs.sum(1), 0)

    def is_positive(scale: float) -> bool:
        total = pairs + np.diag(scale * sums)
        return bool(eigvalsh(total, subset_by_index=[0, 0])[0] >= -edge)

    low, high = 0.0, 1.0  # at 1 the diagonal dominates, but for noise
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_positive(middle) else (middle, high)
    return high * sums
