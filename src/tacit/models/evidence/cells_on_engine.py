"""Who rated what as a matrix of 0 and 1 whose products run on an engine, block by block of rows.

A row's sum depends on its own cells alone, in their order, so that digits are the same for any
blocks. Products with the transpose are sums over the rows of the other side.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.engine import Engine
from tacit.engines.tables import Table, Tables, opened
from tacit.kernels.layout import even_pieces
from tacit.kernels.lists.row_sums import row_sums

Array = NDArray[Any]


class CellRows(NamedTuple):
    """Rows `first` to `end` of a side, in tables of the whole side: `start` and `other` as in
    `tacit.kernels.layout.Side`."""

    first: int
    end: int
    start: Table
    other: Table


class Summands(NamedTuple):
    """A number or a row of numbers of each column, shape (columns,) or (columns, K)."""

    of_columns: Array


class CellSums(NamedTuple):
    """Of each row of a block, shape (rows,) or (rows, K)."""

    of_rows: Array


def sum_block(block: CellRows, given: Summands) -> CellSums:
    """Sums over the cells of each of the block's rows."""
    x = given.of_columns
    start = opened(block.start)[block.first : block.end + 1]
    columns = np.asarray(opened(block.other)[int(start[0]) : int(start[-1])])
    ones = np.ones(len(columns), x.dtype)
    rows = csr_array((ones, columns, start - start[0]), shape=(len(start) - 1, len(x)))
    return CellSums(row_sums(rows, x) if x.dtype == np.float32 and x.ndim == 2 else rows @ x)


@dataclass(frozen=True, eq=False)
class CellsOnEngine:
    """The matrix, shape (rows, columns), and its transpose, `T`: both sides in blocks."""

    shape: tuple[int, int]
    rows: list[CellRows]
    columns: list[CellRows]
    engine: Engine

    @classmethod
    def of(cls, cells: csr_array, name: str, engine: Engine, tables: Tables) -> "CellsOnEngine":
        """The cells of a sparse matrix, in tables named after `name`."""
        by_column = csr_array(cells.T)
        rows, columns = (
            _blocks(f"{name}-{side}", each, engine, tables)
            for side, each in (("rows", cells), ("columns", by_column))
        )
        return cls(cells.shape, rows, columns, engine)

    @property
    def T(self) -> "CellsOnEngine":  # noqa: N802  # as NumPy and SciPy have it
        """The transpose."""
        m, n = self.shape
        return CellsOnEngine((n, m), self.columns, self.rows, self.engine)

    def __matmul__(self, x: Array) -> Array:
        """Sums over rows' cells."""
        found = self.engine.over(sum_block, self.rows, Summands(np.ascontiguousarray(x)))
        return np.concatenate([part.of_rows for part in found])


def _blocks(name: str, cells: csr_array, engine: Engine, tables: Tables) -> list[CellRows]:
    ends = cells.indptr.astype(np.int64)
    start = tables.put(f"{name}-start", ends)
    other = tables.put(f"{name}-other", cells.indices.astype(np.int32, copy=False))
    pieces = pairwise(even_pieces(ends, engine.blocks).tolist())
    return [CellRows(first, end, start, other) for first, end in pieces]
