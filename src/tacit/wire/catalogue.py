"""Catalogue of a task: item ids, titles, and the document that adds items to a task.

A task that extends another is written as the documents of its ancestors and of the extension, one
per line. Each extension contains the address of the line before it, so the address of the last
line, its SHA-256, authenticates all of them. An extension contains new items alone. All else is
that of the first task, and an item keeps its index.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

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
FORMAT = "tacit-extension-1"
KEYS = ("format", "parent", "items", "titles")
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


@dataclass(frozen=True)
class AddedItems:
    """New items of a task. `parent`: address of the task that it extends. `titles`: by index."""

    parent: str
    items: tuple[int | str, ...]
    titles: tuple[str, ...] | None

    @property
    def document(self) -> bytes:
        """The extension as one line of JSON, keys in the order of `KEYS`: its unique notation."""
        titles = self.titles and list(self.titles)
        values = (FORMAT, self.parent, list(self.items), titles)
        fields = dict(zip(KEYS, values, strict=True))
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def address_of(line: bytes) -> str:
    """Return the address of a document of one line: its SHA-256, 64 hexadecimal digits."""
    return sha256(line).hexdigest()


def load_extension(line: bytes, parent: str, longest: int) -> AddedItems:
    """Parse an extension of the task with the address `parent`.

    Raises `DataError` for a malformed one, one of another task, one without items, and one that is
    not in its unique notation.
    """
    fields = strict.fields(strict.parse(line, WHAT, longest), WHAT, KEYS)
    if fields["format"] != FORMAT or fields["parent"] != parent:
        raise DataError(
            f"{WHAT} is malformed: it must have the format {FORMAT}, and name its task."
        )
    items = strict.listed(fields["items"], "items", item_id, WHAT, MOST_ITEMS)
    extension = AddedItems(parent, items, titles_of(fields["titles"], WHAT))
    try:
        is_canonical = extension.document == line
    except UnicodeEncodeError:
        is_canonical = False
    if not items or not is_canonical:
        raise DataError(f"{WHAT} is malformed: it adds no item, or is not in the canonical form.")
    return extension
