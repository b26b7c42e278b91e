"""Tokens are asked for, counted by an epoch's own key, and kept nowhere."""

from hashlib import sha256

import pytest

from tacit.collector.ingest.enrolment import Enrolment
from tacit.errors import DataError

TOKEN = "correct horse"


def enrolment(most=3):
    return Enrolment([sha256(TOKEN.encode()).hexdigest()], most)


def test_without_a_known_token_nothing_is_taken(ask, collector, report, send):
    task = ask()
    client = collector(task, enrolment=enrolment())
    for headers in ({}, {"authorization": "Bearer no"}, {"authorization": f"Basic {TOKEN}"}):
        assert send(client, task, report(task), **headers).status_code == 401
    assert send(client, task, report(task), authorization=f"Bearer {TOKEN}").status_code == 200


def test_a_token_has_a_share_of_each_epoch(ask, collector, report, send, clock):
    task = ask()
    client = collector(task, enrolment=enrolment())
    sent = [report(task) for _ in range(3)]
    for each in [sent[0], *sent]:  # what is sent again does not count again
        assert send(client, task, each, authorization=f"Bearer {TOKEN}").status_code == 200
    response = send(client, task, report(task), authorization=f"Bearer {TOKEN}")
    assert response.status_code == 429
    assert "retry-after" in response.headers
    clock.now += 86_400
    assert send(client, task, report(task), authorization=f"Bearer {TOKEN}").status_code == 200


def test_a_file_of_tokens_themselves_is_refused():
    with pytest.raises(DataError, match="64 hexadecimal"):
        Enrolment([TOKEN], 3)
