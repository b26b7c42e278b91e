"""Choosing epsilon: strength against accuracy, and the interval where both are acceptable.

Xian et al. ask for such a scheme; theirs is lost, and this one is ours. Per unit of the promise,

    strength  P(eps) = 2 / (1 + e^eps)       one minus an attacker's best advantage over a coin
    loss      A(eps) = (RMSE(eps) - RMSE(inf)) / (RMSE of the mean - RMSE(inf)), cut to [0, 1]

Both are read off data: choosing on ratings that are to be protected would cost epsilon, too, so
this is meant for public or made-up ones that resemble them. `charged` is for the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from statistics import fmean

import numpy as np

from tacit.curator.releases import Releases, SecretReleases
from tacit.errors import RequestError
from tacit.evaluation.results import Row
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale, shortest

MEAN = "global-mean"
STEPS = 1 << 20
"""Grid steps to a squared unit of the scale."""


def strength(epsilon: float) -> float:
    """P(eps) = 2 / (1 + e^eps): 1 for no information, 0 for the rating itself."""
    return 2 / (1 + math.exp(min(epsilon, 700.0)))


@dataclass(frozen=True)
class Tradeoff:
    """`points`: (epsilon, loss A), ascending, at least two, in nats per `unit`."""

    points: tuple[tuple[float, float], ...]
    unit: str

    @property
    def crossing(self) -> float | None:
        """The epsilon where A = 1 - P: as much accuracy is lost as strength; None for none."""
        gaps = [(math.log(e), loss - 1 + strength(e)) for e, loss in self.points]
        for (left, high), (right, low) in pairwise(gaps):
            if high >= 0 >= low:
                part = high / (high - low) if high > low else 0.0
                return math.exp(left + part * (right - left))
        return None

    def best(self, weight: float = 0.5) -> float:
        """The epsilon of the grid with the largest weight P + (1 - weight)(1 - A)."""
        score = [(weight * strength(e) + (1 - weight) * (1 - loss), -e) for e, loss in self.points]
        return -max(score)[1]

    def interval(self, most_loss: float, least_strength: float) -> tuple[float, float] | None:
        """The smallest and largest epsilon of the grid that is accurate and strong enough."""
        fit = [e for e, loss in self.points if loss <= most_loss and strength(e) >= least_strength]
        return (min(fit), max(fit)) if fit else None


def tradeoff(rows: Sequence[Row], where: str) -> Tradeoff:
    """The trade-off of one model seen from one place; rows of `global-mean` give the scale of A.

    Raises `RequestError` where the rows are of several units or lack the mean or no privacy.
    """
    mine = [row for row in rows if row.model != MEAN and row.where == where]
    units = {row.unit for row in mine if row.epsilon is not None}
    top = [row.rmse for row in rows if row.model == MEAN and row.epsilon is None]
    floor = [row.rmse for row in mine if row.epsilon is None]
    if len(units) != 1 or not top or not floor:
        raise RequestError(
            f"A trade-off needs one unit, seen from the {where}, beside no privacy and the mean."
        )
    errors = {
        epsilon: fmean(row.rmse for row in mine if row.epsilon == epsilon)
        for epsilon in sorted({row.epsilon for row in mine if row.epsilon is not None})
    }
    least, most = fmean(floor), fmean(top)
    lost = {e: (rmse - least) / max(most - least, 1e-12) for e, rmse in errors.items()}
    points = tuple((e, min(max(loss, 0.0), 1.0)) for e, loss in lost.items())
    if len(points) < 2:
        raise RequestError("A trade-off of one epsilon has nothing to choose from; give several.")
    return Tradeoff(points, units.pop())


def charged(
    rows: Sequence[Row], scale: RatingScale, door: Releases | None = None
) -> tuple[list[Row], Guarantee]:
    """The rows as one may look at them who has to protect these ratings, and what that costs.

    Every training costs its epsilon, and so does every error: sums of squared errors are released
    with Laplace noise, each at the epsilon of its training. Nothing without privacy may be looked
    at, so the largest epsilon stands for it, and half the range of the scale for the mean's error.
    Epsilons are per rating value; raises `RequestError` for another unit.
    """
    noisy = [row for row in rows if row.epsilon is not None and row.model != MEAN]
    if not noisy or {row.unit for row in noisy} != {"value"}:
        raise RequestError(
            "Errors can be charged per rating value only; use public or made-up data."
        )
    source = SecretReleases() if door is None else door
    width = float(scale.high - scale.low)
    shown = [replace(row, rmse=_released(row, width, source)) for row in noisy]
    best = max(noisy, key=lambda row: row.epsilon or 0.0).epsilon
    floors = [replace(row, epsilon=None) for row in shown if row.epsilon == best]
    top = replace(shown[0], model=MEAN, epsilon=None, rmse=width / 2)
    trained = {(row.epsilon, row.seed, row.fold) for row in noisy}
    total = sum((Decimal(str(e)) for e, *_ in trained), Decimal(0))
    total += sum((Decimal(str(row.epsilon)) for row in noisy), Decimal(0))
    cost = Guarantee(
        epsilon=shortest(total),
        unit="value",
        trust="curator",
        released="the errors of every epsilon that was tried",
        assumptions=("nothing else was looked at to choose",),
    )
    return [*shown, *floors, top], cost


def _released(row: Row, width: float, door: Releases) -> float:
    """The RMSE with noise: one value moves one test rating's squared error by at most width^2."""
    total = np.array([round(row.rmse**2 * row.n_test * STEPS)])
    most = math.ceil(width**2 * STEPS) + 1
    name = f"squared errors at {row.epsilon}"
    noisy = door.laplace(name, total, sensitivity=most, epsilon=str(row.epsilon))
    return float(np.sqrt(max(0.0, noisy[0] / STEPS / row.n_test)))
