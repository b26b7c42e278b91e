"""The chain behind `channel-mf`: Gibbs sweeps over levels, people, items and their priors.

Each row's conditional is that of the reports' exact likelihood: one step of scoring proposes, and
the likelihood decides (`tacit.kernels.scoring`). The priors' conditionals are exact in one draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side
from tacit.kernels.predict import bilinear
from tacit.kernels.scoring import ANYHOW, Conditional, half_sweep, total_score
from tacit.models.channel_mf.capacity import (
    starting_level,
    told,
    worth,
    worthwhile_directions,
    worthwhile_factors,
)
from tacit.models.channel_mf.level import LevelPrior
from tacit.models.channel_mf.likelihood import score_table
from tacit.models.channel_mf.row_prior import Features, Prior
from tacit.models.channel_mf.unrated_items import with_expected_presence
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.presence_features import Presence, presence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.presence_mixture import presence_mixture
from tacit.models.evidence.presence_spectrum import MOST_HIDDEN, Spectrum, spectrum

APPROACH = 0.7
"""Share of the burn-in that takes every proposal: far away a true step is seldom accepted."""
SETTLED = 0.9
"""Share of it after which the thetas that weigh the cells stay as they are: what weighs a proposal
must not follow the chain for ever."""
STEPS, NEAR = 8, 0.02  # of scoring towards the likeliest mu; near enough, in standard deviations
MEMORY = 0.1  # share of the newest theta in the running mean of the sweeps before
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draw:
    """One state of the sampler."""

    mu: float
    people: Floats
    items: Floats
    precision: Floats
    prior_weights: Floats


class GibbsChain:
    """The state of the chain; explicit, advanced by `sweep` alone."""

    def __init__(
        self,
        data: Evidence,
        factors: int | None,
        directions: int | None,
        described: Sequence[Features],
        burn_in: int,
        rng: np.random.Generator,
    ) -> None:
        self.data, found = _read(data)
        data, self.rng, matrix = self.data, rng, data.presence
        self.scores = score_table(data.likelihood, data.blocks, data.scale)
        self.mu = starting_level(self.scores, data)
        ratings = worth(self.scores, data, self.mu)
        self.told = told(self.scores, data, self.mu)
        K = factors or worthwhile_factors(ratings, data)
        self.width = 1 + K
        if directions is None:
            directions = worthwhile_directions(ratings, K, data)
        self.presence = _presence(matrix, found, directions, described)
        range_ = data.scale.values[-1] - data.scale.values[0]
        self.level = LevelPrior(float(np.mean(data.scale.values)), (4 / range_) ** 2)
        people, items = self._features(matrix, described)
        self.people = Prior.start(self.width, len(data.user_ids), people, range_)
        self.items = Prior.start(self.width, len(data.item_ids), items, range_)
        self.X = self._start(len(data.user_ids))
        self.Y = self._start(len(data.item_ids))
        self.theta = bilinear(data.user_of, data.item_of, self.mu, self.X, self.Y)
        self.centre = self.theta.copy()
        self.sweeps, self.burn_in = 0, burn_in

    def sweep(self) -> None:
        """Redraw mu, people, items and the priors, each given all the rest."""
        self.sweeps += 1
        self._draw_mu()
        self._draw_side(self.data.layout.users, self.X, self.Y, self.people)
        self.mu = self.level.shifted(self.mu, self.X, self.people, self.rng)
        self._draw_side(self.data.layout.items, self.Y, self.X, self.items)
        self.mu = self.level.shifted(self.mu, self.Y, self.items, self.rng)
        if self.sweeps <= SETTLED * self.burn_in:
            self.centre += np.float32(max(1 / self.sweeps, MEMORY)) * (self.theta - self.centre)

    def draw(self) -> Draw:
        """A copy of the state, but mu at its likeliest given the rest.

        Where reports say next to nothing, draws of one number for all cells would differ by half
        a star, and thirty of them not settle its mean.
        """
        return Draw(
            self._likeliest_mu(),
            self.X.copy(),
            self.Y.copy(),
            self.people.precision.astype(np.float32),
            self.people.weights.astype(np.float32),
        )

    def _draw_side(self, side: Side, rows: Floats, other: Floats, prior: Prior) -> None:
        design = other.copy()
        design[:, 0] = 1
        noise = self.rng.standard_normal(rows.shape, np.float32)
        bar = -self.rng.standard_exponential(len(rows), np.float32)
        approach = self.sweeps <= APPROACH * self.burn_in
        precision, scores = prior.precision.astype(np.float32), self.scores
        given = Conditional(
            self.data.symbols, scores.table, scores.origin, scores.pace,
            design, prior.mean, precision, self.theta if approach else self.centre,
            noise, np.full_like(bar, ANYHOW) if approach else bar,
        )  # fmt: skip
        half_sweep(side, given, rows, self.theta)
        prior.redraw(rows, self.rng)

    def _draw_mu(self) -> None:
        step, weight = self._scoring_step(self.mu)
        step += self.rng.standard_normal() / np.sqrt(weight)
        self.mu += step
        self.theta += np.float32(step)

    def _likeliest_mu(self) -> float:
        mu = self.mu
        for _ in range(STEPS):
            step, weight = self._scoring_step(mu)
            mu += step
            if abs(step) < NEAR / np.sqrt(weight):
                break
        return mu

    def _scoring_step(self, mu: float) -> tuple[float, float]:
        """From mu towards its likeliest value given the rest, and the information there."""
        scores, prior = self.scores, self.level
        theta = self.theta if mu == self.mu else self.theta + np.float32(mu - self.mu)
        score, information = total_score(
            self.data.symbols, theta, scores.table, scores.origin, scores.pace
        )
        weight = information + prior.precision
        return (score - prior.precision * (mu - prior.centre)) / weight, weight

    def _features(
        self, matrix: PresenceMatrix, described: Sequence[Features]
    ) -> tuple[list[Features], list[Features]]:
        if self.presence is None:
            return [], list(described)
        people = self.presence.supposed(matrix)
        items = with_expected_presence(self.presence.item_features, matrix.told_of, described)
        ends = np.cumsum([items.shape[1], *(len(each.order) for each in described)])
        own, *means = np.split(people, ends[:-1], axis=1)
        rated = [replace(each, values=mean) for each, mean in zip(described, means, strict=True)]
        return [Features.by_rank(own), *rated], [Features.by_rank(items), *described]

    def _start(self, rows: int) -> Floats:
        start = 0.1 * self.rng.standard_normal((rows, self.width), np.float32)
        start[:, 0] = 0
        return start


def _read(data: Evidence) -> tuple[Evidence, Spectrum | None]:
    """The evidence as reports of ratings, and the spectrum of presence where that was needed."""
    if data.hidden is None:
        return data, None
    found = spectrum(data.presence, MOST_HIDDEN)
    rated = found.probabilities(data.presence, data.user_of, data.item_of)
    return presence_mixture(data, data.hidden, rated), found


def _presence(
    matrix: PresenceMatrix,
    found: Spectrum | None,
    directions: int,
    described: Sequence[Features],
) -> Presence | None:
    if not directions or min(matrix.shape) <= 2:
        return None
    known = found.leading(directions) if found else spectrum(matrix, directions)
    values = [np.zeros((matrix.shape[1], 0)), *(each.values for each in described)]
    return presence(matrix, known).with_means_of(np.hstack(values), matrix)
