"""The store: one process, its owner alone, and nothing lost or left where it should not be."""

import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from tacit.device.storage.database_file import DatabaseFile
from tacit.device.storage.store import FORMAT, Store
from tacit.errors import DataError, RequestError
from tacit.privacy.ledger import Ledger

HOLD = (
    "import sys, time; from tacit.device.storage.store import Store; Store(sys.argv[1], 5); print()"
)
WAIT = "; sys.stdout.flush(); time.sleep(60)"


def test_a_store_keeps_what_it_had(tmp_path):
    with_secret = Store(tmp_path / "me.db", 7)
    secret = with_secret.secret
    with with_secret.transaction():
        with_secret.spend(Ledger(7, 3))
    with_secret.close()
    again = Store(tmp_path / "me.db", 9)
    assert (again.secret, again.ledger, len(secret)) == (secret, Ledger(9, 3), 32)
    again.close()
    assert [file.name for file in tmp_path.iterdir()] == ["me.db"]


def test_secrets_differ():
    stores = [Store(":memory:", 1) for _ in range(50)]
    assert len({store.secret for store in stores}) == 50
    for store in stores:
        store.close()


def test_nobody_else_may_read_it(tmp_path):
    path = tmp_path / "me.db"
    old = os.umask(0)
    try:
        store = Store(path, 5)
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
        assert len(list(tmp_path.iterdir())) == 2  # the file and its lock
        store.close()
    finally:
        os.umask(old)
    path.chmod(0o644)
    Store(path, 5).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_one_process_has_it_at_a_time(tmp_path):
    path = tmp_path / "me.db"
    other = subprocess.Popen([sys.executable, "-c", HOLD + WAIT, path], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"\n"
        with pytest.raises(RequestError, match="in use by another process"):
            Store(path, 5)
    finally:
        other.kill()
        other.communicate()
    mine = Store(path, 5)
    # A second try in the same process is refused, and does not loosen the lock of the first.
    with pytest.raises(RequestError, match="in use"):
        Store(path, 5)
    ran = subprocess.run([sys.executable, "-c", HOLD, path], capture_output=True, text=True)
    assert "in use by another process" in ran.stderr
    mine.close()


def test_a_forked_child_may_not_draw(tmp_path):
    store = Store(tmp_path / "me.db", 5)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with store.transaction():
                os.write(writes, b"drawn")
        except RequestError as error:
            os.write(writes, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reads, 99).startswith(b"This store was opened before a fork")
    os.close(reads)
    os.close(writes)
    store.close()


def test_a_forked_child_that_closes_leaves_the_lock_to_its_parent(tmp_path):
    """Without the lock's file, a third process could draw a second symbol for a slot."""
    path = tmp_path / "me.db"
    store = Store(path, 5)
    child = os.fork()
    if child == 0:
        store.close()
        os._exit(0)
    os.waitpid(child, 0)
    ran = subprocess.run([sys.executable, "-c", HOLD, path], capture_output=True, text=True)
    assert "in use by another process" in ran.stderr
    store.close()
    assert not (tmp_path / "me.db-lock").exists()


class TestFailedWrite:
    """What was committed in memory alone is neither sent nor the start of a later draw."""

    @staticmethod
    def draw(store):
        with store.transaction():
            store.spend(store.ledger.debit(2))
            store.db.execute("INSERT INTO shuffled VALUES ('a', x'00', NULL, x'01')")

    def test_without_its_folder_the_store_is_closed(self, tmp_path):
        folder, moved = tmp_path / "drive", tmp_path / "elsewhere"
        folder.mkdir()
        store = Store(folder / "me.db", 5)
        folder.rename(moved)
        with pytest.raises(DataError, match="no report was drawn or sent"):
            self.draw(store)
        with pytest.raises(RequestError, match="open its store again"):
            store.db.execute("SELECT bundle FROM shuffled")
        moved.rename(folder)
        store.close()
        with closing(Store(folder / "me.db", 5)) as again:
            assert again.ledger.spent == 0
            self.draw(again)

    @pytest.mark.parametrize("moment", ["before", "after"])
    def test_an_interrupt_leaves_what_the_file_has(self, tmp_path, monkeypatch, moment):
        store, save = Store(tmp_path / "me.db", 5), DatabaseFile.save

        def interrupted(self, db):
            if moment == "after":
                save(self, db)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(DatabaseFile, "save", interrupted)
            with pytest.raises(KeyboardInterrupt):
                self.draw(store)
        drawn = store.db.execute("SELECT address FROM shuffled").fetchall()
        assert (store.ledger.spent, drawn) == ((0, []) if moment == "before" else (2, [("a",)]))
        store.close()
        with closing(Store(tmp_path / "me.db", 5)) as again:
            assert again.ledger.spent == (0 if moment == "before" else 2)

    def test_an_interrupt_after_the_commit_and_before_the_write(self, tmp_path, monkeypatch):
        """The next access returns to the content of the file."""
        store = Store(tmp_path / "me.db", 5)

        def interrupted():
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(store, "_save", interrupted)
            with pytest.raises(KeyboardInterrupt):
                self.draw(store)
        assert store.ledger.spent == 0
        self.draw(store)
        assert store.ledger.spent == 2
        store.close()


def test_what_is_no_store_is_refused(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear diary," * 99)
    with pytest.raises(DataError, match="not a store of this version"):
        Store(path, 5)
    assert path.read_bytes().startswith(b"Dear diary,")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE films (title)")
    other.close()
    with pytest.raises(DataError, match="not a store of this version"):
        Store(tmp_path / "other.db", 5)
    with pytest.raises(RequestError, match=r"nowhere/me\.db cannot be read or written"):
        Store(tmp_path / "nowhere" / "me.db", 5)


def test_the_file_alone_is_complete_while_the_store_is_open(tmp_path):
    store = Store(tmp_path / "me.db", 5)
    with store.transaction():
        store.spend(Ledger(5, 4))
    shutil.copy(tmp_path / "me.db", tmp_path / "backup.db")
    with closing(Store(tmp_path / "backup.db", 5)) as copy:
        assert (copy.secret, copy.ledger) == (store.secret, Ledger(5, 4))
    store.close()


def test_a_commit_that_cannot_be_written_is_forgotten(tmp_path, monkeypatch):
    store = Store(tmp_path / "me.db", 5)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", Mock(side_effect=OSError("no space left")))
        with pytest.raises(DataError, match="no space left"), store.transaction():
            store.spend(Ledger(5, 4))
    assert store.ledger.spent == 0
    with store.transaction():
        store.spend(Ledger(5, 3))
    store.close()
    with closing(Store(tmp_path / "me.db", 5)) as again:
        assert again.ledger.spent == 3


@pytest.mark.long
def test_a_commit_is_on_disk_before_it_replaces_the_file(tmp_path):
    """fsync of the new file, then the rename, then fsync of the folder: in that order."""
    program = (
        "import sys; from tacit.device.storage.store import Store\n"
        "from tacit.privacy.ledger import Ledger\n"
        "store = Store(sys.argv[1], 5); print('open', flush=True)\n"
        "with store.transaction(): store.spend(Ledger(5, 4))"
    )
    trace = "trace=openat,fsync,fdatasync,rename,write"
    command = ["strace", "-f", "-y", "-e", trace, sys.executable, "-c", program, tmp_path / "me.db"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    calls = done.stderr.partition('"open')[2].splitlines()
    named = re.compile(rf"\b(fsync|fdatasync|rename)\(.*{re.escape(str(tmp_path))}(\S*)")
    found = [match.groups() for match in map(named.search, calls) if match]
    kinds = [("sync" if "sync" in name else name, place.strip('">)')) for name, place in found]
    assert ("rename", "/me.db") in kinds
    at = kinds.index(("rename", "/me.db"))
    assert ("sync", "/me.db-new") in kinds[:at]
    assert ("sync", "") in kinds[at:]


def write_ahead(path):
    """A store with a write-ahead log, as older versions kept it and left it at a kill: the file,
    which has no tables yet, and its log."""
    with closing(Store(path, 5)) as store, store.transaction():
        store.spend(Ledger(5, 4))
    content = sqlite3.connect(path)
    script = "\n".join(content.iterdump()) + f"PRAGMA user_version = {FORMAT};"
    content.close()
    old = sqlite3.connect(path.with_name("old.db"))
    old.execute("PRAGMA journal_mode = WAL")
    old.executescript(script)
    for ending in ("", "-wal"):
        shutil.copy(f"{path.with_name('old.db')}{ending}", f"{path}{ending}")
    old.close()


def test_a_store_with_a_write_ahead_log_is_opened_with_its_log(tmp_path):
    path = tmp_path / "me.db"
    write_ahead(path)
    with closing(Store(path, 5)) as store:
        assert store.ledger.spent == 4
    assert not Path(f"{path}-wal").exists()


def test_a_store_without_its_log_is_refused_and_stays_as_it_is(tmp_path):
    """It would be a new person, who has spent nothing."""
    path = tmp_path / "me.db"
    write_ahead(path)
    Path(f"{path}-wal").unlink()
    held = path.read_bytes()
    for _ in range(2):
        with pytest.raises(
            DataError, match=r"its log .*-wal is missing\. Restore a complete backup"
        ):
            Store(path, 5)
    assert len(path.read_bytes()) == len(held)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="it has 0 bytes"):
        Store(path, 5)


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (ValueError(), ValueError),
        (sqlite3.OperationalError("disk is full"), DataError),
    ],
)
def test_a_transaction_is_all_or_nothing(error, seen):
    store = Store(":memory:", 5)

    def spend_and_fail():
        with store.transaction():
            store.spend(Ledger(5, 4))
            raise error

    with pytest.raises(seen):
        spend_and_fail()
    assert store.ledger.spent == 0
    store.close()


def test_export_shows_everything_but_what_others_could_send_with(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks, token="the-leave-to-send")
    mine.rate(101, 4)
    asks.script = [None]
    mine.sync()
    held = mine.export()
    assert (held["spent"], held["lifetime"]) == ("6", "50")
    (task,) = held["tasks"]
    assert task["ratings"] == [(101, "4")]
    assert [(item, value) for item, value, *_ in task["answers"]] == [
        (item, "4" if item == 101 else None) for item in range(100, 106)
    ]
    assert task["reports"] == [{"epoch": 0, "waiting": True}]
    assert task["reported"] == [
        (item, "4" if item == 101 else None, "1") for item in range(100, 106)
    ]
    assert task["task"] == asks.tasks[0].address
    (report,) = asks.reports
    for name in (mine._store.secret.hex(), "the-leave-to-send", report["id"], report["person"]):
        assert name not in json.dumps(held)


def test_erased_is_erased_but_what_was_spent(collector, device, clock, tmp_path):
    asks = collector(items=["a secret book", "b"])
    path = tmp_path / "me.db"
    mine = device(asks, path)
    mine.rate("a secret book", 4)
    mine.sync()
    secret = mine._store.secret
    mine.erase()
    everything = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret not in everything
    assert b"a secret book" not in everything
    assert mine.export() == {"spent": "1", "lifetime": "50", "tasks": []}
    mine.sync()
    mine.rate("b", 1)
    mine.sync()
    mine.close()
    again = device(asks, path)
    assert again.ledger.spent == 2 * 10**9
    assert again.ratings == {"b": "1"}
    assert len({report["person"] for report in asks.reports}) == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda me, task: me.rate(task.items[0], 3),
        lambda me, task: me.sync(),
        lambda me, task: me.ratings,
        lambda me, task: me.recommend(3),
        lambda me, task: me.export(),
        lambda me, task: me.erase(),
        lambda me, task: me.ledger,
    ],
)
def test_a_closed_device_is_named(collector, device, use):
    me = device(collector(items=["a", "b"]))
    me.sync()
    task = me.task
    me.close()
    with pytest.raises(RequestError, match="The device is closed; open its store again"):
        use(me, task)
    me.close()
