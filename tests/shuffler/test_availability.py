"""A batch is available only when no bundle is left on the disk or in memory, and always in the end.

A naive twin of three facts follows random histories of failed deletions, restarts and downloads.
"""

import random
import sqlite3
from contextlib import closing
from typing import NamedTuple

import pytest
from shuffled_tasks import item_task
from shuffling import Clock, Shuffling, wait_until

from tacit.collector.storage.sqlite import SqliteStore
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.held_bundles import DELETED_CONTEXT, HeldBundles
from tacit.shuffler.shuffler import REGISTER, STORE, Shuffler
from tacit.shuffler.task_key import TaskKey

TASK = item_task(key=TaskKey.generate().public)
BUNDLES = [random.Random(person).randbytes(TASK.bundle_bytes) for person in range(20)]
SEEDS, OPERATIONS = 4, 7


class Fault(NamedTuple):
    """A step of the deletion that raises, before or after its effect, from its n-th call on."""

    owner: type
    step: str
    after: bool
    calls: int = 1

    @property
    def is_last(self):
        """Whether the deletion is complete, without that the process has learned it."""
        return self.step == "hold" and self.after

    def plant(self, patched):
        usual, calls = getattr(self.owner, self.step), []

        def failing(owner, *arguments):
            if self.step == "hold" and not arguments[0].startswith(DELETED_CONTEXT):
                return usual(owner, *arguments)
            calls.append(self.step)
            if len(calls) < self.calls or self.after:
                result = usual(owner, *arguments)
            if len(calls) < self.calls:
                return result
            raise OSError("gone")

        patched.setattr(self.owner, self.step, failing)


FAULTS = [
    Fault(owner, step, after)
    for owner, step in ((SqliteStore, "forget"), (Shuffler, "_scrub"), (SqliteStore, "hold"))
    for after in (False, True)
] + [Fault(SqliteStore, "forget", True, calls=100)]


def send_all(shuffling):
    for person, bundle in enumerate(BUNDLES):
        assert shuffling.send(TASK, bundle, person=person).status_code == 200


class History:
    """A shuffler, and its naive twin.

    `is_confirmed`: whether a deletion was complete. `is_clean`: whether this process has started
    after it. `had_bundles`: whether this process had some in memory.
    """

    def __init__(self, folder, source):
        folder.mkdir()
        self._shuffling, self._source = Shuffling(folder, Clock()), source
        self._patched = pytest.MonkeyPatch()
        self._fault = self._drawn()
        self.is_confirmed = self.is_clean = False
        self.had_bundles = True
        self._shuffling.start(TASK)
        send_all(self._shuffling)
        self.check(410)
        self._plant()
        self._shuffling.close(TASK)
        self.turn()

    def turn(self):
        """Let the shuffler attempt what is due."""
        self._shuffling.turn()
        self.is_confirmed |= self._fault is None or self._fault.is_last

    def recover(self):
        self._patched.undo()
        self._fault = None
        self.turn()

    def restart(self):
        self._shuffling.stop()
        self._patched.undo()
        self._fault, self.is_clean = self._drawn(), self.is_confirmed
        self.had_bundles = self._has_files_with_bundles()
        self._plant()
        self._shuffling.start()
        self.turn()

    def end(self):
        """Without faults, the batch is available after at most one restart."""
        self.recover()
        self._shuffling.await_batch(TASK)
        self.is_clean, self.had_bundles = True, False
        self.check(200)
        self.close()

    def check(self, expected=None):
        """Compare a download with the twin, and with what the disk and memory have had."""
        response = self._shuffling.provider("GET", TASK)
        if response.status_code == 200:
            assert not self.had_bundles
            assert not self._has_files_with_bundles()
            messages = sorted(message for each in BUNDLES for message in messages_of(each))
            assert messages_of(response.content) == messages
        assert response.status_code == (expected or (200 if self.is_clean else 503))
        assert response.status_code != 503 or response.headers["retry-after"] == "10"

    def close(self):
        self._patched.undo()
        self._shuffling.stop()

    def _plant(self):
        if self._fault is not None:
            self._fault.plant(self._patched)

    def _drawn(self):
        return self._source.choice([None, None, None, *FAULTS])

    def _has_files_with_bundles(self):
        content = self._shuffling.files()
        return any(bundle[:159] in content for bundle in BUNDLES)


def follow(folder, seed):
    """Check a random history after every operation."""
    source = random.Random(seed)
    history = History(folder / str(seed), source)
    try:
        for _ in range(OPERATIONS):
            history.check()
            source.choice((history.turn, history.recover, history.restart, history.restart))()
        history.check()
        history.end()
    finally:
        history.close()


def follow_all(folder, seeds):
    for seed in range(seeds):
        follow(folder, seed)


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(60, marks=pytest.mark.long)])
def test_a_batch_is_available_only_after_its_bundles_are_deleted(tmp_path, seeds):
    follow_all(tmp_path, seeds)


async def confirmed_only(bundles, writer, address):
    """In place of a deletion."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("owner", "name", "planted"),
    [
        (Shuffler, "_is_erased", lambda shuffler, address: True),
        (Shuffler, "_is_erased", lambda shuffler, address: address in shuffler._deleted),
        (HeldBundles, "delete", confirmed_only),
    ],
    ids=["after the closing line", "after the deletion from the disk", "without a deletion"],
)
def test_an_earlier_release_is_detected(tmp_path, monkeypatch, owner, name, planted):
    monkeypatch.setattr(owner, name, planted)
    with pytest.raises(AssertionError):
        follow_all(tmp_path, SEEDS)


def test_a_log_that_is_read_meanwhile_is_emptied_first(shuffling):
    """SQLite then leaves the deleted bundles in the log, and raises nothing."""
    shuffling.start(TASK)
    send_all(shuffling)
    with closing(sqlite3.connect(shuffling.folder / STORE, isolation_level=None)) as reading:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM reports").fetchone()
        shuffling.close(TASK)
        shuffling.turn()
        assert not shuffling.rows()
        assert BUNDLES[0][:159] in shuffling.files()
        assert shuffling.provider("GET", TASK).status_code == 503
        assert shuffling.provider("DELETE", TASK).status_code == 503
    shuffling.await_batch(TASK)
    assert shuffling.provider("GET", TASK).status_code == 200
    assert BUNDLES[0][:159] not in shuffling.files()


def test_a_closed_batch_becomes_available_whatever_the_clock(shuffling, monkeypatch):
    """Its bundles are deleted while nothing else is closed."""
    shuffling.start(TASK)
    send_all(shuffling)
    with monkeypatch.context() as patched:
        FAULTS[0].plant(patched)
        shuffling.close(TASK)
        shuffling.clock.now -= 10_000_000
        shuffling.turn()
    shuffling.await_batch(TASK)
    assert shuffling.provider("GET", TASK).status_code == 200
    assert shuffling.provider("DELETE", TASK).status_code == 200
    wait_until(lambda: shuffling.provider("GET", TASK).status_code == 410)


def test_bundles_of_a_task_whose_register_was_restored_are_deleted_again(shuffling, monkeypatch):
    """The store has confirmed an earlier deletion, which is not that of the new bundles."""
    shuffling.start(TASK)
    before = (shuffling.folder / REGISTER).read_bytes()
    send_all(shuffling)
    shuffling.release(TASK)
    shuffling.stop()
    (shuffling.folder / REGISTER).write_bytes(before)
    shuffling.clock.now = TASK.closes - 1
    shuffling.start()
    send_all(shuffling)
    with monkeypatch.context() as patched:
        FAULTS[0].plant(patched)
        shuffling.close(TASK)
        assert shuffling.provider("GET", TASK).status_code == 503
    shuffling.await_batch(TASK)
    assert shuffling.provider("GET", TASK).status_code == 200
    assert not shuffling.rows()
