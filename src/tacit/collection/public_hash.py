"""Public hashes of users and items, in bulk, for channel choice, sampled slots and caps.

The scalar implementation on a device is `tacit.channels.thresholds.pair_key`. No rating enters.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channels.thresholds import hash_id
from tacit.ratings import Codes, Ratings
from tacit.vocabulary import Vocabulary
from tacit.wire.tasks.blocks import ASK

KEEP = 0xD1B54A32D192ED03
"""Odd multiplier of caps. Every use has a separate one, so that the choices are independent."""

Hashes = NDArray[np.uint64]


def hashes(vocabulary: Vocabulary) -> Hashes:
    """Return `hash_id` of every raw id, shape (ids,)."""
    return np.array([hash_id(raw) for raw in vocabulary.ids], np.uint64)


def pair_keys(people: Hashes, items: Hashes, multiplier: int) -> Any:
    """Return `pair_key` of the hashes of users and items, which broadcast against each other."""
    one = np.uint64(1)
    product = ((people << one) | one) * ((items << one) | one)
    return (product ^ (product >> np.uint64(32))) * np.uint64(multiplier)


def row_keys(ratings: Ratings, multiplier: int) -> Hashes:
    """Return `pair_key` of every row of `ratings`, from the raw ids, shape (n,)."""
    people, items = hashes(ratings.user_ids)[ratings.users], hashes(ratings.item_ids)[ratings.items]
    return pair_keys(people, items, multiplier)


def asked_places(people: Hashes, items: Hashes, slots: int) -> Codes:
    """Return the items that users are queried about under "sample:K", in bulk.

    The same as `tacit.wire.tasks.task.asked`. `people`: shape (users,), `items`: (items,), more
    than `slots` of them. Returns item indices, ascending, shape (users, slots).
    """
    keys = pair_keys(people[:, None], items, ASK)
    smallest = np.argpartition(keys, slots - 1, axis=1)[:, :slots]
    return np.sort(smallest, axis=1).astype(np.int32)
