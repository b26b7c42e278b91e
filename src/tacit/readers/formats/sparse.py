"""Sparse matrices of SciPy: one row per user, one column per item, saved by `save_npz`.

Users and items are numbered from 0. Stored entries are ratings, explicit zeros included.
"""

import io
from collections.abc import Iterator, Sequence
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl
from scipy.sparse import load_npz

from tacit.errors import DataError
from tacit.readers.format import Format, Request
from tacit.readers.frame import read_lazy
from tacit.readers.source import Source

NPZ = b"PK\x03\x04"
DAMAGED = (BadZipFile, EOFError, KeyError, MemoryError, OSError, TypeError, ValueError)


def of_sparse(matrix: Any) -> pl.DataFrame:
    """Return user, item and rating of the stored entries of a sparse SciPy matrix, by row.

    Users and items are row and column numbers from 0. Repeated entries in coordinate format stay
    separate rows. Raises `ValueError` for indices out of range.
    """
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)  # compiled code expands the indices unchecked
    entries = matrix.tocoo()
    rows, columns = (np.asarray(part, np.int64) for part in (entries.row, entries.col))
    order = np.lexsort((columns, rows))
    return pl.DataFrame(
        {"user": rows[order], "item": columns[order], "rating": entries.data[order]}
    )


def _looks_sparse(source: Source, request: Request) -> bool:
    return source.name.endswith(".npz") and source.head.startswith(NPZ)


def _read_sparse(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    (source,) = sources
    with source.open() as file:
        stored = file.read()
    try:
        table = of_sparse(load_npz(io.BytesIO(stored)))
    except DAMAGED as error:
        raise DataError(
            f"{source} is not a sparse matrix; write it by scipy.sparse.save_npz."
        ) from error
    yield from read_lazy(table.lazy(), str(source), request)


SPARSE = Format("sparse", ("*.npz",), _looks_sparse, _read_sparse)
