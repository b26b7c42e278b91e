"""Choosing epsilon: privacy strength against accuracy loss, and the interval of acceptable values.

Xian et al. propose such a choice. Their scheme is not available, and this one is Tacit's. Per unit
of the guarantee,

    strength  P(eps) = 2 / (1 + e^eps)       one minus an attacker's maximum advantage over a coin
    loss      A(eps) = (RMSE(eps) - RMSE(inf)) / (RMSE of the mean - RMSE(inf)), clipped to [0, 1]

The loss is computed from true ratings, so this is for public or synthetic data similar to the
private data. `tacit.experiments.choice.private_choice` is for private data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Self

from tacit.errors import RequestError
from tacit.reporting.table import UNKNOWN, decimals
from tacit.results.comparison.row import ResultRow

MEAN = "global-mean"
MEAN_WORDS = "mean rating"
LETTERS = (
    "Privacy strength P = 2 / (1 + e^epsilon) is 1 if reports are independent of the rating and 0 "
    "if they reveal it: one minus the attacker's maximum advantage over guessing.\nAccuracy loss "
    "A is 0 if the error equals that without privacy and 1 if it equals that of predicting the "
    "mean rating."
)
"""Definitions of P and A."""


WITHOUT_NOISE = "999"
"""Epsilon in nats at which a trainer approximates itself without privacy.

Of 300 users, two fits at 999 differ by at most .006 of the gain over the mean rating, `pals` by .03
and `pg-mf`, whose noise is per user and round, by .08."""


def strength(epsilon: float) -> float:
    """Return P(eps) = 2 / (1 + e^eps): 1 without information, 0 for the true rating.

    `epsilon`: nats.
    """
    return 2 / (1 + math.exp(min(epsilon, 700.0)))


@dataclass(frozen=True)
class Tradeoff:
    """`points`: (epsilon, loss A), ascending, at least two, in nats per `unit`. `spreads`: standard
    deviation of each loss over splits, empty for a single split. `digits`: decimals of losses."""

    points: tuple[tuple[float, float], ...]
    unit: str
    spreads: tuple[float, ...] = ()
    digits: int = UNKNOWN

    @classmethod
    def of(
        cls, errors: Mapping[float, Sequence[float]], *, least: float, most: float, unit: str
    ) -> Self:
        """Compute from the RMSE of each split at each epsilon, the mean RMSE without privacy
        (`least`), and the RMSE of the mean rating (`most`).

        Raises `RequestError` for a single epsilon.
        """
        if len(errors) < 2:
            raise RequestError("A trade-off requires at least two epsilons.")
        scale = max(most - least, 1e-12)
        lost = {e: (fmean(each) - least) / scale for e, each in sorted(errors.items())}
        several = all(len(each) > 1 for each in errors.values())
        spreads = [pstdev(errors[e]) / scale for e in lost] if several else []
        points = tuple((e, min(max(loss, 0.0), 1.0)) for e, loss in lost.items())
        digits = decimals([rmse / scale for rmse in each] for each in errors.values())
        return cls(points, unit, tuple(spreads), digits)

    @property
    def crossing(self) -> float | None:
        """The epsilon where A = 1 - P, interpolated. None without a crossing."""
        gaps = [(math.log(e), loss - 1 + strength(e)) for e, loss in self.points]
        for (left, high), (right, low) in pairwise(gaps):
            if high >= 0 >= low:
                part = high / (high - low) if high > low else 0.0
                return math.exp(left + part * (right - left))
        return None

    def best(self, weight: float = 0.5) -> float:
        """Return the epsilon of the grid with the largest weight P + (1 - weight)(1 - A)."""
        score = [(weight * strength(e) + (1 - weight) * (1 - loss), -e) for e, loss in self.points]
        return -max(score)[1]

    def interval(self, most_loss: float, least_strength: float) -> tuple[float, float] | None:
        """Return the smallest and largest epsilon of the grid within both limits, or None."""
        fit = [e for e, loss in self.points if loss <= most_loss and strength(e) >= least_strength]
        return (min(fit), max(fit)) if fit else None

    def nearest(self, limits: tuple[float, float]) -> tuple[float, tuple[float, float]]:
        """Return by how much both limits (largest A, least P) must be relaxed until an epsilon of
        the grid is within them, and the interval of those that are."""
        most, least = limits
        excess = {e: max(0.0, loss - most, least - strength(e)) for e, loss in self.points}
        smallest = min(excess.values())
        within = [e for e, over in excess.items() if over <= smallest]
        return smallest, (min(within), max(within))

    def band(self, most_loss: float, least_strength: float) -> tuple[float, float, str] | None:
        """Return the interval with its label in a figure."""
        interval = self.interval(most_loss, least_strength)
        if interval is None:
            return None
        return *interval, f"recommended: {_range(interval)}"

    @property
    def rule(self) -> tuple[float, str] | None:
        """The crossing with its label in a figure."""
        return (self.crossing, f"crossing: {self.crossing:.2g}") if self.crossing else None

    def verdicts(self, weight: float, most_loss: float, least_strength: float) -> list[str]:
        """Return the crossing, the epsilon with the best weighted score, and the acceptable
        interval, a sentence each."""
        crossing = self.crossing
        first, last = self.points[0][0], self.points[-1][0]
        return [
            f"A = 1 - P at epsilon {crossing:.2g} per {self.unit}."
            if crossing
            else f"A and 1 - P do not cross at epsilon {first:g} to {last:g} per {self.unit}.",
            f"Largest {weight:g} P + {1 - weight:g} (1 - A): epsilon {self.best(weight):g} per "
            f"{self.unit}.",
            self._acceptable((most_loss, least_strength)),
        ]

    def _acceptable(self, limits: tuple[float, float]) -> str:
        words = "A at most {:g} and P at least {:g}".format(*limits)
        if interval := self.interval(*limits):
            return f"{words}: epsilon {_range(interval)} per {self.unit}."
        excess, nearest = self.nearest(limits)
        return (
            f"No epsilon on the grid has {words}. Epsilon {_range(nearest)} per {self.unit} is "
            f"closest: it exceeds a limit by {excess:.2g}."
        )


def _range(interval: tuple[float, float]) -> str:
    first, last = interval
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"


def tradeoff(rows: Sequence[ResultRow], where: str) -> Tradeoff:
    """Return the trade-off of one model at one location. Rows of `global-mean` scale A.

    Rows without an epsilon are the model without privacy, or those of a trainer at 999 nats.

    Raises `RequestError` for rows of several units, and if the mean or the non-private row is
    missing.
    """
    every = [row for row in rows if row.model != MEAN and row.where == where]
    mine = [row for row in every if row.epsilon not in (None, float(WITHOUT_NOISE))]
    units = {row.unit for row in mine}
    top = [row.rmse for row in rows if row.model == MEAN and row.epsilon is None]
    baseline = [row.rmse for row in every if row not in mine]
    if len(units) != 1 or not top or not baseline:
        raise RequestError(
            f"A trade-off at the {where} requires rows with a single unit of epsilon, the "
            "non-private baseline and the mean rating as a baseline."
        )
    errors = {
        epsilon: [row.rmse for row in mine if row.epsilon == epsilon]
        for epsilon in sorted({row.epsilon for row in mine if row.epsilon is not None})
    }
    return Tradeoff.of(errors, least=fmean(baseline), most=fmean(top), unit=units.pop())
