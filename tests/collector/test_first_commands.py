"""The first commands of the page on operating a collector, line by line, and a first report."""

import re
import shlex
import subprocess
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from processes import CLI, free_port

from tacit.device.client import Client

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "collector.md"
SECONDS = 60
"""From the first command after the installation to the first stored report."""


@pytest.mark.long
def test_first_report_is_stored_within_a_minute(tmp_path):
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    install, catalogue, task, collect, fit = [
        line.split("  #")[0].strip() for line in block.splitlines()
    ]
    assert install.startswith("pip install ")
    url = f"http://127.0.0.1:{free_port()}"
    begun = time.monotonic()
    subprocess.run(catalogue, shell=True, cwd=tmp_path, check=True)
    tacit(tmp_path, task.replace("https://films.example", url))
    command = [*CLI, *shlex.split(collect)[1:], "--port", url.rpartition(":")[2]]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
        try:
            awaited(url)
            with Client(tmp_path / "me.db", url, most_epsilon="4", lifetime="100") as client:
                client.rate(1, 4)
                assert client.sync().stored == 1
            assert time.monotonic() - begun < SECONDS
            tacit(tmp_path, f"{fit} --least 1")
        finally:
            running.terminate()
    assert list((tmp_path / "models").glob("*.newest"))


def tacit(folder, line):
    subprocess.run([*CLI, *shlex.split(line)[1:]], cwd=folder, check=True)


def awaited(url):
    """Wait until the collector responds."""
    for _ in range(600):
        try:
            urlopen(f"{url}/readyz", timeout=5).close()
        except URLError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the collector does not respond")
