"""What is learnt from is what was reported last, and nothing of it is moved or lost."""

from contextlib import closing
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from tacit.channels.table import Channel
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.wire.item_model import ItemModel
from tacit.wire.tasks.task import asked


def learnt(path, address=None):
    with closing(open_reader(str(path))) as reader:
        return stored_reports.reports(reader, address)


def cells(reports):
    """{(person, item): (symbol, channel)}"""
    people, items = reports.user_ids.take(reports.users), reports.item_ids.take(reports.items)
    values = zip(reports.symbols.tolist(), reports.channel_of.tolist(), strict=True)
    return dict(zip(zip(people, items, strict=True), values, strict=True))


def test_the_latest_report_of_a_person_and_item_counts(ask, collector, report, send, tmp_path):
    task = ask(epsilons=("1", "2"))
    client, me = collector(task), "ab" * 16
    for epoch, symbol in ((18, 1), (20, 3), (19, 2)):
        each = report(task, person=me, places=(4,), symbols=(symbol,), epoch=epoch)
        assert send(client, task, each).status_code == 200
    other = report(task, mech=task.channels[1].id, places=(4,), symbols=(0,))
    assert send(client, task, other).status_code == 200
    found = learnt(tmp_path / "reports.db")
    assert cells(found) == {(me, 104): (3, 0), (other.person, 104): (0, 1)}
    assert found.guarantee.epsilon == "2"
    assert found.guarantee.unit == "value"
    assert "which reports of this task come from the same user" in found.guarantee.public


@pytest.mark.parametrize("plan", ["catalogue", "sample:3"])
def test_slots(ask, collector, report, send, tmp_path, plan):
    task = ask(plan)
    client, me = collector(task), "ab" * 16
    first, second = (report(task, person=me, epoch=epoch) for epoch in (19, 20))
    others = [report(task) for _ in range(20)]
    assert send(client, task, second, first, *others).status_code == 200
    want = {
        (each.person, task.items[place]): (symbol, 0)
        for each in [second, *others]
        for place, symbol in zip(each.places, each.symbols, strict=True)
        if plan != "catalogue" or task.channels[0].outputs[symbol] is not None
    }
    found = learnt(tmp_path / "reports.db", task.address)
    assert cells(found) == want
    assert found.plan == plan
    assert found.n_users == 21
    assert (np.diff(found.users) >= 0).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("plan", ["sample:7", "sample:40", "sample:99", "catalogue"])
@pytest.mark.parametrize("block", [1, 100, 1 << 22])
def test_places_found_in_bulk_are_those_that_devices_are_asked(
    ask, collector, report, send, tmp_path, monkeypatch, plan, block
):
    """In blocks of one person, of two with a rest, or all at once: each symbol at its own place."""
    task = ask(plan, ("1", "2"), items=[f"item {k}" for k in range(40)])
    client, shown = collector(task), len(task.channels[0].outputs) - 1
    sent = [report(task, mech=task.channels[k % 2].id) for k in range(9)]
    sent = [replace(each, symbols=tuple(p % shown + 1 for p in each.places)) for each in sent]
    assert send(client, task, *sent).status_code == 200
    monkeypatch.setattr(stored_reports, "BLOCK", block)
    assert cells(learnt(tmp_path / "reports.db")) == {
        (each.person, task.items[place]): (place % shown + 1, k % 2)
        for k, each in enumerate(sent)
        for place in asked(task, each.person)
    }


@pytest.mark.parametrize("plan", ["catalogue", "sample:3"])
def test_a_table_without_the_symbol_missing_is_read_whole(
    ask, collector, report, send, tmp_path, plan
):
    """It has the input "missing" and says something of every slot; so nothing is left out."""
    stars = tuple(Decimal(k) for k in range(1, 6))
    best = (0, 0, 1, 1, 2, 2)
    rows = tuple(tuple(1 << 63 if x == y else 1 << 62 for y in range(3)) for x in best)
    table = Channel(stars, stars[::2], rows, "0.7", missing=True)
    task = ask(plan, channels=(table, *ask(plan).channels))
    client = collector(task)
    sent = [report(task, mech=mech.id, symbols=(0,) * task.cells) for mech in task.channels]
    assert send(client, task, *sent).status_code == 200
    found = learnt(tmp_path / "reports.db")
    shown = cells(found)
    assert sum(person == sent[0].person for person, _ in shown) == task.cells
    assert (found.n_users, found.guarantee.epsilon) == (2, "1")


def test_channel_of_a_user_without_other_symbols_is_read(ask, collector, report, send, tmp_path):
    """Presence is debiased by each user's channel, which a user with "missing" alone has too."""
    task = ask("catalogue", epsilons=("1", "2"))
    silent = [mech.outputs.index(None) for mech in task.channels]
    sent = [
        report(task, mech=mech.id, symbols=(missing,) * task.cells)
        for mech, missing in zip(task.channels, silent, strict=True)
    ]
    assert send(collector(task), task, *sent).status_code == 200
    found = learnt(tmp_path / "reports.db")
    channel_of = dict(zip(found.user_ids.take(found.users), found.channel_of, strict=True))
    assert channel_of == {each.person: index for index, each in enumerate(sent)}
    assert np.isnan(found.values).all()


def test_items_keep_their_ids_in_any_order_of_the_catalogue(ask, collector, report, send, tmp_path):
    task = ask(items=["b", "c", "a", "f", "e", "d"])
    each = report(task, places=(2,))
    assert send(collector(task), task, each).status_code == 200
    found = learnt(tmp_path / "reports.db")
    assert found.item_ids.ids.to_list() == list("abcdef")
    assert list(cells(found)) == [(each.person, "a")]


def test_nothing_to_learn_from_is_said(ask, collector, tmp_path):
    task = ask()
    collector(task)
    with pytest.raises(RequestError, match="has no reports yet"):
        learnt(tmp_path / "reports.db")
    with pytest.raises(RequestError, match="has no task 00; stored tasks"):
        learnt(tmp_path / "reports.db", "00")
    with pytest.raises(RequestError, match="is not a store of reports"):
        learnt(tmp_path / "elsewhere.db")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(RequestError, match="is not a store of reports"):
        learnt(tmp_path / "text.db")


def test_fit_and_publish(ask, collector, report, send, run, tmp_path):
    task = ask()
    published = PublishedModels(tmp_path / "models")
    client = collector(task, published=published)
    sent = [report(task, places=(k % 6,)) for k in range(150)]
    assert send(client, task, *sent).status_code == 200
    status, _, said = run(
        "fit", "--db", tmp_path / "reports.db", "--model", "mf", "--publish", tmp_path / "models",
        "-o", tmp_path / "model",
    )  # fmt: skip
    assert (status, "psilon = 1 per value" in said) == (0, True)
    address = client.get(f"/v1/tasks/{task.address}/model").json()["model"]
    served = client.get(f"/v1/models/{address}")
    assert "immutable" in served.headers["cache-control"]
    assert ItemModel.from_bytes(served.content).items == task.items
    assert len(Fitted.load(tmp_path / "model").user_ids) == 150


@pytest.mark.parametrize("arguments", [[], ["ratings.csv", "--db", "x.db"]])
def test_fit_takes_one_source(run, tmp_path, arguments):
    status, _, said = run("fit", *arguments, "-o", tmp_path / "model")
    assert (status, "Exactly one of DATA" in said) == (1, True)


def test_a_long_life_of_one_person(ask, collector, report, send, tmp_path):
    """A re-rating in every epoch leaves one cell."""
    task = ask(window=20)
    client, me = collector(task), "ab" * 16
    base = report(task, person=me, places=(1,))
    sent = [replace(base, id=f"{k:032x}", epoch=k, symbols=(k % 5,)) for k in range(1, 21)]
    assert send(client, task, *reversed(sent)).status_code == 200
    assert cells(learnt(tmp_path / "reports.db")) == {(me, 101): (0, 0)}
