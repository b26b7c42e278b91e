"""Matrix factorization (Koren et al. 2009) of the noisy values, ignoring the channel.

`mf-plain` is Neera et al. equation (1), min sum (r* - u.v)^2, without biases. The centre (the mean
report) and the ridge, chosen on held-out *reports*, are ours and improve accuracy. `ridge=0,
centred=False` is the equation as printed, each side solved for its rows of least norm. With the
clamped Laplace it is their baseline ISGD, solved by ALS. `mf` adds biases.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tacit.engines.engine import Engine, Local
from tacit.engines.tables import Tables
from tacit.kernels.als import LEAST_RIDGE
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.warm_start import WarmStart
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted
from tacit.models.least_squares.half_steps import FREE, Factors, HalfSteps, ReportBlocks
from tacit.models.least_squares.ridge import at_best_ridge, nearest_candidate
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD

WARM_SWEEPS = 4
"""Sweeps of a warm start."""


@dataclass(frozen=True, kw_only=True)
class MF:
    """Matrix factorization (Koren et al. 2009) of the noisy values, ignoring the channel.

    `factors`: K. `ridge`: added to a row's sum of squares, 0 for none, None to choose it from the
    reports. `sweeps`: number of sweeps over both sides. `biases`: whether users and items have
    biases. `centred`: whether to subtract the mean report before the factorization.

    `warm`: an earlier `mf` of fewer reports, whose factors and ridge this fit starts from, for
    `WARM_SWEEPS` sweeps (`tacit.models.evidence.warm_start`). None for a fit from scratch.

    `engine`: where half-steps run, None for this process. Results are identical on every engine.
    `state`: folder that all workers can reach, for reports and rows; an interrupted fit resumes
    from its last complete sweep. None for memory.
    """

    factors: int = 8
    ridge: float | None = None
    sweeps: int = 15
    biases: bool = True
    centred: bool = True
    warm: Fitted | None = field(default=None, repr=False, compare=False)
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        return "mf" if self.biases else "mf-plain"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to the reported numbers as if they were ratings.

        Raises `RequestError` for an engine without `state`, and for a folder that holds a fit of
        other reports or settings.
        """
        tables = fit_tables(self, rng, data.layout.users.start, data.item_of, data.values)
        if self.warm is not None:
            factors = self._refitted(data, self.warm, rng, tables)
            advance(1.0)
            return as_fitted(self.name, data, factors)
        factors = at_best_ridge(
            data,
            self.ridge,
            lambda train, ridge: self._factorize(
                train, ridge, rng, tables.within("all" if train is data else "train")
            ),
        )
        advance(1.0)
        return as_fitted(self.name, data, factors)

    def _refitted(self, data: Evidence, warm: Fitted, rng: int, tables: Tables) -> Factors:
        """Continue the sweeps of an earlier fit, at its ridge."""
        start = WarmStart.of(warm, self.name, data)
        rows, K = start.draw(-1), warm.items.shape[2] - 1
        factors = Factors.start(data, K, 1.0, 1.0, rng, centred=self.centred)
        factors.items = np.where(start.known_items[:, None], rows.items, factors.items)
        factors.people = rows.people
        ridge = self.ridge
        if ridge is None:
            # The device's precision is the ridge times the root of this share (`as_fitted`). The
            # nearest candidate is exact, however often a fit is continued.
            share = float(np.sqrt(own_noise_share(data, factors)))
            ridge = nearest_candidate(float(warm.precision[0, -1]) / share)
        bias_ridge = ridge / 2 if self.biases else float(FREE)
        factors.ridge = np.array([bias_ridge] + [ridge] * K, np.float32)
        engine = self.engine or Local.over_cells(len(data))
        cells = ReportBlocks.of(data, engine, tables)
        return HalfSteps(cells, factors, engine, tables.within("warm")).run(WARM_SWEEPS)

    def _factorize(self, data: Evidence, ridge: float, rng: int, tables: Tables) -> Factors:
        bias_ridge = ridge / 2 if self.biases else float(FREE)
        factors = Factors.start(data, self.factors, ridge, bias_ridge, rng, centred=self.centred)
        engine = self.engine or Local.over_cells(len(data))
        cells = ReportBlocks.of(data, engine, tables)
        return HalfSteps(cells, factors, engine, tables.within(f"{ridge:g}")).run(self.sweeps)


def as_fitted(name: str, data: Evidence, factors: Factors) -> Fitted:
    """Return a point estimate as a fitted model with one draw and the linear link."""
    precision = factors.ridge * np.sqrt(own_noise_share(data, factors))
    precision[0] = FREE if factors.ridge[0] == FREE else min(precision[0], OWN_BIAS_RIDGE)
    # Without a ridge the row of a user with fewer ratings than factors would be undetermined.
    precision = np.maximum(precision, LEAST_RIDGE)
    return Fitted.point(
        name,
        data,
        mu=factors.mu,
        people=factors.people,
        items=factors.items,
        precision=precision,
        guarantee=data.guarantee,
    )


def own_noise_share(data: Evidence, factors: Factors) -> np.float32:
    """Return the noise variance of a true rating over that of a report, at most 1.

    A ridge is relative to the noise of the fitted values, on the device the rating's own noise. The
    item rows carry report noise too, so a device uses the geometric mean: the root of this ratio.
    """
    residual = data.values - factors.predict(data)
    report = float(np.mean(residual * residual, dtype=np.float64))
    rating = (RATING_SPREAD * (data.scale.values[-1] - data.scale.values[0])) ** 2
    return np.float32(min(rating / max(report, 1e-12), 1.0))
