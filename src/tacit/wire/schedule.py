"""Query schedule: the items that a user is queried about, public and independent of ratings."""

from tacit.channels.thresholds import hash_id, pair_key
from tacit.wire.task import Task

ASK = 0x8CB92BA72F3D8DD7
"""Odd multiplier of the hashes that select a user's queried slots."""


def asked(task: Task, person: str) -> tuple[int, ...]:
    """Return the item indices that a report of `person` covers, ascending, for a plan over slots.

    Under "sample:K" these are the K indices of the smallest `pair_key`, as in the bulk
    implementation `tacit.collection.public_hash`. Under "rated" a report covers one index, chosen
    by the device.
    """
    slots = task.slots
    if slots is None or slots >= len(task.items):
        return tuple(range(len(task.items)))
    me = hash_id(person)
    keyed = sorted(
        (pair_key(me, item_hash, ASK), index) for index, item_hash in enumerate(task.item_hashes)
    )
    return tuple(sorted(index for _, index in keyed[:slots]))
