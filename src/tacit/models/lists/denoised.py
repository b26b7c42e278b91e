"""Second moments without what noise alone would show: the few directions beyond its edge, shrunk.

Entries of a debiased G have noise of about one size s. If that were independent from entry to
entry, no eigenvalue of W G W, W the diagonal of weights w of the items, would owe more to it than

    edge = s min_y y sqrt(sum_i w_i^2 / (y - w_i^2)),    y > max w^2,

which is 2 s sqrt(n) for items that weigh alike (Wigner), and in general follows from Dyson's
equation for entries of the variance s^2 w_i^2 w_j^2: with c(z) = s^2 sum_i w_i^2 / (z - w_i^2 c)
and y = z / c, z is this function of y, and the spectrum ends where it is least. An eigenvalue e
beyond it stands for sqrt(e^2 - edge^2) of the truth: exactly so where all weigh alike, the
shrinkage of least squared error (Gavish and Donoho, "Optimal shrinkage of singular values", 2017,
for the symmetric case). Entries share their people, so that a few directions of noise, the more the
fewer people there are to an item, lie up to sqrt(n / m) / 2 of the edge beyond it and keep a small
value. The bound for sums over people (Marchenko and Pastur) would drop them, and more of what is
true.

An item weighs its count to the power of an *emphasis*. Directions of popular items then stand out
further than their noise grows, which pays where noise is strong; where it is weak, others are lost.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

from tacit.models.lists.co_occurrence import CoOccurrence

Doubles = NDArray[np.float64]
LEAST = 0.05
"""No item weighs less than one of so many mean counts; a count below it is mostly noise."""


def denoised(found: CoOccurrence, emphasis: float = 0.0) -> Doubles:
    """F with F F' = G without its noise, shape (items, d); d may be 0."""
    weights = emphasised(np.diag(found.gram), emphasis)
    edge = found.edge * widened(weights)
    weighted = weights[:, None] * found.gram * weights
    values, vectors = eigh(weighted, subset_by_value=(edge, np.inf), driver="evr")
    return vectors / weights[:, None] * (values**2 - edge**2) ** 0.25


def emphasised(counts: Doubles, emphasis: float) -> Doubles:
    """The items' weights, shape (items,): 1 at the mean count."""
    mean = max(float(counts.mean()), 1.0)
    return np.maximum(counts / mean, LEAST) ** emphasis


def widened(weights: Doubles) -> float:
    """The edge of noise between weighted items, over that where each weighs 1."""
    squares = weights**2
    top = float(squares.max())

    def end(part: float) -> float:
        """The z of y = top / part, over s."""
        return float(top / part * np.sqrt((squares / (top / part - squares)).sum()))

    least = minimize_scalar(end, bounds=(0.0, 1.0), method="bounded")
    return float(least.fun) / (2 * np.sqrt(len(weights)))
