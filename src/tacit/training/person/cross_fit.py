"""Cross-fitting: what a rating adds to its item comes from a row that has not seen that rating.

Were a person's row solved from the very ratings that then teach the items, noise in a rating would
look like taste: with some 30 ratings a person and 6 factors, fitted factors then predict worse than
none at all. So each person's ratings fall into `FOLDS` folds, by their place in the profile, and a
rating meets the row that the other folds gave. What a person may add is bounded as before: each
row is at most as long, and each rating has one.

Such a row x^ is itself uncertain, so that the items learn v^ = rho v from it (attenuation), where
rho^2 = n t^2 / (n t^2 + sigma^2) for n ratings behind the row and factors of variance t^2. From the
variance rho^2 t^2 of v^ that is seen,

    t^2 = (rho^2 t^2 + sqrt((rho^2 t^2)^2 + 4 rho^2 t^2 sigma^2 / n)) / 2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.devices.folds import fold_of, rows_without_fold
from tacit.kernels.layout import Side
from tacit.training.mechanism.contributions import CanonicalRatings

Doubles = NDArray[np.float64]
FOLDS = 4
LEAST = 1e-12  # of a variance, so that a factor which is nothing stays nothing


@dataclass(frozen=True, eq=False)
class CrossFit:
    """`row`: which row each rating meets, shape (n,). `levels`: own levels, shape (rows,).
    `rows`: of length 1, or 0 for who has no other rating, shape (rows, K)."""

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
        """The items' side of the ratings, with rows in the place of people."""
        return Side(side.start, self.row[side.cell].astype(np.int32), side.cell)


def solved_rows(
    canonical: CanonicalRatings, targets: Doubles, factors: Doubles, precision: Doubles
) -> Doubles:
    """Everybody's rows, each from the ratings outside one fold; shape (people x FOLDS, 1 + K)."""
    return rows_without_fold(canonical.users, targets, factors, precision, FOLDS)


def row_met(canonical: CanonicalRatings) -> NDArray[np.int64]:
    """The number of the one row of its person that has not seen it, for each rating; shape (n,)."""
    return canonical.person * FOLDS + fold_of(canonical.users, FOLDS)


def unattenuated(factors: Doubles, weights: Doubles, ratings: float, variance: float) -> Doubles:
    """Item factors (items, K) as strong as ratings alone would show them.

    `factors`: learnt from cross-fitted rows, of unit variance. `weights`: how often items are
    rated, shape (items,). `ratings`: behind a person's whole row. `variance`: of one rating.
    """
    seen = np.maximum(weights @ factors**2 / weights.sum(), LEAST)
    behind = ratings * (1 - 1 / FOLDS)
    strong = (seen + np.sqrt(seen**2 + 4 * seen * variance / behind)) / 2
    return factors * np.sqrt(strong / seen)
