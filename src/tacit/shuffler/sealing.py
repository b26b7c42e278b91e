"""Sealing of shuffled messages: the shuffler mixes them, and only the provider reads them.

A message is its bucket in five bytes. Each is sealed alone to the public key of a task, with HPKE
(RFC 9180) in base mode: X25519, HKDF-SHA256, AES-128-GCM. `info` contains the address of the task,
so that a message for one task does not open as one for another. All sealed messages have 53 bytes:
a bundle's length depends on the number of messages alone. Requires the extra `secure`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

INFO = b"tacit-shuffle-1"
MESSAGE_BYTES, SEALED_BYTES, KEY_BYTES = 5, 53, 32


class OpenedBatch(NamedTuple):
    """Counts of a batch. `counts`: messages per bucket, shape (buckets,).

    `repeated`: sealed messages that occurred before. `invalid`: messages that do not open, have
    another length, or name a bucket that does not exist. Neither are counted.
    """

    counts: NDArray[np.int64]
    repeated: int
    invalid: int


def seal(messages: Sequence[int], public_key: bytes, address: str) -> list[bytes]:
    """Return each message sealed to the key of the task at `address`, in the same order.

    `messages`: buckets, of `tacit.device.bundle.draw_bundle`. Sealing is randomized: a retry must
    send the bytes of the first call. Raises `RequestError` for a key that is not 32 bytes of
    X25519, and without the extra `secure`.
    """
    suite = _suite()
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    if len(public_key) != KEY_BYTES:
        raise RequestError(f"public_key must have {KEY_BYTES} bytes, got {len(public_key)}.")
    key, info = X25519PublicKey.from_public_bytes(public_key), _info(address)
    return [
        suite.encrypt(message.to_bytes(MESSAGE_BYTES, "big"), key, info=info)
        for message in messages
    ]


@dataclass(frozen=True, eq=False)
class TaskKey:
    """Private key of one task, to be destroyed after its batch was opened."""

    private: "X25519PrivateKey"

    @classmethod
    def generate(cls) -> Self:
        """Return a new key. Raises `RequestError` without the extra `secure`."""
        _suite()
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return cls(X25519PrivateKey.generate())

    def __repr__(self) -> str:
        return f"<TaskKey: {self.public.hex()[:12]}>"

    @property
    def public(self) -> bytes:
        """Public key, 32 bytes, for devices."""
        return self.private.public_key().public_bytes_raw()

    def open(self, batch: Iterable[bytes], address: str, buckets: int) -> OpenedBatch:
        """Return the counts of a batch for the task at `address`, with `buckets` buckets.

        Sealing is randomized, so equal bytes are a copy of a sealed message, which is not counted.
        """
        from cryptography.exceptions import InvalidTag

        suite, info = _suite(), _info(address)
        counts = np.zeros(buckets, np.int64)
        known = set[bytes]()
        repeated = invalid = 0
        for sealed in batch:
            if sealed in known:
                repeated += 1
                continue
            known.add(sealed)
            try:
                message = suite.decrypt(sealed, self.private, info=info)
            except InvalidTag:
                message = b""
            bucket = int.from_bytes(message, "big")
            if len(message) == MESSAGE_BYTES and bucket < buckets:
                counts[bucket] += 1
            else:
                invalid += 1
        return OpenedBatch(counts, repeated, invalid)


def _info(address: str) -> bytes:
    return INFO + b"\n" + address.encode()


def _suite() -> Any:
    try:
        from cryptography.hazmat.primitives import hpke
    except ImportError:
        raise RequestError(
            "Sealing messages requires cryptography 50 or later. Run pip install "
            "'tacit-recommender[secure]'."
        ) from None
    return hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
