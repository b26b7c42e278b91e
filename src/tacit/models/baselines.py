"""The floors every model must beat: global mean, item means, item and person biases.

All three read *debiased* reports and shrink by what they know: the channel's noise, and a spread
of the levels estimated from the reports themselves (empirical Bayes).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side
from tacit.models.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.likelihood import SPREAD

Doubles = NDArray[np.float64]
ROUNDS = 10


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """theta_ui = mu [+ b_i [+ b_u]]. `items`, `people`: which of the two levels there are."""

    items: bool = True
    people: bool = True

    @property
    def name(self) -> str:
        """The model's name on the command line."""
        return "bias" if self.people else "item-mean" if self.items else "global-mean"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Damped means of the debiased reports."""
        del rng  # nothing here is random
        values, channel_variance = data.decoded
        range_ = data.scale.values[-1] - data.scale.values[0]
        noise = channel_variance + (SPREAD * range_) ** 2
        low, high = data.scale.values[0], data.scale.values[-1]
        mu = float(np.clip(values.mean(dtype=np.float64), low, high))
        b_i, b_u = np.zeros(len(data.item_ids)), np.zeros(len(data.user_ids))
        spread_i = spread_u = (0.1 * range_) ** 2
        rest = values - mu
        for _ in range(ROUNDS):
            if self.items:
                b_i, spread_i = _levels(
                    data.layout.items, rest - b_u[data.user_of], noise, spread_i
                )
            if self.people:
                b_u, spread_u = _levels(
                    data.layout.users, rest - b_i[data.item_of], noise, spread_u
                )
        advance(1.0)
        own = (SPREAD * range_) ** 2 / spread_u if self.people else 5.0
        return _fitted(self.name, data, mu, b_i, b_u, min(own, 5.0))


def _levels(side: Side, rest: Doubles, noise: float, spread: float) -> tuple[Doubles, float]:
    """Posterior means of a side's levels, and the spread they suggest (an EM step)."""
    rows = np.repeat(np.arange(len(side.counts)), side.counts)
    sums = np.bincount(rows, rest[side.cell], len(side.counts))
    damping = noise / spread
    levels = sums / (side.counts + damping)
    seen = side.counts > 0
    variance = noise / (side.counts + damping)
    return levels, float(np.mean((levels**2 + variance)[seen]))


def _fitted(name: str, data: Evidence, mu: float, b_i: Doubles, b_u: Doubles, own: float) -> Fitted:
    return Fitted(
        model=name,
        scale=data.scale,
        user_ids=data.user_ids,
        item_ids=data.item_ids,
        mu=np.array([mu]),
        people=b_u.astype(np.float32)[None, :, None],
        items=b_i.astype(np.float32)[None, :, None],
        precision=np.array([[own]], np.float32),
        sigma=0.0,
        guarantee=data.guarantee,
    )
