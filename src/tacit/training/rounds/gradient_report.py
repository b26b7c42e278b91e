"""Gradient report of a device: a single bit per round, after Shin et al.

The server queries one entry of each user's projected gradient, chosen independently of all data.
The device folds in its user's row from the true ratings, clips the entry to [-1, 1], and sends one
of two symbols. Row, ratings and the entry itself stay on the device.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.collection.sampler import BulkSampler, BulkWords
from tacit.errors import CertificateError
from tacit.kernels.devices.foldin import Home, fold_in
from tacit.kernels.layout import Side
from tacit.kernels.projection import Columns, Seeds, lifted, projected
from tacit.scale import RatingScale
from tacit.training.mechanism.accounting import nats

Doubles = NDArray[np.float64]
Symbols = NDArray[np.unsignedinteger[Any]]
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
        rows = fold_in(side, ratings, home)
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
