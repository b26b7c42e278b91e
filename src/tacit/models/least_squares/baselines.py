"""Baselines: global mean, item means, and item and user biases.

All three read *debiased* reports and shrink by the known noise of the channel and a prior variance
of the levels that is estimated from the reports (empirical Bayes).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.slot_reports import Decoded, decode
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD

Doubles = NDArray[np.float64]
ROUNDS = 10


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Baselines: global mean, item means, and item and user biases.

    theta_ui = mu [+ b_i [+ b_u]]. `items`, `people`: whether to fit item and user biases.

    `engine`: where sums are computed, None for this process. Results are identical on every engine.
    `state`: folder for reports that all workers can reach, None for memory.
    """

    items: bool = True
    people: bool = True
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        return "bias" if self.people else "item-mean" if self.items else "global-mean"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Compute damped means of the debiased reports; deterministic.

        Raises `RequestError` for an engine without `state`, and for a folder that holds another
        fit.
        """
        cells = data.layout.users.start, data.item_of
        tables = fit_tables(self, rng, *cells, data.symbols, data.likelihood)
        reports, seen = decode(data), data.presence.on(self.engine, tables)
        people, items = _sides(data, reports)
        range_ = data.scale.values[-1] - data.scale.values[0]
        half = range_ / 2
        mu = float(np.clip(reports.values.sum() / seen.total, -half, half))
        for side in (people, items):
            side.sums = side.sums - mu * side.counts
        for _ in range(ROUNDS):
            if self.items:
                items.update(seen.over_people(people.levels), seen.variance @ people.levels**2)
            if self.people:
                doubt = seen.variance * float((items.levels**2).sum())
                people.update(seen.over_items(items.levels), doubt)
        advance(1.0)
        ridge = (RATING_SPREAD * range_) ** 2 / people.spread if self.people else OWN_BIAS_RIDGE
        middle = data.scale.values[0] + half
        return _fitted(
            self.name, data, middle + mu, items.levels, people.levels, min(ridge, OWN_BIAS_RIDGE)
        )


@dataclass(eq=False)
class _Side:
    """Levels (biases) of users or items, estimated from sums of debiased reports.

        sums_r = counts_r b_r + the other side's levels + noise of variance `noise_r`

    `counts` are numbers of ratings, debiased where presence is protected. All of shape (rows,).
    """

    sums: Doubles
    counts: Doubles
    noise: Doubles
    spread: float
    levels: Doubles

    def update(self, others: Doubles, doubt: Doubles | float) -> None:
        """Set posterior means of the levels and their prior variance (one EM step).

        `others`: contribution of the other side's levels to the sums. `doubt`: its variance, since
        presence may be observed with noise.
        """
        damping = (self.noise + doubt) / self.spread
        held = self.counts**2 + damping
        seen = self.counts > 0
        self.levels = np.where(
            seen, self.counts * (self.sums - others) / np.where(seen, held, 1), 0
        )
        if seen.any():  # else no row has more reports than the channel adds at random
            variance = self.spread * damping[seen] / held[seen]
            self.spread = float(np.mean(self.levels[seen] ** 2 + variance))


def _sides(data: Evidence, reports: Decoded) -> tuple[_Side, _Side]:
    range_ = data.scale.values[-1] - data.scale.values[0]
    seen, one = data.presence, reports.noise + (RATING_SPREAD * range_) ** 2
    (m, n), spread = seen.shape, (0.1 * range_) ** 2
    people = np.bincount(data.user_of, reports.values, m).astype(np.float64)
    items = np.bincount(data.item_of, reports.values, n).astype(np.float64)
    around = reports.unrated * n, seen.lift * reports.unrated.sum()
    counts = seen.of_people, seen.of_items
    return (
        _Side(people, counts[0], around[0] + counts[0] * one, spread, np.zeros(m)),
        _Side(items, counts[1], around[1] + counts[1] * one, spread, np.zeros(n)),
    )


def _fitted(
    name: str, data: Evidence, mu: float, b_i: Doubles, b_u: Doubles, ridge: float
) -> Fitted:
    return Fitted.point(
        name,
        data,
        mu=mu,
        people=b_u[:, None],
        items=b_i[:, None],
        precision=np.array([ridge]),
        guarantee=data.guarantee,
    )
