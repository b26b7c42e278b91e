"""Tokens from a file that is reread, from signatures, and from a check by the site."""

import asyncio
import base64
import errno
import hmac
import json
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tacit.collector.administration import tokens as editing
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.tokens import (
    CheckedTokens,
    SignedTokens,
    TokenFile,
    TokenList,
    UncheckedError,
    token_source,
)
from tacit.errors import DataError, RequestError

ORIGIN = "https://films.example"


def identify(source, token):
    return asyncio.run(source.identify(token.encode()))


def test_issued_tokens_are_valid_at_once_and_revoked_ones_are_not(
    ask, collector, report, send, run, tmp_path
):
    """Without a restart of the collector."""
    file, task = tmp_path / "tokens", ask()
    (first,) = run("admin", "token", "issue", "--tokens", file)[1].split()
    client = collector(task, enrolment=Enrolment(TokenFile(file), 100))

    def status(token):
        return send(client, task, report(task), authorization=f"Bearer {token}").status_code

    assert (status(first), status("other")) == (200, 401)
    several = run("admin", "token", "issue", "--count", 3, "--tokens", file)[1].split()
    assert {status(each) for each in (first, *several)} == {200}
    assert run("admin", "token", "revoke", first, several[0], "--tokens", file)[0] == 0
    assert [status(each) for each in (first, *several)] == [401, 401, 200, 200]
    (rotated,) = run("admin", "token", "rotate", several[1], "--tokens", file)[1].split()
    assert [status(each) for each in (several[1], rotated)] == [401, 200]
    digest = sha256(rotated.encode()).hexdigest()
    assert digest in file.read_text()
    assert rotated not in file.read_text()
    assert run("admin", "token", "revoke", digest, "--tokens", file)[0] == 0
    assert status(rotated) == 401
    assert file.stat().st_mode & 0o777 == 0o600


def test_revoking_an_unknown_token_changes_nothing(tmp_path):
    file = tmp_path / "tokens"
    known = editing.issue(file, 2)
    before = file.read_text()
    for change in (
        lambda: editing.revoke(file, [known[0], "other"]),
        lambda: editing.rotate(file, "other"),
    ):
        with pytest.raises(RequestError, match="does not contain this token"):
            change()
        assert file.read_text() == before


def test_a_missing_token_file_is_named(tmp_path, run):
    for verb in ("revoke", "rotate"):
        status, _, said = run("admin", "token", verb, "other", "--tokens", tmp_path / "tokens")
        assert (status, f"{tmp_path / 'tokens'} does not exist" in said) == (1, True)
    assert not (tmp_path / "tokens").exists()


def test_simultaneous_edits_lose_no_token(tmp_path):
    file, issued = tmp_path / "tokens", []
    threads = [
        threading.Thread(target=lambda: issued.extend(editing.issue(file, 5))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(file.read_text().split()) == set(map(editing.digest_of, issued))
    assert len(issued) == 40


def test_a_damaged_file_leaves_the_last_tokens_valid(tmp_path, caplog):
    file = tmp_path / "tokens"
    (token,) = editing.issue(file, 1)
    source = TokenFile(file)
    file.write_text("secret\n")
    assert identify(source, token) == sha256(token.encode()).digest()
    assert "cannot be read: DataError" in caplog.text
    assert "secret" not in caplog.text
    file.unlink()
    assert identify(source, token) is not None
    (new,) = editing.issue(file, 1)
    assert (identify(source, token), identify(source, new) is not None) == (None, True)
    with pytest.raises(DataError, match="64 hexadecimal"):
        TokenList(["secret"])


def test_a_revocation_takes_effect_after_a_failed_reading(tmp_path, monkeypatch, caplog):
    """No descriptor is free for a moment, and nothing about the file changes afterwards."""
    file = tmp_path / "tokens"
    kept, revoked = editing.issue(file, 2)
    source = TokenFile(file)
    editing.revoke(file, [revoked])
    monkeypatch.setattr("tacit.collector.ingest.tokens.RETRY", 0.0)
    with monkeypatch.context() as busy:
        busy.setattr(Path, "read_text", unreadable)
        assert identify(source, revoked) is not None
        assert identify(source, revoked) is not None
    assert caplog.text.count("cannot be read: OSError") == 1
    assert identify(source, revoked) is None
    assert identify(source, kept) is not None


def unreadable(path):
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.fixture(scope="module")
def keys():
    return ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def signed(tmp_path, keys):
    """A source that accepts either key."""
    file = tmp_path / "keys.pem"
    file.write_bytes(
        b"".join(
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            for key in keys
        )
    )
    return SignedTokens(file, ORIGIN)


def claims(**changes):
    plain = {"sub": "user 7", "aud": ORIGIN, "exp": int(time.time()) + 600}
    return {name: value for name, value in (plain | changes).items() if value is not None}


def test_signed_tokens_are_counted_by_their_subject(signed, keys):
    one = jwt.encode(claims(), keys[0], "EdDSA")
    two = jwt.encode(claims(exp=int(time.time()) + 9999), keys[1], "ES256")
    other = jwt.encode(claims(sub="user 8"), keys[0], "EdDSA")
    assert one != two
    assert identify(signed, one) == identify(signed, two) == sha256(b"sub\nuser 7").digest()
    assert identify(signed, other) != identify(signed, one)


@pytest.mark.parametrize(
    "changes",
    [{"exp": 1}, {"exp": None}, {"sub": None}, {"sub": 7}, {"aud": None}, {"aud": "https://b.c"}],
    ids=str,
)
def test_signed_tokens_need_every_claim(signed, keys, changes):
    content = json.dumps(claims(**changes)).encode()
    assert identify(signed, jwt.api_jws.encode(content, keys[0], "EdDSA")) is None


def test_forged_tokens_are_refused(signed, keys, tmp_path):
    stranger = ed25519.Ed25519PrivateKey.generate()
    public = (tmp_path / "keys.pem").read_bytes()
    good = jwt.encode(claims(), keys[0], "EdDSA")
    head, body, _ = good.split(".")
    unsigned = jwt.encode(claims(), None, "none")
    # The public key as the secret of a symmetric signature, written by hand: PyJWT refuses to.
    mixed = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    mac = hmac.digest(public, f"{mixed}.{body}".encode(), "sha256")
    symmetric = f"{mixed}.{body}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"
    for forged in (
        jwt.encode(claims(), stranger, "EdDSA"), unsigned, symmetric,
        f"{head}.{body}.", good[:-4], "", "a.b.c", "x" * 5000,
    ):  # fmt: skip
        assert identify(signed, forged) is None
    assert identify(signed, good) is not None


def test_a_file_without_public_keys_is_refused(tmp_path):
    (tmp_path / "keys.pem").write_text("no key")
    with pytest.raises(DataError, match="no public key in PEM"):
        token_source(f"jwt:{tmp_path / 'keys.pem'}", ORIGIN)
    with pytest.raises(RequestError, match="names its provider"):
        token_source(f"jwt:{tmp_path / 'keys.pem'}", None)


@pytest.fixture
def site():
    """A site that checks tokens, and counts how often it is asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            token = self.headers["authorization"].removeprefix("Bearer ")
            asked.append(token)
            status, body = {
                "plain": (204, b""),
                "one": (200, b'{"subject":"user 7"}'),
                "two": (200, b'{"subject":"user 7"}'),
                "moved": (302, b""),
                "odd": (200, b"[]"),
                "nobody": (200, b'{"subject":null}'),
                "empty": (200, b'{"subject":""}'),
                "down": (500, b""),
            }.get(token, (401, b""))
            self.send_response(status)
            self.send_header("location", "http://127.0.0.1:1/")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/check", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_site_checks_tokens(site):
    url, asked = site
    source = token_source(url, None)
    assert identify(source, "plain") == sha256(b"plain").digest()
    assert identify(source, "one") == identify(source, "two") == sha256(b"sub\nuser 7").digest()
    assert identify(source, "other") is None
    assert identify(source, "other") is None
    assert asked == ["plain", "one", "two", "other"]  # once each
    for token in ("moved", "odd", "nobody", "empty", "down"):
        with pytest.raises(UncheckedError):
            identify(source, token)


def test_uploads_wait_for_a_site_that_is_down(ask, collector, report, send, site, caplog):
    task = ask()
    client = collector(task, enrolment=Enrolment(CheckedTokens(site[0]), 100))
    answer = send(client, task, report(task), authorization="Bearer down")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert send(client, task, report(task), authorization="Bearer one").status_code == 200
    assert send(client, task, report(task), authorization="Bearer no").status_code == 401
    assert "down" not in caplog.text


def test_a_check_is_encrypted_unless_it_is_local():
    for url in ("http://auth.example/check", "http://127.0.0.1.example/check"):
        with pytest.raises(RequestError, match="must use https"):
            token_source(url, None)
    assert isinstance(token_source("https://auth.example/check", None), CheckedTokens)
