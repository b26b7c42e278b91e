"""What an engine has to hold: the same digits in the same order, however its blocks are cut.

Its kernels are in this module, so that other processes find them by name.
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
    """What all blocks share: a number, and what to add to each row, shape (3,)."""

    by: float
    shift: Doubles


class Product(NamedTuple):
    """What comes back: `cells`, how many there are (`size`), and what an inner tuple holds."""

    cells: Doubles
    size: int
    inner: tuple[Doubles, str]


SHARED = Scale(0.1, np.array([1.0, -2.0, 1e-300]))


def scaled(block: MatrixRows, shared: Scale) -> Product:
    """Rows times a number, moved."""
    return Product(block.rows * shared.by + shared.shift, block.rows.size, (shared.shift, "over"))


def products(rows: MatrixRows, columns: MatrixRows, shared: Scale) -> Product:
    """All inner products between two blocks; the last digits depend on the order in memory."""
    cells = rows.rows @ columns.rows.T * shared.by
    return Product(cells, cells.size, (np.zeros(0), "across"))


def refuses(block: MatrixRows, shared: Scale) -> Product:
    """Raises `RequestError`: a request that cannot be met, found out at work."""
    if block.rows.max() > 5:
        raise RequestError(f"{block.rows.max():g} is above 5.")
    return scaled(block, shared)


def distrusts(rows: MatrixRows, columns: MatrixRows, shared: Scale) -> Product:
    """Raises `DataError`: data that are wrong, found out at work."""
    raise DataError(f"Row {rows.rows[0, 0]:g} is empty.")


def writes(block: MatrixRows, shared: Scale) -> MatrixRows:
    """A kernel that uses its block as scratch space."""
    block.rows[:] = -block.rows
    return block


def matrices(n: int, pieces: int) -> list[MatrixRows]:
    """n rows in some blocks, column by column in memory: always the same ones."""
    rows = np.random.default_rng(n).normal(size=(n, 3))
    return [MatrixRows(np.asfortranarray(rows[part])) for part in cut(n, pieces)]


def same(found: Product, wanted: Product) -> bool:
    """Whether all of it is equal, to the last bit."""
    return (
        type(found) is Product
        and (found.cells.shape, found.size) == (wanted.cells.shape, wanted.size)
        and found.cells.tobytes() == wanted.cells.tobytes()
        and found.inner[0].tobytes() == wanted.inner[0].tobytes()
        and found.inner[1] == wanted.inner[1]
    )


def runs_every_block_in_order(engine: Engine) -> None:
    """A result for each block, in the order of the blocks, as the kernel gives it here."""
    blocks = matrices(11, engine.blocks)
    found, wanted = engine.over(scaled, blocks, SHARED), [scaled(one, SHARED) for one in blocks]
    if len(found) != len(wanted) or not all(map(same, found, wanted)):
        raise AssertionError(
            f"The results over {len(blocks)} blocks differ from those of the kernel."
        )


def pairs_every_row_with_every_column(engine: Engine) -> None:
    """A list for each block of rows, in it a result for each block of columns, in their order."""
    # More columns than rows, of another size, so that a swap or a transposition shows.
    rows, columns = matrices(11, engine.blocks), matrices(13, engine.blocks + 1)
    found = engine.across(products, rows, columns, SHARED)
    if [len(row) for row in found] != [len(columns)] * len(rows):
        raise AssertionError(f"{len(rows)} by {len(columns)} blocks return {len(found)} rows.")
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        if not same(found[i][j], products(row, column, SHARED)):
            raise AssertionError(
                f"Row {i} and column {j} have the result of another pair, or none."
            )


def has_the_same_digits_in_any_blocks(engine: Engine) -> None:
    """Whether rows are one block or many changes no bit of what a kernel makes of a row."""
    (whole,) = engine.over(scaled, matrices(11, 1), SHARED)
    for pieces in (2, 4, 11):
        found = engine.over(scaled, matrices(11, pieces), SHARED)
        cells = np.concatenate([part.cells for part in found])
        if cells.tobytes() != np.ascontiguousarray(whole.cells).tobytes():
            raise AssertionError(
                f"The result in {pieces} blocks differs from the result in one block."
            )


def takes_empty_blocks_and_none(engine: Engine) -> None:
    """A block without rows has a result; no blocks have none."""
    nobody, two = [MatrixRows(np.zeros((0, 3)))], matrices(2, 2)
    empty = [result.cells.shape for result in engine.over(scaled, nobody, SHARED)]
    none = [engine.over(scaled, [], SHARED), engine.across(products, [], two, SHARED)]
    none += engine.across(products, two, [], SHARED)
    if empty != [(0, 3)] or none != [[]] * 4:
        raise AssertionError(f"An empty block returns {empty}, and no blocks return {none}.")


def raises_what_a_kernel_raises(engine: Engine) -> None:
    """An error of Tacit's reaches the caller as it was, that of the first block that has one."""
    blocks = [MatrixRows(np.full((1, 3), float(value))) for value in (1, 9, 2, 7)]
    refused = raised(lambda: engine.over(refuses, blocks, SHARED))
    wrong = raised(lambda: engine.across(distrusts, blocks[1:], blocks, SHARED))
    wanted = (RequestError, "9 is above 5."), (DataError, "Row 9 is empty.")
    if (refused, wrong) != wanted:
        raise AssertionError(f"Kernels raised {wanted}, but stages raised {refused} and {wrong}.")


def raised(stage: Callable[[], object]) -> tuple[type[TacitError], str] | None:
    """The kind of error that a stage raises, and its sentence; None where it raises none."""
    try:
        stage()
    except TacitError as error:
        return type(error), str(error)
    return None


def keeps_nothing_between_stages(engine: Engine) -> None:
    """A stage knows its own blocks and what they share, whatever ran, or failed, before it."""
    blocks, other = matrices(11, engine.blocks), matrices(12, engine.blocks)
    first = engine.over(scaled, blocks, SHARED)
    with suppress(RequestError):
        engine.over(refuses, [MatrixRows(np.full((1, 3), 9.0))], SHARED)
    stages = [(blocks, Scale(-3.0, SHARED.shift[::-1].copy())), (other, SHARED), (blocks, SHARED)]
    for some, shared in stages:
        found = engine.over(scaled, some, shared)
        if not all(map(same, found, (scaled(one, shared) for one in some))):
            raise AssertionError("A stage returned the result of another stage.")
    if not all(map(same, first, (scaled(one, SHARED) for one in blocks))):
        raise AssertionError("A later stage overwrote the results of an earlier one.")


def lets_a_kernel_write_to_its_block(engine: Engine) -> None:
    """A block is the kernel's own to write to."""
    (found,) = engine.over(writes, [MatrixRows(np.ones((2, 3)))], SHARED)
    if not (found.rows == -1).all():
        raise AssertionError(f"A kernel that reverses its block returns {found.rows}.")


ENGINE_CLAIMS: tuple[Claim, ...] = (
    runs_every_block_in_order,
    pairs_every_row_with_every_column,
    has_the_same_digits_in_any_blocks,
    takes_empty_blocks_and_none,
    raises_what_a_kernel_raises,
    keeps_nothing_between_stages,
    lets_a_kernel_write_to_its_block,
)
"""Every claim about an engine."""


def check_engine(engine: Engine) -> None:
    """Run every claim about an engine; raises `AssertionError` for the first that fails."""
    for claim in ENGINE_CLAIMS:
        claim(engine)
