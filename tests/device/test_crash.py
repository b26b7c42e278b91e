"""A device that is killed at any moment never answers twice, and never spends what it did not note.

The collector of this test loses requests and answers at random, and forgets nothing.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import closing, suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fake_collector import FakeCollector

import tacit
from tacit.device.storage.store import FORMAT, Store
from tacit.device.storage.upgrade import FORMER
from tacit.wire import report as pseudonym

CHILD = Path(__file__).with_name("crashing.py")
LIMIT, COST = 1500 * 10**9, 10**9


class Middleware(BaseHTTPRequestHandler):
    """One in ten uploads is lost, three in ten answers are, one in ten is a 503."""

    protocol_version = "HTTP/1.1"
    timeout = 5

    def do_GET(self):
        with self.server.lock:
            answer = self.server.collector("GET", self.path)
        self.tell(answer.status, answer.body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fate = random.random()
        if fate >= 0.1 and body.endswith((b"]}]}", b'"}')):
            with self.server.lock:
                self.server.collector("POST", self.path, body)
        if fate < 0.4:
            self.close_connection = True
        else:
            self.tell(503 if fate < 0.5 else 200, b"{}")

    def tell(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        with suppress(OSError):  # the device was killed
            super().handle()

    def log_message(self, *said):
        pass


@pytest.fixture
def door(ask, growing):
    """Opens a recording server that asks a task; gives it and its URL."""
    opened = []

    def chain(url):
        """Three blocks, which open while the device lives, and three generations of them."""
        changes = {"provider": url, "window": 20, "epoch_seconds": 60}
        first = growing("catalogue", items=range(200), limit=300, renewals=(90, 200), **changes)
        second = first.extended(range(200, 250), open_from=40)
        return second.extended(range(250, 300), open_from=120)

    def made(plan):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Middleware)
        server.daemon_threads, server.lock = True, threading.Lock()
        url = f"http://127.0.0.1:{server.server_port}"
        task = (
            chain(url) if plan == "blocks" else ask(plan, items=range(400), window=20, provider=url)
        )
        server.collector = FakeCollector([task])
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        opened.append(server)
        return server, url

    yield made
    for server in opened:
        server.shutdown()
        server.server_close()


def life(store, url, begin, flaw):
    """Start a device on its store, and kill it: up to 150 ms after it began to work, or, one time
    in five, at any moment from its start on."""
    home = str(Path(tacit.__file__).parent.parent)
    command = [sys.executable, "-S", str(CHILD), str(store), url, str(begin), flaw]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PYTHONPATH": home}
    )
    early = random.random() < 0.2
    if not early:
        assert running.stdout.readline() == b"ready\n", running.stderr.read().decode()
    time.sleep(random.random() * (0.3 if early else 0.15))
    running.kill()
    _, said = running.communicate()
    assert not said, said.decode()


def remains(store, folder):
    """Tables of a copy of the one file that a kill left, without whatever lies beside it."""
    if not store.exists():  # killed before its first transaction
        return [], [], []
    shutil.copy(store, folder)
    db = sqlite3.connect(folder / store.name)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    begun = db.execute("SELECT 1 FROM sqlite_master").fetchone()
    queries = ["SELECT spent FROM person", "SELECT id FROM report"]
    is_former = begun and db.execute("PRAGMA user_version").fetchone() == (FORMER,)
    blocks = "" if is_former else " UNION ALL SELECT place, symbol FROM block"
    queries.append(f"SELECT place, symbol FROM answer{blocks}")
    rows = [db.execute(query).fetchall() if begun else [] for query in queries]
    db.close()
    with closing(Store(folder / store.name, LIMIT)) as copy:
        assert [(copy.ledger.spent,)] == rows[0]
    return rows


def check(store, collector):
    """What must hold after any kill; gives how many reports were seen, and what was spent."""
    with tempfile.TemporaryDirectory() as folder:
        ledger, reports, answers = remains(store, Path(folder))
    spent, kept = sum(amount for (amount,) in ledger), defaultdict(set)
    for place, symbol in answers:
        kept[place].add(symbol)
    assert collector.conflicts() == [], "an id came with two payloads"
    unknown = set(collector.payloads) - {report for (report,) in reports}
    assert not unknown, "a report left that the device does not know of"
    seen = {tuple(cell) for report in collector.reports for cell in report["cells"]}
    assert all(symbol in kept[place] for place, symbol in seen), "an answer left that was not kept"
    assert COST * len(answers) <= spent <= LIMIT, "an answer was not paid for"
    assert COST * len(seen) <= spent, "the ledger is below what was received"
    return len(collector.payloads), spent


def former(store, document):
    """Bring a store to the format before tacit-task-2, which knew the task of that document, if it
    is there and not in it already."""
    if not store.exists():
        return
    db = sqlite3.connect(store)
    if db.execute("PRAGMA user_version").fetchone() == (FORMAT,):
        db.executescript(f"""BEGIN;
            CREATE TABLE old (number INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE,
                provider TEXT NOT NULL, document BLOB NOT NULL);
            INSERT INTO old SELECT number, question, provider, x'{document.hex()}' FROM task;
            DROP TABLE task; ALTER TABLE old RENAME TO task; DROP TABLE erasure;
            DROP TABLE block; DROP TABLE chain;
            DROP TABLE shuffled; DROP TABLE register; DROP TABLE token;
            PRAGMA user_version = {FORMER}; COMMIT;""")
    db.close()


def strangers(store, collector):
    """Names that a collector saw and that nobody can have erased any more."""
    with tempfile.TemporaryDirectory() as folder:
        if store.exists():
            shutil.copy(store, folder)
        db = sqlite3.connect(Path(folder) / store.name)
        begun = db.execute("SELECT 1 FROM sqlite_master").fetchone()
        (secret,) = db.execute("SELECT secret FROM person").fetchone() if begun else (b"",)
        keys = [key for (key,) in db.execute("SELECT key FROM erasure")] if begun else []
        db.close()
    (task,) = collector.tasks
    keys += [bytes.fromhex(json.loads(body)["key"]) for _, body in collector.erased]
    keys.append(pseudonym.erasure_key(secret, task.address, task.provider))
    known = {sha256(key).hexdigest()[:32] for key in keys}
    return {report["person"] for report in collector.reports} - known


def killed(door, folder, plan, kills, flaw=""):
    """So many kills of one device; checked after each of them."""
    server, url = door(plan)
    begin, found = time.time(), (0, 0)
    for _ in range(kills):
        life(folder / "me.db", url, begin, flaw)
        with server.lock:
            found = check(folder / "me.db", server.collector)
    return *found, server.collector


@pytest.mark.parametrize(
    ("plan", "kills"), [("rated", 13), pytest.param("sample:20", 12, marks=pytest.mark.long)]
)
def test_kills(door, tmp_path, plan, kills):
    seen, spent, _ = killed(door, tmp_path, plan, kills)
    assert seen > 0
    assert spent > 10 * COST


@pytest.mark.long
def test_kills_of_a_device_that_answers_block_by_block(door, tmp_path):
    """The limit is paid for once, and no block is answered twice in a generation."""
    seen, spent, collector = killed(door, tmp_path, "blocks", 50)
    assert spent == 3 * 300 * COST
    growth = collector.tasks[0].growth
    answered = {(r["key"], growth.generation(r["epoch"])) for r in collector.reports}
    assert len(answered) == seen > 3


@pytest.mark.long
@pytest.mark.parametrize("plan", ["rated", "sample:20"])
def test_kills_of_a_device_whose_store_is_upgraded(door, tmp_path, plan):
    """First as it was, then upgraded again and again while its task is asked in the new format."""
    server, url = door(plan)
    begin, store, (task,) = time.time(), tmp_path / "me.db", server.collector.tasks
    server.collector.tasks = [task.predecessor]
    for kills in range(24):
        if kills > 6:
            server.collector.tasks = [task]
            former(store, task.predecessor.document)
        life(store, url, begin, "")
        with server.lock:
            seen, _ = check(store, server.collector)
    assert seen > 0
    assert len({report["person"] for report in server.collector.reports}) == 1


@pytest.mark.long
@pytest.mark.parametrize("flaw", ["erasing", "keyless"])
def test_kills_of_a_device_that_erases(door, tmp_path, flaw):
    """Whatever was reported under can be erased after any kill; a planted flaw does not survive."""
    server, url = door("rated")
    begin, store, lost = time.time(), tmp_path / "me.db", set()
    for _ in range(40):
        life(store, url, begin, flaw)
        with server.lock:
            lost |= strangers(store, server.collector)
    assert server.collector.erased or flaw == "keyless"
    assert bool(lost) == (flaw == "keyless")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("flaw", ["redraw", "late", "unpaid", "unsaved"])
def test_a_planted_flaw_does_not_survive(door, tmp_path, flaw):
    with pytest.raises(AssertionError, match=r"two payloads|does not know of|not paid|not kept"):
        killed(door, tmp_path, "rated", 60, flaw)


@pytest.mark.full
def test_five_hundred_kills(door, tmp_path):
    repeated = 0
    for part in range(20):
        folder = tmp_path / str(part)
        folder.mkdir()
        seen, spent, collector = killed(door, folder, "rated" if part % 2 else "sample:20", 25)
        assert seen > 0
        assert spent > 10 * COST
        repeated += sum(len(sent) > 1 for sent in collector.payloads.values())
    assert repeated > 100
