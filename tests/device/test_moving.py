"""A device follows a provider that moved, and only there goes what it sends from then on."""

from dataclasses import replace
from hashlib import sha256
from types import SimpleNamespace

import pytest
from fake_collector import FakeCollector
from provider_keys import KEY, OTHER, signature

from tacit.device.transport import Answer
from tacit.errors import CertificateError, DataError, MovedError
from tacit.wire import report as pseudonym
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.moves import Move

FILMS, NEXT, EVIL = "https://films.example", "https://next.example", "https://evil.example"


@pytest.fixture
def first(ask):
    return ask(provider=FILMS, provider_key=KEY.public)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "me.db"


def test_the_user_agrees_by_the_url(first, device, path, clock):
    """What waits for the old origin, the ledger and the names go along."""
    moved = KEY.move(first, NEXT)
    old, new = FakeCollector([first]), FakeCollector([moved, first])
    with device(old, path) as mine:
        mine.rate(100, 4)
        mine.sync()
        old.script, old.stores = [None], False
        mine.rate(101, 2)
        mine.sync()
        clock.epoch(5)
        old.tasks = [moved, first]
        with pytest.raises(MovedError, match="Nothing is sent until the user agrees") as said:
            mine.sync()
        assert (said.value.origin, said.value.successor) == (FILMS, NEXT)
        assert mine.ratings == {100: "4", 101: "2"}
        code, spent, uploads = mine.reference_code(), mine.ledger.spent, len(old.uploads)
    assert new.asked == []
    with device(new, path, url=said.value.successor + "/collector") as mine:
        assert (mine.ratings, mine.ledger.spent) == ({100: "4", 101: "2"}, spent)
        assert mine.reference_code() == code
        mine.rate(102, 5)
        assert mine.sync().stored == 2
        assert mine.ledger.spent == spent + 10**9
        assert len(mine.export()["tasks"]) == 1
    assert len(old.uploads) == uploads
    people = {report["person"] for report in old.reports + new.reports}
    assert people == {code.replace("-", "")}
    for url in (FILMS, FILMS + "/collector"):
        old.tasks = [first]
        with pytest.raises(MovedError):
            device(old, path, url=url)
    assert len(old.uploads) == uploads


def test_a_new_device_does_not_begin_at_the_old_origin(first, device):
    moved = KEY.move(first, NEXT)
    old, new = FakeCollector([moved]), FakeCollector([moved])
    with pytest.raises(MovedError):
        device(old)
    mine = device(new, url=NEXT)
    mine.rate(100, 4)
    mine.sync()
    (report,) = new.reports
    assert report["person"] == pseudonym.person(mine._store.secret, first.address, FILMS)


def test_erasures_go_where_the_reports_of_a_name_go(first, device, path, clock):
    """One that was requested before the move is still for the old origin."""
    moved = KEY.move(first, NEXT)
    old, new = FakeCollector([first]), FakeCollector([moved, first])
    with device(old, path) as mine:
        mine.rate(100, 4)
        mine.sync()
        old.script = [Answer(503)]
        assert mine.erase().erasing == 1
    with device(new, path, url=NEXT) as mine:
        mine.rate(100, 4)
        outcome = mine.sync()
        assert (outcome.erased, outcome.erasing, outcome.stored) == (0, 0, 1)
        outcome = mine.erase()
        assert (outcome.erased, outcome.erasing) == (1, 0)
    assert [task for task, _ in new.erased] == [first.address]
    assert old.erased == []
    old.tasks = [moved, first]
    clock.epoch(200)
    with pytest.raises(MovedError):
        device(old, path)


def test_a_provider_that_claims_the_identity_of_another_gets_nothing_of_it(first, device, path):
    """Anybody can sign a move of a task of their own that names another's origin as its first."""
    asks = FakeCollector([first])
    with device(asks, path) as mine:
        mine.rate(100, 4)
        mine.sync()
        asks.script = [Answer(503)]
        known = mine.reference_code()
    claimed = replace(first, name="Cinema", provider_key=OTHER.public)
    evil = FakeCollector([OTHER.move(claimed, EVIL), claimed])
    with device(evil, path, url=EVIL) as mine:
        mine.rate(101, 2)
        mine.sync()
        assert mine.reference_code() != known
        mine.erase()
        assert mine.sync().erasing == 0
    assert {report["person"] for report in evil.reports}.isdisjoint({known.replace("-", "")})
    assert [task for task, _ in evil.erased] == [claimed.address]
    with device(asks, path) as mine:
        assert mine.sync().erasing == 1
        (count,) = mine._store.db.execute("SELECT count(*) FROM erasure").fetchone()
        assert count == 1


@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
def test_an_attacker_at_the_old_origin_cannot_move_a_device(ask, device, path, plan):
    first = ask(plan, provider=FILMS, provider_key=KEY.public)
    asks = FakeCollector([first])
    evil = FakeCollector([])
    with device(asks, path) as mine:
        mine.rate(100, 4)
        mine.sync()
    other = replace(first, name="Cinema")
    of_another = KEY.move(other, EVIL).document.split(b"\n")[1]
    exchanged = OTHER.move(replace(first, provider_key=OTHER.public), EVIL).document
    attempts = {
        "the move of another task": (first.document + b"\n" + of_another, DataError),
        "another key": (first.document + b"\n" + signed(first, EVIL, OTHER), CertificateError),
        "to elsewhere": (KEY.move(first, NEXT).document, CertificateError),
        "no move": (first.document, CertificateError),
    }
    for name, (document, error) in attempts.items():
        address = sha256(document.split(b"\n")[-1]).hexdigest()
        evil.tasks = [SimpleNamespace(address=address, document=document)]
        with pytest.raises(error):
            device(evil, path, url=EVIL)
        assert evil.asked, name
    assert evil.uploads == []
    assert loads(exchanged).question != first.question


def signed(task, successor, key):
    """The line of a move with a signature of this key, whether or not it is that of the task."""
    move = Move(task.address, successor, "")
    return move._replace(signature=signature(move.statement, key)).document
