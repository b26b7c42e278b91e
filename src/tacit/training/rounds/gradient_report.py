"""What a device answers in one round of private gradients: a single bit, after Shin et al.

The server asks each person for one entry of their projected gradient, chosen without looking at
anything. The device solves its owner's taste on the true ratings, clips the entry to [-1, 1], and
sends one of two symbols. Taste, ratings and the entry itself stay at home.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.collection.keystream import BulkWords
from tacit.collection.sampler import BulkSampler
from tacit.kernels.devices.foldin import Home, fold_in
from tacit.kernels.layout import Side
from tacit.kernels.projection import Columns, Seeds, lifted, projected
from tacit.scale import RatingScale

Doubles = NDArray[np.float64]
Symbols = NDArray[np.unsignedinteger[Any]]
ENTRIES = RatingScale.parse("-1:1:0.01")
"""The public grid that an entry is rounded to: what the certificate of the draw speaks of."""


def two_points(epsilon: str) -> Channel:
    """The channel of one report, epsilon nats between *any* two entries, so any two profiles.

    Duchi's table over `ENTRIES`: P(+) = (x (e^eps - 1) + e^eps + 1) / (2 (e^eps + 1)), the two
    symbols standing for -B and B = (e^eps + 1) / (e^eps - 1), so that E[report] = x. Certified in
    integers; raises `RequestError` for an epsilon above 16.
    """
    return compile_channel("duchi", epsilon=epsilon, scale=ENTRIES)


@dataclass(frozen=True, eq=False)
class Questions:
    """Which entry each person of a round is asked for: public, and nobody's data are in it.

    The item axis is projected by Phi (width x items) with entries +-1 / sqrt(width), drawn anew
    for every report. `seeds`: the row of Phi that was picked, as the seed of its signs; `columns`:
    the column l of (b_i, q_i). Both uniform, of shape (people,).
    """

    seeds: Seeds
    columns: Columns
    width: int

    @classmethod
    def draw(cls, people: int, columns: int, width: int, chance: np.random.Generator) -> Self:
        """One question for each of `people`, each entry of Phi g as likely as any other."""
        seeds = chance.integers(0, 1 << 64, people, dtype=np.uint64)
        return cls(seeds, chance.integers(0, columns, people), width)

    def answered(
        self, side: Side, ratings: Doubles, home: Home, channel: Channel, words: BulkWords | None
    ) -> Symbols:
        """The symbol of each person, shape (people,): all that leaves their device in this round.

        `words` is replaced in tests only: secret words are drawn by default.
        """
        rows = fold_in(side, ratings, home)
        half = (home.levels[-1] - home.levels[0]) / 2
        entries = projected(side, ratings, home, rows, self.columns, self.seeds) / half
        # Whatever the ratings and whatever items the server sent, an input of the table comes out:
        # clipped here, in the projected space, and rounded. The guarantee rests on the draw alone.
        inputs = np.clip(np.nan_to_num(entries / np.sqrt(self.width)), -1, 1)
        levels = np.rint((inputs + 1) * ((ENTRIES.n_levels - 1) / 2)).astype(np.uint8)
        return BulkSampler((channel,), words).draw(levels, np.zeros(len(levels), np.uint8))

    def gradient(self, symbols: Symbols, channel: Channel, shape: tuple[int, int]) -> Doubles:
        """The mean gradient that the answers speak for, shape (items, 1 + K).

        Each answer stands for +-width (1 + K) B at its entry of Phi g, lifted by the transpose of
        Phi: unbiased for what was not clipped, with `noise` in each entry.
        """
        bound = np.array([float(y) for y in channel.outputs if y is not None])[symbols]
        values = bound * (np.sqrt(self.width) * shape[1] / len(symbols))
        return lifted(values, self.columns, self.seeds, shape)

    def noise(self, channel: Channel, columns: int) -> float:
        """Second moment of an entry of `gradient` without signal: width (1 + K) B^2 / people."""
        bound = float(channel.outputs[-1] or 0)
        return self.width * columns * bound**2 / len(self.seeds)
