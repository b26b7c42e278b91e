"""Drawing of a report from one word of secret bits, as on a device."""

import os
from collections.abc import Callable

from tacit.channels.table import Channel
from tacit.errors import RequestError

Words = Callable[[], int]
"""Source of 64-bit words, uniform, independent and never reused."""


def secret_word() -> int:
    """Return 64 bits from the operating system, which has no state that a fork could copy."""
    return int.from_bytes(os.urandom(8), "little")


def draw(channel: Channel, row: int, words: Words = secret_word) -> int:
    """Return the symbol that leaves the device for input `row` (see `Channel.row`).

    The top w bits u of one word select symbol y for exactly weights[row][y] of their 2^w values, so
    P(y | row) is exactly the table's, whatever the rating. It is a draw without rejection, every
    row takes the same number of bits, and the scan visits every bound, so neither its length nor
    its order depends on the rating. `words` is replaced in tests only.

    Raises `RequestError` for a row that the channel does not have.
    """
    if not 0 <= row < len(channel.weights):
        raise RequestError(f"row must be from 0 to {len(channel.weights) - 1}, got {row}.")
    word = words() >> (64 - channel.word_bits)
    return sum(map(word.__ge__, channel.bounds[row]))
