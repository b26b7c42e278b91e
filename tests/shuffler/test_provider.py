"""The complete way over HTTP: a task, devices, a shuffler, and a provider that fits lists."""

import random
from hashlib import sha256

import numpy as np
import pytest
from processes import free_port
from shuffled_tasks import PROVIDER, item_task
from shuffling import POLICY, PROVIDER_TOKEN, Clock, served, wait_until

from tacit.collector.ingest.enrolment import Enrolment
from tacit.device.list_profile import ListProfile
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.client import ShuffledClient
from tacit.shuffler.app import application
from tacit.shuffler.counts import load_counts
from tacit.shuffler.task_key import TaskKey
from tacit.wire.list_model import ListModel

PEOPLE, MANY = 25, 2_000


@pytest.fixture
def world(tmp_path):
    """A task with its key, tokens of people, and a shuffler that is served during the test."""
    clock, port, key = Clock(), free_port(), TaskKey.generate()
    task = item_task(key=key.public, shuffler=f"http://127.0.0.1:{port}")
    key.save(tmp_path / "films.key")
    (tmp_path / "films.json").write_bytes(task.document)
    (tmp_path / "shuffler").mkdir()
    people = Enrolment([sha256(f"p{each}".encode()).hexdigest() for each in range(MANY)], 1)
    provider = Enrolment([sha256(PROVIDER_TOKEN.encode()).hexdigest()], 1)
    app = application(tmp_path / "shuffler", [task], people, provider, clock=clock, every=0.01)
    with served(app, port):
        yield task, clock


def answer(task, clock, person) -> np.ndarray:
    """Send a bundle that is drawn from known words. Returns its counts in memory."""
    items = task.items[: person % 9]
    source = random.Random(person)
    with ShuffledClient(
        ":memory:", task.shuffler, PROVIDER, policy=POLICY, lifetime="50", token=f"p{person}",
        clock=clock, words=lambda: source.getrandbits(64),
    ) as device:  # fmt: skip
        assert device.sync(items).stored == 1
    again = random.Random(person)
    messages = draw_bundle(range(len(items)), task.round, lambda: again.getrandbits(64))
    return np.bincount(messages, minlength=task.round.buckets)


def test_from_a_task_to_lists(world, run, tmp_path):
    task, clock = world
    expected = sum(answer(task, clock, person) for person in range(PEOPLE))
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token",
    )  # fmt: skip
    status, _, notice = run(*count, PROVIDER_TOKEN)
    assert (status, "not closed yet" in notice) == (1, True)
    clock.now = task.closes
    batch = tmp_path / "shuffler" / f"{task.address}.batch"
    wait_until(lambda: run(*count, "p0")[2].startswith("The shuffler refuses"))
    assert batch.exists()
    assert (tmp_path / "films.key").exists()  # needed as long as there are no counts
    status, _, notice = run(*count, PROVIDER_TOKEN)
    assert status == 0, notice
    counts = load_counts(tmp_path / "counts.json")
    assert (counts.counts == expected).all()
    assert counts.bundles == PEOPLE
    assert not (tmp_path / "films.key").exists()
    assert not batch.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "counts.json", "films.json", "shuffler",
    ]  # fmt: skip
    model = tmp_path / "model"
    status, _, notice = run("shuffled", "fit", tmp_path / "counts.json", "-o", model)
    assert status == 0
    assert "trusting the shuffler" in notice
    lists = ListModel.from_bytes(model.read_bytes())
    best = ListProfile(lists, {task.items[0]: 1}).recommend(7)
    order = np.argsort(-counts.counts[1:8], kind="stable") + 1
    assert [item for item, _ in best] == [task.items[index] for index in order]


def test_a_batch_that_was_not_released_is_reported(world, run, tmp_path):
    task, clock = world
    for person in range(3):
        answer(task, clock, person)
    clock.now = task.closes
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token", PROVIDER_TOKEN,
    )  # fmt: skip
    wait_until(lambda: "not released: it had 3 bundles" in " ".join(run(*count)[2].split()))
    assert (tmp_path / "films.key").exists()


@pytest.mark.long
def test_counts_of_two_thousand_devices(world, run, tmp_path):
    task, clock = world
    expected = sum(answer(task, clock, person) for person in range(MANY))
    clock.now = task.closes
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token", PROVIDER_TOKEN,
    )  # fmt: skip
    wait_until(lambda: run(*count)[0] == 0)
    counts = load_counts(tmp_path / "counts.json")
    assert counts.bundles == MANY
    assert (counts.counts == expected).all()
