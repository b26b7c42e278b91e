"""The conditional draws of one side, users or items, block by block, with their random streams.

Random numbers keyed by row: a row's draws do not depend on which rows are drawn with it.

Each run of `RUN` rows has its own generator, keyed by seed, sweep and side. Results are identical
for any division into blocks, on any worker, and after a restart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.side_rows import SideRows, in_blocks
from tacit.engines.tables import Done, State, Table, Tables, opened, written
from tacit.kernels.gibbs_rows import (
    ANYHOW,
    GRAIN,
    Conditional,
    Readings,
    ReportRows,
    Tally,
    half_sweep,
)
from tacit.kernels.gibbs_scales import MovedRows, Thetas, WeightSums, drawn_spreads, weight_sums
from tacit.kernels.layout import Side as Grouped
from tacit.kernels.predict import bilinear
from tacit.models.channel_mf.likelihood import GRID
from tacit.models.channel_mf.row_prior import Prior, RowSums, WeightMove, side_by_side
from tacit.models.evidence.item_features import Features
from tacit.vocabulary import check_codes

RUN = 1024
# Keys beyond every run of rows: draws of a side's priors and moves of their weights.
PRIORS, WEIGHTS = 1 << 32, 1 << 33
Floats = NDArray[np.float32]
Key = tuple[int, int, int]
"""Seed, sweep, side."""


def generator(key: Key, run: int = PRIORS) -> np.random.Generator:
    """Return the generator of a run of rows, or of a side's priors."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((*key, run))))


def normals(key: Key, first: int, end: int, width: int) -> tuple[Floats, Floats]:
    """Draw standard normals and logarithms of uniforms for the rows `first` to `end`.

    Shapes (rows, width) and (rows,).
    """
    z = np.empty((end - first, width), np.float32)
    bar = np.empty(end - first, np.float32)
    for run in range(first // RUN, -(-end // RUN)):
        rng, at = generator(key, run), run * RUN
        inside = slice(max(first - at, 0), min(end - at, RUN))
        here = slice(at + inside.start - first, at + inside.stop - first)
        z[here] = rng.standard_normal((RUN, width), np.float32)[inside]
        bar[here] = -rng.standard_exponential(RUN, np.float32)[inside]
    return z, bar


def gumbels(key: Key, first: int, end: int, width: int) -> NDArray[np.float64]:
    """Draw standard Gumbel numbers for the rows `first` to `end`, shape (rows, width)."""
    runs = range(first // RUN, -(-end // RUN))
    drawn = [-np.log(generator(key, run).standard_exponential((RUN, width))) for run in runs]
    start = runs.start * RUN
    return np.concatenate([np.empty((0, width)), *drawn])[first - start : end - start]


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


NAMES = ("people", "items")
PRIOR = ("weights", "precision", "tightness")
START = 0.1  # initial standard deviation of factors


@dataclass(eq=False)
class ChainSide:
    """State of a side.

    `number`: 0 for users, 1 for items, in the keys of random numbers. `n`: rows. `blocks`: reports
    by blocks of rows. `rows`: shape (n, W), bias first; biases are to be raised by `shift`.
    `spreads`: index of each row's residual scale, shape (n,), drawn in sweep `spread_at`. `sums`:
    statistics of the rows when drawn. `stale`: tables that newer ones replaced.
    """

    number: int
    n: int
    blocks: list[RowBlock]
    prior: Prior
    rows: Table
    spreads: Table
    sums: RowSums
    spread_at: int = 0
    shift: float = 0.0
    stale: list[Table] = field(default_factory=list[Table])

    @classmethod
    def start(
        cls,
        number: int,
        grouped: Grouped,
        *,
        symbols: NDArray[np.uint16],
        given: Sequence[Features],
        spread: int,
        width: int,
        range_: float,
        seed: int,
        engine: Engine,
        tables: Tables,
    ) -> Self:
        """Return a side with small random factors, zero biases and one residual scale, `spread`.

        `symbols`: reports in canonical order.
        """
        n, name = len(grouped.start) - 1, NAMES[number]
        drawn = START * normals((seed, 0, number), 0, n, width)[0]
        drawn[:, 0] = 0
        arrays = {
            "symbol": symbols[grouped.cell],
            "centre": np.full(len(symbols), -1, np.int16),
            "features": np.ascontiguousarray(side_by_side(given, n), np.float32),
        }
        stored = {
            what: tables.put(f"{name}-{what}", array, is_input=what == "symbol")
            for what, array in arrays.items()
        }
        check_codes("centre", opened(stored["centre"]) + 1, GRID + 1)
        rows = tables.put(_named(name, "rows", 0), drawn)
        spreads = tables.put(_named(name, "spreads", 0), np.full(n, spread, np.uint8))
        row_blocks = in_blocks(name, grouped.start, grouped.other, engine.blocks, tables)
        blocks = [RowBlock(each, **stored, after=rows) for each in row_blocks]
        prior = Prior.start(width, given, range_)
        none = RowSums(n, np.zeros_like(prior.weights), np.zeros(width), np.zeros(width))
        return cls(number, n, blocks, prior, rows, spreads, none)

    def start_from(self, known: Floats, mask: NDArray[np.bool_], tables: Tables) -> None:
        """Replace the rows where `mask` holds."""
        rows = np.where(mask[:, None], known, self.raised)
        self.rows, self.shift = tables.put(_named(self.name, "warm", 0), rows), 0.0

    def given(
        self, other: "ChainSide", mu: float, readings: Readings, key: Key, approach: bool
    ) -> Given:
        """Return the inputs of this side's conditional."""
        weights, precision = (
            each.astype(np.float32) for each in (self.prior.weights, self.prior.precision)
        )
        return Given(
            readings, mu + other.shift, self.shift, 0, np.zeros(0, np.float32), self.rows,
            self.spreads, other.rows, other.spreads, weights, precision, key, approach,
        )  # fmt: skip

    def redraw(self, inputs: Given, engine: Engine, tables: Tables) -> NDArray[np.int64]:
        """Redraw rows, then their prior. Returns counts of cells by symbol and grid index."""
        after = self._after("rows", inputs, self.rows, tables)
        tallies = self._over(engine, redraw_block, inputs, after)
        tally = Tally(*(np.sum(parts, axis=0) for parts in zip(*tallies, strict=True)))
        self.rows, self.shift = after, 0.0
        totals, squares = tally.sums / GRAIN
        self.sums = RowSums(self.n, tally.pulls / GRAIN, totals, squares)
        self.prior.redraw(self.sums, generator(inputs.key))
        return tally.counts

    def moved(self, column: int, inputs: Given, engine: Engine) -> Given:
        """Redraw a column of the prior's weights; the next redraw moves the rows with it."""
        still = inputs._replace(column=column, move=np.zeros(len(self.prior.order), np.float32))
        rng, here = generator(inputs.key, WEIGHTS), self._sums_of_move(still, engine)
        proposal = WeightMove.proposed(self.prior, column, here, rng)
        there = still._replace(move=proposal.move.astype(np.float32))
        gain = proposal.gain(self.prior, here, self._sums_of_move(there, engine))
        if gain < -rng.standard_exponential():
            return inputs
        self.prior.weights[:, column] += proposal.move
        return there._replace(weights=self.prior.weights.astype(np.float32))

    def redraw_spreads(self, inputs: Given, engine: Engine, tables: Tables) -> None:
        """Redraw the residual scale of each row."""
        after = self._after("spreads", inputs, self.spreads, tables)
        self._over(engine, redraw_spreads_block, inputs, after)
        self.spreads, self.spread_at = after, inputs.key[1]

    def settle(self, inputs: Given, engine: Engine) -> None:
        """Fix the weights of the cells at their current theta."""
        self._over(engine, settle_block, inputs, self.rows)

    @property
    def raised(self) -> Floats:
        """Copy of the rows with `shift` added to their biases."""
        rows = np.array(opened(self.rows))
        rows[:, 0] += np.float32(self.shift)
        return rows

    @property
    def mean_gram(self) -> NDArray[np.float64]:
        """Mean of f f' over rows with features f, shape (d, d)."""
        return self.prior.gram / self.n

    def state(self) -> State:
        """Return the state after a sweep, without the rows."""
        values = {name: getattr(self.prior, name) for name in PRIOR}
        values |= {"shift": self.shift, "spread-at": self.spread_at}
        return {f"{self.name}-{what}": np.array(value) for what, value in values.items()}

    def resume(self, state: State, sweep: int, tables: Tables) -> None:
        """Restore `state` as saved after `sweep`."""
        prior = {what: state[f"{self.name}-{what}"] for what in PRIOR}
        self.prior = replace(self.prior, **prior)
        self.shift = float(state[f"{self.name}-shift"])
        self.spread_at = int(state[f"{self.name}-spread-at"])
        self.stale.append(self.rows)
        self.rows = tables.known(_named(self.name, "rows", sweep), opened(self.rows))
        if self.spread_at:
            self.stale.append(self.spreads)
            name = _named(self.name, "spreads", self.spread_at)
            self.spreads = tables.known(name, opened(self.spreads))

    @property
    def name(self) -> str:
        """Prefix of the side's table names."""
        return NAMES[self.number]

    def _after(self, what: str, inputs: Given, before: Table, tables: Tables) -> Table:
        """Return the table that replaces `before` in this sweep."""
        after = tables.after(_named(self.name, what, inputs.key[1]), before)
        if after is not before:
            self.stale.append(before)
        return after

    def _sums_of_move(self, inputs: Given, engine: Engine) -> WeightSums:
        sums = self._over(engine, weight_sums_block, inputs, self.rows)
        return WeightSums(*(np.sum(parts, axis=0) for parts in zip(*sums, strict=True)))

    def _over(
        self, engine: Engine, stage: Callable[[RowBlock, Given], Any], inputs: Given, after: Table
    ) -> list[Any]:
        return engine.over(stage, [block._replace(after=after) for block in self.blocks], inputs)


def _named(side: str, what: str, sweep: int) -> str:
    return f"{side}-{what}-{sweep:04}"
