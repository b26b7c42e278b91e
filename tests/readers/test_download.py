"""Downloads against a server in this process: whole, resumed, broken off, tampered with."""

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tacit.errors import DataError, RequestError
from tacit.readers.download import DATASETS, Archive, archive, download

BODY = bytes(range(256)) * 2000
MD5 = "md5:" + hashlib.md5(BODY).hexdigest()
SHA256 = "sha256:" + hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves `BODY`, as badly as the server's settings say."""

    def do_GET(self):
        server = self.server
        server.asked.append((self.path, self.headers.get("Range")))
        if self.path.endswith(".md5"):
            return self._send(200, server.md5, len(server.md5))
        if self.path != "/made.zip":
            return self._send(404, b"", 0)
        start = 0
        if server.ranges and (asked := self.headers.get("Range")):
            start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1))
            if start >= len(BODY):
                return self._send(416, b"", 0)
        body = server.body[start:]
        sent = body[: server.stop_after] if server.stop_after else body
        self._send(206 if start else 200, sent, len(body))
        return None

    def _send(self, status, body, length):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        """Keep quiet."""


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.ranges, server.stop_after, server.body = [], True, None, BODY
    server.md5 = f"MD5 (made.zip) = {MD5.removeprefix('md5:')}\n".encode()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_port}/made.zip"
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def made(server):
    return Archive("made", server.url, MD5)


@pytest.mark.parametrize("checksum", [MD5, SHA256, None])
def test_a_whole_transfer(server, tmp_path, checksum):
    told = []
    path = download(
        Archive("made", server.url, checksum), tmp_path / "new", lambda *state: told.append(state)
    )
    assert path.read_bytes() == BODY
    assert told[-1] == (len(BODY), len(BODY))
    assert [file.name for file in path.parent.iterdir()] == ["made.zip"]


def test_what_is_there_already_is_not_fetched_again(server, made, tmp_path):
    download(made, tmp_path)
    download(made, tmp_path)
    assert len(server.asked) == 1


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_transfer_goes_on(server, made, tmp_path, ranges):
    server.stop_after = 100_000
    with pytest.raises(DataError, match=r"stopped after 100,000 of 512,000 bytes"):
        download(made, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["made.zip.part"]
    server.stop_after, server.ranges = None, ranges
    assert download(made, tmp_path).read_bytes() == BODY
    assert server.asked[-1] == ("/made.zip", "bytes=100000-")
    assert [file.name for file in tmp_path.iterdir()] == ["made.zip"]


def test_a_part_that_is_whole_is_only_checked(server, made, tmp_path):
    (tmp_path / "made.zip.part").write_bytes(BODY)
    assert download(made, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("part", [None, b"something else", b"x" * (len(BODY) + 5)])
def test_a_wrong_checksum_leaves_nothing(server, made, tmp_path, part):
    if part is None:
        server.body = BODY[:-1] + b"!"
    else:
        (tmp_path / "made.zip.part").write_bytes(part)
    with pytest.raises(DataError, match="has checksum md5:"):
        download(made, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_published_checksum(server, tmp_path):
    server.md5 = b"<html>moved</html>"
    with pytest.raises(DataError, match="contains no MD5"):
        download(Archive("made", server.url, None), tmp_path)


def test_a_server_that_refuses_or_is_not_there(server, tmp_path):
    missing = Archive("gone", server.url.replace("made", "gone"), MD5)
    with pytest.raises(DataError, match="responded with 404"):
        download(missing, tmp_path)
    nowhere = Archive("nowhere", "http://127.0.0.1:9/made.zip", MD5)
    with pytest.raises(DataError, match="cannot be reached"):
        download(nowhere, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_catalogue():
    assert archive("ml-100k").url.endswith("/ml-100k.zip")
    with pytest.raises(RequestError, match="The data set must be one of ml-100k"):
        archive("ml-1k")
    for entry in DATASETS.values():
        assert entry.url.startswith("https://")
        assert entry.licence.endswith(".")
        assert entry.checksum is None or re.fullmatch(
            r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", entry.checksum
        )
