"""Item rows from noisy sums: their posterior, cross-fitting, and the scale of the factors.

Cross-fitting: a rating's contribution to its item uses a user row fitted without that rating.

If a user's row were solved from the same ratings that then update the items, noise in a rating
would look like preference: with some 30 ratings per user and 6 factors, fitted factors predict
worse than none. So each user's ratings are divided into `FOLDS` folds, by position in the profile,
and a rating is paired with the row fitted to the other folds. Contribution bounds are unchanged:
each row has bounded length, and each rating has one row.

Such a row x^ is itself uncertain, so that the items learn v^ = rho v from it (attenuation), where
rho^2 = n t^2 / (n t^2 + sigma^2) for n ratings per row and factors of variance t^2. From the
observed variance rho^2 t^2 of v^,

    t^2 = (rho^2 t^2 + sqrt((rho^2 t^2)^2 + 4 rho^2 t^2 sigma^2 / n)) / 2.

Item rows from noisy sums: h_j = A_j v_j + noise, with one normal prior for all v_j.

Noise of covariance N_j and the prior N(0, T) give

    v_j = (A_j N_j^-1 A_j + T^-1)^-1 A_j N_j^-1 h_j,

and T is the mean of v v' plus its posterior covariance over the items, iterated (EM). Items that
are dominated by noise are shrunk close to zero. Post-processing: no rating is read.

Scaling of the learnt factors by a private comparison on held-out ratings.

Each user compares, for each of a few scales a, the errors of factors a v and of no factors at
ratings that their row was fitted without (`cross_fit`):

    gain_a = mean over the user's ratings of (error without factors)^2 - (error with a v)^2.

The vector of gains is clipped to a bounded norm and summed with noise. Scale 1 is replaced only by
one that is better, or by no factors, by clearly more than the noise.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.foldin import fold_of, rows_without_fold
from tacit.kernels.layout import Side
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings

Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST_ENERGY = 1e-9  # least variance, against division by zero


def item_rows(gram: Doubles, pull: Doubles, noise: Doubles, spread: float) -> Doubles:
    """Return v, shape (items, K), rotated so that the prior is diagonal, largest column first.

    `gram`: A, shape (items, K, K), positive semidefinite. `pull`: h, shape (items, K). `noise`: N,
    of A's shape. `spread`: initial standard deviation of a row's norm.
    """
    K = pull.shape[1]
    small = LEAST_ENERGY * np.eye(K)
    gains = np.linalg.solve(noise + small, gram).swapaxes(1, 2)  # A N^-1
    information = gains @ gram
    pulled = np.einsum("jkl,jl->jk", gains, pull)
    prior = np.eye(K) * spread**2 / K
    rows = np.zeros_like(pull)
    for _ in range(ROUNDS):
        covariance = _inverse(information + _inverse(prior + small))
        rows = np.einsum("jkl,jl->jk", covariance, pulled)
        prior = np.mean(rows[:, :, None] * rows[:, None, :] + covariance, 0)
    axes = np.linalg.eigh(prior)[1][:, ::-1]
    return rows @ axes


def semidefinite(matrices: Doubles) -> Doubles:
    """Return the nearest positive semidefinite matrices in Frobenius norm; shape (items, K, K)."""
    values, axes = np.linalg.eigh(matrices)
    return (axes * np.maximum(values, 0)[:, None, :]) @ axes.swapaxes(1, 2)


def pooled(vectors: Doubles, weights: Doubles, noise: float) -> tuple[Doubles, Doubles]:
    """Shrink noisy packed sums of x x' towards weight x mean. Returns them and the mean x x'.

    `vectors`: shape (items, D), every entry with noise of standard deviation `noise`. Deviations
    from the pool are shrunk by the fraction that noise explains (James-Stein).
    """
    mean = vectors.sum(0) / weights.sum()
    apart = vectors - weights[:, None] * mean
    energy = np.maximum((apart**2).sum(1), LEAST_ENERGY)
    retained = np.maximum(1 - noise**2 * vectors.shape[1] / energy, 0)
    return weights[:, None] * mean + retained[:, None] * apart, mean


def _inverse(matrices: Doubles) -> Doubles:
    return np.asarray(np.linalg.inv(matrices), np.float64)


FOLDS = 4
LEAST = 1e-12  # of a variance, so that a zero factor stays zero


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Cross-fitted rows.

    `row`: row paired with each rating, shape (n,). `levels`: user biases, shape (rows,). `rows`: of
    length 1, or 0 for users without other ratings, shape (rows, K).
    """

    row: NDArray[np.int64]
    levels: Doubles
    rows: Doubles

    @classmethod
    def of(
        cls, canonical: CanonicalRatings, targets: Doubles, factors: Doubles, precision: Doubles
    ) -> "CrossFit":
        """Solve every row from `targets` (n,), given the items' `factors` (items, K)."""
        solved = solved_rows(canonical, targets, factors, precision)
        lengths = np.linalg.norm(solved[:, 1:], axis=1)
        rows = solved[:, 1:] / np.maximum(lengths, 1e-9)[:, None]
        return cls(row_met(canonical), solved[:, 0], rows)

    def items(self, side: Side) -> Side:
        """Return the items' side of the ratings, with rows instead of users."""
        return Side(side.start, self.row[side.cell].astype(np.int32), side.cell)


def solved_rows(
    canonical: CanonicalRatings, targets: Doubles, factors: Doubles, precision: Doubles
) -> Doubles:
    """Return all users' rows, each from the ratings outside one fold.

    Shape (users x FOLDS, 1 + K).
    """
    return rows_without_fold(canonical.users, targets, factors, precision, FOLDS)


def row_met(canonical: CanonicalRatings) -> NDArray[np.int64]:
    """Return, for each rating, the row of its user that was fitted without it; shape (n,)."""
    return canonical.person * FOLDS + fold_of(canonical.users, FOLDS)


def unattenuated(factors: Doubles, weights: Doubles, ratings: float, variance: float) -> Doubles:
    """Return item factors (items, K) corrected for attenuation.

    `factors`: learnt from cross-fitted rows, of unit variance. `weights`: rating frequency of
    items, shape (items,). `ratings`: per user. `variance`: of one rating.
    """
    seen = np.maximum(weights @ factors**2 / weights.sum(), LEAST)
    behind = ratings * (1 - 1 / FOLDS)
    strong = (seen + np.sqrt(seen**2 + 4 * seen * variance / behind)) / 2
    return factors * np.sqrt(strong / seen)


FACTOR_SCALES = (1.0, 0.25, 0.5, 0.7)
NORM = 0.2  # norm bound of a user's gains, as a fraction of half the range, squared
CLEAR = 3.0  # noise deviations by which a scale has to be better


def factor_scale(
    canonical: CanonicalRatings,
    targets: Doubles,
    factors: Doubles,
    precision: Doubles,
    account: Account,
) -> float:
    """Release the noisy gains of `FACTOR_SCALES`, and return the best scale, 0 for no factors.

    `targets`: shape (n,). `factors`: shape (items, K).
    """
    alone = held_out(canonical, targets, factors[:, :0], precision[:1])
    errors = [held_out(canonical, targets, a * factors, precision) for a in FACTOR_SCALES]
    counts = np.maximum(canonical.users.counts, 1)
    gains = np.column_stack([canonical.of_person(alone**2 - e**2) / counts for e in errors])
    bound = contributions.count_grid(account.multiplier("factor scale"))
    steps = contributions.rounded_rows(gains / (NORM * canonical.half**2), bound)
    noisy = account.gaussian("factor scale", steps.sum(0, dtype=np.int64), sensitivity=2 * bound)
    return chosen(noisy, 2 * account.multiplier("factor scale") * bound)


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

    `totals`: shape (factor scales,), each with noise of standard deviation `noise`.
    """
    best = int(np.argmax(totals))
    if totals[best] < -CLEAR * noise:
        return 0.0
    clear = totals[best] - totals[0] > CLEAR * math.sqrt(2) * noise  # of a difference
    return FACTOR_SCALES[best] if clear else 1.0
