"""Private key of a provider, which signs a move to another origin.

A key is for all tasks of a provider, which contain its public part. The file suffices to move the
devices of these tasks, so it belongs on no server. Requires the extra `secure`.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import DataError, RequestError
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.moves import EXPONENT, KEY_BITS, SIZE, Move, base64url
from tacit.wire.tasks.task import Task

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey


@dataclass(frozen=True, eq=False)
class ProviderKey:
    """RSA key of 3072 bits with the exponent 65537."""

    private: "RSAPrivateKey"

    @classmethod
    def generate(cls) -> Self:
        """Return a new key, from the operating system's randomness.

        Raises `RequestError` without the extra `secure`.
        """
        return cls(_rsa().generate_private_key(EXPONENT, KEY_BITS))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the key in a file of `save`.

        Raises `DataError` for another file, `RequestError` without the extra `secure`.
        """
        _rsa()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            private = load_pem_private_key(path.read_bytes(), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):  # a message could repeat the content
            private = None
        if not isinstance(private, RSAPrivateKey) or private.key_size != KEY_BITS:
            raise DataError(f"{path} is not a signing key; tacit task --signing-key writes one.")
        if private.public_key().public_numbers().e != EXPONENT:
            raise DataError(f"{path} is not a signing key: its exponent must be {EXPONENT}.")
        return cls(private)

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read.

        Raises `RequestError` if the file exists.
        """
        from cryptography.hazmat.primitives import serialization

        pem = self.private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise RequestError(f"{path} exists; name another file for a new key.") from None
        with open(file, "wb") as opened:
            opened.write(pem)
            opened.flush()
            os.fsync(opened.fileno())

    def __repr__(self) -> str:
        return f"<ProviderKey: {self.public[:12]}>"

    @property
    def public(self) -> str:
        """Public key for tasks: the modulus in base64url."""
        return base64url(self.private.public_key().public_numbers().n)

    def move(self, task: Task, successor: str) -> Task:
        """Return the task after the move of its provider to the origin `successor`, signed.

        Raises `RequestError` for a task without this key, and for the present origin. Raises
        `DataError` for another successor than an origin of https or of this machine.
        """
        if task.provider_key != self.public:
            known = "no key" if task.provider_key is None else "another key"
            raise RequestError(
                f"The task contains {known}, so devices would refuse the move. Only a first task "
                "that was written with this --signing-key can be moved with it."
            )
        statement = Move(task.address, successor, "").statement
        moved = task.moved(successor, base64url(int.from_bytes(self._sign(statement))))
        return loads(moved.document, moved.address)

    def _sign(self, message: bytes) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        signature = self.private.sign(message, PKCS1v15(), SHA256())
        assert len(signature) == SIZE, "RFC 8017: a signature is as long as the modulus"
        return signature


def _rsa() -> Any:
    """Return the RSA module of cryptography. Raises `RequestError` without it."""
    try:
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ImportError:
        raise RequestError(
            "A signing key requires cryptography. Run pip install 'tacit-recommender[secure]'."
        ) from None
    return rsa
