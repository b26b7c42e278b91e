"""Whatever is sent, the answer is one of the contract's, and the store stays whole."""

import contextlib
import copy
import http.client
import json
import socket
import sqlite3
import time
from random import Random

import pytest
from described import statuses

from tacit.collector.http.collector import OPENAPI
from tacit.wire.report import dumps, upload

JSON = {"content-type": "application/json"}
ODD = (
    None, True, -1, 0, 1.0, 10**30, "", "0" * 32, "\0", [], [[]], {}, [[0, 0]] * 5000, "x" * 9999,
)  # fmt: skip
ANSWERS = {b"200", b"400", b"401", b"404", b"405", b"408", b"409", b"413", b"415", b"422", b"429",
           b"431", b"503"}  # fmt: skip


@pytest.mark.long
def test_what_the_published_description_says(ask, started):
    """Requests made up from it, of the right form and of wrong ones, get answers it describes."""
    task = ask()
    url = f"http://127.0.0.1:{started(task).port}"
    seen = statuses(OPENAPI, url, {"task": task.address}, examples=300)
    assert {("/v1/tasks/{task}/reports", status) for status in (400, 404, 422)} <= seen
    assert {("/v1/tasks/{task}/erasures", status) for status in (200, 400, 404)} <= seen
    assert not [status for _, status in seen if status >= 500]


def mutated(body: dict, chance: Random) -> bytes:
    """An upload with something odd somewhere, in its structure or in its bytes."""
    body = copy.deepcopy(body)
    for _ in range(chance.randint(0, 3)):
        place = body
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = chance.choice(keys)
            if chance.random() < 0.3 or not isinstance(place[key], dict | list):
                act = chance.choice(("replace", "remove", "double", "rename"))
                if act == "replace":
                    place[key] = copy.deepcopy(chance.choice(ODD))
                elif act == "remove":
                    del place[key]
                elif isinstance(place, list):
                    place.append(copy.deepcopy(place[key]))
                else:
                    place[chance.choice(("", "rating", "id ", "\u2028"))] = place[key]
                break
            place = place[key]
    data = bytearray(json.dumps(body).encode())
    for _ in range(chance.choice((0, 0, 0, 1, 3)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data[: chance.choice((len(data), len(data), chance.randint(0, len(data))))])


def framed(path: str, data: bytes, chance: Random) -> bytes:
    """A request around it whose frame may be odd, too."""
    plain = f"POST {path} HTTP/1.1"
    odd = (
        f"PUT {path} HTTP/1.1",
        f"POST {path}? HTTP/1.0",
        f"POST {path}/ HTTP/1.1",
        "\0 / HTTP/9",
    )
    line = chance.choice((plain,) * 4 + odd)
    media = chance.choice(("application/json", "application/json; charset=utf-8", "text/plain", ""))
    more = chance.choice(
        ("", "", "", "content-encoding: gzip\r\n", "expect: 100-continue\r\n", "a\r\n")
    )
    if chance.random() < 0.2:
        size = chance.choice((f"{len(data):x}", "zz", "-1", "ffffffffffffffff"))
        body = f"{size}\r\n".encode() + data + b"\r\n0\r\n\r\n"
        length = "transfer-encoding: chunked"
    else:
        body = data
        length = f"content-length: {chance.choice((len(data), len(data), len(data) + 5, -1, 'x'))}"
    head = (
        f"{line}\r\nhost: a\r\nconnection: close\r\ncontent-type: {media}\r\n{more}{length}\r\n\r\n"
    )
    return head.encode() + body


def answered(port: int, request: bytes) -> bytes:
    """The status; nothing where the other side closed without a word."""
    with socket.create_connection(("127.0.0.1", port), timeout=0.2) as connection:
        said = b""
        with contextlib.suppress(OSError):
            connection.sendall(request)
            while part := connection.recv(65_536):
                said += part
    return said.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")[9:12]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("plan", "count"),
    [
        ("rated", 90),
        ("catalogue", 90),
        ("sample:3", 90),
        pytest.param("rated", 4_000, marks=pytest.mark.long),
        pytest.param("catalogue", 4_000, marks=pytest.mark.long),
        pytest.param("sample:3", 4_000, marks=pytest.mark.long),
        pytest.param("rated", 40_000, marks=pytest.mark.full),
        pytest.param("catalogue", 40_000, marks=pytest.mark.full),
        pytest.param("sample:3", 40_000, marks=pytest.mark.full),
    ],
)
def test_odd_uploads(ask, started, report, plan, count):
    task = ask(plan, start=int(time.time()) - 100)
    collector, chance = started(task), Random(count)
    path, seen = f"/v1/tasks/{task.address}/reports", set()
    wanted, tried = {b"200", b"400", b"415"}, 0
    while tried < count or (not wanted <= seen and tried < 2000):
        tried += 1
        reports = [report(task, epoch=0) for _ in range(chance.randint(1, 4))]
        body = json.loads(upload([dumps(each, task.channels[0]) for each in reports]))
        where = path
        if chance.random() < 0.2:
            body, where = {"key": chance.randbytes(32).hex()}, path.replace("reports", "erasures")
        request = framed(where, mutated(body, chance), chance)
        status = answered(collector.port, request)
        assert status in ANSWERS | {b""}, request
        seen.add(status)
    assert wanted <= seen
    assert collector.process.poll() is None
    connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=5)
    connection.request("GET", "/readyz")
    assert connection.getresponse().status == 200
    connection.close()
    with sqlite3.connect(collector.db) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert "Traceback" not in collector.log.read_text()
