"""The engine of one machine: blocks one after another, each on every core."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from tacit.engines.engine import Block, Column, Result, Shared

AT_ONCE = 8_000_000
"""Cells of a block: what a stage needs beside its tables is a few numbers for each."""


@dataclass(frozen=True)
class Local:
    """`blocks`: how many pieces; more need less memory at once and give the same digits."""

    blocks: int = 1

    @classmethod
    def over_cells(cls, cells: int) -> Self:
        """As few blocks as need little memory beside so many cells of a matrix."""
        return cls(1 + cells // AT_ONCE)

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """As `Engine.over`."""
        return [kernel(block, shared) for block in blocks]

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """As `Engine.across`."""
        return [[kernel(row, column, shared) for column in columns] for row in rows]
