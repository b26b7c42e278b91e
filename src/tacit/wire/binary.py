"""Binary documents: a magic line, the length of a header, a JSON header and a block of numbers.

Declared sizes are compared with the available bytes before anything is allocated.
"""

import json
import struct
import sys
from array import array
from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError

if TYPE_CHECKING:
    Floats = array[float]  # subscripting at run time requires a later Python
else:
    Floats = array
Bytes = bytes | memoryview

_AT_ONCE = 1 << 20
"""Bytes of halves checked at a time, which bounds the memory of copies."""
_NO_NUMBER = bytes(high for high in range(256) if high & 0x7C == 0x7C)
"""High bytes of infinite and NaN halves: all bits of the exponent are set."""


def joined(magic: bytes, header: dict[str, Any], parts: Iterable[Floats | Bytes]) -> bytes:
    """Return the document; floats are encoded as little-endian singles, bytes are copied."""
    text = json.dumps(header).encode()
    block = (_little(part).tobytes() if isinstance(part, array) else part for part in parts)
    return b"".join((magic, len(text).to_bytes(4, "little"), text, *block))


def parted(magic: bytes, data: bytes, what: str) -> tuple[bytes, "Numbers"]:
    """Return the header's JSON and the block of `what`. Raises `DataError` for other documents."""
    if not data.startswith(magic):
        raise DataError(f"This is not a valid {what}: it begins with {data[: len(magic) - 1]!r}.")
    at = len(magic) + 4
    end = at + int.from_bytes(data[len(magic) : at], "little")
    if len(data) < end:
        raise _cut(what)
    return data[at:end], Numbers(memoryview(data)[end:], what)


class Numbers:
    """A block, read sequentially. `what`: name of the document in error messages."""

    def __init__(self, block: memoryview, what: str) -> None:
        self._block, self._at, self._what = block, 0, what

    def require(self, size: int) -> None:
        """Raise `DataError` unless the block has `size` bytes."""
        if len(self._block) < size:
            raise _cut(self._what)
        if len(self._block) > size:
            raise DataError(
                f"This {self._what} is longer than its header declares; download it again."
            )

    def take(self, size: int) -> memoryview:
        """Return the next `size` bytes, without a copy."""
        self._at += size
        return self._block[self._at - size : self._at]

    def floats(self, count: int) -> Floats:
        """Return the next `count` singles. Raises `DataError` for infinite values and NaN."""
        part = array("f")
        part.frombytes(self.take(4 * count))
        numbers = _little(part)
        if not isfinite(sum(numbers)):  # in doubles, which cannot overflow
            raise self._infinite()
        return numbers

    def rounded(self, count: int, *, half: bool) -> Floats:
        """Return the next `count` numbers: halves if `half`, else singles."""
        if not half:
            return self.floats(count)
        numbers, block = array("f"), self.halves(count)
        for first in range(0, count, _AT_ONCE):  # a tuple of all would have 20 times the memory
            numbers.extend(halves(block, first, min(_AT_ONCE, count - first)))
        return numbers

    def halves(self, count: int) -> memoryview:
        """Return the bytes of the next `count` halves.

        Raises `DataError` for infinite values and NaN.
        """
        part = self.take(2 * count)
        for at in range(0, len(part), _AT_ONCE):
            high = bytes(part[at + 1 : at + _AT_ONCE : 2])
            if len(high.translate(None, _NO_NUMBER)) < len(high):
                raise self._infinite()
        return part

    def _infinite(self) -> DataError:
        return DataError(f"A number of this {self._what} is infinite or NaN.")


def halves(block: Bytes, first: int, count: int) -> tuple[float, ...]:
    """Return `count` values of a block of little-endian halves, starting at index `first`."""
    return struct.unpack_from(f"<{count}e", block, 2 * first)


def rounded(floats: Floats, *, half: bool) -> Floats | bytes:
    """Encode numbers as little-endian halves if `half`, else return them unchanged."""
    return struct.pack(f"<{len(floats)}e", *floats) if half else floats


def integers(block: Bytes, first: int, count: int, size: int) -> tuple[int, ...]:
    """Return `count` little-endian integers of `size` bytes, 2 or 4, starting at index `first`."""
    return struct.unpack_from(f"<{count}{'H' if size == 2 else 'I'}", block, size * first)


def _cut(what: str) -> DataError:
    return DataError(f"This {what} is truncated; download it again.")


def _little(floats: Floats) -> Floats:
    if sys.byteorder == "little":
        return floats
    swapped = array("f", floats)
    swapped.byteswap()
    return swapped
