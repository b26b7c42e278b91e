"""A report has one length for everybody, and its names come from the secret alone."""

import hmac
import json
from hashlib import sha256
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.channels import compile_channel
from tacit.collection.plans import Sample
from tacit.collection.slots import slot_reports
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.wire import report as pseudonym
from tacit.wire.report import Report, dumps, upload
from tacit.wire.tasks.task import asked

FINE = compile_channel("bounded-laplace", epsilon="1", scale=RatingScale.parse("1:5:0.5"))
SECRET = bytes(range(32))


def report(symbols) -> Report:
    places = tuple(range(len(symbols)))
    return Report("0a" * 16, FINE.id, 17, "ff" * 16, places, tuple(symbols))


@given(st.lists(st.integers(0, len(FINE.outputs) - 1), min_size=8, max_size=8))
def test_every_answer_has_one_length_and_says_what_it_means(symbols):
    sent = dumps(report(symbols), FINE)
    assert len(sent) == len(dumps(report([0] * 8), FINE))
    assert json.loads(sent) == {
        "id": "0a" * 16,
        "mech": FINE.id,
        "schema": 1,
        "epoch": 17,
        "person": "ff" * 16,
        "cells": [[place, symbol] for place, symbol in enumerate(symbols)],
    }


def test_an_upload_is_json():
    sent = [dumps(report([k]), FINE) for k in range(3)]
    held = json.loads(upload(sent))
    assert [each["cells"] for each in held["reports"]] == [[[0, k]] for k in range(3)]


def test_names_are_what_the_contract_says():
    def name(text):
        return hmac.new(SECRET, text.encode(), "sha256").hexdigest()[:32]

    task = "ab" * 32
    assert pseudonym.person(SECRET, task) == name(f"tacit-person-1\n{task}")
    assert pseudonym.report_id(SECRET, task, 9, 4) == name(f"tacit-report-1\n{task}\n9\n4")
    assert pseudonym.report_id(SECRET, task, 9, None) == name(f"tacit-report-1\n{task}\n9\nall")


def test_names_for_a_provider_are_what_the_contract_says():
    def key(text):
        return hmac.new(SECRET, text.encode(), "sha256").digest()

    task, films = "ab" * 32, "https://films.example"
    erasing = key(f"tacit-person-2\n{films}\n{task}")
    assert pseudonym.erasure_key(SECRET, task, films) == erasing
    assert pseudonym.person(SECRET, task, films) == sha256(erasing).hexdigest()[:32]
    for place, slot in ((4, "4"), (None, "all")):
        wanted = key(f"tacit-report-2\n{films}\n{task}\n9\n{slot}").hex()[:32]
        assert pseudonym.report_id(SECRET, task, 9, place, films) == wanted


def test_a_name_at_one_provider_is_none_at_another():
    providers = (None, "https://films.example", "https://films.example:8443")
    names = {pseudonym.person(SECRET, "ab", provider) for provider in providers}
    ids = {pseudonym.report_id(SECRET, "ab", 0, 0, provider) for provider in providers}
    assert len(names) == len(ids) == 3


def test_names_of_slots_differ():
    ids = {pseudonym.report_id(SECRET, "ab", e, p) for e in range(20) for p in [None, *range(20)]}
    assert len(ids) == 20 * 21


def test_a_device_is_asked_what_the_bulk_run_asks(ask):
    ratings = synthetic(n_users=30, n_items=40, n_ratings=600)
    task = ask("sample:5", items=ratings.item_ids.ids)
    (block,) = slot_reports(ratings, Sample(task.channels[0], 5))
    for code, raw in enumerate(ratings.user_ids.ids):
        mine = block.items[block.users == code]
        assert asked(task, str(raw)) == tuple(mine)


def test_a_sample_is_public_spread_and_ascending(ask):
    task = ask("sample:5", items=range(40))
    people = [pseudonym.person(SECRET, str(k)) for k in range(400)]
    samples = [asked(task, person) for person in people]
    assert all(len(s) == 5 and all(a < b for a, b in pairwise(s)) for s in samples)
    counts = np.bincount(np.concatenate(samples), minlength=40)
    assert abs(counts - 50).max() < 5 * np.sqrt(50)
    assert asked(ask("sample:50", items=range(40)), people[0]) == tuple(range(40))
