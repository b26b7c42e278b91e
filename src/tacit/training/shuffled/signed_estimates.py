"""Item means and factors from counts of signed messages, which are all that the provider has.

The counts of both signs of an item add up to its messages. Their difference is the sum of the
signs, whose mean is the item's mean on the scale from -1 to 1. Uniform messages have both signs, so
only their noise remains in it. Buckets that no device has measure their number.

A pair (a, b) has nearly d_a d_b messages. The product of the signs of two residuals that are nearly
normal, with deviation s and a small correlation, has the mean 2 v_a . v_b / (pi s^2) for rows v. So
sums of signs take the place of the noisy covariance of `tacit.training.person.covariance`, whose
low-rank rows are fitted to them. Entries are divided by their deviations first, which are those of
d_a d_b messages and of the uniform ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.scale import RATING_SPREAD, RatingScale
from tacit.training.person.covariance import TASTES, low_rank_rows
from tacit.training.person.item_means import ITEM_SPREAD, item_levels
from tacit.training.person.release_schedule import TASTE_SPREAD
from tacit.wire.shuffled.round_terms import THOUSANDTHS

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
LEAST = 1e-3
"""Least d of an item, against division by zero."""


class SignedSums(NamedTuple):
    """Sums of `signs`, debiased counts of `messages`, and the variance of uniform ones in either.

    Shapes (items,), or symmetric (head, head) with a zero diagonal.
    """

    signs: Doubles
    messages: Doubles
    noise: float


class ShrunkMeans(NamedTuple):
    """`mu`: mean relative to the middle of the scale. `biases`: around `mu`, shape (items,)."""

    mu: float
    biases: Doubles


def item_sums(counts: Longs, items: int) -> SignedSums:
    """Return the sums of a round about items. `counts`: per bucket, as devices number them."""
    return _sums(counts, items)


def pair_sums(counts: Longs, size: int) -> SignedSums:
    """Return the sums of a round about pairs of `size` items, as symmetric matrices."""
    signs, messages, noise = _sums(counts, size * (size - 1) // 2)
    return SignedSums(_square(signs, size), _square(messages, size), noise)


def shrunk_means(sums: SignedSums, half: float) -> ShrunkMeans:
    """Return item means, shrunk by the noise of signs and of uniform messages.

    `half`: of the scale's range.
    """
    mu = half * float(np.clip(sums.signs.sum() / max(sums.messages.sum(), 1.0), -1, 1))
    weights = np.maximum(sums.messages, max(float(np.sqrt(sums.noise)) / 2, 1.0))
    pull = half * sums.signs - mu * weights
    noise = half**2 * (sums.noise + weights)
    group = np.zeros(len(weights), np.int64)
    return ShrunkMeans(mu, item_levels(weights, pull, noise, ITEM_SPREAD * half, group))


def mean_thousandths(means: ShrunkMeans, scale: RatingScale) -> Longs:
    """Return item means as a task about pairs has them: integers within the scale, (items,)."""
    low, high = float(scale.low) * THOUSANDTHS, float(scale.high) * THOUSANDTHS
    exact = (low + high) / 2 + THOUSANDTHS * (means.mu + means.biases)
    return np.clip(np.rint(exact), np.ceil(low), np.floor(high)).astype(np.int64)


def factor_rows(sums: SignedSums, half: float) -> Doubles:
    """Return the factors of the items of a head, shape (head, K). `half`: of the scale's range."""
    total = max(float(sums.messages.sum()), 1.0)
    often = np.maximum(sums.messages.sum(0) / np.sqrt(total), LEAST)
    deviations = (often**2 + sums.noise) ** 0.25
    matrix = sums.signs / np.outer(deviations, deviations)
    entries = matrix.size - len(matrix)
    spread = float(np.sqrt((matrix**2).sum() / entries))
    scale = often / deviations * np.sqrt(2 / np.pi) / (RATING_SPREAD * 2 * half)
    return low_rank_rows(matrix, scale, spread, min(TASTES, len(matrix)), TASTE_SPREAD * half)


def with_factors(biases: Doubles, head: NDArray[np.int64], rows: Doubles) -> Doubles:
    """Return biases, shape (items,), with the factors of the items `head`, shape (head, K)."""
    items = np.zeros((len(biases), 1 + rows.shape[1]))
    items[:, 0], items[head, 1:] = biases, rows
    return items


def _sums(counts: Longs, size: int) -> SignedSums:
    uniform = float(counts[2 * size :].mean())
    negative, positive = counts[:size] - uniform, counts[size : 2 * size] - uniform
    return SignedSums(positive - negative, positive + negative, 2 * uniform)


def _square(values: Doubles, size: int) -> Doubles:
    square = np.zeros((size, size))
    square[np.tril_indices(size, -1)] = values
    return square + square.T
