"""Blocks of rows of a side, as ranges of tables of the complete side."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.tables import Table, Tables, opened
from tacit.kernels import even_pieces

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class SideRows(NamedTuple):
    """Rows `first` to `end` of a side.

    `start`, `other`: as in `tacit.kernels.layout.Side`, of the complete side.
    """

    first: int
    end: int
    start: Table
    other: Table

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return self.end - self.first

    @property
    def cells(self) -> slice:
        """Range of the block's cells in tables of all cells."""
        start = opened(self.start)
        return slice(int(start[self.first]), int(start[self.end]))

    @property
    def starts(self) -> Longs:
        """Start of each row among the block's cells, and the end of the last one."""
        start = opened(self.start)[self.first : self.end + 1]
        return np.asarray(start - start[0])

    @property
    def columns(self) -> Ints:
        """Column of each cell, a view."""
        return self.of_cells(self.other)

    def of_cells(self, table: Table) -> NDArray[Any]:
        """Return the block's part of a table of all cells, a view."""
        return opened(table)[self.cells]

    def ones(self, columns: int, kind: type[np.floating[Any]]) -> csr_array:
        """Return a matrix with 1 at each cell, shape (rows, columns)."""
        cells = np.ones(len(self.columns), kind), self.columns, self.starts
        return csr_array(cells, shape=(self.n_rows, columns))


def in_blocks(name: str, start: Longs, other: Ints, blocks: int, tables: Tables) -> list[SideRows]:
    """Divide all rows of a side into `blocks` of about equal work.

    `name`: prefix of the tables.
    """
    stored = (
        tables.put(f"{name}-start", start, is_input=True),
        tables.put(f"{name}-other", other, is_input=True),
    )
    ends = even_pieces(start, blocks).tolist()
    return [SideRows(first, end, *stored) for first, end in pairwise(ends)]


def of_matrix(name: str, cells: csr_array, blocks: int, tables: Tables) -> list[SideRows]:
    """Divide the rows of a sparse matrix likewise, ignoring its entries."""
    other = cells.indices.astype(np.int32, copy=False)
    return in_blocks(name, cells.indptr.astype(np.int64), other, blocks, tables)
