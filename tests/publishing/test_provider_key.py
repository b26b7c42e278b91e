"""Files of signing keys: private to their owner, and read strictly."""

import re
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from provider_keys import KEY

from tacit.errors import DataError, RequestError
from tacit.publishing.provider_key import ProviderKey
from tacit.wire.tasks.moves import is_provider_key


def pem(key):
    kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(*kinds, serialization.NoEncryption())


def test_a_saved_key_signs_as_before_and_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "films.pem"
    KEY.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    again = ProviderKey.load(path)
    assert again.public == KEY.public
    assert again._sign(b"move") == KEY._sign(b"move")
    content = path.read_bytes()
    with pytest.raises(RequestError, match="name another file for a new key"):
        KEY.save(path)
    assert path.read_bytes() == content
    numbers = KEY.private.private_numbers()
    assert KEY.public[:12] in repr(KEY)
    assert not re.search(f"{numbers.d}|{numbers.p:x}", repr(KEY))


def test_a_new_key_is_another_one():
    one, other = ProviderKey.generate(), ProviderKey.generate()
    assert is_provider_key(one.public)
    assert len({one.public, other.public, KEY.public}) == 3
    assert one.private.private_numbers().public_numbers.e == 65537


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "content",
    [
        bytes,
        lambda: b"not a key",
        lambda: pem(ed25519.Ed25519PrivateKey.generate()),
        lambda: pem(rsa.generate_private_key(65537, 2048)),
        lambda: pem(rsa.generate_private_key(3, 3072)),
        lambda: pem(KEY.private)[:-200],
    ],
    ids=["empty", "text", "ed25519", "2048 bits", "exponent 3", "cut"],
)
def test_other_files_are_refused_without_their_content(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content())
    with pytest.raises(DataError, match="is not a signing key") as refused:
        ProviderKey.load(path)
    assert "PRIVATE" not in str(refused.value)


def test_without_cryptography_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for attempt in (ProviderKey.generate, lambda: ProviderKey.load(tmp_path / "key")):
        with pytest.raises(RequestError, match=r"tacit-recommender\[secure\]"):
            attempt()
