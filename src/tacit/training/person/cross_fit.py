"""Cross-fitting: a rating's contribution to its item uses a user row fitted without that rating.

If a user's row were solved from the same ratings that then update the items, noise in a rating
would look like preference: with some 30 ratings per user and 6 factors, fitted factors predict
worse than none. So each user's ratings are divided into `FOLDS` folds, by position in the profile,
and a rating is paired with the row fitted to the other folds. Contribution bounds are unchanged:
each row has bounded length, and each rating has one row.

Such a row x^ is itself uncertain, so that the items learn v^ = rho v from it (attenuation), where
rho^2 = n t^2 / (n t^2 + sigma^2) for n ratings per row and factors of variance t^2. From the
observed variance rho^2 t^2 of v^,

    t^2 = (rho^2 t^2 + sqrt((rho^2 t^2)^2 + 4 rho^2 t^2 sigma^2 / n)) / 2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.devices.foldin import fold_of, rows_without_fold
from tacit.kernels.layout import Side
from tacit.training.mechanism.contributions import CanonicalRatings

Doubles = NDArray[np.float64]
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
