"""Channels as JSON: proposed by a provider, and verified by a device before it reports."""

import json
import re
from decimal import Decimal
from typing import Any

from tacit.channels.certificate import certify
from tacit.channels.table import FORMAT, MOST_SYMBOLS, Channel
from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import MOST_LEVELS, RatingScale, shortest
from tacit.wire import strict

KEYS = ("format", "scale", "levels", "missing", "outputs", "word_bits", "weights", "epsilon", "id")
LONGEST = 1 << 26
"""Most characters of a channel. Devices do not read further."""
WHAT = "The channel"

_WEIGHT = re.compile(r"[1-9][0-9]{0,19}")


def dumps(channel: Channel) -> str:
    """Return the channel as one line of JSON, keys in the order of `KEYS`.

    Weights are decimal strings, because a browser's numbers are exact up to 2^53 only; the symbol
    "missing" is null. `id` is `Channel.id`. Raises `RequestError` for levels that form no scale.
    """
    fields = {
        "format": FORMAT,
        "scale": str(_scale_of(channel.levels)),
        "levels": [shortest(level) for level in channel.levels],
        "missing": channel.missing,
        "outputs": [None if y is None else shortest(y) for y in channel.outputs],
        "word_bits": channel.word_bits,
        "weights": [[str(weight) for weight in row] for row in channel.weights],
        "epsilon": shortest(Decimal(channel.epsilon)),
        "id": channel.id,
    }
    return json.dumps(fields, separators=(",", ":"))


def loads(text: str | bytes) -> Channel:
    """Parse and verify a channel from `dumps`. None of its claims is trusted.

    Raises `DataError` if the text is malformed (unknown, missing or repeated keys, a number that is
    not a plain decimal), `CertificateError` if the id is not that of the table or the table does
    not prove its epsilon.
    """
    return of_json(strict.parse(text, "A channel", LONGEST))


def of_json(value: Any) -> Channel:
    """Parse and verify a channel from a JSON value, as in a task.

    Raises as `loads` does: `DataError`, and `CertificateError` for a modified or uncertified table.
    """
    fields = strict.fields(value, WHAT, KEYS)
    if fields["format"] != FORMAT:
        shown = strict.brief(fields["format"])
        raise DataError(f"The format of a channel must be {FORMAT}, got {shown!r}.")
    channel = _channel(fields)
    if fields["id"] != channel.id:
        raise CertificateError(
            f"The channel declares id {strict.brief(fields['id'], 64)}, "
            f"but its table has id {channel.id}: it was changed in transit; fetch it again."
        )
    certify(channel)
    return channel


def _channel(fields: dict[str, Any]) -> Channel:
    try:
        return Channel(
            levels=_levels(fields),
            outputs=strict.listed(fields["outputs"], "outputs", _output, WHAT, MOST_SYMBOLS),
            weights=strict.listed(fields["weights"], "weights", _row, WHAT, MOST_LEVELS + 1),
            epsilon=strict.typed(fields, "epsilon", str, WHAT),
            missing=strict.typed(fields, "missing", bool, WHAT),
            word_bits=strict.integer(fields, "word_bits", WHAT),
        )
    except RequestError as error:
        raise DataError(f"The channel's table is malformed: {error}") from None


def _scale_of(levels: tuple[Decimal, ...]) -> RatingScale:
    first, *others = levels
    step = others[0] - first if others else Decimal(1)
    scale = RatingScale(first, levels[-1], step)
    if scale.levels != levels:
        raise RequestError(
            "The levels of this channel are not evenly spaced, so they are not a rating scale."
        )
    return scale


def _levels(fields: dict[str, Any]) -> tuple[Decimal, ...]:
    levels = strict.listed(fields["levels"], "levels", strict.number, WHAT, MOST_LEVELS)
    text = strict.typed(fields, "scale", str, WHAT)
    try:
        named = RatingScale.parse(text)
        agreed = str(named) == text and named.n_levels == len(levels) and named.levels == levels
    except RequestError as error:
        raise DataError(f"The channel's scale {text[:60]!r} is wrong: {error}") from None
    if not agreed:
        raise DataError(f"The channel's levels differ from those of its scale {text[:60]!r}.")
    return levels


def _output(value: Any) -> Decimal | None:
    return None if value is None else strict.number(value)


def _row(value: Any) -> tuple[int, ...]:
    return strict.listed(value, "weights", _weight, WHAT, MOST_SYMBOLS)


def _weight(value: Any) -> int:
    if not isinstance(value, str) or not _WEIGHT.fullmatch(value):
        raise strict.wrong(value)
    return int(value)
