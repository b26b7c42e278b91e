"""Mean rating and biases of items and users, released with noise: unit `value`.

    mu~  = (sum (r - middle) + noise) / |Omega|
    b~_i = (sum over R(i) of (r - mu~) + noise) / (n_i + damping),   b~_u likewise of the residuals

The published methods compute all three from the raw ratings, which has no finite epsilon: given all
others, a bias determines the rating (Xian et al., equation (4)). One rating's value changes one
entry of each sum by at most the range of the scale, so each sum is one Laplace release; counts are
public at this unit. The shrinkage of a noisy sum follows from public variances, below.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.scale import LEVEL_NOISE, LEVEL_SPREAD
from tacit.training.mechanism.noisy_releases import NoisyReleases
from tacit.training.value.integer_ratings import STEPS, IntegerRatings, sums

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class BiasBudget:
    """Epsilons of the three releases, decimal strings, in nats per rating value."""

    mean: str
    items: str
    people: str


@dataclass(frozen=True, eq=False)
class Biases:
    """In grid steps relative to the middle of the scale: `mean`, `items` (n,), `people` (m,)."""

    mean: int
    items: Ints
    people: Ints

    def residuals(self, known: IntegerRatings, bound: int) -> Ints:
        """Return the residual of each rating, clipped to [-bound, bound], shape (n,), in steps."""
        level = self.mean + self.items[known.item_of] + self.people[known.user_of]
        return np.clip(known.values - level, -bound, bound)


def released_biases(known: IntegerRatings, releases: NoisyReleases, budget: BiasBudget) -> Biases:
    """Release the biases, at budget.mean + budget.items + budget.people nats per rating value."""
    users = releases.public("ratings per user", known.layout.users.counts)
    items = releases.public("ratings per item", known.layout.items.counts)
    total = releases.laplace(
        "sum of ratings",
        np.array([known.values.sum()]),
        sensitivity=known.width,
        epsilon=budget.mean,
    )
    mean = _clipped(total / max(1, int(users.sum())), known.width // 2)[0]
    left = known.values - mean
    by_item = releases.laplace(
        "sums of items",
        sums(known.item_of, left, len(items)),
        sensitivity=known.width,
        epsilon=budget.items,
    )
    of_items = _clipped(drawn_to_zero(by_item, items, known.width, budget.items), known.width)
    left = left - of_items[known.item_of]
    by_user = releases.laplace(
        "sums of people",
        sums(known.user_of, left, len(users)),
        sensitivity=known.width,
        epsilon=budget.people,
    )
    of_people = _clipped(
        drawn_to_zero(by_user, users, known.width, budget.people), known.width // 2
    )
    return Biases(int(mean), of_items, of_people)


def drawn_to_zero(totals: Ints, counts: NDArray[np.int64], width: int, epsilon: str) -> Doubles:
    """Return posterior means of levels, given noisy totals of n ratings each, in steps.

    total ~ n b + Normal(0, n s^2) + Laplace(width / epsilon), b ~ Normal(0, t^2), s and t the
    public `LEVEL_NOISE` and `LEVEL_SPREAD`: b = total n t^2 / (n^2 t^2 + n s^2 + 2 (width /
    epsilon)^2). Shapes (n,); `epsilon`: nats per rating value.
    """
    n = counts.astype(np.float64)
    level, spread, noise = LEVEL_SPREAD**2, LEVEL_NOISE**2, 2 / float(epsilon) ** 2
    return totals * n * level / np.maximum(n * n * level + n * spread + noise, 1e-300)


def expected_error(counts: NDArray[np.int64], epsilon: float) -> float:
    """Return the mean squared error of such levels over all ratings, in squared ranges; public.

    `counts`: shape (n,). `epsilon`: nats per rating value.
    """
    n = counts.astype(np.float64)
    level, spread, noise = LEVEL_SPREAD**2, LEVEL_NOISE**2, 2 / epsilon**2
    signal = n * n * level
    error = level * (1 - signal / np.maximum(signal + n * spread + noise, 1e-300))
    return float((n * error).sum() / max(1.0, n.sum()))


def in_stars(steps: Ints) -> Doubles:
    """Convert grid steps to a difference on the rating scale, of any shape."""
    return steps / STEPS


def _clipped(steps: Doubles, bound: int) -> Ints:
    return np.clip(np.rint(steps), -bound, bound).astype(np.int64)
