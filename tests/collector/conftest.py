"""A collector in this process, on a clock that tests turn, and reports by the handful."""

import os
import secrets
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from processes import CollectorProcess, PostgresProcess
from shop import Shop
from starlette.testclient import TestClient

from tacit.collector.http.app import application
from tacit.wire.report import Report, dumps, upload
from tacit.wire.tasks.task import asked

NOW = 1_000 + 20 * 86_400 + 5


class Clock:
    """Unix seconds that only a test moves: the 20th epoch of the tasks of `ask`."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def collector(tmp_path, clock):
    """Runs a collector of some tasks over one store; gives a client of it."""
    running = []

    def started(*tasks, store=None, **settings):
        app = application(store or str(tmp_path / "reports.db"), tasks, clock=clock, **settings)
        client = TestClient(app, raise_server_exceptions=True)
        running.append(client.__enter__())
        return client

    yield started
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def shop(tmp_path, clock):
    with closing(Shop(tmp_path, clock)) as running:
        yield running


@pytest.fixture
def report():
    """Makes a report that a task takes, but for `changes`."""

    def made(task, **changes) -> Report:
        person = changes.get("person", secrets.token_hex(16))
        places = asked(task, person) if task.hides_presence else (secrets.randbelow(6),)
        symbols = tuple(b % len(task.channels[0].outputs) for b in os.urandom(len(places)))
        plain = Report(secrets.token_hex(16), task.channels[0].id, 20, person, places, symbols)
        return replace(plain, **changes)

    return made


@pytest.fixture
def send():
    """Uploads reports; gives the response."""

    def sent(client, task, *reports, **headers):
        body = upload([dumps(each, task.channels[0]) for each in reports])
        path = f"/v1/tasks/{task.address}/reports"
        return client.post(
            path, content=body, headers={"content-type": "application/json"} | headers
        )

    return sent


@pytest.fixture
def started(tmp_path):
    """Starts collectors as processes of their own, and ends them."""
    running = []

    def start(task, **options):
        running.append(CollectorProcess(tmp_path, task, **options))
        return running[-1]

    yield start
    for each in running:
        each.kill()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of the tests' own, in a folder that its user may enter."""
    with TemporaryDirectory(prefix="postgres") as folder:
        server = PostgresProcess(Path(folder))
        yield server
        server.stop()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request, tmp_path):
    """The address of an empty store, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    return request.getfixturevalue("postgres").database()
