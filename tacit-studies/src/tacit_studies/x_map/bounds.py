"""X-Map's Theorems 2, 3 and 4 as numerical checks of a pair, or of a row, of items.

2  Removing one witness changes s(i, j) by at most SS(i, j). 3  Every drawn neighbour has a
similarity above Sim_k - w, with probability at least 1 - rho. 4  Every item with a similarity above
Sim_k + w is drawn, with probability at least 1 - rho.

None holds in general: a user who rated one of both items is in its norm, products of centred
ratings may be negative, and the proofs use one SS for all pairs. Where w is as large as Sim_k, 3
and 4 are almost vacuous, as `EventShares.silent` reports.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.x_map.private_neighbours import RHO, in_turn, truncation
from tacit.crossdomain.x_map.replacement import Draws, uniform
from tacit.kernels.neighbourhood.sensitivity import SMALLEST

Doubles = NDArray[np.float64]


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
        return max(self.shared, self.single) <= self.printed + 1e-12


def moved(first: Doubles, second: Doubles) -> Moved:
    """Return the changes of a pair's similarity.

    `first`, `second`: centred ratings of two items, shape (users,), NaN where unrated.
    """
    a, b = np.nan_to_num(first), np.nan_to_num(second)
    dot, squares = float(a @ b), (float(a @ a), float(b @ b))
    complete = _cosine(dot, squares[0], squares[1])
    without = np.array([
        _cosine(dot - x * y, squares[0] - x * x, squares[1] - y * y)
        for x, y in zip(a, b, strict=True)
    ])  # fmt: skip
    change = np.abs(without - complete)
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
    rest = np.sqrt(np.maximum((a @ a - a**2) * (b @ b - b**2), 0))[both]
    known = rest > SMALLEST**2
    if not known.any():
        return 0.0
    dot, products = float(a @ b), (a * b)[both][known]
    complete = _cosine(dot, float(a @ a), float(b @ b))
    return float(max((products / rest[known]).max(), (dot / rest[known]).max() - complete))


def _cosine(dot: float, first: float, second: float) -> float:
    return dot / math.sqrt(first * second) if min(first, second) > 1e-12 else 0.0


@dataclass(frozen=True)
class EventShares:
    """Frequencies of the events of Theorems 3 and 4, as fractions of draws.

    `silent`: whether the theorems are vacuous: Sim_k - w is at most 0, and no similarity exceeds
    Sim_k + w.
    """

    above: float
    present: float
    silent: bool


def neighbours_drawn(
    s: Doubles, sensitivity: Doubles, k: int, epsilon: float, longest: int, draws: int
) -> EventShares:
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
        above += bool((s[chosen] > kth - w - 1e-12).all())
        present += bool(np.isin(certain, chosen).all())
    silent = kth - w <= 0 and len(certain) == 0
    return EventShares(above / draws, present / draws, silent)


def holds(share: float) -> bool:
    """Return whether an event of this frequency satisfies 1 - rho."""
    return share >= 1 - RHO
