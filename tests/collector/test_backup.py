"""Backups under load are complete, and restores replay tombstones, on both databases."""

import os
import random
import signal
import subprocess
import time
from contextlib import closing

import pytest
from processes import CLI
from retrying import Clients, promised, stored

from tacit.collector.administration.backup import back_up, restore
from tacit.collector.administration.deletion import delete_people
from tacit.collector.administration.tombstones import read, record
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.slot_codec import pack_rated
from tacit.collector.storage.store import StoredReport
from tacit.errors import RequestError

DAY = 86_400
ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture
def urls(request, tmp_path):
    """Makes addresses of empty stores of an engine."""

    def made(engine, name):
        if engine == "sqlite":
            return str(tmp_path / f"{name}.db")
        return request.getfixturevalue("postgres").database()

    return made


def row(number, epoch=20, person=None, task=1):
    cells = pack_rated(number % 6, number % 5)
    return StoredReport(os.urandom(16), task, epoch, 0, person or os.urandom(16), cells)


def current(ask, **changes):
    return ask(start=int(time.time()) - 20 * DAY - 100, **changes)


def contents(url, number=1):
    with closing(open_reader(url)) as reader:
        return sorted(each for rows in reader.scan(number) for each in rows)


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("source", ENGINES)
def test_a_restored_store_is_the_same(ask, urls, tmp_path, source, target):
    """Reports, tasks and their continuation, closed epochs, erasures and the clock."""
    task = current(ask)
    successor = current(ask, provider="https://films.example", name="Films")
    one, two = urls(source, "one"), urls(target, "two")
    with closing(open_store(one)) as store:
        number = store.hold(task.document).number
        assert store.hold(successor.document, [task.document]).number == number
        other = store.hold(current(ask, name="Books").document).number
        store.insert([row(k) for k in range(5000)] + [row(1, task=other)])
        store.shut(number, 3)
        store.erase(number, b"m" * 16, 20)
        store.set_clock(int(time.time()) - 5)
    with closing(open_reader(one)) as reader:
        assert back_up(reader, tmp_path / "backup.db").reports == 5001
    assert (tmp_path / "backup.db").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob("part-*")] == []
    for _ in range(2):  # a second time it adds nothing
        with closing(open_reader(str(tmp_path / "backup.db"))) as reader, \
                closing(open_store(two)) as store:  # fmt: skip
            restore(reader, store, [])
    with closing(open_reader(one)) as before, closing(open_reader(two)) as after:
        assert before.tasks() == after.tasks()
        assert before.tombstones() == after.tombstones()
        assert abs(before.clock() - after.clock()) < 60
    for each in (number, other):
        assert contents(one, each) == contents(two, each)


def test_other_tasks_are_not_mixed(ask, urls, tmp_path):
    one, two = urls("sqlite", "one"), urls("sqlite", "two")
    for url, name in ((one, "A"), (two, "B")):
        with closing(open_store(url)) as store:
            store.hold(current(ask, name=name).document)
    with (
        closing(open_reader(one)) as reader,
        closing(open_store(two)) as store,
        pytest.raises(RequestError, match="tasks that the backup lacks"),
    ):
        restore(reader, store, [])


def test_an_old_backup_restores_with_its_clock(ask, urls):
    """The collector then asks for --confirm-clock, as after a long downtime."""
    task, one, two = current(ask), urls("sqlite", "one"), urls("sqlite", "two")
    long_ago = int(time.time()) - 30 * DAY
    with closing(open_store(one)) as store:
        number = store.hold(task.document).number
        store.insert([row(1)])
        store.erase(number, b"m" * 16, 1)
        store.set_clock(long_ago)
    with closing(open_reader(one)) as reader, closing(open_store(two)) as store:
        assert restore(reader, store, []).reports == 1
        assert store.clock() == long_ago


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("age", [0, 15], ids=["recent", "settled"])
def test_what_was_erased_after_a_backup_does_not_return(ask, urls, run, tmp_path, engine, age):
    """Also if the store itself has forgotten the erasure; later reports of the person return."""
    task, me = current(ask), b"m" * 16
    one, two = urls(engine, "one"), urls(engine, "two")
    backup, file = tmp_path / "backup.db", tmp_path / "tombstones.json"
    with closing(open_store(one)) as store:
        number = store.hold(task.document).number
        rows = [row(k, 20 - age, who) for k in range(3) for who in (me, b"o" * 16)]
        store.insert(rows)
        if age:
            store.erase(number, me, 20 - age)
        else:
            assert delete_people(store, [me]) == 3
    with closing(open_reader(one)) as reader:
        assert record(file, reader, time.time()) == 1
    with closing(open_store(str(backup))) as store:  # a backup from before the erasure
        store.hold(task.document)
        later = [row(9, 20, me)] if age else []
        store.insert([*rows, *later])
    where = ("admin", "restore", backup, "--db", two)
    assert "--tombstones is required" in run(*where)[2]
    status, _, err = run(*where, "--tombstones", file)
    assert (status, "3 reports were erased and left out" in err) == (0, True)
    assert {each.person for each in contents(two)} == {b"o" * 16} | {each.person for each in later}
    with closing(open_reader(two)) as reader:
        learnt = stored_reports.reports(reader, task.address)
        assert len(learnt.user_ids.ids) == 1 + len(later)


def test_the_tombstone_file_forgets_what_expired(ask, urls, tmp_path):
    task, file = current(ask, retention_days=10), tmp_path / "tombstones.json"
    with closing(open_store(urls("sqlite", "one"))) as store:
        number = store.hold(task.document).number
        store.erase(number, b"m" * 16, 20)
        with closing(open_reader(urls("sqlite", "one"))) as reader:
            now = task.start + 20 * DAY + 100
            assert record(file, reader, now) == 1
            store.settle(number, 20)
            assert record(file, reader, now + 5 * DAY) == 1
            assert read(file) == {(task.question, b"m" * 16): 20}
            assert record(file, reader, now + 14 * DAY) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    for text in ("", "{}", '{"format":"tacit-tombstones-1","erased":[{"question":"a"}]}'):
        file.write_text(text)
        with pytest.raises(RequestError, match="is not a tombstone file"):
            read(file)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_a_backup_under_load_has_what_was_acknowledged_before(ask, started, urls, tmp_path, engine):
    task = ask(start=int(time.time()) - 1000)
    collector = started(task, db=urls(engine, "reports"))
    clients = Clients(task, collector.port, count=8, each=5)
    end = time.monotonic() + 30
    while len(clients.acked) < 1000 and time.monotonic() < end:
        time.sleep(0.02)
    before = promised(dict(clients.acked))
    backup, new = tmp_path / "backup.db", tmp_path / "new.db"
    subprocess.run([*CLI, "admin", "backup", "--db", collector.db, "-o", str(backup)], check=True)
    clients.finish()
    assert len(clients.acked) > len(before)  # uploads continued
    subprocess.run(
        [*CLI, "admin", "restore", str(backup), "--db", str(new), "--without-tombstones"],
        check=True,
    )
    found = stored(str(new))
    assert {id: found.get(id) for id in before} == before


@pytest.mark.long
def test_a_killed_backup_or_restore_is_repeated(ask, urls, tmp_path):
    """A killed backup leaves the earlier file; a killed restore loses and repeats nothing."""
    task, one = current(ask), urls("sqlite", "one")
    with closing(open_store(one)) as store:
        store.hold(task.document)
        store.insert([row(k) for k in range(40_000)])
    backup, new = tmp_path / "backup.db", tmp_path / "new.db"
    with closing(open_reader(one)) as reader:
        back_up(reader, backup)
    first, chance = contents(str(backup)), random.Random(20)
    for _ in range(20):
        for command in (
            ["backup", "--db", one, "-o", str(backup)],
            ["restore", str(backup), "--db", str(new), "--without-tombstones"],
        ):
            with subprocess.Popen(
                [*CLI, "admin", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as running:
                time.sleep(chance.uniform(0.5, 1.5))
                running.send_signal(signal.SIGKILL)
    assert contents(str(backup)) == first
    with closing(open_reader(str(backup))) as reader, closing(open_store(str(new))) as store:
        restore(reader, store, [])
    assert contents(str(new)) == first
