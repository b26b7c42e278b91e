"""Catalogue of a task: item ids, titles, and the document that adds items to a task.

A task that extends another is written as the documents of its ancestors and of the extension, one
per line. Each extension contains the address of the line before it, so the address of the last
line, its SHA-256, authenticates all of them. An extension contains new items alone, and under a
plan over slots the terms of their block. All else is that of the first task, and an item keeps its
index.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from tacit.errors import DataError
from tacit.wire import strict
from tacit.wire.strict import ENDS
from tacit.wire.tasks.blocks import threshold_in

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


def catalogue_flaws(
    items: Sequence[int | str], titles: Sequence[str] | None
) -> Iterator[tuple[bool, str]]:
    """Yield what a catalogue must not be, with a sentence. `titles`: by index, if any."""
    n = len(items)
    yield not 0 < n <= MOST_ITEMS, f"the catalogue must have 1 to {MOST_ITEMS} items, got {n}"
    yield not all(map(is_item_id, items)), ITEM_ID_FORM
    yield len(set(map(str, items))) != n, "an item id occurs twice"
    yield len(set(map(type, items))) > 1, "item ids must be all numbers or all strings"
    yield titles is not None and len(titles) != n, "it must have one title per item"


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

        `successor` is null: a move of the provider is a separate line (`tacit.wire.tasks.moves`).
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
        raise DataError(f"{WHAT} must have null as successor; a move is a separate line.")
    return BlockTerms(threshold_in(fields, WHAT), strict.integer(fields, "open_from", WHAT))
