"""The level mu of the whole data and the biases around it: one sum, drawn in another division.

Given the biases, n reports hold mu so tightly that it moves by a hair in a sweep; yet mu + b of a
side is what they know, and how that falls into mu and b is left to the priors

    mu ~ N(centre, 1 / precision),   b_r ~ N(prior_r, 1 / prior precision).

Drawn anew given mu + b, the level is where it belongs after a few sweeps instead of a few hundred
(the interweaving of Yu and Meng 2011, with the exact conditional).
"""

from dataclasses import dataclass

import numpy as np

from tacit.models.channel_mf.row_prior import Prior, RowSums


@dataclass(frozen=True)
class LevelPrior:
    """The normal prior of mu, on the rating scale."""

    centre: float
    precision: float

    def redrawn(self, mu: float, rows: RowSums, prior: Prior, rng: np.random.Generator) -> float:
        """A draw of mu given mu + b, the sums of whose `rows` are known; what it is larger by, the
        biases give way."""
        level = rows.number * mu + rows.totals[0] - prior.total @ prior.weights[:, 0]
        weight = rows.number * prior.precision[0] + self.precision
        mean = (level * prior.precision[0] + self.centre * self.precision) / weight
        return float(mean + rng.standard_normal() / np.sqrt(weight))
