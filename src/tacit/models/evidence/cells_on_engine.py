"""Binary sparse matrix whose products run on an engine, block by block of rows.

A row's sum depends on its own cells alone, in their order, so results are identical for any engine
and any blocks. Products with the transpose are sums over the rows of the other side.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.engine import Engine
from tacit.engines.side_rows import SideRows, of_matrix
from tacit.engines.tables import Tables
from tacit.kernels.layout import row_sums

Array = NDArray[Any]


class Summands(NamedTuple):
    """One number or row of numbers per column, shape (columns,) or (columns, K)."""

    of_columns: Array


class CellSums(NamedTuple):
    """Sums per row of a block, shape (rows,) or (rows, K)."""

    of_rows: Array


def sum_block(block: SideRows, summands: Summands) -> CellSums:
    """Sum over the cells of each row of the block."""
    return CellSums(row_sums(block.starts, block.columns, summands.of_columns))


@dataclass(frozen=True, eq=False)
class CellsOnEngine:
    """The matrix, shape (rows, columns), and its transpose, `T`: both sides in blocks."""

    shape: tuple[int, int]
    rows: list[SideRows]
    columns: list[SideRows]
    engine: Engine

    @classmethod
    def of(cls, cells: csr_array, name: str, engine: Engine, tables: Tables) -> "CellsOnEngine":
        """Store the cells of a sparse matrix in tables prefixed with `name`."""
        rows = of_matrix(f"{name}-rows", cells, engine.blocks, tables)
        columns = of_matrix(f"{name}-columns", csr_array(cells.T), engine.blocks, tables)
        return cls(cells.shape, rows, columns, engine)

    @property
    def T(self) -> "CellsOnEngine":  # noqa: N802  # as NumPy and SciPy have it
        """The transpose."""
        m, n = self.shape
        return CellsOnEngine((n, m), self.columns, self.rows, self.engine)

    def __matmul__(self, x: Array) -> Array:
        """Return the product with `x`: sums over the cells of each row."""
        parts = self.engine.over(sum_block, self.rows, Summands(np.ascontiguousarray(x)))
        return np.concatenate([part.of_rows for part in parts])
