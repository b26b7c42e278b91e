"""Who has everything but the file of keys cannot tell which token sent what; nor, once the epoch is
over, who has the file as well."""

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.opening import opened
from tacit.collector.limits import limits as limits_module
from tacit.collector.limits.keys import EpochKeys, epoch_of
from tacit.collector.limits.limits import Charge

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "collector.md"
TOKENS = ("correct horse", "battery staple", "nobody sent with this")
DIGESTS = [sha256(token.encode()).digest() for token in TOKENS]
PEOPLE = [bytes([number]) * 16 for number in range(3)]
DAY = 86_400


@pytest.fixture
def sent(ask, collector, report, send, tmp_path):
    """Two people report with two tokens; `swapped`: the other way round. Gives the task."""

    def made(swapped=False):
        task = ask()
        enrolment = Enrolment([digest.hex() for digest in DIGESTS], 100)
        client = collector(task, enrolment=enrolment)
        tokens = TOKENS[1::-1] if swapped else TOKENS[:2]
        for token, person, count in zip(tokens, PEOPLE, (3, 1), strict=False):
            for number in range(count):
                each = report(
                    task, id=f"{person.hex()[:30]}{number:02x}", person=person.hex(),
                    places=(number,), symbols=(0,),
                )  # fmt: skip
                assert send(client, task, each, authorization=f"Bearer {token}").status_code == 200
        return task, client

    return made


def dump(folder):
    """Every value in every database."""
    values = []
    for path in (folder / "reports.db", folder / "reports.tokens.db"):
        with closing(sqlite3.connect(path)) as database:
            tables = [
                name
                for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            for table in sorted(tables):
                rows = sorted(database.execute(f"SELECT * FROM {table}"))
                values += [(table, *row) for row in rows]
    return values


def counted(values):
    return {row[2] for row in values if row[0] in ("tokens", "people")}


def names(key, task):
    """Every name that a key would give to any token with any of the people."""
    found = set()
    for digest in DIGESTS:
        for person in PEOPLE:
            charge = Charge(digest, bytes.fromhex(task.question), 0, 1, frozenset([person]))
            token, people = limits_module.names(key, charge)
            found |= {token, *people}
    return found


def states(state, days=10):
    for _ in range(days):
        yield state
        state = sha256(state).digest()


def derived(held, epoch, tmp_path):
    """Every key that follows from a file: what it holds, and the epoch's by any later state."""
    yield from (bytes.fromhex(key["key"]) for key in held["keys"])
    for day, state in enumerate(states(bytes.fromhex(held["state"]))):
        path = tmp_path / f"derived {day}"
        path.write_text(
            json.dumps(held | {"day": epoch.begins // DAY, "state": state.hex(), "keys": []})
        )
        path.chmod(0o600)
        yield EpochKeys(path, 0).key(epoch)


def test_a_dump_and_every_token_link_nothing(sent, tmp_path):
    """Whatever of it an attacker takes for the key. With the file all of it is linked at once: that
    is the power of this test, and what the page on operating a collector says."""
    task, _ = sent()
    values = dump(tmp_path)
    epoch = epoch_of(task, 20)
    parts = {part for row in values for part in row if isinstance(part, bytes)}
    guesses = parts | set(DIGESTS) | {sha256(part).digest() for part in parts} | {b"", bytes(32)}
    assert len(counted(values)) == 4
    for key in guesses:
        assert not names(key, task) & counted(values)
    held = json.loads((tmp_path / "reports.tokens.keys").read_bytes())
    assert any(counted(values) <= names(key, task) for key in derived(held, epoch, tmp_path))


def test_with_the_tokens_swapped_the_databases_say_the_same(sent, tmp_path):
    """But for names that are as good as random: nothing else depends on who sent."""
    found = []
    for swapped in (False, True):
        _, client = sent(swapped)
        client.__exit__(None, None, None)
        values = dump(tmp_path)
        hidden = counted(values) | {row[3] for row in values if row[0] == "running"}
        found.append([tuple("?" if part in hidden else part for part in row) for row in values])
        for path in tmp_path.iterdir():
            path.unlink()
    assert sorted(found[0], key=repr) == sorted(found[1], key=repr)
    assert len(found[0]) > 10


def test_after_the_epoch_the_file_links_nothing(sent, clock, tmp_path):
    """A dump of the day before, all tokens, and the file as it is now, which is whole."""
    task, client = sent()
    values = dump(tmp_path)
    client.__exit__(None, None, None)
    clock.now += DAY
    sent()
    held = json.loads((tmp_path / "reports.tokens.keys").read_bytes())
    for key in derived(held, epoch_of(task, 20), tmp_path):
        assert not names(key, task) & counted(values)
    assert not counted(values) & counted(dump(tmp_path))


@pytest.mark.postgres
def test_the_documented_dump_leaves_the_counts_out(ask, postgres, tmp_path):
    """Whoever keeps it has the reports, and no count of any token."""
    url, task = postgres.database(), ask()
    enrolment = Enrolment([digest.hex() for digest in DIGESTS], 100)
    held = opened(url, [task], enrolment, keys=tmp_path / "keys", wall=lambda: 5_000)
    held.store.hold(task.document)
    charge = Charge(DIGESTS[0], bytes.fromhex(task.question), 5_000, 1, frozenset(PEOPLE[:1]))
    (granted,) = held.limits.reserve([charge])
    held.close()
    (documented,) = re.findall(r"`pg_dump ([^`]+)`", PAGE.read_text())
    command = [shutil.which("pg_dump"), *shlex.split(documented), url]
    dumped = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    everything = subprocess.run(
        [command[0], url], check=True, capture_output=True, text=True
    ).stdout
    assert task.address in dumped
    assert "token_" not in dumped
    assert granted.name.hex() not in dumped
    assert granted.name.hex() in everything


def test_no_two_lists_of_fields_are_one_text(ask):
    """Names differ as soon as token, task or person does, and a token is no person."""
    task = ask()
    found = set()
    for token in DIGESTS:
        for asked in (task, ask(name="Books")):
            for person in PEOPLE:
                charge = Charge(token, bytes.fromhex(asked.question), 0, 1, frozenset([person]))
                found |= {limits_module.names(b"k" * 32, charge)[1][0]}
            found |= {limits_module.names(b"k" * 32, charge)[0]}
    assert len(found) == 3 * 2 * (3 + 1)
