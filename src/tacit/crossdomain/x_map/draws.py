"""Secret draws that do not depend on the engine: words per stage and item, derived from one key.

The words of item i at a stage are SHAKE-256(key | stage | i), with a key of 32 bytes from the
operating system, fresh in every run. Without the key they are indistinguishable from fair coins.
With it, an item gets the same words in any block and on any machine.
"""

import hashlib
import os
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Octets = NDArray[np.uint8]
KEY_BYTES = 32


class Draws(NamedTuple):
    """`key`: secret, 32 bytes. A known key is for tests only."""

    key: bytes

    @classmethod
    def secret(cls) -> Self:
        """Draw a key from the operating system."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def of(cls, octets: Octets) -> Self:
        """Return draws from a key as an array, as sent to workers. Shape (32,)."""
        return cls(octets.tobytes())

    @property
    def octets(self) -> Octets:
        """The key as an array, for workers. Shape (32,)."""
        return np.frombuffer(self.key, np.uint8)

    def words(self, stage: str, item: int, count: int) -> Words:
        """Return `count` uniform 64-bit words, a prefix of any longer request. Shape (count,)."""
        message = self.key + stage.encode() + b"|" + item.to_bytes(8, "little")
        return np.frombuffer(hashlib.shake_256(message).digest(8 * count), "<u8").astype(np.uint64)

    def below(self, stage: str, item: int, bound: int) -> int:
        """Return an exactly uniform integer from 0 to bound - 1, by rejection: words from the
        largest multiple of `bound` on are discarded. `bound` is at most 2^63."""
        limit = (1 << 64) // bound * bound
        count = 4
        while True:
            fair = (word for word in self.words(stage, item, count).tolist() if word < limit)
            if (first := next(fair, None)) is not None:
                return first % bound
            count *= 2


def uniform(words: Words) -> NDArray[np.float64]:
    """Convert words to floats in (0, 1), of the same shape."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
