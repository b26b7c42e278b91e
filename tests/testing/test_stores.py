"""The claims about a store: SQLite's holds them, and each one notices a fault of its own."""

import subprocess
import sys
from functools import partial

import pytest

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.collector.storage.store import ReportOutcome, StoredReport, outcomes
from tacit.testing import STORE_CLAIMS, StoreOpeners, check_store


class LastWins(SqliteStore):
    """A second report of an id takes the place of the first."""

    def insert(self, rows):
        told = super().insert(rows)
        for row in rows:
            self._database.execute("UPDATE reports SET cells = ? WHERE id = ?", (row.cells, row.id))
        return told


class Forgiving(SqliteStore):
    """Another person's report under a known id is a duplicate."""

    def insert(self, rows):
        before = self._stored([row.id for row in rows])
        super().insert(rows)
        return outcomes([row._replace(person=b"") for row in rows],
                        {id: row._replace(person=b"") for id, row in before.items()})  # fmt: skip


class Narrow(SqliteStore):
    """Of a large batch the end is acknowledged, and not stored."""

    def insert(self, rows):
        told = super().insert(rows[:4096])
        return told + [ReportOutcome.STORED] * (len(rows) - len(told))


class Buffering(SqliteStore):
    """What is stored is on disk when the next batch comes, or at the end."""

    waiting = ()

    def insert(self, rows):
        self.flush()
        self.waiting = rows
        return outcomes(rows, self._stored([row.id for row in rows]))

    def flush(self):
        super().insert(self.waiting) if self.waiting else None
        self.waiting = ()

    def close(self):
        self.flush()
        super().close()


class Reopening(SqliteStore):
    """Epochs that were closed last are the ones that are closed."""

    def shut(self, task, epoch):
        self._database.execute("UPDATE tasks SET closed = ? WHERE number = ?", (epoch, task))


class Apart(SqliteStore):
    """Every task is a question of its own."""

    def hold(self, document, same=()):
        return super().hold(document)


class Sweeping(SqliteStore):
    """What is due of one task is deleted of all."""

    def forget(self, task, epoch, first_byte):
        found = super().forget(task, epoch, first_byte)
        super().forget(3 - task, epoch, first_byte)
        return found


class Remembering(SqliteReader):
    """A reader finds those who asked to be erased, until they are deleted."""

    def scan(self, task):
        found = self._database.execute("SELECT * FROM reports WHERE task = ?", (task,))
        yield [StoredReport(*row) for row in found]


class Trusting(SqliteStore):
    """Any later clock is trusted."""

    def keep_clock(self, now, limit):
        return super().keep_clock(now, 1 << 50)


class Dating(SqliteStore):
    """A task's newest epoch is its oldest."""

    def newest(self):
        oldest = "SELECT document, min(epoch) FROM tasks JOIN reports ON task = number GROUP BY 1"
        return self._database.execute(oldest).fetchall()


class Ticking(SqliteStore):
    """A probe moves the clock."""

    def probe(self):
        self._database.execute("UPDATE clock SET seconds = seconds + 1")


FAULTS = {
    "keeps_the_first_report_of_an_id": LastWins,
    "says_what_became_of_each": Forgiving,
    "takes_many_at_once": Narrow,
    "is_durable_before_it_is_closed": Buffering,
    "holds_a_task_once": Reopening,
    "keeps_one_question_together": Apart,
    "deletes_what_is_due": Sweeping,
    "leaves_out_who_asked_to_be_erased": Remembering,
    "keeps_the_trusted_clock": Trusting,
    "names_the_newest_epoch": Dating,
    "accepts_a_probe": Ticking,
}
"""A fault for each claim."""


@pytest.fixture
def empty(tmp_path):
    """Opens a new, empty store of some kind."""
    made = iter(range(99))

    def opened(fault=SqliteStore):
        path = str(tmp_path / f"{next(made)}.db")
        reader = fault if issubclass(fault, SqliteReader) else SqliteReader
        return StoreOpeners(partial(SqliteStore if reader is fault else fault, path),
                            partial(reader, path))  # fmt: skip

    return opened


@pytest.mark.sampled(4)
@pytest.mark.parametrize("claim", STORE_CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_notices_its_fault(claim, empty):
    claim(empty())
    with pytest.raises(AssertionError):
        claim(empty(FAULTS[claim.__name__]))


def test_a_faulty_store_is_found(empty):
    check_store(empty)
    with pytest.raises(AssertionError, match=r"Newest epochs: got .*, expected .*"):
        check_store(lambda: empty(Dating))


WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("pytest", "starlette", "uvicorn", "psycopg", "pyspark"))
import tacit.testing
print(*tacit.testing.STORE_CLAIMS[:1])
"""


@pytest.mark.long
def test_what_the_extras_need_is_not_needed_to_import_them():
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert ran.stdout.startswith("<function keeps_the_first"), ran.stderr
