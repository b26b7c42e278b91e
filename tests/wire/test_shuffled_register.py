"""The register of a shuffler cannot be rewritten, and shows everybody one task per provider."""

import json

import pytest

from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire.shuffled.register import BEGIN, Closing, Register, loads

FILMS, BOOKS = "https://films.example", "https://books.example"
A, B, C = ("a" * 64, "b" * 64, "c" * 64)


@pytest.fixture
def register() -> Register:
    made = Register()
    made.add_task(A, FILMS)
    made.add_task(B, BOOKS)
    made.add_closing(A, Closing(bundles=20, batch="d" * 64))
    made.add_task(C, FILMS)
    made.add_closing(B, Closing(bundles=3, batch=None))
    return made


def test_round_trip(register):
    assert loads(register.document) == register
    assert loads(b"") == Register()
    assert register.open == {FILMS: C}
    assert register.released == {FILMS: A}
    assert register.closed == {
        A: Closing(bundles=20, batch="d" * 64),
        B: Closing(bundles=3, batch=None),
    }
    assert register.is_listed(A)
    assert register.is_listed(C)
    assert not register.is_listed("e" * 64)


def test_it_continues_every_earlier_state(register):
    heads = [BEGIN]
    known = Register()
    for line in register.lines:
        known = loads(known.document + line + b"\n")
        heads.append(known.head)
    assert len(set(heads)) == 6
    for head in heads:
        assert loads(register.document, head) == register


def test_another_list_is_detected(register):
    other = Register()
    other.add_task(C, FILMS)
    with pytest.raises(CertificateError, match="another list of tasks"):
        loads(other.document, register.head)
    shorter = b"".join(line + b"\n" for line in register.lines[:2])
    with pytest.raises(CertificateError, match="another list of tasks"):
        loads(shorter, register.head)


def test_a_provider_has_one_open_task(register):
    with pytest.raises(RequestError, match="has an open task"):
        register.add_task("e" * 64, FILMS)
    with pytest.raises(RequestError, match="already"):
        register.add_task(A, BOOKS)
    with pytest.raises(RequestError, match="not open"):
        register.add_closing(A, Closing(bundles=1, batch=None))


@pytest.mark.parametrize("index", range(5))
def test_a_changed_missing_or_moved_line_is_refused(register, index):
    lines = list(register.lines)
    fields = json.loads(lines[index])
    changed = json.dumps(fields | {"task": "f" * 64}, separators=(",", ":")).encode()
    spoilt = [*lines[:index], changed, *lines[index + 1 :]]
    missing = [*lines[:index], *lines[index + 1 :]]
    moved = [lines[index], *missing] if index else [*missing, lines[0]]
    for damaged in (spoilt, missing, moved):
        document = b"".join(line + b"\n" for line in damaged)
        with pytest.raises((DataError, CertificateError)):
            loads(document, register.head)


@pytest.mark.parametrize(
    "values",
    [{"task": C, "provider": BOOKS}, {"task": "e" * 64, "provider": FILMS},
     {"task": A, "bundles": 1, "batch": None}, {"task": C, "bundles": -1, "batch": None},
     {"task": C, "bundles": 1, "batch": "no"}, {"task": "e", "provider": BOOKS},
     {"task": "e" * 64, "provider": "books"}, {"task": "e" * 64},
     {"task": C, "bundles": 1, "batch": int("1" * 64)},
     {"task": C, "batch": None, "bundles": 1}],
)  # fmt: skip
def test_a_line_that_breaks_the_rules_is_refused(register, values):
    line = json.dumps({"before": register.head, **values}, separators=(",", ":")).encode()
    with pytest.raises(DataError):
        loads(register.document + line + b"\n")


def test_an_incomplete_line_is_refused(register):
    with pytest.raises(DataError, match="incomplete"):
        loads(register.document[:-1])


def test_a_second_notation_of_a_line_is_refused(register):
    line = json.dumps({"before": register.head, "task": "e" * 64, "provider": BOOKS})
    with pytest.raises(DataError, match="line 6 is not the next one"):
        loads(register.document + line.encode() + b"\n")
