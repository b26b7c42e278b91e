"""Star ratings from devices to recommendations, in memory. Counts are those of the same words."""

import json
import random
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from shuffled_tasks import ITEMS, PROVIDER, SCALE, SHUFFLER, FakeShuffler, pair_task, star_task
from shuffling import POLICY, Clock

from tacit import item_model
from tacit.collection.shuffled.counts import BucketCounts, load_counts
from tacit.device.profile import Profile
from tacit.device.shuffled.client import ShuffledClient
from tacit.device.shuffled.signs import signed_bundle
from tacit.device.transport import Answer
from tacit.privacy.ledger import nano
from tacit.shuffler.batch_files import BatchFiles
from tacit.shuffler.decryption import open_batch
from tacit.shuffler.task_key import TaskKey
from tacit.training.shuffled.collected import fit_counts
from tacit.training.shuffled.signed_estimates import (
    factor_rows,
    item_sums,
    mean_thousandths,
    pair_sums,
    shrunk_means,
)
from tacit.wire.shuffled.register import Closing

PEOPLE = 25


def words_of(person, number):
    """Known words of a person for a task, the same at every call."""
    source = random.Random(100 * person + number)
    return lambda: source.getrandbits(64)


def ratings_of(person):
    """Ratings of the first items, between none and all of them."""
    return {item: str(1 + (person + 3 * at) % 5) for at, item in enumerate(ITEMS[: person % 9])}


def counts_of(task, number) -> np.ndarray:
    """Counts of the messages that devices draw from the same words."""
    counts = np.zeros(task.round.buckets, np.int64)
    for person in range(PEOPLE):
        messages = signed_bundle(task, SCALE, ratings_of(person), words_of(person, number))
        np.add.at(counts, messages, 1)
    return counts


class People:
    """Devices with known words, and a provider that opens their batches."""

    def __init__(self, folder):
        self.folder, self.shuffler, self.number = folder, FakeShuffler(), 0
        self.model = None
        self.devices = [
            ShuffledClient(
                ":memory:", SHUFFLER, PROVIDER, policy=POLICY, lifetime="50", clock=Clock(),
                transport=self.shuffler, downloads=self.download, words=self.words(person),
            )
            for person in range(PEOPLE)
        ]  # fmt: skip

    def download(self, method, path, body=None, longest=0):
        if self.model is None:
            return Answer(404)
        address = sha256(self.model).hexdigest()
        is_model = path == f"/v1/models/{address}"
        return Answer(200, self.model if is_model else json.dumps({"model": address}).encode())

    def words(self, person):
        source = {}
        return lambda: source.setdefault(self.number, words_of(person, self.number))()

    def collect(self, task, key) -> BucketCounts:
        """Send a bundle of every device to a task, and open the batch."""
        self.number += 1
        self.shuffler.add(task)
        for person, device in enumerate(self.devices):
            assert device.sync(ratings_of(person)).stored == 1
        self.shuffler.register.add_closing(task.address, Closing(bundles=PEOPLE, batch="0" * 64))
        bundles = [body for address, body in self.shuffler.bundles if address == task.address]
        files = BatchFiles(self.folder)
        files.write(task.address, bundles)
        path = self.folder / f"{self.number}.key"
        key.save(path)
        return open_batch(self.folder / f"{task.address}.batch", task, path)


@pytest.fixture
def people(tmp_path):
    people = People(tmp_path)
    yield people
    for device in people.devices:
        device.close()


def test_from_ratings_to_recommendations(people, tmp_path):
    key, other = TaskKey.generate(), TaskKey.generate()
    task = star_task(key=key.public)
    first = people.collect(task, key)
    assert first.bundles == PEOPLE
    assert (first.counts == counts_of(task, 1)).all()
    means = shrunk_means(item_sums(first.counts, 8), 2.0)
    thousandths = tuple(mean_thousandths(means, SCALE)[1:].tolist())
    pairs = pair_task(task, ITEMS[1:], means=thousandths, key=other.public)
    second = people.collect(pairs, other)
    assert (second.counts == counts_of(pairs, 2)).all()
    assert {device.ledger.spent for device in people.devices} == {nano(task.certificate.replaced)}

    path = tmp_path / "counts.json"
    for counts in (first, second):
        path.write_bytes(counts.document)
        assert (load_counts(path).counts == counts.counts).all()
    fitted = fit_counts(first, second)
    rows = factor_rows(pair_sums(second.counts, 7), 2.0)
    assert fitted.items[0, 1:, 1:].tolist() == rows.astype(np.float32).tolist()
    assert not fitted.items[0, 0, 1:].any()
    assert fitted.items[0, :, 0].tolist() == means.biases.astype(np.float32).tolist()
    assert fitted.mu.tolist() == [3 + means.mu]

    model = item_model(fitted)
    ratings = ratings_of(4)
    best = Profile(model, {item: float(rating) for item, rating in ratings.items()}).recommend(4)
    device = people.devices[4]
    people.model = model.to_bytes()
    device.sync(ratings)
    assert device.recommend(ratings, 4) == best
    assert {item for item, _ in best} == set(ITEMS[4:])


def test_a_wrong_sign_changes_the_counts():
    """The twin of `counts_of` depends on ratings, on means, and on words."""
    task = star_task()
    pairs = pair_task(task, ITEMS)
    assert not (counts_of(task, 1) == counts_of(task, 2)).all()
    reversed_means = replace(pairs, means=tuple(reversed(pairs.means)))
    assert not (counts_of(pairs, 1) == counts_of(reversed_means, 1)).all()
