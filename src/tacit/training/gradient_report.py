"""Reports of private gradients: the queries of a round, what a device answers, and its account."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.collection.sampler import BulkSampler, BulkWords
from tacit.errors import CertificateError
from tacit.kernels.foldin import Home, fold_in_rows
from tacit.kernels.layout import Side
from tacit.kernels.projection import Columns, Seeds, lifted, projected
from tacit.scale import RatingScale
from tacit.training.mechanism.accounting import nats

Doubles = NDArray[np.float64]
Symbols = NDArray[np.unsignedinteger[Any]]
CARE = 4.0
"""Largest drop in log-likelihood of a slope that is not rejected: 2.8 standard deviations."""
SLOPES = np.r_[0.0, np.geomspace(1e-6, 2.0, 90)]
"""Candidate slopes, times s. Gradients are in half ranges, of which s is a quarter: if all users
rate all items, the slope of levels is .5 / s."""
ENTRIES = RatingScale.parse("-1:1:0.01")
"""Public grid that an entry is rounded to, the input scale of the channel's certificate."""


def two_points(epsilon: str) -> Channel:
    """Return the channel of one report: epsilon nats between *any* two entries, or profiles.

    Duchi's table over `ENTRIES`: P(+) = (x (e^eps - 1) + e^eps + 1) / (2 (e^eps + 1)), where the
    two symbols stand for -B and B = (e^eps + 1) / (e^eps - 1), so that E[report] = x. Certified in
    integers; raises `RequestError` for an epsilon above 16.
    """
    return compile_channel("duchi", epsilon=epsilon, scale=ENTRIES)


@dataclass(frozen=True, eq=False)
class Questions:
    """Queried entry of each user in a round: public, independent of all data.

    The item axis is projected by Phi (width x items) with entries +-1 / sqrt(width), drawn anew for
    every report. `seeds`: the selected row of Phi, as the seed of its signs. `columns`: the column
    l of (b_i, q_i). Both uniform, of shape (users,).
    """

    seeds: Seeds
    columns: Columns
    width: int

    @classmethod
    def draw(cls, people: int, columns: int, width: int, rng: np.random.Generator) -> Self:
        """Draw one query for each of `people`, uniform over the entries of Phi g."""
        seeds = rng.integers(0, 1 << 64, people, dtype=np.uint64)
        return cls(seeds, rng.integers(0, columns, people), width)

    def answered(
        self, side: Side, ratings: Doubles, home: Home, channel: Channel, words: BulkWords | None
    ) -> Symbols:
        """Return the symbol of each user, shape (users,): all that leaves a device in this round.

        `words` is replaced in tests only: secret words are drawn by default.
        """
        rows = fold_in_rows(side, ratings, home)
        half = (home.levels[-1] - home.levels[0]) / 2
        entries = projected(side, ratings, home, rows, self.columns, self.seeds) / half
        # Any ratings, and any items from the server, yield an input of the table: clipped here,
        # in the projected space, and rounded. The guarantee rests on the draw alone.
        inputs = np.clip(np.nan_to_num(entries / np.sqrt(self.width)), -1, 1)
        levels = np.rint((inputs + 1) * ((ENTRIES.n_levels - 1) / 2)).astype(np.uint8)
        return BulkSampler((channel,), words).draw(levels, np.zeros(len(levels), np.uint8))

    def gradient(self, symbols: Symbols, channel: Channel, shape: tuple[int, int]) -> Doubles:
        """Return the mean gradient estimated from the reports, shape (items, 1 + K).

        Each report stands for +-width (1 + K) B at its entry of Phi g, lifted by the transpose of
        Phi: unbiased for unclipped entries, with `noise` in each entry.
        """
        bound = np.array([float(y) for y in channel.outputs if y is not None])[symbols]
        values = bound * (np.sqrt(self.width) * shape[1] / len(symbols))
        return lifted(values, self.columns, self.seeds, shape)

    def noise(self, channel: Channel, columns: int) -> float:
        """Return the variance of a `gradient` entry without signal: width (1 + K) B^2 / users."""
        bound = float(channel.outputs[-1] or 0)
        return self.width * columns * bound**2 / len(self.seeds)


@dataclass(eq=False)
class ReportAccount:
    """`epsilon`: nats per user. `reports`: number of reports per user so far, shape (users,)."""

    epsilon: str
    reports: NDArray[np.int64]

    @classmethod
    def of(cls, epsilon: str, people: int) -> Self:
        """Return an account for each of `people` users. Raises `RequestError` as `nats` does."""
        nats(epsilon)
        return cls(epsilon, np.zeros(people, np.int64))

    def pay(self, people: slice, each: str) -> None:
        """Charge one more report, at `each` nats, to all in `people`: epsilons of reports add up.

        Raises `CertificateError`, before any device reports, if a budget would be exceeded.
        """
        self.reports[people] += 1
        most = int(self.reports.max(initial=0))
        if most * Decimal(each) > nats(self.epsilon):
            raise CertificateError(
                f"{most} reports at {each} nats exceed the {self.epsilon} nats guaranteed per user."
            )


@dataclass(frozen=True, eq=False)
class Gradients:
    """Sufficient statistics of all rounds: sums over rounds, each weighted by its 1 / v_t.

    `weight`: of 1. `gradients`, `offsets`: of g_t and d_t, shape (items, columns). `crossed`,
    `squared`: of g_t d_t and d_t^2, over items too, shape (columns,).
    """

    weight: float
    gradients: Doubles
    offsets: Doubles
    crossed: Doubles
    squared: Doubles

    @classmethod
    def none(cls, shape: tuple[int, int]) -> "Gradients":
        """Return the statistics before the first round."""
        items, columns = np.zeros((2, *shape)), np.zeros((2, shape[1]))
        return cls(0.0, *items, *columns)

    def joined(self, gradient: Doubles, offset: Doubles, noise: float) -> "Gradients":
        """Add a round: its mean `gradient`, of variance `noise`, at rows at `offset`."""
        return Gradients(
            self.weight + 1 / noise,
            self.gradients + gradient / noise,
            self.offsets + offset / noise,
            self.crossed + (gradient * offset).sum(0) / noise,
            self.squared + (offset**2).sum(0) / noise,
        )

    def log_likelihood(self, slopes: Doubles, spread: float) -> Doubles:
        """Return the log-likelihood of slopes relative to slope 0; shape (slopes, columns)."""
        u, d, g = slopes[:, None], self.offsets, self.gradients
        precision = 1 / spread**2 + self.weight * u**2
        squares = u**2 * (d**2).sum(0) - 2 * u * (d * g).sum(0) + (g**2).sum(0)
        known = u * self.crossed - u**2 * self.squared / 2
        return known + (u**2 * squares / precision - len(d) * np.log(precision * spread**2)) / 2

    def slope(self, spread: float) -> Doubles:
        """Return the least slope that is not rejected, shape (columns,)."""
        tried = SLOPES / spread
        log_likelihood = self.log_likelihood(tried, spread)
        return tried[np.argmax(log_likelihood >= log_likelihood.max(0) - CARE, axis=0)]

    def posterior_mean(self, spread: float) -> Doubles:
        """Return the mean of n at that slope, shape (items, columns). `spread`: s, in stars."""
        u = self.slope(spread)
        return u * (u * self.offsets - self.gradients) / (1 / spread**2 + self.weight * u**2)
