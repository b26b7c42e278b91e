"""Private key of a shuffled task: opening of a batch, and its counts.

The provider generates a key per task, and destroys it after the batch was opened. Requires the
extra `secure`.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.device.shuffled.sealing import hpke_suite, sealing_info
from tacit.errors import DataError, RequestError
from tacit.wire import strict
from tacit.wire.shuffled.round_terms import MESSAGE_BYTES
from tacit.wire.shuffled.task import KEY_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


class OpenedBatch(NamedTuple):
    """Counts of a batch. `counts`: messages per bucket, shape (buckets,).

    `repeated`: sealed messages that occurred before. `invalid`: messages that do not open, have
    another length, or name a bucket that does not exist. Neither are counted.
    """

    counts: NDArray[np.int64]
    repeated: int
    invalid: int


@dataclass(frozen=True, eq=False)
class TaskKey:
    """Private key of one task, to be destroyed after its batch was opened."""

    private: "X25519PrivateKey"

    @classmethod
    def generate(cls) -> Self:
        """Return a new key. Raises `RequestError` without the extra `secure`."""
        hpke_suite()
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return cls(X25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the key in a file of `save`. Raises `DataError` for another file."""
        hpke_suite()
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        try:
            raw = strict.hexadecimal(path.read_text().strip(), KEY_BYTES)
        except ValueError:  # its message repeats the content
            raise DataError(f"{path} is not the key file of a shuffled task.") from None
        return cls(X25519PrivateKey.from_private_bytes(raw))

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read.

        Raises `RequestError` if the file exists.
        """
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise RequestError(
                f"{path} exists; a key is for one task, so name another --key."
            ) from None
        with open(file, "w") as opened:
            opened.write(self.private.private_bytes_raw().hex() + "\n")
            opened.flush()
            os.fsync(opened.fileno())

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

        suite, info = hpke_suite(), sealing_info(address)
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


def require_key(path: Path, public: bytes) -> None:
    """Raise `RequestError` unless a file holds the private key of `public`, and nothing else.

    An interrupted `destroy` may have left the file overwritten, which is accepted.
    """
    try:
        is_key = path.read_bytes() == OVERWRITTEN or TaskKey.load(path).public == public
    except DataError:
        is_key = False
    if not is_key:
        raise RequestError(f"{path} is not the key of this task; nothing was destroyed.")


def destroy(path: Path, public: bytes) -> None:
    """Overwrite and delete a key file: nothing that is sealed to the key can be opened any more.

    Copies that the file system or a backup has made are not reached. Raises `RequestError` for
    another file than the key of `public`, which is not changed.
    """
    require_key(path, public)  # a file that is destroyed by mistake cannot be restored
    with open(path, "r+b") as opened:
        opened.write(bytes(os.fstat(opened.fileno()).st_size))
        opened.flush()
        os.fsync(opened.fileno())
    path.unlink()


OVERWRITTEN = bytes(2 * KEY_BYTES + 1)
"""Content of a key file between its overwriting and its deletion."""
