"""An upload that came whole is answered as uvicorn and the application would, without a task."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import pytest
from uvicorn.lifespan.on import LifespanOn
from uvicorn.server import ServerState

from tacit.collector.http import upload
from tacit.collector.http.app import application
from tacit.collector.http.enrolment import Enrolment
from tacit.collector.http.server import TimedProtocol, configured
from tacit.wire.report import LONGEST_UPLOAD, dumps
from tacit.wire.report import upload as body_of

TOKEN = b"correct horse"
AUTHORIZED = {b"200", b"401", b"429"}
OPEN = {b"200", b"400", b"404", b"405", b"409", b"413", b"415", b"422"}


class Wire(asyncio.Transport):
    """The far end of a connection: what was written to it, and whether it was closed."""

    def __init__(self):
        super().__init__()
        self.said, self.closed, self.paused = b"", False, False

    def write(self, data):
        self.said += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        self.paused = True

    def resume_reading(self):
        self.paused = False


class Tasks(set):
    """uvicorn's tasks, and how many there ever were."""

    ever = 0

    def add(self, task):
        super().add(task)
        self.ever += 1


class Server:
    """A collector, and connections to it without a network between."""

    def __init__(self, config):
        self.config = config
        self.state = ServerState()
        self.state.tasks = self.tasks = Tasks()

    def connect(self):
        connection, wire = TimedProtocol(self.config, self.state, {}), Wire()
        connection.connection_made(wire)
        return connection, wire

    async def say(self, *parts):
        """What is answered to bytes that come in these parts; then the client goes."""
        connection, wire = self.connect()
        for part in parts:
            if wire.closed:
                break
            connection.data_received(part)
            await asyncio.sleep(0)
        if not wire.closed:
            await answered(connection)
        connection.connection_lost(None)
        return wire.said


async def answered(connection):
    """Until nothing waits for an answer; a client that gets none hangs up at last."""
    for _ in range(300):
        cycle = connection.cycle
        if not connection.pipeline and (not cycle or cycle.response_complete):
            return
        await asyncio.sleep(0.001)


@asynccontextmanager
async def serving(folder, task, clock, wrapped=lambda app: app, **settings):
    folder.mkdir(exist_ok=True)
    app = wrapped(application(str(folder / "reports.db"), [task], clock=clock, **settings))
    config = configured(app, "127.0.0.1", 0)
    config.load()
    lifespan = LifespanOn(config)
    await lifespan.startup()
    try:
        yield Server(config)
    finally:
        await lifespan.shutdown()


def unknown(app):
    """The same application as one that connections do not know."""

    async def other(scope, receive, send):
        await app(scope, receive, send)

    return other


@pytest.fixture
def served(task, clock, tmp_path):
    """Plays a scenario with a collector of `task`."""

    def play(scenario):
        async def playing():
            async with serving(tmp_path, task, clock) as server:
                await scenario(server)

        asyncio.run(playing())

    return play


@pytest.fixture
def task(ask):
    return ask()


@pytest.fixture
def good(task, report):
    """A request that is accepted."""
    return request(task, body_of([dumps(report(task), task.channels[0])]))


def request(task, body, *more, method="POST", version="1.1", media="application/json", after=""):
    lines = [
        f"{method} /v1/tasks/{task.address}/reports{after} HTTP/{version}",
        "host: a",
        f"content-type: {media}",
        *more,
    ]
    if not any("transfer-encoding" in line for line in more):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def requests(task, report):
    """Every kind of request, in an order in which the store makes a difference."""
    first = report(task, places=(2,), symbols=(1,))

    def body(*reports):
        return body_of([dumps(each, task.channels[0]) for each in reports])

    good = body(first)
    chunks = b"9\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (good[:9], len(good) - 9, good[9:])
    address = task.address.encode()
    return [
        request(task, good),
        request(task, good),
        request(task, body(replace(first, symbols=(2,)), report(task))),
        request(task, body(report(task, epoch=3), report(task))),
        request(task, body(*[report(task) for _ in range(50)])),
        request(task, chunks, "transfer-encoding: chunked"),
        request(task, b"zz\r\n" + good, "transfer-encoding: chunked"),
        request(task, good[:-1]),
        request(task, b""),
        request(task, b" " * LONGEST_UPLOAD + b"{"),
        request(task, good, media="text/plain"),
        request(task, good, media="application/json; charset=utf-8"),
        request(task, good, "content-encoding: gzip"),
        request(task, good, "connection: close"),
        request(task, good, "expect: 100-continue"),
        request(task, good, "connection: upgrade", "upgrade: websocket"),
        request(task, good, version="1.0"),
        request(task, good, "connection: keep-alive", version="1.0"),
        request(task, good, after="?a=b"),
        request(task, good, after="/"),
        request(task, good, method="PUT"),
        request(task, b"", method="GET"),
        request(task, good).replace(address, b"00" * 32),
        request(task, good).replace(address, b"%%%02x" % address[0] + address[1:]),
        request(task, good).replace(address, address + b"?"),
        request(task, good, "no header"),
    ]


@pytest.mark.parametrize("authorized", [False, True])
def test_whole_or_not_the_answer_is_the_same(task, report, clock, tmp_path, authorized):
    """Byte for byte, for every kind of request, cut at several places or not at all; the twin is
    the same application where connections do not know it."""
    asked = requests(task, report)
    cuts = [lambda n: [n], lambda n: [n - 1], lambda n: [60], lambda n: [n // 2, n - 3]]
    settings = {}
    if authorized:
        asked = [each.replace(b"host: a", b"authorization: Bearer " + TOKEN) for each in asked[:6]]
        asked[2:2] = [asked[0].replace(b"correct", b"wrong")]
        settings["enrolment"] = lambda: Enrolment([sha256(TOKEN).hexdigest()], 2)

    async def run(name, cut, wrapped):
        made = {key: make() for key, make in settings.items()}
        async with serving(tmp_path / name, task, clock, wrapped, **made) as server:
            said = []
            for each in asked:
                places = pairwise([0, *cut(len(each)), len(each)])
                said.append(await server.say(*[each[a:b] for a, b in places if b > a]))
            return said

    for number, cut in enumerate(cuts):
        twin = asyncio.run(run(f"twin {number}", cut, unknown))
        assert asyncio.run(run(f"known {number}", cut, lambda app: app)) == twin
    statuses = {answer[9:12] for answer in twin}
    assert statuses >= (AUTHORIZED if authorized else OPEN)


def test_an_upload_that_came_whole_needs_no_task(good, served):
    async def scenario(server):
        assert (await server.say(good)).startswith(b"HTTP/1.1 200 OK")
        assert server.tasks.ever == 0
        assert (await server.say(good[:-1], good[-1:])).startswith(b"HTTP/1.1 200 OK")
        assert server.tasks.ever == 1

    served(scenario)


def test_answers_keep_the_order_of_requests(task, good, served):
    """However they come together: three that take different ways, the slow one first."""
    bad, other = request(task, b"{"), b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"

    async def scenario(server):
        for several in ([good, bad, other], [other, good, bad], [good, good, bad, good]):
            said = await server.say(b"".join(several))
            found = [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]]
            assert found == [b"400" if each is bad else b"200" for each in several]

    served(scenario)


def test_a_client_that_is_gone_is_not_written_to(good, served):
    async def scenario(server):
        connection, wire = server.connect()
        connection.data_received(good)
        connection.connection_lost(None)
        await answered(connection)
        assert wire.said == b""
        assert b'"stored"} 1' in await server.say(b"GET /metrics HTTP/1.1\r\n\r\n")

    served(scenario)


def test_a_server_that_ends_answers_first(good, served):
    async def scenario(server):
        connection, wire = server.connect()
        connection.data_received(good)
        connection.shutdown()
        assert not wire.closed
        await answered(connection)
        assert wire.said.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"connection: close" in wire.said
        assert wire.closed

    served(scenario)


def test_who_reads_no_answer_gets_no_more(task, served):
    """Else answers to requests that come without end would pile up in memory."""
    bad = request(task, b"{")

    async def scenario(server):
        connection, wire = server.connect()
        connection.data_received(bad)
        connection.pause_writing()  # what the transport says when its buffer is full
        for _ in range(2):
            connection.data_received(bad * 5)
            for _ in range(20):
                await asyncio.sleep(0)
        said, paused = wire.said.count(b"HTTP/1.1 400"), wire.paused
        connection.resume_writing()
        await answered(connection)
        assert (said, paused) == (1, True)
        assert wire.said.count(b"HTTP/1.1 400") == 11

    served(scenario)


def test_no_client_is_blamed_for_a_collector_that_fails(task, monkeypatch, caplog, served):
    """And what is logged says where, without the words of an error, which may hold a rating."""

    def broken(body):
        raise ZeroDivisionError(body)

    async def scenario(server):
        monkeypatch.setattr(upload, "read", broken)
        asked = request(task, b"{12345")
        said = await server.say(asked + asked, asked[:-1], asked[-1:])
        assert said.count(b"HTTP/1.1 500 ") == 3

    served(scenario)
    assert caplog.text.count("An upload failed: ZeroDivisionError.") == 3
    assert "in broken" in caplog.text
    assert "12345" not in caplog.text


def test_too_many_at_once_are_refused_late_and_unread(task, monkeypatch, served):
    monkeypatch.setattr(upload, "MOST_WAITING", 0)
    monkeypatch.setattr(upload, "read", None)

    async def scenario(server):
        connection, wire = server.connect()
        connection.data_received(request(task, b"{"))
        await asyncio.sleep(0)
        assert wire.said == b""
        await answered(connection)
        assert wire.said.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 2" in wire.said

    served(scenario)
