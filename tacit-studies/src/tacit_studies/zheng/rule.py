"""Zheng's rule for epsilon: large enough that Theorem 3's bound is of the order of rho_0 sqrt(s).

Both bounds are rho_0 sqrt(s), the part without noise, and a term that falls to 0 as epsilon grows:
as 1 / epsilon for modified Laplace, and as e^(-epsilon / 2) for randomized response. So the limit
is rho_0 sqrt(s), and the rule has an answer. For randomized response and a bound of c rho_0 sqrt(s)

    e^epsilon + L >= 8 (L - 1)^2 m n L / (gamma rho_0^2 s (c - 1)^2)

Neither s nor rho_0 is public, so that a curator can only apply the rule to values assumed for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from scipy.optimize import brentq

from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.zheng.bounds import Slots, laplace_bound, response_bound

GAMMA = 0.1
LEAST, LIMIT = 1e-3, 700.0
"""Range in which the least epsilon is searched, in nats per slot. Doubles hold no e^710."""
NEAR = 1.1
"""The factor of rho_0 sqrt(s) within which both bounds are at the limit."""
SLOTS = {"modified Laplace": 1.5, "randomized response": 2.0}
"""Epsilons per slot that a user with s ratings pays, over s."""


@dataclass(frozen=True)
class EpsilonRule:
    """`order`: the bound over rho_0 sqrt(s) that is required. `misfit`: rho_0, in levels of the
    scale."""

    order: float = 2.0
    misfit: float = 0.5

    name: ClassVar[str] = "rule-for-epsilon"
    title: ClassVar[str] = "The rule for epsilon, and the limit of the bound"
    covers: ClassVar[tuple[str, ...]] = ("the rule for epsilon",)
    own_data: ClassVar[str] = ""

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Solve the rule at the shape of the ratings: m, n and s are theirs."""
        del kept  # A formula.
        levels = data.scale.n_levels
        unit = 2 / (levels - 1)
        bounds = {
            "modified Laplace": (laplace_bound, slots(data, self.misfit * unit)),
            "randomized response": (
                partial(response_bound, levels=levels),
                slots(data, self.misfit),
            ),
        }
        ratios = {name: partial(_ratio, *each) for name, each in bounds.items()}
        least = {name: least_epsilon(ratio, self.order) for name, ratio in ratios.items()}
        ends = {name: ratio(LIMIT) for name, ratio in ratios.items()}
        profile = len(data) / data.n_users
        solved = ", ".join(f"{epsilon:.1f} ({name})" for name, epsilon in least.items())
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "the bound tends to rho_0 sqrt(s) as epsilon grows", "its limit",
                    {name: 1 <= end <= NEAR for name, end in ends.items()},
                    f"{', '.join(f'{end:.3f}' for end in ends.values())} times that at {LIMIT:g}",
                ),
                PaperClaim.of_cases(
                    f"an epsilon makes the bound at most {self.order:g} rho_0 sqrt(s)",
                    "the rule for epsilon",
                    {name: ratios[name](least[name]) <= self.order + 1e-6 for name in ratios},
                    f"from {solved} nats per slot",
                ),
            ),
            tables=(table(least, profile),),
            remarks=(
                f"rho_0 is set to {self.misfit:g} levels and gamma to {GAMMA:g}. s is the number "
                f"of ratings, {len(data):,}, which the mechanisms protect.",
            ),
        )  # fmt: skip


def slots(data: Ratings, misfit: float) -> Slots:
    """Return m, n and s of ratings, with a `misfit` in the units of the reports."""
    return Slots(users=data.n_users, items=data.n_items, rated=len(data), misfit=misfit)


def _ratio(bound: Callable[[Slots, float, float], float], shape: Slots, epsilon: float) -> float:
    """Return the bound over rho_0 sqrt(s)."""
    return bound(shape, epsilon, GAMMA) / shape.own


def least_epsilon(ratio: Callable[[float], float], order: float) -> float:
    """Return the least epsilon, nats per slot, at which a falling `ratio` is at most `order`.

    Raises `RequestError` for an order that no epsilon up to 700 nats reaches.
    """
    if ratio(LIMIT) > order:
        raise RequestError(
            f"order must be at least {ratio(LIMIT):.3g}, which the bound is times rho_0 sqrt(s) at "
            f"{LIMIT:g} nats per slot, got {order:g}; use a larger order or misfit."
        )
    return float(brentq(lambda epsilon: ratio(epsilon) - order, LEAST, LIMIT))


def table(least: dict[str, float], profile: float) -> Table:
    """Return the least epsilon of each mechanism, per slot and for a mean user."""
    lines = tuple(
        (name, f"{epsilon:.1f}", f"{SLOTS[name] * profile * epsilon:,.0f}")
        for name, epsilon in least.items()
    )
    heading = ("mechanism", "epsilon per slot", "epsilon of a user with the mean number of ratings")
    return Table(f"Least epsilon by the rule; {profile:.1f} ratings per user", heading, lines)
