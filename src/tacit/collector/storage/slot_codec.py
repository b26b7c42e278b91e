"""Compact encoding of cells. Under plans over slots the item indices are implied."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.collector.storage.store import StoredReport
from tacit.errors import DataError

RATED = np.dtype([("place", "<u4"), ("symbol", "<u2")])
"""One cell under the plan rated."""

STORED = np.dtype(
    [("person", "V16"), ("place", "<u4"), ("symbol", "<u2"), ("mech", ">i2"), ("epoch", ">i8")]
)
"""A report under the plan rated in bulk reads: four words each."""

OUTSIDE = "symbols must be columns of the channel's table."
_BYTES = bytes(range(256))
_RATED = struct.Struct("<IH")
KEY_BYTES = 16
_BLOCK = struct.Struct(f"<H{KEY_BYTES}s")


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


class StoredBlock(NamedTuple):
    """Answers to a block: its number in the task, the device's block key, symbols in order."""

    number: int
    key: str
    symbols: NDArray[np.uint16]


def pack_block(number: int, key: str, symbols: Sequence[int], outputs: int) -> bytes:
    """Encode the answers to a block, whose items follow from the block key.

    Raises `ValueError` as `pack_slots`, and for a key other than 32 hexadecimal digits.
    """
    raw = bytes.fromhex(key)
    if raw.hex() != key or len(raw) != KEY_BYTES:
        raise ValueError("a block key must be 32 hexadecimal digits, lowercase")
    return _BLOCK.pack(number, raw) + pack_slots(symbols, outputs)


def unpack_block(cells: bytes) -> StoredBlock:
    """Decode the answers to a block. Raises `DataError` for bytes that encode none."""
    head, body = cells[: _BLOCK.size], cells[_BLOCK.size :]
    if len(body) < 2 or body[0] not in (1, 2) or (body[0] == 2 and len(body) % 2 == 0):
        raise DataError("cells of the wrong size")
    number, raw = _BLOCK.unpack(head)
    return StoredBlock(number, raw.hex(), unpack_slots(body))


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
