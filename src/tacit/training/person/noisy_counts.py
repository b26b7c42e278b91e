"""Noisy item counts of a curator: sums of weights that have norm 1 per user.

    W_j = sum over users of s_uj + noise,    s_uj = 1 / sqrt(items of u) for equal weights

Weights are non-negative and have norm 1 per user, so replacing one user by another changes all
totals by at most sqrt(2) (`tacit.training.mechanism.contributions.count_sensitivity`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.als import weighted_sums
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """`values`: W, shape (items,). `noise`: the standard deviation of their noise."""

    values: Doubles
    noise: float

    def with_another(self, other: "NoisyCounts") -> "NoisyCounts":
        """Return the precision-weighted mean of two releases of the same counts."""
        mine, its = self.noise**-2, other.noise**-2
        values = (mine * self.values + its * other.values) / (mine + its)
        return NoisyCounts(values, float((mine + its) ** -0.5))


def noisy_counts(
    name: str, canonical: CanonicalRatings, weights: Doubles, account: Account
) -> NoisyCounts:
    """Release `name`: sums of the users' `weights` by item, non-negative and of norm 1 per user.

    `weights`: in canonical order, shape (n,).
    """
    bound = contributions.count_grid(account.multiplier(name))
    steps = contributions.rounded(weights, canonical.person, canonical.people, bound)
    ones = np.ones((canonical.people, 1), np.int32)
    totals = weighted_sums(canonical.items, steps, ones)[:, 0]
    sensitivity = contributions.count_sensitivity(bound)
    noisy = account.gaussian(name, totals, sensitivity=sensitivity)
    return NoisyCounts(noisy / bound, account.multiplier(name) * sensitivity / bound)


def even_weights(canonical: CanonicalRatings) -> Doubles:
    """Return s with equal weights for all items of a user; shape (n,)."""
    return np.asarray(1 / np.sqrt(canonical.users.counts[canonical.person]), np.float64)
