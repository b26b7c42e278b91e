"""What a token may send: of each task, in parallel, across collectors and restarts, never more."""

import json
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from hashlib import sha256

import pytest
from flood import flood

from tacit.collector.ingest.commit import Batch, Cost, commit
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.limits.keys import EpochKeys
from tacit.collector.limits.limits import Charge, Excess, Limits, Reservation
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.sqlite_counts import SqliteCounts
from tacit.collector.storage.store import StoredReport, StoreError, UncertainError
from tacit.errors import RequestError
from tacit.wire.report import dumps, upload

TOKEN = "correct horse"
DIGEST = sha256(TOKEN.encode()).digest()
BEARER = f"authorization: Bearer {TOKEN}\r\n"
PEOPLE = [f"{number:032x}" for number in range(4)]
DAY = 86_400


def enrolment(most=3, people=4):
    return Enrolment([DIGEST.hex()], most, people)


@pytest.fixture
def tell(send):
    """Uploads reports with the token."""

    def told(client, task, *reports):
        return send(client, task, *reports, authorization=f"Bearer {TOKEN}").status_code

    return told


@pytest.fixture
def one(report):
    """A report of the same person as always."""
    return lambda task, **changes: report(task, **{"person": PEOPLE[0]} | changes)


def kept(path):
    """What the database of counts says: reports and people of each token in each task."""
    with closing(sqlite3.connect(path)) as database:
        return sorted(database.execute("SELECT reports, people FROM tokens"))


# What counts


def test_another_task_clears_nothing(ask, collector, one, tell):
    tasks = ask(), ask(name="Books", epoch_seconds=3600)
    client = collector(*tasks, enrolment=enrolment(3))
    said = [
        [tell(client, task, one(task, epoch=task.epoch(1_728_900))) for task in tasks]
        for _ in range(5)
    ]
    assert said == [[200, 200]] * 3 + [[429, 429]] * 2


def test_over_the_limit_nothing_of_an_upload_is_stored(ask, collector, one, tell, tmp_path):
    task = ask()
    client = collector(task, enrolment=enrolment(10))
    assert tell(client, task, *[one(task) for _ in range(8)]) == 200
    assert tell(client, task, *[one(task) for _ in range(3)]) == 429
    assert kept(tmp_path / "reports.tokens.db") == [(8, 1)]
    assert tell(client, task, *[one(task) for _ in range(2)]) == 200
    assert tell(client, task, one(task)) == 429
    with closing(sqlite3.connect(tmp_path / "reports.db")) as database:
        assert database.execute("SELECT count(*) FROM reports").fetchone() == (10,)


def test_what_is_not_stored_is_given_back(ask, collector, one, tell, tmp_path):
    """Duplicates and conflicts; what the task does not take costs as much as what it takes."""
    task = ask()
    client = collector(task, enrolment=enrolment(10))
    first = one(task, symbols=(1,))
    for _ in range(20):
        assert tell(client, task, first) == 200
        assert tell(client, task, replace(first, symbols=(2,))) == 409
    assert kept(tmp_path / "reports.tokens.db") == [(1, 1)]
    assert tell(client, task, one(task, epoch=3), one(task), first) == 422
    assert kept(tmp_path / "reports.tokens.db") == [(3, 1)]
    assert tell(client, task, *[one(task, epoch=3) for _ in range(7)]) == 422
    assert tell(client, task, one(task)) == 429


@pytest.mark.parametrize("plan", ["rated", "sample:3"])
def test_a_token_is_for_a_few_people(ask, collector, report, tell, plan):
    task = ask(plan)
    client = collector(task, enrolment=enrolment(100, people=2))
    first, second, third = (report(task, person=person) for person in PEOPLE[:3])
    assert tell(client, task, first, second, third) == 429
    assert tell(client, task, first) == tell(client, task, second) == 200
    assert (
        tell(client, task, third) == tell(client, task, third, replace(first, id="ab" * 16)) == 429
    )
    assert tell(client, task, replace(first, id="ab" * 16, epoch=21)) == 200


def test_it_is_counted_across_a_restart_and_forgotten_with_the_epoch(
    ask, collector, one, tell, clock, tmp_path
):
    task = ask()
    client = collector(task, enrolment=enrolment())
    assert tell(client, task, one(task), one(task)) == 200
    client.__exit__(None, None, None)
    client = collector(task, enrolment=enrolment())
    assert tell(client, task, one(task), one(task)) == 429
    assert tell(client, task, one(task)) == 200
    with closing(sqlite3.connect(tmp_path / "reports.tokens.db")) as database:
        names = [
            name
            for (name,) in database.execute("SELECT name FROM people UNION SELECT name FROM tokens")
        ]
    keys = [key["key"] for key in held(tmp_path)]
    clock.now += DAY
    assert tell(client, task, one(task), one(task)) == 200
    client.__exit__(None, None, None)
    collector(task, enrolment=enrolment()).__exit__(None, None, None)
    files = b"".join(path.read_bytes() for path in tmp_path.glob("reports.tokens*"))
    assert len(names) == 2
    assert not [name for name in names if name in files]
    assert not [key for key in keys if key.encode() in files]
    assert kept(tmp_path / "reports.tokens.db") == [(2, 1)]
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def held(folder):
    return json.loads((folder / "reports.tokens.keys").read_bytes())["keys"]


# In parallel, across collectors and a restart


def played(collectors, tasks, report, tmp_path, count, most, restart):
    """Floods collectors with `count` uploads, alternating tasks and collectors; restarts one of
    them half way. Gives how many reports of each task were acknowledged and stored."""
    sent = []
    for number in range(count):
        task = tasks[number % 2]
        reports = [report(task, epoch=0, person=PEOPLE[number % 4]) for _ in range(1 + number % 3)]
        body = upload([dumps(each, task.channels[0]) for each in reports])
        port = collectors[(number // 2) % len(collectors)].port
        sent.append((port, f"/v1/tasks/{task.address}/reports", body))
    half = count // 2
    statuses = flood(sent[:half], 32, BEARER)
    restart()
    statuses += flood(sent[half:], 32, BEARER)
    with closing(open_reader(collectors[0].db)) as reader:
        stored = [
            sum(len(rows) for rows in reader.scan(number))
            for number in sorted(each.number for each in reader.tasks())
        ]
    assert statuses[200] >= sum(stored) / 3
    assert statuses[429] > count / 2
    return stored


def test_a_flood_is_stopped_at_the_limit(ask, started, report, tmp_path):
    tasks = [ask(name=name, start=int(time.time()) - 100) for name in ("Films", "Books")]
    (tmp_path / "tokens").write_text(DIGEST.hex())
    collector = started(tasks[0], older=tasks[1:], tokens=tmp_path / "tokens", most=50)

    def restart():
        collector.kill()
        collector.start()

    stored = played([collector], tasks, report, tmp_path, 300, 50, restart)
    assert stored == [50, 50]


@pytest.mark.postgres
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_flood_on_two_collectors_is_stopped_at_the_limit(
    ask, started, report, tmp_path, postgres, count
):
    tasks = [ask(name=name, start=int(time.time()) - 100) for name in ("Films", "Books")]
    (tmp_path / "tokens").write_text(DIGEST.hex())
    common = {
        "db": postgres.database(), "older": tasks[1:], "tokens": tmp_path / "tokens", "most": 50,
    }  # fmt: skip
    first = started(tasks[0], token_keys=tmp_path / "one", **common)
    shutil.copy(tmp_path / "one", tmp_path / "two")
    second = started(tasks[0], token_keys=tmp_path / "two", **common)

    def restart():
        first.kill()
        first.start()

    stored = played([first, second], tasks, report, tmp_path, count, 50, restart)
    assert stored == [50, 50]


# Two collectors, in one process


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def counts(request, tmp_path):
    """Opens the same counts again and again."""
    if request.param == "sqlite":
        return lambda: SqliteCounts(str(tmp_path / "counts"))
    from tacit.collector.storage.postgres_counts import PostgresCounts

    url = request.getfixturevalue("postgres").database()
    return lambda: PostgresCounts(url)


NOW = 1_000 + 20 * DAY + 5


@pytest.fixture
def limits(counts, tmp_path):
    """Opens limits of some tasks over the same counts, each with a file of its own that was copied
    from the first one's."""
    running = []

    def opened(*tasks, most=10, people=2, now=NOW):
        path = tmp_path / f"keys {len(running)}"
        if running:
            shutil.copy(tmp_path / "keys 0", path)
        found = Limits(counts(), EpochKeys(path, now), tasks, most, people)
        running.append(found)
        found.start(now)
        return found

    yield opened
    for each in running:
        each.close()


def charge(task, reports=1, now=NOW, token=DIGEST, people=(b"p" * 16,)):
    return Charge(token, bytes.fromhex(task.question), now, reports, frozenset(people))


def granted(limits, *charges):
    return [isinstance(each, Reservation) for each in limits.reserve(charges)]


def test_two_collectors_count_together(ask, limits):
    task = ask()
    one, two = limits(task), limits(task)
    assert granted(one, charge(task, 4), charge(task, 4), charge(task, 4)) == [True, True, False]
    assert granted(two, charge(task, 3), charge(task, 2), charge(task, token=b"t" * 32)) == [
        False,
        True,
        True,
    ]
    assert one.reserve([charge(task)]) == [Excess(spent=True)]


def test_threads_of_two_collectors_never_go_beyond(ask, limits):
    task, most, found = ask(), 500, []
    both = limits(task, most=most, people=50), limits(task, most=most, people=50)

    def reserve(each, seed):
        for turn in range(60):
            charges = [
                charge(
                    task,
                    1 + (turn + k) % 3,
                    token=bytes([(turn + k) % 3]) * 32,
                    people=[bytes([k]) * 16],
                )
                for k in range(20)
            ]
            for wanted, verdict in zip(charges, each.reserve(charges), strict=True):
                if isinstance(verdict, Reservation):
                    found.append((wanted.token, wanted.reports))

    threads = [threading.Thread(target=reserve, args=(each, n)) for n, each in enumerate(both)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for token in {token for token, _ in found}:
        assert most - 3 < sum(n for each, n in found if each == token) <= most


def test_what_is_given_back_may_be_used_again(ask, limits):
    task = ask()
    one, two = limits(task), limits(task)
    (first, second) = one.reserve([charge(task, 6), charge(task, 4)])
    one.give_back([(first, 5), (second, 1)])
    assert granted(two, charge(task, 7), charge(task, 6)) == [False, True]
    later = NOW + DAY
    assert granted(two, charge(task, 10, now=later)) == [True]
    one.give_back([(first, 1)])  # of an epoch that is over
    assert granted(two, charge(task, 1, now=later)) == [False]


@pytest.mark.parametrize(("error", "left"), [(StoreError, 10), (UncertainError, 4)])
def test_what_a_database_failed_to_store_is_given_back(ask, limits, error, left):
    """Unless it may have stored it all the same: then a token may send less, and never more."""
    task = ask()
    one = limits(task)

    class Broken:
        def insert(self, rows):
            raise error("no room")

    row = StoredReport(b"i" * 16, 1, 20, 0, b"p" * 16, b"c")
    with pytest.raises(error):
        commit(Broken(), one, [Batch([row] * 6, None, Cost(charge(task, 6), 0))])
    assert granted(one, charge(task, left + 1), charge(task, left)) == [False, True]


def test_an_epoch_never_begins_again(ask, limits):
    """A clock that lags behind, or was set back a little, counts on in the later epoch."""
    task, later = ask(), NOW + DAY
    one, two = limits(task), limits(task)
    assert granted(one, charge(task, 10)) == [True]
    assert granted(two, charge(task, 10, now=later)) == [True]
    assert granted(one, charge(task, 1), charge(task, 1, now=later)) == [False, False]
    one.turn(later + DAY)
    two.turn(NOW)
    assert granted(one, charge(task, 10)) == [True]
    assert granted(two, charge(task, 1), charge(task, 1, now=later + DAY)) == [False, False]


def test_a_file_that_is_no_copy_is_refused(ask, counts, limits, tmp_path):
    """Else two collectors would count apart, and allow twice as much."""
    task = ask()
    limits(task)
    stranger = Limits(counts(), EpochKeys(tmp_path / "new", NOW), [task], 10, 2)
    with pytest.raises(RequestError, match="keys other than"):
        stranger.start(NOW)
    stranger.close()


def test_a_task_that_is_served_no_more_is_forgotten_as_well(ask, limits, counts):
    task, other = ask(), ask(name="Books")
    one, two = limits(task, other), limits(other)
    granted(one, charge(task), charge(other))
    two.turn(NOW + DAY)
    with closing(counts()) as found, found.transaction():
        assert {each.mark for each in found.running().values()} == {None}
        for each in (task, other):
            assert found.tallies(bytes.fromhex(each.question), [b"n" * 32]) in (
                {},
                {b"n" * 32: (0, 0)},
            )


# The command


def test_with_postgresql_the_keys_need_a_place(ask, run, tmp_path, monkeypatch):
    """They may not lie in the database, and there is no file to put them beside."""
    monkeypatch.setattr(
        "tacit.collector.ingest.readiness.open_store", lambda url, sole: SqliteStore(":memory:")
    )
    (tmp_path / "task.json").write_bytes(ask().document)
    (tmp_path / "tokens").write_text(DIGEST.hex())
    given = ("--task", tmp_path / "task.json", "--tokens", tmp_path / "tokens")
    status, _, said = run("collect", "--db", "postgresql://localhost/none", *given)
    assert (status, "--token-keys" in said) == (1, True)


def test_what_is_wrong_with_the_keys_is_said_at_the_start(ask, run, tmp_path):
    (tmp_path / "task.json").write_bytes(ask().document)
    (tmp_path / "tokens").write_text(DIGEST.hex())
    (tmp_path / "keys").touch(0o644)
    given = ("--db", tmp_path / "reports.db", "--task", tmp_path / "task.json")
    keys = ("--tokens", tmp_path / "tokens", "--token-keys", tmp_path / "keys")
    for mode, sentence in ((0o644, "chmod 600"), (0o600, "does not contain token keys")):
        (tmp_path / "keys").chmod(mode)
        status, _, said = run("collect", *given, *keys)
        assert (status, sentence in " ".join(said.split())) == (1, True), said
