"""One side of the chain, people or items: its reports, rows and prior, and how they are redrawn."""

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
START = 0.1  # deviation of factors before the first sweep


@dataclass(eq=False)
class ChainSide:
    """`rows`: shape (n, W), bias first; their biases are to be raised by `shift`. `spreads`: the
    number of each one's, shape (n,), and `spread_at`, in which sweep they were drawn. `number`: 0
    for people, 1 for items, in the keys of random numbers. `blocks`: whose reports are whose.
    `sums`: of the rows when drawn. `stale`: tables that were followed by others."""

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
        """Small random factors and no biases, all of one `spread`; `symbols` in canonical order."""
        n, name = len(grouped.start) - 1, NAMES[number]
        drawn = START * normals((seed, 0, number), 0, n, width)[0]
        drawn[:, 0] = 0
        arrays = {
            "symbol": symbols[grouped.cell],
            "centre": np.full(len(symbols), -1, np.int16),
            "features": np.ascontiguousarray(side_by_side(given, n), np.float32),
        }
        kept = {
            what: tables.put(f"{name}-{what}", array, is_input=what == "symbol")
            for what, array in arrays.items()
        }
        check_codes("centre", opened(kept["centre"]) + 1, GRID + 1)
        rows = tables.put(_named(name, "rows", 0), drawn)
        spreads = tables.put(_named(name, "spreads", 0), np.full(n, spread, np.uint8))
        whose = in_blocks(name, grouped.start, grouped.other, engine.blocks, tables)
        blocks = [RowBlock(each, **kept, after=rows) for each in whose]
        prior = Prior.start(width, given, range_)
        none = RowSums(n, np.zeros_like(prior.weights), np.zeros(width), np.zeros(width))
        return cls(number, n, blocks, prior, rows, spreads, none)

    def given(
        self, other: "ChainSide", mu: float, readings: Readings, key: Key, approach: bool
    ) -> Given:
        """What this side is drawn given."""
        weights, precision = (
            each.astype(np.float32) for each in (self.prior.weights, self.prior.precision)
        )
        return Given(
            readings, mu + other.shift, self.shift, 0, np.zeros(0, np.float32), self.rows,
            self.spreads, other.rows, other.spreads, weights, precision, key, approach,
        )  # fmt: skip

    def redraw(self, given: Given, engine: Engine, tables: Tables) -> NDArray[np.int64]:
        """Redraw rows, then their prior; counts of cells by symbol and place."""
        after = self._after("rows", given, self.rows, tables)
        tallies = self._over(engine, redraw_block, given, after)
        tally = Tally(*(np.sum(parts, axis=0) for parts in zip(*tallies, strict=True)))
        self.rows, self.shift = after, 0.0
        totals, squares = tally.sums / GRAIN
        self.sums = RowSums(self.n, tally.pulls / GRAIN, totals, squares)
        self.prior.redraw(self.sums, generator(given.key))
        return tally.counts

    def moved(self, column: int, given: Given, engine: Engine) -> Given:
        """Redraw a column of the prior's weights, and let the rows go with it when redrawn."""
        still = given._replace(column=column, move=np.zeros(len(self.prior.order), np.float32))
        rng, here = generator(given.key, WEIGHTS), self._sums_of_move(still, engine)
        proposal = WeightMove.proposed(self.prior, column, here, rng)
        there = still._replace(move=proposal.move.astype(np.float32))
        gain = proposal.gain(self.prior, here, self._sums_of_move(there, engine))
        if gain < -rng.standard_exponential():
            return given
        self.prior.weights[:, column] += proposal.move
        return there._replace(weights=self.prior.weights.astype(np.float32))

    def redraw_spreads(self, given: Given, engine: Engine, tables: Tables) -> None:
        """Redraw how far each one's ratings spread around their tastes."""
        after = self._after("spreads", given, self.spreads, tables)
        self._over(engine, redraw_spreads_block, given, after)
        self.spreads, self.spread_at = after, given.key[1]

    def settle(self, given: Given, engine: Engine) -> None:
        """From now on let cells be weighed by what their theta is now."""
        self._over(engine, settle_block, given, self.rows)

    @property
    def raised(self) -> Floats:
        """A copy of the rows with their whole biases."""
        rows = np.array(opened(self.rows))
        rows[:, 0] += np.float32(self.shift)
        return rows

    @property
    def mean_gram(self) -> NDArray[np.float64]:
        """The mean of f f' over rows with features f, shape (d, d)."""
        return self.prior.gram / self.n

    def state(self) -> State:
        """What a sweep leaves behind, beside the rows."""
        found = {name: getattr(self.prior, name) for name in PRIOR}
        found |= {"shift": self.shift, "spread-at": self.spread_at}
        return {f"{self.name}-{what}": np.array(value) for what, value in found.items()}

    def resume(self, state: State, sweep: int, tables: Tables) -> None:
        """Go on where `state` was left after that sweep."""
        kept = {what: state[f"{self.name}-{what}"] for what in PRIOR}
        self.prior = replace(self.prior, **kept)
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
        """Whose side it is, in names of tables."""
        return NAMES[self.number]

    def _after(self, what: str, given: Given, before: Table, tables: Tables) -> Table:
        """The table for what is to follow `before` in this sweep."""
        after = tables.after(_named(self.name, what, given.key[1]), before)
        if after is not before:
            self.stale.append(before)
        return after

    def _sums_of_move(self, given: Given, engine: Engine) -> WeightSums:
        sums = self._over(engine, weight_sums_block, given, self.rows)
        return WeightSums(*(np.sum(parts, axis=0) for parts in zip(*sums, strict=True)))

    def _over(
        self, engine: Engine, stage: Callable[[RowBlock, Given], Any], given: Given, after: Table
    ) -> list[Any]:
        return engine.over(stage, [block._replace(after=after) for block in self.blocks], given)


def _named(side: str, what: str, sweep: int) -> str:
    return f"{side}-{what}-{sweep:04}"
