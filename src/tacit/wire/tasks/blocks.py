"""Blocks of items: a task over slots that can be extended queries each device block by block.

The items of the first task are a block, and so are those of each extension. A device queries a
place of a block if the public key of its pair is below the block's threshold t,

    pair_key(hash_id(block key), hash_id(item), ASK) < t,

so with probability t / 2^64, for any number of items. The block key is derived from the secret of
the device and the address of the block's document (`tacit.wire.report.block_key`). It is unknown
when item ids are published, so a search for ids that one device is queried about is impossible.

A device draws one symbol per place and generation. It stops before the block that would exceed the
limit, which depends on no rating.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from tacit.channels.thresholds import hash_id, pair_key
from tacit.errors import DataError
from tacit.wire import strict
from tacit.wire.strict import ENDS

WORD = 1 << 64
ASK = 0x8CB92BA72F3D8DD7
"""Odd multiplier of the hashes that select a user's queried slots."""
DEVIATIONS = 4
"""Standard deviations between the mean number of queried places and a limit: three devices
in 100,000 exceed it, and stop early."""
MOST_RENEWALS = 100
TERMS = ("threshold", "open_from", "limit", "renewals", "provider_key")
WHAT_TERMS = "The task's extendable"


@dataclass(frozen=True)
class ItemBlock:
    """Items `first` to `end` of a task, added by one document.

    `threshold`: t, 1 to 2^64. `open_from`: first epoch in which a device answers.
    """

    first: int
    end: int
    threshold: int
    open_from: int

    def places(self, key: str, item_hashes: Sequence[int]) -> tuple[int, ...]:
        """Return the item indices that the device with this block key is queried about, ascending.

        `item_hashes`: of all items of the task.
        """
        me, places = hash_id(key), range(self.first, self.end)
        return tuple(p for p in places if pair_key(me, item_hashes[p], ASK) < self.threshold)


@dataclass(frozen=True)
class Growth:
    """Terms under which a task over slots can be extended, and its blocks.

    `limit`: most places that a device answers in a generation. `renewals`: epochs in which a new
    generation begins: all places are then drawn once more. `blocks`: of the first task and of
    each extension, in order.
    """

    limit: int
    renewals: tuple[int, ...]
    blocks: tuple[ItemBlock, ...]

    @property
    def generations(self) -> int:
        """Number of symbols that a device draws for a place at most."""
        return 1 + len(self.renewals)

    def generation(self, epoch: int) -> int:
        """Return the number of renewals up to an epoch."""
        return bisect_right(self.renewals, epoch)

    def block_of(self, index: int) -> int:
        """Return the number of the block that contains an item index."""
        return bisect_right(self.blocks, index, key=lambda block: block.first) - 1

    def extended(self, end: int, threshold: int, open_from: int) -> "Growth":
        """Return the terms with one more block, of the items up to `end`."""
        block = ItemBlock(self.blocks[-1].end, end, threshold, open_from)
        return Growth(self.limit, self.renewals, (*self.blocks, block))

    def fields(self, provider_key: str | None) -> dict[str, Any]:
        """Return the terms of the first task as JSON values, keys in the order of `TERMS`."""
        first = self.blocks[0]
        terms = (str(first.threshold), first.open_from, self.limit, list(self.renewals))
        return dict(zip(TERMS, (*terms, provider_key), strict=True))

    def flaws(self, slots: int | None) -> Iterator[tuple[bool, str]]:
        """Yield conditions that make a task invalid, with a sentence for each.

        `slots`: K of the plan "sample:K", None under the plan "catalogue".
        """
        first, times = self.blocks[0], (*self.renewals, *(each.open_from for each in self.blocks))
        is_catalogue = slots is None
        yield from (
            (
                first.threshold != threshold_of(slots, first.end),
                "the threshold of a first task must be K 2^64 / n under sample:K, rounded down, "
                "and 2^64 under catalogue",
            ),
            (
                not all(
                    (WORD if is_catalogue else 1) <= each.threshold <= WORD for each in self.blocks
                ),
                "a threshold must be from 1 to 2^64, and 2^64 under catalogue",
            ),
            (
                self.limit * WORD < first.threshold * first.end,
                "the limit must be at least the number of slots of the first task",
            ),
            (
                not all(0 <= time < ENDS for time in times) or 0 in self.renewals,
                "open_from must be at least 0, and a renewal at least 1",
            ),
            (
                list(self.renewals) != sorted(set(self.renewals))
                or len(self.renewals) > MOST_RENEWALS,
                f"it must have at most {MOST_RENEWALS} renewals, in ascending order",
            ),
        )


def growth_of(value: Any, n_items: int) -> Growth:
    """Parse the terms of a first task with this number of items. Raises `DataError`."""
    known = strict.fields(value, WHAT_TERMS, TERMS)
    block = ItemBlock(
        0, n_items, threshold_in(known, WHAT_TERMS), strict.integer(known, "open_from", WHAT_TERMS)
    )
    renewals = strict.listed(known["renewals"], "renewals", _epoch, WHAT_TERMS, MOST_RENEWALS)
    return Growth(strict.integer(known, "limit", WHAT_TERMS), renewals, (block,))


def threshold_in(known: dict[str, Any], what: str) -> int:
    """Return the threshold in these fields, an integer as a string. Raises `DataError`."""
    text = strict.typed(known, "threshold", str, what)
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(WORD))):
        raise DataError(f"{what}'s threshold is '{strict.brief(text)}', not an integer.")
    return int(text)


def threshold_of(slots: int | None, n_items: int) -> int:
    """Return the threshold at which a device is queried about `slots` of `n_items` on average."""
    return WORD if slots is None else min(slots * WORD // n_items, WORD)


def slot_limit(threshold: int, n_items: int) -> int:
    """Return the number of queried places that few devices exceed: mean + 4 standard deviations.

    With p = t / 2^64 a device is queried about n p of n items on average, with the variance
    n p (1 - p), however the items are divided into blocks.
    """
    p = threshold / WORD
    return ceil(n_items * p + DEVIATIONS * sqrt(n_items * p * (1 - p)))


def _epoch(value: Any) -> int:
    if type(value) is not int or abs(value) >= ENDS:
        raise strict.wrong(value)
    return value
