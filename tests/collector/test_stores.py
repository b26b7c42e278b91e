"""Both stores keep each report once, and say the same about it."""

import threading
from contextlib import closing
from functools import partial

import pytest

from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import ReportOutcome
from tacit.errors import RequestError
from tacit.testing import STORE_CLAIMS, StoreOpeners
from tacit.testing.stores import stored_report


@pytest.mark.sampled(4)
@pytest.mark.parametrize("claim", STORE_CLAIMS, ids=lambda claim: claim.__name__)
def test_the_claims_about_a_store(claim, url):
    claim(StoreOpeners(partial(open_store, url), partial(open_reader, url)))


@pytest.mark.postgres
def test_two_collectors_on_one_database(postgres):
    url = postgres.database()
    found = []

    def insert(store, offset):
        for k in range(0, 2000, 20):
            found.extend(store.insert([stored_report(k + j, bytes([offset])) for j in range(20)]))

    stores = [open_store(url) for _ in range(2)]
    threads = [threading.Thread(target=insert, args=(s, n)) for n, s in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    assert found.count(ReportOutcome.STORED) == found.count(ReportOutcome.CONFLICT) == 2000
    with closing(open_reader(url)) as reader:
        assert sum(map(len, reader.scan(1))) == 2000


def test_what_is_no_store_is_said(tmp_path):
    (tmp_path / "text").write_text("not a database, and longer than an empty file")
    with pytest.raises(RequestError, match="cannot store reports"):
        open_store(str(tmp_path / "text"))
    with pytest.raises(RequestError, match=r"must be a path or postgresql://.*, got mysql"):
        open_store("mysql://localhost")
    with pytest.raises(RequestError, match="cannot be opened"):
        open_store("postgresql://127.0.0.1:1/none")


def test_a_store_of_another_version_is_left_alone(tmp_path):
    path = str(tmp_path / "reports.db")
    with closing(SqliteStore(path)) as store:
        store._database.execute("PRAGMA user_version=7")
    with pytest.raises(RequestError, match="its version is 7"):
        SqliteStore(path)
