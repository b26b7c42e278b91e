"""X-Map's Theorems 2, 3 and 4 as numerical checks of a pair, or of a row, of items.

2  Removing one witness changes s(i, j) by at most SS(i, j). 3  Every drawn neighbour has a
similarity above Sim_k - w, with probability at least 1 - rho. 4  Every item with a similarity above
Sim_k + w is drawn, with probability at least 1 - rho.

None holds in general: a user who rated one of both items is in its norm, products of centred
ratings may be negative, and the proofs use one SS for all pairs. Where w is as large as Sim_k, 3
and 4 are almost vacuous, as `EventCounts.silent` reports.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.x_map.private_neighbours import in_turn, truncation
from tacit.crossdomain.x_map.replacement import Draws, uniform
from tacit.kernels.neighbourhood.sensitivity import LARGEST, ZERO

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
SLACK = 1e-12
"""Rounding of doubles."""


@dataclass(frozen=True)
class Moved:
    """Largest change of a similarity by one user, and the bound of Theorem 2, SS as printed.

    `shared`: by a user who rated both. `single`: by a user who rated one of both.
    """

    shared: float
    single: float
    printed: float

    @property
    def holds(self) -> bool:
        """Whether Theorem 2 holds for this pair."""
        return max(self.shared, self.single) <= self.printed + SLACK


def moved(first: Doubles, second: Doubles) -> Moved:
    """Return the changes of a pair's similarity.

    `first`, `second`: centred ratings of two items, shape (users,), NaN where unrated.
    """
    a, b = np.nan_to_num(first), np.nan_to_num(second)
    dot, squares = float(a @ b), (float(a @ a), float(b @ b))
    complete = _cosines(np.array([dot]), np.array([squares[0]]), np.array([squares[1]]))[0]
    change = np.abs(_cosines(dot - a * b, squares[0] - a**2, squares[1] - b**2) - complete)
    both = ~np.isnan(first) & ~np.isnan(second)
    single = np.isnan(first) != np.isnan(second)
    return Moved(
        float(change[both].max(initial=0)),
        float(change[single].max(initial=0)),
        published_sensitivity(a, b, both),
    )


def published_sensitivity(a: Doubles, b: Doubles, both: NDArray[np.bool_]) -> float:
    """Return SS as printed in Theorem 2, possibly negative; 0 without users who rated both.

    `a`, `b` and `both`: shape (users,).
    """
    if not both.any():
        return 0.0
    first, second = float(a @ a), np.array([float(b @ b)])
    squares = np.repeat(second, int(both.sum()))
    terms = SensitivityTerms.of(a[both], b[both], first, squares, np.zeros(1, np.int64))
    return float(terms.sensitivity(first, second)[0])


@dataclass(frozen=True)
class SensitivityTerms:
    """What SS of one item with several others needs of their common raters, shape (others,).

    `dot`: of the pair. `alone`: the largest product over |a'| |b'|. `least`, `most`: of |a'| |b'|.
    `endless`: whether a norm is 0 without a rater. Terms of two groups of raters can be merged, so
    that large items are processed in blocks.
    """

    dot: Doubles
    alone: Doubles
    least: Doubles
    most: Doubles
    endless: NDArray[np.bool_]

    @classmethod
    def none(cls, others: int) -> Self:
        """Return the terms of no rater."""
        nothing = np.full(others, -np.inf)
        return cls(
            np.zeros(others), nothing, -nothing, np.zeros(others), np.zeros(others, np.bool_)
        )

    @classmethod
    def of(
        cls, x: Doubles, y: Doubles, first: float, second: Doubles, start: Longs
    ) -> "SensitivityTerms":
        """Return the terms of runs of common raters, one run for each other item.

        `x`, `y`: centred ratings of the item and of the other one, shape (ratings,). `first`,
        `second`: their squared norms, the latter per rating. `start`: of the runs, all of at least
        one rating, shape (others,).
        """
        products = x * y
        rest = np.sqrt(_rest(first, x) * _rest(second, y))
        known = rest > 0
        ratio = np.divide(products, rest, out=np.full(len(rest), -np.inf), where=known)
        return cls(
            np.add.reduceat(products, start),
            np.maximum.reduceat(ratio, start),
            np.minimum.reduceat(np.where(known, rest, np.inf), start),
            np.maximum.reduceat(rest, start),
            np.logical_or.reduceat(~known & (products != 0), start),
        )

    def merge(self, other: Self, at: Longs) -> None:
        """Add the terms of further raters of the other items `at`, in place."""
        self.dot[at] += other.dot
        self.alone[at] = np.maximum(self.alone[at], other.alone)
        self.least[at] = np.minimum(self.least[at], other.least)
        self.most[at] = np.maximum(self.most[at], other.most)
        self.endless[at] |= other.endless

    def similarity(self, first: float, second: Doubles) -> Doubles:
        """Return s, 0 where a norm is 0. `first`, `second`: squared norms."""
        return _cosines(self.dot, np.full(len(second), first), second)

    def sensitivity(self, first: float, second: Doubles) -> Doubles:
        """Return SS, 0 without a rater whose removal leaves both norms. `first`, `second`: squared
        norms."""
        nearest = np.where(self.dot > 0, self.least, self.most)
        some = self.most > 0
        ratio = np.divide(self.dot, nearest, out=np.zeros(len(nearest)), where=some)
        printed = np.maximum(self.alone, ratio - self.similarity(first, second))
        return np.where(self.endless, LARGEST, np.where(some, printed, 0.0))


def _rest(squares: float | Doubles, values: Doubles) -> Doubles:
    """Return squared norms without a value, 0 where only rounding is left."""
    rest = squares - values**2
    return np.where(rest > ZERO * squares, rest, 0.0)


def _cosines(dots: Doubles, first: Doubles, second: Doubles) -> Doubles:
    """Return cosines from squared norms, 0 where a norm is."""
    some = np.minimum(first, second) > SLACK
    return np.divide(
        dots, np.sqrt(np.abs(first * second)), out=np.zeros(np.shape(dots)), where=some
    )


@dataclass(frozen=True)
class EventCounts:
    """Counts of the events of Theorems 3 and 4 in a number of `draws`.

    `silent`: whether the theorems are vacuous: Sim_k - w is at most 0, and no similarity exceeds
    Sim_k + w.
    """

    above: int
    present: int
    draws: int
    silent: bool


def neighbours_drawn(
    s: Doubles, sensitivity: Doubles, k: int, epsilon: float, longest: int, draws: int
) -> EventCounts:
    """Draw k neighbours of one row `draws` times; `s`, `sensitivity`: of its candidates.

    Sim_k is over the candidates and w is for the largest SS, as in the theorems. Neighbours are
    drawn with each pair's SS, as in the algorithm. `epsilon`: epsilon', nats per row.
    """
    kth, widths = truncation(s, sensitivity, k, epsilon, longest)
    w = float(widths.max())
    exponent = epsilon * np.maximum(s, kth - widths) / (4 * k * sensitivity)
    certain = np.flatnonzero(s > kth + w)
    key, above, present = Draws.secret(), 0, 0
    for number in range(draws):
        coins = uniform(key.words("theorem", number, len(s)))
        chosen = in_turn(exponent, coins, min(k, len(s)))
        above += bool((s[chosen] > kth - w - SLACK).all())
        present += bool(np.isin(certain, chosen).all())
    silent = kth - w <= 0 and len(certain) == 0
    return EventCounts(above, present, draws, silent)
