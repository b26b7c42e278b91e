"""Ranges of a store are read by several connections, and give what one of them would."""

import threading
from contextlib import closing
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from tacit.collector.storage import sqlite_reader, stored_reports
from tacit.collector.storage import store as ranges
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.slot_codec import STORED, pack_rated, table_of
from tacit.collector.storage.store import StoredReport
from tacit.errors import RequestError

CONNECTIONS = (1, 2, 7)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request, tmp_path):
    """The address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    return request.getfixturevalue("postgres").database()


@pytest.fixture
def store(url):
    with closing(open_store(url)) as opened:
        yield opened


@pytest.fixture(params=["a row", "whole ranges"])
def small(request, monkeypatch):
    """A range is small, and a read of it smaller; or as large as they are."""
    if request.param == "a row":
        monkeypatch.setattr(sqlite_reader, "ROWS_AT_ONCE", 1)
        if postgres_reader := _postgres_reader():
            monkeypatch.setattr(postgres_reader, "PAGES_AT_ONCE", 1)


def _postgres_reader():
    try:
        from tacit.collector.storage import postgres_reader
    except ImportError:
        return None
    return postgres_reader


def made(number, rows=900):
    """Reports to two tasks in three epochs, some of one person and place in the same one."""
    rng = np.random.default_rng(1)
    return [
        StoredReport(
            rng.bytes(16), number - k % 5 // 4, 20 + k % 3, k % 2,
            bytes([k % 7]) * 16, pack_rated(k % 6, k % 4),
        )
        for k in range(rows)
    ]  # fmt: skip


def filled(store, task):
    """A store with such reports, and somebody who asked to be erased; the task's number."""
    store.hold(replace(task, name="Books").document)
    number = store.hold(task.document).number
    store.insert(made(number))
    store.erase(number, bytes([3]) * 16, 20)
    return number


def read(reader, number):
    return np.frombuffer(b"".join(reader.tables(number)), STORED)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("connections", CONNECTIONS)
def test_tables_hold_what_a_scan_finds(store, url, ask, small, connections):
    """Other tasks' reports and erased people left out; to the order of rows, by any number."""
    number = filled(store, ask())
    mine = [r for r in made(number) if r.task == number and r.person != bytes([3]) * 16]
    with closing(open_reader(url)) as alone, closing(open_reader(url, connections)) as reader:
        scanned = table_of([row for some in reader.scan(number) for row in some])
        found = read(reader, number)
        assert np.array_equal(found, read(alone, number))
    assert np.array_equal(np.sort(found), np.sort(table_of(mine)))
    assert np.array_equal(np.sort(found), np.sort(scanned))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("connections", CONNECTIONS)
def test_reports_are_the_same_by_any_number_of_connections(store, url, ask, small, connections):
    filled(store, ask(epsilons=("1", "2")))
    with closing(open_reader(url)) as alone, closing(open_reader(url, connections)) as reader:
        found, one = stored_reports.reports(reader), stored_reports.reports(alone)
    for column in ("users", "items", "symbols", "channel_of"):
        assert np.array_equal(getattr(found, column), getattr(one, column))
    assert found.user_ids.ids.equals(one.user_ids.ids)
    assert found.guarantee == one.guarantee


def test_reports_of_an_unknown_task_are_refused(store, url, ask):
    """Nothing would read them: they were left out in silence."""
    number = filled(store, ask(epsilons=("1", "2")))
    store.insert([_new(number + 7, 1)])
    with (
        closing(open_reader(url)) as reader,
        pytest.raises(RequestError, match="1 stored reports belong to an unknown task"),
    ):
        stored_reports.reports(reader)


def test_nothing_is_read_from_a_store_without_reports(store, url, ask):
    number = store.hold(ask().document).number
    with closing(open_reader(url, 2)) as reader:
        assert len(read(reader, number)) == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("connections", CONNECTIONS)
def test_uploads_between_ranges_are_of_a_later_state(store, url, ask, small, connections):
    number = filled(store, ask())
    with closing(open_reader(url, connections)) as reader:
        before, tables = read(reader, number), reader.tables(number)
        found = [next(tables)]
        for each in tables:
            found.append(each)
            if len(found) < 9:
                store.insert([_new(number, len(found))])
    assert np.array_equal(np.frombuffer(b"".join(found), STORED), before)


def _new(number, k):
    """A report that nobody has sent before, of an id anywhere."""
    return StoredReport(
        bytes([k * 28]) + bytes([k]) * 15, number, 22, 0, b"p" * 16, pack_rated(1, 1)
    )


@pytest.fixture
def busy(postgres, ask, monkeypatch):
    """A store's address and task; an upload comes before each of the next connections."""
    psycopg, url = pytest.importorskip("psycopg"), postgres.database()
    with closing(open_store(url)) as store:
        number, fresh, connect = filled(store, ask()), count(1), psycopg.connect

        def and_before(*arguments, **settings):
            store.insert([_new(number, next(fresh))])
            return connect(*arguments, **settings)

        monkeypatch.setattr(psycopg, "connect", and_before)
        yield url, number


def seen(reader):
    """How many reports each connection sees."""
    with reader.together() as connections:
        return [each.execute("SELECT count(*) FROM reports").fetchone()[0] for each in connections]


@pytest.mark.postgres
@pytest.mark.parametrize("connections", CONNECTIONS)
def test_all_connections_see_one_state_whatever_is_uploaded_meanwhile(busy, connections):
    """That of the first, which comes after two uploads: its own, and that of the reader's."""
    with closing(open_reader(busy[0], connections)) as reader:
        assert seen(reader) == [902] * connections


@pytest.mark.postgres
def test_without_a_shared_snapshot_they_would_see_several(busy, monkeypatch):
    """The fault that the test above is there for: each connection begins on its own."""
    monkeypatch.setattr(
        _postgres_reader(), "JOIN", pytest.importorskip("psycopg.sql").SQL("SELECT {}")
    )
    with closing(open_reader(busy[0], 3)) as reader:
        assert seen(reader) == [902, 903, 904]


@pytest.mark.postgres
def test_a_server_that_lets_nobody_more_in_is_read_by_those_that_are(postgres, ask, monkeypatch):
    psycopg, url, allowed = pytest.importorskip("psycopg"), postgres.database(), count(1)
    with closing(open_store(url)) as store, closing(open_reader(url, 7)) as reader:
        number, connect = filled(store, ask()), psycopg.connect

        def limited(*arguments, **settings):
            if next(allowed) > 2:
                raise psycopg.OperationalError("too many clients already")
            return connect(*arguments, **settings)

        monkeypatch.setattr(psycopg, "connect", limited)
        assert seen(reader) == [900, 900]
        monkeypatch.undo()
        assert len(read(reader, number)) > 600


@pytest.mark.parametrize("connections", CONNECTIONS)
def test_ranges_come_in_their_order_and_a_connection_serves_one_at_a_time(connections):
    """Later ranges are done first where they can be, and no more are begun than there is room."""
    serving, begun, given = dict.fromkeys(range(connections), 0), [], []
    later = [threading.Event() for _ in range(20)]

    def answer(connection, each):
        serving[connection] += 1
        begun.append(each)
        assert serving[connection] == 1
        assert len(begun) - len(given) <= connections
        if connections > 1 and each % connections == 0 and each + 1 < len(later):
            later[each + 1].wait(60)
        later[each].set()
        serving[connection] -= 1
        return bytes([each])

    for each in ranges.in_order(answer, range(connections), range(20)):
        given.append(each)
    assert given == [bytes([each]) for each in range(20)]


def test_a_range_that_fails_says_why_at_its_place():
    def answer(_, each):
        if each > 2:
            raise ValueError(each)
        return bytes([each])

    found = ranges.in_order(answer, range(2), range(9))
    assert [next(found) for _ in range(3)] == [b"\0", b"\1", b"\2"]
    with pytest.raises(ValueError, match="3"):
        next(found)
