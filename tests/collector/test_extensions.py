"""A catalogue that grows: no rating is lost, no answer is given twice, and names are stable."""

from contextlib import closing
from random import Random

import pytest
from shop import PROVIDER

from tacit.collector.administration.stored_rows import verify
from tacit.collector.administration.summary import summaries
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.errors import CertificateError, RequestError
from tacit.learners import fit
from tacit.models import item_model
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.terms import DAY


@pytest.fixture
def first(ask):
    return ask(items=range(1, 21), provider=PROVIDER, retention_days=3650)


def stored(folder):
    """{user: {item: symbol}} of all reports, and the items, as a fit reads them."""
    with closing(open_reader(str(folder / "reports.db"))) as reader:
        reports = stored_reports.reports(reader)
    users, items = reports.user_ids.take(reports.users), reports.item_ids.take(reports.items)
    by_user = {}
    for user, item, symbol in zip(users, items, reports.symbols.tolist(), strict=True):
        by_user.setdefault(user, {})[item] = symbol
    return by_user, reports


@pytest.mark.parametrize(
    ("extensions", "devices"), [(7, 5), pytest.param(52, 40, marks=pytest.mark.long)]
)
def test_devices_follow_extensions(first, shop, clock, tmp_path, extensions, devices):
    """Against a twin: a rating that is new or changed costs one epsilon, and no other does."""
    random, task = Random(5), first
    shop.serve(task)
    users = [shop.device() for _ in range(devices)]
    ratings, reported, costs = ([kind() for _ in users] for kind in (dict, dict, set))
    names = set()
    for extension in range(extensions):
        clock.now += DAY
        if extension:
            task = task.extended([100 * extension, 100 * extension + 1])
            shop.serve(task)
        for k, me in enumerate(users):
            if random.random() < 0.7 or extension == extensions - 1:
                me.sync()  # fetches the task
                for item in random.sample(me.task.items, 3):
                    level = random.choice("12345")
                    me.rate(item, level)
                    ratings[k][item] = level
                changed = ratings[k].items() - reported[k].items()
                assert me.sync().stored == len(changed)
                costs[k] |= ratings[k].items()
                reported[k] = dict(ratings[k])
            assert me.ledger.spent == len(costs[k]) * 10**9
            assert me.ratings == ratings[k]
        users_so_far = stored(tmp_path)[0].keys()
        assert names <= users_so_far
        names = users_so_far
    assert task == users[0].task
    answers, reports = stored(tmp_path)
    assert len(answers) == devices
    assert reports.item_ids.ids.to_list() == sorted(task.items)
    codes = sorted(me.reference_code().replace("-", "") for me in users)
    assert codes == sorted(answers)
    for k, me in enumerate(users):
        assert answers[me.reference_code().replace("-", "")].keys() == ratings[k].keys()
    with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
        assert verify(reader).faults.total() == 0
        (summary,) = summaries(reader)
    assert summary.task == task


def test_ancestors_are_served_and_take_reports(first, shop, report, send, tmp_path):
    task = first.extended([100]).extended([200, 201])
    client = shop.serve(task)
    assert client.get("/v1/tasks").json() == {"tasks": [task.address]}
    lines = task.document.split(b"\n")
    for count, address in enumerate((*task.ancestors[1:], task.address), 1):
        document = client.get(f"/v1/tasks/{address}").content
        assert document == b"\n".join(lines[:count])
        parent = loads(document, address)
        sent = report(parent, places=(len(parent.items) - 1,), symbols=(1,))
        assert send(client, parent, sent).status_code == 200
    response = send(client, first, report(first, places=(len(task.items),), symbols=(1,)))
    assert response.json()["refused"][0]["problem"] == "cells"
    _, reports = stored(tmp_path)
    assert sorted(reports.item_ids.take(reports.items)) == [20, 100, 201]


def test_reports_of_a_restarted_collector_are_those_of_one_chain(
    first, shop, report, send, run, tmp_path
):
    """Whichever task of the chain is named, the fit reads all reports on all items."""
    served = tmp_path / "models"
    task = first.extended([100])
    for each, place in ((first, 3), (task, 20), (first, 5)):
        client = shop.serve(each)
        assert send(client, each, report(each, places=(place,), symbols=(2,))).status_code == 200
    for address in (None, first.address, task.address):
        options = () if address is None else ("--task", address)
        command = ("fit", "--db", tmp_path / "reports.db", "--model", "bias", *options)
        more = ("--publish", served, "--least", "1", "-o", tmp_path / "model")
        status, _, message = run(*command, *more)
        assert (status, "bias from 3 rows" in message) == (0, True)
    assert PublishedModels(served).newest(first.address) is not None
    assert PublishedModels(served).tasks() == sorted([first.address, task.address])
    status, out, _ = run("admin", "check", "--db", tmp_path / "reports.db")
    assert (status, out) == (0, "3 reports are valid.\n")


def test_new_items_are_recommended_to_those_who_rated_before(first, shop, clock, tmp_path):
    shop.serve(first)
    me = shop.device()
    me.rate(3, "5")
    assert me.sync().stored == 1
    task = first.extended([100])
    shop.serve(task)
    clock.now += DAY
    assert me.sync().stored == 0
    learned = fit("bias", stored(tmp_path)[1], exposure=False)
    shop.published.publish(task.address, item_model(learned))
    me.sync()
    assert (me.task, me.ratings) == (task, {3: "5"})
    assert {item for item, _ in me.recommend(40)} == {*task.items} - {3}


def test_a_second_extension_of_one_task_is_refused(first, shop, clock):
    shop.serve(first.extended([100]))
    me = shop.device()
    me.rate(100, "5")
    assert me.sync().stored == 1
    shop.serve(first.extended([101]))
    clock.now += DAY
    me.rate(3, "4")
    for _ in range(2):
        with pytest.raises(CertificateError, match=r"extended the task .* in two ways"):
            me.sync()
    assert me.ledger.spent == 10**9
    # A collector that was restored from an older file takes nothing away.
    shop.serve(first)
    me.sync()
    assert me.task == first.extended([100])
    shop.serve(first.extended([100]).extended([102]))
    me.sync()
    assert me.task.items[-2:] == (100, 102)
    assert me.sync().waiting == 0


def test_a_device_is_erased_under_the_name_of_the_first_task(first, shop, tmp_path):
    shop.serve(first.extended([100]))
    me = shop.device()
    me.rate(100, "5")
    assert me.sync().stored == 1
    shop.serve(first.extended([100]).extended([101]))
    assert me.erase().erased == 1
    with pytest.raises(RequestError, match="has no reports yet"):
        stored(tmp_path)
