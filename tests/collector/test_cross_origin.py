"""Pages of listed origins may act as devices: browsers let them read responses, and no others."""

import pytest
from provider_keys import KEY

from tacit.cli.collecting.collect import collect
from tacit.collector.http.middleware import POLICY
from tacit.errors import RequestError
from tacit.wire.report import dumps, upload

SITE, OTHER = "https://www.films.example", "https://films.example.evil"
MEDIA = {"content-type": "application/json"}
ALLOWED = "access-control-allow-origin"


def preflight(client, path, origin=SITE, method="POST", headers="authorization, content-type"):
    asked = {"origin": origin, "access-control-request-method": method}
    return client.options(path, headers=asked | {"access-control-request-headers": headers})


@pytest.fixture
def shared(ask, collector):
    """A task, and a collector of it for the pages of one site."""
    task = ask()
    return task, collector(task, origins=[SITE])


@pytest.mark.parametrize("path", ["reports", "erasures"])
def test_a_listed_origin_may_send_a_token_and_json(shared, path):
    task, client = shared
    response = preflight(client, f"/v1/tasks/{task.address}/{path}")
    assert response.status_code == 200
    assert response.headers[ALLOWED] == SITE
    assert {"GET", "POST"} == set(response.headers["access-control-allow-methods"].split(", "))
    assert "access-control-allow-credentials" not in response.headers


def test_a_listed_origin_reads_every_answer_and_when_to_retry(shared, report):
    task, client = shared
    body = upload([dumps(report(task), task.channels[0])])
    for status, response in (
        (200, client.get("/v1/tasks", headers={"origin": SITE})),
        (200, client.get(f"/v1/tasks/{task.address}", headers={"origin": SITE})),
        (404, client.get(f"/v1/tasks/{task.address}/model", headers={"origin": SITE})),
        (200, client.post(f"/v1/tasks/{task.address}/reports", content=body,
                          headers={"origin": SITE} | MEDIA)),
        (404, client.post(f"/v1/tasks/{'0' * 64}/reports", content=body,
                          headers={"origin": SITE} | MEDIA)),
    ):  # fmt: skip
        assert response.status_code == status
        assert response.headers[ALLOWED] == SITE
        assert response.headers["access-control-expose-headers"] == "Retry-After"
        assert response.headers["vary"].count("Origin") == 1


@pytest.mark.parametrize("origin", [OTHER, "null", "http://www.films.example", SITE + ":8443"])
def test_no_other_origin_may(shared, origin):
    task, client = shared
    refused = preflight(client, f"/v1/tasks/{task.address}/reports", origin=origin)
    assert refused.status_code == 400
    for response in (refused, client.get("/v1/tasks", headers={"origin": origin})):
        assert ALLOWED not in response.headers
        assert "Origin" in response.headers["vary"]


def test_no_other_method_or_header_may(shared):
    task, client = shared
    path = f"/v1/tasks/{task.address}/reports"
    assert preflight(client, path, method="DELETE").status_code == 400
    assert preflight(client, path, headers="x-other").status_code == 400


@pytest.mark.parametrize("path", ["/", "/healthz", "/metrics"])
def test_page_and_metrics_are_for_their_own_origin(shared, path):
    _, client = shared
    assert ALLOWED not in client.get(path, headers={"origin": SITE}).headers


def test_an_origin_with_a_path_is_refused(tmp_path, ask):
    task = tmp_path / "task.json"
    task.write_bytes(ask().document)
    with pytest.raises(RequestError, match="--allow-origin must be https://host or") as error:
        collect(str(tmp_path / "reports.db"), [task], allow_origin=[SITE + "/"])
    assert str(error.value).endswith(f"got {SITE}/.")
    assert not (tmp_path / "reports.db").exists()


def test_without_a_list_there_is_one_origin(ask, collector):
    client = collector(ask())
    response = client.get("/v1/tasks", headers={"origin": SITE})
    assert ALLOWED not in response.headers
    assert "vary" not in response.headers


@pytest.mark.parametrize("successors", [(), (SITE,), (SITE, "https://last.example")])
def test_the_page_of_a_provider_that_moved_may_send_to_successors(ask, collector, successors):
    """A browser blocks other origins, by the policy with which it stored the page: by none."""
    task = ask(provider="https://films.example", provider_key=KEY.public)
    for successor in successors:
        task = KEY.move(task, successor)
    page = collector(task).get("/")
    policy = page.headers["content-security-policy"]
    connect = f"; connect-src 'self' {' '.join(successors)}" if successors else ""
    assert policy == f"{POLICY['content-security-policy']}{connect}"
    assert page.headers["cache-control"] == "no-store"
