"""Alternating least squares on an engine: a half-step solves the rows of a side block by block."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.side_rows import SideRows, in_blocks
from tacit.engines.tables import Done, Table, Tables, opened, written
from tacit.kernels.als import half_step
from tacit.kernels.layout import Side
from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.factors import Factors, problem

Floats = NDArray[np.float32]
SIDES = ("people", "items")


class TargetRows(NamedTuple):
    """Rows of a side, and what was reported at each of the side's cells, `target`."""

    rows: SideRows
    target: Table


class OtherSide(NamedTuple):
    """What rows are solved given: rows of the `other` side, shape (columns, 1 + K), `mu` and a
    ridge, shape (1 + K,). `rows`: where they go."""

    mu: float
    other: Table
    ridge: Floats
    rows: Table


def solve_block(block: TargetRows, across: OtherSide) -> Done:
    """Solve the block's rows."""
    rows, target = block.rows, block.rows.of_cells(block.target) - np.float32(across.mu)
    side = Side(rows.starts, rows.columns, np.arange(len(target), dtype=np.int32))
    asked = problem(opened(across.other), target, np.ones_like(target), across.ridge)
    written(across.rows, rows.first, half_step(side, asked))
    return Done(rows.n_rows)


@dataclass(frozen=True)
class ReportBlocks:
    """The reports of both sides in blocks."""

    people: list[TargetRows]
    items: list[TargetRows]

    @classmethod
    def of(cls, data: Evidence, engine: Engine, tables: Tables) -> Self:
        """As many blocks a side as the engine asks for."""
        sides = zip(SIDES, (data.layout.users, data.layout.items), strict=True)
        return cls(*(_blocks(name, side, data, engine, tables) for name, side in sides))


@dataclass(eq=False)
class HalfSteps:
    """Where the sweeps are: `factors`, their rows in tables. `sweeps`: done so far."""

    cells: ReportBlocks
    factors: Factors
    engine: Engine
    tables: Tables
    sweeps: int = 0
    stale: list[Table] = field(default_factory=list[Table])

    def run(self, sweeps: int) -> Factors:
        """Go on from what is in the tables until so many sweeps are done."""
        people = self.tables.put("people-00", self.factors.people)
        items = self.tables.put("items-00", self.factors.items)
        last = self.tables.last(like={"sweeps": np.array(self.sweeps)})
        if last is not None:
            self.stale, self.sweeps = [people, items], int(last["sweeps"])
            people = self.tables.known(self._named(SIDES[0]), self.factors.people)
            items = self.tables.known(self._named(SIDES[1]), self.factors.items)
        while self.sweeps < sweeps:
            self.sweeps += 1
            people = self._solve(self.cells.people, SIDES[0], people, items)
            items = self._solve(self.cells.items, SIDES[1], items, people)
            self.tables.save({"sweeps": np.array(self.sweeps)}, self.stale)
            self.stale = []
        self.factors.people, self.factors.items = opened(people), opened(items)
        return self.factors

    def _solve(self, blocks: list[TargetRows], side: str, before: Table, other: Table) -> Table:
        rows = self.tables.after(self._named(side), before)
        across = OtherSide(self.factors.mu, other, self.factors.ridge, rows)
        self.engine.over(solve_block, blocks, across)
        if rows is not before:
            self.stale.append(before)
        return rows

    def _named(self, side: str) -> str:
        return f"{side}-{self.sweeps:02}"


def _blocks(
    name: str, side: Side, data: Evidence, engine: Engine, tables: Tables
) -> list[TargetRows]:
    target = tables.put(f"{name}-target", data.values[side.cell])
    rows = in_blocks(name, side.start, side.other, engine.blocks, tables)
    return [TargetRows(each, target) for each in rows]
