"""Sealed messages open to the counts of their buckets, and to nothing under another task."""

import sys

import numpy as np
import pytest

from tacit.device.bundle import draw_bundle
from tacit.errors import RequestError
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.shuffler.sealing import SEALED_BYTES, TaskKey, seal

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
