"""Blind signatures are those of RFC 9474, and ordinary signatures of RSASSA-PSS once unblinded."""

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384
from provider_keys import KEY
from rsa_numbers import modulus, official

from tacit.errors import CertificateError
from tacit.wire.shuffled.blind_tokens import (
    EXPONENT,
    MODULUS_BYTES,
    blind,
    blinded,
    is_modulus,
    is_signed,
    new_token,
    unblinded,
)

PSS = padding.PSS(padding.MGF1(SHA384()), 48)


@pytest.fixture(scope="module")
def private():
    return KEY.private


@pytest.fixture(scope="module")
def key(private):
    return private.public_key().public_numbers().n.to_bytes(MODULUS_BYTES, "big")


@pytest.fixture
def sign(private):
    """The private operation: the signer of a test need not take a constant time."""
    numbers = private.private_numbers()

    def signed(message):
        number = pow(int.from_bytes(message, "big"), numbers.d, numbers.public_numbers.n)
        return number.to_bytes(MODULUS_BYTES, "big")

    return signed


def test_the_vector_of_rfc_9474():
    rfc = official()
    n, inverse = (int.from_bytes(rfc[name], "big") for name in ("n", "inv"))
    made = blind(rfc["msg"], rfc["n"], rfc["salt"], pow(inverse, -1, n))
    assert made == (rfc["blinded_msg"], rfc["inv"])
    assert unblinded(rfc["msg"], rfc["n"], rfc["blind_sig"], rfc["inv"]) == rfc["sig"]
    public = rsa.RSAPublicNumbers(EXPONENT, n).public_key()
    public.verify(rfc["sig"], rfc["msg"], PSS, SHA384())  # raises if it is not valid


def test_an_unblinded_signature_is_one_of_the_library(private, key, sign):
    for _ in range(10):
        token = new_token()
        message, inverse = blinded(token, key)
        signature = unblinded(token, key, sign(message), inverse)
        private.public_key().verify(signature, token, PSS, SHA384())


def test_signatures_of_the_library_are_valid_and_damaged_ones_are_not(private, key):
    """Every verdict is that of the library."""
    token = new_token()
    for salt in (48, 0, 32):
        signature = private.sign(token, padding.PSS(padding.MGF1(SHA384()), salt), SHA384())
        assert is_signed(token, signature, key) is (salt == 48)
    signature = private.sign(token, PSS, SHA384())
    for at in range(0, MODULUS_BYTES, 7):
        damaged = signature[:at] + bytes([signature[at] ^ 4]) + signature[at + 1 :]
        assert not is_signed(token, damaged, key)
        with pytest.raises(InvalidSignature):
            private.public_key().verify(damaged, token, PSS, SHA384())
    assert not is_signed(new_token(), signature, key)


def test_a_message_is_possible_for_every_token(key, sign):
    """A signer that knows the private key finds a factor for each: they are all as likely."""
    n, salt = int.from_bytes(key, "big"), bytes(48)
    message = blinded(new_token(), key).message
    for other in (bytes(32), new_token()):
        encoded = int.from_bytes(blind(other, key, salt, 1).message, "big")
        power = int.from_bytes(message, "big") * pow(encoded, -1, n) % n
        factor = int.from_bytes(sign(power.to_bytes(MODULUS_BYTES, "big")), "big")
        assert blind(other, key, salt, factor).message == message


def test_another_response_is_refused(key, sign):
    token = new_token()
    message, inverse = blinded(token, key)
    right = sign(message)
    for wrong in (sign(right), right[1:], b"\0" + right, b"", bytes(MODULUS_BYTES), message):
        with pytest.raises(CertificateError, match="not signed with the key of the task"):
            unblinded(token, key, wrong, inverse)


def test_factors_are_random(key):
    made = [blinded(bytes(32), key) for _ in range(20)]
    assert len({each.message for each in made}) == len({each.inverse for each in made}) == 20


def test_keys_of_another_form_and_with_small_factors():
    good = modulus(1)
    assert is_modulus(good)
    for other in (good[1:], b"\x7f" + good[1:], good[:-1] + b"\2", b"\x80" + good, b""):
        assert not is_modulus(other)
    third = (int.from_bytes(good, "big") // 6 * 6 + 3).to_bytes(MODULUS_BYTES, "big")
    with pytest.raises(CertificateError, match="small factors"):
        blind(bytes(32), third, bytes(48), 3)


def test_a_signature_has_one_form(private, key):
    """The number plus the modulus would count as a second signature of the same token."""
    limit = added = 1 << (8 * MODULUS_BYTES)
    n = int.from_bytes(key, "big")
    while added >= limit:  # about every sixth one is small enough
        token = new_token()
        signature = private.sign(token, PSS, SHA384())
        added = int.from_bytes(signature, "big") + n
    assert is_signed(token, signature, key)
    assert not is_signed(token, added.to_bytes(MODULUS_BYTES, "big"), key)
