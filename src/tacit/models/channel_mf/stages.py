"""The two stages of a chain that an engine runs over blocks of rows, by name, anywhere."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.engines.side_rows import SideRows
from tacit.engines.tables import Done, Table, opened, written
from tacit.kernels.predict import bilinear
from tacit.kernels.scoring import ANYHOW, Conditional, ReportRows, Tally, half_sweep
from tacit.models.channel_mf.chance import Key, normals

Floats = NDArray[np.float32]


class RowBlock(NamedTuple):
    """Rows of a side, and tables of the whole side: its reports as in `ReportRows`, `features`, and
    rows, which are read from `before` and written to `after`."""

    rows: SideRows
    symbol: Table
    centre: Table
    features: Table
    before: Table
    after: Table

    @property
    def reports(self) -> ReportRows:
        """The reports of the block, views."""
        at = self.rows
        return ReportRows(at.starts, at.columns, at.of_cells(self.symbol), at.of_cells(self.centre))

    def of_rows(self, table: Table) -> Floats:
        """What a table of all rows holds of the block's, a view."""
        return opened(table)[self.rows.first : self.rows.end]


class Given(NamedTuple):
    """What a side is redrawn given, the first four as in `Readings`. `mu`: with what the biases of
    `design`, the rows of the other side, are to be raised by. `shift`: what those of the side
    itself are to be. `approach`: whether every proposal is taken."""

    table: Floats
    root: Floats
    origin: float
    steps: float
    mu: float
    shift: float
    design: Table
    weights: Floats
    precision: Floats
    key: Key
    approach: bool


def redraw_block(block: RowBlock, given: Given) -> Tally:
    """Redraw the block's rows; their sums."""
    drawn = block.of_rows(block.before).copy()
    z, bar = normals(given.key, block.rows.first, block.rows.end, drawn.shape[1])
    tally = half_sweep(
        block.reports,
        Conditional(
            given.table, given.root, np.float32(given.origin), np.float32(given.steps),
            np.float32(given.mu), np.float32(given.shift),
            opened(given.design), block.of_rows(block.features),
            given.weights, given.precision,
            z, np.full_like(bar, ANYHOW) if given.approach else bar,
        ),
        drawn,
    )  # fmt: skip
    written(block.after, block.rows.first, drawn)
    return tally


def settle_block(block: RowBlock, given: Given) -> Done:
    """Let the block's cells be weighed by what their theta is now."""
    reports, rows = block.reports, block.rows
    mine = np.repeat(np.arange(rows.n_rows, dtype=np.int32), np.diff(reports.start))
    now = block.of_rows(block.before)
    theta = bilinear(mine, reports.other, given.mu + given.shift, now, opened(given.design))
    place = np.rint((theta - np.float32(given.origin)) * np.float32(given.steps))
    written(block.centre, rows.cells.start, np.clip(place, 0, given.root.shape[1] - 1))
    return Done(rows.n_rows)
