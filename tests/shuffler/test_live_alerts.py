"""Prometheus scrapes a running shuffler: each alert fires in trouble and clears after it."""

import random
import re
from itertools import count
from pathlib import Path

import httpx2
import pytest
from monitoring import Senders, TroubledStore, awaited, prometheus, rules
from processes import free_port
from shuffled_tasks import item_task
from shuffling import served, served_anew, wait_until

from tacit.shuffler import app
from tacit.shuffler.shuffler import Shuffler
from tacit.shuffler.task_key import TaskKey

DEPLOYED = Path(__file__).parents[2] / "deploy" / "shuffler"
TASK = item_task(key=TaskKey.generate().public)
DEFECT = b"\xff" * TASK.bundle_bytes
DAYS = 6 * 86_400

pytestmark = pytest.mark.long


@pytest.fixture
def stores(monkeypatch):
    """The stores of the shufflers that are started, which are in no trouble at first."""
    opened = []

    def store(*arguments, **options):
        opened.append(TroubledStore(*arguments, **options))
        opened[-1].troubled = False
        return opened[-1]

    monkeypatch.setattr(app, "SqliteStore", store)
    return opened


@pytest.fixture
def defect(monkeypatch):
    """One bundle with an unexpected failure, and a short queue."""
    add = Shuffler.add

    async def defective(self, writer, task, identity, *sent):
        if sent[0] == DEFECT:
            raise ZeroDivisionError
        return await add(self, writer, task, identity, *sent)

    monkeypatch.setattr(Shuffler, "add", defective)
    monkeypatch.setattr(app, "MOST_WAITING", 2)


def test_each_alert_fires_and_clears_on_a_running_shuffler(
    shuffling, stores, defect, tmp_path
) -> None:
    names, seen = {rule["alert"] for rule in rules(DEPLOYED)}, set()
    assert len(names) == 9
    port, people = free_port(), count()
    shuffling.client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def send(person):
        body = random.Random(person).randbytes(TASK.bundle_bytes)
        return shuffling.send(TASK, body, person=person).status_code

    def send_wrong():
        shuffling.send(TASK, DEFECT)
        shuffling.send(TASK, DEFECT, person="unknown")

    def not_fired(wanted):
        seen.update(server.firing())
        return wanted - seen

    with prometheus(tmp_path / "prometheus", port, DEPLOYED) as server:
        awaited(lambda: not_fired({"TacitShufflerDown"}))
        with served(shuffling.application(TASK), port):
            wrong = Senders(send_wrong)
            awaited(lambda: not_fired({"TacitShufflerBundlesFail", "TacitShufflerUnauthorized"}))
            wrong.close()
            stores[0].troubled = True
            valid = Senders(lambda: send(next(people) % 40))
            awaited(lambda: not_fired({"TacitShufflerNotReady", "TacitShufflerCommitsFail",
                                       "TacitShufflerOverloaded"}))  # fmt: skip
            valid.close()
            stores[0].troubled = False
            assert [send(person) for person in range(20)] == [200] * 20
            stores[0].troubled = True  # bundles cannot be deleted
            shuffling.close(TASK)
            for _ in range(2):
                shuffling.clock.now += DAYS
                shuffling.turn()
            awaited(lambda: not_fired({"TacitShufflerClosingLate", "TacitShufflerBatchWaiting"}))
            shuffling.clock.now += 100 * DAYS
            awaited(lambda: not_fired(names))
            awaited(lambda: {each for each in metrics() if not server.query(each)})
            shuffling.clock.now -= 100 * DAYS
        with served_anew(
            lambda anew: shuffling.application(confirmed=True, forgotten=anew), port
        ) as servers:
            wait_until(lambda: len(servers) == 2 and servers[1].started)
            assert shuffling.provider("DELETE", TASK).status_code == 200
            awaited(server.firing)


def metrics():
    """The metric of each rule."""
    for rule in rules(DEPLOYED):
        name = re.search(r"up\b|tacit_\w+", rule["expr"]).group()
        yield f'{name}{{job="tacit-shuffler"}}'
