"""Engine of one machine: blocks in sequence, each on all cores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from tacit.engines.engine import Block, Column, Result, Shared

AT_ONCE = 8_000_000
"""Cells per block. A stage needs a few numbers per cell in addition to its tables."""


@dataclass(frozen=True)
class Local:
    """`blocks`: number of pieces. More pieces need less memory; results are identical."""

    blocks: int = 1

    @classmethod
    def over_cells(cls, cells: int) -> Self:
        """Return an engine with as few blocks as memory for `cells` cells of a matrix allows."""
        return cls(1 + cells // AT_ONCE)

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """Implement `Engine.over`."""
        return [kernel(block, shared) for block in blocks]

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """Implement `Engine.across`."""
        return [[kernel(row, column, shared) for column in columns] for row in rows]
