"""Cells as bytes, as few as they need: under a plan over slots the places are known already."""

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.collector.storage.store import StoredReport

RATED = np.dtype([("place", "<u4"), ("symbol", "<u2")])
"""One cell under the plan rated."""

STORED = np.dtype(
    [("person", "V16"), ("place", "<u4"), ("symbol", "<u2"), ("mech", ">i2"), ("epoch", ">i8")]
)
"""A report under the plan rated, as many of them are read together: four words each."""

OUTSIDE = "A symbol is no column of the table."
_BYTES = bytes(range(256))
_RATED = struct.Struct("<IH")


def pack_rated(place: int, symbol: int) -> bytes:
    """A place of the device's own choice, and its symbol."""
    return _RATED.pack(place, symbol)


def pack_slots(symbols: Sequence[int], outputs: int) -> bytes:
    """The symbols of the places that were asked, in their order: a byte each, or two.

    Raises `ValueError` where one is no column of a table with `outputs` columns, 2^16 at most.
    """
    try:
        packed = bytes(symbols)
    except ValueError:
        return b"\2" + _wide(symbols, outputs)
    if packed.translate(None, _BYTES[:outputs]):
        raise ValueError(OUTSIDE)
    return b"\1" + packed


def _wide(symbols: Sequence[int], outputs: int) -> bytes:
    if min(symbols) < 0 or max(symbols) >= outputs:
        raise ValueError(OUTSIDE)
    return struct.pack(f"<{len(symbols)}H", *symbols)


def table_of(rows: Sequence[StoredReport]) -> NDArray[np.void]:
    """Reports under the plan rated as a table of the type `STORED`, shape (reports,)."""
    table = np.empty(len(rows), STORED)
    table["person"] = np.frombuffer(b"".join(row.person for row in rows), "V16")
    cells = np.frombuffer(b"".join(row.cells for row in rows), RATED)
    table["place"], table["symbol"] = cells["place"], cells["symbol"]
    table["mech"], table["epoch"] = [row.mech for row in rows], [row.epoch for row in rows]
    return table


def unpack_slots(cells: bytes) -> NDArray[np.uint16]:
    """The symbols of one report, shape (slots,)."""
    return np.frombuffer(cells[1:], "u1" if cells[0] == 1 else "<u2").astype(np.uint16)
