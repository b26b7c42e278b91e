"""Which places of the catalogue a person is asked about: public, and blind to what they rated."""

from tacit.channels.thresholds import hash_id, pair_key
from tacit.wire.task import Task

ASK = 0x8CB92BA72F3D8DD7
"""The odd multiplier behind the slots that a person is asked about."""


def asked(task: Task, person: str) -> tuple[int, ...]:
    """The places that a report of `person` covers, ascending, under a plan over slots.

    Under "sample:K" the K places of the smallest `pair_key`; `tacit.collection.public_hash`
    finds the same ones in bulk. Under "rated" a report covers one place of the device's choice.
    """
    slots = task.slots
    if slots is None or slots >= len(task.items):
        return tuple(range(len(task.items)))
    me = hash_id(person)
    keyed = sorted((pair_key(me, own, ASK), place) for place, own in enumerate(task.item_hashes))
    return tuple(sorted(place for _, place in keyed[:slots]))
