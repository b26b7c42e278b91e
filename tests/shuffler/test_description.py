"""Responses of a shuffler match its API description, and no request changes a batch."""

import json

import httpx2
import pytest
from described import statuses
from processes import free_port
from shuffled_tasks import item_task
from shuffling import PROVIDER_TOKEN, served_anew, wait_until

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoreError
from tacit.shuffler.app import OPENAPI, ShufflerRoutes
from tacit.shuffler.task_key import TaskKey

TASK = item_task(key=TaskKey.generate().public)
BUNDLES, BATCH = "/v1/tasks/{task}/bundles", "/v1/tasks/{task}/batch"
TOKENS = "/v1/tasks/{task}/tokens"


@pytest.fixture
def servers(shuffling):
    """The servers of a shuffler on sockets, which starts anew after it has deleted bundles."""
    port = free_port()
    with (
        served_anew(lambda anew: shuffling.application(TASK, forgotten=anew), port) as started,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}") as shuffling.client,
    ):
        yield started
    shuffling.client = None


@pytest.fixture
def answers(shuffling, servers):
    """A function from a token to the (path, status) of all answers."""

    def tried(token, examples):
        headers = {"authorization": f"Bearer {token}"}
        url = str(shuffling.client.base_url)
        return statuses(OPENAPI, url, {"task": TASK.address}, examples, headers)

    return tried


@pytest.mark.long
def test_what_the_published_description_says(shuffling, servers, answers, monkeypatch):
    """With the tokens of a person and of the provider, on an open task and a closed one."""

    def failing(*arguments):
        raise StoreError("gone")

    seen = answers("person 30", examples=200)
    assert {(BUNDLES, 404), (BUNDLES, 422), (BATCH, 401), (TOKENS, 401)} <= seen
    assert ("/v1/ready", 200) in seen
    seen |= answers(PROVIDER_TOKEN, examples=200)
    assert {(BATCH, 410), (TOKENS, 410), (BUNDLES, 401), ("/v1/ready", 401)} <= seen
    for person in range(20):
        body = bytes([person]) * TASK.bundle_bytes
        assert shuffling.send(TASK, body, person=person).status_code == 200
    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "forget", failing)
        shuffling.close(TASK)
        refused = shuffling.provider("GET", TASK)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert refused.json()["type"] == "urn:tacit:problem:deleting"
    wait_until(lambda: len(servers) == 2 and servers[1].started)
    seen |= answers("person 30", examples=200)
    assert (BUNDLES, 410) in seen
    seen |= answers(PROVIDER_TOKEN, examples=200)
    assert (BATCH, 200) in seen
    assert not [status for _, status in seen if status >= 500]


def test_the_description_is_served_and_complete(shuffling):
    """It has every route but its own."""
    shuffling.start(TASK)
    document = shuffling.client.get("/v1/openapi.json").json()
    assert document == json.loads(OPENAPI.read_text())
    routes = {
        (route.path, method.lower())
        for route in ShufflerRoutes(None, None, None).routes()
        for method in route.methods - {"HEAD"}
    }
    described = {(path, method) for path, item in document["paths"].items() for method in item}
    assert routes == described | {("/v1/openapi.json", "get")}
