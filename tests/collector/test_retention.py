"""Reports go when their time is over; their epochs never open again, whatever the clock says."""

import asyncio
import sqlite3
import threading

import pytest

from tacit.collector.ingest import retention
from tacit.collector.ingest.clock import TrustedClock
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import Held, StoredReport

DAY = 86_400


def test_what_is_due(ask):
    task = ask(retention_days=30)
    end_of_first = 1_000 + DAY
    assert retention.due(task, end_of_first + 30 * DAY - 1) == -1
    assert retention.due(task, end_of_first + 30 * DAY) == 0
    assert retention.due(task, end_of_first + 31 * DAY) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("skew", [-DAY, 0, DAY])
def test_a_deleted_report_is_not_taken_again(ask, collector, report, send, clock, tmp_path, skew):
    task = ask(window=2, retention_days=2)
    old, young = report(task, epoch=19), report(task, epoch=21)
    client = collector(task)
    assert send(client, task, old, young).status_code == 200
    client.__exit__(None, None, None)
    clock.now += 2 * DAY  # the 22nd epoch: epoch 19 is two days over
    client = collector(task)
    client.get("/readyz")
    asyncio.run(asyncio.sleep(0))
    with sqlite3.connect(tmp_path / "reports.db") as database:
        for _ in range(100_000):  # a busy machine may take many
            epochs = [row[0] for row in database.execute("SELECT epoch FROM reports")]
            if epochs == [21]:
                break
            client.get("/readyz")
    assert epochs == [21]
    clock.now += skew - DAY  # a clock that was wrong, or is now
    assert send(client, task, old).status_code == 422
    assert send(client, task, young).status_code == 200


def test_deletion_touches_only_what_is_due(ask, tmp_path):
    path, task = str(tmp_path / "reports.db"), ask(window=0, retention_days=1)
    rows = [
        StoredReport(bytes([k]) * 16, number, epoch, 0, b"p" * 16, b"c")
        for k, (number, epoch) in enumerate((n, e) for n in (1, 2) for e in range(100))
    ]

    async def run():
        store = SqliteStore(path)
        held = store.hold(task.document)
        writer = Writer(store)
        await writer.put(rows)
        validator = ReportValidator(task, held)
        first = await retention.delete(validator, writer, 1_000 + 52 * DAY)
        again = await retention.delete(validator, writer, 1_000 + 10 * DAY)
        await writer.close()
        return first, again

    assert asyncio.run(run()) == (51, 0)
    with sqlite3.connect(path) as database:
        left = database.execute("SELECT task, epoch FROM reports").fetchall()
        assert set(left) == {(1, e) for e in range(51, 100)} | {(2, e) for e in range(100)}
        assert database.execute("SELECT closed FROM tasks").fetchall() == [(50,)]


def test_a_database_that_does_not_answer_is_asked_again(ask, caplog):
    """What could not be deleted now is deleted the next time, and nothing of it is logged."""
    task, tries = ask(window=0, retention_days=1), []

    class Broken:
        async def run(self, work):
            tries.append(work)
            if len(tries) in (1, 2):
                raise OSError("a sentence with something in it")
            return 1_000 + 9 * DAY

    async def run():
        validator = ReportValidator(task, Held(1, task.document, -1))
        clock = TrustedClock(lambda: 1_000 + 9 * DAY, lambda: 0, 7 * DAY)
        keeping = asyncio.create_task(retention.keep([validator], Broken(), clock, every=0))
        while len(tries) < 400:
            await asyncio.sleep(0)
        keeping.cancel()

    asyncio.run(run())
    assert len(tries) > 256
    assert [record.getMessage() for record in caplog.records] == [
        "The clock could not be saved yet: OSError.",
        "Reports could not be deleted yet: OSError.",
    ]


def test_a_store_that_cannot_hold_the_task_ends_the_start(ask, collector):
    """And leaves no thread behind that would keep the process alive."""

    class Broken(SqliteStore):
        def hold(self, document, same=()):
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        collector(ask(), store=lambda: Broken(":memory:"))
    assert "writer" not in {thread.name for thread in threading.enumerate()}
