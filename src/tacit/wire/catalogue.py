"""Catalogue of a task: item ids, titles, blocks, and the document that adds items to a task.

A task that extends another is written as the documents of its ancestors and of the extension, one
per line. Each extension contains the address of the line before it, so the address of the last
line, its SHA-256, authenticates all of them. An extension contains new items alone, and under a
plan over slots the terms of their block. All else is that of the first task, and an item keeps its
index.

Blocks of items: a task over slots that can be extended queries each device block by block.

The items of the first task are a block, and so are those of each extension. A device queries a
place of a block if the public key of its pair is below the block's threshold t,

    pair_key(hash_id(block key), hash_id(item), ASK) < t,

so with probability t / 2^64, for any number of items. The block key is derived from the secret of
the device and the address of the block's document (`tacit.wire.report.block_key`). It is unknown
when item ids are published, so a search for ids that one device is queried about is impossible.

A device draws one symbol per place and generation. It stops before the block that would exceed the
limit, which depends on no rating.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, sqrt
from typing import Any, NamedTuple

from tacit.channels.thresholds import hash_id, pair_key
from tacit.errors import DataError
from tacit.wire import strict
from tacit.wire.strict import ENDS

MOST_ITEMS = 1_000_000
MOST_EXTENSIONS = 1000
"""Most extensions of a task: nineteen years of weekly ones."""
LONGEST_ID = 200
"""Most characters of an item id."""
ITEM_ID_FORM = (
    f"an item id must be an integer below 2^53 in magnitude or 1 to {LONGEST_ID} characters of text"
)
KEYS = ("format", "parent", "items", "titles")
FORMATS = {
    "tacit-extension-1": KEYS,
    "tacit-extension-2": (*KEYS, "threshold", "open_from", "successor"),
}
"""Keys of each format, in order. The second one extends a task over slots."""
WHAT = "The extension"


def is_item_id(value: object) -> bool:
    """Return whether a value can be the id of an item."""
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_ID
    return type(value) is int and abs(value) < ENDS


def item_id(value: Any) -> int | str:
    """Return the value if it can be the id of an item; raises `ValueError` otherwise."""
    if is_item_id(value):
        return value
    raise strict.wrong(value)


def titles_of(value: Any, what: str) -> tuple[str, ...] | None:
    """Return a list of titles, or None. Raises `DataError`."""
    if value is None:
        return None
    return strict.listed(value, "titles", strict.text, what, MOST_ITEMS)


class BlockTerms(NamedTuple):
    """Terms of a block: `threshold`, and the first epoch in which devices answer, `open_from`."""

    threshold: int
    open_from: int


@dataclass(frozen=True)
class AddedItems:
    """New items of a task.

    `parent`: address of the task that it extends. `titles`: by index. `terms`: of the block that
    they are, under a plan over slots; None under the plan rated.
    """

    parent: str
    items: tuple[int | str, ...]
    titles: tuple[str, ...] | None
    terms: BlockTerms | None = None

    @property
    def format(self) -> str:
        """ "tacit-extension-2" with terms, else "tacit-extension-1"."""
        return "tacit-extension-1" if self.terms is None else "tacit-extension-2"

    @property
    def document(self) -> bytes:
        """The extension as one line of JSON, keys in the order of `FORMATS`: its unique notation.

        `successor` is reserved for the next origin of the provider, and null until devices follow.
        """
        titles = self.titles and list(self.titles)
        terms = () if self.terms is None else (str(self.terms[0]), self.terms[1], None)
        values = (self.format, self.parent, list(self.items), titles, *terms)
        fields = dict(zip(FORMATS[self.format], values, strict=True))
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


class Lineage(NamedTuple):
    """Ancestors of a task that extends another.

    `document`: of its parent. `ancestors`: the addresses of its question, of the first task and of
    all extensions, the parent's last. `first`: number of the parent's items.
    """

    document: bytes
    ancestors: tuple[str, ...]
    first: int


def address_of(line: bytes) -> str:
    """Return the address of a document of one line: its SHA-256, 64 hexadecimal digits."""
    return sha256(line).hexdigest()


def load_extension(line: bytes, parent: str, longest: int, *, over_slots: bool) -> AddedItems:
    """Parse an extension of the task with the address `parent`.

    `over_slots`: whether the task has a plan over slots. Raises `DataError` for a malformed
    extension, one of another task, one without items, and one that is not in its unique notation.
    """
    format = "tacit-extension-2" if over_slots else "tacit-extension-1"
    fields = strict.fields(strict.parse(line, WHAT, longest), WHAT, FORMATS[format])
    if fields["format"] != format or fields["parent"] != parent:
        raise DataError(
            f"{WHAT} is malformed: it must have the format {format}, and name its task."
        )
    items = strict.listed(fields["items"], "items", item_id, WHAT, MOST_ITEMS)
    terms = _terms(fields) if over_slots else None
    extension = AddedItems(parent, items, titles_of(fields["titles"], WHAT), terms)
    try:
        is_canonical = extension.document == line
    except UnicodeEncodeError:
        is_canonical = False
    if not items or not is_canonical:
        raise DataError(f"{WHAT} is malformed: it adds no item, or is not in the canonical form.")
    return extension


def _terms(fields: dict[str, Any]) -> BlockTerms:
    if fields["successor"] is not None:
        raise DataError(f"{WHAT} names a successor, which this version does not know; update it.")
    return BlockTerms(threshold_in(fields, WHAT), strict.whole(fields, "open_from", WHAT))


# Blocks: the items of a first task over slots, and of each extension.

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

    def fields(self) -> dict[str, Any]:
        """Return the terms of the first task as JSON values, keys in the order of `TERMS`.

        `provider_key` is reserved for a key of the provider, and null until devices know one.
        """
        first = self.blocks[0]
        values = (str(first.threshold), first.open_from, self.limit, list(self.renewals), None)
        return dict(zip(TERMS, values, strict=True))

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
    if known["provider_key"] is not None:
        raise DataError(
            f"{WHAT_TERMS} has a provider_key, which this version does not know; update it."
        )
    block = ItemBlock(
        0, n_items, threshold_in(known, WHAT_TERMS), strict.whole(known, "open_from", WHAT_TERMS)
    )
    renewals = strict.listed(known["renewals"], "renewals", _epoch, WHAT_TERMS, MOST_RENEWALS)
    return Growth(strict.whole(known, "limit", WHAT_TERMS), renewals, (block,))


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
