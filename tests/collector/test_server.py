"""Connections to a collector under uvicorn as it comes: their order, their number, their end."""

import asyncio
import socket
import threading
from contextlib import asynccontextmanager, closing

import pytest
import uvicorn

from tacit.collector.http import server
from tacit.collector.http.app import application
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.sqlite import SqliteStore
from tacit.wire.report import dumps, upload

HEALTH = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n"
PATIENCE = 20
"""Seconds after which a test gives up; none takes so long where it passes."""


@asynccontextmanager
async def serving(app):
    """uvicorn with an application, in this loop, and its port."""
    running = uvicorn.Server(server.configured(app, "127.0.0.1", 0))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        task = asyncio.create_task(running.serve([listening]))
        while not running.started:
            await asyncio.sleep(0)
        yield running, port
        running.should_exit = True
        await task


@pytest.fixture
def played(tmp_path, clock, task):
    """Plays a scenario with a collector of `task` and its port."""

    def play(scenario, opened=None):
        store = (lambda: opened) if opened else str(tmp_path / "reports.db")

        async def playing():
            async with serving(application(store, [task], clock=clock)) as (running, port):
                await asyncio.wait_for(scenario(running, port), PATIENCE)

        asyncio.run(playing())

    return play


@pytest.fixture
def task(ask):
    return ask()


@pytest.fixture
def good(task, report):
    """A request that is accepted."""
    return request(task, upload([dumps(report(task), task.channels[0])]))


def request(task, body, *more) -> bytes:
    lines = [
        f"POST /v1/tasks/{task.address}/reports HTTP/1.1",
        "host: a",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def said(port, asked: bytes) -> bytes:
    """What is answered until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(asked)
    answer = await reader.read()
    writer.close()
    return answer


def last(asked: bytes) -> bytes:
    """The same request, after which the connection ends."""
    return asked.replace(b"host: a\r\n", b"host: a\r\nconnection: close\r\n")


def test_answers_keep_the_order_of_requests(task, good, played):
    """However they come together: three that take different ways, the slow one first."""
    bad = request(task, b"{")
    kinds = {good: b"{}", bad: b"malformed", HEALTH: b"alive"}

    async def scenario(running, port):
        for several in ([good, bad, HEALTH], [HEALTH, good, bad], [good, good, bad, good]):
            asked = b"".join(several[:-1]) + last(several[-1])
            found = (await said(port, asked)).split(b"HTTP/1.1 ")[1:]
            assert len(found) == len(several)
            assert all(kinds[each] in part for each, part in zip(several, found, strict=True))

    played(scenario)


def test_what_a_client_sent_before_it_went_is_stored(good, played):
    async def scenario(running, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(good)
        writer.close()
        while b'"stored"} 1' not in await said(port, last(METRICS)):
            """It has not been read yet."""

    played(scenario)


class Held(SqliteStore):
    """A store that waits, before it stores anything, until it is told to go on."""

    def __init__(self, path):
        super().__init__(path)
        self.begun, self.released = threading.Event(), threading.Event()

    def insert(self, rows):
        self.begun.set()
        assert self.released.wait(PATIENCE)
        return super().insert(rows)


def test_a_server_that_ends_answers_first(good, played, tmp_path):
    """What is being stored when it is told to stop is stored, and its client hears of it."""
    store = Held(str(tmp_path / "held.db"))

    async def scenario(running, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(good)
        await asyncio.to_thread(store.begun.wait)
        running.should_exit = True
        while await accepts(port):
            """It goes on for a moment."""
        store.released.set()
        answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"connection: close" in answer
        assert answer.endswith(b"{}")

    played(scenario, store)
    with closing(open_reader(str(tmp_path / "held.db"))) as reader:
        assert [len(block) for block in reader.scan(1)] == [1]


async def accepts(port) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def test_no_more_connections_than_it_can_keep(good, monkeypatch, played):
    """One too many is told so; those that are there before go on once it has gone."""
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 4)

    async def scenario(running, port):
        several = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert (await said(port, last(good))).startswith(b"HTTP/1.1 200 ")
        several += [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert (await said(port, last(good))).startswith(b"HTTP/1.1 503 ")
        for _, writer in several:
            writer.close()
        while b" 503 " in await said(port, last(HEALTH)):
            """It has not seen all of them go."""
        assert (await said(port, last(good))).startswith(b"HTTP/1.1 200 ")

    played(scenario)


def test_a_connection_ends_after_a_body_that_is_too_long(task, played):
    """Its client may send all of it and hears why; nothing behind it is taken for a request."""
    asked = request(task, b" " * (1 << 20))

    async def scenario(running, port):
        answer = await said(port, asked + HEALTH)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer
        assert answer.count(b"HTTP/1.1") == 1

    played(scenario)
