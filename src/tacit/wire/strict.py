"""Strict parsing of untrusted JSON: no unknown, missing or repeated keys, and exact types.

Whatever could take more memory than its length suggests is counted before it is built.
"""

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, TypeVar, cast

from tacit.errors import DataError

DEEPEST, MOST_CONTAINERS = 64, 1 << 18
"""Deepest nesting of lists and objects, and most of them, in a document."""
ENDS = 1 << 53
"""Bound on integers that a browser represents exactly."""
T = TypeVar("T")

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
# Matches to the end for unterminated strings: otherwise each quote would be tried in turn.
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[{\]}]")


def parse(text: str | bytes, what: str, longest: int) -> Any:
    """Parse JSON. `what`: name of the document in the messages of `DataError`."""
    if len(text) > longest:
        raise DataError(f"{what} of {len(text)} characters is longer than {longest}.")
    try:
        read = text if isinstance(text, str) else text.decode("utf-8-sig")
        _check_nesting(read)
        return json.loads(read, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{what} is not JSON: {str(error)[:200]}.") from None


def fields(
    value: Any, what: str, keys: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the JSON object `value`, which must have all `keys` and may have `optional` ones.

    Raises `DataError`.
    """
    if not isinstance(value, dict):
        raise DataError(f"{what} is not a JSON object.")
    known = cast("dict[str, Any]", value)
    if odd := sorted((set(known) - set(optional)) ^ set(keys)):
        raise DataError(f"{what} has unknown or missing keys: {brief(', '.join(odd[:9]), 200)}.")
    return known


def typed(known: dict[str, Any], key: str, kind: type[T], what: str) -> T:
    """Return the value of `key`, of exactly this type (bool is not int). Raises `DataError`."""
    value = known[key]
    if type(value) is not kind:
        raise DataError(f"{what}'s {key} is {brief(value)!r}, not of type {kind.__name__}.")
    return value


def integer(known: dict[str, Any], key: str, what: str) -> int:
    """Return the value of `key`, an integer below 2^53 in magnitude. Raises `DataError`."""
    value = typed(known, key, int, what)
    if abs(value) >= ENDS:
        raise DataError(f"{what}'s {key} is {brief(value)}, not below 2^53 in magnitude.")
    return value


def listed(
    value: Any, key: str, read: Callable[[Any], T], what: str, most: int | None = None
) -> tuple[T, ...]:
    """Return a list of at most `most` entries, each parsed by `read`.

    A `ValueError` of `read` becomes a `DataError`.
    """
    if not isinstance(value, list):
        raise DataError(f"{what}'s {key} are {brief(value)!r}, not a list.")
    entries = cast("list[Any]", value)
    if most is not None and len(entries) > most:
        raise DataError(f"{what}'s {key} are {len(entries)}, more than {most}.")
    try:
        return tuple(read(entry) for entry in entries)
    except ValueError as error:
        raise DataError(f"{what}'s {key} contain {error}, which is not allowed there.") from None


def number(value: Any) -> Decimal:
    """Return a decimal that is written as a string. Raises `ValueError`."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise wrong(value)
    return Decimal(value)


def text(value: Any) -> str:
    """Return a string that UTF-8 can encode. Raises `ValueError`."""
    if not isinstance(value, str):
        raise wrong(value)
    value.encode()
    return value


def real(value: Any) -> float:
    """Return a finite number, in any JSON notation. Raises `ValueError`."""
    if type(value) not in (int, float) or not _is_finite(value):
        raise wrong(value)
    return float(value)


def integral(value: Any) -> int:
    """Return an integer below 2^53 in magnitude, also if written as 5.0 or 5e0.

    A browser does not distinguish these from 5. Raises `ValueError`.
    """
    if not real(value).is_integer() or abs(value) >= ENDS:
        raise wrong(value)
    return int(value)


def hexadecimal(value: Any, size: int) -> bytes:
    """Return `size` bytes that are written as hexadecimal digits. Raises `ValueError`."""
    raw = bytes.fromhex(value) if isinstance(value, str) else b""
    if len(raw) != size or raw.hex() != value:
        raise wrong(value)
    return raw


def brief(value: Any, most: int = 40) -> str:
    """Return a value in at most `most` printable characters of one line, whatever its size."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return "".join(char if char.isprintable() else "?" for char in str(value)[:most])


def wrong(value: Any) -> ValueError:
    """Return the error for an invalid value, with an abbreviation of it."""
    shown = brief(value, 60)
    return ValueError(repr(shown) if isinstance(value, str) else shown)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _check_nesting(read: str) -> None:
    """Raise `ValueError` for too many lists and objects, or too deep ones.

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
            raise ValueError(f"its lists and objects are nested more than {DEEPEST} deep")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)
