"""Engines: run a stage, the same kernel on every block of items or users.

A kernel is a top-level function of a module (other machines find it by name), of a block and of
shared inputs; both are NamedTuples of arrays and numbers, and so is its result. The result depends
on its block and the shared inputs alone, so all engines agree bit by bit.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

Block = TypeVar("Block", bound=tuple[Any, ...])
Column = TypeVar("Column", bound=tuple[Any, ...])
Shared = TypeVar("Shared", bound=tuple[Any, ...])
Result = TypeVar("Result", bound=tuple[Any, ...])


class Engine(Protocol):
    """Runs stages. `blocks`: the number of pieces that a stage divides items or users into."""

    @property
    def blocks(self) -> int:
        """Number of pieces."""
        ...

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """Return `kernel(block, shared)` of every block, in order.

        Raises the `TacitError` of the first block whose kernel raises one.
        """
        ...

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """Return `kernel(row, column, shared)` of every pair: a list per row, by column.

        Raises as `over` does, for the first pair.
        """
        ...


def cut(n: int, blocks: int) -> list[slice]:
    """Divide 0 .. n into at most `blocks` runs of about equal length; one empty run for n = 0."""
    pieces = max(1, min(n, blocks))
    ends = [n * piece // pieces for piece in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]
