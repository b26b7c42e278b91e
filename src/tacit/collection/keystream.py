"""Secret random words in bulk: a ChaCha20 keystream, or the operating system."""

import os
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

COUNTER = bytes(4)
"""Number of the first block, in front of the nonce. It counts up; a random one could overflow."""


class BulkWords(Protocol):
    """Source of uniform, independent, secret 64-bit words."""

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite every entry of `words`."""
        ...


class ChaCha20Words:
    """ChaCha20 keystream with a fresh key from the operating system at every call.

    No key outlives a call, so neither a fork nor a later compromise can replay it.
    """

    def __init__(self) -> None:
        self._zeros = np.zeros(0, np.uint64)

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite `words`, shape (n,), with secret ones."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

        if len(self._zeros) < len(words):
            self._zeros = np.zeros(len(words), np.uint64)
        cipher = Cipher(ChaCha20(os.urandom(32), COUNTER + os.urandom(12)), mode=None)
        zeros = self._zeros[: len(words)].view(np.uint8)
        cipher.encryptor().update_into(zeros.data, words.view(np.uint8).data)


class SystemWords:
    """Words from `os.urandom`: slower, without dependencies."""

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite `words`, shape (n,), with secret ones."""
        words[:] = np.frombuffer(os.urandom(8 * len(words)), np.uint64)


def secret_words() -> BulkWords:
    """Return ChaCha20 if `cryptography` is installed (the extra `secure`), else system words."""
    return ChaCha20Words() if find_spec("cryptography") else SystemWords()
