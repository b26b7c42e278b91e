"""Item ids: integers that a browser can represent, or short strings."""

from typing import Any

from tacit.wire import strict
from tacit.wire.strict import ENDS

LONGEST_ID = 200
"""Most characters of an item id."""
FORM = (
    f"an item id is no whole number below 2^53 in size and no text of 1 to {LONGEST_ID} characters"
)


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
