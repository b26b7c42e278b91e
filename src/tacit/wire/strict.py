"""Reading JSON that a stranger wrote: nothing unknown, missing, repeated or of another type."""

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar, cast

from tacit.errors import DataError

T = TypeVar("T")

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")


def parse(text: str | bytes, what: str, longest: int) -> Any:
    """The JSON value in `text`; `what` names it in the sentences of `DataError`."""
    if len(text) > longest:
        raise DataError(f"{what} of {len(text)} characters is longer than {longest}.")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{what} is not JSON: {error}.") from None


def fields(value: Any, what: str, keys: Sequence[str]) -> dict[str, Any]:
    """The JSON object `value`, which must have exactly `keys`; raises `DataError`."""
    if not isinstance(value, dict):
        raise DataError(f"{what} is not a JSON object.")
    known = cast("dict[str, Any]", value)
    if odd := sorted(set(known) ^ set(keys)):
        raise DataError(f"{what} has unknown or missing keys: {', '.join(odd)[:200]}.")
    return known


def typed(known: dict[str, Any], key: str, kind: type[T], what: str) -> T:
    """The value of `key`, of exactly this type (true is no number); raises `DataError`."""
    value = known[key]
    if type(value) is not kind:
        raise DataError(f"{what}'s {key} is {str(value)[:40]!r}, not of type {kind.__name__}.")
    return value


def listed(value: Any, key: str, read: Callable[[Any], T], what: str) -> tuple[T, ...]:
    """A list, each entry read; what `read` refuses by `ValueError` is a `DataError`."""
    if not isinstance(value, list):
        raise DataError(f"{what}'s {key} are {str(value)[:40]!r}, not a list.")
    try:
        return tuple(read(entry) for entry in cast("list[Any]", value))
    except ValueError as error:
        raise DataError(f"{what}'s {key} hold {error}; give plain decimals.") from None


def number(value: Any) -> Decimal:
    """A decimal written as a string; raises `ValueError`."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise ValueError(repr(value)[:60])
    return Decimal(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)
