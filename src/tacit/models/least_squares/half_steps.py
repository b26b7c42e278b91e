"""Alternating least squares on an engine: a half-step solves a side's rows block by block."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.side_rows import SideRows, in_blocks
from tacit.engines.tables import Done, Table, Tables, opened, written
from tacit.kernels.als import SideProblem, half_step
from tacit.kernels.layout import Side
from tacit.kernels.predict import bilinear
from tacit.models.evidence.evidence import Evidence

Floats = NDArray[np.float32]
FREE = np.float32(1e9)  # a ridge that fixes a bias at zero


@dataclass(eq=False)
class Factors:
    """theta_ui = mu + x_u[0] + y_i[0] + x_u[1:] . y_i[1:], and the ridge of both sides.

    `people`: shape (users, 1 + K), `items`: shape (items, 1 + K), `ridge`: shape (1 + K,).
    """

    mu: float
    people: Floats
    items: Floats
    ridge: Floats

    @classmethod
    def start(
        cls,
        data: Evidence,
        factors: int,
        ridge: float,
        bias_ridge: float,
        rng: int,
        *,
        centred: bool = True,
    ) -> Self:
        """Return small random item factors and zero user rows.

        `centred`: whether mu is the mean report, else 0.
        """
        draw = np.random.default_rng(rng)
        items = np.zeros((len(data.item_ids), 1 + factors), np.float32)
        items[:, 1:] = 0.3 * draw.standard_normal((len(items), factors))
        return cls(
            float(data.values.mean(dtype=np.float64)) if centred else 0.0,
            np.zeros((len(data.user_ids), 1 + factors), np.float32),
            items,
            np.array([bias_ridge] + [ridge] * factors, np.float32),
        )

    def scatter_people(self, rng: np.random.Generator) -> None:
        """Set small random user factors, like those of items; biases stay 0."""
        shape = self.people[:, 1:].shape
        self.people[:, 1:] = 0.3 * rng.standard_normal(shape)

    def sweep(self, data: Evidence, target: Floats, weight: Floats) -> None:
        """Solve users given items, then items given users."""
        residual = target - np.float32(self.mu)
        cells = data.layout
        arguments = residual, weight, self.ridge
        self.people = half_step(cells.users, problem(self.items, *arguments))
        self.items = half_step(cells.items, problem(self.people, *arguments))

    def predict(self, data: Evidence) -> Floats:
        """Return theta of every report's cell, shape (n,)."""
        return bilinear(data.user_of, data.item_of, self.mu, self.people, self.items)


def problem(other: Floats, residual: Floats, weight: Floats, ridge: Floats) -> SideProblem:
    """Return the least-squares problem of one side's rows given the `other` side's."""
    design = other.copy()
    design[:, 0] = 1
    return SideProblem(residual, weight, design, other[:, 0].copy(), ridge)


SIDES = ("people", "items")


class TargetRows(NamedTuple):
    """Rows of a side, and the reported number of each of the side's cells, `target`."""

    rows: SideRows
    target: Table


class OtherSide(NamedTuple):
    """Inputs of a half-step.

    `mu`: global mean. `other`: rows of the other side, shape (columns, 1 + K). `ridge`: shape (1 +
    K,). `rows`: output table.
    """

    mu: float
    other: Table
    ridge: Floats
    rows: Table


def solve_block(block: TargetRows, across: OtherSide) -> Done:
    """Solve the block's rows."""
    rows, target = block.rows, block.rows.of_cells(block.target) - np.float32(across.mu)
    side = Side(rows.starts, rows.columns, np.arange(len(target), dtype=np.int32))
    system = problem(opened(across.other), target, np.ones_like(target), across.ridge)
    written(across.rows, rows.first, half_step(side, system))
    return Done(rows.n_rows)


@dataclass(frozen=True)
class ReportBlocks:
    """Reports of both sides in blocks."""

    people: list[TargetRows]
    items: list[TargetRows]

    @classmethod
    def of(cls, data: Evidence, engine: Engine, tables: Tables) -> Self:
        """Divide the reports into the engine's number of blocks per side."""
        sides = zip(SIDES, (data.layout.users, data.layout.items), strict=True)
        return cls(*(_blocks(name, side, data, engine, tables) for name, side in sides))


@dataclass(eq=False)
class HalfSteps:
    """State of the sweeps. `factors`: rows, also in tables. `sweeps`: number completed."""

    cells: ReportBlocks
    factors: Factors
    engine: Engine
    tables: Tables
    sweeps: int = 0
    stale: list[Table] = field(default_factory=list[Table])

    def run(self, sweeps: int) -> Factors:
        """Resume from the tables and run until `sweeps` sweeps are complete."""
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
