"""Exposure in an item model: how likely a user is to interact with each item.

    score_j = popularity_j + sum_k spectrum_k (sum over the user's items i of c(v_ik)) c(v_jk)
    c(v) = v |v|,    v an integer from -127 to 127

A ranking multiplies scores above zero by the position of the predicted rating on the scale: the
expected gain of showing an item. Standard library only.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, mul
from typing import Self

from tacit.wire.binary import Bytes, Floats, Numbers

CURVE = tuple(v * abs(v) for v in (*range(128), *range(-128, 0)))
"""c by unsigned byte."""


@dataclass(frozen=True)
class ItemExposure:
    """`popularity`: n singles, or empty for zero. `spectrum`: K singles.

    `vectors`: v, n x K signed bytes, row by row.
    """

    spectrum: Floats
    vectors: Bytes
    popularity: Floats = field(default_factory=lambda: array("f"))

    @property
    def parts(self) -> tuple[Floats | Bytes, ...]:
        """Arrays in the order of the document."""
        return self.popularity, self.spectrum, self.vectors

    @classmethod
    def read(cls, numbers: Numbers, items: int, directions: int, *, popularity: bool) -> Self:
        """Read the arrays of a document. Raises `DataError` for infinite values and NaN."""
        level = numbers.floats(items if popularity else 0)
        return cls(numbers.floats(directions), numbers.take(items * directions), level)

    def scores(self, rated: Sequence[int], items: int) -> list[float]:
        """Return the scores of `items` items for a user with the `rated` items, by index.

        Sums are of doubles, in the order of `rated` and of directions. None can overflow.
        """
        taste = [0.0] * len(self.spectrum)
        for i in rated:
            taste = list(map(add, taste, self._row(i)))
        taste = list(map(mul, taste, self.spectrum))
        level = self.popularity or array("f", bytes(4 * items))
        # `sum` rounds differently between versions of Python.
        return [level[j] + reduce(add, map(mul, taste, self._row(j)), 0.0) for j in range(items)]

    def _row(self, index: int) -> list[int]:
        K = len(self.spectrum)
        return [CURVE[byte] for byte in self.vectors[index * K : (index + 1) * K]]


def size(items: int, directions: int, *, popularity: bool) -> int:
    """Return the number of bytes of the arrays."""
    return 4 * items * popularity + 4 * directions + items * directions
