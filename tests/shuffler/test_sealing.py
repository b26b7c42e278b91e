"""Sealed messages open to the counts of their buckets, and to nothing under another task."""

import sys

import numpy as np
import pytest

from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.sealing import seal
from tacit.errors import DataError, RequestError
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.shuffler.task_key import TaskKey, destroy
from tacit.wire.shuffled.task import SEALED_BYTES

ROUND = ShuffledRound(buckets=40, messages=5, dummies=30)
TASK = "https://shuffler.example/tasks/7"


@pytest.fixture(scope="module")
def key() -> TaskKey:
    return TaskKey.generate()


def test_a_batch_opens_to_the_counts_of_its_bundles(key):
    bundles = [draw_bundle(own, ROUND) for own in ([1, 2], [], list(range(9)))]
    batch = [sealed for bundle in bundles for sealed in seal(bundle, key.public, TASK)]
    order = np.random.default_rng(0).permutation(len(batch))
    opened = key.open([batch[index] for index in order], TASK, 40)
    assert (opened.repeated, opened.invalid) == (0, 0)
    assert (opened.counts == np.bincount(np.concatenate(bundles), minlength=40)).all()


def test_length_and_bytes_do_not_reveal_the_bucket(key):
    sealed = seal([0, 0, 39, 2**40 - 1], key.public, TASK)
    assert {len(each) for each in sealed} == {SEALED_BYTES}
    assert len(set(sealed)) == 4


def test_copies_are_counted_once_and_other_tasks_not_at_all(key):
    sealed = seal([3, 4], key.public, TASK)
    opened = key.open([*sealed, sealed[0], sealed[0]], TASK, 40)
    assert (opened.counts[[3, 4]] == 1).all()
    assert (opened.repeated, opened.invalid) == (2, 0)
    assert key.open(sealed, f"{TASK}1", 40).invalid == 2
    assert TaskKey.generate().open(sealed, TASK, 40).invalid == 2
    changed = bytes([*sealed[0][:-1], sealed[0][-1] ^ 1])
    assert key.open([changed], TASK, 40).invalid == 1


def test_buckets_that_do_not_exist_are_not_counted(key):
    opened = key.open(seal([40, 39], key.public, TASK), TASK, 40)
    assert (opened.invalid, opened.counts[39], opened.counts.sum()) == (1, 1, 1)


def test_invalid_lengths_are_refused(key):
    assert key.open([bytes(52), b"", bytes(54)], TASK, 40).invalid == 3
    with pytest.raises(RequestError, match="must have 32 bytes, got 31"):
        seal([1], bytes(31), TASK)


def test_the_private_key_is_not_shown(key):
    assert key.private.private_bytes_raw().hex() not in repr(key)
    assert key.public.hex().startswith(repr(key)[10:-1])


def test_without_the_extra_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.hpke", None)
    monkeypatch.delattr("cryptography.hazmat.primitives.hpke", raising=False)
    with pytest.raises(RequestError, match=r"tacit-recommender\[secure\]"):
        TaskKey.generate()


def test_a_key_file_is_private_written_once_and_destroyed(key, tmp_path):
    path = tmp_path / "task.key"
    key.save(path)
    assert path.stat().st_mode & 0o077 == 0
    assert TaskKey.load(path).public == key.public
    with pytest.raises(RequestError, match="a key is for one task"):
        TaskKey.generate().save(path)
    linked = tmp_path / "linked"
    linked.hardlink_to(path)
    destroy(path, key.public)
    assert not path.exists()
    assert set(linked.read_bytes()) == {0}


@pytest.mark.parametrize("content", ["", "0" * 63, "G" * 64, "0" * 64 + "\n1"])
def test_another_file_is_not_a_key(tmp_path, content):
    path = tmp_path / "task.key"
    path.write_text(content)
    with pytest.raises(DataError, match="not the key file") as raised:
        TaskKey.load(path)
    assert raised.value.__cause__ is None
