"""A collector of who did what: what it takes, keeps, gives back and erases."""

from contextlib import closing
from dataclasses import replace

import pytest

from tacit import fit
from tacit.channels import compile_channel
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.stored_reports import reports
from tacit.device.client import Client
from tacit.device.list_profile import ListProfile
from tacit.device.transport import Answer
from tacit.errors import RequestError
from tacit.models import MODELS, list_model
from tacit.scale import RatingScale
from tacit.wire.report import Report

ONE = RatingScale.parse("there")


@pytest.fixture(params=["catalogue", "sample:3"])
def task(ask, request):
    channels = tuple(
        compile_channel("randomized-response", epsilon=e, scale=ONE, missing=True)
        for e in ("1", "2")
    )
    provider = "https://films.example"
    return ask(request.param, scale=ONE, channels=channels, provider=provider)


@pytest.fixture
def learnt(tmp_path):
    """What the store has."""

    def read():
        with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
            return reports(reader)

    return read


def test_it_takes_two_symbols_and_no_third(task, collector, report, send, learnt):
    client = collector(task)
    good: Report = report(task)
    response = send(client, task, replace(good, symbols=(*good.symbols[:-1], 2)))
    assert response.status_code == 422
    assert response.json()["refused"][0]["problem"] == "cells"
    with pytest.raises(RequestError, match="has no reports yet"):
        learnt()
    told = [report(task, symbols=(symbol,) * task.cells) for symbol in (0, 1)]
    assert send(client, task, *told).status_code == 200
    found = learnt()
    # Of a whole catalogue "missing" is left out, but for one cell, which shows the channel.
    rows = task.cells + 1 if task.plan == "catalogue" else 2 * task.cells
    assert (found.n_users, len(found)) == (2, rows)
    assert sorted(set(found.symbols.tolist())) == [0, 1]
    assert (found.scale, found.plan) == (ONE, task.plan)
    assert found.channels == task.channels


def test_whoever_says_missing_everywhere_has_been_promised_as_much(
    task, collector, report, send, learnt
):
    """Under a catalogue one cell of theirs is left, and the promise is of what was sent."""
    client, silent = collector(task), (0,) * task.cells
    weaker = report(task, mech=task.channels[1].id, symbols=silent)
    assert send(client, task, weaker).status_code == 200
    assert (learnt().n_users, learnt().guarantee.epsilon) == (1, "2")
    assert send(client, task, report(task, symbols=(1,) * task.cells)).status_code == 200
    assert (learnt().n_users, learnt().guarantee.epsilon) == (2, "2")


def test_a_model_of_stars_refuses_what_it_stores(
    task, collector, report, send, learnt, run, tmp_path
):
    assert send(collector(task), task, report(task), report(task)).status_code == 200
    with pytest.raises(RequestError, match="got implicit feedback"):
        fit(next(iter(MODELS)), learnt())
    asked = ("fit", "--db", tmp_path / "reports.db", "--model", "mf", "-o", tmp_path / "model")
    status, _, said = run(*asked)
    assert (status, "got implicit feedback" in said) == (1, True)


@pytest.fixture
def device(clock):
    """A person's client of a collector in this process."""

    def opened(http):
        def transport(method, path, body=None, longest=0):
            told = http.request(
                method, path, content=body, headers={"content-type": "application/json"}
            )
            return Answer(told.status_code, told.content)

        given = {"most_epsilon": "2", "lifetime": "99", "transport": transport, "clock": clock}
        return Client(":memory:", "https://films.example", **given)

    return opened


def test_a_device_reports_to_it_and_is_erased(task, collector, learnt, device):
    with device(collector(task)) as me:
        me.rate(100, 1)
        assert me.sync().stored == 1
        assert learnt().n_users == 1
        assert [held["task"] for held in me.export()["tasks"]] == [task.address]
        assert me.erase().erased == 1
    with pytest.raises(RequestError, match="has no reports yet"):
        learnt()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "more", "best"),
    [("popularity", {5}, 105), ("ease", set(), 101), ("graph-filter", set(), 101)],
)
def test_what_is_learnt_from_it_is_published_and_makes_lists_at_home(
    task, collector, report, send, learnt, device, run, tmp_path, name, more, best
):
    """Half of the people have the first three items, half the others; `more` is everybody's."""
    client = collector(task, published=PublishedModels(tmp_path / "models"))
    sent = [report(task, mech=task.channels[1].id) for _ in range(200)]
    for k, each in enumerate(sent):
        had = {0, 1, 2} | more if k % 2 else {3, 4, 5}
        sent[k] = replace(each, symbols=tuple(int(place in had) for place in each.places))
    assert send(client, task, *sent).status_code == 200
    given = ("--model", name, "--publish", tmp_path / "models", "-o", tmp_path / "model")
    status, _, said = run("fit", "--db", tmp_path / "reports.db", *given)
    assert (status, "psilon = 2 per slot" in said) == (0, True)
    with device(client) as me:
        for item in (100, 102):
            me.rate(item, 1)
        me.fetch_model()
        shown = me.recommend(3)
        with pytest.raises(RequestError, match="list model, which predicts no ratings"):
            me.predict(101)
    assert shown[0][0] == best
    assert shown == ListProfile(list_model(fit(name, learnt())), [100, 102]).recommend(3)
