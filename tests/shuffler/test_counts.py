"""Counts of a released batch at the provider: what is opened, and what is deleted when."""

import numpy as np
import pytest
from shuffled_tasks import item_task

from tacit.device.shuffled.sealing import seal, sealed_bundle
from tacit.errors import CertificateError, DataError, RequestError
from tacit.shuffler.batch_files import BatchFiles
from tacit.shuffler.counts import (
    BucketCounts,
    ShufflerSession,
    distinct_messages,
    load_counts,
    open_batch,
)
from tacit.shuffler.task_key import TaskKey

KEY = TaskKey.generate()
TASK = item_task(key=KEY.public)


@pytest.fixture(scope="module")
def bundles():
    return [sealed_bundle(TASK, TASK.items[: person % 9]) for person in range(20)]


@pytest.fixture
def batch(tmp_path, bundles):
    """Writes a batch of bundles; returns its path."""

    def written(*some):
        files = BatchFiles(tmp_path)
        files.write("a", some or bundles)
        return files.path("a")

    return written


def test_counts_round_trip(batch, bundles, tmp_path):
    counts = open_batch(batch(), TASK, KEY)
    messages = [body[at : at + 53] for body in bundles for at in range(0, len(body), 53)]
    expected = KEY.open(messages, TASK.address, TASK.round.buckets).counts
    assert (counts.counts == expected).all()
    assert (counts.bundles, counts.counts.sum()) == (20, 20 * 43)
    path = tmp_path / "counts.json"
    path.write_bytes(counts.document)
    again = load_counts(path)
    assert (again.task, again.bundles) == (TASK, 20)
    assert (again.counts == counts.counts).all()
    assert again.counts.dtype == np.int64


def test_a_batch_below_the_least_number_is_not_opened(batch, bundles, monkeypatch):
    """Also if a shuffler releases it: the last bundle could be that of a victim."""
    monkeypatch.setattr(TaskKey, "open", None)
    with pytest.raises(CertificateError, match="has 19 bundles, but the task requires 20"):
        open_batch(batch(*bundles[:19]), TASK, KEY)


def test_a_replayed_bundle_counts_once(batch, bundles):
    once = open_batch(batch(), TASK, KEY).counts
    replayed = open_batch(batch(*bundles, bundles[0], bundles[0]), TASK, KEY)
    assert (replayed.counts == once).all()
    assert replayed.bundles == 20
    with pytest.raises(CertificateError, match="has 19 bundles"):
        open_batch(batch(*bundles[:19], *bundles[:10]), TASK, KEY)


def test_other_files_and_keys_are_refused(batch, tmp_path):
    path = batch()
    with pytest.raises(RequestError, match="key is of another task"):
        open_batch(path, TASK, TaskKey.generate())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RequestError, match="multiple of 53 bytes"):
        open_batch(path, TASK, KEY)
    short = BucketCounts(TASK, 20, np.zeros(27, np.int64))
    path.write_bytes(short.document)
    with pytest.raises(DataError, match="must have 28 counts, got 27"):
        load_counts(path)
    path.write_text("{}")
    with pytest.raises(DataError, match="missing keys"):
        load_counts(path)


def test_a_token_is_not_sent_without_encryption():
    with pytest.raises(RequestError, match="over https only"):
        ShufflerSession(item_task(shuffler="http://shuffler.example"), "token")


def test_an_unreachable_shuffler_is_named():
    session = ShufflerSession(item_task(shuffler="http://127.0.0.1:9"), "token")
    with pytest.raises(RequestError, match="cannot be reached"):
        session.closing()


def test_a_hostile_device_weighs_at_most_its_messages(batch, bundles):
    """All messages of one bundle in one bucket: M + D, whatever the shuffler and provider do."""
    usual = open_batch(batch(), TASK, KEY).counts
    size = TASK.round.messages + TASK.round.dummies
    hostile = b"".join(seal([5] * size, KEY.public, TASK.address))
    counts = open_batch(batch(*bundles, hostile), TASK, KEY).counts
    assert (counts - usual).tolist() == [0] * 5 + [size] + [0] * 22


def test_forged_messages_are_not_counted(batch, bundles):
    """Of no key, of another task, of a bucket that does not exist."""
    usual = open_batch(batch(), TASK, KEY).counts
    size = TASK.round.messages + TASK.round.dummies
    forged = (
        b"".join(seal([28] * size, KEY.public, TASK.address)),
        b"".join(seal([5] * size, KEY.public, "0" * 64)),
        b"".join(seal([5] * size, TaskKey.generate().public, TASK.address)),
        bytes(range(256)) * 8 + bytes(TASK.bundle_bytes - 2048),
    )
    assert (open_batch(batch(*bundles, *forged), TASK, KEY).counts == usual).all()


def test_a_batch_is_read_in_blocks_and_in_order(batch, monkeypatch):
    """Copies are detected across blocks of any size, and any two messages out of order."""
    path = batch()
    content = path.read_bytes()
    messages = [content[at : at + 53] for at in range(0, len(content), 53)]
    expected = open_batch(path, TASK, KEY).counts
    path.write_bytes(b"".join(message * 3 for message in messages))
    for size in (1, 2, 7, 860):
        monkeypatch.setattr("tacit.shuffler.counts.BLOCK", size)
        assert list(distinct_messages(path)) == messages
        assert (open_batch(path, TASK, KEY).counts == expected).all()
    messages[100], messages[101] = messages[101], messages[100]
    path.write_bytes(b"".join(messages))
    with pytest.raises(DataError, match="not in order"):
        open_batch(path, TASK, KEY)
