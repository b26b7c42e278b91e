"""Bodies in parts, too long, too slow, or never complete; nothing but ASGI between."""

import asyncio
import threading
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256

import pytest

from tacit.collector.http import admission as body
from tacit.collector.http import upload
from tacit.collector.http.admission import Bodies
from tacit.collector.http.app import application
from tacit.collector.ingest import problems
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.storage.sqlite import SqliteStore
from tacit.wire.report import LONGEST_UPLOAD, dumps
from tacit.wire.report import upload as body_of

TOKEN = "correct horse"
JSON = {"content-type": "application/json"}
PATIENCE = 20
"""Seconds after which a test gives up; none takes so long where it passes."""


@pytest.fixture
def task(ask):
    return ask()


class Client:
    """Whoever sends one request and then nothing, and hears the answer."""

    def __init__(self, *parts, complete=True):
        ends = [complete and number == len(parts) for number in range(1, len(parts) + 1)]
        self._parts = deque(zip(parts, ends, strict=True))
        self.said = []

    async def receive(self):
        if not self._parts:
            await asyncio.Event().wait()
        part, end = self._parts.popleft()
        return {"type": "http.request", "body": part, "more_body": not end}

    async def send(self, message):
        self.said.append(message)

    async def ask(self, app, task, what="reports", headers=JSON):
        path = f"/v1/tasks/{task.address}/{what}"
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": path, "headers": raw}
        await app(scope, self.receive, self.send)

    @property
    def told(self):
        """The status and the whole body of the answer."""
        return self.said[0]["status"], b"".join(each["body"] for each in self.said[1:])


@asynccontextmanager
async def running(app):
    """An application between its start and its end."""
    asked, told = asyncio.Queue(), asyncio.Queue()
    lifespan = asyncio.create_task(app({"type": "lifespan"}, asked.get, told.put))
    await asked.put({"type": "lifespan.startup"})
    assert (await told.get())["type"] == "lifespan.startup.complete"
    yield
    await asked.put({"type": "lifespan.shutdown"})
    await lifespan


def asking(app, task, client, what="reports"):
    """What it is told."""

    async def ask():
        async with running(app), asyncio.timeout(PATIENCE):
            await client.ask(app, task, what)

    asyncio.run(ask())
    return client.said


def bodies(task, report):
    """Every kind of body, in an order in which the store makes a difference; and headers."""
    first = report(task, places=(2,), symbols=(1,))

    def made(*reports):
        return body_of([dumps(each, task.channels[0]) for each in reports])

    good = made(first)
    return [
        (good, JSON),
        (good, JSON),
        (made(replace(first, symbols=(2,)), report(task)), JSON),
        (made(report(task, epoch=3), report(task)), JSON),
        (made(*[report(task) for _ in range(50)]), JSON),
        (good[:-1], JSON),
        (b"", JSON),
        (b" " * LONGEST_UPLOAD + b"{", JSON),
        (good, {"content-type": "text/plain"}),
        (good, {"content-type": "application/json; charset=utf-8"}),
        (good, JSON | {"content-encoding": "gzip"}),
        (good, JSON | {"authorization": "Bearer wrong"}),
    ]


@pytest.mark.parametrize("enrolled", [False, True])
def test_in_parts_or_not_the_answer_is_the_same(task, report, clock, tmp_path, enrolled):
    """Two collectors of their own: one gets each body at once, the other piece by piece."""
    asked = bodies(task, report)

    def cut(sent):
        third = len(sent) // 3
        return sent[:third], b"", sent[third:-1], sent[-1:]

    async def run(name, parts):
        enrolment = Enrolment([sha256(TOKEN.encode()).hexdigest()], 40, 99) if enrolled else None
        path = str(tmp_path / f"{name}.db")
        app = application(path, [task], clock=clock, enrolment=enrolment)
        clients = [Client(*parts(sent)) for sent, _ in asked]
        async with running(app):
            for client, (_, headers) in zip(clients, asked, strict=True):
                given = {"authorization": f"Bearer {TOKEN}"} | headers
                await client.ask(app, task, headers=given)
        return [client.told for client in clients]

    whole = asyncio.run(run("whole", lambda sent: (sent,)))
    assert asyncio.run(run("parts", cut)) == whole
    seen = {status for status, _ in whole}
    assert seen >= ({401, 429} if enrolled else {200, 400, 409, 413, 415, 422})


class Held(SqliteStore):
    """A store that says when it is to store something, and waits until it may."""

    def __init__(self, path, begun):
        super().__init__(path)
        self._begun, self.released = begun, threading.Event()

    def insert(self, rows):
        self._begun()
        assert self.released.wait(PATIENCE)
        return super().insert(rows)


def test_nothing_is_acknowledged_before_it_is_stored(task, report, tmp_path, clock):
    client = Client(body_of([dumps(report(task), task.channels[0])]))

    async def scenario():
        loop, begun = asyncio.get_running_loop(), asyncio.Event()
        store = Held(str(tmp_path / "held.db"), lambda: loop.call_soon_threadsafe(begun.set))
        app = application(lambda: store, [task], clock=clock)
        async with running(app):
            asked = asyncio.create_task(client.ask(app, task))
            await begun.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            early = list(client.said)
            store.released.set()
            await asked
        assert early == []
        assert client.said[0]["status"] == 200

    asyncio.run(scenario())


def test_too_long_by_its_last_part_is_answered_without_waiting_for_more(
    task, clock, tmp_path, monkeypatch
):
    """Nothing follows a last part, so that waiting for more would last until patience ends."""
    app = application(str(tmp_path / "reports.db"), [task], clock=clock)
    monkeypatch.setattr(body, "BODY_SECONDS", 10 * PATIENCE)
    start, *_ = asking(app, task, Client(b" " * LONGEST_UPLOAD, b" "))
    assert start["status"] == 413
    assert dict(start["headers"])[b"connection"] == b"close"


def test_too_long_is_said_at_once_and_ends_the_connection(task, clock, tmp_path, monkeypatch):
    """Of what comes after it nothing is kept; a client that sends no more is not waited for."""
    app = application(str(tmp_path / "reports.db"), [task], clock=clock)
    monkeypatch.setattr(body, "BODY_SECONDS", 0)
    client = Client(*[b" " * 65_536] * 40, complete=False)
    start, content, end = asking(app, task, client)
    assert start["status"] == 413
    assert dict(start["headers"])[b"connection"] == b"close"
    assert content["more_body"]
    assert end == {"type": "http.response.body", "body": b""}


@pytest.mark.parametrize("parts", [(), (b"{",), (b"{",) * 9])
def test_too_slow_is_said_and_ends_the_connection(task, clock, tmp_path, monkeypatch, parts):
    app = application(str(tmp_path / "reports.db"), [task], clock=clock)
    monkeypatch.setattr(body, "BODY_SECONDS", 0.01)
    start, *_ = asking(app, task, Client(*parts, complete=False))
    assert start["status"] == 408
    assert dict(start["headers"])[b"connection"] == b"close"


@pytest.mark.parametrize(("size", "status"), [(1 << 17, 413), (1, 408)])
def test_an_erasure_has_the_same_limits(task, clock, tmp_path, monkeypatch, size, status):
    app = application(str(tmp_path / "reports.db"), [task], clock=clock)
    monkeypatch.setattr(body, "BODY_SECONDS", 0.01)
    start, *_ = asking(app, task, Client(*[b" " * size] * 3, complete=False), "erasures")
    assert start["status"] == status
    assert dict(start["headers"])[b"connection"] == b"close"


def test_a_stream_ends_at_the_limit():
    asked = 0

    async def receive():
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b" " * 65_536, "more_body": True}

    held = Bodies()
    with pytest.raises(problems.ProblemError, match="too-large"):
        asyncio.run(held.read(receive))
    assert (asked, held.held) == (5, 0)


def test_who_is_told_to_stop_is_not_called_slow():
    """A server that ends cancels what it waits for; that is not the client's fault."""

    async def stopped():
        reading = asyncio.create_task(Bodies().read(Client().receive))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        return reading.cancelled()

    assert asyncio.run(stopped())


def test_unfinished_bodies_have_a_limit_together(monkeypatch):
    """Slow ones must not fill the memory; those that come whole do not count."""
    monkeypatch.setattr(body, "MOST_HELD", 1000)

    async def read():
        held = Bodies()
        slow = asyncio.create_task(held.read(Client(b" " * 900, complete=False).receive))
        await asyncio.sleep(0)
        assert held.held == 900
        with pytest.raises(problems.ProblemError, match="busy"):
            await held.read(Client(b" " * 200, b" ").receive)
        assert await held.read(Client(b" " * 200).receive) == b" " * 200
        slow.cancel()
        await asyncio.wait([slow])
        assert held.held == 0

    asyncio.run(read())


def test_no_client_is_blamed_for_a_collector_that_fails(task, monkeypatch, caplog, collector):
    """And what is logged says where, without the words of an error, which may hold a rating."""

    def broken(body):
        raise ZeroDivisionError(body)

    monkeypatch.setattr(upload, "read", broken)
    path = f"/v1/tasks/{task.address}/reports"
    answer = collector(task).post(path, content=b"{12345", headers=JSON)
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:tacit:problem:failed")
    assert caplog.text.count("An upload failed: ZeroDivisionError.") == 1
    (record,) = caplog.records
    assert record.cause.endswith(" broken")
    assert "12345" not in record.cause
    assert "12345" not in caplog.text
