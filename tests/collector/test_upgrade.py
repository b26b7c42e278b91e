"""Databases of the first schema are upgraded where they lie and lose nothing; a task that names its
provider goes on with the reports of the one that did not."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import ReportOutcome, StoredReport
from tacit.wire.tasks.loading import loads

FIXTURES = Path(__file__).parent / "fixtures"
PROVIDER = "https://films.example"


def raw():
    """The rows of the fixture, by SQLite alone: the two files hold the same."""
    with closing(sqlite3.connect(FIXTURES / "version-1.db")) as database:
        rows = [StoredReport(*row) for row in database.execute("SELECT * FROM reports")]
        tasks = database.execute("SELECT number, document, closed FROM tasks").fetchall()
    return sorted(rows), [(number, loads(document), closed) for number, document, closed in tasks]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def old(request, tmp_path):
    """The address of a database that a collector of before left."""
    if request.param == "sqlite":
        return str(shutil.copy(FIXTURES / "version-1.db", tmp_path / "reports.db"))
    import psycopg

    url = request.getfixturevalue("postgres").database()
    with psycopg.connect(url) as connection:
        connection.execute((FIXTURES / "version-1.sql").read_text())
    return url


def stored(url):
    with closing(open_reader(url)) as reader:
        return sorted(row for number in (1, 2) for rows in reader.scan(number) for row in rows)


def learnt(url, task):
    with closing(open_reader(url)) as reader:
        found = stored_reports.reports(reader, task.address)
    people, items = found.user_ids.take(found.users), found.item_ids.take(found.items)
    cells = zip(people, items, found.symbols.tolist(), found.channel_of.tolist(), strict=True)
    return sorted(cells)


def test_no_report_is_lost(old):
    rows, tasks = raw()
    assert stored(old) == rows  # as it lies there
    before = [learnt(old, task) for _, task, _ in tasks]
    for _ in range(2):
        with closing(open_store(old)) as store:
            for number, task, closed in tasks:
                held = store.hold(task.document)
                assert (held.number, held.closed) == (number, closed)
        assert stored(old) == rows
    assert [learnt(old, task) for _, task, _ in tasks] == before
    assert len(rows) == 70


def test_a_task_that_names_its_provider_goes_on(old):
    """Under the number of its predecessor: what is repeated is a duplicate, what comes to either is
    learnt from by both, and what was closed stays closed."""
    rows, tasks = raw()
    with closing(open_store(old)) as store:
        for number, task, closed in tasks:
            successor = replace(task, provider=PROVIDER)
            held = store.hold(successor.document, [task.document])
            assert (held.number, held.closed) == (number, closed)
            assert store.hold(successor.document, [task.document]) == held
            stranger = replace(task, name="Books", provider=PROVIDER)
            assert store.hold(stranger.document, [stranger.predecessor.document]).number > 2
            store.shut(held.number, 9)
            assert store.hold(task.document).closed == store.hold(successor.document).closed == 9
        assert set(store.insert(rows)) == {ReportOutcome.DUPLICATE}
        new = rows[0]._replace(id=b"n" * 16, person=b"q" * 16)
        assert store.insert([new, new._replace(id=rows[1].id)]) == [
            ReportOutcome.STORED,
            ReportOutcome.CONFLICT,
        ]
    for _, task, _ in tasks:
        assert learnt(old, task) == learnt(old, replace(task, provider=PROVIDER))
    with closing(open_reader(old)) as reader:
        assert reader.tasks()[0].document == stranger.document
        formats = {loads(held.document).format for held in reader.tasks()}
    assert formats == {"tacit-task-1", "tacit-task-2"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("held", ["none", "task", "successor"])
def test_devices_send_to_either_address(ask, collector, report, send, tmp_path, held):
    """Whichever the store held first, and where it begins with both."""
    task = ask()
    successor = replace(task, provider=PROVIDER)
    if held != "none":
        collector(task if held == "task" else successor).__exit__(None, None, None)
    client = collector(successor, task)
    first = report(task, symbols=(1,))
    assert send(client, task, first).status_code == 200
    assert send(client, successor, first, report(task)).status_code == 200
    assert send(client, successor, replace(first, symbols=(2,))).status_code == 409
    found = [learnt(str(tmp_path / "reports.db"), each) for each in (task, successor)]
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_fit_reads_both(old, run, tmp_path):
    """`tacit fit` before a collector was there, and after, for either task."""
    _, tasks = raw()
    task = tasks[0][1]
    successor = replace(task, provider=PROVIDER)
    given = (
        "fit", "--db", old, "--model", "mf", "--publish", tmp_path / "models", "--least", 1,
        "-o", tmp_path / "model", "--task",
    )  # fmt: skip
    before = run(*given, task.address)
    with closing(open_store(old)) as store:
        store.hold(successor.document, [task.document])
    after = [run(*given, each.address) for each in (task, successor)]
    assert [status for status, _, _ in (before, *after)] == [0, 0, 0]
    assert len({said for _, _, said in (before, *after)}) == 1
    newest = [
        PublishedModels(tmp_path / "models").newest(each.address) for each in (task, successor)
    ]
    assert newest[0] == newest[1] is not None


def test_a_store_is_made_for_its_owner(tmp_path):
    """And the logs beside it, whatever the umask; one that others could read is closed to them."""
    path = tmp_path / "reports.db"
    before = os.umask(0)
    try:
        with closing(SqliteStore(str(path))) as store:
            store.hold(b"task")
            modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("reports.db", "reports.db-wal", "reports.db-shm"), 0o600)
    path.chmod(0o644)
    SqliteStore(str(path)).close()
    assert path.stat().st_mode & 0o777 == 0o640
