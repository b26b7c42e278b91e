"""Terms of the round of a shuffled task: its buckets, and for star ratings a scale and item means.

A message about star ratings has a *sign*, so there are two buckets per item and per pair. Item i of
n has the bucket i with the sign -, and n + i with the sign +. The pair l < h has the bucket
h (h - 1) / 2 + l with the sign -, and n (n - 1) / 2 more with the sign +. The remaining buckets, at
the end, are unused: their counts measure the dummies.

A task about signed pairs has the mean rating of each of its items, in thousandths. Devices subtract
it from their user's ratings. Means follow from counts of the first task, so they cost no epsilon.
"""

from collections.abc import Iterator

from tacit.scale import RatingScale
from tacit.wire.strict import ENDS

UNUSED = 300
"""Buckets of a round about signed pairs that no device has, and of one about items in a plan."""
MESSAGE_BYTES = 5
"""Bytes of a message before it is sealed: the number of its bucket."""
THOUSANDTHS = 1000
"""Units of item means per unit of the scale."""
FIRST_FORM = (
    "a task about items is the first one, and one about pairs names its first task exactly if the "
    "certificate covers that, too"
)
"""What the key `first` requires."""
Flaws = Iterator[tuple[bool, str]]
"""Whether a task has a flaw, and the sentence about it."""


def pairs_of(items: int) -> int:
    """Return the number of pairs of `items` items, and of decoys."""
    return items * (items + 1) // 2


def pair_buckets_of(items: int, *, signed: bool) -> int:
    """Return the buckets of a round about pairs of `items` items.

    >>> pair_buckets_of(4, signed=False), pair_buckets_of(4, signed=True)
    (10, 312)
    """
    return items * (items - 1) + UNUSED if signed else pairs_of(items)


def bucket_flaws(items: int, buckets: int, *, about_pairs: bool, signed: bool) -> Flaws:
    """Yield the flaws of the number of buckets of a round about `items`, or about their pairs."""
    yield buckets > 1 << 8 * MESSAGE_BYTES, f"a round has at most 2^40 buckets, got {buckets}"
    if about_pairs:
        expected = pair_buckets_of(items, signed=signed)
        wrong = buckets != expected
        yield wrong, f"a round about pairs of {items} items has {expected} buckets, got {buckets}"
    else:
        yield buckets <= items, "a round about items has more buckets than items"
        yield (
            signed and buckets <= 2 * items,
            "a round about signed items has two buckets per item, and unused ones",
        )


def star_flaws(
    scale: RatingScale | None, means: tuple[int, ...] | None, items: int, *, about_pairs: bool
) -> Flaws:
    """Yield the flaws of the scale and of the means of a task with `items` items."""
    if scale is None:
        yield means is not None, "a task without a scale has no means"
        return
    low, high = scale.low * THOUSANDTHS, scale.high * THOUSANDTHS
    yield scale.has_one_level, "its scale must have several levels"
    yield max(-low, high) >= ENDS, "its scale must be below 2^53 thousandths in magnitude"
    count = None if means is None else len(means)
    yield (
        count != (items if about_pairs else None),
        "a task with a scale has one mean per item if it is about pairs, and else none",
    )
    yield (
        # A boolean would be written as true.
        not all(type(mean) is int and low <= mean <= high for mean in means or ()),
        f"means must be integers, thousandths within the scale {scale}",
    )
