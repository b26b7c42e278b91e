"""The way to the collector, over real sockets."""

import re
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from tacit.device import transport
from tacit.device.client import Client
from tacit.device.transport import Answer, Http
from tacit.errors import DataError, RequestError


def received(at):
    """One request, head and body; empty when the client has hung up."""
    request, rest = b"", 1
    while rest:
        part = at.recv(1 << 16)
        if not part:
            return b""
        request += part
        head, end, body = request.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        rest = not end or (length is not None and len(body) < int(length[1]))
    return request


@contextmanager
def server(*answers):
    """Gives (url, requests): sends each answer for one request, on one connection while it may."""
    listening = socket.create_server(("127.0.0.1", 0))
    requests = []

    def serve():
        waiting, at = list(answers), None
        while waiting:
            if at is None:
                at, _ = listening.accept()
            request = received(at)
            if not request:
                at.close()
                at = None
                continue
            requests.append(request)
            answer = waiting.pop(0)
            if answer is not None:
                at.sendall(answer)
            if answer is None or b"close" in answer:
                at.close()
                at = None
        if at is not None:
            at.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", requests
    finally:
        thread.join(5)
        listening.close()


def said(body=b"{}", status="200 OK", *headers):
    head = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_one_connection_serves_many_requests():
    with server(said(b"1"), said(b"2"), said(b"", "503 Busy", "Retry-After: 7")) as (url, requests):
        ask = Http(url + "/films/", token="a-token")
        assert ask("GET", "/v1/tasks") == Answer(200, b"1")
        assert ask("POST", "/v1/x", b"body") == Answer(200, b"2")
        assert ask("GET", "/") == Answer(503, b"", 7)
        ask.close()
    assert requests[0].startswith(b"GET /films/v1/tasks HTTP/1.1\r\n")
    assert b"Content-Type: application/json\r\n" in requests[1]
    assert all(b"Authorization: Bearer a-token\r\n" in request for request in requests)
    assert not any(b"User-Agent" in request or b"Cookie" in request for request in requests)


@pytest.mark.parametrize(
    ("url", "path"), [("", ""), ("/", ""), ("/a//", "/a"), ("/XX/", "/XX"), ("/a/b?c", "/a/b")]
)
def test_the_path_of_a_url_is_kept_whole_but_for_slashes_at_its_end(url, path):
    with server(said(b"", "200 OK", "Connection: close")) as (begin, requests):
        assert Http(begin + url)("GET", "/v1/tasks") == Answer(200)
    assert requests[0].startswith(f"GET {path}/v1/tasks HTTP/1.1\r\n".encode())


def test_a_kept_connection_that_was_closed_is_opened_again():
    with server(said(b"1"), None, said(b"2")) as (url, requests):
        ask = Http(url)
        assert ask("GET", "/") == Answer(200, b"1")
        assert ask("GET", "/") == Answer(200, b"2")
        ask.close()
    assert len(requests) == 3


def test_no_answer_is_none():
    with server(None) as (url, requests):
        assert Http(url)("GET", "/") is None
    assert len(requests) == 1
    assert Http(url)("GET", "/") is None  # nobody listens any more


@pytest.mark.parametrize(
    "answer",
    [b"nonsense\r\n\r\nclose", said(b"12345", "200 OK", "Connection: close")[:-2],
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n123"],
)  # fmt: skip
def test_a_cut_answer_is_none(answer):
    with server(answer) as (url, _):
        assert Http(url)("GET", "/") is None


@pytest.mark.parametrize(
    "answer",
    [said(b"x" * 101, "200 OK", "Connection: close"),
     b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 101,
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
     + b"32\r\n" + b"x" * 50 + b"\r\n33\r\n" + b"x" * 51 + b"\r\n0\r\n\r\n"],
)  # fmt: skip
def test_what_is_too_long_is_not_read(answer):
    with server(answer) as (url, _), pytest.raises(DataError, match="longer than 100 bytes"):
        Http(url)("GET", "/", longest=100)


def test_patience_ends(monkeypatch):
    monkeypatch.setattr(transport, "TIMEOUT", 0.1)
    listening = socket.create_server(("127.0.0.1", 0))
    assert Http(f"http://127.0.0.1:{listening.getsockname()[1]}")("GET", "/") is None
    listening.close()
    monkeypatch.setattr(transport, "DEADLINE", -1.0)
    with server(said(b"12", "200 OK", "Connection: close")) as (url, _):
        assert Http(url)("GET", "/") is None


@pytest.mark.parametrize("line", [b"HTTP/1.1 100 Continue\r\n\r\n", b"X-More: 1\r\n"])
def test_a_server_that_sends_line_by_line_cannot_hold_a_device(monkeypatch, line):
    """Each line is within the timeout. After 60 of them, the answer would be complete."""
    monkeypatch.setattr(transport, "DEADLINE", 0.2)
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        at, _ = listening.accept()
        received(at)
        answer = said(b"12", "200 OK", "Connection: close")
        begin, end = (b"", answer) if b"100" in line else answer.split(b"Connection", 1)
        with suppress(OSError), at:
            at.sendall(begin)
            for _ in range(60):
                time.sleep(0.05)
                at.sendall(line)
            at.sendall(end if b"100" in line else b"Connection" + end)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert Http(f"http://127.0.0.1:{listening.getsockname()[1]}")("GET", "/") is None
    thread.join()
    listening.close()


def test_a_redirect_is_not_followed():
    moved = said(b"", "302 Found", "Location: http://127.0.0.1:1/", "Connection: close")
    with server(moved) as (url, requests):
        assert Http(url)("POST", "/", b"reports").status == 302
    assert len(requests) == 1


@pytest.mark.parametrize(
    ("told", "waits"), [("5", 5), ("999999999", 86_400), ("-5", 0), ("soon", 0), ("9" * 5000, 0)]
)
def test_waiting_times_are_bounded(told, waits):
    answer = said(b"", "503 Busy", f"Retry-After: {told}", "Connection: close")
    with server(answer) as (url, _):
        assert Http(url)("GET", "/").retry_after == waits


@pytest.mark.parametrize(
    "url", ["", "films.example", "ftp://films.example", "https://", "https://a@b"]
)
def test_what_is_no_url_is_refused(url):
    with pytest.raises(RequestError, match="not of the form"):
        Http(url)


@pytest.mark.parametrize("url", ["http://films.example", "http://10.0.0.1:8000", "http://[::2]"])
def test_http_to_another_machine_has_to_be_asked_for(url, tmp_path):
    for opened in (
        lambda: Http(url),
        lambda: Client(tmp_path / "me.db", url, most_epsilon="1", lifetime="1"),
    ):
        with pytest.raises(RequestError, match="set insecure=True"):
            opened()
    Http(url, insecure=True).close()
    with pytest.raises(RequestError, match="Tokens are sent over https only"):
        Http(url, "s3cret", insecure=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"])
def test_http_to_this_machine_is_nobody_else_s_to_read(url):
    Http(url, "s3cret").close()


def test_a_token_is_for_encrypted_connections_and_for_nobody_s_eyes():
    for url, token in (("http://films.example", "s3cret"), ("https://films.example", "s3cret\n")):
        with pytest.raises(RequestError) as error:
            Http(url, token)
        assert "s3cret" not in str(error.value)
    assert "s3cret" not in repr(vars(Http("https://films.example", "s3cret")).keys())
    assert "s3cret" not in repr(Http("https://films.example", "s3cret"))
