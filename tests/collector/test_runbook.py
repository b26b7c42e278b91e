"""Each procedure of the runbook, by the commands that the page shows."""

import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time
from array import array
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from processes import CLI, free_port

from tacit.collector.administration.tokens import issue
from tacit.collector.storage.addresses import open_reader, open_store
from tacit.collector.storage.publications import Publication
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.slot_codec import pack_rated
from tacit.collector.storage.store import StoredReport
from tacit.device.list_profile import ListProfile
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.tasks.loading import documents, loads

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "runbook.md").read_text()
FIXTURE = Path(__file__).parent / "fixtures" / "version-1.db"
DAY = 86_400
CODE = bytes.fromhex("8d3f0c1e55aa41b79e02c6d47710fb23")
"""The reference code on the page."""
TOKEN = "5f0c8d3e9a417b2210d4f3b6c7e8a901"


def commands(title, folder, **replaced):
    """The commands of a section, in a folder, with other addresses."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^ *(tacit .*)$", section, re.MULTILINE)
    assert lines
    for line in lines:
        words = [word.replace("/backup/", f"{folder}/backup/") for word in shlex.split(line)]
        yield [replaced.get(word, word) for word in words]


@pytest.fixture
def runs(run, tmp_path, monkeypatch):
    """Run the commands of a section of the page in the temporary folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "backup").mkdir()

    def section(title, **replaced):
        for _, *words in commands(title, tmp_path, **replaced):
            status, _, err = run(*words)
            assert status == 0, (words, err)

    return section


@pytest.fixture
def task(ask):
    return ask(start=int(time.time()) - 20 * DAY - 100)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request, task, tmp_path):
    """A store with ten reports, of which three are under the code."""
    url = str(tmp_path / "reports.db")
    if request.param == "postgres":
        url = request.getfixturevalue("postgres").database()
    with closing(open_store(url)) as opened:
        number = opened.hold(task.document).number
        people = [CODE] * 3 + [os.urandom(16) for _ in range(7)]
        opened.insert(
            [
                StoredReport(os.urandom(16), number, 19, 0, person, pack_rated(k % 6, 1))
                for k, person in enumerate(people)
            ]
        )
    return url


def count(url):
    with closing(open_reader(url)) as reader:
        return sum(map(len, reader.scan(1)))


def test_verify(store, runs):
    runs("Verify a store", **{"reports.db": store})


@pytest.mark.parametrize(
    ("kind", "weeks"),
    [
        ("sqlite", 1),
        pytest.param("sqlite", 3, marks=pytest.mark.long),
        pytest.param("postgres", 2, marks=pytest.mark.postgres),
    ],
)
def test_add_items_week_after_week(ask, kind, weeks, tmp_path, request, run, monkeypatch):
    """A shop of 80 users gets three items a week, and withdraws one."""
    start = int(time.time()) - 20 * DAY - 100
    films = [[*range(1, 31 + 3 * week)] for week in range(weeks + 1)]
    task = ask(items=films[0], epsilons=("6",), start=start, provider="https://films.example")
    (tmp_path / "task.json").write_bytes(task.document)
    postgres = kind == "postgres"
    url = str(tmp_path / "reports.db")
    if postgres:
        url = request.getfixturevalue("postgres").database()
    chance, people = Random(1), [os.urandom(16) for _ in range(80)]
    store_reports(url, task, people, 3, chance)
    monkeypatch.chdir(tmp_path)
    assert run("fit", "--db", url, "--model", "mf", "--publish", "models", "-o", "model")[0] == 0
    folder = PublishedModels(tmp_path / "models")
    for week in range(1, weeks + 1):
        table(tmp_path / "films.csv", films[week][week:])  # the first ones are withdrawn
        table(tmp_path / "hidden.csv", films[week][:week])
        (step, *rest) = commands("Add items", tmp_path, **{"reports.db": url})
        assert run(*step[1:])[0] == 0
        (tmp_path / "next.json").rename(tmp_path / "task.json")
        task = loads((tmp_path / "task.json").read_bytes())
        assert list(task.items) == films[week]
        store_reports(url, task, people, 3 + week, chance)
        for _, *words in rest:
            status, out, message = run(*words)
            assert status == 0, message
        # The record continues: gains are compared, and an earlier model can be served again.
        assert out.count(", mf, ") == (week + 1) * (week + 1)
        served = ItemModel.from_bytes(folder.model(folder.newest(task.address)))
        assert list(served.items) == films[week]
        assert served.hidden == tuple(range(week))
    status, _, message = run(*step[1:])
    assert (status, "nothing to extend" in message) == (1, True)
    assert len(folder.tasks()) == weeks + 1  # devices of every week get a model
    assert run("models", "rollback", "--publish", "models")[0] == 0
    served = {folder.newest(each) for each in folder.tasks()}
    assert len(served) == 1
    (model,) = map(ItemModel.from_bytes, map(folder.model, served))
    assert list(model.items) == films[weeks - 1]
    assert model.hidden == tuple(range(weeks))


def table(path, items):
    path.write_text("\n".join(["item", *map(str, items)]) + "\n")


def store_reports(url, task, people, epoch, chance):
    """What a collector of the task stores: each user's reports on some items, of two tastes."""
    with closing(open_store(url)) as opened:
        same = [bytes(document) for document in documents(task).values()]
        number = opened.hold(task.document, same).number
        opened.insert(
            [
                StoredReport(
                    os.urandom(16), number, epoch, 0, person,
                    pack_rated(place, abs(place % 5 - 4 * (person[0] % 2))),
                )
                for person in people
                for place in chance.sample(range(len(task.items)), 12)
            ]
        )  # fmt: skip


def test_return_to_an_earlier_model(task, runs, tmp_path):
    folder = PublishedModels(tmp_path / "models")
    addresses = [
        folder.publish(
            task.address,
            ListModel(task.items, array("f", range(k, k + len(task.items))), NO_PRIVACY),
            Publication(model="", at=1e9 + k, learner="popularity", reports=k),
        )
        for k in (100, 200)
    ]
    assert folder.newest(task.address) == addresses[1]
    runs("Return to an earlier model")
    assert folder.newest(task.address) == addresses[0]


def test_withdraw_an_item(task, runs, tmp_path):
    folder = PublishedModels(tmp_path / "models")
    folder.publish(task.address, ListModel((42, 43), array("f", [2, 1]), NO_PRIVACY))
    (tmp_path / "hidden.csv").write_text(hidden_table())
    runs("Withdraw an item")
    served = ListModel.from_bytes(folder.model(folder.newest(task.address)))
    assert [item for item, _ in ListProfile(served, []).recommend()] == [43]


def hidden_table():
    """What the page's `printf` writes."""
    return re.search(r"printf '(item.*)' > hidden.csv", PAGE)[1].replace("\\n", "\n")


def test_delete_then_restore_an_earlier_backup(store, runs, run, tmp_path):
    backup = str(tmp_path / "backup" / "reports.db")
    assert run("admin", "backup", "--db", store, "-o", backup)[0] == 0
    assert count(backup) == 10
    runs("Delete a user's reports", **{"reports.db": store})
    assert count(store) == 7
    runs("Restore a backup", **{"reports.db": store})
    assert count(str(tmp_path / "new.db")) == 7


def test_replace_tokens(runs, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("secrets.token_hex", lambda size: TOKEN)
        issue(tmp_path / "tokens", 1)
    before = (tmp_path / "tokens").read_text()
    runs("Replace enrolment tokens")
    after = (tmp_path / "tokens").read_text()
    assert after != before
    assert len(after) == len(before)


@pytest.mark.postgres
def test_move_to_postgresql(task, postgres, runs, tmp_path):
    with closing(open_store(str(tmp_path / "reports.db"))) as opened:
        number = opened.hold(task.document).number
        opened.insert([StoredReport(os.urandom(16), number, 19, 0, CODE, pack_rated(1, 1))])
    url = postgres.database()
    runs("Move from SQLite to PostgreSQL", **{"postgresql://tacit@db/tacit": url})
    assert count(url) == 1


@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="3"), pytest.param(40, id="40", marks=pytest.mark.long)]
)
def test_an_upgrade_survives_kill_9(tmp_path, kills):
    """A store of the first version is the old one or the new one, and loses no report."""
    with closing(sqlite3.connect(FIXTURE)) as database:
        rows = sorted(database.execute("SELECT * FROM reports").fetchall())
    code = "from tacit.collector.storage.addresses import open_store; import sys;"
    code += "print('.', flush=True); open_store(sys.argv[1]).close()"
    chance = Random(kills)
    for number in range(kills):
        path = str(shutil.copy(FIXTURE, tmp_path / f"{number}.db"))
        command = [CLI[0], "-c", code, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
            running.stdout.read(1)
            time.sleep(chance.uniform(0, 0.02))
            running.send_signal(signal.SIGKILL)
        with closing(sqlite3.connect(path)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            assert version in (1, 2)
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema")}
            assert ("erasures" in tables) == (version == 2)
        open_store(path).close()
        with closing(sqlite3.connect(path)) as database:
            assert sorted(database.execute("SELECT * FROM reports").fetchall()) == rows


def test_readyz_is_at_the_address_that_the_page_names(task, started):
    collector = started(task, at=free_port())
    assert re.search(r"http://127\.0\.0\.1:8000(/readyz)", PAGE)[1] == "/readyz"
    assert collector.get("/readyz")[0] == 200
