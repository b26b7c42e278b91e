"""Engine of several processes of one machine."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Self

from tacit.engines.engine import Block, Column, Result, Shared
from tacit.errors import RequestError, integer


class Processes:
    """Run stages in `workers` processes, one block each at a time.

    Processes start with the first stage and stop with `close`, or at the end of a `with` block.
    They import kernels by module and name, and a script that uses them needs `if __name__ ==
    "__main__":`. Raises `RequestError` for fewer than one process. A stage raises it if a process
    ends, and any `TacitError` of a kernel.
    """

    def __init__(self, workers: int) -> None:
        self.workers = integer("workers", workers, 1)
        self._pool: ProcessPoolExecutor | None = None

    @property
    def blocks(self) -> int:
        """Number of pieces: one per process."""
        return self.workers

    def over(
        self, kernel: Callable[[Block, Shared], Result], blocks: Sequence[Block], shared: Shared
    ) -> list[Result]:
        """Implement `Engine.over`."""
        return self._run(kernel, blocks, repeat(shared, len(blocks)))

    def across(
        self,
        kernel: Callable[[Block, Column, Shared], Result],
        rows: Sequence[Block],
        columns: Sequence[Column],
        shared: Shared,
    ) -> list[list[Result]]:
        """Implement `Engine.across`."""
        width = len(columns)
        firsts = [row for row in rows for _ in columns]
        flat = self._run(kernel, firsts, [*columns] * len(rows), repeat(shared, len(firsts)))
        return [flat[row * width : (row + 1) * width] for row in range(len(rows))]

    def close(self) -> None:
        """Stop the processes; the next stage starts others."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, kernel: Callable[..., Result], *arguments: Iterable[Any]) -> list[Result]:
        if self._pool is None:
            # A fork of a process with threads may deadlock.
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"))
        try:
            return list(self._pool.map(kernel, *arguments))
        except BrokenProcessPool:
            self.close()
            raise RequestError(
                "A worker process ended unexpectedly. If memory was short, use fewer processes."
            ) from None
