"""Bulk sampler from input rows to symbols, with the exact law of `tacit.channels.draw.draw`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.collection.keystream import BulkWords, secret_words
from tacit.kernels.draw import draw_symbols, stacked

CHUNK = 1 << 18
"""Reports per round: 2 MiB of secret words exist at a time, and the next round overwrites them."""

Unsigned = NDArray[np.unsignedinteger[Any]]


class BulkSampler:
    """Draws through the tables of `channels`. `words` is replaced in tests only."""

    def __init__(self, channels: Sequence[Channel], words: BulkWords | None = None) -> None:
        bounds = [(row, channel.word_bits) for channel in channels for row in channel.bounds]
        self._table = stacked([row for row, _ in bounds], [bits for _, bits in bounds])
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
