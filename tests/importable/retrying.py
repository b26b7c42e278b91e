"""Clients that send until they are told that a report is stored, as devices do."""

import http.client
import json
import secrets
import threading
import time
from contextlib import closing

from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.slot_codec import pack_rated
from tacit.wire.report import Report, dumps, upload


class Clients:
    """`count` threads that send reports, some a request, again and again until acknowledged.

    `acked`: the reports that a collector said are stored, by id.
    """

    def __init__(self, task, port: int, count: int = 8, each: int = 5):
        self._task, self._port, self._each = task, port, each
        self._going = True
        self.acked: dict[str, Report] = {}
        self.wrong: list[int] = []
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def finish(self):
        """Let everybody finish what was begun."""
        self._going = False
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _run(self):
        while self._going:
            reports = [self._report() for _ in range(self._each)]
            self._send(reports)
            self.acked |= {report.id: report for report in reports}

    def _report(self) -> Report:
        channel = self._task.channels[0]
        places = (secrets.randbelow(len(self._task.items)),)
        symbols = (secrets.randbelow(len(channel.outputs)),)
        epoch = self._task.epoch(time.time())
        return Report(
            secrets.token_hex(16), channel.id, epoch, secrets.token_hex(16), places, symbols
        )

    def _send(self, reports):
        body = upload([dumps(report, self._task.channels[0]) for report in reports])
        path = f"/v1/tasks/{self._task.address}/reports"
        for _ in range(4000):
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
            try:
                connection.request("POST", path, body, {"content-type": "application/json"})
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException):
                time.sleep(0.03)
                continue
            finally:
                connection.close()
            if response.status == 200:
                return
            if response.status != 503:
                self.wrong.append(response.status)
                raise AssertionError(json.loads(answer))
            time.sleep(0.02)
        raise AssertionError("it was never stored")


def stored(db):
    with closing(open_reader(db)) as reader:
        rows = [row for block in reader.scan(1) for row in block]
    found = {row.id.hex(): (row.person.hex(), row.epoch, row.cells) for row in rows}
    assert len(found) == len(rows)
    return found


def promised(acked):
    return {
        id: (report.person, report.epoch, pack_rated(report.places[0], report.symbols[0]))
        for id, report in acked.items()
    }


def nothing_is_lost(collector, clients, fewest):
    """Every acknowledged report is stored as it was sent, and there were more than `fewest`."""
    found, wanted = stored(collector.db), promised(clients.acked)
    assert not clients.wrong
    assert len(wanted) > fewest
    assert {id: found.get(id) for id in wanted} == wanted
