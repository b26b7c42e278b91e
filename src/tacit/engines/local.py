"""The engine of one machine: blocks one after another, each on every core."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.engines.engine import Block, Column, Result, Shared


@dataclass(frozen=True)
class Local:
    """`blocks`: how many pieces; more need less memory at once and give the same digits."""

    blocks: int = 1

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
