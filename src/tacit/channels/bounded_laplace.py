"""Bounded Laplace (Neera et al. 2021): Laplace noise conditioned on the scale."""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from tacit.channels.compiler import PRECISION
from tacit.channels.laplace_law import AbstractLaplace, kernel, laplace_below, laplace_density
from tacit.channels.table import Channel


@dataclass(frozen=True, kw_only=True)
class BoundedLaplace(AbstractLaplace):
    """Output in [l, u] with density exp(-|y - r| / b) / (2 b C(r)).

    C(r) = 1 - (exp(-(r - l) / b) + exp(-(u - r) / b)) / 2. Between any two ratings the loss is
    exactly (u - l) / b, since C(l) = C(u). Between ratings at most Df apart b must satisfy b = Df /
    (epsilon - ln(C(l + Df) / C(l))), which has b on both sides and is solved by bisection.

    The mean is biased to the middle of the scale and the spread depends on the rating, so the noise
    is neither centred nor independent of the rating. With ranks Q_1 < .. < Q_h, steps [a0, a1) of
    width c and C_i = C(Q_i), `noise_law` is the paper's (4) and (5), corrected:

        (4') a1 <= 0: sum over {i: l - Q_i <= a0} of Pr(Q_i) (exp(a1/b) - exp(a0/b)) / (2 C_i)
        (5') a0 >= 0: sum over {i: u - Q_i >= a1} of Pr(Q_i) (exp(-a0/b) - exp(-a1/b)) / (2 C_i)

    The table has P(y | r) proportional to the density at each grid point, the two ends counting
    half (the trapezoid rule): the ratio of the end columns is exactly e^epsilon, and the means
    converge to the law's as the square of the gap.
    """

    def table(self) -> Channel:
        """Return P(y | r) by the trapezoid rule, certified at `claim` nats per report."""
        points, last = self.grid(), self.symbols - 1
        with localcontext(prec=PRECISION):
            b = self.exact_spread
            ends = [Decimal("0.5") if k in (0, last) else Decimal(1) for k in range(self.symbols)]
            rows = [
                [share * kernel(y - level, b) for share, y in zip(ends, points, strict=True)]
                for level in map(Fraction, self.scale.levels)
            ]
        return self.compiled(points, rows)

    def least_spread(self) -> Decimal:
        """Return the least b with `epsilon` nats between ratings `reach` apart, by bisection."""
        # The loss Df/b + ln(C(l + Df)/C(l)) decreases in b. It is at least Df/b, and at most
        # (u - l)/b because it increases in Df (Lemma 2). These bounds bracket the root.
        low, high = self.reach / Decimal(self.epsilon), self.width / Decimal(self.epsilon)
        for _ in range(120):
            middle = (low + high) / 2
            if self._loss(middle) > Decimal(self.epsilon):
                low = middle
            else:
                high = middle
        return high

    def _loss(self, b: Decimal) -> Decimal:
        near, far = (-self.reach / b).exp(), ((self.reach - self.width) / b).exp()
        inside, edge = 2 - near - far, 1 - (-self.width / b).exp()
        return self.reach / b + (inside / edge).ln()

    def normaliser(self, rating: float) -> float:
        """Return C(r), the probability that unbounded noise stays on the scale."""
        low, high = float(self.scale.low), float(self.scale.high)
        b = self.spread
        return 1 - (math.exp(-(rating - low) / b) + math.exp(-(high - rating) / b)) / 2

    def density(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.density`."""
        if not self.scale.low <= output <= self.scale.high:
            return 0.0
        return laplace_density(output - rating, self.spread) / self.normaliser(rating)

    def mean(self, rating: float) -> float:
        """Implement `AbstractLaplace.mean`."""
        b, down = self.spread, rating - float(self.scale.low)
        up = float(self.scale.high) - rating
        pull = (b + down) * math.exp(-down / b) - (b + up) * math.exp(-up / b)
        return rating + pull / (2 * self.normaliser(rating))

    def below(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.below`."""
        low, b = float(self.scale.low), self.spread
        inside = min(max(output, low), float(self.scale.high))
        mass = laplace_below(inside - rating, b) - laplace_below(low - rating, b)
        return mass / self.normaliser(rating)
