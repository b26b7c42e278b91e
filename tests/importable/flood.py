"""Many uploads at a time, each sent once, over connections that stay open."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor


def flood(
    uploads: Iterable[tuple[int, str, bytes]],
    connections: int,
    headers: str = "",
    at: Callable[[int], None] = lambda sent: None,
) -> Counter[int]:
    """Send each (port, path, body); gives how often each status came, 0 for no answer.

    `at`: is told before each upload how many were sent.
    """
    statuses: Counter[int] = Counter()
    waiting = iter(uploads)

    async def client():
        opened = {}
        for port, path, body in waiting:
            at(statuses.total())
            try:
                if port not in opened:
                    opened[port] = await asyncio.open_connection("127.0.0.1", port)
                reader, writer = opened[port]
                writer.write(request(path, body, headers))
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                statuses[int(head[9:12])] += 1
            except (OSError, asyncio.IncompleteReadError):
                opened.pop(port, None)
                statuses[0] += 1
        for _, writer in opened.values():
            writer.close()

    async def everybody():
        await asyncio.gather(*(client() for _ in range(connections)))

    # In a thread of its own: a browser that the same tests drive has a loop running in this one.
    with ThreadPoolExecutor(1) as alone:
        alone.submit(asyncio.run, everybody()).result()
    return statuses


def request(path: str, body: bytes, headers: str = "") -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{headers}"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
