"""Interweaving of the global level mu and the biases: mu + b held fixed, mu redrawn.

Given the biases, n reports determine mu so tightly that it hardly moves in a sweep. But the reports
only determine mu + b of a side; the split into mu and b is left to the priors

    mu ~ N(centre, 1 / precision),   b_r ~ N(prior_r, 1 / prior precision).

Redrawn given mu + b, the level converges within a few sweeps instead of a few hundred (the
interweaving of Yu and Meng 2011, with the exact conditional).
"""

from dataclasses import dataclass

import numpy as np

from tacit.models.channel_mf.row_prior import Prior, RowSums


@dataclass(frozen=True)
class LevelPrior:
    """Normal prior of mu, on the rating scale."""

    centre: float
    precision: float

    def redrawn(self, mu: float, rows: RowSums, prior: Prior, rng: np.random.Generator) -> float:
        """Draw mu given mu + b and the sums of `rows`. The biases decrease by what mu gains."""
        level = rows.number * mu + rows.totals[0] - prior.total @ prior.weights[:, 0]
        weight = rows.number * prior.precision[0] + self.precision
        mean = (level * prior.precision[0] + self.centre * self.precision) / weight
        return float(mean + rng.standard_normal() / np.sqrt(weight))
