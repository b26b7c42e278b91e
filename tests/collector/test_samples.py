"""Whether somebody was asked is found out off the server's thread, within bounds, and once."""

import secrets
import threading
import time
from dataclasses import replace
from hashlib import sha256
from itertools import combinations
from random import Random

import numpy as np
import pytest
from flood import flood

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import pair_keys
from tacit.collector.ingest import samples
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.storage.store import Held
from tacit.wire.report import MOST_REPORTS, Report, dumps, upload
from tacit.wire.tasks.blocks import ASK
from tacit.wire.tasks.task import asked

TOKEN = "correct horse"


@pytest.fixture
def worked(monkeypatch):
    """The keys that were made since, and by which threads."""
    done, plain = [], samples.pair_keys

    def noted(people, items, multiplier):
        done.append((len(items), threading.current_thread().name))
        return plain(people, items, multiplier)

    monkeypatch.setattr(samples, "pair_keys", noted)
    return done


def keys(worked):
    found = sum(count for count, _ in worked)
    worked.clear()
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("cells", range(1, 9))
@pytest.mark.parametrize("block", [1, 4, 9, 10])
def test_right_is_what_is_asked(ask, monkeypatch, cells, block):
    """Its twin sorts the whole catalogue; places one step from right, and any."""
    monkeypatch.setattr(samples, "BLOCK", block)
    task, chance = ask(f"sample:{cells}", items=range(9)), Random(cells)
    validator = ReportValidator(task, Held(1, b"", -1))
    for number in range(40):
        person = f"{number:032x}"
        mine = asked(task, person)
        other = chance.choice([place for place in range(9) if place not in mine])
        near = tuple(sorted({*mine[1:], other}))
        far = tuple(sorted(chance.sample(range(9), cells)))
        for places in (mine, near, far):
            assert validator.samples._smallest(person, places) is (places == mine)


def test_nothing_is_worked_out_on_the_servers_thread(ask, collector, report, send, worked):
    task = ask("sample:3")
    client = collector(task)
    sent = [report(task) for _ in range(20)]
    assert send(client, task, *sent).status_code == 200
    assert {thread.rpartition("_")[0] for _, thread in worked} == {"samples"}


def test_what_is_known_is_not_worked_out_again(ask, collector, report, send, worked):
    """The same bytes, another epoch, another id, and a wrong claim of somebody who is known."""
    task = ask("sample:3")
    client, first = collector(task), report(task)
    assert send(client, task, first).status_code == 200
    assert keys(worked) > 0
    later = replace(first, id="ab" * 16, epoch=21)
    assert send(client, task, first, later).status_code == 200
    wrong = replace(first, id="cd" * 16, places=tuple(p for p in range(6) if p not in first.places))
    assert send(client, task, wrong).status_code == 422
    assert keys(worked) == 0


def test_one_person_is_one_question(ask, collector, report, send, worked):
    task = ask("sample:3")
    client, first = collector(task), report(task)
    many = [replace(first, id=secrets.token_hex(16)) for _ in range(MOST_REPORTS)]
    assert send(client, task, *many).status_code == 200
    assert keys(worked) <= 6 + 3


def test_an_upload_may_not_ask_for_too_much(ask, collector, report, send, worked, monkeypatch):
    monkeypatch.setattr(samples, "MOST_KEYS", 24)
    task = ask("sample:3")
    client, sent = collector(task), [report(task) for _ in range(5)]
    response = send(client, task, *sent)
    assert (response.status_code, response.json()["type"]) == (413, "urn:tacit:problem:too-large")
    claims = [
        replace(sent[0], id=f"{n:032x}", places=places)
        for n, places in enumerate(combinations(range(6), 3))
    ]
    assert send(client, task, *claims).status_code == 413
    assert keys(worked) == 0
    assert send(client, task, *sent[:4]).status_code == 200
    assert send(client, task, *sent).status_code == 200  # four of them are known


def test_too_much_at_once_is_refused(ask, collector, report, send, worked, monkeypatch):
    monkeypatch.setattr(samples, "MOST_WAITING", 5)
    task = ask("sample:3")
    response = send(collector(task), task, report(task))
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert keys(worked) == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "places", [(0, 2, 1), (0, 1, 1), (1, 1, 1), (0, 1), (0, 1, 2, 3), (-1, 0, 1), (0, 1, 6)]
)
def test_what_is_nobodys_sample_costs_nothing(ask, collector, report, send, worked, places):
    task = ask("sample:3")
    wrong = replace(report(task), places=places, symbols=(0,) * len(places))
    assert send(collector(task), task, wrong).status_code == 422
    assert keys(worked) == 0


def test_a_token_pays_before_it_is_worked_for(ask, collector, report, send, worked):
    """Five hundred people are checked for nobody: a token has its few, right or wrong."""
    task = ask("sample:3")
    digest = sha256(TOKEN.encode()).hexdigest()
    client = collector(task, enrolment=Enrolment([digest], 1000, people=2))
    wrong = [replace(report(task), person=f"{n:032x}", places=(0, 1, 2)) for n in range(500)]
    statuses = {
        send(client, task, each, authorization=f"Bearer {TOKEN}").status_code for each in wrong
    }
    assert statuses <= {200, 422, 429}
    assert keys(worked) <= 2 * (6 + 3)


def test_what_is_remembered_is_bounded(ask, monkeypatch):
    monkeypatch.setattr(samples, "MOST_KNOWN", 3)
    task = ask("sample:3")
    known = ReportValidator(task, Held(1, b"", -1)).samples
    people = [f"{number:032x}" for number in range(5)]
    for person in people:
        known._remember(person, asked(task, person))
    assert [known.right(person, asked(task, person)) for person in people] == [None] * 2 + [
        True
    ] * 3


# The upload that once held a collector up, at a million items


def claimed(task, places, person):
    """A report of the person about these places, whoever was asked about them."""
    plain = Report(
        secrets.token_hex(16), task.channels[0].id, 0, person, places, (0,) * len(places)
    )
    return dumps(plain, task.channels[0])


def nearly_right(task, person):
    """What takes the whole catalogue to refute: all of the person's sample but its largest key."""
    me, items = np.array([hash_id(person)], np.uint64), np.array(task.item_hashes, np.uint64)
    order = np.argsort(pair_keys(me, items, ASK))[: task.cells + 1]
    return tuple(sorted(np.delete(order, task.cells - 1).tolist()))


@pytest.mark.long
def test_a_million_items_are_gone_through_for_nobody_who_names_too_many(ask, started):
    """200 people in one upload, and four who each cost the whole catalogue; how long they hold the
    server up is for benchmarks/sample_flood.py to say."""
    task = ask("sample:8", items=range(1_000_000), start=int(time.time()) - 100)
    collector, path = started(task), f"/v1/tasks/{task.address}/reports"
    people = [secrets.token_hex(16) for _ in range(MOST_REPORTS)]
    many = upload([claimed(task, tuple(range(8)), person) for person in people])
    few = upload([claimed(task, nearly_right(task, person), person) for person in people[:4]])
    assert 40_000 < len(many) < 60_000
    for body, refused in ((many, 413), (few, 422)):
        statuses = flood([(collector.port, path, body)] * 40, 4)
        assert statuses[refused] > 0
        assert statuses.keys() <= {refused, 503}
        assert collector.get("/healthz")[0] == 200
