"""Prometheus scrapes a running collector: each alert fires in trouble and clears after it."""

import json
import re
import subprocess
import threading
import time
from dataclasses import replace
from hashlib import sha256
from os import utime
from pathlib import Path

import pytest
import uvicorn
from balancer import asked
from monitoring import Senders, TroubledStore, awaited, prometheus, rules
from processes import CLI, free_port

from tacit.collector.http import upload as upload_handler
from tacit.collector.http.app import application
from tacit.collector.http.server import configured
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.opening import opened
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport
from tacit.wire.report import dumps, upload

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus"
DAY = 86_400

pytestmark = pytest.mark.long


class Operated:
    """A collector in a thread of this process, with a store and a clock that fail on demand."""

    def __init__(self, folder, task, clock, token):
        self.task, self.port = task, free_port()
        self.models = PublishedModels(folder / "models")
        self._db, self._clock = str(folder / "reports.db"), clock
        self._enrolment = Enrolment([sha256(token.encode()).hexdigest()], most=10**6, people=10**6)

    def start(self, troubled):
        components = opened(self._db, [self.task], self._enrolment, wall=self._clock)
        components.store.close()
        store = TroubledStore(self._db)
        store.troubled = troubled
        app = application(
            replace(components, store=store),
            [self.task],
            published=self.models,
            enrolment=self._enrolment,
        )
        self._server = uvicorn.Server(configured(app, "127.0.0.1", self.port))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def stop(self):
        self._server.should_exit = True
        self._thread.join()

    def send(self, body, token="token"):
        headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        path = f"/v1/tasks/{self.task.address}/reports"
        return asked(self.port, "POST", path, body, headers)[0]

    def prune(self):
        """Delete expired reports now: a collector counts its store once in ten minutes."""
        subprocess.run([*CLI, "admin", "prune", "--db", self._db], check=True, capture_output=True)

    def add_expired_report(self):
        """Store a report whose retention ended eight days ago."""
        store = SqliteStore(self._db)
        number = store.hold(self.task.document).number
        epoch = self.task.epoch(time.time()) - self.task.retention_days - 9
        store.set_clock(int(time.time()))
        store.insert([StoredReport(b"r" * 16, number, epoch, 0, b"p" * 16, b"\0\0\0\0\1")])
        store.close()


def queries():
    """The dashboard's expressions, and the metric of each rule."""
    panels = json.loads((DEPLOY / "grafana" / "tacit.json").read_text())["panels"]
    for panel in panels:
        yield from (target["expr"] for target in panel["targets"])
    for rule in rules(RULES):
        name = re.search(r"up\b|tacit_\w+|process_\w+", rule["expr"]).group()
        yield f'{name}{{job="tacit"}}'


@pytest.fixture
def defect(monkeypatch):
    """One body that an upload cannot process for a reason that nobody foresaw."""
    read = upload_handler.read

    def defective(body):
        if body == b"defect":
            raise ZeroDivisionError
        return read(body)

    monkeypatch.setattr(upload_handler, "read", defective)
    monkeypatch.setattr(upload_handler, "MOST_WAITING", 2)


def test_each_alert_fires_and_clears_on_a_running_collector(
    ask, clock, report, defect, tmp_path
) -> None:
    now = clock.now = time.time()
    task = ask(start=int(now) - 45 * DAY, retention_days=30)
    collector = Operated(tmp_path, task, clock, "token")
    newest = tmp_path / "models" / f"{task.address}.newest"
    newest.parent.mkdir(exist_ok=True)
    newest.write_text("0" * 64)
    utime(newest, (now - 3 * DAY, now - 3 * DAY))
    collector.add_expired_report()
    names, seen = {rule["alert"] for rule in rules(RULES)}, set()
    assert len(names) == 12

    def not_fired(wanted):
        seen.update(server.firing())
        return wanted - seen

    def send_valid():
        body = upload([dumps(report(task, epoch=task.epoch(time.time())), task.channels[0])])
        return collector.send(body)

    def send_wrong():
        collector.send(b"{", "unknown")
        collector.send(b"{")
        collector.send(b"defect")

    with prometheus(tmp_path / "prometheus", collector.port, RULES) as server:
        awaited(lambda: not_fired({"TacitCollectorDown"}))
        collector.start(troubled=True)
        awaited(lambda: not_fired({"TacitNoReports"}))
        clock.now += 30 * DAY
        wrong = Senders(send_wrong)
        awaited(lambda: not_fired({"TacitUploadsRefused", "TacitUnauthorized"}))
        wrong.close()
        valid = Senders(send_valid)
        awaited(lambda: not_fired(names))
        awaited(lambda: {each for each in queries() if not server.query(each)})
        valid.close()
        collector.stop()
        clock.now = time.time()
        utime(newest)
        collector.prune()
        collector.start(troubled=False)

        def not_cleared():
            assert send_valid() in (200, 502)
            return server.firing()

        awaited(not_cleared)
        collector.stop()
