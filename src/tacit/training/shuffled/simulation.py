"""Simulated devices and shuffler: counts of a batch, with the law of the devices' own draws.

Own messages are drawn as `tacit.device.shuffled.bundle` draws them. Uniform messages of all
devices, fills and dummies, are a multinomial sample of the same law. Batches contain a bundle of
every user.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.collection.sampler import secret_words
from tacit.kernels.draw import count_messages, words_needed
from tacit.kernels.layout import Side, by_user
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings

Longs = NDArray[np.int64]
Words = NDArray[np.uint64]
BLOCK = 1 << 22
"""Cells, or words at M messages per user, of the users that are simulated at a time."""


@dataclass(frozen=True, eq=False)
class SimulatedDevices:
    """Devices of users. `users`: their distinct items, one row per user.

    `copies`: devices per row. Every copy draws its own messages.
    """

    users: Side
    items: int
    copies: int = 1

    @classmethod
    def of(cls, ratings: Ratings, copies: int = 1) -> Self:
        """Return the devices of these ratings, whatever their values.

        Raises `RequestError` if a (user, item) pair occurs twice.
        """
        ratings.require_distinct_pairs()
        shape = (ratings.n_users, ratings.n_items)
        return cls(by_user(ratings.users, ratings.items, *shape)[0], ratings.n_items, copies)

    @property
    def people(self) -> int:
        """Number of devices."""
        return len(self.users.counts) * self.copies

    def within(self, head: NDArray[np.bool_]) -> Self:
        """Return the same devices with the items of `head` only, renumbered in its order."""
        retained = head[self.users.other]
        column = (np.cumsum(head) - 1).astype(np.int32)
        rows = np.repeat(np.arange(len(self.users.counts), dtype=np.int32), self.users.counts)
        items = column[self.users.other[retained]]
        size = int(head.sum())
        side = by_user(rows[retained], items, len(self.users.counts), size)[0]
        return type(self)(side, size, self.copies)

    def counts(self, shuffled: ShuffledRound, *, pairs: bool) -> Longs:
        """Return the messages per bucket in a batch of all devices, shape (buckets,)."""
        sent = self.message_counts(shuffled.messages, shuffled.buckets, pairs=pairs)
        return with_uniform(sent, shuffled, self.people)

    def message_counts(self, messages: int, buckets: int, *, pairs: bool) -> Longs:
        """Return the own messages per bucket, at most `messages` of a device, shape (buckets,)."""
        counts = np.zeros(buckets, np.int64)
        for block, words in self.draws(messages, pairs=pairs):
            count_messages(block, messages, words, counts, pairs=pairs)
        return counts

    def draws(self, messages: int, *, pairs: bool) -> Iterator[tuple[Side, Words]]:
        """Yield each block of users once per copy, with new words for its draws."""
        for block in self._blocks(messages):
            for _ in range(self.copies):
                words = np.empty(words_needed(block, messages, pairs=pairs), np.uint64)
                secret_words().fill(words)
                yield block, words

    def _blocks(self, messages: int) -> list[Side]:
        """Divide the users into blocks, to bound the memory of their words."""
        size = max(1, BLOCK // messages)
        start = self.users.start
        blocks: list[Side] = []
        for first in range(0, len(start) - 1, size):
            ends = start[first : first + size + 1]
            cells = slice(int(ends[0]), int(ends[-1]))
            blocks.append(Side(ends - ends[0], self.users.other[cells], self.users.cell[cells]))
        return blocks


def with_uniform(sent: Longs, shuffled: ShuffledRound, people: int) -> Longs:
    """Return counts of own messages, shape (buckets,), with fills and dummies of all devices."""
    uniform = people * (shuffled.messages + shuffled.dummies) - int(sent.sum())
    # Seeded by the operating system. A simulation: the messages of real devices are drawn by
    # `tacit.device.shuffled.bundle`, without floating point.
    generator = np.random.default_rng()
    share = 1 / shuffled.buckets
    return sent + generator.multinomial(uniform, np.full(shuffled.buckets, share))
