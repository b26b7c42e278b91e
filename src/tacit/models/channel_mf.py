"""channel-mf: Bayesian matrix factorization that knows the channel its reports came through.

Each cell has a taste theta_ui = mu + b_u + b_i + p_u . q_i; the true rating is a noisy reading of
it, the report a draw from the channel's table. Posterior draws of all of it come from Gibbs sweeps
whose conditionals are read off the score and Fisher information of the exact likelihood, so that
one sampler serves every epsilon, and mixed channels, from next to nothing to no noise at all.
Where who-rated-what is public, it shapes the priors of people and items.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side
from tacit.kernels.scoring import Conditional, half_sweep
from tacit.models.capacity import (
    starting_level,
    worth,
    worthwhile_directions,
    worthwhile_factors,
)
from tacit.models.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.likelihood import score_table
from tacit.models.presence import Presence, presence
from tacit.models.prior import Prior

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ChannelMF:
    """Settings of quality; none of them touches privacy, all of it is post-processing.

    `factors`: K, or None to let the reports decide: no more directions than they carry units of
    information per unknown. `burn_in`, `kept`: sweeps. `draws`: posterior draws the model keeps
    (at most 32). `directions`: of the presence matrix that shape the priors; 0 for none, None to
    let the reports decide likewise.
    """

    factors: int | None = None
    burn_in: int = 40
    kept: int = 96
    draws: int = 32
    directions: int | None = None

    name = "channel-mf"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Learn from reports; `advance` is told the share of work done after each sweep."""
        sampler = _Sampler(self, data, np.random.default_rng(rng))
        kept: list[Draw] = []
        total, every = self.burn_in + self.kept, max(1, self.kept // self.draws)
        for sweep in range(total):
            sampler.sweep()
            if sweep >= self.burn_in and (total - 1 - sweep) % every == 0:
                kept.append(sampler.draw())
            advance((sweep + 1) / total)
        return _fitted(self.name, data, sampler, kept[-self.draws :])


@dataclass(frozen=True, eq=False)
class Draw:
    """One state of the sampler."""

    mu: float
    people: Floats
    items: Floats
    precision: Floats
    prior_weights: Floats


class _Sampler:
    """The state of the chain; explicit, advanced by `sweep` alone."""

    def __init__(self, settings: ChannelMF, data: Evidence, rng: np.random.Generator) -> None:
        self.data, self.rng = data, rng
        self.scores = score_table(data.likelihood, data.blocks, data.scale)
        self.mu = starting_level(self.scores, data)
        ratings = worth(self.scores, data, self.mu)
        K = settings.factors or worthwhile_factors(ratings, data)
        self.width = 1 + K
        d = settings.directions
        self.presence = _presence(data, worthwhile_directions(ratings, K) if d is None else d)
        range_ = data.scale.values[-1] - data.scale.values[0]
        self.level_precision = (4 / range_) ** 2
        self.people = Prior.start(self.width, self._features(0), range_)
        self.items = Prior.start(self.width, self._features(1), range_)
        padded = self.width + self.width % 2
        self.X = self._start(len(data.user_ids), padded)
        self.Y = self._start(len(data.item_ids), padded)
        self.theta = self._theta()

    def sweep(self) -> None:
        """Redraw mu, people, items and the priors, each given all the rest."""
        self._draw_mu()
        self._draw_side(self.data.layout.users, self.X, self.Y, self.people)
        self._draw_side(self.data.layout.items, self.Y, self.X, self.items)

    def draw(self) -> Draw:
        """A copy of the state."""
        W = self.width
        return Draw(
            self.mu,
            self.X[:, :W].copy(),
            self.Y[:, :W].copy(),
            self.people.precision[:W].astype(np.float32),
            self.people.weights.astype(np.float32),
        )

    def _draw_side(self, side: Side, rows: Floats, other: Floats, prior: Prior) -> None:
        W = self.width
        design = other.copy()
        design[:, 0] = 1
        mean = np.zeros_like(rows)
        mean[:, :W] = prior.mean
        precision = np.ones(rows.shape[1], np.float32)
        precision[:W] = prior.precision
        noise = self.rng.standard_normal(rows.shape, np.float32)
        scores = self.scores
        given = Conditional(
            self.data.symbols, scores.table, scores.origin, scores.pace,
            design, mean, precision, noise,
        )  # fmt: skip
        half_sweep(side, given, rows, self.theta)
        prior.redraw(rows[:, :W], self.rng)

    def _draw_mu(self) -> None:
        score, information = self._at_theta()
        centre = float(np.mean(self.data.scale.values))
        weight = information + self.level_precision
        step = (score - self.level_precision * (self.mu - centre)) / weight
        step += self.rng.standard_normal() / np.sqrt(weight)
        self.mu += step
        self.theta += np.float32(step)

    def _at_theta(self) -> tuple[float, float]:
        both = self.scores.table[self.data.symbols, self.scores.place(self.theta)]
        score, information = both.sum(0, dtype=np.float64)
        return float(score), float(information)

    def _features(self, side: int) -> Doubles:
        if self.presence is None:
            return np.zeros(((len(self.data.user_ids), len(self.data.item_ids))[side], 0))
        if side == 1:
            return self.presence.item_features
        return self.presence.people(self.data.layout.users)

    def _start(self, rows: int, padded: int) -> Floats:
        start = np.zeros((rows, padded), np.float32)
        start[:, 1 : self.width] = 0.1 * self.rng.standard_normal((rows, self.width - 1))
        return start

    def _theta(self) -> Floats:
        users, items = self.data.user_of, self.data.item_of
        theta = np.empty(len(users), np.float32)
        for a in range(0, len(users), 1 << 20):  # in pieces: the gathered factors are large
            X, Y = self.X[users[a : a + (1 << 20)]], self.Y[items[a : a + (1 << 20)]]
            theta[a : a + (1 << 20)] = (
                self.mu + X[:, 0] + Y[:, 0] + np.einsum("ij,ij->i", X[:, 1:], Y[:, 1:])
            )
        return theta


def _presence(data: Evidence, directions: int) -> Presence | None:
    enough = min(len(data.user_ids), len(data.item_ids)) > 2
    return (
        presence(data.layout, directions)
        if directions and data.presence_public and enough
        else None
    )


def _fitted(name: str, data: Evidence, sampler: _Sampler, draws: list[Draw]) -> Fitted:
    return Fitted(
        model=name,
        scale=data.scale,
        user_ids=data.user_ids,
        item_ids=data.item_ids,
        mu=np.array([draw.mu for draw in draws]),
        people=np.stack([draw.people for draw in draws]),
        items=np.stack([draw.items for draw in draws]),
        precision=np.stack([draw.precision for draw in draws]),
        sigma=sampler.scores.sigma,
        guarantee=data.guarantee,
        presence=sampler.presence,
        prior_weights=(
            np.stack([draw.prior_weights for draw in draws]) if sampler.presence else None
        ),
    )
