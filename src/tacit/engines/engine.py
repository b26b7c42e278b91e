"""Engines: run a stage, the same kernel on every block of items or users.

A kernel is a top-level function of a module (other machines find it by name), of a block and of
shared inputs; both are NamedTuples of arrays and numbers, and so is its result. The result depends
on its block and the shared inputs alone, so all engines agree bit by bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, Self, TypeVar

from tacit.errors import RequestError, shown

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


def check_engine(engine: object) -> None:
    """Raise `RequestError` unless the argument is an engine, or None."""
    if engine is not None and not callable(getattr(engine, "over", None)):
        raise RequestError(
            "engine must be an engine such as Local(blocks=4) or Spark('local[2]'), got "
            f"{shown(engine)}."
        )


def cut(n: int, blocks: int) -> list[slice]:
    """Divide 0 .. n into at most `blocks` runs of about equal length; one empty run for n = 0."""
    pieces = max(1, min(n, blocks))
    ends = [n * piece // pieces for piece in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


# Engine of one machine: blocks in sequence, each on all cores.

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
