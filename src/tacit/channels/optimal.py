"""Optimal: the best table for a public purpose, found by a linear programme.

The only member that needs numpy and scipy, and only to find it; anyone can verify the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from tacit.channels.certificate import exp_lower
from tacit.channels.compiler import PRECISION
from tacit.channels.information import level_cells, public_thetas
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.rationals import solve
from tacit.channels.table import Channel
from tacit.errors import RequestError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALL_PATTERNS = 12
"""Up to so many levels every pattern of high and low entries is tried; above, single runs."""


@dataclass(frozen=True, kw_only=True)
class Optimal(AbstractMechanism):
    """The epsilon-private table that serves `objective` best, at most n_levels symbols.

    "variance" minimises the posterior variance of the rating under a public `prior` (uniform by
    default); "information" maximises the average Fisher information about theta, the latent mean
    of `tacit.channels.information`, over public `thetas` (its public prior by default). A symbol
    stands for the posterior mean of the rating under `prior`. Both gain per column is convex and
    homogeneous, so the best table uses extremal columns only, whose entries are t or R t with
    R = e^epsilon (Kairouz, Oh and Viswanath 2016): max sum_y t_y gain(c_y), sum_y t_y c_y = 1.
    HiGHS finds which columns; their t are solved again in rationals.

    At small epsilon two or three symbols are left and the table's rank is below the number of
    levels. What is lost then: ratings in the same group of rows draw from the same distribution,
    so no number of reports recovers the shares of single levels, no decoder of reports is
    unbiased for the rating, and only a model of the ratings (a likelihood in theta) can read
    them. `tacit.channels.thresholds` mixes several tables where that matters.
    """

    objective: Literal["variance", "information"] = "variance"
    prior: tuple[float, ...] | None = None
    thetas: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in ("variance", "information"):
            raise RequestError(
                f"The objective '{self.objective}' is not known; give variance or information."
            )
        if self.prior is not None and (
            len(self.prior) != self.scale.n_levels or min(self.prior) <= 0
        ):
            raise RequestError(f"The prior needs {self.scale.n_levels} positive shares.")

    def table(self) -> Channel:
        # R is cut to 128 bits below the point to keep the exact solve short; it stays <= e^eps.
        ratio = Fraction(int(exp_lower(Fraction(self.epsilon)) * (1 << 128)), 1 << 128)
        columns = [
            tuple(ratio if high else Fraction(1) for high in pattern) for pattern in self.support()
        ]
        scales = solve(columns)
        shares = [[t * c for c in column] for t, column in zip(scales, columns, strict=True)]
        with localcontext(prec=PRECISION):
            rows = [
                [Decimal(share.numerator) / share.denominator for share in row]
                for row in zip(*shares, strict=True)
            ]
        return self.compiled([self._posterior_mean(share) for share in shares], rows)

    def support(self) -> list[tuple[bool, ...]]:
        """The patterns of the best table's columns, lowest posterior mean first."""
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
            b_eq=np.ones(self.scale.n_levels),
            method="highs-ds",
        )
        if found.status != 0:
            raise RequestError(f"No optimal table at epsilon {self.epsilon}: {found.message}")
        used = np.flatnonzero(found.x > 1e-9).tolist()
        means = self._means(columns)
        return [tuple(map(bool, patterns[y])) for y in sorted(used, key=lambda y: means[y])]

    def _patterns(self) -> Sequence[tuple[bool, ...]]:
        count = self.scale.n_levels
        if count <= ALL_PATTERNS:
            return list(product((False, True), repeat=count))[:-1]
        runs = [(start, stop) for start in range(count) for stop in range(start + 1, count + 1)]
        return [tuple(start <= k < stop for k in range(count)) for start, stop in runs]

    def _shares(self) -> list[float]:
        return list(self.prior or [1.0] * self.scale.n_levels)

    def _means(self, columns: "Floats") -> list[float]:
        import numpy as np

        weighted = columns * np.array(self._shares())
        return (weighted @ np.array(self.scale.values) / weighted.sum(1)).tolist()

    def _leaning(self, patterns: "NDArray[np.bool_]") -> "Floats":
        # Under a symmetric prior a table and its mirror image tie. People rate what they like,
        # everywhere and in public, so the tie goes to cuts in the upper half: one part in 10^4.
        import numpy as np

        count = self.scale.n_levels
        places = patterns @ np.arange(count) / patterns.sum(1).clip(1)
        return 1 + 1e-4 * places / count

    def _gains(self, columns: "Floats") -> "Floats":
        return self._variance(columns) if self.objective == "variance" else self._fisher(columns)

    def _variance(self, columns: "Floats") -> "Floats":
        """(sum_x pi c x)^2 / sum_x pi c around the middle: what a symbol takes off the variance."""
        import numpy as np

        weighted = columns * np.array(self._shares()) / sum(self._shares())
        centred = np.array(self.scale.values) - float(self.middle)
        return (weighted @ centred) ** 2 / weighted.sum(1)

    def _fisher(self, columns: "Floats") -> "Floats":
        """Mean over theta of q'^2 / q with q = sum_x P(x | theta) c(x)."""
        import numpy as np

        levels = self.scale.values
        thetas = self.thetas if self.thetas is not None else public_thetas(levels)
        cells = [level_cells(theta, levels) for theta in thetas]
        shares = np.array([share for share, _ in cells]).T
        slopes = np.array([slope for _, slope in cells]).T
        return ((columns @ slopes) ** 2 / (columns @ shares)).mean(1)

    def _posterior_mean(self, column: Sequence[Fraction]) -> Fraction:
        weighted = [Fraction(p) * c for p, c in zip(self._shares(), column, strict=True)]
        pairs = zip(weighted, self.scale.levels, strict=True)
        return sum((w * Fraction(level) for w, level in pairs), Fraction(0)) / sum(weighted)
