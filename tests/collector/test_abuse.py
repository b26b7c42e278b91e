"""Limits hold against bodies that are long, slow or many; nothing sensitive is written anywhere."""

import asyncio
import contextlib
import http.client
import json
import secrets
import socket
import sqlite3
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tacit.wire.report import dumps, upload

JSON = {"content-type": "application/json"}


def reading(connection) -> bytes:
    """What the other side sends until it closes."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65_536):
            said += part
    return said


@pytest.mark.long
def test_200_megabytes_in_chunks(ask, started):
    task = ask()
    collector = started(task)
    collector.request("POST", f"/v1/tasks/{task.address}/reports", b"{}", JSON)
    before, chunk = collector.memory(), b"10000\r\n" + b" " * 65_536 + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", collector.port)) as connection:
        connection.sendall(
            f"POST /v1/tasks/{task.address}/reports HTTP/1.1\r\nhost: a\r\n"
            "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        for _ in range(8):
            connection.sendall(chunk)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413 ")  # before it has ended
        with contextlib.suppress(ConnectionError):  # it is listened to for a while, and no longer
            while sent < 200 << 20:
                connection.sendall(chunk)
                sent += 65_536
    assert collector.memory("VmHWM") - before <= 16
    # Attacks of labels, and their libraries, are imported on request alone.
    loaded = Path(f"/proc/{collector.process.pid}/maps").read_text()
    assert "polars" in loaded
    assert not {name for name in ("numba", "scipy", "matplotlib") if f"/{name}/" in loaded}


def test_the_answer_to_a_body_that_is_too_long(ask, started):
    task = ask()
    collector = started(task)
    path = f"/v1/tasks/{task.address}/reports"
    parts = (b" " * 4096 for _ in range(65))
    connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=10)
    with contextlib.closing(connection):
        connection.request("POST", path, parts, JSON, encode_chunked=True)
        response = connection.getresponse()
        assert response.status == 413
        assert json.loads(response.read())["type"] == "urn:tacit:problem:too-large"
        assert response.getheader("connection") == "close"


@pytest.mark.long
def test_slow_bodies_are_ended(ask, started, report):
    """500 connections that dawdle: all good traffic is answered, and bodies that do not end are
    given up. Headers that do not end are for a proxy (`test_proxy.py`).

    How fast it is answered, `benchmarks/dawdlers.py` measures.
    """
    task = ask(start=int(time.time()) - 100)
    path = f"/v1/tasks/{task.address}/reports"
    collector = started(task)
    line = f"POST /v1/tasks/{task.address}/reports HTTP/1.1\r\nhost: a\r\n".encode()
    whole = line + b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
    slow = [socket.create_connection(("127.0.0.1", collector.port)) for _ in range(500)]
    for number, connection in enumerate(slow):
        connection.sendall((b"", line, whole)[number % 3])
    refused = socket.create_connection(("127.0.0.1", collector.port))
    endless = b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n50000\r\n"
    refused.sendall(line + endless + b" " * 0x48000)
    begun = time.perf_counter()
    while time.perf_counter() - begun < 17:
        good = upload([dumps(report(task, epoch=0), task.channels[0])])
        assert collector.request("POST", path, good, JSON)[0] == 200
        time.sleep(0.05)
        for connection in slow[1::3]:  # a header that never ends, a few bytes at a time
            with contextlib.suppress(OSError):
                connection.sendall(b"a: b\r\n")
    for number, connection in enumerate(slow):
        if number % 3 == 2:
            connection.settimeout(5)
            assert reading(connection).startswith(b"HTTP/1.1 408")
        connection.close()
    with refused:  # its answer and no other
        said = reading(refused)
        assert (said[:13], said.count(b"HTTP/1.1")) == (b"HTTP/1.1 413 ", 1)


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.long)])
def test_concurrent_duplicates_are_one_row(ask, started, report, count):
    """And of other bytes under the same id, sent among them, none is kept but the first."""
    task = ask(start=int(time.time()) - 100)
    collector = started(task)
    first = report(task, epoch=0, places=(3,), symbols=(1,))
    other = replace(first, symbols=(2,))
    statuses = []

    async def one(body):
        reader, writer = await asyncio.open_connection("127.0.0.1", collector.port)
        head = (
            f"POST /v1/tasks/{task.address}/reports HTTP/1.1\r\nhost: a\r\nconnection: close\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        statuses.append((body, int((await reader.read())[9:12])))
        writer.close()

    async def all_of_them():
        bodies = [upload([dumps(r, task.channels[0])]) for r in (first, other)]
        await one(bodies[0])
        for start in range(0, count, 500):
            wave = [bodies[k % 10 == 0] for k in range(start, start + 500)]
            await asyncio.gather(*map(one, wave))
        return bodies

    bodies = asyncio.run(all_of_them())
    answers = {(bodies.index(body), status) for body, status in statuses if status != 503}
    assert answers == {(0, 200), (1, 409)}
    assert len(statuses) == count + 1
    with sqlite3.connect(collector.db) as database:
        rows = database.execute("SELECT id, cells FROM reports").fetchall()
    assert rows == [(bytes.fromhex(first.id), b"\3\0\0\0\1\0")]


def test_nothing_sensitive_is_written(ask, started, report, tmp_path):
    """Canaries in every place a request has: none is in a log, a metric or another table."""
    token, agent, cookie, forwarded = (secrets.token_hex(12) for _ in range(4))
    tokens = tmp_path / "tokens"
    tokens.write_text(sha256(token.encode()).hexdigest())
    task = ask(start=int(time.time()) - 100)
    collector = started(task, tokens=tokens)
    headers = JSON | {
        "authorization": f"Bearer {token}",
        "user-agent": agent,
        "cookie": cookie,
        "x-forwarded-for": forwarded,
    }
    path, good = f"/v1/tasks/{task.address}/reports", report(task, epoch=0)
    body = upload([dumps(good, task.channels[0])])
    wrong = upload([dumps(replace(good, symbols=(4,), places=(0,)), task.channels[0])])
    assert collector.request("POST", path, body, headers)[0] == 200
    key, erasures = secrets.token_hex(32), path.replace("reports", "erasures")
    for each in (f'{{"key":"{key}"}}', f'{{"key":"{key}","{key}":1}}', key):
        collector.request("POST", erasures, each.encode(), headers)
    for each in (wrong, body[:-1], body.replace(b"cells", b"rating"), b"\xff"):
        collector.request("POST", path, each, headers)
    collector.request("GET", f"/{token}?{token}", None, headers)
    metrics = collector.get("/metrics")[1]
    collector.stop()

    ids = (good.id, good.person)
    written = collector.log.read_bytes() + metrics
    files = b"".join(p.read_bytes() for p in tmp_path.iterdir() if p.name.startswith("reports."))
    digest = sha256(token.encode()).hexdigest()
    for canary in (token, digest, agent, cookie, forwarded, key, *ids):
        assert canary.encode() not in written
        assert canary.encode() not in files
    for raw in (bytes.fromhex(key), bytes.fromhex(digest)):
        assert raw not in files
    for id in ids:  # only the report table has them, as bytes
        assert bytes.fromhex(id) in files
    with sqlite3.connect(collector.db) as database:
        dump = [line for line in database.iterdump() if good.id.upper() in line.upper()]
    assert len(dump) == 1
    assert dump[0].startswith('INSERT INTO "reports"')
