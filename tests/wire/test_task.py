"""A task survives the wire in one spelling, and nothing forged does."""

import json
from hashlib import sha256

import pytest

from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire.task import KEYS, loads


def altered(task, **changes) -> bytes:
    fields = json.loads(task.document) | changes
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
def test_round_trip(ask, plan):
    titles = ("Ängste", "a\nb", '"quoted"', "\u2028", "日本", "")
    task = ask(plan, ("1", "0.5"), titles=titles)
    again = loads(task.document, task.address)
    assert again == task
    assert again.document == task.document
    assert tuple(json.loads(task.document)) == KEYS
    assert task.address == sha256(task.document).hexdigest()


def test_a_changed_title_is_another_task(ask):
    titles = ("a",) * 6
    task = ask(titles=titles)
    forged = altered(task, titles=["b", *titles[1:]])
    assert loads(forged).titles != task.titles
    with pytest.raises(CertificateError, match="changed on the way"):
        loads(forged, task.address)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1},
        {"format": "tacit-task-2"},
        {"start": 1.0},
        {"start": True},
        {"items": [1, 2, 3, 4, 5, 1]},
        {"items": [1, 2, 3, 4, 5, "6"]},
        {"items": [1, 2, 3, 4, 5, 1 << 53]},
        {"items": [1, 2, 3, 4, 5, ""]},
        {"items": "abc"},
        {"titles": ["a"]},
        {"titles": 0},
        {"titles": []},
        {"titles": [1, 2, 3, 4, 5, 6]},
        {"titles": ["\ud800"] * 6},
        {"plan": "everything"},
        {"plan": "sample:0"},
        {"plan": "catalogue"},
        {"channels": []},
        {"channels": [{}]},
        {"name": ""},
        {"scale": "1:5:2"},
        {"scale": "nonsense"},
        {"epoch_seconds": 0},
        {"window": -1},
        {"retention_days": 6},
    ],
)
def test_what_is_malformed_is_refused(ask, changes):
    task = ask()
    fields = json.loads(task.document) | changes
    with pytest.raises(DataError):
        loads(json.dumps(fields, separators=(",", ":")).encode())


def test_another_spelling_is_refused(ask):
    task = ask()
    fields = json.loads(task.document)
    backwards = dict(reversed(fields.items()))
    for document in (
        json.dumps(fields).encode(),
        json.dumps(backwards, separators=(",", ":")).encode(),
        task.document[:-1] + b',"window":7}',
    ):
        with pytest.raises(DataError):
            loads(document)


def test_a_channel_has_one_spelling_inside_a_task(ask):
    task = ask(epsilons=("0.50",))
    assert b'"epsilon":"0.5"' in task.document
    assert loads(task.document).document == task.document
    for epsilon in ("0.50", "00.5"):
        with pytest.raises(DataError, match="not spelled"):
            loads(task.document.replace(b'"epsilon":"0.5"', f'"epsilon":"{epsilon}"'.encode()))


@pytest.mark.parametrize("item", ["", "x" * 201, 1 << 53, -(1 << 53), True, 1.5])
def test_what_a_browser_would_not_read_is_no_item_id(ask, item):
    with pytest.raises(RequestError, match="an item id is no whole number"):
        ask(items=[item])
    assert ask(items=["\U0001f3ac" * 200]).cells == 1
    assert loads(ask(items=[(1 << 53) - 1, 1 - (1 << 53)]).document).items[0] == (1 << 53) - 1


def test_a_table_that_leaks_is_refused(ask):
    task = ask()
    fields = json.loads(task.document)
    fields["channels"][0]["epsilon"] = "0.99"
    with pytest.raises(CertificateError, match="claim a larger epsilon"):
        loads(altered(task, channels=fields["channels"]))


def test_the_choice_of_channel(ask):
    task = ask(epsilons=("0.5", "2", "1"))
    assert task.choose("1.5").epsilon == "1"
    assert task.choose("2").epsilon == "2"
    with pytest.raises(CertificateError, match=r"epsilon = 0.5 or more, your maximum is 0.49"):
        task.choose("0.49")


def test_epochs(ask):
    task = ask(epoch_seconds=60)
    assert [task.epoch(t) for t in (999.9, 1000, 1059.9, 1060)] == [-1, 0, 0, 1]


def test_a_large_report_is_refused(ask):
    assert ask("sample:4096", items=range(5000)).cells == 4096
    with pytest.raises(RequestError, match="5000 cells a report"):
        ask("catalogue", items=range(5000))
