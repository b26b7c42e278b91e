"""A document of numbers: a magic line, the length of a header, a JSON header and a block.

What a stranger sends is compared with the bytes that are there before anything is built.
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
    Floats = array[float]  # subscripting it at run time needs a later Python
else:
    Floats = array
Bytes = bytes | memoryview

_AT_ONCE = 1 << 20
"""Bytes of halves that are looked at together: a copy of them is all the memory it takes."""
_NO_NUMBER = bytes(high for high in range(256) if high & 0x7C == 0x7C)
"""High bytes of halves that are infinite, or no number: all bits of the exponent are set."""


def joined(magic: bytes, header: dict[str, Any], parts: Iterable[Floats | Bytes]) -> bytes:
    """The document; floats become little-endian singles, bytes stay as they are."""
    text = json.dumps(header).encode()
    block = (_little(part).tobytes() if isinstance(part, array) else part for part in parts)
    return b"".join((magic, len(text).to_bytes(4, "little"), text, *block))


def parted(magic: bytes, data: bytes, what: str) -> tuple[bytes, "Numbers"]:
    """The header's JSON and the block of `what`; raises `DataError` for something else."""
    if not data.startswith(magic):
        raise DataError(f"This is not a valid {what}: it begins with {data[: len(magic) - 1]!r}.")
    at = len(magic) + 4
    end = at + int.from_bytes(data[len(magic) : at], "little")
    if len(data) < end:
        raise _cut(what)
    return data[at:end], Numbers(memoryview(data)[end:], what)


class Numbers:
    """A block, taken apart from the front. `what`: names the document in sentences."""

    def __init__(self, block: memoryview, what: str) -> None:
        self._block, self._at, self._what = block, 0, what

    def require(self, size: int) -> None:
        """Raise `DataError` for a block of another number of bytes."""
        if len(self._block) < size:
            raise _cut(self._what)
        if len(self._block) > size:
            raise DataError(
                f"This {self._what} is longer than its header declares; download it again."
            )

    def take(self, size: int) -> memoryview:
        """The next so many bytes, which are not copied."""
        self._at += size
        return self._block[self._at - size : self._at]

    def floats(self, count: int) -> Floats:
        """The next so many singles; raises `DataError` where one is infinite or NaN."""
        part = array("f")
        part.frombytes(self.take(4 * count))
        numbers = _little(part)
        if not isfinite(sum(numbers)):  # in doubles, which no sum of singles leaves
            raise self._infinite()
        return numbers

    def rounded(self, count: int, *, half: bool) -> Floats:
        """The next so many numbers: halves where `half`, else singles."""
        if not half:
            return self.floats(count)
        return array("f", halves(self.halves(count), 0, count))

    def halves(self, count: int) -> memoryview:
        """The bytes of the next so many halves; raises `DataError` where one is infinite, or
        none."""
        part = self.take(2 * count)
        for at in range(0, len(part), _AT_ONCE):
            high = bytes(part[at + 1 : at + _AT_ONCE : 2])
            if len(high.translate(None, _NO_NUMBER)) < len(high):
                raise self._infinite()
        return part

    def _infinite(self) -> DataError:
        return DataError(f"A number of this {self._what} is infinite or NaN.")


def halves(block: Bytes, first: int, count: int) -> tuple[float, ...]:
    """So many of a block of little-endian halves, from number `first` on."""
    return struct.unpack_from(f"<{count}e", block, 2 * first)


def rounded(floats: Floats, *, half: bool) -> Floats | bytes:
    """The numbers as little-endian halves where `half`, else as they are."""
    return struct.pack(f"<{len(floats)}e", *floats) if half else floats


def whole(block: Bytes, first: int, count: int, size: int) -> tuple[int, ...]:
    """So many of a block of little-endian whole numbers of `size` bytes, 2 or 4, from number
    `first` on."""
    return struct.unpack_from(f"<{count}{'H' if size == 2 else 'I'}", block, size * first)


def _cut(what: str) -> DataError:
    return DataError(f"This {what} is cut short; download it again.")


def _little(floats: Floats) -> Floats:
    if sys.byteorder == "little":
        return floats
    swapped = array("f", floats)
    swapped.byteswap()
    return swapped
