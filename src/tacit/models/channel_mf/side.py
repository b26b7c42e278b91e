"""One side of the chain, people or items: its reports, rows and prior, and how they are redrawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side as Grouped
from tacit.kernels.predict import bilinear
from tacit.kernels.scoring import (
    ANYHOW,
    GRAIN,
    Conditional,
    Readings,
    ReportRows,
    Tally,
    half_sweep,
)
from tacit.models.channel_mf.chance import Key, generator, normals
from tacit.models.channel_mf.likelihood import ScoreTable
from tacit.models.channel_mf.row_prior import Features, Prior, RowSums, side_by_side

Floats = NDArray[np.float32]
START = 0.1  # deviation of factors before the first sweep


@dataclass(eq=False)
class ChainSide:
    """`rows`: shape (rows, W), bias first; their biases are to be raised by `shift`. `number`: 0
    for people, 1 for items, in the keys of random numbers. `sums`: of the rows when drawn."""

    number: int
    cells: ReportRows
    features: Floats
    prior: Prior
    rows: Floats
    sums: RowSums
    shift: float = 0.0

    @classmethod
    def start(
        cls,
        number: int,
        grouped: Grouped,
        *,
        symbols: NDArray[np.uint16],
        given: Sequence[Features],
        width: int,
        range_: float,
        seed: int,
    ) -> Self:
        """Small random factors and no biases; `symbols` in canonical order."""
        n = len(grouped.start) - 1
        rows = START * normals((seed, 0, number), 0, n, width)[0]
        rows[:, 0] = 0
        cells = ReportRows(
            grouped.start,
            grouped.other,
            symbols[grouped.cell],
            np.full(len(symbols), -1, np.int16),
        )
        prior = Prior.start(width, given, range_)
        features = np.ascontiguousarray(side_by_side(given, n), np.float32)
        none = RowSums(n, np.zeros_like(prior.weights), np.zeros(width), np.zeros(width))
        return cls(number, cells, features, prior, rows, none)

    def redraw(
        self,
        other: "ChainSide",
        mu: float,
        readings: Readings,
        seed: int,
        sweep: int,
        approach: bool,
    ) -> NDArray[np.int64]:
        """Redraw rows, then their prior; counts of cells by symbol and place."""
        key: Key = (seed, sweep, self.number)
        z, bar = normals(key, 0, len(self.rows), self.rows.shape[1])
        given = Conditional(
            *readings, np.float32(mu + other.shift), np.float32(self.shift),
            other.rows, self.features,
            self.prior.weights.astype(np.float32), self.prior.precision.astype(np.float32),
            z, np.full_like(bar, ANYHOW) if approach else bar,
        )  # fmt: skip
        tally = half_sweep(self.cells, given, self.rows)
        self.shift, self.sums = 0.0, self._sums(tally)
        self.prior.redraw(self.sums, generator(key))
        return tally.counts

    def settle(self, other: "ChainSide", mu: float, scores: ScoreTable) -> None:
        """From now on let cells be weighed by what their theta is now."""
        mine = np.repeat(np.arange(len(self.rows), dtype=np.int32), np.diff(self.cells.start))
        theta = bilinear(mine, self.cells.other, mu, self.raised, other.raised)
        self.cells.centre[:] = scores.place(theta)

    @property
    def raised(self) -> Floats:
        """A copy of the rows with their whole biases."""
        rows = self.rows.copy()
        rows[:, 0] += np.float32(self.shift)
        return rows

    def _sums(self, tally: Tally) -> RowSums:
        totals, squares = tally.sums / GRAIN
        return RowSums(len(self.rows), tally.pulls / GRAIN, totals, squares)
