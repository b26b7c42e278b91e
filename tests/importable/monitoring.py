"""Prometheus, which evaluates the alert rules of a folder of `deploy` on a running server."""

import json
import re
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from urllib.parse import quote
from urllib.request import urlopen

import pytest
import yaml
from processes import free_port

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError

SENDERS = 6
SECONDS = 60
"""Until the test fails; each state is awaited."""


def rules(deployed):
    """The alert rules of a folder."""
    return yaml.safe_load((deployed / "alerts.yml").read_text())["groups"][0]["rules"]


class TroubledStore(SqliteStore):
    """While `troubled`, every other commit fails, the others are slow, and nothing is deleted."""

    troubled = True
    turns = 0

    def insert(self, rows):
        if self.troubled:
            self.turns += 1
            if self.turns % 2:
                raise StoreError("the disk is full (0 MiB free)")
            time.sleep(1.2)
        return super().insert(rows)

    def forget(self, task, epoch, first_byte):
        if self.troubled:
            raise StoreError("the disk is full (0 MiB free)")
        return super().forget(task, epoch, first_byte)


class Senders:
    """Threads that send the same kinds of uploads, made by `uploads`, until `close`."""

    def __init__(self, uploads):
        self._uploads, self._going = uploads, True
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def close(self):
        self._going = False
        for thread in self._threads:
            thread.join()

    def _run(self):
        while self._going:
            self._uploads()
            time.sleep(0.1)


class Prometheus:
    """Debian's Prometheus with the rules of `deployed`, which scrapes once a second.

    Waiting times are 0 and ranges 10 s: promtool tests the real ones.
    """

    def __init__(self, folder, target, deployed):
        self.port = free_port()
        text = re.sub(r"for: \w+", "for: 0s", (deployed / "alerts.yml").read_text())
        (folder / "alerts.yml").write_text(re.sub(r"\[\d+\w\]", "[10s]", text))
        config = (deployed / "prometheus.yml").read_text().replace("15s", "1s")
        config = re.sub(r"127.0.0.1:\d+", f"127.0.0.1:{target}", config)
        (folder / "prometheus.yml").write_text(config)
        self._log = (folder / "log").open("w")
        self._process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            cwd=folder, stdout=self._log, stderr=self._log,
        )  # fmt: skip

    def get(self, path):
        with urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=5) as response:
            return json.load(response)["data"]

    def query(self, expression):
        return self.get(f"query?query={quote(expression)}")["result"]

    def firing(self):
        return {each["labels"]["alertname"] for each in self.get("alerts")["alerts"]}

    def close(self):
        self._process.terminate()
        self._process.wait(20)
        self._log.close()


@contextmanager
def prometheus(folder, target, deployed):
    """Scrape a target at this port, with the files of a folder of `deploy`."""
    folder.mkdir()
    running = Prometheus(folder, target, deployed)
    try:
        yield running
    finally:
        running.close()


def awaited(missing):
    """Wait until nothing is missing."""
    end, names = time.monotonic() + SECONDS, {"Prometheus"}
    while time.monotonic() < end:
        with suppress(OSError):  # it has not started yet
            names = missing()
        if not names:
            return
        time.sleep(0.2)
    pytest.fail(f"Missing: {names}")
