"""Nothing forged is answered: every check comes before the first draw."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256

import pytest
from list_models import drawn

from tacit.device.list_profile import ListProfile
from tacit.device.transport import Answer
from tacit.errors import CertificateError, DataError, RequestError
from tacit.models import evidence, item_model, model
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.wire.item_model import ItemModel


def changed(document, **changes):
    fields = json.loads(document) | changes
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def leaky(document):
    """The same task with a channel that claims less than its table costs."""
    fields = json.loads(document)
    fields["channels"][0]["epsilon"] = "0.5"
    return changed(document, channels=fields["channels"])


@pytest.fixture
def counted(device):
    """A device that counts its words, and the list it counts in."""

    def made(asks, **changes):
        drawn = []
        return device(asks, words=lambda: drawn.append(0) or 0, **changes), drawn

    return made


@pytest.mark.parametrize(
    "forge",
    [
        leaky,
        lambda d: changed(d, name="Fiims"),
        lambda d: d + b" ",
        lambda d: b"",
        lambda d: d[:-9],
    ],
)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_forged_task_is_refused_before_any_draw(collector, counted, ask, forge, plan):
    asks = collector(plan)
    asks.forge = forge
    with pytest.raises(CertificateError, match="changed in transit"):
        counted(asks)
    asks.forge = lambda document: document
    mine, drawn = counted(asks)
    asks.tasks.insert(0, ask(plan, name="Books"))
    asks.forge = forge
    mine.rate(100, 3)
    with pytest.raises(CertificateError, match="changed in transit"):
        mine.sync()
    assert (drawn, asks.uploads) == ([], [])


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_an_honest_address_of_a_leaky_task_is_refused_before_any_draw(collector, counted, plan):
    asks = collector(plan)
    mine, drawn = counted(asks)
    forged = leaky(asks.tasks[0].document)
    address = sha256(forged).hexdigest()

    def serves(method, path, body=None, longest=0):
        named = path == "/v1/tasks"
        return Answer(200, json.dumps({"tasks": [address]}).encode() if named else forged)

    mine._documents._transport = serves
    with pytest.raises(CertificateError, match="claim a larger epsilon"):
        mine.sync()
    assert (drawn, mine.ledger.spent) == ([], 0)


def test_ones_own_maximum_comes_before_any_draw(collector, counted):
    asks = collector("catalogue", epsilons=("1", "2"))
    mine, drawn = counted(asks, most_epsilon="0.99")
    with pytest.raises(CertificateError, match=r"= 1 or more per slot, above your maximum of 0\."):
        mine.sync()
    assert (drawn, asks.uploads) == ([], [])


def test_the_count_of_words_is_the_count_of_cells(collector, counted):
    """So that "no words" in the tests above means that nothing was drawn."""
    mine, drawn = counted(collector("catalogue"))
    mine.sync()
    assert len(drawn) == 6


def test_a_pinned_task_is_the_only_one(collector, device, ask):
    asks = collector()
    other = ask(name="Books")
    asks.tasks.append(other)
    mine = device(asks, task=other.address)
    assert mine.task.name == "Books"
    assert ("GET", "/v1/tasks") not in asks.asked
    with pytest.raises(RequestError, match="address of 64 hexadecimal digits"):
        device(asks, task="Books")


@pytest.mark.parametrize("pinned", [False, True])
def test_a_task_is_fetched_once(collector, device, pinned, tmp_path):
    asks = collector()
    address = asks.tasks[0].address
    for _ in range(2):
        with device(asks, tmp_path / "me.db", task=address if pinned else None) as mine:
            mine.sync()
            mine.sync()
    assert asks.asked.count(("GET", f"/v1/tasks/{address}")) == 1


def test_a_known_task_needs_no_collector(collector, device, clock, tmp_path):
    with device(collector(), tmp_path / "me.db") as mine:
        mine.rate(100, 2)
    offline = device(lambda *asked: None, tmp_path / "me.db")
    offline.rate(101, 3)
    assert offline.sync().waiting == 2
    assert offline.ratings == {100: "2", 101: "3"}
    stranger = device(lambda *asked: None)
    for use in (lambda: stranger.rate(100, 2), stranger.sync):
        with pytest.raises(RequestError, match="No task has been received yet"):
            use()


def test_a_kept_task_that_was_changed_is_not_answered(collector, device, tmp_path):
    """What is on the disk is checked against its address as what comes over the wire is."""
    with device(collector(), tmp_path / "me.db"):
        pass
    with closing(sqlite3.connect(tmp_path / "me.db")) as database, database:
        (document,) = database.execute("SELECT document FROM task").fetchone()
        database.execute("UPDATE task SET document = ?", (leaky(document),))
    drawn = []
    with pytest.raises(CertificateError, match="changed in transit"):
        device(lambda *asked: None, tmp_path / "me.db", words=lambda: drawn.append(0) or 0).rate(
            100, 2
        )
    assert not drawn


def test_only_a_sync_talks_to_the_collector(collector, device, clock, tmp_path):
    """So that the moment at which something is rated or recommended cannot be seen."""
    asks = collector()
    with device(asks, tmp_path / "me.db"):
        asks.asked.clear()
    mine = device(asks, tmp_path / "me.db")
    mine.rate(100, 2)
    mine.rate(100, None)
    with pytest.raises(RequestError):
        mine.recommend()
    assert (mine.ratings, mine.task, mine.export()["spent"]) == ({}, asks.tasks[0], "0")
    assert asks.asked == []


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"tasks":["x"]}', b'{"tasks":[3]}', b'{"tasks":"' + b"0" * 63 + b'"}', b"{}",
     b'{"tasks":[],"more":1}', b'{"tasks":{}}'],
)  # fmt: skip
def test_a_list_of_tasks_that_is_none_is_refused(device, body):
    with pytest.raises(DataError):
        device(lambda *asked: Answer(200, body))


@pytest.mark.parametrize("status", [400, 401, 403, 301])
def test_a_refused_request_is_a_sentence(device, status):
    with pytest.raises(RequestError, match=rf"\(status {status}\)"):
        device(lambda *asked: Answer(status, b"secret"))


def test_the_list_may_be_empty(device):
    mine = device(lambda *asked: Answer(200, b'{"tasks":[]}'))
    with pytest.raises(RequestError, match="No task has been received yet"):
        mine.sync()


@pytest.fixture(scope="module")
def published():
    """An item model of made-up people, as bytes."""
    ratings = synthetic(n_users=60, n_items=50, n_ratings=1300)
    return ratings, item_model(model("bias").fit(evidence(ratings))).to_bytes()


def publish(asks, document):
    asks.models.append((sha256(document).hexdigest(), document))


def test_recommendations_are_made_at_home(collector, device, published, ask):
    ratings, document = published
    ids = ratings.item_ids.ids.to_list()
    asks = collector(items=ids)
    mine = device(asks)
    mine.rate(ids[3], 5)
    mine.sync()
    with pytest.raises(RequestError, match="No item model has been fetched"):
        mine.recommend(3)
    publish(asks, document)
    mine.sync()
    top = mine.recommend(49)
    assert len(top) == 49
    assert ids[3] not in {item for item, _ in top}
    assert mine.predict(top[0][0]) == top[0][1]
    assert all(1 <= rating <= 5 for _, rating in top)
    asks.models.clear()
    mine.sync()
    assert mine.recommend(49) == top  # the one fetched last
    assert mine.ledger.spent == 10**9
    asks.tasks.insert(0, ask(items=ids, name="Books"))
    mine.sync()
    with pytest.raises(RequestError, match="No item model has been fetched"):
        mine.recommend(3)


def test_a_list_is_made_at_home_from_what_was_rated_however_it_was(collector, device):
    made = drawn(6, 2, 3).model
    asks = collector(items=made.items)
    publish(asks, made.to_bytes())
    mine = device(asks)
    mine.rate(103, 5)
    mine.rate(100, 1)
    mine.sync()
    best = mine.recommend(3)
    assert best == ListProfile(made, [100, 103]).recommend(3)
    mine.rate(103, 1)
    assert mine.recommend(3) == best
    mine.rate(103, None)
    assert mine.recommend(3) == ListProfile(made, [100]).recommend(3) != best
    with pytest.raises(RequestError, match="list model, which predicts no ratings"):
        mine.predict(101)
    publish(asks, made.to_bytes()[:-1])
    with pytest.raises(DataError, match="list model is truncated"):
        mine.sync()
    assert mine.recommend(3) == ListProfile(made, [100]).recommend(3)  # by the last good model


@pytest.mark.parametrize(
    "cut", [lambda d: d[:-4], lambda d: d[:30], lambda d: b"", lambda d: d + b"1234"]
)
def test_a_model_that_is_not_one_is_refused(collector, device, published, cut):
    asks = collector()
    publish(asks, cut(published[1]))
    mine = device(asks)
    with pytest.raises(DataError):
        mine.sync()
    with pytest.raises(RequestError, match="No item model has been fetched yet"):
        mine.recommend(1)


def test_a_forged_or_foreign_model_is_refused(collector, device, published):
    asks = collector()
    asks.models.append(("0" * 64, published[1]))
    mine = device(asks)
    with pytest.raises(CertificateError, match="changed in transit"):
        mine.sync()
    asks, foreign = collector(), ItemModel.from_bytes(published[1])
    publish(asks, replace(foreign, scale=RatingScale.parse("1:9:2")).to_bytes())
    mine = device(asks)
    mine.sync()
    with pytest.raises(DataError, match="scale 1:9:2, but the task has 1:5:1"):
        mine.recommend(1)
