"""Blind signatures of one-time tokens: RSABSSA-SHA384-PSS-Deterministic of RFC 9474.

The provider signs one token per customer and task without reading it. A device sends the token with
its bundle, so the provider can count people, and cannot link a token to the request in which it was
signed. The deterministic variant signs the token itself: it is random, so that a random prefix adds
nothing (RFC 9474, section 5). The padding is randomized all the same, by the salt.

Everything here is arithmetic with the public key. A device draws the token, the salt and the
blinding factor from the operating system. The private key is only used by
`tacit.collector.ingest.signing_key`.
"""

import secrets
from hashlib import sha384
from math import gcd
from typing import NamedTuple

from tacit.errors import CertificateError

EXPONENT = 65_537
"""Public exponent of all keys. A key is its modulus."""
MODULUS_BYTES = 384
"""Bytes of the modulus of a key, and of a signature: 3072 bits."""
TOKEN_BYTES, SALT_BYTES, HASH_BYTES = 32, 48, 48
SIGNED_BYTES = TOKEN_BYTES + MODULUS_BYTES
"""Bytes of a token and its signature, one after the other."""


class BlindedToken(NamedTuple):
    """A token in a signing request. `message`: what the signer receives, uniform modulo the key.

    `inverse`: of the blinding factor, the device's secret, with which the signature is unblinded.
    """

    message: bytes
    inverse: bytes


def is_modulus(modulus: bytes) -> bool:
    """Return whether bytes have the form of a key: an odd number of 3072 bits."""
    return len(modulus) == MODULUS_BYTES and modulus[0] >= 0x80 and modulus[-1] % 2 == 1


def new_token() -> bytes:
    """Return a token, 32 bytes from the operating system."""
    return secrets.token_bytes(TOKEN_BYTES)


def blinded(token: bytes, modulus: bytes) -> BlindedToken:
    """Return a token as the signer receives it, with a new salt and blinding factor.

    Raises `CertificateError` for a key that no honest signer has.
    """
    # Uniform and secret: z = m r^e is then uniform, whatever the token (RFC 9474, section 4.2).
    factor = secrets.randbelow(int.from_bytes(modulus, "big") - 1) + 1
    return blind(token, modulus, secrets.token_bytes(SALT_BYTES), factor)


def blind(token: bytes, modulus: bytes, salt: bytes, factor: int) -> BlindedToken:
    """Return a token blinded by a known salt and factor r: m r^e mod n, and 1 / r mod n.

    Raises `CertificateError` if m or r has a factor in common with n, which for an honest key has a
    chance below 2^-1500.
    """
    n = int.from_bytes(modulus, "big")
    message = int.from_bytes(pss_encoded(token, salt, len(modulus)), "big")
    if gcd(message, n) != 1 or gcd(factor, n) != 1:
        raise CertificateError("The key of the signer has small factors, so nothing is signed.")
    masked = message * pow(factor, EXPONENT, n) % n
    size = len(modulus)
    return BlindedToken(masked.to_bytes(size, "big"), pow(factor, -1, n).to_bytes(size, "big"))


def unblinded(token: bytes, modulus: bytes, signature: bytes, inverse: bytes) -> bytes:
    """Return the signature of a token from that of its blinded message (RFC 9474, section 4.4).

    Raises `CertificateError` for a response that is not a signature with this key.
    """
    n, size = int.from_bytes(modulus, "big"), len(modulus)
    number = int.from_bytes(signature, "big") * int.from_bytes(inverse, "big") % n
    result = number.to_bytes(size, "big")
    # A signer that returned anything else could recognize the token by it.
    if len(signature) != size or not is_signed(token, result, modulus):
        raise CertificateError("The token was not signed with the key of the task.")
    return result


def is_signed(token: bytes, signature: bytes, modulus: bytes) -> bool:
    """Return whether a signature of RSASSA-PSS is valid (RFC 8017, section 8.1.2)."""
    n, size = int.from_bytes(modulus, "big"), len(modulus)
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= n:
        return False
    encoded = pow(number, EXPONENT, n).to_bytes(size, "big")
    # A valid message is the encoding of the token with the salt that it contains, and no other.
    return encoded == pss_encoded(token, _salt_of(encoded), size)


def pss_encoded(message: bytes, salt: bytes, size: int) -> bytes:
    """Return EMSA-PSS of a message with SHA-384 (RFC 8017, section 9.1.1), `size` bytes.

    The first bit is 0: the result is less than a modulus of that many bytes.
    """
    digest = sha384(bytes(8) + sha384(message).digest() + salt).digest()
    padding = bytes(size - SALT_BYTES - HASH_BYTES - 2)
    return _masked(padding + b"\x01" + salt, digest) + digest + b"\xbc"


def _salt_of(encoded: bytes) -> bytes:
    end = len(encoded) - HASH_BYTES - 1
    return _masked(encoded[:end], encoded[end:-1])[-SALT_BYTES:]


def _masked(data: bytes, seed: bytes) -> bytes:
    """Return the exclusive or with the mask MGF1 of a seed, the first bit 0."""
    blocks = range(-(-len(data) // HASH_BYTES))
    mask = b"".join(sha384(seed + block.to_bytes(4, "big")).digest() for block in blocks)
    masked = bytearray(a ^ b for a, b in zip(data, mask, strict=False))
    masked[0] &= 0x7F
    return bytes(masked)
