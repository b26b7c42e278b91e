"""A PostgreSQL store that an earlier version wrote is opened and read like the SQLite store.

The dump holds the rows of `sample.collector.db`, written by the version of its folder:
`pg_dump --inserts --no-owner --no-privileges`, without comments and settings of the session.
"""

import shutil
from contextlib import closing

import pytest
from changed_files import FILES

from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.stored_reports import reports

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.postgres


def stored(address: str) -> tuple[object, ...]:
    """The reports of a store, and its guarantee."""
    with closing(open_reader(address)) as reader:
        found = reports(reader)
    rows = zip(found.users.tolist(), found.items.tolist(), found.symbols.tolist(), strict=True)
    return found.user_ids.ids.to_list(), sorted(rows), found.guarantee.sentence


def test_a_dump_of_an_earlier_version_is_restored_and_read(postgres, tmp_path):
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute((FILES / "sample.postgres.sql").read_text())
    expected = stored(shutil.copy(FILES / "sample.collector.db", tmp_path))
    assert stored(url) == expected
    with closing(open_store(url)):
        pass  # a collector opens it, which upgrades the tables where they changed
    assert stored(url) == expected
