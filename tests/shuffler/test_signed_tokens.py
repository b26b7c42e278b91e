"""A provider counts people by tokens that it signed, and cannot link a token to a person."""

from dataclasses import replace
from subprocess import CompletedProcess, TimeoutExpired

import pytest
from shuffled_tasks import item_task
from shuffling import wait_until
from signing import customer, providing, signed_task

from tacit.collector.storage.sqlite import SqliteStore
from tacit.device.shuffled.sealing import sealed_bundle
from tacit.errors import BudgetError, CertificateError, RequestError
from tacit.privacy.ledger import nano
from tacit.shuffler.batch_files import BatchFiles, messages_of, tokens_of
from tacit.shuffler.decryption import open_batch
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.blind_tokens import (
    SIGNED_BYTES,
    TOKEN_BYTES,
    blinded,
    new_token,
    unblinded,
)
from tacit.wire.shuffled.task import is_signed_token, loads

KEY = TaskKey.generate()
COST = nano(item_task().certificate.replaced)
HALF = 500
"""Seconds after which every device may send its bundle: half of those until the closing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a task that requires tokens, and its signing key."""
    made = tmp_path_factory.mktemp("signing")
    signed_task(made, item_task(key=KEY.public))
    return made


@pytest.fixture
def task(folder):
    return loads((folder / "films.json").read_bytes())


@pytest.fixture
def provider(folder, clock):
    (folder / "signed.db").unlink(missing_ok=True)
    with providing(folder, clock) as running:
        yield running


@pytest.fixture
def token(provider, task):
    """Signs a new token for a customer; returns it with its signature."""

    def signed(person):
        mine = new_token()
        message, inverse = blinded(mine, task.signer)
        answer = provider.request(task, message, customer(person))
        assert answer.status_code == 200
        return mine + unblinded(mine, task.signer, answer.content, inverse)

    return signed


def test_every_bundle_has_a_token_of_its_own_apart_from_messages(
    shuffling, provider, task, clock, folder, tmp_path
):
    """Two calls of `sync`: a token, and after a random time the bundle, of one length."""
    shuffling.start(task)
    devices = [shuffling.device(person, signing=provider.transport(person)) for person in range(22)]
    for person, device in enumerate(devices):
        outcome = device.sync(task.items[: person % 9])
        assert (outcome.stored, outcome.waiting, device.ledger.spent) == (0, 0, 0)
    assert not shuffling.rows()
    clock.now += HALF
    for person, device in enumerate(devices):
        assert device.sync(task.items[: person % 9]).stored == 1
        assert device.ledger.spent == COST
        device.close()
    assert len(provider.requests) == 22
    result = shuffling.release(task)
    assert result.bundles == 22
    batch, file = shuffling.provider("GET", task).content, shuffling.signed_file(task).content
    signed = tokens_of(file)
    assert signed == sorted(set(signed))
    assert len(signed) == 22
    assert all(is_signed_token(each, task) for each in signed)
    assert len(messages_of(batch)) == 22 * 43
    for each in signed:  # nothing that the provider has received is related to a token
        assert not any(each[:TOKEN_BYTES] in (body or b"") for _, body in provider.requests)
        assert each[:TOKEN_BYTES] not in (folder / "signed.db").read_bytes()
    KEY.save(tmp_path / "key")
    (tmp_path / "batch").write_bytes(batch)
    (tmp_path / "tokens").write_bytes(file)
    counts = open_batch(tmp_path / "batch", task, tmp_path / "key", tokens=tmp_path / "tokens")
    assert (counts.bundles, counts.counts.sum()) == (22, 22 * 43)
    assert shuffling.provider("DELETE", task).status_code == 200
    assert shuffling.signed_file(task).status_code == 410


def test_a_shuffler_that_forges_bundles_is_refused(token, task, tmp_path, monkeypatch):
    """With all messages that it wants, and 19 people's tokens, copied, changed, or its own."""
    monkeypatch.setattr(TaskKey, "open", None)
    KEY.save(tmp_path / "key")
    bundles = [sealed_bundle(task, task.items[:3]) for _ in range(30)]
    (tmp_path / "batch").write_bytes(b"".join(sorted(messages_of(b"".join(bundles)))))
    signed = [token(person) for person in range(19)]
    other = signed[0][:TOKEN_BYTES] + signed[1][TOKEN_BYTES:]
    forged = (signed[0], bytes(SIGNED_BYTES), new_token() + signed[0][TOKEN_BYTES:], other)
    for more in ((), *((each,) for each in forged)):
        (tmp_path / "tokens").write_bytes(b"".join((*signed, *more)))
        with pytest.raises(CertificateError, match="has 19 valid tokens, but the task requires 20"):
            open_batch(tmp_path / "batch", task, tmp_path / "key", tokens=tmp_path / "tokens")
    with pytest.raises(RequestError, match="requires signed tokens"):
        open_batch(tmp_path / "batch", task, tmp_path / "key")
    (tmp_path / "tokens").write_bytes(signed[0][:-1])
    with pytest.raises(RequestError, match="multiple of 416 bytes"):
        open_batch(tmp_path / "batch", task, tmp_path / "key", tokens=tmp_path / "tokens")


@pytest.mark.parametrize("people", [19, 20])
def test_a_token_of_two_people_is_counted_once(shuffling, token, task, people):
    shuffling.start(task)
    signed = [token(person) for person in range(people)]
    for person, each in enumerate([signed[0], *signed]):
        body = sealed_bundle(task, task.items[:3]) + each
        assert shuffling.send(task, body, person=person).status_code == 200
        assert shuffling.send(task, body, person=person).status_code == 200  # the same one again
    result = shuffling.close(task)
    assert (result.bundles, result.batch is None) == ((19, True) if people == 19 else (21, False))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("owner", "step"),
    [(BatchFiles, "write_tokens"), (BatchFiles, "write"), (SqliteStore, "forget")],
)
def test_a_crash_loses_no_token(shuffling, token, task, monkeypatch, owner, step, after):
    """The process ends before or after a step of the release; the next one has the same tokens."""
    shuffling.start(task)
    signed = [token(person) for person in range(20)]
    for person, each in enumerate(signed):
        body = sealed_bundle(task, task.items[:3]) + each
        assert shuffling.send(task, body, person=person).status_code == 200
    with monkeypatch.context() as patched:
        shuffling.crash(task, patched, owner, step, after=after)
    assert shuffling.release(task).bundles == 20
    assert shuffling.signed_file(task).content == b"".join(sorted(signed))
    wait_until(lambda: not shuffling.rows(3))


def test_a_bundle_without_a_valid_token_is_refused(shuffling, token, task):
    shuffling.start(task)
    signed, bundle = token(0), sealed_bundle(task, task.items[:3])
    refused = (
        bundle, bundle + signed[:-1], bundle + bytes(SIGNED_BYTES),
        bundle + new_token() + signed[TOKEN_BYTES:], signed + bundle,
    )  # fmt: skip
    for body in refused:
        assert shuffling.send(task, body).status_code == 422
    assert not shuffling.rows()
    assert shuffling.send(task, bundle + signed).status_code == 200
    for body in (bundle + token(1), sealed_bundle(task, ()) + signed):
        assert shuffling.send(task, body).status_code == 409
    assert shuffling.files().count(signed) == 1


def test_one_token_is_signed_per_customer(provider, task, folder, clock):
    """The same request has the same answer, also after a restart; another one is refused."""
    first, second = (blinded(new_token(), task.signer).message for _ in range(2))
    answer = provider.request(task, first, customer(0))
    assert answer.status_code == 200
    assert provider.request(task, first, customer(0)).content == answer.content
    assert provider.request(task, second, customer(0)).status_code == 409
    assert provider.request(task, second, customer(1)).status_code == 200
    provider.client.__exit__(None, None, None)
    with providing(folder, clock) as again:
        assert again.request(task, first, customer(0)).content == answer.content
        assert again.request(task, second, customer(0)).status_code == 409
    provider.client.__enter__()


def test_other_requests_are_refused(provider, task, clock):
    message = blinded(new_token(), task.signer).message
    assert provider.request(task, message, "nobody").status_code == 401
    assert provider.request(task, message[1:], customer(0)).status_code == 422
    assert provider.request(task, b"\xff" * 384, customer(0)).status_code == 422
    assert provider.request(task, message, customer(0), "text/plain").status_code == 415
    other = replace(task, name="Books")
    assert provider.request(other, message, customer(0)).status_code == 404
    clock.now = task.closes
    assert provider.request(task, message, customer(0)).status_code == 410


def test_a_failure_of_openssl_is_temporary(provider, task, monkeypatch, caplog):
    """The customer's request is stored, and the same one is signed later."""
    message = blinded(new_token(), task.signer).message
    for error in (OSError("no memory"), TimeoutExpired("openssl", 30), None):
        with monkeypatch.context() as patched:

            def failing(*arguments, error=error, **options):
                if error is not None:
                    raise error
                return CompletedProcess((), 0, stdout=bytes(384))

            patched.setattr("tacit.collector.ingest.signing_key.subprocess.run", failing)
            answer = provider.request(task, message, customer(0))
        assert (answer.status_code, answer.json()["type"]) == (500, "urn:tacit:problem:failed")
    assert [each.event for each in caplog.records if hasattr(each, "event")].count(
        "signing-failed"
    ) == 3
    assert customer(0) not in caplog.text
    assert provider.request(task, message, customer(0)).status_code == 200


def test_no_token_is_requested_for_a_task_that_is_not_allowed(shuffling, provider, task):
    shuffling.start(task)
    with (
        shuffling.device(0, lifetime="1", signing=provider.transport(0)) as device,
        pytest.raises(BudgetError, match="is left"),
    ):
        device.sync(task.items)
    assert not provider.requests


def test_a_device_without_a_token_sends_nothing_and_pays_nothing(shuffling, provider, task, clock):
    shuffling.start(task)
    with shuffling.device(0, signing=provider.transport("stranger")) as device:
        for _ in range(2):
            outcome = device.sync(task.items)
            assert outcome.notes == [
                "No token was signed: the provider requires another token of its customers "
                "(status 401)."
            ]
            clock.now += HALF - 1
        assert device.ledger.spent == 0
    assert not shuffling.rows()
    assert len({body for _, body in provider.requests}) == 1


def test_a_signature_of_another_key_is_refused(shuffling, provider, task):
    """A signer that used a key per customer would recognize the token by it."""
    shuffling.start(task)

    def transport(method, path, body=None, longest=0):
        answer = provider.transport(0)(method, path, body)
        return replace(answer, body=answer.body[:-1] + bytes([answer.body[-1] ^ 1]))

    with (
        shuffling.device(0, signing=transport) as device,
        pytest.raises(CertificateError, match="not signed with the key of the task"),
    ):
        device.sync(task.items)
    assert not shuffling.rows()
