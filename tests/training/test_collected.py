"""Lists from counts of batches are those that `shuffled-ease` fits to the same counts."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.collection.shuffled.counts import BucketCounts
from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.collection.shuffled.tasks import Origins, item_task
from tacit.errors import RequestError
from tacit.training.shuffled.collected import fit_counts, pair_task
from tacit.training.shuffled.trainers import ShuffledEase, ShuffledPopularity
from tacit.wire.shuffled.task import loads

PLAN = ShuffledPlan(
    messages=10, items=90, epsilon="4", delta="0.000002", bundles=5_000, honest="0.8"
)
ITEMS = tuple(f"film {index}" for index in range(90))
ORIGINS = Origins(
    provider="https://films.example", shuffler="https://shuffler.example", name="Films"
)
PEOPLE = 7_000


@pytest.fixture(scope="module")
def first() -> BucketCounts:
    """Counts of items, of which the first 70 are frequent."""
    task = item_task(PLAN, ITEMS, ORIGINS, key=bytes(32), closes=1_000)
    rng = np.random.default_rng(0)
    background = PEOPLE * task.round.dummies / task.round.buckets
    means = np.full(task.round.buckets, background)
    means[:90] += np.where(np.arange(90) < 70, 900, 1) * np.linspace(2, 1, 90)
    return BucketCounts(task, PEOPLE, rng.poisson(means))


@pytest.fixture(scope="module")
def second(first) -> BucketCounts:
    """Counts of pairs: items of one half of the head co-occur."""
    task = pair_task(first, key=bytes(32), closes=2_000, most_dummies=2_000)
    size = len(task.items)
    half = np.arange(size) < size // 2
    pairs = np.full((size, size), PEOPLE * task.round.dummies / task.round.buckets)
    pairs[half[:, None] == half] += 60
    pairs[np.diag_indices(size)] = PEOPLE * task.round.dummies / task.round.buckets
    rng = np.random.default_rng(1)
    return BucketCounts(task, PEOPLE, rng.poisson(pairs[np.tril_indices(size)]))


class Replayed:
    """Devices whose batches have these counts."""

    def __init__(self, *counts):
        self.batches, self.people, self.items = list(counts), PEOPLE, 90

    def within(self, head):
        self.head = head
        return self

    def counts(self, shuffled, *, pairs):
        return self.batches.pop(0)


def same(one, other) -> bool:
    fields = ("vectors", "spectrum", "left", "right")
    if (one.directions is None) != (other.directions is None):
        return False
    arrays = [(one.popularity, other.popularity)]
    if one.directions is not None:
        arrays += [(getattr(one.directions, f), getattr(other.directions, f)) for f in fields]
    return all(a.dtype == b.dtype and (a == b).all() for a, b in arrays)


def test_ease_is_that_of_the_trainer(first, second):
    devices = Replayed(first.counts, second.counts)
    expected = ShuffledEase(messages=10).learn(devices, PLAN)
    assert [ITEMS[index] for index in np.flatnonzero(devices.head)] == list(second.task.items)
    fitted = fit_counts(first, second)
    assert same(fitted.weights, expected.weights)
    assert fitted.weights.directions is not None
    assert fitted.model == "shuffled-ease"
    assert fitted.guarantee == first.task.certificate.guarantee
    assert (fitted.guarantee.unit, fitted.guarantee.epsilon) == ("user", "4")


def test_popularity_is_that_of_the_trainer(first):
    expected = ShuffledPopularity(messages=10).learn(Replayed(first.counts), PLAN)
    fitted = fit_counts(first)
    assert same(fitted.weights, expected.weights)
    assert fitted.model == "shuffled-popularity"


def test_the_second_task_is_announced_by_the_first(first, second):
    task = second.task
    assert task.is_announced_by(first.task)
    assert loads(task.document, task.address) == task
    assert len(task.items) >= 60
    assert task.round.dummies <= 2_000
    assert task.certificate.replaced == first.task.certificate.replaced


def test_without_signal_no_second_task_follows(first):
    flat = replace(first, counts=np.full_like(first.counts, first.counts[-1]))
    assert pair_task(flat, key=bytes(32), closes=2_000, most_dummies=2_000) is None
    assert pair_task(first, key=bytes(32), closes=2_000, most_dummies=5) is None
    alone = item_task(PLAN, ITEMS, ORIGINS, key=bytes(32), closes=1_000, most_dummies=1)
    only = BucketCounts(alone, PEOPLE, np.zeros(alone.round.buckets, np.int64))
    assert pair_task(only, key=bytes(32), closes=2_000, most_dummies=2_000) is None


def test_counts_of_other_tasks_are_refused(first, second):
    with pytest.raises(RequestError, match="must be of a task about items"):
        fit_counts(second)
    with pytest.raises(RequestError, match="must be of a task about items"):
        pair_task(second, key=bytes(32), closes=2_000, most_dummies=2_000)
    other = replace(first, task=replace(first.task, name="Books"))
    with pytest.raises(RequestError, match="not of the task that the first one announced"):
        fit_counts(other, second)
