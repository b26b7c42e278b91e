"""Whoever shows the key that a name was made from has its reports left out, and deleted."""

import asyncio
import secrets
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.retention import LATE, Swept
from tacit.collector.ingest.retention import _sweep as sweep
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport
from tacit.wire.report import erasure_key, person

DAY = 86_400
PROVIDER = "https://films.example"
TOKEN = "correct horse"
PLAIN = {"content-type": "application/json"}


@pytest.fixture
def task(ask):
    return ask(provider=PROVIDER)


@pytest.fixture
def me(task):
    """A person's name in the task, and the key that it was made from."""
    secret = secrets.token_bytes(32)
    return (
        person(secret, task.address, PROVIDER),
        erasure_key(secret, task.address, PROVIDER).hex(),
    )


def erase(client, task, key, **headers):
    path = f"/v1/tasks/{task.address}/erasures"
    return client.post(path, content=b'{"key":"%s"}' % key.encode(), headers=PLAIN | headers)


def swept(client, path, left):
    """Until what a collector deletes beside its work is deleted: no others' reports are left."""
    for _ in range(2000):
        if tables(path)[0] == left:
            return
        client.get("/readyz")
    assert tables(path)[0] == left


def people(path, task):
    with closing(open_reader(str(path))) as reader:
        return set(stored_reports.reports(reader, task.address).user_ids.ids)


def tables(path):
    with closing(sqlite3.connect(path)) as database:
        reports = {name.hex() for (name,) in database.execute("SELECT person FROM reports")}
        return reports, database.execute("SELECT person, epoch FROM erasures").fetchall()


def test_what_is_erased_is_learnt_from_no_more(task, me, collector, report, send, tmp_path):
    client, path = collector(task), tmp_path / "reports.db"
    name, key = me
    other = report(task)
    assert send(client, task, report(task, person=name), other).status_code == 200
    assert people(path, task) == {name, other.person}
    assert (erase(client, task, key).status_code, erase(client, task, key).json()) == (200, {})
    assert people(path, task) == {other.person}
    late = report(task, person=name, epoch=19)
    assert send(client, task, late).status_code == 200  # as if it had not been erased
    assert people(path, task) == {other.person}
    client.__exit__(None, None, None)
    swept(collector(task), path, {other.person})  # as at every start
    assert tables(path)[1] == [(bytes.fromhex(name), 20)]


def test_an_answer_is_durable_and_tells_nothing(task, me, collector, report, send, tmp_path):
    """The same for a name with reports, without, and for one that was erased already."""
    client = collector(task)
    name, key = me
    assert send(client, task, report(task, person=name)).status_code == 200
    answers = [erase(client, task, each) for each in (key, secrets.token_hex(32), key)]
    seen = {(a.status_code, a.content, tuple(sorted(a.headers.items()))) for a in answers}
    assert len(seen) == 1
    assert len(tables(tmp_path / "reports.db")[1]) == 2


def test_a_name_erases_nothing(task, me, collector, report, send, tmp_path):
    """Nor does anything that is made of it."""
    client = collector(task)
    name, key = me
    assert send(client, task, report(task, person=name)).status_code == 200
    digest = sha256(bytes.fromhex(key)).hexdigest()
    for each in (name * 2, name + "0" * 32, digest, sha256(key.encode()).hexdigest()):
        assert erase(client, task, each).status_code == 200
    assert people(tmp_path / "reports.db", task) == {name}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"[]", b"null", b'"' + b"0" * 64 + b'"',
        b'{"key":null}', b'{"key":5}', b'{"key":"00"}', b'{"key":["%s"]}' % (b"0" * 64),
        b'{"key":"%s"}' % (b"A" * 64), b'{"key":"%s\\u0030"}' % (b"0" * 64),
        b'{"key":"%s","more":1}' % (b"0" * 64),
        b'{"key":"%s","key":"%s"}' % (b"0" * 64, b"0" * 64),
        b'{"key":"%s"}' % (b"0" * 64) + b" " * 2000,
        b"[" * 900,
    ],
)  # fmt: skip
def test_what_is_no_erasure_is_refused(task, collector, tmp_path, body):
    client = collector(task)
    path = f"/v1/tasks/{task.address}/erasures"
    answer = client.post(path, content=body, headers=PLAIN)
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:tacit:problem:malformed")
    assert tables(tmp_path / "reports.db")[1] == []


def test_other_answers(task, collector, me):
    client = collector(task)
    path = f"/v1/tasks/{task.address}/erasures"
    assert client.post("/v1/tasks/00/erasures", json={"key": me[1]}).status_code == 404
    assert client.get(path).status_code == client.put(path).status_code == 405
    assert client.post(path, content=b"{}", headers={"content-type": "a/b"}).status_code == 415
    assert client.post(path, content=b" " * (1 << 18) + b"{", headers=PLAIN).status_code == 413
    assert erase(client, task, me[1]).status_code == 200
    assert 'tacit_erasures_total{answer="accepted"} 1' in client.get("/metrics").text
    assert me[0] not in client.get("/metrics").text


def test_a_token_pays_as_for_a_report(task, me, collector, report, send):
    digest = sha256(TOKEN.encode()).hexdigest()
    client = collector(task, enrolment=Enrolment([digest], 2, people=1))
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert erase(client, task, me[1]).status_code == 401
    assert erase(client, task, me[1], **bearer).status_code == 200
    assert erase(client, task, secrets.token_hex(32), **bearer).status_code == 429
    assert send(client, task, report(task, person=me[0]), **bearer).status_code == 200
    assert erase(client, task, me[1], **bearer).status_code == 429


def test_a_database_that_fails_is_no_answer(task, me, collector, caplog):
    class Broken(SqliteStore):
        def erase(self, task, person, epoch):
            raise sqlite3.OperationalError(person.hex())

    client = collector(task, store=lambda: Broken(":memory:"))
    answer = erase(client, task, me[1])
    assert me[0] not in caplog.text
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_it_is_remembered_for_as_long_as_anything_may_arrive(task, engine, request, tmp_path):
    """In each epoch until then late reports go; then the name is forgotten, and what comes under it
    is somebody's."""
    url = str(tmp_path / "reports.db")
    if engine == "postgres":
        url = request.getfixturevalue("postgres").database()
    name, other = b"m" * 16, b"o" * 16
    left = []

    async def played():
        store = open_store(url)
        held = store.hold(task.document)
        store.erase(held.number, name, 20)
        store.erase(held.number, name, 18)  # asked for again, by a clock that was behind
        store.erase(held.number + 1, other, 20)  # of another task
        writer, validator, done = Writer(store), ReportValidator(task, held), {}
        for epoch in range(20, 35):
            now = task.start + epoch * DAY + 5
            rows = [
                StoredReport(secrets.token_bytes(16), held.number, epoch, 0, each, b"c")
                for each in (name, other)
            ]
            await sweep(validator, writer, now, done)
            await writer.put(rows)
            for _ in range(2):
                await sweep(validator, writer, now + 600, done)
            left.append(await writer.run(lambda store: store.erasures(held.number)))
        assert isinstance(done[held.number], Swept)
        await writer.close()

    asyncio.run(played())
    forgotten = 20 + task.window + LATE + 1
    assert left == [1 if epoch < forgotten else 0 for epoch in range(20, 35)]
    with closing(open_reader(url)) as reader:
        rows = [row for some in reader.scan(1) for row in some]
    assert sorted(row.epoch for row in rows if row.person == other) == list(range(20, 35))
    assert sorted(row.epoch for row in rows if row.person == name) == list(range(forgotten, 35))


def test_a_report_in_every_epoch_that_is_taken_is_gone(
    task, me, collector, report, send, tmp_path, clock
):
    """Of all epochs in which a report could still be made or arrive, one by one."""
    name, key = me
    client = collector(task)
    assert erase(client, task, key).status_code == 200
    for day in range(task.window + 1):
        for epoch in range(20 + day - task.window, 22):
            assert send(client, task, report(task, person=name, epoch=epoch)).status_code == 200
        client.__exit__(None, None, None)
        clock.now += DAY
        client = collector(task)
        swept(client, tmp_path / "reports.db", set())
