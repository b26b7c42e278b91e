"""Ranges of a store, read by several connections at a time and given in their order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

Connection = TypeVar("Connection")
Range = TypeVar("Range")
MOST = 8
"""Connections that one reader asks for: a server has them for others, too."""


def at_once() -> int:
    """How many connections to read by: one for each core, up to `MOST`."""
    return min(os.cpu_count() or 1, MOST)


def in_order(
    read: Callable[[Connection, Range], bytes],
    connections: Sequence[Connection],
    ranges: Iterable[Range],
) -> Iterator[bytes]:
    """`read(connection, range)` of every range, in the order of ranges.

    One thread at a time uses a connection, and no more ranges are in memory than there are
    connections. Raises what `read` raises, at the first range that does.
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
