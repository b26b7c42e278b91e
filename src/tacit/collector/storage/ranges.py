"""Parallel reads of a store's ranges by several connections, in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

Connection = TypeVar("Connection")
Range = TypeVar("Range")
MOST = 8
"""Most connections of one reader; other clients need some, too."""


def at_once() -> int:
    """Return the number of connections to read with: one per core, up to `MOST`."""
    return min(os.cpu_count() or 1, MOST)


def in_order(
    read: Callable[[Connection, Range], bytes],
    connections: Sequence[Connection],
    ranges: Iterable[Range],
) -> Iterator[bytes]:
    """Yield `read(connection, range)` of every range, in the order of ranges.

    Each connection is used by one thread at a time, and at most as many ranges are in memory as
    there are connections. Raises what `read` raises, at the first range that does.
    """
    free = SimpleQueue[Connection]()
    for connection in connections:
        free.put(connection)

    def by_any(range: Range) -> bytes:
        connection = free.get()
        try:
            return read(connection, range)
        finally:
            free.put(connection)

    ahead = deque[Future[bytes]]()
    with ThreadPoolExecutor(len(connections)) as threads:
        for range in ranges:
            if len(ahead) == len(connections):
                yield ahead.popleft().result()
            ahead.append(threads.submit(by_any, range))
        while ahead:
            yield ahead.popleft().result()
