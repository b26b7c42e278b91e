"""The two stages of a chain that an engine runs over blocks of rows, by name, anywhere."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.engines.tables import Table, opened, written
from tacit.kernels.predict import bilinear
from tacit.kernels.scoring import ANYHOW, Conditional, ReportRows, Tally, half_sweep
from tacit.models.channel_mf.chance import Key, normals

Floats = NDArray[np.float32]


class RowBlock(NamedTuple):
    """Rows `first` to `end` of a side, in tables of the whole side: its reports as in
    `ReportRows`, `features`, and rows, which are read from `before` and written to `after`."""

    first: int
    end: int
    start: Table
    other: Table
    symbol: Table
    centre: Table
    features: Table
    before: Table
    after: Table

    @property
    def reports(self) -> ReportRows:
        """The reports of the block, views."""
        start = opened(self.start)[self.first : self.end + 1]
        cells = slice(start[0], start[-1])
        parts = (opened(each)[cells] for each in (self.other, self.symbol, self.centre))
        return ReportRows(np.asarray(start - start[0]), *map(np.asarray, parts))


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


class Done(NamedTuple):
    """That a block is done; what came of it is in its tables."""

    rows: int


def redraw_block(block: RowBlock, given: Given) -> Tally:
    """Redraw the block's rows; their sums."""
    rows = slice(block.first, block.end)
    drawn = np.array(opened(block.before)[rows])
    z, bar = normals(given.key, block.first, block.end, drawn.shape[1])
    tally = half_sweep(
        block.reports,
        Conditional(
            given.table, given.root, np.float32(given.origin), np.float32(given.steps),
            np.float32(given.mu), np.float32(given.shift),
            np.asarray(opened(given.design)), np.asarray(opened(block.features)[rows]),
            given.weights, given.precision,
            z, np.full_like(bar, ANYHOW) if given.approach else bar,
        ),
        drawn,
    )  # fmt: skip
    written(block.after, block.first, drawn)
    return tally


def settle_block(block: RowBlock, given: Given) -> Done:
    """Let the block's cells be weighed by what their theta is now."""
    reports = block.reports
    mine = np.repeat(np.arange(block.end - block.first, dtype=np.int32), np.diff(reports.start))
    rows = np.asarray(opened(block.before)[block.first : block.end])
    design = np.asarray(opened(given.design))
    theta = bilinear(mine, reports.other, given.mu + given.shift, rows, design)
    place = np.rint((theta - np.float32(given.origin)) * np.float32(given.steps))
    first = int(opened(block.start)[block.first])
    written(block.centre, first, np.clip(place, 0, given.root.shape[1] - 1))
    return Done(block.end - block.first)
