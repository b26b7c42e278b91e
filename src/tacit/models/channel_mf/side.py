"""One side of the sampler, users or items: its reports, rows and prior, and their updates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.side_rows import in_blocks
from tacit.engines.tables import State, Table, Tables, opened
from tacit.kernels.chain.readings import Readings
from tacit.kernels.chain.scoring import GRAIN, Tally
from tacit.kernels.chain.weights import WeightSums
from tacit.kernels.layout import Side as Grouped
from tacit.models.channel_mf.chance import WEIGHTS, Key, generator, normals
from tacit.models.channel_mf.likelihood import GRID
from tacit.models.channel_mf.row_prior import Features, Prior, RowSums, side_by_side
from tacit.models.channel_mf.stages import (
    Given,
    RowBlock,
    redraw_block,
    redraw_spreads_block,
    settle_block,
    weight_sums_block,
)
from tacit.models.channel_mf.weight_move import WeightMove
from tacit.vocabulary import check_codes

Floats = NDArray[np.float32]
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
