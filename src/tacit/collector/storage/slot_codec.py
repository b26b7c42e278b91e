"""Compact encoding of cells. Under plans over slots the item indices are implied."""

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
"""A report under the plan rated in bulk reads: four words each."""

OUTSIDE = "symbols must be columns of the channel's table."
_BYTES = bytes(range(256))
_RATED = struct.Struct("<IH")


def pack_rated(index: int, symbol: int) -> bytes:
    """Encode an item index chosen by the device, and its symbol."""
    return _RATED.pack(index, symbol)


def pack_slots(symbols: Sequence[int], outputs: int) -> bytes:
    """Encode the symbols of the queried items in order: one byte each, or two.

    Raises `ValueError` for a symbol that is not in the table with `outputs` columns, at most 2^16.
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
    """Return reports under the plan rated as a table of the type `STORED`, shape (reports,)."""
    table = np.empty(len(rows), STORED)
    table["person"] = np.frombuffer(b"".join(row.person for row in rows), "V16")
    cells = np.frombuffer(b"".join(row.cells for row in rows), RATED)
    table["place"], table["symbol"] = cells["place"], cells["symbol"]
    table["mech"], table["epoch"] = [row.mech for row in rows], [row.epoch for row in rows]
    return table


def unpack_slots(cells: bytes) -> NDArray[np.uint16]:
    """Decode the symbols of one report, shape (slots,)."""
    return np.frombuffer(cells[1:], "u1" if cells[0] == 1 else "<u2").astype(np.uint16)
