"""Bulk sampler from input rows to symbols, with the exact law of `tacit.channels.table.draw`."""

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.kernels.draw import Rows, draw_symbols, stacked

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


class SeededWords:
    """Reproducible random words. Reports drawn from them protect nobody: for experiments only."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite `words`, shape (n,)."""
        words[:] = self._rng.integers(0, 1 << 64, len(words), np.uint64)


def secret_words() -> BulkWords:
    """Return ChaCha20 if `cryptography` is installed (the extra `secure`), else system words."""
    return ChaCha20Words() if find_spec("cryptography") else SystemWords()


CHUNK = 1 << 18
"""Reports per round: 2 MiB of secret words exist at a time, and the next round overwrites them."""

Unsigned = NDArray[np.unsignedinteger[Any]]


class BulkSampler:
    """Draws through the tables of `channels`. `words` is replaced in tests only."""

    def __init__(self, channels: Sequence[Channel], words: BulkWords | None = None) -> None:
        self._table = _stacked(tuple(channels))
        counts = np.array([len(channel.weights) for channel in channels])
        self._first = (np.cumsum(counts) - counts).astype(np.uint32)
        widest = max(len(channel.outputs) for channel in channels)
        self._kind: np.dtype[np.unsignedinteger[Any]] = np.min_scalar_type(widest - 1)
        self._words = words if words is not None else secret_words()
        self._buffer = np.empty(CHUNK, np.uint64)

    def draw(self, rows: Unsigned, channel_of: NDArray[np.uint8] | None = None) -> Unsigned:
        """Return the symbol of each input: row `rows[i]` of channel `channel_of[i]`; shapes (n,).

        Without `channel_of` all inputs are of the first channel.
        """
        symbols = np.empty(len(rows), self._kind)
        stacked_rows = rows if channel_of is None else self._first[channel_of] + rows
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            fresh = self._buffer[: len(rows[part])]
            # The privacy of every report depends on these words: secret, uniform, used once.
            self._words.fill(fresh)
            draw_symbols(fresh, stacked_rows[part], self._table, symbols[part])
        return symbols


@lru_cache(maxsize=8)
def _stacked(channels: tuple[Channel, ...]) -> Rows:
    """Stack the rows of all channels. Trainers draw through one channel in every round."""
    bounds = [(row, channel.word_bits) for channel in channels for row in channel.bounds]
    return stacked([row for row, _ in bounds], [bits for _, bits in bounds])
