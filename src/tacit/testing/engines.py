"""Claims about an engine: identical results in the same order, for any division into blocks.

Its kernels are in this module, so that other processes can import them by name.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine, cut
from tacit.errors import DataError, RequestError, TacitError

Doubles = NDArray[np.float64]
Claim = Callable[[Engine], None]


class MatrixRows(NamedTuple):
    """A block: rows of a matrix, shape (rows, 3)."""

    rows: Doubles


class Scale(NamedTuple):
    """Shared inputs: a factor, and a shift of each row, shape (3,)."""

    by: float
    shift: Doubles


class Product(NamedTuple):
    """A result: `cells`, their number (`size`), and a nested tuple."""

    cells: Doubles
    size: int
    inner: tuple[Doubles, str]


SHARED = Scale(0.1, np.array([1.0, -2.0, 1e-300]))


def scaled(block: MatrixRows, shared: Scale) -> Product:
    """Return rows times a factor, shifted."""
    return Product(block.rows * shared.by + shared.shift, block.rows.size, (shared.shift, "over"))


def products(rows: MatrixRows, columns: MatrixRows, shared: Scale) -> Product:
    """Return all inner products between two blocks; rounding depends on the memory order."""
    cells = rows.rows @ columns.rows.T * shared.by
    return Product(cells, cells.size, (np.zeros(0), "across"))


def refuses(block: MatrixRows, shared: Scale) -> Product:
    """Raise `RequestError` for some blocks."""
    if block.rows.max() > 5:
        raise RequestError(f"{block.rows.max():g} is above 5.")
    return scaled(block, shared)


def distrusts(rows: MatrixRows, columns: MatrixRows, shared: Scale) -> Product:
    """Raise `DataError`."""
    raise DataError(f"Row {rows.rows[0, 0]:g} is empty.")


def writes(block: MatrixRows, shared: Scale) -> MatrixRows:
    """Modify the block in place."""
    block.rows[:] = -block.rows
    return block


def matrices(n: int, pieces: int) -> list[MatrixRows]:
    """Return n reproducible rows in `pieces` blocks, in column-major order."""
    rows = np.random.default_rng(n).normal(size=(n, 3))
    return [MatrixRows(np.asfortranarray(rows[part])) for part in cut(n, pieces)]


def same(result: Product, wanted: Product) -> bool:
    """Return whether two results are equal bit by bit."""
    return (
        type(result) is Product
        and (result.cells.shape, result.size) == (wanted.cells.shape, wanted.size)
        and result.cells.tobytes() == wanted.cells.tobytes()
        and result.inner[0].tobytes() == wanted.inner[0].tobytes()
        and result.inner[1] == wanted.inner[1]
    )


def runs_every_block_in_order(engine: Engine) -> None:
    """Each block has one result, equal to the kernel's, in the order of the blocks."""
    blocks = matrices(11, engine.blocks)
    results, wanted = engine.over(scaled, blocks, SHARED), [scaled(one, SHARED) for one in blocks]
    if len(results) != len(wanted) or not all(map(same, results, wanted)):
        raise AssertionError(
            f"The results over {len(blocks)} blocks differ from those of the kernel."
        )


def pairs_every_row_with_every_column(engine: Engine) -> None:
    """Each block of rows has a list with one result per block of columns, in order."""
    # More columns than rows, of another size, so that a transposition is detected.
    rows, columns = matrices(11, engine.blocks), matrices(13, engine.blocks + 1)
    results = engine.across(products, rows, columns, SHARED)
    if [len(row) for row in results] != [len(columns)] * len(rows):
        raise AssertionError(f"{len(rows)} by {len(columns)} blocks return {len(results)} rows.")
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        if not same(results[i][j], products(row, column, SHARED)):
            raise AssertionError(
                f"Row {i} and column {j} have the result of another pair, or none."
            )


def has_the_same_digits_in_any_blocks(engine: Engine) -> None:
    """The division of rows into blocks does not change any bit of the results."""
    (undivided,) = engine.over(scaled, matrices(11, 1), SHARED)
    for pieces in (2, 4, 11):
        parts = engine.over(scaled, matrices(11, pieces), SHARED)
        cells = np.concatenate([part.cells for part in parts])
        if cells.tobytes() != np.ascontiguousarray(undivided.cells).tobytes():
            raise AssertionError(
                f"The result in {pieces} blocks differs from the result in one block."
            )


def takes_empty_blocks_and_none(engine: Engine) -> None:
    """A block without rows has a result, and an empty list of blocks has an empty result."""
    nobody, two = [MatrixRows(np.zeros((0, 3)))], matrices(2, 2)
    empty = [result.cells.shape for result in engine.over(scaled, nobody, SHARED)]
    none = [engine.over(scaled, [], SHARED), engine.across(products, [], two, SHARED)]
    none += engine.across(products, two, [], SHARED)
    if empty != [(0, 3)] or none != [[]] * 4:
        raise AssertionError(f"An empty block returns {empty}, and no blocks return {none}.")


def raises_what_a_kernel_raises(engine: Engine) -> None:
    """A `TacitError` of a kernel reaches the caller unchanged, from the first block with one."""
    blocks = [MatrixRows(np.full((1, 3), float(value))) for value in (1, 9, 2, 7)]
    refused = raised(lambda: engine.over(refuses, blocks, SHARED))
    wrong = raised(lambda: engine.across(distrusts, blocks[1:], blocks, SHARED))
    wanted = (RequestError, "9 is above 5."), (DataError, "Row 9 is empty.")
    if (refused, wrong) != wanted:
        raise AssertionError(f"Kernels raised {wanted}, but stages raised {refused} and {wrong}.")


def raised(stage: Callable[[], object]) -> tuple[type[TacitError], str] | None:
    """Return type and message of the error that a stage raises, or None."""
    try:
        stage()
    except TacitError as error:
        return type(error), str(error)
    return None


def keeps_nothing_between_stages(engine: Engine) -> None:
    """A stage does not depend on earlier stages, including failed ones."""
    blocks, other = matrices(11, engine.blocks), matrices(12, engine.blocks)
    first = engine.over(scaled, blocks, SHARED)
    with suppress(RequestError):
        engine.over(refuses, [MatrixRows(np.full((1, 3), 9.0))], SHARED)
    stages = [(blocks, Scale(-3.0, SHARED.shift[::-1].copy())), (other, SHARED), (blocks, SHARED)]
    for some, shared in stages:
        results = engine.over(scaled, some, shared)
        if not all(map(same, results, (scaled(one, shared) for one in some))):
            raise AssertionError("A stage returned the result of another stage.")
    if not all(map(same, first, (scaled(one, SHARED) for one in blocks))):
        raise AssertionError("A later stage overwrote the results of an earlier one.")


def lets_a_kernel_write_to_its_block(engine: Engine) -> None:
    """A kernel may modify its block."""
    (result,) = engine.over(writes, [MatrixRows(np.ones((2, 3)))], SHARED)
    if not (result.rows == -1).all():
        raise AssertionError(f"A kernel that reverses its block returns {result.rows}.")


ENGINE_CLAIMS: tuple[Claim, ...] = (
    runs_every_block_in_order,
    pairs_every_row_with_every_column,
    has_the_same_digits_in_any_blocks,
    takes_empty_blocks_and_none,
    raises_what_a_kernel_raises,
    keeps_nothing_between_stages,
    lets_a_kernel_write_to_its_block,
)
"""All claims about an engine."""


def check_engine(engine: Engine) -> None:
    """Run every claim about an engine; raises `AssertionError` for the first that fails."""
    for claim in ENGINE_CLAIMS:
        claim(engine)
