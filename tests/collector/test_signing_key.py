"""A signing key signs blinded messages by the program openssl, and never returns a wrong result."""

import subprocess
import sys

import pytest

from tacit.collector.ingest import signing_key
from tacit.collector.ingest.signing_key import SigningKey
from tacit.errors import DataError, RequestError
from tacit.wire.shuffled.blind_tokens import MODULUS_BYTES, blinded, is_signed, new_token, unblinded


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "films.pem"
    SigningKey.generate(path)
    return path


def test_a_blinded_token_is_signed(path):
    key = SigningKey(path)
    token = new_token()
    message, inverse = blinded(token, key.modulus)
    signature = unblinded(token, key.modulus, key.sign(message), inverse)
    assert is_signed(token, signature, key.modulus)
    assert key.sign(message) == key.sign(message)
    assert key.modulus.hex()[:12] in repr(key)


def test_numbers_of_all_sizes_are_signed(path):
    """Leading zeros of input and output are neither lost nor added."""
    key = SigningKey(path)
    n = int.from_bytes(key.modulus, "big")
    for number in (0, 1, 2, 1 << 2_000, n - 1):
        signature = key.sign(number.to_bytes(MODULUS_BYTES, "big"))
        assert len(signature) == MODULUS_BYTES
        assert pow(int.from_bytes(signature, "big"), 65_537, n) == number


def test_other_messages_are_refused(path):
    key = SigningKey(path)
    for message in (b"", bytes(383), bytes(385), key.modulus, b"\xff" * 384):
        assert not key.accepts(message)
        with pytest.raises(RequestError, match="cannot sign this message"):
            key.sign(message)


def test_only_the_owner_reads_the_file_which_is_never_replaced(path, tmp_path):
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(RequestError, match="a signing key is for one task"):
        SigningKey.generate(path)
    assert path.read_bytes() == before
    assert SigningKey.generate(tmp_path / "other.pem").modulus != SigningKey(path).modulus


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "options",
    [("-pkeyopt", "rsa_keygen_bits:2048"), ("-pkeyopt", "rsa_keygen_bits:3080"),
     ("-pkeyopt", "rsa_keygen_bits:3072", "-pkeyopt", "rsa_keygen_pubexp:3"),
     ("-pkeyopt", "rsa_keygen_bits:3072", "-aes256", "-pass", "pass:secret"), ()],
)  # fmt: skip
def test_other_keys_are_refused(tmp_path, options):
    """Also one with a password, for which nothing is read from the terminal."""
    path = tmp_path / "other.pem"
    path.write_text("nothing")
    if options:
        command = ["openssl", "genpkey", "-algorithm", "RSA", *options, "-out", path]
        subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(DataError, match="not a signing key"):
        SigningKey(path)


def test_a_wrong_result_is_not_returned(path, monkeypatch):
    """A signature with one wrong bit in one prime would show the factors of the key."""
    key = SigningKey(path)
    right = signing_key._openssl

    def faulty(arguments, content=b"", output=None):
        made = right(arguments, content, output)
        return made[:-1] + bytes([made[-1] ^ 1])

    monkeypatch.setattr(signing_key, "_openssl", faulty)
    with pytest.raises(RequestError, match="cannot sign"):
        key.sign(bytes(383) + b"\2")


def test_the_private_key_stays_out_of_the_process(path):
    """Nothing but OpenSSL opens the file: a process that signs reports all that it opens."""
    program = f"""
import sys
from pathlib import Path
sys.addaudithook(lambda event, given: print(given[0]) if event == "open" else None)
from tacit.collector.ingest.signing_key import SigningKey
SigningKey(Path({str(path)!r})).sign(bytes(384))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "signing_key" in ran.stdout
    assert str(path) not in ran.stdout


def test_a_missing_program_is_named(path, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for use in (lambda: SigningKey(path), lambda: SigningKey.generate(tmp_path / "new.pem")):
        with pytest.raises(RequestError, match="require the program openssl"):
            use()
    assert not (tmp_path / "new.pem").exists()
