"""A shuffler starts its program anew after it has deleted bundles, on the same socket."""

import gc
import os
import socket
import sys
from contextlib import asynccontextmanager

import pytest
from shuffled_tasks import item_task
from shuffling import wait_until
from starlette.applications import Starlette

from tacit.collector.http.server import listening, server_of
from tacit.shuffler.renewal import LISTENER, Renewal, inherited_listener
from tacit.shuffler.shuffler import Shuffler
from tacit.shuffler.task_key import TaskKey

TASK = item_task(key=TaskKey.generate().public)


class ReplacedError(Exception):
    """In place of the end of this program."""


@pytest.fixture
def served():
    """A function that serves a socket until `at_start` has ended it, as `tacit shuffle` does.

    The settings of the interpreter are restored.
    """
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()

    def serve(renewal, listener, at_start):
        @asynccontextmanager
        async def lifespan(app):
            at_start(server)
            yield

        server = server_of(Starlette(lifespan=lifespan), listener)
        renewal.serve(server, listener)

    yield serve
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("people", [0, 3, 20])
def test_deleted_bundles_are_forgotten_once(shuffling, people):
    """Whether the batch is released or not. After the next start, nothing is left to delete."""
    forgotten = []
    shuffling.start(TASK, forgotten=lambda: forgotten.append(len(shuffling.rows())))
    for person in range(people):
        assert shuffling.send(TASK, bytes(TASK.bundle_bytes), person=person).status_code == 200
    shuffling.close(TASK)
    wait_until(lambda: forgotten)
    shuffling.turn()
    shuffling.stop()
    shuffling.start(forgotten=lambda: forgotten.append(len(shuffling.rows())))
    shuffling.turn()
    assert forgotten == [0]


def test_bundles_are_forgotten_if_a_step_after_their_deletion_failed(shuffling, monkeypatch):
    """The second attempt has nothing left to delete, but memory still contains bundles."""
    forgotten, failed = [], []
    scrub = Shuffler._scrub

    def failing_once(shuffler):
        if not failed:
            failed.append(len(shuffling.rows()))
            raise OSError("gone")
        scrub(shuffler)

    monkeypatch.setattr(Shuffler, "_scrub", failing_once)
    shuffling.start(TASK, forgotten=lambda: forgotten.append(len(shuffling.rows())))
    assert shuffling.send(TASK, bytes(TASK.bundle_bytes)).status_code == 200
    shuffling.close(TASK)
    wait_until(lambda: forgotten)
    assert (failed, forgotten) == ([0], [0])


def test_the_same_command_inherits_the_socket(served, monkeypatch):
    """Connections that arrive meanwhile wait for the next program."""
    replaced = []

    def execute(path, arguments):
        descriptor = int(os.environ[LISTENER])
        replaced.append((path, arguments, os.get_inheritable(descriptor)))
        os.environ[LISTENER] = str(os.dup(descriptor))  # the next program has all that is inherited
        raise ReplacedError

    monkeypatch.setattr(os, "execv", execute)
    monkeypatch.setenv(LISTENER, "")
    renewal = Renewal(["python", "-c", "main()", "shuffle", "--confirm-clock", "--port", "0"])
    listener = listening("127.0.0.1", 0)
    address = listener.getsockname()
    with pytest.raises(ReplacedError):
        served(renewal, listener, lambda server: renewal.request())
    command = [sys.executable, "-c", "main()", "shuffle", "--port", "0"]
    assert replaced == [(sys.executable, command, True)]
    with socket.create_connection(address, timeout=5) as waiting, inherited_listener() as inherited:
        assert inherited.getsockname() == address
        accepted, _ = inherited.accept()
        with accepted:
            assert accepted.getpeername() == waiting.getsockname()
    assert inherited_listener() is None


def test_a_stopped_shuffler_starts_nothing(served, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *arguments: pytest.fail("it was replaced"))
    listener = listening("127.0.0.1", 0)
    served(Renewal(), listener, lambda server: setattr(server, "should_exit", True))
    assert inherited_listener() is None
