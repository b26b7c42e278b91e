"""How long good uploads wait beside connections that send nothing, half a header, or half a body.

    python benchmarks/dawdlers.py [--connections 500] [--seconds 15]

Bar: p99 of good uploads, one at a time, 200 ms. Connections that send a header without an end go on
sending a few bytes at a time. The collector gives up bodies that do not end while the good uploads
come; to end the others is a proxy's part (`docs/how-to/proxy.md`).
"""

import argparse
import contextlib
import secrets
import socket
import sys
import tempfile
import time
from pathlib import Path

from starlette.types import ASGIApp

from sample_flood import asked, claimed, sent, served
from tacit.collector.http.app import application
from tacit.wire.report import upload
from tacit.wire.tasks import task as wire_task
from tacit.wire.tasks.task import Task


def stored(folder: str, task: Task) -> ASGIApp:
    """A collector of that task, with a new store."""
    return application(str(Path(folder) / "reports.db"), [task])


def good(task: Task) -> bytes:
    """An upload of one new person about what they were asked."""
    person = secrets.token_hex(16)
    return upload([claimed(task, person, wire_task.asked(task, person))])


def dawdling(port: int, path: str, connections: int) -> list[socket.socket]:
    """A third of each kind."""
    line = f"POST {path} HTTP/1.1\r\nhost: a\r\n".encode()
    whole = line + b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    for number, connection in enumerate(slow):
        connection.sendall((b"", line, whole)[number % 3])
    return slow


def nagging(slow: list[socket.socket]) -> None:
    """A few more bytes of each header that never ends; some are closed by now."""
    for connection in slow[1::3]:
        with contextlib.suppress(OSError):
            connection.sendall(b"a: b\r\n")


def main() -> int:
    """Measure, and say whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=15)
    given = parser.parse_args()
    task = asked(1000)
    path, waits = f"/v1/tasks/{task.address}/reports", list[float]()
    with tempfile.TemporaryDirectory() as folder, served(stored(folder, task)) as port:
        slow = dawdling(port, path, given.connections)
        until = time.perf_counter() + given.seconds
        while time.perf_counter() < until:
            waits.append(sent(port, path, good(task)))
            time.sleep(0.05)
            nagging(slow)
        for connection in slow:
            connection.close()
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)]
    print(
        f"{'met  ' if p99 <= 0.2 else 'SHORT'} beside {given.connections} that dawdle, "
        f"{len(waits)} uploads: p50 {waits[len(waits) // 2] * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms"
    )
    return 0 if p99 <= 0.2 else 1


if __name__ == "__main__":
    sys.exit(main())
