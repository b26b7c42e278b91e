"""Counts of a released batch at the provider: what is opened, and what is deleted when."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET, create_server
from struct import pack

import numpy as np
import pytest
from shuffled_tasks import item_task

from tacit.collection.shuffled.counts import BucketCounts, load_counts
from tacit.device.shuffled.sealing import seal, sealed_bundle
from tacit.engines.engine import Local
from tacit.engines.processes import Processes
from tacit.errors import CertificateError, DataError, RequestError
from tacit.shuffler.batch_files import BatchFiles, messages_of
from tacit.shuffler.decryption import (
    BatchRange,
    RangeInputs,
    batch_ranges,
    distinct_messages,
    open_batch,
    open_range,
)
from tacit.shuffler.session import ShufflerSession
from tacit.shuffler.task_key import TaskKey

KEY = TaskKey.generate()
TASK = item_task(key=KEY.public)


@pytest.fixture
def key(tmp_path):
    """The file of the task's key."""
    KEY.save(tmp_path / "key")
    return tmp_path / "key"


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


def test_counts_round_trip(batch, bundles, key, tmp_path):
    counts = open_batch(batch(), TASK, key)
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


def test_parts_in_files_and_in_memory_make_the_same_batch(batch, bundles, monkeypatch):
    in_memory = batch().read_bytes()
    monkeypatch.setattr("tacit.shuffler.batch_files.LARGEST_IN_MEMORY", 60)
    assert batch().read_bytes() == in_memory
    expected = sorted(each for body in bundles for each in messages_of(body))
    assert in_memory == b"".join(expected)
    assert [path.name for path in batch().parent.iterdir() if "part" in path.name] == []


def test_a_batch_below_the_least_number_is_not_opened(batch, bundles, key, monkeypatch):
    """Also if a shuffler releases it: the last bundle could be that of a victim."""
    monkeypatch.setattr(TaskKey, "open", None)
    with pytest.raises(CertificateError, match="has 19 bundles, but the task requires 20"):
        open_batch(batch(*bundles[:19]), TASK, key)


def test_a_replayed_bundle_counts_once(batch, bundles, key):
    once = open_batch(batch(), TASK, key).counts
    replayed = open_batch(batch(*bundles, bundles[0], bundles[0]), TASK, key)
    assert (replayed.counts == once).all()
    assert replayed.bundles == 20
    with pytest.raises(CertificateError, match="has 19 bundles"):
        open_batch(batch(*bundles[:19], *bundles[:10]), TASK, key)


def test_other_files_and_keys_are_refused(batch, key, tmp_path):
    path = batch()
    with pytest.raises(RequestError, match="key is of another task"):
        open_batch(path, item_task(), key)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RequestError, match="multiple of 53 bytes"):
        open_batch(path, TASK, key)
    path.write_text("{}")
    with pytest.raises(DataError, match="missing keys"):
        load_counts(path)


def test_damaged_counts_are_refused(tmp_path):
    path = tmp_path / "counts.json"
    right = json.loads(BucketCounts(TASK, 20, np.arange(28)).document)
    for change, error, message in (
        ({"counts": [0] * 27}, DataError, r"must be 28 numbers .* got shape \(27,\)"),
        ({"counts": [-1, *[0] * 27]}, DataError, "of at least 0"),
        ({"bundles": 19}, CertificateError, "at least 20, which the task's epsilon requires"),
    ):
        path.write_text(json.dumps(right | change))
        with pytest.raises(error, match=message):
            load_counts(path)
    path.write_text(json.dumps(right))
    assert load_counts(path).counts.tolist() == list(range(28))


def test_a_token_is_not_sent_without_encryption():
    with pytest.raises(RequestError, match="over https only"):
        ShufflerSession(item_task(shuffler="http://shuffler.example"), "token")


def test_an_unreachable_shuffler_is_named():
    session = ShufflerSession(item_task(shuffler="http://127.0.0.1:9"), "token")
    with pytest.raises(RequestError, match="cannot be reached"):
        session.closing()


@pytest.mark.parametrize("resets", [False, True])
def test_an_interrupted_download_leaves_no_file(tmp_path, resets):
    """As that by the renewal of a shuffler, whether the connection is closed or reset."""

    def answer(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            head = b"HTTP/1.1 200 OK\r\ncontent-length: 5000000\r\n\r\n"
            connection.sendall(head + bytes(2_000_000))
            if resets:
                connection.setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))

    with create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as executor:
        executor.submit(answer, listener)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(DataError, match="its download was interrupted"):
            ShufflerSession(item_task(shuffler=url), "token").download(tmp_path / "a", "0" * 64)
    assert not list(tmp_path.iterdir())


def test_a_hostile_device_weighs_at_most_its_messages(batch, bundles, key):
    """All messages of one bundle in one bucket: M + D, whatever the shuffler and provider do."""
    usual = open_batch(batch(), TASK, key).counts
    size = TASK.round.messages + TASK.round.dummies
    hostile = b"".join(seal([5] * size, KEY.public, TASK.address))
    counts = open_batch(batch(*bundles, hostile), TASK, key).counts
    assert (counts - usual).tolist() == [0] * 5 + [size] + [0] * 22


def test_forged_messages_are_not_counted(batch, bundles, key):
    """Of no key, of another task, of a bucket that does not exist."""
    usual = open_batch(batch(), TASK, key).counts
    size = TASK.round.messages + TASK.round.dummies
    forged = (
        b"".join(seal([28] * size, KEY.public, TASK.address)),
        b"".join(seal([5] * size, KEY.public, "0" * 64)),
        b"".join(seal([5] * size, TaskKey.generate().public, TASK.address)),
        bytes(range(256)) * 8 + bytes(TASK.bundle_bytes - 2048),
    )
    assert (open_batch(batch(*bundles, *forged), TASK, key).counts == usual).all()


def test_a_batch_is_read_in_blocks_and_in_order(batch, key, monkeypatch):
    """Copies are detected across blocks of any size, and any two messages out of order."""
    path = batch()
    content = path.read_bytes()
    messages = [content[at : at + 53] for at in range(0, len(content), 53)]
    expected = open_batch(path, TASK, key).counts
    path.write_bytes(b"".join(message * 3 for message in messages))
    for size in (1, 2, 7, 860):
        monkeypatch.setattr("tacit.shuffler.decryption.BLOCK", size)
        assert list(distinct_messages(path)) == messages
        assert (open_batch(path, TASK, key).counts == expected).all()
    messages[100], messages[101] = messages[101], messages[100]
    path.write_bytes(b"".join(messages))
    with pytest.raises(DataError, match="not in order"):
        open_batch(path, TASK, key)


@pytest.mark.sampled(3)
def test_all_engines_have_the_same_counts(batch, bundles, key, engine):
    """Copies on both sides of a range's edge are detected, and so is a change of the order."""
    path = batch(*bundles, *bundles[:10])
    expected = open_batch(path, TASK, key)
    counts = open_batch(path, TASK, key, engine)
    assert (counts.counts == expected.counts).all()
    assert (counts.bundles, counts.counts.sum()) == (20, 20 * 43)


@pytest.mark.parametrize("size", [1, 2, 3, 59, 1_000])
def test_ranges_partition_the_different_messages(batch, bundles, size, monkeypatch):
    path = batch(*bundles[:4], *bundles[:2], bundles[0])
    everything = list(distinct_messages(path))
    assert len(everything) == 4 * 43
    monkeypatch.setattr("tacit.shuffler.decryption.RANGE", size)
    ranges = batch_ranges(path, Local(2))
    assert max(each.last - each.first for each in ranges) <= size
    parts = [list(distinct_messages(path, each.first, each.last)) for each in ranges]
    assert [message for part in parts for message in part] == everything


def test_an_order_that_only_an_edge_shows_is_refused(batch):
    path = batch()
    content = path.read_bytes()
    path.write_bytes(content[53 * 10 :] + content[: 53 * 10])
    total = len(content) // 53
    assert len(list(distinct_messages(path, 0, total - 10))) == total - 10
    with pytest.raises(DataError, match="not in order"):
        list(distinct_messages(path, total - 10, total))


@dataclass(frozen=True)
class Elsewhere:
    """An engine whose workers have another batch under the same path."""

    path: Path
    blocks: int = 2

    def over(self, kernel, blocks, shared):
        content = self.path.read_bytes()
        self.path.write_bytes(content[:53] + content[:-53])
        return [kernel(block, shared) for block in blocks]


def test_workers_must_have_the_same_files(batch, key, tmp_path):
    path = batch()
    with pytest.raises(DataError, match="differs between workers"):
        open_batch(path, TASK, key, Elsewhere(path))
    shared = RangeInputs(str(tmp_path / "none"), KEY.public.hex(), TASK.address, 28)
    for missing in (shared, shared._replace(key=str(key))):
        with pytest.raises(RequestError, match="in a folder that all workers can reach"):
            open_range(BatchRange(str(tmp_path / "none"), 0, 1), missing)
    with pytest.raises(RequestError, match="key is of another task"):
        open_range(BatchRange(str(path), 0, 1), RangeInputs(str(key), "00" * 32, "", 28))


def test_processes_have_the_same_counts(batch, key):
    expected = open_batch(path := batch(), TASK, key)
    with Processes(2) as engine:
        assert (open_batch(path, TASK, key, engine).counts == expected.counts).all()
