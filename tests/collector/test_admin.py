"""`tacit admin`: what a store contains, and deletion and export of one user's reports."""

import json
import os
import sqlite3
import time
from contextlib import closing
from hashlib import sha256

import pytest
from processes import free_port

from tacit.collector.administration.deletion import delete_people, prune, pseudonym
from tacit.collector.administration.stored_rows import export, verify
from tacit.collector.administration.summary import summaries
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.limits.keys import EpochKeys, epoch_of
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.slot_codec import pack_rated, pack_slots
from tacit.collector.storage.store import StoredReport
from tacit.device.client import Client
from tacit.errors import RequestError
from tacit.wire.tasks.task import asked

DAY = 86_400
ME, OTHER = bytes(range(16)), b"o" * 16


def row(number, task=1, epoch=20, person=ME, cells=None):
    return StoredReport(os.urandom(16), task, epoch, 0, person, cells or pack_rated(2, 3))


def people(url):
    with closing(open_reader(url)) as reader:
        return {each.person for rows in reader.scan(1) for each in rows}


def current(ask, *plan, **changes):
    """A task whose 20th epoch is now."""
    return ask(*plan, start=int(time.time()) - 20 * DAY - 100, **changes)


def test_summary_counts_reports_per_day_and_since_the_last_fit(ask, url, tmp_path):
    task = current(ask, retention_days=10)
    published = PublishedModels(tmp_path / "models")
    (tmp_path / "models").mkdir()
    with closing(open_store(url)) as store:
        number = store.hold(task.document).number
        store.insert([row(k, number, epoch) for k, epoch in enumerate((8, 8, 18, 19, 19, 20))])
        store.erase(number, OTHER, 20)
    with closing(open_reader(url)) as reader:
        (before,) = summaries(reader, published)
        newest = tmp_path / "models" / f"{task.address}.newest"
        newest.write_text("0" * 64)
        os.utime(newest, (0, task.start + 19 * DAY + 50))
        (after,) = summaries(reader, published)
        assert reader.size() > 0
    assert before.epochs == after.epochs == {8: 2, 18: 1, 19: 2, 20: 1}
    assert (before.reports, before.backlog, before.fitted) == (6, 6, None)
    assert (after.backlog, after.tombstones, after.closed) == (3, 1, -1)
    assert list(after.days.values()) == [2, 1, 2, 1]
    now = task.start + 20 * DAY + 100
    assert after.overdue(now) == 2
    assert after.retention_lag(now) == 20 * DAY + 100 - (9 + 10) * DAY
    assert after.retention_lag(task.start + 19 * DAY) == 0


def test_deleted_reports_do_not_return(ask, url, collector, report, send, clock, tmp_path):
    """In the store, in a fit, and when the same upload is repeated to a running collector."""
    task = current(ask)
    clock.now = time.time()
    client = collector(task, store=lambda: open_store(url))
    mine, others = report(task, person=ME.hex()), report(task)
    assert send(client, task, mine, others).status_code == 200
    with closing(open_store(url)) as store:
        assert delete_people(store, [ME]) == 1
        assert delete_people(store, [ME]) == 0
    assert people(url) == {bytes.fromhex(others.person)}
    assert send(client, task, mine).status_code == 200  # repeated: stored, and excluded
    assert people(url) == {bytes.fromhex(others.person)}
    with closing(open_reader(url)) as reader:
        learnt = stored_reports.reports(reader, task.address)
        assert set(learnt.user_ids.ids) == {others.person}


def test_deletion_covers_all_tasks_of_a_store(ask, url):
    tasks = [current(ask), current(ask, name="Books")]
    with closing(open_store(url)) as store:
        numbers = [store.hold(task.document).number for task in tasks]
        store.insert([row(k, number, 20, who) for k, number in enumerate(numbers)
                      for who in (ME, OTHER)])  # fmt: skip
        assert delete_people(store, [ME]) == 2
        assert [store.erasures(number) for number in numbers] == [1, 1]


def test_a_store_without_tasks_has_nothing_to_delete(url):
    with closing(open_store(url)) as store, pytest.raises(RequestError, match="no task"):
        delete_people(store, [ME])


@pytest.mark.parametrize("code", ["", "0" * 31, "0" * 33, "g" * 32, "0" * 64])
def test_what_is_no_code_is_refused(code):
    with pytest.raises(RequestError, match="must have 32 hexadecimal digits"):
        pseudonym(code)


def test_a_code_is_read_as_people_write_it():
    assert pseudonym(" 00010203-04050607 08090A0B-0c0d0e0f\n") == ME


def test_pruning_deletes_what_expired_unless_the_clock_is_wrong(ask, url):
    task = current(ask, retention_days=10)
    with closing(open_store(url)) as store:
        number = store.hold(task.document).number
        store.insert([row(k, number, epoch) for k, epoch in enumerate((8, 9, 20))])
        store.erase(number, OTHER, 5)
        assert prune(store) == {task.address: 2}
        assert (store.erasures(number), store.tasks()[0].closed) == (0, 9)
        store.set_clock(int(time.time()) - 400 * DAY)
        with pytest.raises(RequestError, match="far from the last trusted time"):
            prune(store)


@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
def test_check_finds_each_kind_of_damage(ask, url, plan):
    task = current(ask, plan)
    outputs = len(task.channels[0].outputs)
    if plan == "rated":
        good = pack_rated(5, outputs - 1)
        bad = [pack_rated(6, 0), pack_rated(0, outputs), b"\1"]
    else:
        good = pack_slots([outputs - 1] * task.cells, outputs)
        bad = [good[:-1], good + b"\0", b"\1" + bytes([outputs] * task.cells)]
    with closing(open_store(url)) as store:
        number = store.hold(task.document).number
        store.insert([row(k, number, cells=good) for k in range(9)])
        with closing(open_reader(url)) as reader:
            result = verify(reader)
            assert (result.valid, result.faults.total()) == (9, 0)
        damaged = [row(0, number, cells=cells) for cells in bad]
        damaged.append(row(0, number, cells=good)._replace(mech=1))
        store.insert(damaged)
    with closing(open_reader(url)) as reader:
        if plan != "rated":
            result = verify(reader)
            assert (result.valid, result.faults.total()) == (9, 4)
            assert set(result.examples) == {each.id.hex() for each in damaged}
        else:  # the reader itself refuses cells of the wrong size in bulk reads
            assert verify(reader).faults.total() == 4


@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
def test_export_states_items_and_values(ask, url, plan):
    task = current(ask, plan)
    outputs = task.channels[0].outputs
    index = asked(task, ME.hex())[0] if plan != "rated" else 4
    cells = pack_slots([1] * task.cells, len(outputs)) if plan != "rated" else pack_rated(4, 1)
    with closing(open_store(url)) as store:
        number = store.hold(task.document).number
        store.insert([row(0, number, 19, cells=cells), row(1, number, 20, OTHER, cells)])
    with closing(open_reader(url)) as reader:
        (exported,) = export(reader, ME)
        assert export(reader, b"n" * 16) == []
    (stored,) = exported["reports"]
    assert (exported["task"], stored["epoch"]) == (task.address, 19)
    assert len(stored["values"]) == (1 if plan == "rated" else task.cells)
    assert stored["values"][0] == {"item": task.items[index], "value": float(outputs[1])}
    json.dumps(exported)


def test_commands(ask, run, tmp_path):
    """Each command on one store, as an operator runs it."""
    task, db = current(ask), str(tmp_path / "reports.db")
    with closing(open_store(db)) as store:
        number = store.hold(task.document).number
        store.insert([row(k, number, 20, who) for k in range(3) for who in (ME, OTHER)])
    code, where = ME.hex(), ("--db", db)
    status, out, _ = run("admin", "status", *where)
    assert (status, "reports     6" in out, task.address in out) == (0, True, True)
    (summary,) = json.loads(run("admin", "status", "--json", *where)[1])["tasks"]
    assert (summary["reports"], summary["backlog"], list(summary["days"].values())) == (6, 6, [6])
    assert ME.hex() not in json.dumps(summary)
    assert run("admin", "check", *where)[:2] == (0, "6 reports are valid.\n")
    exported = json.loads(run("admin", "export", code, *where)[1])
    assert len(exported["tasks"][0]["reports"]) == 3
    file = tmp_path / "mine.json"
    assert run("admin", "export", code, "-o", file, *where)[0] == 0
    assert json.loads(file.read_text()) == exported
    assert run("admin", "delete", code, *where)[2] == "Deleted 3 reports under 1 pseudonyms.\n"
    assert "nothing was stored" in run("admin", "delete", code, *where)[2]
    assert run("admin", "export", code, *where)[0] == 1
    assert run("admin", "delete", *where)[0] == 2
    assert run("admin", "prune", *where)[:2] == (0, f"{task.address}: 0 reports deleted\n")
    for verb in (("status",), ("check",), ("prune",), ("export", code), ("delete", code)):
        status, _, err = run("admin", *verb, "--db", str(tmp_path / "none.db"))
        assert (status, "is not a store of reports" in err) == (1, True)
    assert not (tmp_path / "none.db").exists()
    with closing(sqlite3.connect(db)) as database:
        database.execute("UPDATE reports SET mech = 9")
        database.commit()
    status, _, err = run("admin", "check", *where)
    assert (status, "3 reports are damaged: 3 with unknown channel" in err) == (1, True)


def test_deletion_by_token_finds_the_pseudonyms_of_this_epoch(
    ask, collector, report, send, clock, run, tmp_path
):
    task, token = current(ask), "correct horse"
    clock.now = time.time()
    digests = [sha256(each.encode()).hexdigest() for each in (token, "other")]
    client = collector(task, enrolment=Enrolment(digests, 100))
    reports = {name: [report(task) for _ in range(2)] for name in (token, "other")}
    for name, several in reports.items():
        assert send(client, task, *several, authorization=f"Bearer {name}").status_code == 200
    client.__exit__(None, None, None)
    where = ("--db", str(tmp_path / "reports.db"))
    wrong = tmp_path / "other.keys"
    keys = EpochKeys(wrong, clock.now)
    for _ in range(2):  # without a key of this epoch, and with another one
        content = wrong.read_bytes()
        status, _, err = run(
            "admin", "delete", "--token", token, *where, "--token-keys", str(wrong)
        )
        assert (status, "keys other than those in the file" in err) == (1, True)
        assert wrong.read_bytes() == content
        keys.key(epoch_of(task, task.epoch(clock.now)))
    status, _, err = run("admin", "delete", "--token", digests[0], *where)
    assert (status, err) == (0, "Deleted 2 reports under 2 pseudonyms.\n")
    assert people(str(tmp_path / "reports.db")) == {
        bytes.fromhex(each.person) for each in reports["other"]
    }
    assert run("admin", "delete", "--token", token, *where)[0] == 0  # the token itself: none left
    (tmp_path / "reports.tokens.keys").unlink()
    assert "--token-keys is required" in run("admin", "delete", "--token", token, *where)[2]


def test_a_device_shows_the_code_that_deletes_its_reports(ask, started, run, tmp_path):
    port = free_port()
    task = ask(start=int(time.time()) - 100, provider=f"http://127.0.0.1:{port}")
    collector = started(task, at=port)
    url = f"http://127.0.0.1:{port}"
    with Client(tmp_path / "me.db", url, most_epsilon="1", lifetime="100") as client:
        client.rate(101, 4)
        assert client.sync().stored == 1
        code = client.reference_code()
    assert people(collector.db) == {pseudonym(code)}
    assert run("admin", "delete", code, "--db", collector.db)[0] == 0
    assert people(collector.db) == set()
