"""Base class of the Laplace family: one scale parameter, one output grid, one noise law."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import MOST_EPSILON, AbstractMechanism
from tacit.errors import RequestError
from tacit.scale import shortest

MOST_OUTPUTS = 4096


@dataclass(frozen=True, kw_only=True)
class AbstractLaplace(AbstractMechanism):
    """Laplace noise of scale b around the rating, on at most `symbols` public output points.

    By default epsilon holds between any two ratings: b = (high - low) / epsilon. With `sensitivity`
    Df below the range, `epsilon` is between ratings at most Df apart, as in the papers. The table
    then claims, and proves, the larger `claim` = (high - low) / b that holds between any two. The
    table is the law on a grid; `density`, `mean` and `noise_law` compute the continuous law in
    floats, for tests and figures only.
    """

    symbols: int = 64
    sensitivity: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.symbols <= MOST_OUTPUTS:
            raise RequestError(f"symbols must be from 2 to {MOST_OUTPUTS}, got {self.symbols}.")
        if not 0 < self.reach <= self.width:
            raise RequestError(
                f"sensitivity must be above 0 and at most {self.width}, the range of the scale, "
                f"got {self.sensitivity}."
            )
        if Decimal(self.claim) > MOST_EPSILON:
            raise RequestError(
                f"Epsilon {self.epsilon} at sensitivity {self.sensitivity} is {self.claim[:6]} "
                f"nats between any two ratings, above {MOST_EPSILON}; use a smaller epsilon."
            )

    @property
    def reach(self) -> Decimal:
        """Df, the largest distance of ratings between which `epsilon` holds."""
        return self.width if self.sensitivity is None else Decimal(self.sensitivity)

    @cached_property
    def claim(self) -> str:
        """Epsilon of the table between any two ratings, in nats, a decimal string."""
        if self.reach == self.width:
            return shortest(Decimal(self.epsilon))
        with localcontext(prec=PRECISION):
            overall = self.width / self.least_spread()
            return shortest(overall.quantize(Decimal(1).scaleb(-15), ROUND_CEILING))

    @property
    def exact_spread(self) -> Decimal:
        """b, the scale of the noise in stars, to the precision of the current decimal context."""
        return self.width / Decimal(self.claim)

    @property
    def spread(self) -> float:
        """b, the scale of the noise in stars: its standard deviation over sqrt(2), untruncated."""
        return float(self.exact_spread)

    def least_spread(self) -> Decimal:
        """Return the least b with `epsilon` between ratings `reach` apart: Df / epsilon."""
        return self.reach / Decimal(self.epsilon)

    def grid(self) -> tuple[Fraction, ...]:
        """Return `symbols` evenly spaced points, both ends of the scale included."""
        low, gap = Fraction(self.scale.low), Fraction(self.width) / (self.symbols - 1)
        return tuple(low + k * gap for k in range(self.symbols))

    @abstractmethod
    def density(self, output: float, rating: float) -> float:
        """Return the density of the continuous law at `output` given the true rating."""

    @abstractmethod
    def mean(self, rating: float) -> float:
        """Return E[output | rating] of the continuous law."""

    @abstractmethod
    def below(self, output: float, rating: float) -> float:
        """Return P(report < output | rating) under the continuous law."""

    def noise_law(
        self, prior: Sequence[float] | None = None, edges: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Return P(edges[k] <= output - rating < edges[k+1]), the last bin closed.

        `prior`: probabilities of the levels, default uniform. `edges`: ascending, in stars;
        default: all multiples of the scale's step that noise bounded by the scale can reach.
        """
        levels = self.scale.values
        shares = prior if prior is not None else [1 / len(levels)] * len(levels)
        step, reach = float(self.scale.step), len(levels) - 1
        cuts = list(edges) if edges is not None else [k * step for k in range(-reach, reach + 1)]
        cuts[-1] += 1e-9 * step
        return tuple(
            sum(
                share * (self.below(level + high, level) - self.below(level + low, level))
                for share, level in zip(shares, levels, strict=True)
            )
            for low, high in pairwise(cuts)
        )


def laplace_density(noise: float, spread: float) -> float:
    """Return exp(-|n| / b) / (2 b)."""
    return math.exp(-abs(noise) / spread) / (2 * spread)


def laplace_below(noise: float, spread: float) -> float:
    """Return P(Laplace(b) < n)."""
    tail = math.exp(-abs(noise) / spread) / 2
    return tail if noise < 0 else 1 - tail


def kernel(distance: Fraction, spread: Decimal) -> Decimal:
    """Return exp(-|distance| / b) to the precision of the current decimal context."""
    return (-Decimal(abs(distance).numerator) / abs(distance).denominator / spread).exp()
