"""A catalogue grows every week, and items are withdrawn: devices of both languages answer each item
once, and lose nothing if any process is killed."""

import random
import sqlite3
from contextlib import closing
from math import sqrt

import pytest
from block_twin import Twin
from growing_shop import START, GrowingShop, rates
from processes import free_port

from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.stored_reports import reports

ITEMS, SLOTS = 100, 20
"""Items and slots of the first task."""
KINDS = ("collector", "python", "node", "fit")


@pytest.mark.parametrize(
    ("devices", "weeks", "kills"),
    [
        pytest.param(40, 8, 5, marks=pytest.mark.long),
        pytest.param(500, 52, 0, marks=pytest.mark.full),
        pytest.param(500, 52, 50, marks=pytest.mark.full),
    ],
)
def test_a_fleet_follows_a_chain(growing, tmp_path, devices, weeks, kills):
    """All end in the one state that is computed from secrets and documents, with kills or not."""
    chance = random.Random(kills)
    # Half a standard deviation above the mean: three of ten devices reach it, and stop.
    mean = SLOTS * 1.01**weeks
    limit = round(mean + 0.5 * sqrt(mean * (1 - SLOTS / ITEMS)))
    first = growing(
        f"sample:{SLOTS}", items=range(1, 1 + ITEMS), limit=limit, renewals=(7 * weeks // 2,),
        provider=f"http://127.0.0.1:{free_port()}", start=START, retention_days=3650,
    )  # fmt: skip
    killed = [(chance.randrange(weeks), chance.choice(KINDS)) for _ in range(kills)]
    twins = {}
    with closing(GrowingShop(tmp_path, first, devices, chance)) as shop:
        for week in range(weeks):
            shop.turn([kind for when, kind in killed if when == week])
        for device in shop.devices:
            known = [task.items for task in shop.tasks[:-1]]
            rated = [rates(device, week, items) for week, items in enumerate(known, 1)]
            twin, state = Twin(device, shop.task, rated), shop.state(device)
            assert state["spent"] == 10**9 * limit * 2  # of both generations, at epsilon 1
            assert dict(state["ratings"]) == twin.ratings
            assert state["answers"] == sorted(twin.answers)
            assert len(twin.answers) <= 2 * limit
            assert state["recommended"]
            assert not {*state["recommended"]} & {*shop.hidden}
            twins[state["code"]] = twin
    assert len(twins) == devices
    assert 0 < sum(twin.is_stopped for twin in twins.values()) < devices
    assert_stored(tmp_path / "reports.db", shop.task, twins)


def assert_stored(path, task, twins):
    """The collector has each report once, under one name, and a fit reads the last answers."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT lower(hex(person)), id FROM reports").fetchall()
    assert len({id for _, id in rows}) == len(rows)
    people = [person for person, _ in rows]
    counts = {person: people.count(person) for person in {*people}}
    assert counts == {code: twin.reports for code, twin in twins.items() if twin.reports}
    with closing(open_reader(str(path))) as reader:
        read = reports(reader)
    users, items = read.user_ids.take(read.users), read.item_ids.take(read.items)
    last = {
        (code, task.items[place]): symbol
        for code, twin in twins.items()
        for _, place, symbol in sorted(twin.answers)
    }
    assert dict(zip(zip(users, items, strict=True), read.symbols.tolist(), strict=True)) == last
