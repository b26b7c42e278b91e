"""Devices and collectors over real HTTP: what continues, and what is erased, does so at both."""

import socket
import threading
import time
from array import array
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

import pytest
import uvicorn
from processes import free_port
from provider_keys import KEY

from tacit.collector.http.app import application
from tacit.collector.http.server import configured
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.device.client import Client
from tacit.errors import MovedError, RequestError
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import MOST_BYTES, ItemNeighbours, ListModel


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(folder, port, *tasks, published=None):
    app = application(str(folder / "reports.db"), tasks, published=published)
    server = uvicorn.Server(configured(app, "127.0.0.1", port))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def learnt(folder, task):
    """{person: {item: symbol}}"""
    with closing(open_reader(str(folder / "reports.db"))) as reader:
        found = stored_reports.reports(reader, task.address)
    told = {}
    people, items = found.user_ids.take(found.users), found.item_ids.take(found.items)
    for person, item, symbol in zip(people, items, found.symbols.tolist(), strict=True):
        told.setdefault(person, {})[item] = symbol
    return told


def later():
    """When a device that was told nothing may ask again."""
    return time.time() + 3 * 3600


def device(folder, port, name="device", clock=time.time):
    url = f"http://127.0.0.1:{port}"
    return Client(folder / name, url, most_epsilon="8", lifetime="100", clock=clock)


def test_a_task_that_names_its_provider_is_gone_on_with(ask, tmp_path, port):
    """Under the name, with the draws and the ledger of before: in the end there is one person."""
    task = ask(start=int(time.time()) - 100)
    successor = replace(task, provider=f"http://127.0.0.1:{port}")
    with served(tmp_path, port, task), closing(device(tmp_path, port)) as me:
        me.rate(101, "4")
        assert me.sync().stored == 1
    ((person, before),) = learnt(tmp_path, task).items()
    with served(tmp_path, port, successor, task), closing(device(tmp_path, port)) as me:
        assert me.sync().stored == 0
        assert me.task == successor
        me.rate(102, "2")
        assert me.sync().stored == 1
    for each in (task, successor):
        ((found, after),) = learnt(tmp_path, each).items()
        assert (found, after[101], sorted(after)) == (person, before[101], [101, 102])


def test_who_erases_at_home_is_erased_there(ask, tmp_path, port):
    task = ask(provider=f"http://127.0.0.1:{port}", start=int(time.time()) - 100)
    with (
        served(tmp_path, port, task),
        closing(device(tmp_path, port)) as me,
        closing(device(tmp_path, port, "other")) as other,
    ):
        for each in (me, other):
            each.rate(101, "4")
            assert each.sync().stored == 1
        assert len(learnt(tmp_path, task)) == 2
        assert me.erase().erasing == 0
        assert len(learnt(tmp_path, task)) == 1
        assert me.sync().stored == 0
        me.rate(103, "1")
        assert me.sync().stored == 1  # as somebody new
        assert sorted(map(sorted, learnt(tmp_path, task).values())) == [[101], [103]]
        for each in (me, other):
            assert each.erase().erasing == 0
        with pytest.raises(RequestError, match="has no reports yet"):
            learnt(tmp_path, task)


def test_an_erasure_waits_for_the_collector(ask, tmp_path, port):
    """Which may be down when somebody erases: the next sync asks again."""
    task = ask(provider=f"http://127.0.0.1:{port}", start=int(time.time()) - 100)
    with served(tmp_path, port, task), closing(device(tmp_path, port)) as me:
        me.rate(101, "4")
        assert me.sync().stored == 1
    with closing(device(tmp_path, port)) as me:
        assert me.erase().erasing == 1
    assert len(learnt(tmp_path, task)) == 1
    with served(tmp_path, port, task), closing(device(tmp_path, port)) as me:
        with suppress(RequestError):  # nothing is asked of the collector before its time
            me.sync()
        assert len(learnt(tmp_path, task)) == 1
    with served(tmp_path, port, task), closing(device(tmp_path, port, clock=later)) as me:
        assert me.sync().erasing == 0
    with pytest.raises(RequestError, match="has no reports yet"):
        learnt(tmp_path, task)


@pytest.mark.long
def test_a_list_model_as_large_as_they_may_be_goes_through(ask, tmp_path, port):
    task, n = replace(ask(), provider=f"http://127.0.0.1:{port}"), 4_090
    zeros, weights = array("f", bytes(4 * n)), bytearray(2 * n * n)
    weights[2 * n + 6 : 2 * n + 8] = b"\x00\x3c"  # from the second item to the fourth, 1
    near = ItemNeighbours(n, b"", bytes(weights))
    model = ListModel(tuple(range(100, 100 + n)), zeros, NO_PRIVACY, neighbours=near)
    assert 0.99 * MOST_BYTES < len(model.to_bytes()) <= MOST_BYTES
    published = PublishedModels(tmp_path / "models")
    published.publish(task.address, model)
    with served(tmp_path, port, task, published=published), closing(device(tmp_path, port)) as me:
        me.rate(101, "4")
        me.fetch_model()
        assert me.recommend(2) == [(103, 1.0), (100, 0.0)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["rated", "sample:3"])
def test_a_provider_moves_with_its_store(ask, growing, tmp_path, plan):
    """The collector of the successor continues the store, and the old one serves the move."""
    old, new = free_port(), free_port()
    origin, successor = (f"http://127.0.0.1:{each}" for each in (old, new))
    make = ask if plan == "rated" else growing
    first = make(
        plan, provider=origin, provider_key=KEY.public, start=int(time.time()) - 100, window=30
    )
    with served(tmp_path, old, first), closing(device(tmp_path, old)) as me:
        for item in range(100, 104):
            me.rate(item, 4)
        assert me.sync().stored > 0
        before, spent = learnt(tmp_path, first), me.ledger.spent
    moved = KEY.move(first, successor)
    with (
        served(tmp_path, old, moved),
        closing(device(tmp_path, old)) as me,
        pytest.raises(MovedError) as said,
    ):
        me.sync()
    assert said.value.successor == successor
    with served(tmp_path, new, moved), closing(device(tmp_path, new)) as me:
        assert (me.task, me.ledger.spent) == (moved, spent)
        assert me.sync().stored == 0
        me.rate(104, 2)
        me.sync()
        assert me.ledger.spent == spent + 10**9 * (plan == "rated")
    after = learnt(tmp_path, moved)
    assert after.keys() == before.keys()
    ((first_reports, all_reports),) = zip(before.values(), after.values(), strict=True)
    assert first_reports.items() <= all_reports.items()
    with served(tmp_path, new, moved), closing(device(tmp_path, new, clock=later)) as me:
        outcome = me.erase()
        assert (outcome.erased, outcome.erasing) == (1, 0)
