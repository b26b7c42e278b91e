"""Baselines: global mean, item means, and item and user biases.

All three read *debiased* reports and shrink by what they know: the channel's noise, and a spread
of the levels estimated from the reports themselves (empirical Bayes).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.models.evidence.debiased import Decoded, decode
from tacit.models.evidence.evidence import Evidence
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted
from tacit.public_priors import OWN_BIAS_RIDGE, RATING_SPREAD

Doubles = NDArray[np.float64]
ROUNDS = 10


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """theta_ui = mu [+ b_i [+ b_u]]. `items`, `people`: which of the two levels there are.

    `engine`: where sums run, None for this process; digits are the same on any. `state`: a folder
    that all workers reach, for reports; None for memory.
    """

    items: bool = True
    people: bool = True
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model's name on the command line."""
        return "bias" if self.people else "item-mean" if self.items else "global-mean"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Damped means of the debiased reports; nothing is drawn.

        Raises `RequestError` for an engine without `state`, and for a folder of another fit.
        """
        cells = data.layout.users.start, data.item_of
        kept = fit_tables(self, rng, *cells, data.symbols, data.likelihood)
        reports, seen = decode(data), data.presence.on(self.engine, kept)
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
        own = (RATING_SPREAD * range_) ** 2 / people.spread if self.people else OWN_BIAS_RIDGE
        middle = data.scale.values[0] + half
        return _fitted(
            self.name, data, middle + mu, items.levels, people.levels, min(own, OWN_BIAS_RIDGE)
        )


@dataclass(eq=False)
class _Side:
    """The levels of people or items, learnt from sums of debiased reports.

        sums_r = counts_r b_r + what the other side's levels add + noise of variance `noise_r`

    `counts` are ratings, debiased where presence is protected. All of shape (rows,).
    """

    sums: Doubles
    counts: Doubles
    noise: Doubles
    spread: float
    levels: Doubles

    def update(self, others: Doubles, doubt: Doubles | float) -> None:
        """Posterior means of the levels, and the spread they suggest (an EM step).

        `others`: what the other side's levels add to the sums; `doubt`: the variance of that, since
        who rated what may be known with noise only.
        """
        damping = (self.noise + doubt) / self.spread
        held = self.counts**2 + damping
        seen = self.counts > 0
        self.levels = np.where(
            seen, self.counts * (self.sums - others) / np.where(seen, held, 1), 0
        )
        if seen.any():  # else no row has more reports than made-up ones alone would be
            variance = self.spread * damping[seen] / held[seen]
            self.spread = float(np.mean(self.levels[seen] ** 2 + variance))


def _sides(data: Evidence, reports: Decoded) -> tuple[_Side, _Side]:
    range_ = data.scale.values[-1] - data.scale.values[0]
    seen, one = data.presence, reports.noise + (RATING_SPREAD * range_) ** 2
    (m, n), spread = seen.shape, (0.1 * range_) ** 2
    people = np.bincount(data.user_of, reports.values, m).astype(np.float64)
    items = np.bincount(data.item_of, reports.values, n).astype(np.float64)
    around = reports.unrated * n, np.full(n, reports.unrated.sum())
    counts = seen.of_people, seen.of_items
    return (
        _Side(people, counts[0], around[0] + counts[0] * one, spread, np.zeros(m)),
        _Side(items, counts[1], around[1] + counts[1] * one, spread, np.zeros(n)),
    )


def _fitted(name: str, data: Evidence, mu: float, b_i: Doubles, b_u: Doubles, own: float) -> Fitted:
    return Fitted.point(
        name,
        data,
        mu=mu,
        people=b_u[:, None],
        items=b_i[:, None],
        precision=np.array([own]),
        guarantee=data.guarantee,
    )
