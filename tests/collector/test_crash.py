"""What was acknowledged is there, once, however the collector or its database ended."""

import shutil
import sqlite3
import subprocess
import time
from random import Random
from signal import SIGINT, SIGTERM

import pytest
from retrying import Clients, nothing_is_lost, promised, stored


@pytest.mark.parametrize(
    "kills", [pytest.param(2, id="2"), pytest.param(25, id="25", marks=pytest.mark.long)]
)
def test_killed_under_load(ask, started, kills):
    task = ask(start=int(time.time()) - 1000)
    collector = started(task)
    clients, chance = Clients(task, collector.port), Random(kills)
    for _ in range(kills):
        time.sleep(chance.uniform(0.2, 0.5))
        collector.kill()
        collector.start()
    clients.finish()
    nothing_is_lost(collector, clients, fewest=20 * kills)
    with sqlite3.connect(collector.db) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_planted_loss_is_found(ask, started):
    """The power of the test above: one report less is a failure."""
    task = ask(start=int(time.time()) - 1000)
    collector = started(task)
    clients = Clients(task, collector.port, count=2)
    while not clients.acked:
        time.sleep(0.02)
    clients.finish()
    collector.kill()
    with sqlite3.connect(collector.db) as database:
        database.execute("DELETE FROM reports WHERE id = (SELECT min(id) FROM reports)")
    found, wanted = stored(collector.db), promised(clients.acked)
    assert {id: found.get(id) for id in wanted} != wanted


@pytest.mark.long
def test_each_acknowledgement_waits_for_the_disk(ask, started, tmp_path):
    """200 reports one after another cost 200 fdatasync or more; a commit that only survives a dying
    process would need a handful."""
    task = ask(start=int(time.time()) - 1000)
    trace = tmp_path / "trace"
    strace = shutil.which("strace")
    assert strace, "strace counts what reaches the disk; install it"
    collector = started(task, before=[strace, "-f", "-e", "trace=fdatasync", "-o", str(trace)])
    before = trace.read_text().count("fdatasync(")
    clients = Clients(task, collector.port, count=1, each=1)
    while len(clients.acked) < 200:
        time.sleep(0.05)
    clients.finish()
    acked = len(clients.acked)
    subprocess.run(["pkill", "-TERM", "-P", str(collector.process.pid)], check=True)
    collector.process.wait(20)
    assert trace.read_text().count("fdatasync(") - before >= acked >= 200


@pytest.mark.postgres
def test_the_database_stops_and_starts_under_load(ask, started, postgres):
    task = ask(start=int(time.time()) - 1000)
    collector = started(task, db=postgres.database())
    clients = Clients(task, collector.port)
    for mode in ("immediate", "fast", "immediate"):
        time.sleep(0.7)
        postgres.stop(mode)
        time.sleep(0.3)
        assert collector.get("/readyz")[0] == 503
        postgres.start()
    time.sleep(0.7)
    clients.finish()
    nothing_is_lost(collector, clients, fewest=100)
    assert collector.get("/readyz")[0] == 200


@pytest.mark.parametrize(
    ("by", "status"), [(SIGTERM, -SIGTERM), pytest.param(SIGINT, 0, marks=pytest.mark.long)]
)
def test_told_to_stop_it_stores_what_waits(ask, started, by, status):
    task = ask(start=int(time.time()) - 1000)
    collector = started(task)
    clients = Clients(task, collector.port, count=4)
    time.sleep(0.2)
    assert collector.stop(by) == status
    wanted = promised(dict(clients.acked))
    found = stored(collector.db)
    assert {id: found.get(id) for id in wanted} == wanted
    collector.start()
    clients.finish()
