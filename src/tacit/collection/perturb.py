"""What would leave the devices: every rating of a table through its channel, in bulk."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.channels.thresholds import CHOICE, hash_id
from tacit.collection.keystream import BulkWords, secret_words
from tacit.collection.rated import Rated
from tacit.errors import RequestError
from tacit.kernels.draw import draw_symbols, stacked
from tacit.ratings import Ratings, Vocabulary
from tacit.reports import Reports

CHUNK = 1 << 20
"""Reports a round: 8 MiB of secret words exist at a time, and are overwritten by the next."""

KEEP = 0xD1B54A32D192ED03
"""The odd multiplier behind a cap: not `CHOICE`, or a cap would pick among the channels too."""

Unsigned = NDArray[np.unsignedinteger[Any]]
Hashes = NDArray[np.uint64]


def perturb(
    ratings: Ratings,
    plan: Rated,
    *,
    channel_of_person: NDArray[np.uint8] | None = None,
    words: BulkWords | None = None,
) -> Reports:
    """One report for each rating that the plan keeps, in the order of `ratings`.

    Which of several channels draws a report is public: `channel_of_person` names one for each
    person of the vocabulary (each may choose her own epsilon), by default a hash of person and
    item spreads them. `words` is replaced in tests only: secret words are drawn by default.

    Raises `RequestError` when the ratings are on another scale than the channels.
    """
    if plan.channels[0].levels != ratings.scale.levels:
        raise RequestError(f"The plan's channels are not on the ratings' scale {ratings.scale}.")
    kept = ratings if plan.cap is None else ratings.where(kept_rows(ratings, plan.cap))
    channel_of = _channel_of(kept, plan, channel_of_person)
    return Reports(
        users=kept.users,
        items=kept.items,
        symbols=sample(plan.channels, kept.levels, channel_of, words),
        channel_of=channel_of,
        channels=plan.channels,
        scale=kept.scale,
        user_ids=kept.user_ids,
        item_ids=kept.item_ids,
        guarantee=plan.guarantee,
        plan=plan.name,
        name=kept.name,
    )


def sample(
    channels: tuple[Channel, ...],
    levels: Unsigned,
    channel_of: NDArray[np.uint8],
    words: BulkWords | None = None,
) -> Unsigned:
    """The symbol of each level number through the channel it names; shapes (n,).

    One fresh 64-bit word a report decides it exactly as `tacit.channels.draw.draw` would.
    """
    source = words if words is not None else secret_words()
    bounds = [(row, channel.word_bits) for channel in channels for row in channel.bounds]
    table = stacked([row for row, _ in bounds], [bits for _, bits in bounds])
    lowest = _lowest_rows(channels)
    widest = max(len(channel.outputs) for channel in channels)
    symbols = np.empty(len(levels), np.uint8 if widest <= 1 << 8 else np.uint16)
    buffer = np.empty(min(CHUNK, len(levels)), np.uint64)
    for start in range(0, len(levels), CHUNK):
        part = slice(start, start + CHUNK)
        fresh = buffer[: len(levels[part])]
        # The privacy of every report rests on these words: secret, uniform, used once.
        source.fill(fresh)
        draw_symbols(fresh, levels[part], channel_of[part], lowest, table, symbols[part])
    return symbols


def kept_rows(ratings: Ratings, cap: int) -> NDArray[np.bool_]:
    """Which rows survive a cap: each person's `cap` smallest public hashes, whatever the values."""
    keys = _pair_keys(ratings, KEEP)
    order = np.lexsort((keys, ratings.users))
    people = ratings.users[order]
    starts = np.searchsorted(people, people)
    kept = np.empty(len(ratings), np.bool_)
    kept[order] = np.arange(len(ratings)) - starts < cap
    return kept


def _channel_of(
    ratings: Ratings, plan: Rated, of_person: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    if of_person is None:
        if len(plan.channels) == 1:
            return np.zeros(len(ratings), np.uint8)
        halves = _pair_keys(ratings, CHOICE) >> np.uint64(32)
        return ((halves * np.uint64(len(plan.channels))) >> np.uint64(32)).astype(np.uint8)
    if len(of_person) != ratings.n_users or of_person.max(initial=0) >= len(plan.channels):
        raise RequestError(
            f"channel_of_person needs one of 0 to {len(plan.channels) - 1} "
            f"for each of {ratings.n_users} people."
        )
    return of_person[ratings.users].astype(np.uint8)


def _pair_keys(ratings: Ratings, multiplier: int) -> Hashes:
    """`tacit.channels.thresholds.pair_key` of every row, from the raw ids."""
    one, users, items = np.uint64(1), _hashes(ratings.user_ids), _hashes(ratings.item_ids)
    product = ((users << one) | one)[ratings.users] * ((items << one) | one)[ratings.items]
    return (product ^ (product >> np.uint64(32))) * np.uint64(multiplier)


def _hashes(vocabulary: Vocabulary) -> Hashes:
    return np.array([hash_id(raw) for raw in vocabulary.ids], np.uint64)


def _lowest_rows(channels: tuple[Channel, ...]) -> NDArray[np.int64]:
    """The row of each channel's lowest level where the rows of all channels are stacked."""
    counts = np.array([len(channel.weights) for channel in channels])
    missing = np.array([channel.missing for channel in channels])
    return (np.cumsum(counts) - counts + missing).astype(np.int64)
