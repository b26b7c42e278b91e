"""Shrinkage of item weights to popularity, by the held-out error of the reports.

    s = beta m + lambda x W,    W_ii = 0

m is each item's share of users and x a user's row. For users held out of m and W, the squared error

    |x - s|^2 = |x|^2 - 2 beta x m' - 2 lambda x W x' + |s|^2

is a quadratic form in five statistics of a user. Slots are randomized independently, so products of
different slots' debiased reports are unbiased estimates of them, and so is the gain over popularity
alone, with a standard error from its spread over users. Nothing but reports is used.

The provider scores by debiased reports instead of x: its |s|^2 includes their noise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.co_occurrence import sampled_together

Array = NDArray[Any]
Doubles = NDArray[np.float64]
FOLDS = 5
"""Users are split into this many folds; each is held out once."""
MOST_CELLS = 100_000_000
"""Most slots of which all folds are held out; of larger data the first one only."""
ENOUGH = 0.5
"""Part of the blend's gain that W alone must reach to be preferred."""


class WeightFactors(NamedTuple):
    """W_ij = sum_k left_ik right_jk for i != j, and 0 for i = j; shapes (items, K)."""

    left: Array
    right: Array

    @property
    def diagonal(self) -> Array:
        """sum_k left_ik right_ik, which W omits; shape (items,)."""
        return np.asarray((self.left * self.right).sum(1))


class Thresholds(NamedTuple):
    """Least gains over popularity, in standard errors: of a blend, and of W alone."""

    blend: float
    alone: float


DEVICE = Thresholds(2, 4)
PROVIDER = Thresholds(5, np.inf)
"""The provider's lists are also corrected for its users' own reports (`unowned`), for which scores
must be probabilities: W alone is none."""


class Blend(NamedTuple):
    """s = beta m + lambda x W. `popularity`: beta. `weights`: lambda."""

    popularity: float
    weights: float


POPULARITY = Blend(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class HeldOutSums:
    """Sums over held-out users of z = (x m', x W x', |m|^2, x W m', |x W|^2).

    `total`: sum of z, shape (5,). `products`: sum of z z', shape (5, 5).
    """

    users: int
    total: Doubles
    products: Doubles

    @classmethod
    def over(cls, folds: Iterable["HeldOutSums"]) -> "HeldOutSums":
        """Combine disjoint sets of users; no folds give sums of no users."""
        return sum(folds, cls(0, np.zeros(5), np.zeros((5, 5))))

    def __add__(self, other: "HeldOutSums") -> "HeldOutSums":
        """Combine disjoint sets of users."""
        return HeldOutSums(
            self.users + other.users,
            self.total + other.total,
            self.products + other.products,
        )

    def gain(self, blend: Blend, base: Blend) -> tuple[float, float]:
        """Return by how much the squared error of `blend` is below that of `base`, and its error.

        The error is the standard deviation of the sum over users.
        """
        part = _coefficients(blend) - _coefficients(base)
        gain = float(part @ self.total)
        spread = float(part @ self.products @ part) - gain**2 / max(self.users, 1)
        return gain, float(np.sqrt(max(spread, 0.0)))


def _coefficients(blend: Blend) -> Doubles:
    """Return the factors of z in |x|^2 - |x - s|^2."""
    beta, lam = blend
    return np.array([2 * beta, 2 * lam, -(beta**2), -2 * beta * lam, -(lam**2)])


def fold_of_users(users: int, rng: int) -> NDArray[np.int64]:
    """Return each user's fold, dealt by `rng`; shape (users,)."""
    return np.random.default_rng(rng).permutation(users) % FOLDS


def judged_folds(presence: PresenceMatrix) -> range:
    """Return the folds to hold out: none if a fold has no users."""
    users, items = presence.shape
    if users < FOLDS:
        return range(0)
    return range(FOLDS if users * items <= MOST_CELLS else 1)


def shares(presence: PresenceMatrix) -> Doubles:
    """Return m: each item's share of users, debiased; shape (items,)."""
    users = presence.shape[0]
    return presence.over_people(np.ones(users)) / users


def held_out_sums(
    presence: PresenceMatrix, popularity: Doubles, weights: WeightFactors, *, noisy_rows: bool
) -> HeldOutSums:
    """Return the sums of `user_statistics` over the users."""
    z = user_statistics(presence, popularity, weights, noisy_rows=noisy_rows)
    return HeldOutSums(len(z), z.sum(0), z.T @ z)


def user_statistics(
    presence: PresenceMatrix, popularity: Doubles, weights: WeightFactors, *, noisy_rows: bool
) -> Doubles:
    """Return z of the users of `presence`, from which nothing was fitted; shape (users, 5).

    `popularity`: m, shape (items,). `noisy_rows`: whether scores are computed from debiased
    reports, as the provider does, instead of true rows.
    """
    A, B, d = np.asarray(weights.left), np.asarray(weights.right), weights.diagonal
    K, together = A.shape[1], sampled_together(presence)
    image = presence.over_items(np.hstack([A, B, d[:, None] * B]))
    left, right, corrected = image[:, :K], image[:, K : 2 * K], image[:, 2 * K :]
    inner = (B.T @ B).astype(np.float64)
    squares = presence.squares_over_items
    pairs = np.einsum("uk,uk->u", left, right) - squares(d.astype(np.float64))
    with_mean = left @ (B.T @ popularity) - presence.over_items(d * popularity)
    norms = np.einsum("uk,uk->u", left @ inner, left)
    norms += squares(np.square(d, dtype=np.float64)) - 2 * np.einsum("uk,uk->u", left, corrected)
    if not noisy_rows:
        diagonal = np.asarray(np.einsum("ik,ik->i", A @ inner, A) - d**2, np.float64)
        norms = (norms - squares(diagonal)) / together + presence.over_items(diagonal)
    mean = np.full(len(image), float(popularity @ popularity))
    return np.stack(
        [presence.over_items(popularity), pairs / together, mean, with_mean, norms], axis=1
    )


def chosen_blend(sums: HeldOutSums, thresholds: Thresholds) -> Blend:
    """Return popularity, the best blend, or W alone, by gain over popularity (`Thresholds`).

    Gains are over the best multiple of m, which is itself no reason to change the ranking.
    """
    with_mean, with_weights, mean, both, norm = sums.total.tolist()
    determinant = mean * norm - both**2
    if norm <= 0 or determinant <= 0:
        return POPULARITY
    beta = (with_mean * norm - with_weights * both) / determinant
    alone = Blend(0.0, with_weights / norm)
    best = Blend(beta, (with_weights * mean - with_mean * both) / determinant)
    best = best if beta > 0 else alone
    popularity = Blend(with_mean / mean, 0.0)
    gain, error = sums.gain(best, popularity)
    if best.weights <= 0 or gain < thresholds.blend * error:
        return POPULARITY
    alone_gain, alone_error = sums.gain(alone, popularity)
    certain = alone_gain >= thresholds.alone * alone_error
    return alone if certain and alone_gain >= ENOUGH * gain else best


def report_gains(
    presence: PresenceMatrix, popularity: Doubles, offset: Doubles, weights: WeightFactors
) -> Doubles:
    """Return by how much the squared error of `offset` + c W is below that of m, by user.

    Unbiased for the users of `presence`, from which nothing was fitted. c: a user's debiased
    reports. `popularity`: m. Shape (users,).
    """
    x, pairs, square, mixed, norm = user_statistics(presence, offset, weights, noisy_rows=True).T
    of_weights = 2 * (x + pairs - mixed) - square - norm
    of_popularity = 2 * presence.over_items(popularity) - popularity @ popularity
    return np.asarray(of_weights - of_popularity, np.float64)


def is_certain(gains: Sequence[Doubles], least: float) -> bool:
    """Return whether the total of users' gains is above `least`, and above 0 with certainty.

    `gains`: of each fold. Certain: by `PROVIDER` standard errors of the total.
    """
    of_users = np.concatenate([np.zeros(0), *gains])
    error = of_users.std() * np.sqrt(len(of_users)) if len(of_users) else np.inf
    return bool(of_users.sum() > least and of_users.sum() >= PROVIDER.blend * error)
