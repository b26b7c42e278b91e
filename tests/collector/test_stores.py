"""Both stores keep each report once, and say the same about it."""

import threading
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import ReportOutcome, StoredReport, outcomes
from tacit.errors import RequestError

ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=ENGINES)
def url(request, tmp_path):
    """The address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    return request.getfixturevalue("postgres").database()


def row(number, cells=b"\1\2", **changes):
    plain = StoredReport(number.to_bytes(16, "big"), 1, 5, 0, b"p" * 16, cells)
    return plain._replace(**changes)


def kept(url):
    with closing(open_reader(url)) as reader:
        return {each.id: each for rows in reader.scan(1) for each in rows}


def test_outcomes(url):
    with closing(open_store(url)) as store:
        assert store.insert([row(1), row(2)]) == [ReportOutcome.STORED] * 2
        assert store.insert([row(1), row(3), row(2, b"x"), row(3), row(3, epoch=6)]) == [
            ReportOutcome.DUPLICATE,
            ReportOutcome.STORED,
            ReportOutcome.CONFLICT,
            ReportOutcome.DUPLICATE,
            ReportOutcome.CONFLICT,
        ]
    assert kept(url) == {each.id: each for each in (row(1), row(2), row(3))}


def test_many_rows(url):
    rows = [row(k) for k in range(5001)]
    with closing(open_store(url)) as store:
        assert set(store.insert(rows[:3000])) == {ReportOutcome.STORED}
        found = store.insert(rows)
        assert found == [ReportOutcome.DUPLICATE] * 3000 + [ReportOutcome.STORED] * 2001
    assert len(kept(url)) == 5001


def test_a_task_is_held_once_and_closed_for_ever(url):
    with closing(open_store(url)) as store:
        first = store.hold(b"one")
        other = store.hold(b"two")
        store.shut(first.number, 7)
        store.shut(first.number, 3)
        assert store.hold(b"one") == first._replace(closed=7)
    with closing(open_reader(url)) as reader:
        assert reader.tasks() == [other, first._replace(closed=7)]


def test_forgetting(url):
    rows = [row(k << 120, task=1 + k % 2, epoch=k // 2) for k in range(256)]
    with closing(open_store(url)) as store:
        store.insert(rows)
        assert sum(store.forget(1, 63, byte) for byte in range(256)) == 64
    assert kept(url).keys() == {each.id for each in rows if each.task == 1 and each.epoch > 63}


def test_a_reader_beside_a_writer(url):
    with closing(open_store(url)) as store:
        store.insert([row(k) for k in range(9000)])
        with closing(open_reader(url)) as reader:
            scan = reader.scan(1)
            seen = len(next(scan))
            store.insert([row(k) for k in range(9000, 9100)])
            assert seen + sum(map(len, scan)) >= 9000


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([b"a", b"b"])), max_size=12))
@settings(deadline=None, max_examples=60)
def test_sqlite_is_its_naive_twin(tmp_path_factory, sent):
    """In batches of any cut, the first row of an id stays and the rest are told apart."""
    rows = [row(number, cells) for number, cells in sent]
    with closing(SqliteStore(":memory:")) as store:
        found = [o for k in range(0, len(rows), 3) for o in store.insert(rows[k : k + 3])]
    assert found == outcomes(rows, {})


@pytest.mark.postgres
def test_two_collectors_on_one_database(postgres):
    url = postgres.database()
    found = []

    def insert(store, offset):
        for k in range(0, 2000, 20):
            found.extend(store.insert([row(k + j, bytes([offset])) for j in range(20)]))

    stores = [open_store(url) for _ in range(2)]
    threads = [threading.Thread(target=insert, args=(s, n)) for n, s in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    assert found.count(ReportOutcome.STORED) == found.count(ReportOutcome.CONFLICT) == 2000
    assert len(kept(url)) == 2000


def test_what_is_no_store_is_said(tmp_path):
    (tmp_path / "text").write_text("no database, but long enough to be told from an empty file")
    with pytest.raises(RequestError, match="cannot hold reports"):
        open_store(str(tmp_path / "text"))
    with pytest.raises(RequestError, match="no store for mysql"):
        open_store("mysql://localhost")
    with pytest.raises(RequestError, match="does not open"):
        open_store("postgresql://127.0.0.1:1/none")


def test_a_store_of_another_version_is_left_alone(tmp_path):
    path = str(tmp_path / "reports.db")
    with closing(SqliteStore(path)) as store:
        store._database.execute("PRAGMA user_version=7")
    with pytest.raises(RequestError, match="its version is 7"):
        SqliteStore(path)
