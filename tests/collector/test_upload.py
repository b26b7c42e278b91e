"""What the door takes, what it refuses, and that it says so in problem documents."""

import asyncio
import json
import sqlite3
from dataclasses import replace

import pytest

from tacit.collector.http import upload
from tacit.collector.http.admission import Admission
from tacit.collector.http.metrics import Metrics
from tacit.wire.report import MOST_REPORTS, dumps
from tacit.wire.report import upload as body_of
from tacit.wire.tasks.task import asked

PLANS = ("rated", "catalogue", "sample:3")


def rows(tmp_path):
    with sqlite3.connect(tmp_path / "reports.db") as database:
        return database.execute("SELECT * FROM reports").fetchall()


def refusals(response):
    return {each["id"]: each["problem"] for each in response.json()["refused"]}


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_acknowledged_is_stored(ask, collector, report, send, tmp_path, plan):
    task = ask(plan)
    client = collector(task)
    sent = [report(task) for _ in range(5)]
    assert send(client, task, *sent).status_code == 200
    stored = {row[0].hex(): row for row in rows(tmp_path)}
    assert stored.keys() == {each.id for each in sent}
    assert {row[4].hex() for row in stored.values()} == {each.person for each in sent}


def test_the_same_bytes_again_change_nothing(ask, collector, report, send, tmp_path):
    task = ask()
    client, once = collector(task), report(task)
    for _ in range(3):
        assert send(client, task, once).status_code == 200
    assert send(client, task, once, once, report(task)).status_code == 200
    assert len(rows(tmp_path)) == 2
    assert 'outcome="duplicate"} 4' in client.get("/metrics").text


@pytest.mark.parametrize("change", ["symbols", "person", "epoch", "mech"])
def test_other_bytes_under_a_used_id_are_refused(ask, collector, report, send, tmp_path, change):
    task = ask(epsilons=("1", "2"))
    client = collector(task)
    first = report(task, symbols=(1,), places=(2,))
    other = {
        "symbols": {"symbols": (2,)},
        "person": {"person": "ab" * 16},
        "epoch": {"epoch": 21},
        "mech": {"mech": task.channels[1].id},
    }[change]
    assert send(client, task, first).status_code == 200
    kept = rows(tmp_path)
    response = send(client, task, replace(first, **other), report(task))
    assert response.status_code == 409
    assert refusals(response) == {first.id: "conflict"}
    assert response.headers["content-type"] == "application/problem+json"
    assert kept[0] in rows(tmp_path)
    assert len(rows(tmp_path)) == 2  # the other report of the upload is stored


def test_of_two_in_one_upload_the_first_wins(ask, collector, report, send, tmp_path):
    task = ask()
    client = collector(task)
    first = report(task, symbols=(0,))
    response = send(client, task, first, replace(first, symbols=(1,)))
    assert response.status_code == 409
    assert rows(tmp_path)[0][5][-2:] == b"\0\0"


@pytest.mark.parametrize("plan", PLANS)
def test_what_was_not_asked_is_refused(ask, collector, report, send, plan, tmp_path):
    task = ask(plan)
    client, good = collector(task), report(task)
    n = len(task.channels[0].outputs)
    wrong = {
        "symbol": {"symbols": (*good.symbols[:-1], n)},
        "place": {"places": (*good.places[:-1], 6)},
        "more": {"places": (*good.places, 5), "symbols": (*good.symbols, 0)},
        "below": {"places": (-1, *good.places[1:])},
    }
    if plan != "rated":
        wrong["fewer"] = {"places": good.places[:-1], "symbols": good.symbols[:-1]}
        wrong["order"] = {"places": good.places[::-1]}
        wrong["twice"] = {"places": (good.places[0], *good.places[:-1])}
    if plan == "sample:3":
        others = tuple(p for p in range(6) if p not in good.places)
        people = [f"{number:032x}" for number in range(100)]
        stranger = next(each for each in people if asked(task, each) != good.places)
        wrong["other places"] = {"places": others}
        wrong["other person"] = {"person": stranger}
    for name, change in wrong.items():
        response = send(client, task, replace(good, **change))
        assert (response.status_code, refusals(response)) == (422, {good.id: "cells"}), name
    assert rows(tmp_path) == []


def test_mechanisms_and_schemas_that_nobody_offered(ask, collector, report, send):
    task = ask()
    client, good = collector(task), report(task)
    response = send(client, task, replace(good, mech="00" * 32))
    assert (response.status_code, refusals(response)) == (422, {good.id: "unknown-mechanism"})
    later = json.loads(body_of([dumps(good, task.channels[0])]))
    later["reports"][0]["schema"] = 2
    response = client.post(f"/v1/tasks/{task.address}/reports", json=later)
    assert response.status_code == 422


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("epoch", "status"), [(12, 422), (13, 200), (20, 200), (21, 200), (22, 422), (-1, 422)]
)
def test_epochs(ask, collector, report, send, epoch, status):
    task = ask()
    assert send(collector(task), task, report(task, epoch=epoch)).status_code == status


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "change",
    [
        {"id": "0A" * 16},
        {"id": "0a" * 15},
        {"id": None},
        {"epoch": 1.0},
        {"epoch": True},
        {"epoch": "20"},
        {"person": 5},
        {"cells": []},
        {"cells": [[1]]},
        {"cells": [[1, 2, 3]]},
        {"cells": [[1, 2.0]]},
        {"cells": [[1, True]]},
        {"cells": [[1, "2"]]},
        {"cells": "ab"},
        {"rating": 5},
    ],
)
def test_what_is_malformed_is_refused_whole(ask, collector, report, tmp_path, change):
    task = ask()
    client = collector(task)
    good = json.loads(dumps(report(task), task.channels[0]))
    response = client.post(
        f"/v1/tasks/{task.address}/reports", json={"reports": [good, good | change]}
    )
    assert response.status_code == 400
    assert response.json()["type"] == "urn:tacit:problem:malformed"
    assert rows(tmp_path) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"reports":[]}',
        b'{"reports":{}}',
        b'{"reports":[],"more":1}',
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"reports":' + b"[" * 50_000,
    ],
)
def test_what_is_no_upload_is_refused(ask, collector, body):
    task = ask()
    response = collector(task).post(
        f"/v1/tasks/{task.address}/reports",
        content=body,
        headers={"content-type": "application/json"},
    )
    assert response.status_code == 400


def test_a_key_that_occurs_twice_is_refused(ask, collector, report, tmp_path):
    """Wherever it is, however it is spelled, and whether or not both say the same."""
    task = ask()
    client = collector(task)
    plain = {"content-type": "application/json"}
    path = f"/v1/tasks/{task.address}/reports"
    good = body_of([dumps(report(task), task.channels[0]) for _ in range(3)]).decode()
    fields = json.loads(good)["reports"][1]
    twice = [good.replace('{"reports":', '{"reports":[],"reports":')]
    for key, value in fields.items():
        start = '{"id":"' + fields["id"]
        spelled = "".join(f"\\u{ord(letter):04x}" for letter in key)
        for name, said in ((key, value), (key, "x"), (spelled, value)):
            more = f'{{"{name}":{json.dumps(said)},'
            twice.append(good.replace(start, more + start[1:]))
    for body in twice:
        assert client.post(path, content=body.encode(), headers=plain).status_code == 400, body
    assert rows(tmp_path) == []
    spaced = json.dumps(json.loads(good), indent=3).replace(
        fields["id"], f"\\u{ord(fields['id'][0]):04x}" + fields["id"][1:], 1
    )
    assert client.post(path, content=spaced.encode(), headers=plain).status_code == 200
    assert len(rows(tmp_path)) == 3


def test_limits(ask, collector, report, send):
    task = ask()
    client = collector(task)
    assert send(client, task, *[report(task) for _ in range(MOST_REPORTS)]).status_code == 200
    assert send(client, task, *[report(task) for _ in range(MOST_REPORTS + 1)]).status_code == 400
    path = f"/v1/tasks/{task.address}/reports"
    plain = {"content-type": "application/json"}
    assert client.post(path, content=b" " * (1 << 18) + b"{", headers=plain).status_code == 413
    assert client.post(path, content=b"{}", headers={"content-type": "a/b"}).status_code == 415
    zipped = plain | {"content-encoding": "gzip"}
    assert client.post(path, content=b"{}", headers=zipped).status_code == 415


def test_addresses(ask, collector):
    task = ask()
    client = collector(task)
    assert client.get("/v1/tasks").json() == {"tasks": [task.address]}
    served = client.get(f"/v1/tasks/{task.address}")
    assert served.content == task.document
    assert "immutable" in served.headers["cache-control"]
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    for path, status in {
        "/v1/tasks/00": 404,
        "/v1/models/00": 404,
        f"/v1/tasks/{task.address}/model": 404,
        f"/v1/tasks/{task.address}/label": 404,
        "/v1/tasks/00/label": 404,
        f"/v1/tasks/{task.address}/reports": 405,
        "/nowhere": 404,
        "/../pyproject.toml": 404,
    }.items():
        response = client.get(path)
        assert response.status_code == status, path
        assert response.headers["content-type"] == "application/problem+json"
        assert "default-src 'self'" in response.headers["content-security-policy"]
    assert client.post("/v1/tasks/00/reports", json={}).status_code == 404


def test_the_page_is_compressed_and_what_has_an_address_is_not(ask, collector):
    """A proxy or a browser may ask for either; devices hash the bytes as they are sent."""
    task = ask()
    client = collector(task)
    for path in ("/", "/style.css", "/view/page.js"):
        answer = client.get(path, headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.content == client.get(path, headers={"accept-encoding": "identity"}).content
    answer = client.get(f"/v1/tasks/{task.address}", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in answer.headers


def test_a_label_is_made_once_and_by_whom_is_asked(ask, collector):
    made = []

    def label(task):
        made.append(task.address)
        return f"<!doctype html><title>{task.name}</title>"

    task = ask()
    client = collector(task, label=label)
    answers = [client.get(f"/v1/tasks/{task.address}/label") for _ in range(3)]
    assert {answer.text for answer in answers} == {f"<!doctype html><title>{task.name}</title>"}
    assert made == [task.address]
    assert answers[0].headers["content-type"] == "text/html; charset=utf-8"
    assert answers[0].headers["content-security-policy"].startswith("default-src 'none'")
    assert answers[0].headers["x-content-type-options"] == "nosniff"
    assert client.get("/v1/tasks/00/label").status_code == 404


def test_a_label_that_failed_is_rendered_again(ask, collector):
    failures = [RuntimeError("no memory")]

    def label(task):
        if failures:
            raise failures.pop()
        return task.name

    task = ask()
    client = collector(task, label=label)
    with pytest.raises(RuntimeError):
        client.get(f"/v1/tasks/{task.address}/label")
    assert client.get(f"/v1/tasks/{task.address}/label").text == task.name


@pytest.mark.parametrize("epoch", [10**400, -(10**400), 10**300, 2**63])
def test_an_epoch_of_any_size_is_refused(ask, collector, report, send, epoch, tmp_path):
    task = ask()
    client, one = collector(task), report(task)
    body = json.loads(body_of([dumps(one, task.channels[0])]))
    body["reports"][0]["epoch"] = epoch
    answer = client.post(f"/v1/tasks/{task.address}/reports", json=body)
    assert answer.status_code in (400, 422)
    assert rows(tmp_path) == []


def test_too_many_at_once_are_refused_late_and_unread(ask, clock):
    class Full:
        uploads = upload.MOST_WAITING

    task, said = ask(), []
    door = upload.UploadHandler(Admission({}, clock), Full, Metrics())

    async def receive():
        raise AssertionError("nothing of a refused request is read")

    async def send(message):
        said.append(message)

    async def asking():
        waiting = asyncio.create_task(door(task.address, {"headers": []}, receive, send))
        for _ in range(5):
            await asyncio.sleep(0)
        assert said == []  # else it would ask again at once
        await waiting

    asyncio.run(asking())
    assert said[0]["status"] == 503
    assert dict(said[0]["headers"])[b"retry-after"] == b"2"
