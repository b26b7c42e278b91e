"""The second operator's Caddy in front of a shuffler, which starts its program anew meanwhile."""

import os
import random
import shutil
import subprocess
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from processes import free_port
from shuffler_process import TOKENS, ShufflerProcess
from shuffling import PROVIDER_TOKEN, wait_until

FILE = Path(__file__).parents[2] / "deploy" / "shuffler" / "Caddyfile"

pytestmark = pytest.mark.long


@contextmanager
def proxied(folder, upstream):
    """Run Caddy with the deployed file, but for its addresses, and return its port."""
    port = free_port()
    text = FILE.read_text()
    for old, new in (
        ("\tadmin off\n", "\tadmin off\n\tauto_https off\n"),
        ("shuffler.example {", f"http://127.0.0.1:{port} {{\n\tbind 127.0.0.1"),
        ("shuffler:8000", f"127.0.0.1:{upstream}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "Caddyfile").write_text(text)
    caddy = shutil.which("caddy")
    assert caddy, "install caddy"
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [caddy, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | home)
    try:
        wait_until(lambda: is_listening(port))
        yield port
    finally:
        process.terminate()
        process.wait(20)


def is_listening(port):
    try:
        request(port, "GET", "/v1/register")
    except OSError:
        return False
    return True


def request(port, method, path, token=None):
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()


def test_no_request_fails_while_the_program_starts_anew(tmp_path):
    """And the operator's paths are not for devices."""
    shuffler = ShufflerProcess(tmp_path)
    try:
        with proxied(tmp_path, shuffler.server.port) as port:
            size, source = shuffler.task.bundle_bytes, random.Random(1)
            shuffler.send([source.randbytes(size) for _ in TOKENS])
            for path in ("/metrics", "/readyz", "/healthz"):
                assert shuffler.server.get(path)[0] == 200
                assert request(port, "GET", path)[0] == 404
            shuffler.clock.write_text(str(shuffler.task.closes))
            statuses = set()
            while not shuffler.is_renewed():
                statuses.add(request(port, "GET", "/v1/ready")[0])
            assert statuses == {200}
            batch = f"/v1/tasks/{shuffler.task.address}/batch"
            status, content = request(port, "GET", batch, PROVIDER_TOKEN)
            assert (status, len(content)) == (200, size * len(TOKENS))
            written = (tmp_path / "caddy.log").read_text()
            assert not any(token in written for token in (PROVIDER_TOKEN, "127.0.0.1"))
    finally:
        shuffler.server.stop()
