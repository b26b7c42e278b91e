"""Bulk simulation of devices under a plan over slots, in blocks of users."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.collection.plan import Plan
from tacit.collection.public_hash import KEEP, Hashes, asked_places, hashes, pair_keys
from tacit.collection.sampler import BulkSampler, BulkWords
from tacit.errors import RequestError
from tacit.kernels.draw import count_reported, take_reported
from tacit.ratings import Codes, Ratings

BLOCK = 1 << 22
"""Slots per round, about 40 MiB in memory."""

Symbols = NDArray[np.unsignedinteger[Any]]
Inputs = NDArray[np.uint16]


class SlotReports(NamedTuple):
    """Reports of a block of users: user, item and symbol of each, shapes (n,)."""

    users: Codes
    items: Codes
    symbols: Symbols
    channel_of: NDArray[np.uint8]


def slot_reports(
    ratings: Ratings,
    plan: Plan,
    *,
    channel_of_person: NDArray[np.uint8] | None = None,
    words: BulkWords | None = None,
    advance: Callable[[int], None] = lambda people: None,
) -> Iterator[SlotReports]:
    """Yield all users' reports, block by block, in the order of the vocabularies.

    Symbols other than "missing" are included, and all of them where the plan `sends_missing`. With
    several channels, a user without such a symbol has one row, "missing", which shows the channel.
    Memory is bounded by a block. `channel_of_person`: shape (users,). `advance`: progress callback,
    called with the number of users done. `words` is replaced in tests only.

    Raises `RequestError` for a plan without slots, for ratings on another scale than the channels'
    and for several channels without `channel_of_person`.
    """
    of_person = _channels_of_people(ratings, plan, channel_of_person)
    queries = _Queries(ratings, _slots(ratings, plan), plan.cap)
    return _blocks_of_reports(ratings, plan, queries, of_person, words, advance)


def _blocks_of_reports(
    ratings: Ratings,
    plan: Plan,
    queries: "_Queries",
    of_person: NDArray[np.uint8],
    words: BulkWords | None,
    advance: Callable[[int], None],
) -> Iterator[SlotReports]:
    sampler = BulkSampler(plan.channels, words)
    mixed = len(plan.channels) > 1
    silent = np.array([channel.outputs.index(None) for channel in plan.channels])
    for people in _blocks(ratings.n_users, ratings.n_items):  # sampling materializes all items
        items, inputs = queries.of(people)
        channel_of = np.repeat(of_person[people], queries.slots) if mixed else None
        answers = sampler.draw(inputs.reshape(-1), channel_of).reshape(inputs.shape)
        if plan.sends_missing:
            yield _answered(people, items, answers, of_person[people])
        else:
            known = _reported(people, answers, silent[of_person[people]], of_person[people])
            yield _with_all(people, known, silent, of_person[people]) if mixed else known
        advance(people.stop)


def _channels_of_people(
    ratings: Ratings, plan: Plan, of_person: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    if plan.channels[0].levels != ratings.scale.levels:
        raise RequestError(f"The plan's channels must be on the ratings' scale {ratings.scale}.")
    if of_person is None and len(plan.channels) == 1:
        return np.zeros(ratings.n_users, np.uint8)
    return channel_indices(of_person, plan, ratings.n_users)


def channel_indices(of_person: object, plan: Plan, n_users: int) -> NDArray[np.uint8]:
    """Return the public channel index of each user. Raises `RequestError` for other values."""
    indices = np.asarray(of_person)
    is_index = indices.dtype.kind in "iu" and indices.shape == (n_users,)
    if not is_index or not ((indices >= 0) & (indices < len(plan.channels))).all():
        raise RequestError(
            f"channel_of_person must have one channel index, from 0 to {len(plan.channels) - 1}, "
            f"for each of the {n_users} users: all slots of a user must use the same channel."
        )
    return indices.astype(np.uint8)


def _slots(ratings: Ratings, plan: Plan) -> int:
    slots = plan.reported_slots(ratings.n_items)
    if slots is None:
        raise RequestError(f"The plan {plan.name} has no slots; use `perturb`.")
    return slots


def _blocks(people: int, slots: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(1, slots))
    for start in range(0, people, size):
        yield slice(start, min(start + size, people))


class _Queries:
    """Queried slots of each user, and the true input of each."""

    def __init__(self, ratings: Ratings, slots: int, cap: int | None) -> None:
        order = np.argsort(ratings.users, kind="stable")
        self._starts = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
        self._items, self._levels = ratings.items[order], ratings.levels[order]
        self._users = ratings.users[order]
        self._n_items, self._cap, self.slots = ratings.n_items, cap, slots
        hashed = slots < ratings.n_items or cap is not None
        self._people_hashes = hashes(ratings.user_ids) if hashed else np.empty(0, np.uint64)
        self._item_hashes = hashes(ratings.item_ids) if hashed else np.empty(0, np.uint64)

    def of(self, people: slice) -> tuple[Codes, Inputs]:
        """Return item codes, ascending, and input rows (0: missing); shapes (users, slots)."""
        count = people.stop - people.start
        mine = slice(self._starts[people.start], self._starts[people.stop])
        inputs = np.zeros((count, self._n_items), np.uint16)
        rows = self._levels[mine].astype(np.uint16) + 1  # 256 levels have 257 rows
        inputs[self._users[mine] - people.start, self._items[mine]] = rows
        items = np.broadcast_to(np.arange(self._n_items, dtype=np.int32), inputs.shape)
        if self.slots < self._n_items:
            items = asked_places(self._people_hashes[people], self._item_hashes, self.slots)
            inputs = np.take_along_axis(inputs, items, 1)
        if self._cap is not None:
            self._apply_cap(self._people_hashes[people], items, inputs, self._cap)
        return items, inputs

    def _apply_cap(self, people: Hashes, items: Codes, inputs: Inputs, cap: int) -> None:
        """Replace ratings beyond each user's `cap` smallest public hashes by "missing"."""
        for person in np.flatnonzero((inputs != 0).sum(1) > cap):
            rated = np.flatnonzero(inputs[person])
            keys = pair_keys(people[person], self._item_hashes[items[person, rated]], KEEP)
            inputs[person, rated[np.argsort(keys, kind="stable")[cap:]]] = 0


def _reported(
    people: slice, answers: Symbols, silent: NDArray[np.int64], channel_of: NDArray[np.uint8]
) -> SlotReports:
    counts = np.empty(len(answers), np.int64)
    count_reported(answers, silent, counts)
    items = np.empty(counts.sum(), np.int32)
    symbols = np.empty(len(items), answers.dtype)
    take_reported(answers, silent, np.cumsum(counts) - counts, items, symbols)
    users = np.arange(people.start, people.stop, dtype=np.int32)
    return SlotReports(np.repeat(users, counts), items, symbols, np.repeat(channel_of, counts))


def _with_all(
    people: slice,
    known: SlotReports,
    silent: NDArray[np.int64],
    channel_of: NDArray[np.uint8],
) -> SlotReports:
    """Add a row "missing" on the first item for each user without a row.

    Estimates of presence need the channel of every user, and depend on it most where it shows
    nothing.
    """
    rows = np.bincount(known.users - people.start, minlength=len(channel_of))
    without = np.flatnonzero(rows == 0)
    at = np.cumsum(rows)[without]
    return SlotReports(
        np.insert(known.users, at, people.start + without),
        np.insert(known.items, at, 0),
        np.insert(known.symbols, at, silent[channel_of[without]]),
        np.insert(known.channel_of, at, channel_of[without]),
    )


def _answered(
    people: slice, items: Codes, answers: Symbols, channel_of: NDArray[np.uint8]
) -> SlotReports:
    users = np.arange(people.start, people.stop, dtype=np.int32)
    slots = answers.shape[1]
    return SlotReports(
        np.repeat(users, slots),
        items.reshape(-1),
        answers.reshape(-1),
        np.repeat(channel_of, slots),
    )
