"""Item biases from noisy sums: h_j = W_j b_j + noise. Post-processing of releases.

Frequently rated items are liked more, so the prior uses the frequency:

    b_j ~ N(x_j . c, t^2),    x_j = (1, log W_j standardised) among the items of j's domain.

c is the generalised least squares estimate with shrinkage to zero. t^2 is the mean of (b - x c)^2
plus its posterior variance over the items, iterated (EM).
"""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST = 1e-9  # least variance, against division by zero


def item_levels(
    weights: Doubles, pull: Doubles, noise: Doubles, spread: float, group: NDArray[np.int64]
) -> Doubles:
    """Return b, shape (items,). `weights`: W, above 0. `pull`: h. `noise`: variances of h.

    `spread`: initial standard deviation of biases, and prior deviation of coefficients. `group`:
    the domain of each item.
    """
    seen, doubt = pull / weights, noise / weights**2
    x = _features(weights, group)
    variance, levels = spread**2, seen
    for _ in range(ROUNDS):
        precise = 1 / (doubt + variance)
        normal = (x.T * precise) @ x + np.eye(x.shape[1]) / spread**2
        prior = x @ np.linalg.solve(normal, x.T @ (precise * seen))
        reliability = variance * precise
        levels = prior + reliability * (seen - prior)
        variance = max(float(np.mean((levels - prior) ** 2 + variance * (1 - reliability))), LEAST)
    return levels


def _features(weights: Doubles, group: NDArray[np.int64]) -> Doubles:
    columns = list[Doubles]()
    for number in np.unique(group):
        mine = group == number
        often = np.log(weights) - np.log(weights[mine]).mean()
        spread = float(often[mine].std())
        columns += [mine * 1.0, mine * often / max(spread, LEAST)]
    return np.stack(columns, 1)
