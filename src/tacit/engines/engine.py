"""An engine runs a stage: the same kernel on every block of items or people.

A kernel is a function of a module's own name (other machines find it by that), of a block and of
what all blocks share; both are NamedTuples of arrays and numbers, and so is what it returns. The
digits it returns depend on its block and what is shared alone, so every engine agrees to the last.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

Block = TypeVar("Block", bound=tuple[Any, ...])
Column = TypeVar("Column", bound=tuple[Any, ...])
Shared = TypeVar("Shared", bound=tuple[Any, ...])
Result = TypeVar("Result", bound=tuple[Any, ...])


class Engine(Protocol):
    """Where stages run; `blocks` is into how many pieces one cuts items or people."""

    @property
    def blocks(self) -> int:
        """How many pieces."""
        ...

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """`kernel(block, shared)` of every block, in their order.

        Raises what `TacitError` a kernel raises, of the first block whose kernel does.
        """
        ...

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """`kernel(row, column, shared)` of every pair: a list for each row, by column.

        Raises as `over` does, of the first pair.
        """
        ...


def cut(n: int, blocks: int) -> list[slice]:
    """0 .. n in at most `blocks` runs as even as can be; one empty run for n = 0."""
    pieces = max(1, min(n, blocks))
    ends = [n * piece // pieces for piece in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]
