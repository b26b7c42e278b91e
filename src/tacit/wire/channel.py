"""The channel as JSON: what a provider proposes and a device verifies before it answers."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar, cast

from tacit.channels.certificate import certify
from tacit.channels.table import FORMAT, Channel
from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import RatingScale, shortest

KEYS = ("format", "scale", "levels", "missing", "outputs", "word_bits", "weights", "epsilon", "id")
LONGEST = 1 << 26
"""Characters a channel may have; a device reads no further."""

T = TypeVar("T")

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
_WEIGHT = re.compile(r"[1-9][0-9]{0,19}")


def dumps(channel: Channel) -> str:
    """The channel as one line of JSON, keys in the order of `KEYS`.

    Weights are decimal strings, because a browser's numbers end at 2^53; the symbol "missing" is
    null. `id` is `Channel.id`. Raises `RequestError` for levels that form no scale.
    """
    fields = {
        "format": FORMAT,
        "scale": str(_scale_of(channel.levels)),
        "levels": [shortest(level) for level in channel.levels],
        "missing": channel.missing,
        "outputs": [None if y is None else shortest(y) for y in channel.outputs],
        "word_bits": channel.word_bits,
        "weights": [[str(weight) for weight in row] for row in channel.weights],
        "epsilon": channel.epsilon,
        "id": channel.id,
    }
    return json.dumps(fields, separators=(",", ":"))


def loads(text: str | bytes) -> Channel:
    """The channel that `dumps` wrote, verified: nothing it says about itself is believed.

    Raises `DataError` when the text is not of the form (unknown, missing or repeated keys, a
    number that is not a plain decimal), `CertificateError` when the id is not that of the table or
    the table does not prove its epsilon.
    """
    fields = _fields(text)
    channel = _channel(fields)
    if fields["id"] != channel.id:
        raise CertificateError(
            f"The channel says id {str(fields['id'])[:64]}, its table has {channel.id}: "
            "it was changed on the way; fetch it again."
        )
    certify(channel)
    return channel


def _channel(fields: dict[str, Any]) -> Channel:
    try:
        return Channel(
            levels=_levels(fields),
            outputs=_list(fields["outputs"], "outputs", _output),
            weights=_list(fields["weights"], "weights", _row),
            epsilon=_typed(fields, "epsilon", str),
            missing=_typed(fields, "missing", bool),
            word_bits=_typed(fields, "word_bits", int),
        )
    except RequestError as error:
        raise DataError(f"The channel's table is malformed: {error}") from None


def _fields(text: str | bytes) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise DataError(f"A channel of {len(text)} characters is longer than {LONGEST}.")
    try:
        fields: Any = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataError(f"The channel is not JSON: {error}.") from None
    if not isinstance(fields, dict):
        raise DataError("The channel is not a JSON object.")
    known = cast("dict[str, Any]", fields)
    if odd := sorted(set(known) ^ set(KEYS)):
        raise DataError(f"The channel has unknown or missing keys: {', '.join(odd)}.")
    if known["format"] != FORMAT:
        raise DataError(f"The channel's format is {known['format']!r}; this reads {FORMAT}.")
    return known


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _scale_of(levels: tuple[Decimal, ...]) -> RatingScale:
    scale = RatingScale(levels[0], levels[-1], levels[1] - levels[0])
    if scale.levels != levels:
        raise RequestError("The levels of this channel are not evenly spaced; no scale names them.")
    return scale


def _levels(fields: dict[str, Any]) -> tuple[Decimal, ...]:
    levels = _list(fields["levels"], "levels", _number)
    text = _typed(fields, "scale", str)
    try:
        named = RatingScale.parse(text)
        agreed = str(named) == text and named.n_levels == len(levels) and named.levels == levels
    except (RequestError, ArithmeticError) as error:
        raise DataError(f"The channel's scale {text[:60]!r} is wrong: {error}") from None
    if not agreed:
        raise DataError(f"The channel's levels are not those of its scale {text[:60]!r}.")
    return levels


def _list(value: Any, key: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise DataError(f"The channel's {key} are {str(value)[:40]!r}, not a list.")
    try:
        return tuple(read(entry) for entry in cast("list[Any]", value))
    except ValueError as error:
        raise DataError(f"The channel's {key} hold {error}; give plain decimals.") from None


def _typed(fields: dict[str, Any], key: str, kind: type[T]) -> T:
    value = fields[key]
    if type(value) is not kind:
        raise DataError(f"The channel's {key} is {str(value)[:40]!r}, not of type {kind.__name__}.")
    return value


def _number(value: Any) -> Decimal:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise ValueError(repr(value)[:60])
    return Decimal(value)


def _output(value: Any) -> Decimal | None:
    return None if value is None else _number(value)


def _row(value: Any) -> tuple[int, ...]:
    return _list(value, "weights", _weight)


def _weight(value: Any) -> int:
    if not isinstance(value, str) or not _WEIGHT.fullmatch(value):
        raise ValueError(repr(value)[:60])
    return int(value)
