"""A shuffler and a provider that are killed at random lose nothing, and count nothing twice."""

import random
import subprocess
import threading
import time
from contextlib import suppress
from hashlib import sha256
from http.client import HTTPException

import pytest
from processes import CLI, ServerProcess, free_port
from shuffled_tasks import PROVIDER, item_task
from shuffling import POLICY, PROVIDER_TOKEN, Clock, is_available, served_task, wait_until

from tacit.collection.shuffled.counts import load_counts
from tacit.collector.ingest.signing_key import SigningKey
from tacit.device.shuffled.client import ShuffledClient
from tacit.device.transport import MOST_ANSWER, Answer
from tacit.errors import DataError
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled import register

PEOPLE, SECONDS, MOST_SECONDS = 40, 60, 600


KILLS = pytest.mark.parametrize(
    "kills", [pytest.param(20, id="20"), pytest.param(100, id="100", marks=pytest.mark.full)]
)


@pytest.mark.long
@KILLS
@pytest.mark.parametrize(
    ("enough", "signed"), [(True, False), (False, False), (True, True)],
    ids=["enough", "too few", "signed"],
)  # fmt: skip
def test_killed_at_random(tmp_path, enough, signed, kills):
    """No acknowledged bundle is lost, and one batch is released, if it has enough of them.

    It is available only when no bundle is on the disk. If the task requires signed tokens, those of
    the batch are those of its bundles, once each.
    """
    port, closes = free_port(), int(time.time()) + SECONDS
    key = SigningKey.generate(tmp_path / "films.pem") if signed else None
    task = item_task(
        key=TaskKey.generate().public, shuffler=f"http://127.0.0.1:{port}", closes=closes,
        signer=key and key.modulus,
    )  # fmt: skip
    (tmp_path / "task.json").write_bytes(task.document)
    people = PEOPLE if enough else 19
    tokens = [f"person-{index}" for index in range(people)]
    for name, listed in (("people", tokens), ("provider", [PROVIDER_TOKEN])):
        digests = [sha256(token.encode()).hexdigest() for token in listed]
        (tmp_path / name).write_text("\n".join(digests))
    command = [
        *CLI, "shuffle", "--folder", tmp_path / "shuffler", "--tokens", tmp_path / "people",
        "--provider-tokens", tmp_path / "provider", "--task", tmp_path / "task.json",
        "--bundles", "20", "--honest", "1", "--port", str(port),
    ]  # fmt: skip
    server = ServerProcess(command, port, tmp_path / "shuffler.log")
    acknowledged, bodies = set(), {}
    devices = [
        threading.Thread(target=_answer, args=(task, key, token, closes, acknowledged, bodies))
        for token in tokens
    ]
    for device in devices:
        device.start()
    done = 0
    while (result := _outcome(server, task)) is None or done < kills:
        assert time.time() < closes + MOST_SECONDS
        time.sleep(random.random())
        server.kill()
        server.start()
        done += 1
        if is_available(task):
            content = b"".join(path.read_bytes() for path in (tmp_path / "shuffler").iterdir())
            assert not any(body[:159] in content for body in bodies.values())
    for device in devices:
        device.join()
    headers = {"authorization": f"Bearer {PROVIDER_TOKEN}"}
    path = f"/v1/tasks/{task.address}/batch"
    status, batch = server.request("GET", path, headers=headers)
    released = server.request("GET", path.replace("batch", "tokens"), headers=headers)
    server.request("DELETE", path, headers=headers)
    server.kill()
    server.start()
    assert server.request("GET", path, headers=headers)[0] == 410  # it is not computed again
    assert _closing(server, task) == result
    server.stop()
    assert len(acknowledged) <= result.bundles <= people
    if not enough:
        assert (result.batch, status) == (None, 410)
        return
    assert result.batch == sha256(batch).hexdigest()
    messages = messages_of(batch)
    assert len(set(messages)) == len(messages) == result.bundles * 43
    size = task.bundle_bytes
    bundles = {token: set(messages_of(body[:size])) for token, body in bodies.items()}
    senders = [token for token in bundles if bundles[token] <= set(messages)]
    assert len(senders) == result.bundles
    assert acknowledged <= set(senders)
    assert len(acknowledged) >= 20
    expected = sorted(bodies[token][size:] for token in senders)
    assert released == ((200, b"".join(expected)) if signed else (410, released[1]))


def _outcome(server, task):
    """The closing of a task whose bundles are deleted, None before."""
    with suppress(OSError, HTTPException):  # requests that the renewal interrupts
        closing, metrics = _closing(server, task), server.get("/metrics")[1]
        return closing if b"tacit_closing_lag_seconds 0.0\n" in metrics else None
    return None


def _closing(server, task):
    return register.loads(server.get("/v1/register")[1]).closed.get(task.address)


def _answer(task, key, token, closes, acknowledged, bodies):
    """A device that tries again until its bundle is acknowledged, or the task is closed."""
    with ShuffledClient(
        ":memory:", task.shuffler, PROVIDER, policy=POLICY, lifetime="50", token=token,
        random_share=lambda: 0.0, signing=lambda method, path, body: Answer(200, key.sign(body)),
    ) as device:  # fmt: skip
        send = device._transport

        def transport(method, path, body=None, longest=MOST_ANSWER):
            if body is not None:
                assert bodies.setdefault(token, body) == body  # a retry has the same bytes
            return send(method, path, body, longest)

        device._transport = device._documents._transport = transport
        time.sleep(random.random() * (closes - time.time()) / 2)
        while time.time() < closes + 5:
            try:
                outcome = device.sync(task.items[:3])
            except DataError:  # half a response of a server that was killed
                continue
            if outcome.stored:
                acknowledged.add(token)
            if outcome.stored or outcome.given_up:
                return
            time.sleep(0.2)


@pytest.mark.long
@KILLS
def test_counting_killed_at_random(tmp_path, kills):
    """At every moment, the counts are complete on disk, or the key and the batch are."""
    clock, key = Clock(), TaskKey.generate()
    task = item_task(key=key.public, shuffler=f"http://127.0.0.1:{free_port()}")
    folder, saved = tmp_path / "shuffler", tmp_path / "films.key"
    batch, output = folder / f"{task.address}.batch", tmp_path / "counts.json"
    (tmp_path / "films.json").write_bytes(task.document)
    command = [
        *CLI, "shuffled", "count", tmp_path / "films.json", "--key", saved, "-o", output,
        "--token", PROVIDER_TOKEN,
    ]  # fmt: skip
    with served_task(folder, task, PEOPLE, clock):
        for person in range(PEOPLE):
            with ShuffledClient(
                ":memory:", task.shuffler, PROVIDER, policy=POLICY, lifetime="50",
                token=f"p{person}", clock=clock,
            ) as device:  # fmt: skip
                assert device.sync(task.items[: person % 9]).stored == 1
        clock.now = task.closes
        wait_until(lambda: is_available(task))
        released = batch.read_bytes()
        messages = messages_of(released)
        expected = key.open(messages, task.address, task.round.buckets).counts
        done, seconds = 0, None
        while done < kills or seconds is None:
            batch.write_bytes(released)
            key.save(saved)
            start = time.monotonic()
            while not _is_counted(command, seconds):
                done += 1
                if output.exists():
                    assert (load_counts(output).counts == expected).all()
                else:
                    assert TaskKey.load(saved).public == key.public
                    assert batch.read_bytes() == released
            counts = load_counts(output)
            assert (counts.counts == expected).all()
            assert counts.bundles == PEOPLE
            assert not saved.exists()
            assert not batch.exists()
            output.unlink()
            seconds = seconds or time.monotonic() - start


def _is_counted(command, seconds):
    """Count, and kill the process after a part of the seconds of a run. Return whether it ended."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            _, notice = process.communicate(
                timeout=None if seconds is None else 1.3 * seconds * random.random()
            )
        except subprocess.TimeoutExpired:
            process.kill()
            return False
    assert process.returncode == 0, notice
    return True
