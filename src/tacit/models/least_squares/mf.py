"""Matrix factorization (Koren et al. 2009) of the noisy values, ignoring the channel.

`mf-plain` is Neera et al. equation (1), min sum (r* - u.v)^2, without biases. The centre (the mean
report) and the ridge, chosen on held-out *reports*, are ours, and better: `ridge=0, centred=False`
is the equation as printed, each side solved for its rows of least norm. With the clamped Laplace it
is their baseline ISGD, solved by ALS. `mf` adds biases.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tacit.engines.engine import Engine
from tacit.engines.local import Local
from tacit.engines.tables import Tables
from tacit.kernels.als import LEAST_RIDGE
from tacit.models.evidence.evidence import Evidence
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted
from tacit.models.least_squares.factors import FREE, Factors
from tacit.models.least_squares.half_steps import HalfSteps, ReportBlocks
from tacit.models.least_squares.ridge import at_best_ridge
from tacit.public_priors import OWN_BIAS_RIDGE, RATING_SPREAD


@dataclass(frozen=True, kw_only=True)
class MF:
    """`factors`: K. `ridge`: added to a row's sum of squares, 0 for none, or None to choose it from
    the reports. `sweeps`: of both sides. `biases`: whether people and items have their own level.
    `centred`: whether factors are fitted to what the mean report leaves, or to reports.

    `engine`: where half-steps run, None for this process; digits are the same on any. `state`: a
    folder that all workers reach, for reports and rows; a fit that was killed goes on from its last
    whole sweep when it is started again. None for memory.
    """

    factors: int = 8
    ridge: float | None = None
    sweeps: int = 15
    biases: bool = True
    centred: bool = True
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model's name on the command line."""
        return "mf" if self.biases else "mf-plain"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Learn from the reported numbers as if they were ratings.

        Raises `RequestError` for an engine without `state`, and where that folder holds a fit of
        other reports or settings.
        """
        kept = fit_tables(self, rng, data.layout.users.start, data.item_of, data.values)
        factors = at_best_ridge(
            data,
            self.ridge,
            lambda train, ridge: self._factorize(
                train, ridge, rng, kept.within("all" if train is data else "train")
            ),
        )
        advance(1.0)
        return as_fitted(self.name, data, factors)

    def _factorize(self, data: Evidence, ridge: float, rng: int, kept: Tables) -> Factors:
        bias_ridge = ridge / 2 if self.biases else float(FREE)
        factors = Factors.start(data, self.factors, ridge, bias_ridge, rng, centred=self.centred)
        engine = self.engine or Local.over_cells(len(data))
        cells = ReportBlocks.of(data, engine, kept)
        return HalfSteps(cells, factors, engine, kept.within(f"{ridge:g}")).run(self.sweeps)


def as_fitted(name: str, data: Evidence, factors: Factors) -> Fitted:
    """A point estimate as a fitted model with one draw and the linear link."""
    precision = factors.ridge * np.sqrt(own_noise_share(data, factors))
    precision[0] = FREE if factors.ridge[0] == FREE else min(precision[0], OWN_BIAS_RIDGE)
    # Without a ridge nothing would hold a person's row at home who has fewer ratings than factors.
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
    """Noise of a true rating as a share of a report's, at most 1.

    A ridge is relative to the noise of what is fitted, and at home that is the rating's own. The
    item rows carry report noise too, so a device goes half way, on the log scale: the root.
    """
    residual = data.values - factors.predict(data)
    report = float(np.mean(residual * residual, dtype=np.float64))
    own = (RATING_SPREAD * (data.scale.values[-1] - data.scale.values[0])) ** 2
    return np.float32(min(own / max(report, 1e-12), 1.0))
