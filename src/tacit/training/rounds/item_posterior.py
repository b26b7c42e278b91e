"""Posterior means of item rows from the noisy gradients of all rounds.

The gradient of round t is nearly linear in the rows of that round. With rows relative to their
initial values, for each column:

    g_t = u (d_t - n) + noise of variance v_t,     n ~ N(0, s^2)

d_t is a row's value in round t, n its optimum, s the public standard deviation of levels. The slope
u grows with the number of raters of an item, which is private. It is estimated from all items
together, by maximum likelihood (empirical Bayes), conservatively: the least slope that is not
rejected. If noise alone explains the gradients that is 0, and the rows keep their initial values.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
CARE = 4.0
"""Largest drop in log-likelihood of a slope that is not rejected: 2.8 standard deviations."""
SLOPES = np.r_[0.0, np.geomspace(1e-6, 2.0, 90)]
"""Candidate slopes, times s. Gradients are in half ranges, of which s is a quarter: if all users
rate all items, the slope of levels is .5 / s."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Sufficient statistics of all rounds: sums over rounds, each weighted by its 1 / v_t.

    `weight`: of 1. `gradients`, `offsets`: of g_t and d_t, shape (items, columns). `crossed`,
    `squared`: of g_t d_t and d_t^2, over items too, shape (columns,).
    """

    weight: float
    gradients: Doubles
    offsets: Doubles
    crossed: Doubles
    squared: Doubles

    @classmethod
    def none(cls, shape: tuple[int, int]) -> "Gradients":
        """Return the statistics before the first round."""
        items, columns = np.zeros((2, *shape)), np.zeros((2, shape[1]))
        return cls(0.0, *items, *columns)

    def joined(self, gradient: Doubles, offset: Doubles, noise: float) -> "Gradients":
        """Add a round: its mean `gradient`, of variance `noise`, at rows at `offset`."""
        return Gradients(
            self.weight + 1 / noise,
            self.gradients + gradient / noise,
            self.offsets + offset / noise,
            self.crossed + (gradient * offset).sum(0) / noise,
            self.squared + (offset**2).sum(0) / noise,
        )

    def log_likelihood(self, slopes: Doubles, spread: float) -> Doubles:
        """Return the log-likelihood of slopes relative to slope 0; shape (slopes, columns)."""
        u, d, g = slopes[:, None], self.offsets, self.gradients
        precision = 1 / spread**2 + self.weight * u**2
        squares = u**2 * (d**2).sum(0) - 2 * u * (d * g).sum(0) + (g**2).sum(0)
        known = u * self.crossed - u**2 * self.squared / 2
        return known + (u**2 * squares / precision - len(d) * np.log(precision * spread**2)) / 2

    def slope(self, spread: float) -> Doubles:
        """Return the least slope that is not rejected, shape (columns,)."""
        tried = SLOPES / spread
        log_likelihood = self.log_likelihood(tried, spread)
        return tried[np.argmax(log_likelihood >= log_likelihood.max(0) - CARE, axis=0)]

    def posterior_mean(self, spread: float) -> Doubles:
        """Return the mean of n at that slope, shape (items, columns). `spread`: s, in stars."""
        u = self.slope(spread)
        return u * (u * self.offsets - self.gradients) / (1 / spread**2 + self.weight * u**2)
