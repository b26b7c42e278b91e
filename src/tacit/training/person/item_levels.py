"""Item levels behind noisy sums: h_j = W_j b_j + noise. Post-processing: no rating is looked at.

What is often rated is often liked, too, so the prior knows how often that is:

    b_j ~ N(x_j . c, t^2),    x_j = (1, log W_j standardised) among the items of j's domain.

c is the generalised least squares fit, itself drawn towards zero, and t^2 the mean of (b - x c)^2 +
its posterior variance over the items, again and again (EM).
"""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST = 1e-9  # of a variance: keeps what is divided by away from zero


def item_levels(
    weights: Doubles, pull: Doubles, noise: Doubles, spread: float, group: NDArray[np.int64]
) -> Doubles:
    """b, shape (items,). `weights`: W, above 0. `pull`: h. `noise`: variances of h.

    `spread`: standard deviation that levels are expected to have at first, and coefficients at any
    time. `group`: the domain of each item.
    """
    seen, doubt = pull / weights, noise / weights**2
    x = _features(weights, group)
    variance, levels = spread**2, seen
    for _ in range(ROUNDS):
        precise = 1 / (doubt + variance)
        normal = (x.T * precise) @ x + np.eye(x.shape[1]) / spread**2
        prior = x @ np.linalg.solve(normal, x.T @ (precise * seen))
        kept = variance * precise
        levels = prior + kept * (seen - prior)
        variance = max(float(np.mean((levels - prior) ** 2 + variance * (1 - kept))), LEAST)
    return levels


def _features(weights: Doubles, group: NDArray[np.int64]) -> Doubles:
    columns = list[Doubles]()
    for number in np.unique(group):
        mine = group == number
        often = np.log(weights) - np.log(weights[mine]).mean()
        spread = float(often[mine].std())
        columns += [mine * 1.0, mine * often / max(spread, LEAST)]
    return np.stack(columns, 1)
