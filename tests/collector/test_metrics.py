"""`/metrics`: what is exported, its types and help, and its values after known uploads."""

import os
import time
from contextlib import closing

import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed

import tacit
from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport, StoreError

COUNTERS = {"tacit_uploads", "tacit_erasures", "tacit_reports", "tacit_commits",
            "tacit_commit_failures"}  # fmt: skip
HISTOGRAMS = {"tacit_commit_seconds", "tacit_upload_body_bytes", "tacit_clock_skew_epochs"}
GAUGES = {"tacit_reports_waiting", "tacit_ready", "tacit_clock_trusted", "tacit_store_bytes",
          "tacit_model_published_timestamp_seconds", "tacit_store_counted_timestamp_seconds",
          "tacit_stored_reports", "tacit_backlog_reports", "tacit_tombstones",
          "tacit_retention_lag_seconds", "tacit_build_info"}  # fmt: skip


def families(client):
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    return {family.name: family for family in parsed(response.text)}


def value(found, name, sample=None, **labels):
    (same,) = [
        each.value
        for each in found[name].samples
        if each.name == (sample or name) and labels.items() <= each.labels.items()
    ]
    return same


@pytest.fixture
def counted(ask, collector, tmp_path, clock):
    """A collector whose store was counted after it started, and its task."""
    task = ask(retention_days=10)
    published = PublishedModels(tmp_path / "models")
    (tmp_path / "models").mkdir()
    client = collector(task, published=published)

    def counts():
        for _ in range(2000):
            found = families(client)
            if "tacit_stored_reports" in found:
                return found
            time.sleep(0.005)
        raise AssertionError("the store was not counted")

    return client, task, counts


def test_every_metric_has_help_and_its_type(counted):
    _, _, counts = counted
    found = counts()
    types = {name: family.type for name, family in found.items()
             if name.startswith("tacit") and not name.endswith("_created")}  # fmt: skip
    assert {name for name, kind in types.items() if kind == "counter"} == COUNTERS
    assert {name for name, kind in types.items() if kind == "histogram"} == HISTOGRAMS
    assert {name for name, kind in types.items() if kind == "gauge"} == GAUGES
    assert all(found[name].documentation.endswith(".") for name in types)
    assert "process_resident_memory_bytes" in found
    build = found["tacit_build_info"].samples[0].labels
    assert (build["version"], build["store"]) == (tacit.__version__, "sqlite")


def test_uploads_are_measured(counted, report, send):
    client, task, _ = counted
    first, late = report(task), report(task, epoch=18)
    bodies = [
        send(client, task, *each) for each in ([first], [first, late], [report(task, epoch=3)])
    ]
    assert [each.status_code for each in bodies] == [200, 200, 422]
    sizes = [int(each.request.headers["content-length"]) for each in bodies]
    found = families(client)
    assert value(found, "tacit_reports", "tacit_reports_total", outcome="stored") == 2
    assert value(found, "tacit_reports", "tacit_reports_total", outcome="duplicate") == 1
    assert value(found, "tacit_uploads", "tacit_uploads_total", answer="accepted") == 2
    assert value(found, "tacit_uploads", "tacit_uploads_total", answer="epoch") == 1
    body = "tacit_upload_body_bytes"
    assert value(found, body, f"{body}_sum") == sum(sizes)
    skew = "tacit_clock_skew_epochs"
    assert value(found, skew, f"{skew}_bucket", le="-7.0") == 1
    assert value(found, skew, f"{skew}_bucket", le="0.0") == 3
    assert value(found, "tacit_commit_seconds", "tacit_commit_seconds_count") == 2
    assert first.person not in client.get("/metrics").text


def test_contents_of_the_store_are_counted(ask, collector, tmp_path, clock):
    task, db = ask(retention_days=10), str(tmp_path / "reports.db")
    with closing(open_store(db)) as store:
        number = store.hold(task.document).number
        store.set_clock(clock.now)
        store.insert(
            [StoredReport(os.urandom(16), number, epoch, 0, os.urandom(16), b"x")
             for epoch in (19, 20, 20)]
        )  # fmt: skip
        store.erase(number, b"m" * 16, 20)
    folder = tmp_path / "models"
    folder.mkdir()
    newest = folder / f"{task.address}.newest"
    newest.write_text("0" * 64)
    os.utime(newest, (0, clock.now - 50))
    client = collector(task, published=PublishedModels(folder))
    for _ in range(2000):
        found = families(client)
        if "tacit_stored_reports" in found:
            break
        time.sleep(0.005)
    label = {"task": task.address[:12]}
    assert value(found, "tacit_stored_reports", **label) == 3
    assert value(found, "tacit_backlog_reports", **label) == 3  # published in epoch 19
    assert value(found, "tacit_tombstones", **label) == 1
    assert value(found, "tacit_retention_lag_seconds", **label) == 0
    assert value(found, "tacit_model_published_timestamp_seconds", **label) == clock.now - 50
    assert value(found, "tacit_store_bytes") > 0


def test_readiness_and_clock_are_gauges(ask, collector, clock, tmp_path):
    class Failing(SqliteStore):
        fails = False

        def probe(self):
            if self.fails:
                raise StoreError("gone")
            super().probe()

    store = Failing(str(tmp_path / "reports.db"))
    client = collector(ask(), store=lambda: store)
    assert value(families(client), "tacit_ready") == 1
    store.fails = True
    client.get("/readyz")
    assert value(families(client), "tacit_ready") == 0
    store.fails = False
    client.get("/readyz")
    assert value(families(client), "tacit_ready") == 1
