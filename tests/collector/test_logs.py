"""Log lines have a time, a level, an event and a cause, and nothing about users."""

import io
import json
import logging
import re

import pytest

from tacit.collector.http.logs import LineFormatter, configure
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [A-Z]+ [a-z-]+ .+")


@pytest.fixture
def lines():
    """Return the lines that a function logs, formatted as text or JSON."""

    def logged(work, as_json=False):
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(LineFormatter(as_json))
        logger = logging.getLogger("tacit.collector")
        logger.addHandler(handler)
        level = logger.level
        logger.setLevel(logging.INFO)
        try:
            work(logger)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        return stream.getvalue().splitlines()

    return logged


def store_failed(logger):
    cause = 'disk "A"\nis full'
    logger.warning("Stopped: %s.", cause, extra={"event": "store-failed", "cause": cause})


def test_text_is_one_line(lines):
    (line,) = lines(store_failed)
    assert LINE.fullmatch(line)
    assert line.endswith(' WARNING store-failed Stopped: disk "A" | is full. '
                         'cause="disk \\"A\\"\\nis full"')  # fmt: skip


def test_json_has_the_same_fields(lines):
    (line,) = lines(store_failed, as_json=True)
    fields = json.loads(line)
    assert list(fields) == ["time", "level", "event", "message", "cause"]
    assert (fields["event"], fields["cause"]) == ("store-failed", 'disk "A"\nis full')


@pytest.mark.parametrize("as_json", [False, True])
def test_messages_of_exceptions_are_left_out(lines, as_json):
    def work(logger):
        try:
            raise ValueError("rated 5 stars by 00ff from 192.0.2.1")
        except ValueError:
            logger.exception("Failed")

    (line,) = lines(work, as_json)
    assert "ValueError at " in line
    assert "stars" not in line


def test_configuration_is_replaced_and_limits_libraries(capsys):
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure(as_json=True)
        configure()
        logging.getLogger("uvicorn").info("not written")
        logging.getLogger("tacit.x").info("written")
    finally:
        root.handlers[:], root.level = handlers, level
        logging.getLogger("tacit").setLevel(logging.NOTSET)
    (line,) = capsys.readouterr().err.splitlines()
    assert LINE.fullmatch(line)


def test_a_collector_logs_failure_recovery_start_and_stop(
    ask, collector, report, send, lines, tmp_path
):
    class Failing(SqliteStore):
        fails = False

        def insert(self, rows):
            if self.fails:
                raise StoreError("disk I/O error")
            return super().insert(rows)

    task = ask()
    sent = [report(task, symbols=(3,)) for _ in range(3)]

    def work(_):
        store = Failing(str(tmp_path / "reports.db"))
        client = collector(task, store=lambda: store)
        for store.fails, each in zip((False, True, False), sent, strict=True):
            send(client, task, each, authorization="Bearer secret")
        client.__exit__(None, None, None)

    written = lines(work)
    events = [line.split()[2] for line in written]
    assert [e for e in events if e != "statistics-failed"] == [
        "started", "store-failed", "store-recovered", "stopped"]  # fmt: skip
    text = "\n".join(written)
    assert all(each.id not in text and each.person not in text for each in sent)
    assert "secret" not in text
    assert 'cause="disk I/O error"' in text
