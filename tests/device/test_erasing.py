"""Erased at home, and asked to be erased where it went, until the collector says that it is."""

import json
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

import pytest
from fake_collector import FakeCollector

from tacit.device.erasing import erase
from tacit.device.storage.store import Store
from tacit.device.transport import Answer
from tacit.errors import CertificateError, DataError, RequestError

FILMS, BOOKS = "https://films.example", "https://books.example"


@pytest.fixture
def told(ask, device, tmp_path):
    """A device that has told one rating to a task of its provider, and the collector."""

    def made(path=tmp_path / "me.db", **changes):
        asks = FakeCollector([ask("rated", provider=FILMS)])
        mine = device(asks, path, **changes)
        mine.rate(100, 4)
        mine.sync()
        return asks, mine

    return made


def names(asks):
    """The names that a collector would erase for what it was asked."""
    keys = [json.loads(body) for _, body in asks.erased]
    assert all(set(each) == {"key"} and len(each["key"]) == 64 for each in keys)
    return [sha256(bytes.fromhex(each["key"])).hexdigest()[:32] for each in keys]


def reported(asks):
    return sorted({report["person"] for report in asks.reports})


def test_the_key_of_every_name_that_was_reported_under_is_sent(told, ask, clock):
    asks, mine = told()
    asks.tasks.insert(0, ask("sample:3", provider=FILMS))
    clock.epoch(1)
    mine.sync()
    asks.tasks.insert(0, ask("rated", name="never answered", provider=FILMS))
    mine.sync()
    assert mine.erase().erasing == 0
    assert sorted(names(asks)) == reported(asks)
    assert len(asks.erased) == 2
    assert {task for task, _ in asks.erased} == {task.address for task in asks.tasks[1:]}
    assert mine.export() == {"spent": "4", "lifetime": "50", "tasks": []}
    assert mine.sync().erasing == 0
    assert len(asks.erased) == 2


def test_an_upload_that_nobody_acknowledged_may_have_come_and_is_erased_too(told, clock):
    asks, mine = told()
    mine.erase()
    mine.sync()
    mine.rate(100, 4)
    asks.script, asks.stores = [None], True
    mine.sync()
    clock.now = mine.sync().again
    mine.erase()
    assert sorted(names(asks)) == reported(asks)
    assert len(reported(asks)) == 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize("failure", [None, *map(Answer, (400, 401, 404, 413, 429, 500, 503, 301))])
def test_what_is_not_acknowledged_is_asked_again_also_by_a_later_device(
    told, device, clock, failure, tmp_path
):
    asks, mine = told()
    (name,) = reported(asks)
    asks.script = [failure]
    assert mine.erase().erasing == 1
    mine.close()
    later = device(asks, tmp_path / "me.db")
    clock.now += 7200
    asks.script = [failure]
    with suppress(RequestError):  # with nothing fetched yet there is no task to sync
        assert later.sync().erasing == 1
    assert asks.erased == []
    clock.now += 7200
    assert later.sync().erasing == 0
    assert names(asks) == [name]


def test_a_note_says_why_it_is_kept(told):
    asks, mine = told()
    asks.script = [Answer(401)] * 2
    mine.erase()
    assert "An erasure is still pending: the collector requires another token (status 401)." in (
        mine.sync().notes
    )


def test_it_waits_as_long_as_the_collector_asked_for(told, clock):
    """Erasing is no way around a pause, for itself or for what comes after it."""
    asks, mine = told()
    mine.rate(101, 4)
    asks.script = [Answer(503, retry_after=1000)]
    again = mine.sync().again
    calls = len(asks.asked)
    assert mine.erase().erasing == 1
    assert mine._provider.again(clock.now) == again
    assert len(asks.asked) == calls
    clock.now = again
    assert mine.sync().erasing == 0


def test_a_forged_task_does_not_keep_an_erasure_from_being_sent(told, ask):
    asks, mine = told()
    asks.script = [Answer(401)]
    mine.erase()
    asks.tasks.insert(0, ask(name="Books"))
    asks.forge = lambda document: document + b" "
    with pytest.raises(CertificateError):
        mine.sync()
    assert len(asks.erased) == 1


def test_names_of_the_old_format_have_no_key(ask, device, clock):
    before = ask("rated")
    asks = FakeCollector([before])
    mine = device(asks)
    mine.rate(100, 4)
    mine.sync()
    asks.tasks = [replace(before, provider=FILMS)]
    mine.rate(101, 4)
    mine.sync()
    assert len(reported(asks)) == 1
    assert mine.erase().erasing == 0
    assert asks.erased == []


def test_each_provider_is_asked_for_its_own(told, ask, device, clock, tmp_path):
    films, mine = told()
    mine.close()
    books = FakeCollector([ask("rated", provider=BOOKS)])
    mine = device(books, tmp_path / "me.db", url=BOOKS)
    mine.rate(100, 4)
    mine.sync()
    assert mine.erase().erasing == 0
    assert (names(books), films.erased) == (reported(books), [])
    mine.close()
    assert device(films, tmp_path / "me.db").sync().erasing == 0
    assert names(films) == reported(films)


def test_after_it_the_person_is_somebody_else(told, clock):
    asks, mine = told()
    mine.erase()
    mine.sync()
    mine.rate(100, 4)
    mine.sync()
    assert mine.ledger.spent == 2 * 10**9
    assert len(reported(asks)) == 2
    assert names(asks)[0] in reported(asks)


def test_a_second_erasing_keeps_what_the_first_one_has_to_ask(told, clock):
    asks, mine = told()
    asks.script = [Answer(401)] * 2
    assert mine.erase().erasing == 1
    mine.sync()  # begins again, under another secret
    mine.rate(100, 4)
    asks.script = [Answer(401), Answer(200), *[Answer(401)] * 2]
    mine.sync()
    assert mine.erase().erasing == 2
    assert mine.sync().erasing == 0
    assert sorted(names(asks)) == reported(asks)
    assert len(reported(asks)) == 2


def test_the_export_has_no_key(told):
    asks, mine = told()
    asks.script = [Answer(401)]
    mine.erase()
    (key,) = [key for (key,) in mine._store.db.execute("SELECT key FROM erasure")]
    assert key.hex() not in json.dumps(mine.export())
    assert key.hex() not in repr(mine.sync())


@pytest.mark.parametrize("statement", ["INSERT INTO erasure", "DELETE FROM", "UPDATE"])
def test_keys_are_kept_before_the_secret_is_gone_or_neither(told, tmp_path, statement):
    """A crash in the middle leaves the store as it was."""
    told()[1].close()
    store = Store(tmp_path / "me.db", 1)
    secret, whole = store.secret, store.db

    class Frail:
        in_transaction = property(lambda self: whole.in_transaction)

        def execute(self, sql, *given):
            if sql.startswith(statement):
                raise OSError("the power is out")
            return whole.execute(sql, *given)

    store._db = Frail()
    with pytest.raises(OSError, match="the power is out"):
        erase(store)
    store._db = whole
    counts = "SELECT (SELECT count(*) FROM erasure), (SELECT count(*) FROM report)"
    assert (store.secret, whole.execute(counts).fetchone()) == (secret, (0, 1))
    erase(store)
    assert store.secret != secret
    assert whole.execute(counts).fetchone() == (1, 0)
    store.close()


def test_a_disk_that_is_full_is_said(told):
    _, mine = told()
    mine._store.db.execute("PRAGMA query_only = ON")
    with pytest.raises(DataError, match="cannot be read or written"):
        mine.erase()
    mine._store.db.execute("PRAGMA query_only = OFF")
    assert mine.ratings == {100: "4"}
