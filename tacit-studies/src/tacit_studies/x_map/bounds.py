"""X-Map's Theorems 2, 3 and 4 as questions that can be asked of a pair, or of a row, of items.

2  Leaving out one witness moves s(i, j) by SS(i, j) at most.
3  Every drawn neighbour is more alike than Sim_k - w, with probability 1 - rho at least.
4  Every item more alike than Sim_k + w is drawn, with probability 1 - rho at least.

None holds in general: whoever rated one of both is in its norm, products of centred ratings may be
negative, and one SS stands in the proofs for those of all pairs. Where w is all of Sim_k, 3 and 4
hardly say anything; `EventShares.silent` tells so.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.x_map.draws import Draws, uniform
from tacit.crossdomain.x_map.private_neighbours import RHO, in_turn, truncation
from tacit.kernels.sensitive import SMALLEST

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Moved:
    """How far one person moves a similarity, and how far Theorem 2 says, SS as printed.

    `shared`: the largest change by somebody who rated both; `single`: who rated one of both.
    """

    shared: float
    single: float
    printed: float

    @property
    def holds(self) -> bool:
        """Theorem 2, for this pair."""
        return max(self.shared, self.single) <= self.printed + 1e-12


def moved(first: Doubles, second: Doubles) -> Moved:
    """Centred ratings of two items, shape (people,), NaN where there is none."""
    a, b = np.nan_to_num(first), np.nan_to_num(second)
    dot, squares = float(a @ b), (float(a @ a), float(b @ b))
    whole = _cosine(dot, squares[0], squares[1])
    without = np.array([
        _cosine(dot - x * y, squares[0] - x * x, squares[1] - y * y)
        for x, y in zip(a, b, strict=True)
    ])  # fmt: skip
    change = np.abs(without - whole)
    both = ~np.isnan(first) & ~np.isnan(second)
    single = np.isnan(first) != np.isnan(second)
    return Moved(
        float(change[both].max(initial=0)),
        float(change[single].max(initial=0)),
        published_sensitivity(a, b, both),
    )


def published_sensitivity(a: Doubles, b: Doubles, both: NDArray[np.bool_]) -> float:
    """SS as it stands in Theorem 2; may be negative. 0 without anybody who rated both.

    `a`, `b` and `both`: shape (people,).
    """
    rest = np.sqrt(np.maximum((a @ a - a**2) * (b @ b - b**2), 0))[both]
    known = rest > SMALLEST**2
    if not known.any():
        return 0.0
    dot, products = float(a @ b), (a * b)[both][known]
    whole = _cosine(dot, float(a @ a), float(b @ b))
    return float(max((products / rest[known]).max(), (dot / rest[known]).max() - whole))


def _cosine(dot: float, first: float, second: float) -> float:
    return dot / math.sqrt(first * second) if min(first, second) > 1e-12 else 0.0


@dataclass(frozen=True)
class EventShares:
    """How often the events of Theorems 3 and 4 came true, as shares of draws.

    `silent`: Sim_k - w is 0 or less and nothing lies above Sim_k + w, so that neither says a thing
    about items that are alike at all.
    """

    above: float
    present: float
    silent: bool


def neighbours_drawn(
    s: Doubles, sensitivity: Doubles, k: int, epsilon: float, longest: int, draws: int
) -> EventShares:
    """Draw k neighbours of one row `draws` times; `s`, `sensitivity`: of its candidates.

    Sim_k is taken over the candidates and w with the largest SS, as in the theorems; neighbours are
    drawn with each pair's own SS, as in the algorithm. `epsilon`: epsilon', nats a row.
    """
    kth, own = truncation(s, sensitivity, k, epsilon, longest)
    w = float(own.max())
    exponent = epsilon * np.maximum(s, kth - own) / (4 * k * sensitivity)
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
    """Whether an event that came true in this share of draws keeps 1 - rho."""
    return share >= 1 - RHO
