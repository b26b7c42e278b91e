"""A shuffler that is killed at random loses no acknowledged bundle and releases one batch."""

import random
import threading
import time
from hashlib import sha256

import pytest
from processes import CLI, ServerProcess, free_port
from shuffled_tasks import PROVIDER, item_task
from shuffling import POLICY, PROVIDER_TOKEN

from tacit.device.shuffled.client import ShuffledClient
from tacit.device.transport import MOST_ANSWER
from tacit.errors import DataError
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled import register

PEOPLE, SECONDS, MOST_SECONDS = 40, 60, 600


@pytest.mark.long
@pytest.mark.parametrize("enough", [True, False])
def test_killed_at_random(tmp_path, enough):
    port, closes = free_port(), int(time.time()) + SECONDS
    task = item_task(
        key=TaskKey.generate().public, shuffler=f"http://127.0.0.1:{port}", closes=closes
    )
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
        threading.Thread(target=_answer, args=(task, token, closes, acknowledged, bodies))
        for token in tokens
    ]
    for device in devices:
        device.start()
    kills = 0
    while (result := _closing(server, task)) is None or kills < 20:
        assert time.time() < closes + MOST_SECONDS
        time.sleep(random.random())
        server.kill()
        server.start()
        kills += 1
    for device in devices:
        device.join()
    headers = {"authorization": f"Bearer {PROVIDER_TOKEN}"}
    status, batch = server.request("GET", f"/v1/tasks/{task.address}/batch", headers=headers)
    server.stop()
    assert len(acknowledged) <= result.bundles <= people
    if not enough:
        assert (result.batch, status) == (None, 410)
        return
    assert result.batch == sha256(batch).hexdigest()
    messages = messages_of(batch)
    assert len(set(messages)) == len(messages) == result.bundles * 43
    senders = [token for token in tokens if set(messages_of(bodies[token])) <= set(messages)]
    assert len(senders) == result.bundles
    assert acknowledged <= set(senders)
    assert len(acknowledged) >= 20


def _closing(server, task):
    return register.loads(server.get("/v1/register")[1]).closed.get(task.address)


def _answer(task, token, closes, acknowledged, bodies):
    """A device that tries again until its bundle is acknowledged, or the task is closed."""
    with ShuffledClient(
        ":memory:", task.shuffler, PROVIDER, policy=POLICY, lifetime="50", token=token,
        random_share=lambda: 0.0,
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
