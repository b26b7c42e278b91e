"""Common parts of the headers of published models: item ids, hidden items, counts, a guarantee."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeVar, get_args

from tacit.errors import DataError
from tacit.privacy.guarantee import Guarantee, Trust, Unit
from tacit.wire import strict
from tacit.wire.tasks import catalogue
from tacit.wire.tasks.catalogue import MOST_ITEMS

PROMISE, DETAILS = (
    ("epsilon", "unit", "trust", "released"),
    ("delta", "public", "assumptions", "exact", "fails", "uncovered", "empty"),
)
"""Required and optional keys of a guarantee."""
LONGEST = 1 << 26
"""Most bytes of a header."""
MOST_FACTORS = 1024
T = TypeVar("T")


def item_ids(known: dict[str, Any], what: str) -> tuple[int | str, ...]:
    """Return the items of a header, without duplicates. Raises `DataError`."""
    items = strict.listed(known["items"], "items", item_id, what, MOST_ITEMS)
    if not items:
        raise DataError(f"{what} is malformed: it has no items.")
    if len(set(map(str, items))) != len(items):
        raise DataError(f"{what} is malformed: an item id occurs twice.")
    return items


def item_id(value: Any) -> int | str:
    """Return the id of an item, in any JSON notation of an integer. Raises `ValueError`."""
    value = strict.text(value) if isinstance(value, str) else strict.integral(value)
    return catalogue.item_id(value)


def hidden_items(value: Any, items: Sequence[object], what: str) -> tuple[int, ...]:
    """Return the indices of hidden items, ascending, at least one. Raises `DataError`."""
    indices = strict.listed(value, "hidden", strict.integral, what, len(items))
    in_order = all(one < other for one, other in pairwise(indices))
    if not indices or not in_order or indices[0] < 0 or indices[-1] >= len(items):
        raise DataError(
            f"{what} is malformed: hidden must list item indices, ascending and at least one."
        )
    return indices


def indices_of(items: Iterable[object], ids: Iterable[object]) -> tuple[int, ...]:
    """Return the indices of the items with these raw ids, ascending. Other ids are ignored."""
    wanted = set(map(str, ids))
    return tuple(index for index, item in enumerate(items) if str(item) in wanted)


def count(known: dict[str, Any], key: str, most: int, what: str) -> int:
    """Return the value of a key, an integer from 0 to `most`. Raises `DataError`."""
    value = one(known, key, strict.integral, what)
    if not 0 <= value <= most:
        raise DataError(f"{what} is malformed: {key} are not 0 to {most}.")
    return value


def one(known: dict[str, Any], key: str, read: Callable[[Any], T], what: str) -> T:
    """Return the value of a key, parsed by `read`, whose `ValueError` becomes a `DataError`."""
    return strict.listed([known[key]], key, read, what)[0]


def guarantee(value: Any, what: str) -> Guarantee:
    """Return the guarantee of a model. Raises `DataError` for a malformed one."""
    known = strict.fields(value, f"{what}'s guarantee", PROMISE, DETAILS)
    for key in known.keys() & {"public", "assumptions", "uncovered"}:
        strict.listed(known[key], key, strict.text, what)
    for key in known.keys() & {"epsilon", "fails", "empty"}:
        one(known, key, lambda text: None if text is None else strict.text(text), what)
    for key in known.keys() & {"released", "delta"}:
        one(known, key, strict.text, what)
    if known["unit"] not in get_args(Unit) or known["trust"] not in get_args(Trust):
        raise DataError(f"{what}'s guarantee has an unknown unit or trust.")
    if type(known.get("exact", False)) is not bool:
        raise DataError(f"{what}'s guarantee must state whether it is exact.")
    return Guarantee.from_dict(known)
