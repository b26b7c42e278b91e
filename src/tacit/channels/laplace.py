"""Laplace family of mechanisms: one scale parameter, one output grid, one noise law each."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from tacit.channels.compiler import PRECISION
from tacit.channels.laplace_line import RAREST, LaplaceLine, laplace_line
from tacit.channels.mechanism import DIGITS, MOST_EPSILON, AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError, integer, shown
from tacit.scale import shortest

# Base class of the Laplace family: one scale parameter, one output grid, one noise law.

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
        if self.sensitivity is not None and not DIGITS.fullmatch(str(self.sensitivity)):
            raise RequestError(
                f"sensitivity must be a decimal such as '1', got {shown(self.sensitivity)}."
            )
        if not 2 <= integer("symbols", self.symbols) <= MOST_OUTPUTS:
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


@dataclass(frozen=True, kw_only=True)
class Laplace(AbstractLaplace):
    """Laplace mechanism (Dwork et al. 2006): unbounded noise on a public grid, its tails merged.

    The rating plus Laplace noise, on the cells of `laplace_line`.

    E[output | r] = r: unbiased, at the price of reports far off the scale.
    """

    def table(self) -> Channel:
        """Return exp(-|y - r| / b) on the grid, normalised, certified at `epsilon` nats."""
        with localcontext(prec=PRECISION):
            rarest = Decimal(2) ** -min(RAREST, self.word_bits - 2)
            line = laplace_line(self.scale, self.exact_spread, symbols=self.symbols, rarest=rarest)
            rows = [line.row(k * line.fine) for k in range(self.scale.n_levels)]
            outputs = line.outputs()
        return self.compiled(outputs, rows)

    def density(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.density`."""
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        """Implement `AbstractLaplace.mean`."""
        return rating

    def below(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.below`."""
        return laplace_below(output - rating, self.spread)


@dataclass(frozen=True, kw_only=True)
class ClampedLaplace(AbstractLaplace):
    """Clamped Laplace: Laplace noise clamped to the ends of the scale (input ISGD).

    min(u, max(l, r + n)), n ~ Laplace(b): two atoms at the ends, a density between them.

    An end preserves the sign of large noise, which bounding discards: at epsilon <= 1 it carries
    about twice the information of `bounded-laplace`. The table is the discrete Laplace law on the
    grid's line, exp(-|y - r| / b), with all mass at or beyond an end added up there: the ratio of
    the two ends is exactly e^epsilon.
    """

    def table(self) -> Channel:
        """Return P(y | r), with the tails on the ends, certified at `epsilon` nats per report."""
        points, last = self.grid(), self.symbols - 1
        with localcontext(prec=PRECISION):
            b = self.exact_spread
            tail = 1 / (1 - kernel(points[1] - points[0], b))
            ends = [tail if k in (0, last) else Decimal(1) for k in range(self.symbols)]
            rows = [
                [share * kernel(y - level, b) for share, y in zip(ends, points, strict=True)]
                for level in map(Fraction, self.scale.levels)
            ]
        return self.compiled(points, rows)

    def density(self, output: float, rating: float) -> float:
        """Return the density between the ends; the atoms are `below(l+)` and 1 - `below(u)`."""
        if not self.scale.low < output < self.scale.high:
            return 0.0
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        """Implement `AbstractLaplace.mean`."""
        b, low, high = self.spread, float(self.scale.low), float(self.scale.high)
        return rating + b / 2 * (math.exp((low - rating) / b) - math.exp((rating - high) / b))

    def below(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.below`."""
        slack = 1e-10 * float(self.scale.step)
        if output <= float(self.scale.low) + slack:
            return 0.0
        if output > float(self.scale.high) + slack:
            return 1.0
        return laplace_below(output - rating, self.spread)


@dataclass(frozen=True, kw_only=True)
class BoundedLaplace(AbstractLaplace):
    """Bounded Laplace (Neera et al. 2021): Laplace noise conditioned on the scale.

    Output in [l, u] with density exp(-|y - r| / b) / (2 b C(r)).

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


@dataclass(frozen=True, kw_only=True)
class ModifiedLaplace(AbstractLaplace):
    """Modified Laplace (Zheng 2022): Laplace noise, with ratings suppressed and inserted.

    Zheng's first mechanism (Definition 2), for a rating or "missing" in one slot.

    With K = e^(eps/2) / (1 + e^(eps/2)) and n Laplace of scale b = (high - low) / eps:

        a rating r  -> r + n with probability K, else "missing"
        missing     -> "missing" with probability K, else the middle of the scale + n

    Per slot, in nats: eps between two ratings, eps from rated to missing (a report far beyond the
    rating's end), eps/2 from missing to rated (the symbol "missing"). The table is that law on the
    cells of `laplace_line`. Conditional on a report, its mean is the rating, or the
    middle of the scale for an inserted one. `missing` is always true.
    """

    missing: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.missing:
            raise RequestError(
                "modified-laplace protects presence, so its table always has a row for "
                "missing; use laplace if presence is public."
            )

    def table(self) -> Channel:
        """Return suppression or insertion, then noise; certified at `epsilon` nats per slot."""
        with localcontext(prec=PRECISION):
            unchanged, line = self.exact_kept, self._line()
            inserted = line.row(line.last // 2)
            rows = [[unchanged, *((1 - unchanged) * share for share in inserted)]]
            for k in range(self.scale.n_levels):
                rows.append(
                    [1 - unchanged, *(unchanged * share for share in line.row(k * line.fine))]
                )
            outputs = line.outputs()
        return self.compiled((None, *outputs), rows)

    def _line(self) -> LaplaceLine:
        # The middle of an even number of levels is between two: the grid must contain it.
        finest = 1 if self.scale.n_levels % 2 else 2
        # The far cell is the rarest one, equally so for the other end and for "missing".
        rarest = Decimal(2) ** -min(RAREST, self.word_bits - 2) / self.exact_kept
        return laplace_line(
            self.scale, self.exact_spread, symbols=self.symbols - 1, rarest=rarest, finest=finest
        )

    @property
    def exact_kept(self) -> Decimal:
        """K, the probability that rated stays rated and missing stays missing."""
        odds = (Decimal(self.claim) / 2).exp()
        return odds / (1 + odds)

    @property
    def kept(self) -> float:
        """K as a float."""
        return float(self.exact_kept)

    def density(self, output: float, rating: float) -> float:
        """Return the density of the output given the rating and a report."""
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        """Return E[output | rating, reported]."""
        return rating

    def below(self, output: float, rating: float) -> float:
        """Return P(report < output | rating, reported)."""
        return laplace_below(output - rating, self.spread)
