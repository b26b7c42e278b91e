"""Optimal channel: the best table for a public objective, by linear programming.

Finding it requires NumPy and SciPy. Verifying it does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from tacit.channels.certificate import exp_lower
from tacit.channels.compiler import PRECISION
from tacit.channels.information import level_intervals, public_thetas
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.scale import RATED_SHARE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# Linear systems in rationals.

Column = Sequence[Fraction]


def solve(columns: Sequence[Column]) -> list[Fraction]:
    """Return t with sum_y t[y] columns[y] = 1 in every row, exactly; columns are independent.

    Raises `RequestError` if no positive t solves all rows.
    """
    rows = [[*row, Fraction(1)] for row in zip(*columns, strict=True)]
    count = len(columns)
    for step in range(count):
        pivot = next((k for k in range(step, len(rows)) if rows[k][step]), None)
        if pivot is None:
            raise RequestError("The columns of the table are linearly dependent.")
        rows[step], rows[pivot] = rows[pivot], rows[step]
        lead = [value / rows[step][step] for value in rows[step]]
        rows = [_reduced(row, lead, step) for row in rows]
        rows[step] = lead
    if any(row[count] for row in rows[count:]) or any(row[count] <= 0 for row in rows[:count]):
        raise RequestError("No positive combination of the columns has sum 1 in every row.")
    return [row[count] for row in rows[:count]]


def _reduced(row: list[Fraction], lead: list[Fraction], step: int) -> list[Fraction]:
    factor = row[step]
    if not factor:
        return row
    return [value - factor * other for value, other in zip(row, lead, strict=True)]


ALL_PATTERNS = 12
"""Most levels for which all patterns of high and low entries are candidates. Above it, only single
runs of high entries are.

Runs lose nothing for the public thetas, nor, if presence is public, for "variance" or one theta.
With distant thetas, or with `missing` and a skewed prior, they were a sixth less informative.
"""

LEAST_EPSILON = "0.000001"
"""Least epsilon in nats at which columns differ enough for a solver in floating point."""


@dataclass(frozen=True, kw_only=True)
class Optimal(AbstractMechanism):
    """Optimal channel: the best table for a public objective, by linear programming.

    The epsilon-private table with the best `objective` has at most n_levels symbols.

    "variance" minimizes the posterior variance of the rating under a public `prior` (uniform by
    default). "information" maximizes the average Fisher information about theta, the latent mean
    of `tacit.channels.information`, over public `thetas` (by default its public prior). The output
    value of a symbol is the posterior mean of the rating under `prior`. Both objectives are sums
    over columns of a convex and homogeneous gain, so the best table has extremal columns, with
    entries t or R t for R = e^epsilon (Kairouz, Oh and Viswanath 2016):
    max sum_y t_y gain(c_y), sum_y t_y c_y = 1. HiGHS selects the columns, and their t are then
    solved in rationals.

    With `missing`, the table also protects presence. A slot has a rating with the public
    probability `density`, and both objectives allow for reports from slots without one: "variance"
    is that of the rating's distance from the middle of the scale, which is zero without a rating.
    The symbol "missing" is equally likely for every level, so it carries no information about the
    value, and every other symbol carries some. The output value of a symbol is the mean rating
    given that the slot has one.

    At small epsilon the table has two or three symbols, so its rank is below the number of levels.
    Ratings with equal rows are then indistinguishable: the distribution over levels cannot be
    estimated, no decoder is unbiased, and a model of the ratings (a likelihood in theta) is
    required. `tacit.channels.thresholds` mixes several tables if this matters.
    """

    objective: Literal["variance", "information"] = "variance"
    prior: tuple[float, ...] | None = None
    thetas: tuple[float, ...] | None = None
    missing: bool = False
    density: float = RATED_SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in ("variance", "information"):
            raise RequestError(
                f"objective must be variance or information, got '{self.objective}'."
            )
        if self.prior is not None and (
            len(self.prior) != self.scale.n_levels or min(self.prior) <= 0
        ):
            raise RequestError(
                f"prior must have {self.scale.n_levels} positive weights, one per level."
            )
        if not 0 < self.density < 1:
            raise RequestError(
                f"density, the share of rated slots, must be between 0 and 1, got {self.density}."
            )

    @property
    def serves_one_level(self) -> bool:
        """Whether it is defined on one level: with `missing`, it is then randomized response."""
        return self.missing

    def table(self) -> Channel:
        """Return the table with the best objective, certified at `epsilon` nats per report.

        Raises `RequestError` for an epsilon that is too small for floating point.
        """
        # Truncated to 128 fractional bits for a fast exact solve, R remains at most e^epsilon.
        ratio = Fraction(int(exp_lower(Fraction(self.epsilon)) * (1 << 128)), 1 << 128)
        columns = [
            tuple(ratio if high else Fraction(1) for high in pattern) for pattern in self.support()
        ]
        try:
            scales = solve(columns)
        except RequestError as fault:
            if Decimal(self.epsilon) >= Decimal(LEAST_EPSILON):
                raise
            raise RequestError(
                "No optimal table can be computed in floating point at epsilon "
                f"{self.epsilon}, because its columns are almost equal. Use epsilon "
                f"{LEAST_EPSILON} or more, or randomized-response."
            ) from fault
        shares = [[t * c for c in column] for t, column in zip(scales, columns, strict=True)]
        with localcontext(prec=PRECISION):
            rows = [
                [Decimal(share.numerator) / share.denominator for share in row]
                for row in zip(*shares, strict=True)
            ]
        means = [self._posterior_mean(share) for share in shares]
        return self.compiled([None, *means[1:]] if self.missing else means, rows)

    def support(self) -> list[tuple[bool, ...]]:
        """Return the patterns of the best table's columns, in order of their posterior means.

        A pattern has one entry per input. With `missing`, the symbol "missing" is the first one.
        Raises `RequestError` if the solver fails.
        """
        if self.scale.has_one_level:
            return [(True, False), (False, True)]
        import numpy as np
        from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

        solver: Any = optimize

        patterns = np.array(self._patterns())
        low = 1 / float(exp_lower(Fraction(self.epsilon)))
        columns = np.where(patterns, 1.0, low)
        gains = self._gains(columns) * self._leaning(patterns)
        found: Any = solver.linprog(
            -gains / gains.max(),
            A_eq=columns.T,
            b_eq=np.ones(columns.shape[1]),
            method="highs-ds",
        )
        if found.status != 0:
            raise RequestError(
                f"No optimal table was found at epsilon {self.epsilon}: {found.message}"
            )
        used = np.flatnonzero(found.x > 1e-9).tolist()
        means = self._means(columns)
        ordered = sorted(used, key=lambda y: (not self._mute(patterns[y]), means[y]))
        return [tuple(map(bool, patterns[y])) for y in ordered]

    def _patterns(self) -> Sequence[tuple[bool, ...]]:
        count = self.scale.n_levels
        if count <= ALL_PATTERNS:
            rated_inputs = list(product((False, True), repeat=count))[1:]
        else:
            runs = [(start, stop) for start in range(count) for stop in range(start + 1, count + 1)]
            rated_inputs = [tuple(start <= k < stop for k in range(count)) for start, stop in runs]
        if not self.missing:
            return rated_inputs
        # Of columns that are constant over the levels, only that of "missing" is a candidate.
        return [(True, *(False,) * count), *((False, *p) for p in rated_inputs if not all(p))]

    def _mute(self, pattern: "NDArray[np.bool_]") -> bool:
        return self.missing and bool(pattern[0])

    def _shares(self) -> list[float]:
        """Return the public prior of the inputs, with sum 1."""
        prior = self.prior or (1.0,) * self.scale.n_levels
        rated = self.density if self.missing else 1.0
        levels = [rated * share / sum(prior) for share in prior]
        return [1 - rated, *levels] if self.missing else levels

    def _means(self, columns: "Floats") -> list[float]:
        import numpy as np

        weighted = (columns * np.array(self._shares()))[:, self.missing :]
        return (weighted @ np.array(self.scale.values) / weighted.sum(1)).tolist()

    def _leaning(self, patterns: "NDArray[np.bool_]") -> "Floats":
        # Under a symmetric prior, a table and its mirror image are equally good. Public data sets
        # have more high ratings, so cuts in the upper half are preferred, by a factor of 1 + 1e-4.
        import numpy as np

        count = self.scale.n_levels
        rated_inputs = patterns[:, self.missing :]
        places = rated_inputs @ np.arange(count) / rated_inputs.sum(1).clip(1)
        return 1 + 1e-4 * places / count

    def _gains(self, columns: "Floats") -> "Floats":
        return self._variance(columns) if self.objective == "variance" else self._fisher(columns)

    def _variance(self, columns: "Floats") -> "Floats":
        """Return (sum_x pi c x)^2 / sum_x pi c, x from the middle: the variance reduction."""
        import numpy as np

        weighted = columns * np.array(self._shares())
        centred = np.array(self.scale.values) - float(self.middle)
        return (weighted[:, self.missing :] @ centred) ** 2 / weighted.sum(1)

    def _fisher(self, columns: "Floats") -> "Floats":
        """Return the mean over theta of q'^2 / q, with q = sum_x P(x | theta) c(x)."""
        import numpy as np

        levels = self.scale.values
        rated = self.density if self.missing else 1.0
        thetas = self.thetas if self.thetas is not None else public_thetas(levels)
        cells = [level_intervals(theta, levels) for theta in thetas]
        shares = rated * np.array([share for share, _ in cells]).T
        slopes = rated * np.array([slope for _, slope in cells]).T
        rated_inputs, silent = columns[:, self.missing :], (1 - rated) * columns[:, :1]
        return ((rated_inputs @ slopes) ** 2 / (rated_inputs @ shares + silent)).mean(1)

    def _posterior_mean(self, column: Sequence[Fraction]) -> Fraction:
        shares = zip(self._shares(), column, strict=True)
        weighted = [Fraction(p) * c for p, c in shares][self.missing :]
        pairs = zip(weighted, self.scale.levels, strict=True)
        return sum((w * Fraction(level) for w, level in pairs), Fraction(0)) / sum(weighted)
