"""One side of the chain, people or items: its reports, rows and prior, and how they are redrawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.side_rows import in_blocks
from tacit.engines.tables import State, Table, Tables, opened
from tacit.kernels.layout import Side as Grouped
from tacit.kernels.scoring import GRAIN, Readings, Tally
from tacit.models.channel_mf.chance import Key, generator, normals
from tacit.models.channel_mf.row_prior import Features, Prior, RowSums, side_by_side
from tacit.models.channel_mf.stages import Given, RowBlock, redraw_block, settle_block

Floats = NDArray[np.float32]
NAMES = ("people", "items")
PRIOR = ("weights", "precision", "tightness")
START = 0.1  # deviation of factors before the first sweep


@dataclass(eq=False)
class ChainSide:
    """`rows`: shape (n, W), bias first; their biases are to be raised by `shift`. `number`: 0 for
    people, 1 for items, in the keys of random numbers. `blocks`: whose reports are whose. `sums`:
    of the rows when drawn. `stale`: rows that were followed by others."""

    number: int
    n: int
    blocks: list[RowBlock]
    prior: Prior
    rows: Table
    sums: RowSums
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
        width: int,
        range_: float,
        seed: int,
        engine: Engine,
        tables: Tables,
    ) -> Self:
        """Small random factors and no biases; `symbols` in canonical order."""
        n, name = len(grouped.start) - 1, NAMES[number]
        drawn = START * normals((seed, 0, number), 0, n, width)[0]
        drawn[:, 0] = 0
        arrays = {
            "symbol": symbols[grouped.cell],
            "centre": np.full(len(symbols), -1, np.int16),
            "features": np.ascontiguousarray(side_by_side(given, n), np.float32),
        }
        kept = {what: tables.put(f"{name}-{what}", array) for what, array in arrays.items()}
        rows = tables.put(_named(number, 0), drawn)
        whose = in_blocks(name, grouped.start, grouped.other, engine.blocks, tables)
        blocks = [RowBlock(each, **kept, before=rows, after=rows) for each in whose]
        prior = Prior.start(width, given, range_)
        none = RowSums(n, np.zeros_like(prior.weights), np.zeros(width), np.zeros(width))
        return cls(number, n, blocks, prior, rows, none)

    def given(
        self, other: "ChainSide", mu: float, readings: Readings, key: Key, approach: bool
    ) -> Given:
        """What this side is drawn given."""
        weights, precision = (
            each.astype(np.float32) for each in (self.prior.weights, self.prior.precision)
        )
        return Given(
            readings.table, readings.root, float(readings.origin), float(readings.steps),
            mu + other.shift, self.shift, other.rows, weights, precision, key, approach,
        )  # fmt: skip

    def redraw(self, given: Given, engine: Engine, tables: Tables) -> NDArray[np.int64]:
        """Redraw rows, then their prior; counts of cells by symbol and place."""
        before, after = self.rows, tables.after(_named(self.number, given.key[1]), self.rows)
        tallies = self._over(engine, redraw_block, given, after)
        tally = Tally(*(np.sum(parts, axis=0) for parts in zip(*tallies, strict=True)))
        if after is not before:
            self.stale.append(before)
        self.rows, self.shift = after, 0.0
        totals, squares = tally.sums / GRAIN
        self.sums = RowSums(self.n, tally.pulls / GRAIN, totals, squares)
        self.prior.redraw(self.sums, generator(given.key))
        return tally.counts

    def settle(self, given: Given, engine: Engine) -> None:
        """From now on let cells be weighed by what their theta is now."""
        self._over(engine, settle_block, given, self.rows)

    @property
    def raised(self) -> Floats:
        """A copy of the rows with their whole biases."""
        rows = np.array(opened(self.rows))
        rows[:, 0] += np.float32(self.shift)
        return rows

    def state(self) -> State:
        """What a sweep leaves behind, beside the rows."""
        found = {name: getattr(self.prior, name) for name in PRIOR} | {"shift": self.shift}
        return {f"{NAMES[self.number]}-{name}": np.array(value) for name, value in found.items()}

    def resume(self, state: State, sweep: int, tables: Tables) -> None:
        """Go on where `state` was left after that sweep."""
        kept = {name: state[f"{NAMES[self.number]}-{name}"] for name in PRIOR}
        self.prior = replace(self.prior, **kept)
        self.shift = float(state[f"{NAMES[self.number]}-shift"])
        self.stale.append(self.rows)
        self.rows = tables.put(_named(self.number, sweep), np.empty(0))

    def _over(
        self, engine: Engine, stage: Callable[[RowBlock, Given], Any], given: Given, after: Table
    ) -> list[Any]:
        blocks = [block._replace(before=self.rows, after=after) for block in self.blocks]
        return engine.over(stage, blocks, given)


def _named(number: int, sweep: int) -> str:
    return f"{NAMES[number]}-rows-{sweep:04}"
