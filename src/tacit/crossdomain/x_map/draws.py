"""Secret draws that any engine makes alike: words for a stage and an item, out of one key.

The words of item i at a stage are SHAKE-256(key | stage | i), the key 32 bytes that the operating
system has drawn for this one run. Without the key they cannot be told from fair coins; with it the
same item gets the same words in whatever block, on whatever machine it is dealt with.
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
    """`key`: secret, 32 bytes; only tests give one that is known."""

    key: bytes

    @classmethod
    def secret(cls) -> Self:
        """Under a fresh key from the operating system."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def of(cls, octets: Octets) -> Self:
        """From a key that has come to a worker as an array. Shape (32,)."""
        return cls(octets.tobytes())

    @property
    def octets(self) -> Octets:
        """The key as an array, such as blocks may share. Shape (32,)."""
        return np.frombuffer(self.key, np.uint8)

    def words(self, stage: str, item: int, count: int) -> Words:
        """`count` uniform 64-bit words; more words begin with the same. Shape (count,)."""
        message = self.key + stage.encode() + b"|" + item.to_bytes(8, "little")
        return np.frombuffer(hashlib.shake_256(message).digest(8 * count), "<u8").astype(np.uint64)

    def below(self, stage: str, item: int, bound: int) -> int:
        """A uniform integer of 0 .. bound - 1, exactly: words past the last whole multiple of
        `bound`, at most 2^63, are thrown away."""
        whole = (1 << 64) // bound * bound
        count = 4
        while True:
            fair = (word for word in self.words(stage, item, count).tolist() if word < whole)
            if (first := next(fair, None)) is not None:
                return first % bound
            count *= 2


def uniform(words: Words) -> NDArray[np.float64]:
    """Floats inside (0, 1) from words. The shape of `words`."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
