"""A collector is ready if a write to its store succeeds, and recovers without an upload."""

import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from balancer import Balancer
from processes import CLI, PostgresProcess, free_port
from retrying import Clients, nothing_is_lost

from tacit.collector.ingest.opening import opened
from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError
from tacit.errors import RequestError

LIMIT = 20
"""Seconds until a test fails; each event is awaited."""


class Failing(SqliteStore):
    """A store that fails while `error` is set."""

    error = None

    def probe(self):
        if self.error:
            raise self.error
        super().probe()

    def insert(self, rows):
        if self.error:
            raise self.error
        return super().insert(rows)


def awaited(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_failure_is_reported_with_its_reason_before_any_upload(ask, collector, tmp_path):
    store = Failing(str(tmp_path / "reports.db"))
    client = collector(ask(), store=lambda: store)
    assert client.get("/readyz").text == "ready\n"
    store.error = StoreError("the disk is full (0 MiB free)")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert answer.json()["type"] == "urn:tacit:problem:unavailable"
    assert answer.json()["detail"] == (
        "Reports cannot be stored at the moment: the disk is full (0 MiB free)."
    )
    store.error = None
    assert client.get("/readyz").status_code == 200


def test_reason_of_an_unexpected_error_is_its_type_alone(ask, collector, tmp_path, caplog):
    store = Failing(str(tmp_path / "reports.db"))
    client = collector(ask(), store=lambda: store)
    store.error = ValueError("postgresql://me:secret@host")
    assert client.get("/readyz").json()["detail"].endswith(": ValueError.")
    assert "secret" not in caplog.text


def test_writer_recovers_without_requests(ask, collector, report, send, tmp_path, caplog):
    task, store = ask(), Failing(str(tmp_path / "reports.db"))
    client = collector(task, store=lambda: store)
    store.error = StoreError("disk I/O error")
    assert send(client, task, report(task)).status_code == 503
    store.error = None
    awaited(lambda: "can be stored again" in caplog.text)
    assert "cannot be stored: disk I/O error" in caplog.text
    assert send(client, task, report(task)).status_code == 200


def test_a_probe_of_a_file_writes_to_its_log(tmp_path):
    store = SqliteStore(str(tmp_path / "reports.db"))
    store.set_clock(7)
    log = tmp_path / "reports.db-wal"
    before = log.read_bytes()
    store.probe()
    assert log.read_bytes() != before
    assert store.clock() == 7
    store.close()


@pytest.mark.long
def test_second_collector_on_a_file_is_refused(ask, started, tmp_path):
    first = started(ask())
    with pytest.raises(AssertionError, match="Another collector is running on"):
        started(ask())
    first.kill()  # the lock ends with the process
    first.start()
    assert first.get("/readyz")[0] == 200


def test_lock_ends_with_the_store(tmp_path):
    path = str(tmp_path / "reports.db")
    store = open_store(path, sole=True)
    with pytest.raises(RequestError, match="Stop it first"):
        open_store(path, sole=True)
    open_store(path).close()  # administration may write next to a collector
    with pytest.raises(RequestError, match="Another collector"):
        open_store(path, sole=True)
    store.close()
    open_store(path, sole=True).close()
    (tmp_path / "text").write_text("not a database, and longer than an empty file")
    for _ in range(2):  # a file that is refused is not locked
        with pytest.raises(RequestError, match="cannot store reports"):
            open_store(str(tmp_path / "text"), sole=True)


@contextmanager
def disk(folder, size):
    """Mount a file system of its own."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def recovers(collector, clients):
    """Within ten seconds it is ready and stores reports again, and none was lost."""
    begun = time.monotonic()
    awaited(lambda: collector.get("/readyz")[0] == 200)
    assert time.monotonic() - begun < 10
    before = len(clients.acked)
    awaited(lambda: len(clients.acked) > before)
    clients.finish()
    nothing_is_lost(collector, clients, fewest=100)


@pytest.mark.long
def test_full_disk_loses_nothing(ask, started, tmp_path):
    task = ask(start=int(time.time()) - 1000)
    with disk(tmp_path / "disk", "96m") as folder:
        collector = started(task, db=str(folder / "reports.db"))
        clients = Clients(task, collector.port)
        awaited(lambda: len(clients.acked) > 100)
        ballast = folder / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        assert b"the disk is full (0 MiB free)" in collector.get("/readyz")[1]
        ballast.unlink()
        recovers(collector, clients)
        collector.kill()


@pytest.mark.long
def test_read_only_disk_is_named(ask, started, tmp_path):
    task = ask()
    with disk(tmp_path / "disk", "32m") as folder:
        collector = started(task, db=str(folder / "reports.db"))
        collector.stop()
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        with pytest.raises(AssertionError, match=r"cannot store reports: .*[Rr]ead-only"):
            collector.start()
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
        collector.start()
        assert collector.get("/readyz")[0] == 200
        collector.kill()


@contextmanager
def read_only(collector):
    """Fail every write of a running collector to its database files, as a read-only disk does."""
    files = [word for end in ("", "-wal", "-shm") for word in ("-P", collector.db + end)]
    calls = "pwrite64,write,ftruncate,fdatasync,fsync"
    command = ["strace", "-f", "-q", "-o", "/dev/null", "-p", str(collector.process.pid), *files]
    command += ["-e", f"trace={calls}", "-e", f"inject={calls}:error=EROFS"]
    with subprocess.Popen(command) as tracer:
        try:
            awaited(lambda: collector.get("/readyz")[0] == 503)
            yield
        finally:
            tracer.terminate()


@pytest.mark.long
def test_read_only_disk_under_a_running_collector_loses_nothing(ask, started):
    collector = started(task := ask(start=int(time.time()) - 1000))
    clients = Clients(task, collector.port)
    awaited(lambda: len(clients.acked) > 100)
    with read_only(collector):
        reason = collector.get("/readyz")[1]
    recovers(collector, clients)
    assert b"disk I/O error" in reason


def test_missing_database_server_fails_with_a_sentence(ask, tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(
        RequestError, match=r"^The database cannot be opened: Connection refused\.$"
    ):
        opened(f"postgresql://me:secret@127.0.0.1:{free_port()}/none", [ask()])


@pytest.mark.postgres
def test_startup_waits_for_the_database_server(ask, tmp_path):
    with TemporaryDirectory(prefix="postgres") as folder:
        _wait_for_a_server(PostgresProcess(Path(folder)), ask, tmp_path)


def _wait_for_a_server(server, ask, tmp_path):
    url = server.database()
    server.stop()
    task = tmp_path / "task.json"
    task.write_bytes(ask().document)
    command = [*CLI, "collect", "--db", url, "--port", str(free_port()), "--task", str(task)]
    with subprocess.Popen([*command, "--wait", "60"], stderr=subprocess.PIPE, text=True) as waiting:
        assert "Retrying for 60 seconds" in waiting.stderr.readline()
        server.start()
        assert "Collecting" in waiting.stderr.readline()
        waiting.kill()
    missing = [*command, "--wait", "60"]
    missing[missing.index(url)] = url + "none"
    begun = time.monotonic()
    run = subprocess.run(missing, capture_output=True, text=True, timeout=LIMIT)
    server.stop()
    assert (run.returncode, time.monotonic() - begun < 30) == (1, True)
    assert "does not exist" in run.stderr


@pytest.mark.postgres
@pytest.mark.parametrize(
    "seconds", [pytest.param(2, id="2"), pytest.param(30, id="30", marks=pytest.mark.long)]
)
def test_database_stops_under_two_collectors_behind_a_balancer(
    ask, started, postgres, tmp_path, seconds
):
    task, url = ask(start=int(time.time()) - 1000), postgres.database()
    collectors = [started(task, db=url) for _ in range(2)]
    balancer = Balancer([each.port for each in collectors])
    balancer.wait(2, LIMIT)
    clients = Clients(task, balancer.port)
    awaited(lambda: len(clients.acked) > 100)
    postgres.stop()
    balancer.wait(0, LIMIT)
    time.sleep(seconds)
    postgres.start()
    assert balancer.wait(2, LIMIT) < 10
    before = len(clients.acked)
    awaited(lambda: len(clients.acked) > before)
    clients.finish()
    balancer.close()
    nothing_is_lost(collectors[0], clients, fewest=100)
