"""A token is signed before a bundle is drawn, with the same bytes at every attempt."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from provider_keys import KEY
from shuffled_tasks import CLOSES, PROVIDER, SHUFFLER, FakeShuffler, item_task, star_task

from tacit.device.shuffled.client import ShuffledClient, ShuffledPolicy
from tacit.device.storage.store import Store
from tacit.device.transport import Answer
from tacit.errors import CertificateError, RequestError
from tacit.privacy.ledger import nano
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.task import is_signed_token

NUMBERS = KEY.private.private_numbers()
TASK = item_task(
    key=TaskKey.generate().public, signer=NUMBERS.public_numbers.n.to_bytes(384, "big")
)
POLICY = ShuffledPolicy(most_epsilon="8", honest="1", bundles=20, signed=True)
COST = nano(TASK.certificate.replaced)


class FakeSigner:
    """A transport to a provider. `script`: answers instead of signatures, None for no answer."""

    def __init__(self, *script, task=TASK):
        self.script, self.requests, self.task = list(script), [], task

    def __call__(self, method, path, body=None, longest=0):
        assert (method, path) == ("POST", f"/v1/shuffled/{self.task.address}/signature")
        self.requests.append(body)
        if self.script:
            return self.script.pop(0)
        number = pow(int.from_bytes(body, "big"), NUMBERS.d, NUMBERS.public_numbers.n)
        return Answer(200, number.to_bytes(384, "big"))


@pytest.fixture
def device(clock):
    """Opens a device; closed in the end."""
    opened = []

    def made(signer, path=":memory:", share=0.5, shuffler=None, **changes):
        shuffler = shuffler or FakeShuffler().add(TASK)
        options = {
            "policy": POLICY, "lifetime": "50", "transport": shuffler, "clock": clock,
            "signing": signer, "random_share": lambda: share,
        } | changes  # fmt: skip
        opened.append(ShuffledClient(path, SHUFFLER, PROVIDER, **options))
        return opened[-1]

    yield made
    for mine in opened:
        mine.close()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("share", "after"), [(0.0, 250), (0.5, 375), (1.0, 500)])
def test_a_bundle_is_drawn_when_it_is_due(device, clock, share, after):
    """In the second quarter of the time that was left, and not a second before."""
    clock.now = CLOSES - 1_000
    signer, shuffler = FakeSigner(), FakeShuffler().add(TASK)
    mine = device(signer, share=share, shuffler=shuffler)
    for moment in (0, 1, after - 1):
        clock.now = CLOSES - 1_000 + moment
        assert (mine.sync([100]).stored, mine.ledger.spent, shuffler.bundles) == (0, 0, [])
    clock.now = CLOSES - 1_000 + after
    assert (mine.sync([100]).stored, mine.ledger.spent) == (1, COST)
    assert mine.sync([100]).stored == 0
    ((_, body),) = shuffler.bundles
    assert len(body) == TASK.request_bytes
    assert is_signed_token(body[TASK.bundle_bytes :], TASK)
    assert len(signer.requests) == 1


def test_a_task_about_star_ratings_requires_a_token_as_well(device, clock):
    """Ratings of the moment at which the bundle is drawn are sent."""
    task = star_task(key=TASK.key, signer=TASK.signer)
    signer, shuffler = FakeSigner(task=task), FakeShuffler().add(task)
    mine = device(signer, shuffler=shuffler)
    with pytest.raises(RequestError, match="pass ratings by item id"):
        mine.sync([100])
    assert signer.requests == []
    clock.now = CLOSES - 1_000
    assert (mine.sync({100: 5}).stored, mine.ledger.spent) == (0, 0)
    clock.now = CLOSES - 500
    assert mine.sync({100: 4}).stored == 1
    ((_, body),) = shuffler.bundles
    assert is_signed_token(body[task.bundle_bytes :], task)


def test_a_task_that_the_provider_did_not_write_is_never_answered(device, clock):
    """Its shuffler could read the messages, which are sealed with a key of its own."""
    forged = replace(TASK, key=TaskKey.generate().public)
    signer, shuffler = FakeSigner(Answer(404), Answer(404), task=forged), FakeShuffler().add(forged)
    mine = device(signer, shuffler=shuffler)
    for clock.now in (CLOSES - 1_000, CLOSES - 1):
        (note,) = mine.sync([100]).notes
        assert "the provider signs no tokens for this task" in note
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


def test_a_request_is_repeated_with_the_same_bytes(device, clock, tmp_path):
    """After a lost response, a failure and a refusal, and by another process."""
    signer = FakeSigner(None, Answer(503), Answer(409), Answer(418))
    clock.now, notes = 0, []
    for attempt in range(5):
        with device(signer, tmp_path / "me.db") as mine:
            notes += mine.sync([100]).notes
            waits = mine._tokens._waits.again(clock.now)
            mine.sync([100]) if waits else None
        assert len(signer.requests) == attempt + 1  # nothing is requested before its time
        clock.now = max(clock.now, waits or 0)
    assert len(set(signer.requests)) == 1
    assert notes == [
        "No token was signed: the provider has signed another token of this customer (status 409).",
        "No token was signed: the provider cannot parse the request (status 418).",
    ]


def test_a_token_is_on_disk_before_it_is_sent(device, tmp_path, clock):
    """Afterwards, the store has nothing that relates the token to the request."""
    path, signer = tmp_path / "me.db", FakeSigner()
    clock.now = CLOSES - 1_000

    def transport(method, place, body=None, longest=0):
        with closing(sqlite3.connect(path)) as db:
            (row,) = db.execute("SELECT message, signature FROM token").fetchall()
        assert row == (body, None)
        return signer(method, place, body)

    with device(transport, path) as mine:
        mine.sync([100])
    with closing(sqlite3.connect(path)) as db:
        ((message, inverse),) = db.execute("SELECT message, inverse FROM token").fetchall()
    assert (message, inverse) == (b"", b"")
    assert signer.requests[0] not in path.read_bytes()
    clock.now = CLOSES - 1
    with device(signer, path) as mine:
        assert mine.sync([100]).stored == 1
        assert mine._store.db.execute("SELECT * FROM token").fetchall() == []


def test_a_failure_during_the_draws_leaves_the_token(device, clock, tmp_path):
    clock.now = CLOSES - 1_000
    signer, left = FakeSigner(), []

    def words():
        raise OSError("no entropy")

    with device(signer, tmp_path / "me.db") as mine:
        mine.sync([100])
    clock.now = CLOSES - 1
    with device(signer, tmp_path / "me.db", words=words) as mine:
        with pytest.raises(OSError, match="no entropy"):
            mine.sync([100])
        left = mine._store.db.execute("SELECT length(signature) FROM token").fetchall()
        assert (mine.ledger.spent, left) == (0, [(384,)])
    with device(signer, tmp_path / "me.db") as mine:
        assert mine.sync([100]).stored == 1
    assert len(signer.requests) == 1


def test_another_signature_is_refused_before_any_draw(device, clock):
    clock.now = CLOSES - 1_000
    mine = device(FakeSigner(Answer(200, bytes(384))))
    with pytest.raises(CertificateError, match="not signed with the key of the task"):
        mine.sync([100])
    assert mine.ledger.spent == 0


def test_erasure_deletes_the_token(device, clock, tmp_path):
    clock.now = CLOSES - 1_000
    with device(FakeSigner(), tmp_path / "me.db") as mine:
        mine.sync([100])
    with closing(Store(tmp_path / "me.db", nano("50"))) as store:
        with store.transaction():
            store.forget()
        assert store.db.execute("SELECT * FROM token").fetchall() == []


def test_a_provider_token_is_sent_over_https_only():
    with pytest.raises(RequestError, match="over https only"):
        ShuffledClient(
            ":memory:", SHUFFLER, "http://films.example", policy=POLICY, lifetime="50",
            provider_token="customer", insecure=True,
        )  # fmt: skip
