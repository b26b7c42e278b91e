"""The four stages of a sweep that an engine runs over blocks of rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.engines.side_rows import SideRows
from tacit.engines.tables import Done, Table, opened, written
from tacit.kernels.chain.readings import Readings, ReportRows
from tacit.kernels.chain.scoring import ANYHOW, Conditional, Tally, half_sweep
from tacit.kernels.chain.spreads import Thetas, drawn_spreads
from tacit.kernels.chain.weights import MovedRows, WeightSums, weight_sums
from tacit.kernels.predict import bilinear
from tacit.models.channel_mf.chance import Key, gumbels, normals

Floats = NDArray[np.float32]
OF_SPREADS = 5  # in keys of random numbers, in place of a side's number


class RowBlock(NamedTuple):
    """A block of a side's rows, and tables of the complete side.

    `symbol`, `centre`: reports as in `ReportRows`. `features`: of the rows. `after`: table that
    receives the redrawn rows or residual scales.
    """

    rows: SideRows
    symbol: Table
    centre: Table
    features: Table
    after: Table

    @property
    def reports(self) -> ReportRows:
        """Reports of the block, as views."""
        at = self.rows
        return ReportRows(at.starts, at.columns, at.of_cells(self.symbol), at.of_cells(self.centre))

    def of_rows(self, table: Table) -> NDArray[Any]:
        """Return the block's part of a table of all rows, a view."""
        return opened(table)[self.rows.first : self.rows.end]


class Given(NamedTuple):
    """Inputs of a side's conditional.

    `mu`: global level plus the shift of the biases of `design`, the rows of the other side.
    `shift`: shift of the biases of `rows`. `column`, `move`: as in `Conditional`. `spreads`,
    `beside`: residual scales of the side and of the other. `approach`: accept every proposal.
    """

    readings: Readings
    mu: float
    shift: float
    column: int
    move: Floats
    rows: Table
    spreads: Table
    design: Table
    beside: Table
    weights: Floats
    precision: Floats
    key: Key
    approach: bool


def redraw_block(block: RowBlock, inputs: Given) -> Tally:
    """Redraw the block's rows and return their sums."""
    drawn = block.of_rows(inputs.rows).copy()
    z, bar = normals(inputs.key, block.rows.first, block.rows.end, drawn.shape[1])
    tally = half_sweep(
        block.reports,
        inputs.readings,
        Conditional(
            block.of_rows(inputs.spreads), opened(inputs.beside),
            np.float32(inputs.mu), np.float32(inputs.shift), inputs.column, inputs.move,
            opened(inputs.design), block.of_rows(block.features),
            inputs.weights, inputs.precision,
            z, np.full_like(bar, ANYHOW) if inputs.approach else bar,
        ),
        drawn,
    )  # fmt: skip
    written(block.after, block.rows.first, drawn)
    return tally


def weight_sums_block(block: RowBlock, inputs: Given) -> WeightSums:
    """Return log-likelihood and score of a column's weights after `move`.

    Without a move, also their information.
    """
    return weight_sums(
        block.reports,
        inputs.readings,
        MovedRows(
            inputs.column, inputs.move, np.float32(inputs.mu + inputs.shift),
            block.of_rows(inputs.rows), block.of_rows(inputs.spreads),
            block.of_rows(block.features),
            opened(inputs.design), opened(inputs.beside),
        ),
        informed=not inputs.move.any(),
    )  # fmt: skip


def redraw_spreads_block(block: RowBlock, inputs: Given) -> Done:
    """Redraw the residual scales of the block's rows."""
    rows, (seed, sweep, _) = block.rows, inputs.key
    spreads = len(inputs.readings.table) // inputs.readings.symbols
    noise = gumbels((seed, sweep, OF_SPREADS), rows.first, rows.end, spreads)
    mu = np.float32(inputs.mu + inputs.shift)
    thetas = Thetas(mu, block.of_rows(inputs.rows), opened(inputs.design))
    drawn = drawn_spreads(block.reports, inputs.readings, thetas, noise)
    written(block.after, rows.first, drawn)
    return Done(rows.n_rows)


def settle_block(block: RowBlock, inputs: Given) -> Done:
    """Fix the weights of the block's cells at their current theta."""
    reports, rows, readings = block.reports, block.rows, inputs.readings
    mine = np.repeat(np.arange(rows.n_rows, dtype=np.int32), np.diff(reports.start))
    now = block.of_rows(inputs.rows)
    theta = bilinear(mine, reports.other, inputs.mu + inputs.shift, now, opened(inputs.design))
    index = np.rint((theta - np.float32(readings.origin)) * np.float32(readings.steps))
    written(block.centre, rows.cells.start, np.clip(index, 0, readings.root.shape[1] - 1))
    return Done(rows.n_rows)
