"""The four stages of a chain that an engine runs over blocks of rows, by name, anywhere."""

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
OF_SPREADS = 5  # in keys of random numbers, where a side's number is


class RowBlock(NamedTuple):
    """Rows of a side, and tables of the whole side: its reports as in `ReportRows`, `features`, and
    what is redrawn, rows or their spreads, is written to `after`."""

    rows: SideRows
    symbol: Table
    centre: Table
    features: Table
    after: Table

    @property
    def reports(self) -> ReportRows:
        """The reports of the block, views."""
        at = self.rows
        return ReportRows(at.starts, at.columns, at.of_cells(self.symbol), at.of_cells(self.centre))

    def of_rows(self, table: Table) -> NDArray[Any]:
        """What a table of all rows holds of the block's, a view."""
        return opened(table)[self.rows.first : self.rows.end]


class Given(NamedTuple):
    """What a side is redrawn given. `mu`: with what the biases of `design`, the rows of the other
    side, are to be raised by. `shift`: what those of the side itself, `rows`, are to be; `column`
    and `move`: as in `Conditional`. `spreads`, `beside`: of the side and of the other. `approach`:
    whether every proposal is taken."""

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


def redraw_block(block: RowBlock, given: Given) -> Tally:
    """Redraw the block's rows; their sums."""
    drawn = block.of_rows(given.rows).copy()
    z, bar = normals(given.key, block.rows.first, block.rows.end, drawn.shape[1])
    tally = half_sweep(
        block.reports,
        given.readings,
        Conditional(
            block.of_rows(given.spreads), opened(given.beside),
            np.float32(given.mu), np.float32(given.shift), given.column, given.move,
            opened(given.design), block.of_rows(block.features),
            given.weights, given.precision,
            z, np.full_like(bar, ANYHOW) if given.approach else bar,
        ),
        drawn,
    )  # fmt: skip
    written(block.after, block.rows.first, drawn)
    return tally


def weight_sums_block(block: RowBlock, given: Given) -> WeightSums:
    """What the block's reports say of the move of a column's weights; where there is none yet, how
    much they say of it, too."""
    return weight_sums(
        block.reports,
        given.readings,
        MovedRows(
            given.column, given.move, np.float32(given.mu + given.shift),
            block.of_rows(given.rows), block.of_rows(given.spreads), block.of_rows(block.features),
            opened(given.design), opened(given.beside),
        ),
        informed=not given.move.any(),
    )  # fmt: skip


def redraw_spreads_block(block: RowBlock, given: Given) -> Done:
    """Redraw the spreads of the block's rows."""
    own, (seed, sweep, _) = block.rows, given.key
    spreads = len(given.readings.table) // given.readings.symbols
    chance = gumbels((seed, sweep, OF_SPREADS), own.first, own.end, spreads)
    mu = np.float32(given.mu + given.shift)
    thetas = Thetas(mu, block.of_rows(given.rows), opened(given.design))
    drawn = drawn_spreads(block.reports, given.readings, thetas, chance)
    written(block.after, own.first, drawn)
    return Done(own.n_rows)


def settle_block(block: RowBlock, given: Given) -> Done:
    """Let the block's cells be weighed by what their theta is now."""
    reports, rows, readings = block.reports, block.rows, given.readings
    mine = np.repeat(np.arange(rows.n_rows, dtype=np.int32), np.diff(reports.start))
    now = block.of_rows(given.rows)
    theta = bilinear(mine, reports.other, given.mu + given.shift, now, opened(given.design))
    place = np.rint((theta - np.float32(readings.origin)) * np.float32(readings.steps))
    written(block.centre, rows.cells.start, np.clip(place, 0, readings.root.shape[1] - 1))
    return Done(rows.n_rows)
