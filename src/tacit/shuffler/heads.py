"""Head of a plan or a task about pairs: how many of the most frequent items it has.

A larger head has more pairs, and so more dummies and a weaker signal per pair. For star ratings,
whether a round about pairs follows at all is decided from public numbers, before the first round: a
round about pairs costs item means their accuracy, and the more so the more items there are.
"""

from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.collection.shuffled_plan import ShuffledPlan
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.wire.report import LONGEST_UPLOAD
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES
from tacit.wire.shuffled.round_terms import pair_buckets_of
from tacit.wire.shuffled.task import SEALED_BYTES

SIGNAL = 1.5
"""Least mean count of a pair in the head, in standard deviations of its noise."""
STAR_SIGNAL = 6.0
"""The same for star ratings, in deviations of the dummies: more than without signs, because the
mean of a sign is small. Chosen on synthetic users and MovieLens 1M."""
LEAST_STAR_HEAD = 6.5
"""Least head, if every user had rated every item, over the square root of the number of items.
With smaller heads, item means alone have a smaller error. Chosen on synthetic users and MovieLens
1M."""
MOST_STAR_ITEMS = 1500
"""Most items with factors. Memory is quadratic in it."""


def head_size(
    counts: NDArray[np.float64],
    *,
    people: int,
    messages: int,
    density: float,
    most: int,
    signal: float = SIGNAL,
) -> int:
    """Return the size of the largest head whose pairs exceed their noise, at most `most`.

    `counts`: debiased counts of items, shape (items,). `people`: number of bundles. `messages`: own
    messages M of each. `density`: expected number of dummies per bucket. `signal`: least mean count
    of a pair, in standard deviations of its noise. A user with k items of the head sends at most
    k (k - 1) / 2 pairs, and k is its mean by the counts. Returns 0 if the pairs of no head exceed
    their noise.
    """
    size = np.arange(2, min(most, len(counts)) + 1)
    if not len(size):
        return 0
    each = np.cumsum(np.sort(np.maximum(counts, 0))[::-1])[size - 1] / people
    sent = people * np.minimum(each * np.maximum(each - 1, 0) / 2, messages)
    clear = sent / (size * (size - 1) / 2) >= signal * np.sqrt(density)
    return int(size[clear].max(initial=0))


def star_head_limit(
    plan: ShuffledPlan, *, people: int, most_dummies: int, most_items: int = MOST_STAR_ITEMS
) -> int:
    """Return the largest head of a signed plan, from public numbers; 0 for no round about pairs.

    It is the head if every user had rated every item. `people`: number of bundles. `most_dummies`:
    most dummies of a device about pairs. `most_items`: most items of a head.
    """
    size = head_size(
        np.full(plan.items, float(people)),
        people=people,
        messages=plan.messages,
        density=plan.pair_density,
        most=min(plan.largest_head(most_dummies), most_items),
        signal=STAR_SIGNAL,
    )
    return size if size >= max(plan.least_head, LEAST_STAR_HEAD * sqrt(plan.items)) else 0


def largest_head(announced: ShuffledRound, most_dummies: int, items: int, *, signed: bool) -> int:
    """Return the size of the largest head for at most `most_dummies`, that fits in a bundle.

    `items`: size of the catalogue. `signed`: whether messages have a sign.
    """
    longest = (LONGEST_UPLOAD - SIGNED_BYTES) // SEALED_BYTES
    most, size = min(most_dummies, longest - announced.messages), 1
    limit = min(items, MOST_STAR_ITEMS) if signed else items
    while size < limit and dummies_for(announced, pair_buckets_of(size + 1, signed=signed)) <= most:
        size += 1
    return size


def dummies_for(announced: ShuffledRound, buckets: int) -> int:
    """Return the fewest dummies with which `buckets` have the announced dummies per bucket."""
    return ceil(announced.dummies * buckets / announced.buckets)
