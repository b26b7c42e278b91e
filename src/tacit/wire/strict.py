"""Reading JSON that a stranger wrote: nothing unknown, missing, repeated or of another type.

What could cost more memory than its own length suggests is counted before it is built.
"""

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, TypeVar, cast

from tacit.errors import DataError

DEEPEST, MOST_CONTAINERS = 64, 1 << 18
"""Lists and objects inside each other, and all of them, that a document may have."""
ENDS = 1 << 53
"""Where the whole numbers end that a browser tells apart."""
T = TypeVar("T")

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
# To the end where a text does not end: otherwise each quote in it would be tried in turn.
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[{\]}]")


def parse(text: str | bytes, what: str, longest: int) -> Any:
    """The JSON value in `text`; `what` names it in the sentences of `DataError`."""
    if len(text) > longest:
        raise DataError(f"{what} of {len(text)} characters is longer than {longest}.")
    try:
        read = text if isinstance(text, str) else text.decode("utf-8-sig")
        _refuse_towers(read)
        return json.loads(read, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{what} is not JSON: {str(error)[:200]}.") from None


def fields(
    value: Any, what: str, keys: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """The JSON object `value`, which must have exactly `keys`, and of others only `optional` ones;
    raises `DataError`."""
    if not isinstance(value, dict):
        raise DataError(f"{what} is not a JSON object.")
    known = cast("dict[str, Any]", value)
    if odd := sorted((set(known) - set(optional)) ^ set(keys)):
        raise DataError(f"{what} has unknown or missing keys: {brief(', '.join(odd[:9]), 200)}.")
    return known


def typed(known: dict[str, Any], key: str, kind: type[T], what: str) -> T:
    """The value of `key`, of exactly this type (true is no number); raises `DataError`."""
    value = known[key]
    if type(value) is not kind:
        raise DataError(f"{what}'s {key} is {brief(value)!r}, not of type {kind.__name__}.")
    return value


def whole(known: dict[str, Any], key: str, what: str) -> int:
    """The value of `key`, a whole number below 2^53 in size; raises `DataError`."""
    value = typed(known, key, int, what)
    if abs(value) >= ENDS:
        raise DataError(f"{what}'s {key} is {brief(value)}, not below 2^53 in size.")
    return value


def listed(
    value: Any, key: str, read: Callable[[Any], T], what: str, most: int | None = None
) -> tuple[T, ...]:
    """A list of at most `most`, each entry read; what `read` refuses by `ValueError` is a
    `DataError`."""
    if not isinstance(value, list):
        raise DataError(f"{what}'s {key} are {brief(value)!r}, not a list.")
    entries = cast("list[Any]", value)
    if most is not None and len(entries) > most:
        raise DataError(f"{what}'s {key} are {len(entries)}, more than {most}.")
    try:
        return tuple(read(entry) for entry in entries)
    except ValueError as error:
        raise DataError(f"{what}'s {key} hold {error}, which is not allowed there.") from None


def number(value: Any) -> Decimal:
    """A decimal written as a string; raises `ValueError`."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise wrong(value)
    return Decimal(value)


def text(value: Any) -> str:
    """Characters that UTF-8 can write; raises `ValueError`."""
    if not isinstance(value, str):
        raise wrong(value)
    value.encode()
    return value


def real(value: Any) -> float:
    """A finite number, in any of JSON's spellings; raises `ValueError`."""
    if type(value) not in (int, float) or not _is_finite(value):
        raise wrong(value)
    return float(value)


def integral(value: Any) -> int:
    """A whole number below 2^53 in size, also where it is spelled 5.0 or 5e0, which a browser
    cannot tell from 5; raises `ValueError`."""
    if not real(value).is_integer() or abs(value) >= ENDS:
        raise wrong(value)
    return int(value)


def brief(value: Any, most: int = 40) -> str:
    """Return a value in at most `most` printable characters of one line, whatever its size."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return "".join(char if char.isprintable() else "?" for char in str(value)[:most])


def wrong(value: Any) -> ValueError:
    """For a reader of one value to raise: says what it was given, in few characters."""
    shown = brief(value, 60)
    return ValueError(repr(shown) if isinstance(value, str) else shown)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def _refuse_towers(read: str) -> None:
    """Raise `ValueError` for more lists and objects than a document has, or deeper ones.

    An empty list takes two characters, and seventy bytes once it is built.
    """
    if read.count("[") + read.count("{") <= DEEPEST:
        return
    brackets = _TEXT.sub("", read)
    if brackets.count("[") + brackets.count("{") > MOST_CONTAINERS:
        raise ValueError(f"it has more than {MOST_CONTAINERS} lists and objects")
    depth = 0
    for bracket in _BRACKET.finditer(brackets):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEEPEST:
            raise ValueError(f"it is more than {DEEPEST} lists and objects deep")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)
