"""`/metrics` of a shuffler: types, help, values, and no change by a bundle."""

import random

from prometheus_client.parser import text_string_to_metric_families as parsed
from shuffled_tasks import item_task
from shuffling import wait_until

import tacit
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError
from tacit.shuffler.shuffler import Shuffler
from tacit.shuffler.task_key import TaskKey

TASK = item_task(key=TaskKey.generate().public)
COUNTERS = {"tacit_refusals", "tacit_commit_failures"}
GAUGES = {"tacit_ready", "tacit_clock_trusted", "tacit_closing_timestamp_seconds",
          "tacit_closing_lag_seconds", "tacit_batch_age_seconds", "tacit_build_info"}  # fmt: skip


def bundle(person) -> bytes:
    return random.Random(person).randbytes(TASK.bundle_bytes)


def text(shuffling):
    response = shuffling.client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    return response.text


def value(shuffling, name, **labels):
    values = [
        sample.value
        for family in parsed(text(shuffling))
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return values[0] if values else None


def test_every_metric_has_help_and_its_type(shuffling):
    shuffling.start(TASK)
    shuffling.send(TASK, b"")
    families = {family.name: family for family in parsed(text(shuffling))}
    types = {name: family.type for name, family in families.items()}
    assert {name for name, kind in types.items() if kind == "counter"} == COUNTERS
    assert {name for name, kind in types.items() if kind == "gauge"} == GAUGES
    assert types.keys() == COUNTERS | GAUGES
    assert all(family.documentation.endswith(".") for family in families.values())
    build = families["tacit_build_info"].samples[0].labels
    assert (build["version"], build["store"]) == (tacit.__version__, "sqlite")


def test_no_metric_changes_when_a_bundle_is_accepted(shuffling):
    """A record of metrics has no time of arrival, and no number of bundles before the closing."""
    shuffling.start(TASK)
    before = text(shuffling)
    for person in range(20):
        assert shuffling.send(TASK, bundle(person), person=person).status_code == 200
        assert text(shuffling) == before
    assert shuffling.send(TASK, bundle(0)).status_code == 200  # a retry
    assert shuffling.client.post(
        "/v1/ready", headers={"authorization": "Bearer person 3"}
    ).is_success
    assert text(shuffling) == before
    assert shuffling.send(TASK, bundle(1)).status_code == 409
    assert text(shuffling) != before  # the test sees a change


def test_no_token_or_complete_address_is_shown(shuffling):
    shuffling.start(TASK)
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    shuffling.send(TASK, b"", person="x")
    shuffling.close(TASK)
    content = text(shuffling)
    assert not any(
        word in content for word in ("person", TASK.address, TASK.provider, "testclient")
    )


def test_refusals_are_counted_by_answer(shuffling, monkeypatch, caplog):
    shuffling.start(TASK)
    shuffling.send(TASK, bundle(0))
    shuffling.send(TASK, bundle(1))
    shuffling.send(TASK, bundle(2)[1:])
    shuffling.send(TASK, bundle(2), person="unknown")
    shuffling.send(TASK, bundle(2), media="text/plain")

    async def defective(*arguments):
        raise ZeroDivisionError("a message with a secret")

    monkeypatch.setattr(Shuffler, "add", defective)
    assert shuffling.send(TASK, bundle(3), person=3).status_code == 500
    for answer in ("conflict", "length", "unauthorized", "media-type", "failed"):
        assert value(shuffling, "tacit_refusals_total", answer=answer) == 1
    (record,) = [each for each in caplog.records if getattr(each, "event", "") == "bundle-failed"]
    assert record.cause.startswith("ZeroDivisionError at ")
    assert "secret" not in caplog.text


def test_states_are_gauges(shuffling, monkeypatch):
    """Readiness, the clock, bundles that are not deleted, and a batch that is not received."""
    shuffling.start(TASK)
    shuffling.turn()
    label = {"task": TASK.address[:12]}
    assert value(shuffling, "tacit_closing_timestamp_seconds", **label) == TASK.closes
    assert value(shuffling, "tacit_closing_lag_seconds") == 0
    for person in range(20):
        shuffling.send(TASK, bundle(person), person=person)
    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "forget", failing)
        patched.setattr(SqliteStore, "probe", failing)
        shuffling.close(TASK)
        shuffling.clock.now += 5_000
        assert shuffling.client.get("/readyz").status_code == 503
        assert value(shuffling, "tacit_ready") == 0
        assert value(shuffling, "tacit_closing_lag_seconds") == 5_000
    assert shuffling.client.get("/readyz").status_code == 200
    assert value(shuffling, "tacit_ready") == 1
    wait_until(lambda: shuffling.has_deleted)
    assert value(shuffling, "tacit_closing_lag_seconds") == 5_000  # memory may contain bundles
    shuffling.await_batch(TASK)
    assert value(shuffling, "tacit_closing_lag_seconds") == 0
    assert value(shuffling, "tacit_closing_timestamp_seconds") is None
    assert value(shuffling, "tacit_batch_age_seconds") == 5_000
    shuffling.provider("DELETE", TASK)
    assert value(shuffling, "tacit_batch_age_seconds") == 0
    assert value(shuffling, "tacit_clock_trusted") == 1
    shuffling.clock.now += 100_000_000
    shuffling.turn()
    assert value(shuffling, "tacit_clock_trusted") == 0


def failing(self, *arguments):
    raise StoreError("gone")
