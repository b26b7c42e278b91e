"""Move of a provider to another origin: a signed line in the document of a task.

    {"format":"tacit-move-1","parent":ADDRESS,"successor":ORIGIN,"signature":SIGNATURE}

The first task contains the public key of the provider, which its address authenticates. The
signature covers the line without its last key. It thus covers the address of the task before, and
with it all earlier lines: a move is valid in one chain, at one place of it.

Signatures are RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, section 8.2), a modulus of 3072 bits and
the exponent 65537. The verification computes the one valid encoded message and compares all of it.
It parses no padding, which is where forgeries for such signatures begin (CVE-2006-4339).
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from hmac import compare_digest
from itertools import pairwise
from typing import NamedTuple

from tacit.errors import CertificateError, DataError
from tacit.wire import strict
from tacit.wire.origin import FORM, is_origin, is_private

FORMAT = "tacit-move-1"
KEYS = ("format", "parent", "successor", "signature")
KEY_BITS, EXPONENT = 3072, 65_537
SIZE = KEY_BITS // 8
"""Bytes of a modulus and of a signature."""
WHAT = "The move"

_START = f'{{"format":"{FORMAT}"'.encode()
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")
"""DER prefix of a DigestInfo with SHA-256 (RFC 8017, section 9.2, note 1)."""
_NUMBER = re.compile(r"[A-Za-z0-9_-]{512}")
_MODULUS = re.compile(r"[g-z0-9_-][A-Za-z0-9_-]{510}[BDFHJLNPRTVXZbdfhjlnprtvxz13579_]")
"""An odd number of exactly 3072 bits, in base64url."""


def is_provider_key(text: str) -> bool:
    """Return whether the text is a public key: an odd modulus of 3072 bits, in base64url."""
    return _MODULUS.fullmatch(text) is not None


def base64url(number: int) -> str:
    """Return a number of at most 3072 bits in base64url, 512 characters."""
    return urlsafe_b64encode(number.to_bytes(SIZE)).decode()


def is_signed(message: bytes, signature: str, key: str) -> bool:
    """Return whether the text is a signature of the message under a public key of a provider."""
    if not _NUMBER.fullmatch(signature) or not is_provider_key(key):
        return False
    s, n = _number(signature), _number(key)
    if s >= n:
        return False
    digest = _SHA256 + sha256(message).digest()
    expected = b"\x00\x01" + b"\xff" * (SIZE - len(digest) - 3) + b"\x00" + digest
    return compare_digest(pow(s, EXPONENT, n).to_bytes(SIZE), expected)


class Move(NamedTuple):
    """Move to the origin `successor`. `parent`: address of the task before. `signature`: of
    `statement`, in base64url.
    """

    parent: str
    successor: str
    signature: str

    @property
    def statement(self) -> bytes:
        """The bytes that are signed: the line without the key `signature`."""
        return _json(dict(zip(KEYS[:3], (FORMAT, self.parent, self.successor), strict=True)))

    @property
    def document(self) -> bytes:
        """The move as one line of JSON, keys in the order of `KEYS`: its unique notation."""
        return _json(dict(zip(KEYS, (FORMAT, *self), strict=True)))


def is_successor(origin: str) -> bool:
    """Return whether a provider can move to this origin: one of https, or of this machine."""
    return is_origin(origin) and is_private(origin)


def is_move(line: bytes) -> bool:
    """Return whether a line of a task begins as a move does."""
    return line.startswith(_START)


def load_move(line: bytes, parent: str, key: str | None, longest: int) -> Move:
    """Parse and verify a move after the task with the address `parent`.

    `key`: public key in the first task, None without one. Raises `DataError` for a malformed move,
    one of another task, one to another origin than `is_successor`, and one that is not in its
    unique notation. Raises `CertificateError` without a key, and for an invalid signature.
    """
    fields = strict.fields(strict.parse(line, WHAT, longest), WHAT, KEYS)
    move = Move(*(strict.typed(fields, name, str, WHAT) for name in KEYS[1:]))
    if move.parent != parent or not is_successor(move.successor):
        raise DataError(f"{WHAT} is malformed: it must name its task, and as successor {FORM}.")
    if not _NUMBER.fullmatch(move.signature) or move.document != line:
        raise DataError(f"{WHAT} is malformed: it is not in the canonical form.")
    if key is None:
        raise CertificateError(
            f"The provider moved to {move.successor}, but the task contains no key to verify this."
        )
    if not is_signed(move.statement, move.signature, key):
        raise CertificateError(
            f"The move to {move.successor} is not signed with the key of the provider."
        )
    return move


def move_flaws(
    provider: str | None, key: str | None, moves: Sequence[Move]
) -> Iterator[tuple[bool, str]]:
    """Yield what moves of a task must not be, with a sentence.

    `provider`: the first origin, `key`: of the provider; None if the task names none.
    """
    yield (
        key is not None and (provider is None or not is_provider_key(key)),
        "a provider_key must be an odd modulus of 3072 bits in base64url, and requires a provider",
    )
    yield (
        key is None and len(moves) > 0,
        "its provider cannot move, because it has no provider_key",
    )
    origins = (provider, *(move.successor for move in moves))
    yield (
        any(before == after for before, after in pairwise(origins)),
        "a move must be to another origin than the present one",
    )


def _json(fields: dict[str, str]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text))
