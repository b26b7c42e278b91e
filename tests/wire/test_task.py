"""A task survives the wire in one spelling, and nothing forged does."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest

from tacit.errors import CertificateError, DataError, RequestError
from tacit.privacy.guarantee import PARTS
from tacit.wire.tasks.catalogue import MOST_EXTENSIONS, AddedItems
from tacit.wire.tasks.loading import documents, loads
from tacit.wire.tasks.task import FORMATS


def altered(task, **changes) -> bytes:
    fields = json.loads(task.document) | changes
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("provider", [None, "https://films.example"])
@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
def test_round_trip(ask, plan, provider):
    titles = ("Ängste", "a\nb", '"quoted"', "\u2028", "日本", "")
    task = ask(plan, ("1", "0.5"), titles=titles, provider=provider)
    again = loads(task.document, task.address)
    assert again == task
    assert again.document == task.document
    assert tuple(json.loads(task.document)) == FORMATS[task.format]
    assert task.address == sha256(task.document).hexdigest()


def test_a_task_that_names_its_provider_differs_from_its_predecessor_in_two_keys_alone(ask):
    task = ask(provider="https://films.example:8443")
    fields = json.loads(task.document)
    assert (task.format, list(fields)[1:3]) == ("tacit-task-2", ["name", "provider"])
    assert fields.pop("provider") == "https://films.example:8443"
    before = json.dumps(
        fields | {"format": "tacit-task-1"}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    assert task.predecessor == loads(before)
    assert task.predecessor.document == before
    assert task.question == task.predecessor.question == sha256(before).hexdigest()
    assert (task.predecessor.predecessor, task.predecessor.format) == (None, "tacit-task-1")
    assert task.address != task.question
    assert ask(provider="https://books.example").question == task.question


def test_a_provider_that_is_no_origin_is_refused_with_the_form(ask):
    with pytest.raises(
        RequestError, match="is not an origin; write https://host or https://host:port"
    ):
        ask(provider="https://Films.example/")


def test_a_changed_title_is_another_task(ask):
    titles = ("a",) * 6
    task = ask(titles=titles)
    forged = altered(task, titles=["b", *titles[1:]])
    assert loads(forged).titles != task.titles
    with pytest.raises(CertificateError, match="changed in transit"):
        loads(forged, task.address)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1},
        {"format": "tacit-task-2"},
        {"format": "tacit-task-3"},
        {"format": ["tacit-task-1"]},
        {"provider": "https://films.example"},
        {"format": "tacit-task-2", "provider": None},
        {"format": "tacit-task-2", "provider": "https://films.example/"},
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
        {"uncovered": []},
        {"uncovered": None},
        {"uncovered": "the catalogue"},
        {"uncovered": [1]},
        {"uncovered": ["the ratings"]},
        {"uncovered": ["the rating scale", "the catalogue"]},
        {"uncovered": ["the catalogue"] * 4},
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
        with pytest.raises(DataError, match="not in the canonical form"):
            loads(task.document.replace(b'"epsilon":"0.5"', f'"epsilon":"{epsilon}"'.encode()))


@pytest.mark.parametrize("item", ["", "x" * 201, 1 << 53, -(1 << 53), True, 1.5])
def test_what_a_browser_would_not_read_is_no_item_id(ask, item):
    with pytest.raises(RequestError, match="an item id must be an integer"):
        ask(items=[item])
    assert ask(items=["\U0001f3ac" * 200]).cells == 1
    assert loads(ask(items=[(1 << 53) - 1, 1 - (1 << 53)]).document).items[0] == (1 << 53) - 1


@pytest.mark.parametrize("provider", [None, "https://films.example"])
def test_what_was_taken_from_ratings_is_the_last_key_of_a_task(ask, provider):
    every = tuple(PARTS.values())
    task = ask(provider=provider, uncovered=every)
    assert list(json.loads(task.document))[-1] == "uncovered"
    assert loads(task.document, task.address) == task
    declared = replace(task, uncovered=())
    assert "uncovered" not in json.loads(declared.document)
    assert declared.document == task.document.replace(
        b',"uncovered":' + json.dumps(every, separators=(",", ":")).encode(), b""
    )
    if provider is not None:
        assert task.predecessor.uncovered == every


@pytest.mark.parametrize(
    "uncovered",
    [
        ("the ratings",),
        ("",),
        ("the catalogue", "the catalogue"),
        ("the rating scale", "the catalogue"),
        ["the catalogue"],
    ],
)
def test_uncovered_parts_are_known_and_in_order(ask, uncovered):
    with pytest.raises(RequestError, match="uncovered must list some of the catalogue, the set"):
        ask(uncovered=uncovered)


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
    with pytest.raises(
        CertificateError, match=r"epsilon = 0.5 or more per value, above your maximum"
    ):
        task.choose("0.49")
    for text in ("x", "1e0", ""):
        with pytest.raises(RequestError, match=f"Epsilon '{text}' is not a plain decimal"):
            task.choose(text)


def test_epochs(ask):
    task = ask(epoch_seconds=60)
    assert [task.epoch(t) for t in (999.9, 1000, 1059.9, 1060)] == [-1, 0, 0, 1]


def test_a_large_report_is_refused(ask):
    assert ask("sample:4096", items=range(5000)).cells == 4096
    with pytest.raises(RequestError, match="at most 4096 cells, got 5000"):
        ask("catalogue", items=range(5000))


ROOT = {"provider": "https://films.example"}


@pytest.mark.parametrize("titles", [None, ("Ängste", "a\nb", '"quoted"', "\u2028", "日本", "")])
def test_an_extension_is_a_line_that_adds_items(ask, titles):
    first = ask(titles=titles, **ROOT)
    new = None if titles is None else ["x\ny", ""]
    once = first.extended([7, 8], new)
    twice = once.extended([9], None if titles is None else ["z"])
    lines = twice.document.split(b"\n")
    assert [sha256(line).hexdigest() for line in lines] == [
        first.address, once.address, twice.address
    ]  # fmt: skip
    assert twice.document.startswith(once.document + b"\n")
    assert loads(twice.document, twice.address) == twice
    assert loads(once.document, once.address) == once
    assert twice.items == (*first.items, 7, 8, 9)
    assert twice.titles == (None if titles is None else (*titles, "x\ny", "", "z"))
    assert (twice.root, twice.question) == (first.address, first.question)
    assert twice.ancestors == (first.question, first.address, once.address)
    assert documents(twice) == {each.address: each.document for each in (first, once, twice)}
    assert documents(first) == {first.address: first.document}
    kept = {"channels", "scale", "plan", "start", "window", "provider", "name", "retention_days"}
    assert all(getattr(twice, name) == getattr(first, name) for name in kept)


def test_the_address_of_the_last_line_authenticates_all_lines(ask):
    task = ask(**ROOT).extended([7]).extended([8])
    first, second, third = task.document.split(b"\n")
    other = ask(name="Movies", **ROOT).document
    skipped = second.replace(b"[7]", b"[6]")
    for lines in ([other, second, third], [first, skipped, third], [first, third]):
        with pytest.raises(DataError, match="name its task"):
            loads(b"\n".join(lines), task.address)
    with pytest.raises(CertificateError, match="changed in transit"):
        loads(b"\n".join([first, second]), task.address)


@pytest.mark.parametrize(
    ("root", "items", "titles", "message"),
    [
        ({}, [7], None, "names no provider cannot be extended"),
        ({"plan": "catalogue", **ROOT}, [7], None, "only a task of the plan rated"),
        ({"plan": "sample:3", **ROOT}, [7], None, "only a task of the plan rated"),
        (ROOT, [], None, "must add at least one item"),
        (ROOT, [100], None, "an item id occurs twice"),
        (ROOT, ["x"], None, "all numbers or all strings"),
        (ROOT, [7], ["Alien"], "which has no titles"),
        ({"titles": ("a",) * 6, **ROOT}, [7], None, "which has titles"),
        ({"titles": ("a",) * 6, **ROOT}, [7], [], "one title per item"),
    ],
)
def test_what_does_not_extend_a_task_is_refused(ask, root, items, titles, message):
    with pytest.raises(RequestError, match=message):
        ask(**root).extended(items, titles)


def test_a_task_has_at_most_a_thousand_extensions(ask):
    task = ask(**ROOT)
    lines, parent = [task.document], task.address
    for item in range(MOST_EXTENSIONS + 1):
        lines.append(AddedItems(parent, (1000 + item,), None).document)
        parent = sha256(lines[-1]).hexdigest()
    assert len(loads(b"\n".join(lines[:-1])).items) == 6 + MOST_EXTENSIONS
    with pytest.raises(DataError):
        loads(b"\n".join(lines))
