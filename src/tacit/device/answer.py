"""A device's message: one symbol for each slot it is asked about, whether rated or not."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tacit.channels.draw import Words, draw, secret_word
from tacit.channels.table import Channel
from tacit.errors import RequestError


def answer(
    channel: Channel,
    asked: Sequence[Any],
    ratings: Mapping[Any, Decimal],
    words: Words = secret_word,
) -> list[int]:
    """The symbols that leave the device, one for each item of `asked`, in that order.

    `asked` is public: the catalogue, or a person's sample of it. `ratings` is one person's true
    profile; an item without one answers from the row "missing". Nothing about the message but the
    symbols' values depends on the profile: not its length, its items, their order, nor how many
    random bits it takes. `words` is replaced in tests only.

    Raises `RequestError` before any draw for a channel without "missing" or a rating off its scale.
    """
    if not channel.missing:
        raise RequestError(
            "This channel has no answer for a slot without a rating; answer through one that has."
        )
    rows = [channel.row(ratings.get(item)) for item in asked]
    # One fresh word a slot: two slots that shared one would tell on each other.
    return [draw(channel, row, words) for row in rows]
