"""The chain behind `channel-mf`: Gibbs sweeps over levels, people, items and their priors.

Each row's conditional is that of the reports' exact likelihood: one step of scoring proposes, and
the likelihood decides (`tacit.kernels.scoring`). The priors' conditionals are exact in one draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tacit.models.channel_mf.capacity import (
    starting_level,
    told,
    worth,
    worthwhile_directions,
    worthwhile_factors,
)
from tacit.models.channel_mf.chance import generator
from tacit.models.channel_mf.level import LevelPrior
from tacit.models.channel_mf.likelihood import score_table
from tacit.models.channel_mf.row_prior import Features
from tacit.models.channel_mf.side import ChainSide
from tacit.models.channel_mf.unrated_items import with_expected_presence
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.presence_features import Presence, presence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.presence_mixture import presence_mixture
from tacit.models.evidence.presence_spectrum import MOST_HIDDEN, Spectrum, spectrum

APPROACH = 0.7
"""Share of the burn-in that takes every proposal: far away a true step is seldom accepted. What
cells' thetas are at its end weighs them from then on, for that must not follow the chain."""
STEPS, NEAR = 8, 0.02  # of scoring towards the likeliest mu; near enough, in standard deviations
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
        seed: int,
    ) -> None:
        matrix = data.presence  # before its reports are taken for reports of ratings
        data, found = _read(data)
        self.seed = seed
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
        start = partial(
            ChainSide.start,
            symbols=data.symbols.astype(np.uint16), width=self.width, range_=range_, seed=seed,
        )  # fmt: skip
        self.people = start(0, data.layout.users, given=people)
        self.items = start(1, data.layout.items, given=items)
        self.readings = self.scores.readings
        self.counts = np.zeros(self.readings.root.shape, np.int64)
        self.sweeps, self.approach = 0, max(int(APPROACH * burn_in), 1)

    def sweep(self) -> None:
        """Redraw mu, people, items and the priors, each given all the rest."""
        self.sweeps += 1
        if self.sweeps > 1:
            self._draw_mu()
        self._draw_side(self.people, self.items)
        self.counts = self._draw_side(self.items, self.people)
        if self.sweeps == self.approach:
            self.people.settle(self.items, self.mu, self.scores)
            self.items.settle(self.people, self.mu, self.scores)

    def draw(self) -> Draw:
        """A copy of the state, but mu at its likeliest given the rest.

        Where reports say next to nothing, draws of one number for all cells would differ by half
        a star, and thirty of them not settle its mean.
        """
        prior = self.people.prior
        return Draw(
            self._likeliest_mu(),
            self.people.raised,
            self.items.raised,
            prior.precision.astype(np.float32),
            prior.weights.astype(np.float32),
        )

    def _draw_side(self, side: ChainSide, other: ChainSide) -> NDArray[np.int64]:
        approach = self.sweeps <= self.approach
        counts = side.redraw(other, self.mu, self.readings, self.seed, self.sweeps, approach)
        chance = generator((self.seed, self.sweeps, side.number + 2))
        drawn = self.level.redrawn(self.mu, side.sums, side.prior, chance)
        self.mu, side.shift = drawn, self.mu - drawn
        return counts

    def _draw_mu(self) -> None:
        step, weight = self._scoring_step(0.0)
        chance = generator((self.seed, self.sweeps, 4))
        self.mu += step + chance.standard_normal() / np.sqrt(weight)

    def _likeliest_mu(self) -> float:
        shift = 0.0
        for _ in range(STEPS):
            step, weight = self._scoring_step(shift)
            shift += step
            if abs(step) < NEAR / np.sqrt(weight):
                break
        return self.mu + shift

    def _scoring_step(self, shift: float) -> tuple[float, float]:
        """From mu + shift towards its likeliest value given the rest, and the information there."""
        score, information = self.scores.of_level(self.counts, shift)
        weight = information + self.level.precision
        away = self.mu + shift - self.level.centre
        return (score - self.level.precision * away) / weight, weight

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
