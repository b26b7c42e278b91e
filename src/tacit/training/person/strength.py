"""Scaling of the learnt factors by a private comparison on held-out ratings.

Each user compares, for each of a few scales a, the errors of factors a v and of no factors at
ratings that their row was fitted without (`cross_fit`):

    gain_a = mean over the user's ratings of (error without factors)^2 - (error with a v)^2.

The vector of gains is clipped to a bounded norm and summed with noise. Scale 1 is replaced only by
one that is better, or by no factors, by clearly more than the noise.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.cross_fit import row_met, solved_rows

Doubles = NDArray[np.float64]
STRENGTHS = (1.0, 0.25, 0.5, 0.7)
NORM = 0.2  # norm bound of a user's gains, as a fraction of half the range, squared
CLEAR = 3.0  # noise deviations by which a scale has to be better


def strength(
    canonical: CanonicalRatings,
    targets: Doubles,
    factors: Doubles,
    precision: Doubles,
    account: Account,
) -> float:
    """Release `strength`. Returns a, 0 for no factors.

    `targets`: shape (n,). `factors`: shape (items, K).
    """
    alone = held_out(canonical, targets, factors[:, :0], precision[:1])
    errors = [held_out(canonical, targets, a * factors, precision) for a in STRENGTHS]
    counts = np.maximum(canonical.users.counts, 1)
    gains = np.column_stack([canonical.of_person(alone**2 - e**2) / counts for e in errors])
    bound = contributions.count_grid(account.multiplier("strength"))
    steps = contributions.whole_rows(gains / (NORM * canonical.half**2), bound)
    noisy = account.gaussian("strength", steps.sum(0, dtype=np.int64), sensitivity=2 * bound)
    return chosen(noisy, 2 * account.multiplier("strength") * bound)


def held_out(
    canonical: CanonicalRatings, targets: Doubles, factors: Doubles, precision: Doubles
) -> Doubles:
    """Return each rating's residual from a prediction by the other folds' ratings; shape (n,)."""
    rows, met = solved_rows(canonical, targets, factors, precision), row_met(canonical)
    errors = targets - rows[met, 0]
    for k in range(factors.shape[1]):
        errors -= rows[met, 1 + k] * factors[canonical.item, k]
    return errors


def chosen(totals: NDArray[np.int64], noise: float) -> float:
    """Return the scale of largest total gain, if significantly better than 1 or than no factors.

    `totals`: shape (strengths,), each with noise of standard deviation `noise`.
    """
    best = int(np.argmax(totals))
    if totals[best] < -CLEAR * noise:
        return 0.0
    clear = totals[best] - totals[0] > CLEAR * math.sqrt(2) * noise  # of a difference
    return STRENGTHS[best] if clear else 1.0
