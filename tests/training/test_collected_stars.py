"""Models of star ratings from counts of batches are those that the trainers fit to these counts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tacit import item_model
from tacit.collection.shuffled.counts import BucketCounts
from tacit.collection.shuffled.heads import (
    STAR_SIGNAL,
    announced_round,
    head_size,
    largest_head,
    star_head_limit,
)
from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.collection.shuffled.tasks import Origins, bundle_sizes, item_task
from tacit.errors import RequestError
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.scale import RatingScale
from tacit.training.shuffled.collected import fit_counts, pair_task
from tacit.training.shuffled.star_trainers import ShuffledCovariance, ShuffledItemMean
from tacit.wire.shuffled.task import loads

SCALE = RatingScale.parse("0.5:5:0.5")
PLAN = ShuffledPlan(
    messages=30, items=90, epsilon="4", delta="0.0000005", bundles=20_000, honest="0.8", signed=True
)
ITEMS = tuple(f"film {index}" for index in range(90))
ORIGINS = Origins(
    provider="https://films.example", shuffler="https://shuffler.example", name="Films"
)
PEOPLE = 28_000


def first_task(plan=PLAN, **changes):
    return item_task(plan, ITEMS, ORIGINS, key=bytes(32), closes=1_000, scale=SCALE, **changes)


@pytest.fixture(scope="module")
def first() -> BucketCounts:
    """Counts of items, of which the first 70 are frequent. Means rise with their number."""
    task = first_task()
    rng = np.random.default_rng(0)
    counts = np.full(task.round.buckets, PEOPLE * task.round.dummies / task.round.buckets)
    often = np.where(np.arange(90) < 70, 960, 3) * np.linspace(2, 1, 90)
    positive = np.linspace(0.3, 0.9, 90)
    counts[:90] += often * (1 - positive)
    counts[90:180] += often * positive
    return BucketCounts(task, PEOPLE, rng.poisson(counts))


@pytest.fixture(scope="module")
def second(first) -> BucketCounts:
    """Counts of pairs: residuals of items of one half of the head agree."""
    task = pair_task(first, key=bytes(32), closes=2_000, most_dummies=2_000)
    size = len(task.items)
    low, high = (np.tril_indices(size, -1)[side] for side in (1, 0))
    same = (low < size // 2) == (high < size // 2)
    counts = np.full(task.round.buckets, PEOPLE * task.round.dummies / task.round.buckets)
    pairs = len(low)
    counts[:pairs] += np.where(same, 20, 60)
    counts[pairs : 2 * pairs] += np.where(same, 60, 20)
    return BucketCounts(task, PEOPLE, np.random.default_rng(1).poisson(counts))


class Replayed:
    """Devices whose batches have these counts."""

    def __init__(self, *counts):
        self.batches, self.people, self.items = list(counts), PEOPLE, 90
        self.ratings = SimpleNamespace(half=2.25)

    def item_counts(self, shuffled):
        return self.batches.pop(0)

    def pair_counts(self, shuffled, head, means):
        self.head = head
        return self.batches.pop(0)


def same(fitted, expected) -> bool:
    """Whether a model has exactly these items. They have the middle of the scale as a mean."""
    items = expected.items.astype(np.float32)
    return fitted.mu.tolist() == [2.75 + expected.mu] and (fitted.items[0] == items).all()


def test_covariance_is_that_of_the_trainer(first, second):
    devices = Replayed(first.counts, second.counts)
    expected = ShuffledCovariance(messages=30).learn(devices, PLAN)
    assert [ITEMS[index] for index in np.flatnonzero(devices.head)] == list(second.task.items)
    fitted = fit_counts(first, second)
    assert same(fitted, expected)
    assert (fitted.model, fitted.items.shape[2] > 1) == ("shuffled-covariance", True)
    assert fitted.guarantee == first.task.certificate.guarantee
    assert (fitted.guarantee.unit, fitted.guarantee.epsilon) == ("user", "4")
    assert fitted.scale == SCALE


def test_item_means_are_those_of_the_trainer(first):
    expected = ShuffledItemMean(messages=30).learn(Replayed(first.counts), PLAN)
    fitted = fit_counts(first)
    assert same(fitted, expected)
    assert fitted.model == "shuffled-item-mean"
    means = 2.75 + expected.mu + expected.items[:70, 0]
    # Signs and uniform messages have deviations of up to .09 stars together.
    assert np.abs(means - (0.5 + 4.5 * np.linspace(0.3, 0.9, 90)[:70])).mean() < 0.1


def test_the_model_is_published_for_devices(first, second):
    """The provider has no user: the model has items alone."""
    fitted = fit_counts(first, second)
    model = item_model(fitted)
    assert (model.items, model.scale) == (ITEMS, SCALE)
    assert fitted.people.shape == (1, 0, fitted.items.shape[2])


def test_factors_separate_both_halves_of_the_head(first, second):
    fitted, size = fit_counts(first, second), len(second.task.items)
    index = [ITEMS.index(item) for item in second.task.items]
    rows = fitted.items[0, index, 1:]
    products = rows @ rows.T
    half = np.arange(size) < size // 2
    agree = half[:, None] == half
    assert products[agree].mean() > 0 > products[~agree].mean()
    assert not np.delete(fitted.items[0, :, 1:], index, 0).any()


def test_the_order_of_the_head_does_not_matter(first, second):
    """The second task with its items in another order, and its counts with them."""
    size = len(second.task.items)
    order = np.random.default_rng(2).permutation(size)
    place, pairs = np.argsort(order), size * (size - 1) // 2
    rows, columns = np.tril_indices(size, -1)
    one, other = place[rows], place[columns]
    to = np.maximum(one, other) * (np.maximum(one, other) - 1) // 2 + np.minimum(one, other)
    counts = second.counts.copy()
    counts[to], counts[pairs + to] = second.counts[:pairs], second.counts[pairs : 2 * pairs]
    task = second.task
    shuffled = replace(
        task,
        items=tuple(task.items[at] for at in order),
        means=tuple(task.means[at] for at in order),
    )
    items = fit_counts(first, second).items[0].astype(float)
    again = fit_counts(first, BucketCounts(shuffled, PEOPLE, counts)).items[0].astype(float)
    assert again[:, 1:] @ again[:, 1:].T == pytest.approx(items[:, 1:] @ items[:, 1:].T, abs=1e-5)


def test_the_second_task_is_announced_by_the_first(first, second):
    task = second.task
    assert task.is_announced_by(first.task)
    assert loads(task.document, task.address) == task
    assert 60 <= len(task.items) <= 70
    assert task.round.dummies <= 2_000
    assert task.scale == first.task.scale == SCALE
    means = fit_counts(first)
    known = dict(zip(ITEMS, means.mu[0] + means.items[0, :, 0], strict=True))
    expected = np.clip([1000 * known[item] for item in task.items], 500, 5000)
    assert task.means == pytest.approx(expected, abs=0.51)


def test_a_pair_is_announced_by_the_public_rule_of_the_trainer():
    """Below 6.5 times the square root of the number of items, item means alone are better."""
    few = replace(PLAN, bundles=2_000, delta="0.000005")
    for plan, most in ((PLAN, 2_000), (few, 2_000), (PLAN, 5)):
        limit = star_head_limit(plan, most)
        assert (announced_round(plan, most) is None) == (limit == 0)
        assert (first_task(plan, most_dummies=most).announced is None) == (limit == 0)
        assert (bundle_sizes(plan, most).head == 0) == (limit == 0)
    assert star_head_limit(PLAN, 2_000) == 90
    assert star_head_limit(PLAN, 2_000, most_items=61) == 0
    assert star_head_limit(few, 2_000) == 0


def test_sizes_of_signed_bundles_are_those_of_the_tasks(first):
    sizes = bundle_sizes(PLAN)
    assert sizes.items == first.task.round.messages + first.task.round.dummies
    many = replace(first, counts=np.r_[np.full(180, 30_000), first.counts[180:]])
    task = pair_task(many, key=bytes(32), closes=2_000, most_dummies=2_000)
    assert (sizes.head, sizes.pairs) == (90, task.round.messages + task.round.dummies)
    assert len(task.items) == 90


def test_the_signal_of_a_star_is_required(first):
    """A head that would be large enough without signs is not, with a sixth of the messages."""
    sums = first.counts[:90] + first.counts[90:180] - 2 * first.counts[180:].mean()
    announced = first.task.announced
    density = announced.dummies * first.task.certificate.devices / announced.buckets
    size = head_size(sums, people=PEOPLE, messages=30, density=density, most=90, signal=STAR_SIGNAL)
    task = pair_task(first, key=bytes(32), closes=2_000, most_dummies=2_000)
    assert (
        len(task.items)
        == size
        < head_size(sums, people=PEOPLE, messages=30, density=density, most=90)
    )


def test_largest_head_of_stars_is_bounded_by_memory():
    sparse = ShuffledRound(buckets=100_000, messages=10, dummies=1)
    assert largest_head(sparse, 2_000, 10_000, signed=True) == 1_500
    assert largest_head(sparse, 20, 10_000, signed=False) == 1_999


def test_without_signal_no_second_task_follows(first):
    flat = replace(first, counts=np.full_like(first.counts, first.counts[-1]))
    assert pair_task(flat, key=bytes(32), closes=2_000, most_dummies=2_000) is None
    assert pair_task(first, key=bytes(32), closes=2_000, most_dummies=5) is None
    alone = first_task(most_dummies=5)
    only = BucketCounts(alone, PEOPLE, first.counts[: alone.round.buckets])
    assert pair_task(only, key=bytes(32), closes=2_000, most_dummies=2_000) is None


def test_a_scale_is_for_a_signed_plan_and_the_reverse():
    for plan, scale in ((PLAN, None), (replace(PLAN, signed=False), SCALE)):
        with pytest.raises(RequestError, match="exactly if the plan is signed"):
            item_task(plan, ITEMS, ORIGINS, key=bytes(32), closes=1_000, scale=scale)


def test_counts_of_other_tasks_are_refused(first, second):
    with pytest.raises(RequestError, match="must be of a task about items"):
        fit_counts(second)
    other = replace(first, task=replace(first.task, scale=RatingScale.parse("0:5:0.5")))
    with pytest.raises(RequestError, match="not of the task that the first one announced"):
        fit_counts(other, second)
