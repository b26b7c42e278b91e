"""How long an upload that asks for much work holds a collector up, under the plan sample:K.

    python benchmarks/sample_flood.py [--items 1000000] [--uploads 20] [--seconds 4]

Whether a person was asked about the places that a report names takes a pass over the catalogue.
Two uploads make the most of it: 200 reports of 200 people (some 45 kB), and four whose claims are
refuted by the last key alone. Printed are the longest time for which the server's loop answered
nobody while 20 of each came one by one, and how long /healthz takes beside four clients that send
nothing else. Bars: 50 ms of loop time an upload; p99 of /healthz 100 ms.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

from tacit.channels import compile_channel
from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import pair_keys
from tacit.collector.http.app import application
from tacit.collector.http.server import configured
from tacit.scale import RatingScale
from tacit.wire.report import MOST_REPORTS, Report, dumps, upload
from tacit.wire.tasks.task import ASK, Task

CELLS, BEAT, CLIENTS = 8, 0.001, 4


class Watched:
    """An application whose loop is watched: `late`, the longest that a beat of it was late."""

    def __init__(self, app: Any) -> None:
        self._app, self._beating, self.late = app, None, 0.0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat())
        await self._app(scope, receive, send)

    async def _beat(self) -> None:
        while True:
            due = time.perf_counter() + BEAT
            await asyncio.sleep(BEAT)
            self.late = max(self.late, time.perf_counter() - due)


def asked(items: int) -> Task:
    """A question about so many items."""
    scale = RatingScale.parse("1:5:1")
    channel = compile_channel("randomized-response", epsilon="1", scale=scale, missing=True)
    return Task(
        name="Flood",
        provider="http://127.0.0.1:8000",
        scale=scale,
        plan=f"sample:{CELLS}",
        items=tuple(range(items)),
        channels=(channel,),
        start=int(time.time()) - 100,
    )


def claimed(task: Task, person: str, places: tuple[int, ...]) -> bytes:
    """A report of the person about these places, whoever was asked about them."""
    channel = task.channels[0]
    report = Report(secrets.token_hex(16), channel.id, 0, person, places, (0,) * CELLS)
    return dumps(report, channel)


def nearly_right(task: Task, person: str) -> tuple[int, ...]:
    """What takes the whole catalogue to refute: the person's sample but for its largest key."""
    me, items = np.array([hash_id(person)], np.uint64), np.array(task.item_hashes, np.uint64)
    order = np.argsort(pair_keys(me, items, ASK))[: CELLS + 1]
    return tuple(sorted(np.delete(order, CELLS - 1).tolist()))


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The application on a port of its own, in a thread."""
    server = uvicorn.Server(configured(app, "127.0.0.1", 0))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def sent(port: int, path: str, body: bytes | None = None) -> float:
    """Seconds until a request is answered."""
    connection = HTTPConnection("127.0.0.1", port)
    began = time.perf_counter()
    kind = {"content-type": "application/json"}
    connection.request("GET" if body is None else "POST", path, body, kind if body else {})
    connection.getresponse().read()
    connection.close()
    return time.perf_counter() - began


def beside(port: int, path: str, body: bytes, seconds: float) -> list[float]:
    """How long /healthz takes beside clients that send an upload again and again."""
    until = time.perf_counter() + seconds

    def client() -> None:
        while time.perf_counter() < until:
            sent(port, path, body)

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in clients:
        thread.start()
    waits = []
    while time.perf_counter() < until:
        waits.append(sent(port, "/healthz"))
    for thread in clients:
        thread.join()
    return waits


def main() -> int:
    """Measure, and say which bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--uploads", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4)
    given = parser.parse_args()
    task, short = asked(given.items), 0
    path = f"/v1/tasks/{task.address}/reports"
    people = [secrets.token_hex(16) for _ in range(MOST_REPORTS)]
    bodies = {
        "200 people": upload([claimed(task, each, tuple(range(CELLS))) for each in people]),
        "4 whole passes": upload([claimed(task, p, nearly_right(task, p)) for p in people[:4]]),
    }
    for name, body in bodies.items():
        with tempfile.TemporaryDirectory() as folder:
            app = Watched(application(str(Path(folder) / "reports.db"), [task]))
            with served(app) as port:
                sent(port, "/healthz")
                app.late = 0.0  # starting, which hashes the catalogue, is over
                took = sorted(sent(port, path, body) for _ in range(given.uploads))
                held = app.late
                waits = sorted(beside(port, path, body, given.seconds))
        p99 = waits[int(len(waits) * 0.99)]
        met = held <= 0.05 and p99 <= 0.1
        short += not met
        print(
            f"{'met  ' if met else 'SHORT'} {name}, {len(body):,} bytes: the loop was held "
            f"{held * 1e3:.1f} ms at most, answers came in {took[len(took) // 2] * 1e3:.1f} ms "
            f"({took[-1] * 1e3:.1f} at most); /healthz p99 {p99 * 1e3:.1f} ms of {len(waits)}",
            flush=True,
        )
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
