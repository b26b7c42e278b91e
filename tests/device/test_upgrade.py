"""A store of the format before tacit-task-2 goes on where it was: `stores` has some, as they were.

Each script makes the file that a device had left: three ratings told and acknowledged, then one of
them changed and two new ones, answered while the collector was away, and not all of them within the
limit. The JSON beside it is what the collector had by then, and what was still to be sent.
"""

import gc
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from fake_collector import FakeCollector

from tacit.device.storage.store import FORMAT, Store
from tacit.device.storage.upgrade import BEFORE_BLOCKS, BEFORE_TOKENS
from tacit.errors import DataError
from tacit.wire.tasks.loading import loads

STORES = Path(__file__).with_name("stores")
PROVIDER = "https://films.example"
LIMITS = {"rated": "5", "catalogue": "7.5", "sample": "4.5"}
SPENT = {"rated": 5, "catalogue": 7, "sample": 4}
AWAY_UNTIL = 87_430
ROWS = ("rating", "answer", "last", "report", "person")


class Left:
    """A store that an older device left, and the collector it talked to."""

    def __init__(self, folder, plan):
        self.path, self.limit, self.spent = folder / "me.db", LIMITS[plan], SPENT[plan] * 10**9
        db = sqlite3.connect(self.path)
        db.executescript((STORES / f"{plan}.sql").read_text(encoding="utf-8"))
        (document,) = db.execute("SELECT document FROM task").fetchone()
        db.close()
        self.task = loads(document)
        held = json.loads((STORES / f"{plan}.json").read_text(encoding="utf-8"))
        self.acknowledged, self.waiting = held["acknowledged"], held["waiting"]

    def collector(self, *tasks):
        payloads = {json.loads(text)["id"]: [text] for text in self.acknowledged}
        return FakeCollector([*tasks], payloads)

    @property
    def successor(self):
        return replace(self.task, provider=PROVIDER)

    def rows(self):
        """All that must stay as it is, read beside the device."""
        db = sqlite3.connect(self.path)
        found = [db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4") for table in ROWS[1:]]
        rows = [db.execute("SELECT * FROM rating ORDER BY 1, 2").fetchall()]
        rows += [each.fetchall() for each in found]
        rows.append(db.execute("SELECT failures, not_before FROM provider").fetchall())
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.close()
        return version, rows


@pytest.fixture(params=list(LIMITS))
def left(request, tmp_path):
    return Left(tmp_path, request.param)


def no_word():
    raise AssertionError("an answer is drawn a second time")


@pytest.fixture
def reopen(device, left, clock):
    """Opens the store by today's device, a moment before the collector may be called again."""

    def opened(asks, words=no_word, lifetime=left.limit):
        clock.now = max(clock.now, AWAY_UNTIL - 1)
        return device(asks, left.path, most_epsilon="1", lifetime=lifetime, words=words)

    return opened


def test_not_a_row_is_lost_and_not_a_nano_epsilon(left, reopen):
    version, before = left.rows()
    assert version != FORMAT
    with reopen(left.collector(left.task)) as mine:
        assert mine.ledger.spent == left.spent
    assert left.rows() == (FORMAT, before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("asked", [["task"], ["successor"], ["successor", "task"]])
def test_what_waited_is_sent_to_the_byte_and_nothing_is_drawn_again(left, reopen, clock, asked):
    asks = left.collector(*(getattr(left, name) for name in asked))
    mine = reopen(asks)
    assert (mine.sync().stored, asks.uploads) == (0, [])  # what the collector asked for still holds
    clock.now = AWAY_UNTIL
    assert mine.sync().stored == len(left.waiting)
    sent = [text for texts in asks.payloads.values() for text in texts]
    assert sorted(sent) == sorted(left.acknowledged + left.waiting)
    assert mine.ledger.spent == left.spent
    assert asks.conflicts() == []


def test_another_rating_is_told_under_the_same_name_and_costs_itself_alone(left, reopen, clock):
    asks = left.collector(left.successor)
    drawn = []
    mine = reopen(asks, words=lambda: drawn.append(0) or 0, lifetime="100")
    clock.now = AWAY_UNTIL + 2 * 86_400
    mine.sync()
    first = len(drawn)
    assert mine.ledger.spent == left.spent + first * 10**9
    clock.now += 86_400
    mine.rate("7", 4)  # answered in epoch 0
    mine.sync()
    assert len(drawn) == first
    names = {json.loads(text[0])["person"] for text in asks.payloads.values()}
    assert names == {json.loads(left.acknowledged[0])["person"]}
    assert asks.conflicts() == []


def interrupted(monkeypatch, statements):
    """Lets so many statements pass on the connections that stores make, and no more."""
    made = sqlite3.connect

    class Frail(sqlite3.Connection):
        passed = 0

        def execute(self, *given):
            if self.passed == statements and given != ("ROLLBACK",):
                raise sqlite3.OperationalError("disk I/O error")
            self.passed += 1
            return super().execute(*given)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: made(*a, **k, factory=Frail))


def opens(path, statements, monkeypatch):
    """Whether a store is open after so many statements."""
    with monkeypatch.context() as patch:
        interrupted(patch, statements)
        try:
            Store(path, 1).close()
        except DataError:
            return False
    return True


@pytest.fixture
def few_objects():
    """Looking for cycles goes through what a test makes alone, which is quick."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("few_objects")
def test_an_upgrade_that_breaks_off_leaves_the_store_as_it_was_or_upgraded(
    left, reopen, monkeypatch
):
    before, broken = left.rows(), 0
    while not opens(left.path, broken, monkeypatch):
        broken += 1
        gc.collect()  # the frames of what was raised hold the connection, and it its lock
        rows = left.rows()
        assert rows == before or rows[0] == FORMAT  # committed, and its log not moved yet
    assert broken > 15
    assert left.rows()[0] == FORMAT
    with reopen(left.collector(left.task)) as mine:
        assert mine.ledger.spent == left.spent


def test_places_that_were_spelled_in_two_ways_become_one(left, reopen, clock):
    db = sqlite3.connect(left.path)
    db.execute("UPDATE provider SET url = 'HTTPS://Films.Example:443', not_before = 9e9")
    db.execute("INSERT INTO provider (url, failures) VALUES ('https://films.example', 7)")
    db.execute("UPDATE task SET provider = 'HTTPS://Films.Example:443'")
    db.commit()
    db.close()
    clock.now = 9e9 - 1
    with reopen(left.collector(left.task)) as mine:
        assert mine.sync().again == 9e9
        assert mine._store.db.execute("SELECT url, failures FROM provider").fetchall() == [
            ("https://films.example", 7)
        ]


def test_a_store_of_tomorrow_is_refused(left, tmp_path):
    shutil.copy(left.path, tmp_path / "other.db")
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    with pytest.raises(DataError, match=r"not a store of this version \(another format\)"):
        Store(tmp_path / "other.db", 1)


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_store_from_before_blocks_is_upgraded(collector, device, clock, tmp_path, plan):
    asks, path = collector(plan), tmp_path / "me.db"
    with device(asks, path) as mine:
        mine.rate(101, 4)
        mine.sync()
        before, spent = mine.export(), mine.ledger.spent
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"DROP TABLE block; DROP TABLE chain; DROP TABLE shuffled; DROP TABLE token; "
            f"DROP TABLE register; PRAGMA user_version = {BEFORE_BLOCKS}"
        )
    clock.epoch(1)
    with device(asks, path, words=no_word) as mine:
        assert (mine.export(), mine.ledger.spent) == (before, spent)
        mine.sync()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert db.execute("SELECT * FROM chain UNION SELECT task, row FROM block").fetchall() == []


def test_a_store_from_before_tokens_is_upgraded(tmp_path):
    """A pending bundle of that time is sent as it is."""
    path, row = tmp_path / "me.db", ("a" * 64, b"task", None, b"bundle")
    with closing(Store(path, 1)) as store, store.transaction():
        store.db.execute("INSERT INTO shuffled VALUES (?, ?, ?, ?)", row)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"DROP TABLE token; PRAGMA user_version = {BEFORE_TOKENS}")
    with closing(Store(path, 1)) as store:
        assert store.db.execute("SELECT * FROM shuffled").fetchall() == [row]
        assert store.db.execute("SELECT * FROM token").fetchall() == []
        assert store.db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
