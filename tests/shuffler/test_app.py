"""Bundles become one batch, released once and only with enough bundles, and are deleted."""

import logging
import random
from hashlib import sha256

import numpy as np
import pytest
from shuffled_tasks import SCALE, item_task, pair_task, star_task
from shuffling import wait_until

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.signs import signed_bundle
from tacit.errors import DataError, RequestError
from tacit.shuffler.batch_files import BatchFiles, RegisterFile, messages_of
from tacit.shuffler.held_bundles import HeldBundles
from tacit.shuffler.shuffler import REGISTER, Shuffler
from tacit.shuffler.task_key import TaskKey

KEY = TaskKey.generate()
TASK = item_task(key=KEY.public)


def bundle(seed) -> bytes:
    return random.Random(seed).randbytes(TASK.bundle_bytes)


def words(seed):
    source = random.Random(seed)
    return lambda: source.getrandbits(64)


def test_counts_are_those_of_the_same_words_in_memory(shuffling):
    """Over HTTP, with devices that draw from known words."""
    shuffling.start(TASK)
    expected = np.zeros(TASK.round.buckets, np.int64)
    for person in range(25):
        items = TASK.items[: person % 9]
        with shuffling.device(person, words=words(person)) as device:
            assert device.sync(items).stored == 1
        np.add.at(expected, draw_bundle(range(len(items)), TASK.round, words(person)), 1)
    result = shuffling.release(TASK)
    batch = shuffling.provider("GET", TASK).content
    assert (result.bundles, result.batch) == (25, sha256(batch).hexdigest())
    messages = messages_of(batch)
    assert messages == sorted(messages)
    opened = KEY.open(messages, TASK.address, TASK.round.buckets)
    assert (opened.repeated, opened.invalid) == (0, 0)
    assert (opened.counts == expected).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("about", ["items", "pairs"])
def test_counts_of_star_ratings_are_those_of_the_same_words(shuffling, about):
    """The shuffler does not distinguish these tasks from others."""
    first = star_task(key=KEY.public)
    task = first if about == "items" else pair_task(first)
    shuffling.start(task)
    expected = np.zeros(task.round.buckets, np.int64)
    for person in range(22):
        ratings = {item: 1 + (person + item) % 5 for item in task.items[: person % 9]}
        with shuffling.device(person, words=words(person)) as device:
            assert device.sync(ratings).stored == 1
        np.add.at(expected, signed_bundle(task, SCALE, ratings, words(person)), 1)
    assert shuffling.release(task).bundles == 22
    batch = messages_of(shuffling.provider("GET", task).content)
    assert (KEY.open(batch, task.address, task.round.buckets).counts == expected).all()


def test_a_batch_is_released_once(shuffling):
    shuffling.start(TASK)
    for person in range(20):
        assert shuffling.send(TASK, bundle(person), person=person).status_code == 200
    assert shuffling.provider("GET", TASK).status_code == 410  # before it is closed
    shuffling.release(TASK)
    first = shuffling.provider("GET", TASK).content
    assert shuffling.provider("GET", TASK).content == first  # a download that was interrupted
    shuffling.stop()
    shuffling.start()
    assert shuffling.provider("GET", TASK).content == first
    assert shuffling.provider("DELETE", TASK).status_code == 200
    assert shuffling.provider("GET", TASK).status_code == 410
    shuffling.stop()
    shuffling.start()
    assert shuffling.provider("GET", TASK).status_code == 410


def test_a_batch_below_the_least_number_of_bundles_is_deleted(shuffling):
    shuffling.start(TASK)
    for person in range(19):
        shuffling.send(TASK, bundle(person), person=person)
    assert (shuffling.close(TASK).bundles, shuffling.close(TASK).batch) == (19, None)
    assert shuffling.provider("GET", TASK).status_code == 410
    wait_until(lambda: not shuffling.rows())
    shuffling.stop()
    content = shuffling.files()
    assert not any(bundle(person)[:53] in content for person in range(19))


def test_a_batch_is_written_from_few_bundles_at_a_time(shuffling, monkeypatch):
    """As many bytes as allowed, whatever the number of bundles, and at least one bundle."""
    scan, sizes = SqliteReader.scan, []

    def recorded(reader, *arguments):
        for rows in scan(reader, *arguments):
            sizes.append(sum(len(row.cells) for row in rows))
            yield rows

    monkeypatch.setattr(SqliteReader, "scan", recorded)
    monkeypatch.setattr("tacit.shuffler.held_bundles.READ_BYTES", 3 * TASK.bundle_bytes + 1)
    shuffling.start(TASK)
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    assert shuffling.close(TASK).bundles == 20
    assert sizes == [3 * TASK.bundle_bytes] * 6 + [2 * TASK.bundle_bytes]


def test_the_batch_links_no_bundle(shuffling):
    """No file has a name or two adjacent messages of one bundle, but those that sorting joins."""
    shuffling.start(TASK)
    bundles = [bundle(person) for person in range(20)]
    for person, body in enumerate(bundles):
        shuffling.send(TASK, body, person=person)
    before = shuffling.files()
    assert all(body[:106] in before for body in bundles)  # the test finds what it looks for
    names = [row.id for row in shuffling.rows()]
    assert len(names) == 20
    assert all(name in before for name in names)
    shuffling.release(TASK)
    shuffling.stop()
    after = shuffling.files()
    assert not any(name in after for name in names)
    pairs = [body[at : at + 106] for body in bundles for at in range(0, len(body) - 53, 53)]
    # A message has one successor in the batch, and 1 of 860 is the next one of its bundle.
    assert sum(pair in after for pair in pairs) <= 8
    shuffling.start()
    shuffling.provider("DELETE", TASK)
    shuffling.stop()
    left = shuffling.files()
    assert not any(message in left for body in bundles for message in messages_of(body))


def test_order_and_names_do_not_depend_on_the_order_of_arrival(tmp_path):
    digests, contents = set(), set()
    for order in range(3):
        folder = tmp_path / str(order)
        folder.mkdir()
        bundles = [bundle(person) for person in range(5)]
        random.Random(order).shuffle(bundles)
        files = BatchFiles(folder)
        digests.add(files.write("a", bundles))
        contents.add(files.path("a").read_bytes())
        assert [path.name for path in folder.iterdir()] == ["a.batch"]
    assert len(digests) == len(contents) == 1
    assert digests == {sha256(contents.pop()).hexdigest()}


def test_one_bundle_per_person_and_task(shuffling):
    shuffling.start(TASK)
    assert shuffling.send(TASK, bundle(1)).status_code == 200
    assert shuffling.send(TASK, bundle(1)).status_code == 200  # a retry
    assert shuffling.send(TASK, bundle(2)).status_code == 409
    assert shuffling.send(TASK, bundle(2), person=1).status_code == 200
    assert shuffling.close(TASK).bundles == 2


def test_whatever_is_not_a_bundle_is_refused(shuffling):
    shuffling.start(TASK)
    body = bundle(1)
    for wrong in (b"", body[:-1], body + b"0", body[:-53], body * 100):
        assert shuffling.send(TASK, wrong).status_code in (413, 422)
    assert shuffling.send(TASK, body, media="application/json").status_code == 415
    assert shuffling.send(TASK, body, person=99).status_code == 401
    assert shuffling.client.post(f"/v1/tasks/{TASK.address}/bundles").status_code == 401
    assert shuffling.send(item_task(None), body).status_code == 404
    assert shuffling.provider("GET", TASK, token="person 0").status_code == 401
    assert shuffling.provider("DELETE", TASK, token="person 0").status_code == 401
    shuffling.close(TASK)
    assert shuffling.send(TASK, body).status_code == 410


def test_public_resources(shuffling):
    shuffling.start(TASK)
    assert shuffling.client.get(f"/v1/tasks/{TASK.address}").content == TASK.document
    assert shuffling.client.get("/v1/tasks/" + "0" * 64).status_code == 404
    assert shuffling.client.get("/readyz").text == "ready\n"
    assert shuffling.client.get("/healthz").headers["x-content-type-options"] == "nosniff"
    assert shuffling.client.put("/v1/register").status_code == 405


def test_pages_of_all_origins_may_send(shuffling):
    """A browser lets a page fetch, send a bundle with a token, and read when to retry."""
    shuffling.start(TASK)
    origin = {"origin": "https://films.example"}
    asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    path = f"/v1/tasks/{TASK.address}/bundles"
    allowed = shuffling.client.options(path, headers=origin | asked)
    assert allowed.status_code == 200
    assert "POST" in allowed.headers["access-control-allow-methods"]
    assert "authorization" in allowed.headers["access-control-allow-headers"]
    for response in (shuffling.client.get("/v1/register", headers=origin),
                     shuffling.client.post(path, headers=origin)):  # fmt: skip
        assert response.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in response.headers
        assert response.headers["access-control-expose-headers"] == "retry-after"
    refused = asked | {"access-control-request-method": "DELETE"}
    batch = f"/v1/tasks/{TASK.address}/batch"
    assert shuffling.client.options(batch, headers=origin | refused).status_code == 400


def test_a_provider_has_one_task_at_a_time(shuffling):
    shuffling.start(TASK)
    shuffling.stop()
    with pytest.raises(RequestError, match="has an open task"):
        shuffling.start(item_task(None, key=KEY.public))
    with pytest.raises(RequestError, match="has one provider"):
        shuffling.start(item_task(provider="https://books.example"))
    shuffling.start()
    shuffling.close(TASK)
    shuffling.stop()
    with pytest.raises(RequestError, match="closed already"):
        shuffling.start(pair_task(TASK))
    shuffling.start(pair_task(TASK, closes=3_000))
    assert len(shuffling.client.get("/v1/register").content.splitlines()) == 3


def test_a_folder_is_used_by_one_process(shuffling):
    shuffling.start(TASK)
    other = type(shuffling)(shuffling.folder, shuffling.clock)
    with pytest.raises(RequestError, match="is running on"):
        other.start()


def test_a_wrong_clock_closes_nothing(shuffling):
    shuffling.start(TASK)
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    shuffling.clock.now += 10_000_000
    shuffling.turn()
    assert shuffling.send(TASK, bundle(30), person=30).status_code == 200
    shuffling.clock.now -= 10_000_000
    assert shuffling.close(TASK).bundles == 21


def test_old_batches_are_deleted(shuffling):
    shuffling.start(TASK)
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    shuffling.release(TASK)
    for days in (6, 6, 6, 6, 5):
        shuffling.clock.now += days * 86_400
        shuffling.turn()
    assert shuffling.provider("GET", TASK).status_code == 200
    shuffling.clock.now += 86_400
    wait_until(lambda: shuffling.provider("GET", TASK).status_code == 410)


def test_nothing_sensitive_is_logged(shuffling, caplog):
    caplog.set_level(logging.DEBUG)
    shuffling.start(TASK)
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    shuffling.send(TASK, bundle(0)[:-1])
    shuffling.close(TASK)
    shuffling.stop()
    own = [record for record in caplog.records if record.name.startswith("tacit")]
    assert {record.event for record in own} == {"started", "closed", "stopped"}
    text = " ".join(record.getMessage() for record in own)
    assert not any(word in text for word in ("person", TASK.address, "19", "20", "testclient"))


STEPS = [
    (SqliteStore, "shut"), (HeldBundles, "release"), (RegisterFile, "add"), (SqliteStore, "forget"),
    (Shuffler, "_scrub"), (SqliteStore, "hold"),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("owner", "step"), STEPS)
@pytest.mark.parametrize("people", [19, 20])
def test_a_crash_at_any_step_loses_nothing(shuffling, monkeypatch, owner, step, after, people):
    """The process ends before or after a step of closing; the next one finishes."""
    shuffling.start(TASK)
    for person in range(people):
        shuffling.send(TASK, bundle(person), person=person)
    with monkeypatch.context() as patched:
        shuffling.crash(TASK, patched, owner, step, after=after)
    result = shuffling.release(TASK)
    assert result.bundles == people
    response = shuffling.provider("GET", TASK)
    if people < 20:
        assert (result.batch, response.status_code) == (None, 410)
    else:
        sent = sorted(each for person in range(20) for each in messages_of(bundle(person)))
        assert messages_of(response.content) == sent
    wait_until(lambda: not shuffling.rows())


def test_a_damaged_register_is_refused(shuffling):
    shuffling.start(TASK)
    shuffling.stop()
    path = shuffling.folder / REGISTER
    path.write_bytes(path.read_bytes().replace(TASK.address.encode(), b"0" * 64))
    with pytest.raises(RequestError, match="lacks an open task"):
        shuffling.start()
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(DataError, match="line 2"):
        shuffling.start()


def test_people_say_once_per_task_that_they_are_ready(shuffling):
    """The shuffler publishes their number alone, and a task starts the count anew."""
    shuffling.start()
    for person in (0, 1, 2, 0, 1):
        with shuffling.device(person) as device:
            device.sync(TASK.items)
            assert device.ledger.spent == 0
    assert shuffling.client.post("/v1/ready").status_code == 401
    assert shuffling.client.get("/v1/ready").json() == {"ready": 3}
    shuffling.stop()
    shuffling.start(TASK)
    assert shuffling.client.get("/v1/ready").json() == {"ready": 0}
    assert shuffling.send(TASK, bundle(0)).status_code == 200
    assert shuffling.client.get("/v1/ready").json() == {"ready": 0}
    shuffling.close(TASK)
    with shuffling.device(0) as device:
        device.sync([])
    assert shuffling.client.get("/v1/ready").json() == {"ready": 1}


def test_a_clock_that_cannot_be_saved_does_not_stop_closing(shuffling, monkeypatch, caplog):
    shuffling.start(TASK)
    shuffling.stop()

    def failing(self, now, limit):
        raise OSError("a message with a secret")

    shuffling.start()
    monkeypatch.setattr(SqliteStore, "keep_clock", failing)
    monkeypatch.setattr("tacit.shuffler.shuffler.SAVE_SECONDS", 0.0)
    wait_until(lambda: "A task could not be closed yet: OSError." in caplog.text)
    assert shuffling.close(TASK).bundles == 0
    assert "secret" not in caplog.text
