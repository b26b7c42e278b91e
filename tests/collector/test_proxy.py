"""What the documented proxies keep from the collector: crowds of one address, headers without an
end, bodies that are too long, and every trace of who asked."""

import contextlib
import re
import resource
import secrets
import select
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
from processes import free_port
from proxies import CADDY_UNDER_FILMS, DEPLOY, NAME, NGINX_UNDER_FILMS, ProxyProcess

from tacit.collector.http.server import KEEP_ALIVE_SECONDS
from tacit.wire.report import LONGEST_UPLOAD, dumps, upload

JSON = {"content-type": "application/json"}
CROWD, SOMEBODY = "127.0.0.2", "127.0.0.3"
CONNECTIONS = 4100
HEADER_SECONDS = 5
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "proxy.md"
both = pytest.mark.parametrize("kind", ["nginx", "caddy"])


@pytest.fixture
def proxied(tmp_path):
    """Starts proxies, and ends them."""
    running = []

    def start(kind, upstream):
        running.append(ProxyProcess(kind, tmp_path / kind, upstream))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def task(ask):
    return ask(start=int(time.time()) - 100)


@pytest.fixture
def many_files():
    """Room for the connections of one test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, CONNECTIONS + 1000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def ended(connection: socket.socket) -> bytes:
    """What is said until the connection is closed."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65_536):
            said += part
    return said


def beginning(kind, path) -> bytes:
    """What an idle connection has sent."""
    line = f"POST {path} HTTP/1.1\r\nhost: films.example\r\ncontent-type: application/json\r\n"
    return {
        "silent": b"",
        "header": line.encode(),
        "answered": b"GET /healthz HTTP/1.1\r\nhost: films.example\r\n\r\n",
        "body": line.encode() + b"content-length: 100\r\n\r\n{",
    }[kind]


@pytest.mark.parametrize("page", ["nginx.conf", "Caddyfile"])
def test_the_page_shows_the_files_that_are_tested(page):
    shown = re.findall(r"^```\w*\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert (DEPLOY / page).read_text() in shown


def test_the_page_shows_the_changes_for_a_path_that_are_tested():
    shown = {line.strip() for line in PAGE.read_text().splitlines()}
    for changed in (*NGINX_UNDER_FILMS.values(), *CADDY_UNDER_FILMS.values()):
        lines = {line.strip() for line in changed.splitlines()}
        assert {line for line in lines if "header_up" not in line} <= shown


def test_who_sends_on_a_connection_closes_it():
    """Else an upload could leave on a connection that the collector is closing."""
    upstream = (DEPLOY / "nginx.conf").read_text().partition("upstream collector {")[2]
    (kept,) = re.findall(r"keepalive_timeout (\d+)s;", upstream.partition("}")[0])
    assert int(kept) < KEEP_ALIVE_SECONDS


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "idle"),
    [
        *(("nginx", idle) for idle in ("silent", "header", "answered", "body")),
        *(("caddy", idle) for idle in ("silent", "header", "answered")),
    ],
)
def test_a_crowd_of_one_address_leaves_another_served(
    kind, idle, task, started, proxied, report, many_files
):
    collector = started(task)
    proxy, path = proxied(kind, collector.port), f"/v1/tasks/{task.address}/reports"
    with contextlib.ExitStack() as crowd:
        for _ in range(CONNECTIONS):
            connection = crowd.enter_context(proxy.connect(CROWD))
            connection.sendall(beginning(idle, path))
        for tls in (False, True):
            good = upload([dumps(report(task, epoch=0), task.channels[0])])
            assert proxy.request(SOMEBODY, "GET", "/healthz", tls=tls) == (200, b"alive\n")
            assert proxy.request(SOMEBODY, "POST", path, good, JSON, tls=tls) == (200, b"{}")


@pytest.mark.long
def test_an_address_has_its_share(task, started, proxied):
    """64 requests at a time; the 65th, and whatever comes then, hears that it is too many."""
    proxy = proxied("nginx", started(task).port)
    begun = beginning("body", f"/v1/tasks/{task.address}/reports")
    with contextlib.ExitStack() as crowd:
        several = [crowd.enter_context(proxy.connect(CROWD)) for _ in range(65)]
        for connection in several:
            connection.sendall(begun)
        (refused,), _, _ = select.select(several, [], [], 10)
        assert refused.recv(64).startswith(b"HTTP/1.1 503")
        assert proxy.request(CROWD, "GET", "/healthz")[0] == 503
        assert proxy.request(SOMEBODY, "GET", "/healthz") == (200, b"alive\n")


@pytest.mark.long
@both
def test_slow_headers_are_ended(kind, task, started, proxied):
    proxy = proxied(kind, started(task).port)
    with proxy.connect(CROWD) as slow:
        slow.settimeout(0.25)
        slow.sendall(b"GET /healthz HTTP/1.1\r\nhost: films.example\r\n")
        begun, said = time.monotonic(), None
        while time.monotonic() < begun + 2 * HEADER_SECONDS and said is None:
            with contextlib.suppress(TimeoutError):
                said = ended(slow)
            with contextlib.suppress(OSError):
                slow.sendall(b"a: b\r\n")
    assert said is not None
    assert b" 200 " not in said


@pytest.mark.long
@both
def test_headers_have_a_limit(kind, task, started, proxied):
    proxy = proxied(kind, started(task).port)
    for header in (b"a: " + b"b" * 20_000, b"a: b\r\n" * 4000):
        with proxy.connect(CROWD) as connection:
            line = b"GET /healthz HTTP/1.1\r\nhost: films.example\r\n"
            with contextlib.suppress(ConnectionError):
                connection.sendall(line + header + b"\r\nconnection: close\r\n\r\n")
            assert ended(connection)[9:12] in (b"400", b"431", b"")  # or cut without a word


@pytest.mark.long
@both
def test_bodies_have_a_limit(kind, task, started, proxied):
    """The same one, whether a header states the length or not; up to it they come through."""
    proxy, path = proxied(kind, started(task).port), f"/v1/tasks/{task.address}/reports"
    for size, status in ((LONGEST_UPLOAD, 400), (LONGEST_UPLOAD + 1, 413)):
        whole = b" " * size
        parts = (whole[k : k + 4096] for k in range(0, size, 4096))
        for body in (whole, parts):
            assert proxy.request(SOMEBODY, "POST", path, body, JSON)[0] == status


def heard(connection: socket.socket) -> None:
    """Read and forget what is said, until the connection is gone."""
    with contextlib.suppress(OSError):
        while connection.recv(65_536):
            pass


@pytest.mark.long
@both
@pytest.mark.parametrize("listening", [False, True])
def test_requests_without_end_fill_no_memory(kind, listening, task, started, proxied):
    """A client that sends on before it was answered, whether or not it reads what it is told, gets
    to the collector one request at a time; uvicorn alone would read all that it sends."""
    collector = started(task)
    proxy, path = proxied(kind, collector.port), f"/v1/tasks/{task.address}/reports"
    assert proxy.request(CROWD, "POST", path, b"{}", JSON)[0] == 400
    before = collector.memory()
    head = f"POST {path} HTTP/1.1\r\nhost: films.example\r\ncontent-type: application/json\r\n"
    many = (head.encode() + b"content-length: 2\r\n\r\n{}") * 500_000
    with proxy.connect(CROWD) as connection:
        reading = threading.Thread(target=heard, args=(connection,))
        if listening:
            reading.start()
        connection.settimeout(4)
        with contextlib.suppress(TimeoutError, ConnectionError):  # has to wait, or is cut
            connection.sendall(many)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        if listening:
            reading.join()
    assert collector.memory("VmHWM") - before <= 16


def bad_hello() -> bytes:
    """The beginning of a TLS handshake without the algorithms of signatures."""
    said = ssl.MemoryBIO()
    shaking = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), said, server_hostname=NAME)
    with contextlib.suppress(ssl.SSLWantReadError):
        shaking.do_handshake()
    return said.read().replace(b"\x00\x0d\x00", b"\xaa\xaa\x00")


class Recorder:
    """An application that keeps every byte it is sent, and answers."""

    def __init__(self):
        self.heard, self.port = b"", free_port()
        self._socket = socket.create_server(("127.0.0.1", self.port))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    while b"\r\n\r\n" not in self.heard or not self.heard.endswith(b"{}"):
                        self.heard += connection.recv(65_536)
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
                    )

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.mark.long
@both
def test_the_collector_does_not_learn_who_asks(kind, proxied):
    canary = secrets.token_hex(12)
    names = ("user-agent", "cookie", "referer", "x-forwarded-for", "x-real-ip", "forwarded")
    headers = JSON | dict.fromkeys(names, canary) | {"authorization": "Bearer mine"}
    recorder = Recorder()
    with contextlib.closing(recorder):
        proxy = proxied(kind, recorder.port)
        assert proxy.request(CROWD, "POST", "/v1/a", b"{}", headers, tls=True) == (200, b"{}")
    heard = recorder.heard.lower()
    assert b"authorization: bearer mine" in heard
    assert b"content-type: application/json" in heard
    for trace in (canary, CROWD, "forwarded", "real-ip"):
        assert trace.encode() not in heard, heard


@pytest.mark.long
@both
def test_nobodys_address_is_written(kind, task, started, proxied):
    """Whatever they did that proxies like to note: too much at once, too long, too slow, no TLS, a
    broken handshake, a collector that is not there."""
    collector = started(task)
    proxy, path = proxied(kind, collector.port), f"/v1/tasks/{task.address}/reports"
    canary = secrets.token_hex(12)
    with contextlib.ExitStack() as crowd:
        for _ in range(70):
            crowd.enter_context(proxy.connect(CROWD)).sendall(beginning("body", path))
        proxy.request(CROWD, "GET", f"/{canary}")
    for body in (b" " * (LONGEST_UPLOAD + 1), b"{}"):
        proxy.request(CROWD, "POST", path, body, JSON | {"cookie": canary})
    for said in (b"GET / HTTP/1.1\r\n\r\n", b"\0" + canary.encode() + b"\r\n\r\n", bad_hello()):
        for port in (proxy.plain, proxy.tls):
            with socket.create_connection(("127.0.0.1", port), 10, (CROWD, 0)) as connection:
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)
                ended(connection)
    collector.stop()
    assert proxy.request(CROWD, "GET", f"/{canary}")[0] == 502
    proxy.stop()
    written = proxy.written()
    assert CROWD.encode() not in written
    assert canary.encode() not in written
