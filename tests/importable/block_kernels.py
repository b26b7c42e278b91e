"""Kernels for tests of engines, in a module of their own so that other processes find them."""

import os
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError

Doubles = NDArray[np.float64]


class Matrix(NamedTuple):
    """A block: rows of a matrix, shape (rows, k)."""

    rows: Doubles


class Scale(NamedTuple):
    """What all blocks share."""

    by: float
    shift: Doubles


class Product(NamedTuple):
    """What comes back: `cells`, how many there were, and what an inner tuple held."""

    cells: Doubles
    count: int
    shift: tuple[Doubles, str]


class Where(NamedTuple):
    """Who did it, and with how many threads."""

    process: int
    threads: int


def scaled(block: Matrix, shared: Scale) -> Product:
    """Rows times a number, moved."""
    return Product(block.rows * shared.by + shared.shift, block.rows.size, (shared.shift, "over"))


def products(rows: Matrix, columns: Matrix, shared: Scale) -> Product:
    """All inner products between two blocks; its last digits depend on the order in memory."""
    cells = rows.rows @ columns.rows.T * shared.by
    return Product(cells, cells.size, (np.zeros(0), "across"))


def refuses(block: Matrix, shared: Scale) -> Product:
    """A request that cannot be met, found out at work."""
    if block.rows.max() > 5:
        raise RequestError(f"{block.rows.max():g} is above 5; give less.")
    return scaled(block, shared)


def distrusts(rows: Matrix, columns: Matrix, shared: Scale) -> Product:
    """Data that are wrong, found out at work."""
    raise DataError(f"Row {rows.rows[0, 0]:g} holds nothing.")


def where(block: Matrix, shared: Scale) -> Where:
    """The process that ran the kernel."""
    return Where(os.getpid(), numba.get_num_threads())


def objects(block: Matrix, shared: Scale) -> Matrix:
    """A result that no bytes can stand for."""
    return Matrix(np.array([None]))


def writes(block: Matrix, shared: Scale) -> Matrix:
    """A kernel that uses its block as scratch space."""
    block.rows[:] = -block.rows
    return block
