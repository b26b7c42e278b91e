"""A task over slots that grows: the collector takes exactly the places that a device is queried
about, once, and a fit reads them all.
"""

import json
import secrets
import sqlite3
from contextlib import closing
from dataclasses import replace
from random import Random

import pytest

from tacit.collection.task_guarantee import channel_guarantees, task_guarantee
from tacit.collector.administration.stored_rows import export, verify
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.slot_codec import pack_block, unpack_block
from tacit.errors import DataError, RequestError
from tacit.labels.label import of_task
from tacit.wire.report import Report, block_key, block_report_id
from tacit.wire.report import person as pseudonym
from tacit.wire.tasks.blocks import WORD
from tacit.wire.tasks.terms import DAY

PROVIDER = "https://films.example"


@pytest.fixture
def first(growing):
    """The root of a chain over 40 items, whose clock stands in epoch 20."""

    def made(plan="sample:10", *given, **changes):
        terms = {"items": range(1, 41), "limit": 60, "retention_days": 3650} | changes
        return growing(plan, *given, **terms)

    return made


def answered(secret, task, number, epoch=20, symbol=1):
    """The report of a device with this secret on a block, by the functions of the wire."""
    address = task.chain[number]
    key = block_key(secret, PROVIDER, address)
    places = task.growth.blocks[number].places(key, task.item_hashes)
    generation = task.growth.generation(epoch)
    id = block_report_id(secret, PROVIDER, task.root, address, generation)
    person = pseudonym(secret, task.root, PROVIDER)
    symbols = (symbol,) * len(places)
    return Report(id, task.channels[0].id, epoch, person, places, symbols, key)


def stored(folder):
    """{(user, item): symbol} of all reports, as a fit reads them."""
    with closing(open_reader(str(folder / "reports.db"))) as reader:
        reports = stored_reports.reports(reader)
    users, items = reports.user_ids.take(reports.users), reports.item_ids.take(reports.items)
    return dict(zip(zip(users, items, strict=True), reports.symbols.tolist(), strict=True)), reports


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample:10"])
@pytest.mark.parametrize(
    ("weeks", "devices"), [(6, 4), pytest.param(52, 30, marks=pytest.mark.long)]
)
def test_devices_follow_a_chain(plan, weeks, devices, first, shop, clock, tmp_path, run):
    """Against a twin that remembers the first symbol of each user, item and generation."""
    random = Random(f"{plan} {weeks}")
    task = first(plan, limit=40 + 3 * weeks, renewals=(20 + weeks,))
    shop.serve(task)
    users = [shop.device(str(tmp_path / f"{n}.db")) for n in range(devices)]
    expected = {}
    for week in range(weeks):
        clock.now += 2 * DAY  # a collector distrusts a clock that jumps by a week
        if week:
            added = range(100 * week, 100 * week + random.randrange(1, 4))
            task = task.extended(added, open_from=task.epoch(clock.now) + random.randrange(5))
            shop.serve(task)
        for n, me in enumerate(users):
            if random.random() < 0.3:  # a device that is closed between two syncs
                me.close()
                me = users[n] = shop.device(str(tmp_path / f"{n}.db"))
            for item in random.sample(me.task.items, 3):
                me.rate(item, random.choice("12345"))
            if random.random() < 0.7 or week == weeks - 1:
                assert me.sync().given_up == 0
            answers = me.export()["tasks"][0]["answers"]
            # One symbol per item and generation: two at most, and none that was there goes.
            assert len(answers) <= 2 * task.growth.limit
            before = expected.setdefault(n, [])
            assert all(answers.count(each) >= before.count(each) for each in before)
            expected[n] = answers
            assert me.ledger.spent in (2 * task.growth.limit * 10**9, 0)
            assert (me.ledger.spent == 0) <= (answers == [])
    symbols, reports = stored(tmp_path)
    codes = [me.reference_code().replace("-", "") for me in users]
    last = {
        (code, item): None
        for code, answers in zip(codes, expected.values(), strict=True)
        for item, *_ in answers
    }
    assert symbols.keys() == last.keys()
    for code, answers in zip(codes, expected.values(), strict=True):
        for item in {item for item, *_ in answers}:
            known = {symbol for each, *_, symbol in answers if each == item}
            assert symbols[code, item] in known
    assert reports.plan == f"sample:{task.growth.limit}"
    blocks = dict(zip(reports.item_ids.ids.to_list(), reports.blocks.tolist(), strict=True))
    assert blocks == {item: task.growth.block_of(index) for index, item in enumerate(task.items)}
    with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
        assert verify(reader).faults.total() == 0
    assert run("admin", "check", "--db", tmp_path / "reports.db")[0] == 0
    model = ("--model", "item-mean", "-o", tmp_path / "model")
    status, _, message = run("fit", "--db", tmp_path / "reports.db", *model)
    assert status == 0, message
    assert task_guarantee(task).sentence in message


def test_a_second_answer_is_a_conflict(first, shop, send):
    task = first()
    client = shop.serve(task)
    report = answered(bytes(32), task, 0)
    assert send(client, task, report).status_code == 200
    assert send(client, task, report).status_code == 200
    for other in (
        replace(report, symbols=(2, *report.symbols[1:])),
        replace(report, epoch=19),
        answered(bytes(32), task, 0, symbol=3),
    ):
        answer = send(client, task, other)
        assert answer.status_code == 409
        assert answer.json()["refused"][0]["problem"] == "conflict"


def test_a_report_has_exactly_the_places_of_its_key(first, shop, send):
    task = first().extended([100, 101, 102], open_from=20)
    client = shop.serve(task)
    report, later = answered(bytes(32), task, 0), answered(bytes(32), task, 1)
    places, symbols = report.places, report.symbols
    free = next(place for place in range(40) if place not in places)
    assert len(places) > 2
    assert later.places
    wrong = [
        replace(report, places=places[1:], symbols=symbols[1:]),
        replace(report, places=places[::-1]),
        replace(report, places=(*places[:-1], places[0])),
        replace(report, places=tuple(sorted((*places[1:], free)))),
        replace(report, places=(*places, 40), symbols=(*symbols, 1)),
        replace(report, places=(*places, 43), symbols=(*symbols, 1)),
        replace(report, places=(-1, *places), symbols=(*symbols, 1)),
        replace(report, symbols=(6, *symbols[1:])),
        replace(report, key=later.key),
        replace(report, key=report.key.upper()),
        replace(report, key="g" * 32),
    ]
    for trial, each in enumerate(wrong):
        answer = send(client, task, replace(each, id=secrets.token_hex(16)))
        assert answer.status_code == 422, trial
        assert answer.json()["refused"][0]["problem"] == "cells", trial
    assert send(client, task, report, later).status_code == 200


def test_what_is_no_report_on_a_block_is_refused(ask, first, shop, send):
    task, plain = first(), ask("sample:10", items=range(1, 41), provider=PROVIDER)
    client = shop.serve(task, plain)
    report = answered(bytes(32), task, 0)
    keyless = replace(report, key=None)
    assert send(client, task, keyless).json()["refused"][0]["problem"] == "unknown-mechanism"
    assert send(client, plain, report).json()["refused"][0]["problem"] == "unknown-mechanism"
    body = b'{"reports":[' + json.dumps(
        {"id": report.id, "mech": report.mech, "schema": 1, "epoch": 20, "person": report.person,
         "key": report.key, "cells": [[0, 1]]}
    ).encode() + b"]}"  # fmt: skip
    headers = {"content-type": "application/json"}
    path = f"/v1/tasks/{plain.address}/reports"
    answer = client.post(path, content=body, headers=headers)
    assert answer.json()["refused"][0]["problem"] == "cells"
    twice = body.replace(b'"key"', b'"key":"' + report.key.encode() + b'","key"', 1)
    assert client.post(path, content=twice, headers=headers).status_code == 400


def test_a_block_is_not_answered_before_its_time(first, shop, send, clock):
    task = first().extended(range(100, 140), open_from=22)
    client = shop.serve(task)
    for epoch, status in ((20, 422), (21, 422)):
        assert send(client, task, answered(bytes(32), task, 1, epoch)).status_code == status
    clock.now += 2 * DAY
    assert send(client, task, answered(bytes(32), task, 1, 22)).status_code == 200


def test_the_latest_generation_and_its_first_report_count(first, shop, send, tmp_path):
    """A faulty device that answers again under other ids changes nothing."""
    task = first(renewals=(18,))
    client = shop.serve(task)
    for epoch, symbol in ((17, 1), (18, 2), (19, 3), (20, 4)):
        report = answered(bytes(32), task, 0, epoch, symbol)
        send(client, task, replace(report, id=secrets.token_hex(16)))
    symbols, _ = stored(tmp_path)
    assert set(symbols.values()) == {2}
    assert len(symbols) == len(report.places)


def test_damaged_answers_are_noticed(first, shop, send, tmp_path):
    task = first()
    client = shop.serve(task)
    report = answered(bytes(32), task, 0)
    assert send(client, task, report).status_code == 200
    with closing(open_reader(str(tmp_path / "reports.db"))) as inspector:
        (exported,) = export(inspector, bytes.fromhex(report.person))
        values = exported["reports"][0]["values"]
        assert [each["item"] for each in values] == [task.items[p] for p in report.places]
    good = pack_block(0, report.key, report.symbols, 6)
    assert unpack_block(good)[:2] == (0, report.key)
    for bad in (good[:18], good[:-1], b"\1" + good[1:], good[:18] + b"\3" + good[19:],
                pack_block(0, "0" * 32, report.symbols, 6)):  # fmt: skip
        with closing(sqlite3.connect(tmp_path / "reports.db")) as db:
            (table,) = db.execute(
                "SELECT name FROM sqlite_master WHERE sql LIKE '%cells%' AND type = 'table'"
            ).fetchone()
            db.execute(f"UPDATE {table} SET cells = ?", (bad,))
            db.commit()
        with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
            assert verify(reader).faults.total() == 1
            with pytest.raises(DataError):
                stored_reports.reports(reader)


def test_the_guarantee_is_that_of_the_longest_chain(first):
    """Epsilon of a user is limit x epsilon x generations, and of a slot epsilon x generations."""
    for renewals, limit in (((), 60), ((400, 800), 50)):
        task = first(renewals=renewals, limit=limit, epsilons=("0.5", "2"))
        task = task.extended([100], open_from=50)
        draws = 1 + len(renewals)
        assert task_guarantee(task).epsilon == str(2 * draws)
        slot, user, tight = channel_guarantees(task, task.channels[1], "1e-6")
        assert (slot.epsilon, slot.unit) == (str(2 * draws), "slot")
        assert (user.epsilon, user.unit) == (str(2 * limit * draws), "user")
        assert 0 < float(tight.epsilon) <= 2 * limit * draws
        label = of_task(task, delta="1e-6")
        assert f"at most {limit} items" in label.leaves
        assert "added items 1 times, 41 in all" in label.leaves
        assert ("400, 800 days" in label.leaves) == bool(renewals)
    assert task.growth.blocks[0].threshold == WORD // 4


def test_a_device_of_a_chain_is_erased(first, shop, clock, tmp_path):
    """Under the name of the first task, and without a refund: a new chain is paid for again."""
    task = first().extended([100], open_from=20)
    shop.serve(task)
    me = shop.device()
    assert me.sync().stored >= 1
    assert me.erase().erased == 1
    assert me.ledger.spent == 60 * 10**9
    with pytest.raises(RequestError, match="has no reports yet"):
        stored(tmp_path)
    clock.now += DAY
    assert me.sync().stored >= 1
    assert me.ledger.spent == 120 * 10**9
    assert len({user for user, _ in stored(tmp_path)[0]}) == 1


def test_a_task_without_blocks_is_answered_as_before(ask, shop, clock):
    """The plan over slots that it had: a report each epoch, under an id of the epoch."""
    task = ask("sample:10", items=range(1, 41), provider=PROVIDER)
    shop.serve(task)
    me = shop.device()
    assert me.sync().stored == 1
    clock.now += DAY
    assert me.sync().stored == 1
    assert me.ledger.spent == 10 * 10**9
