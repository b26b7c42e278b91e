"""Size of the head: the most frequent items, whose pairs a second round counts.

A larger head has more pairs, and so needs more dummies and has a weaker signal per pair. For star
ratings, public numbers decide before the first round whether a round about pairs follows: it makes
item means less accurate, and more so in a larger catalogue.
"""

from dataclasses import replace
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.wire.report import LONGEST_UPLOAD
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES
from tacit.wire.shuffled.round_terms import pair_buckets_of
from tacit.wire.shuffled.task import SEALED_BYTES

SIGNAL = 1.5
"""Minimum mean count of a pair in the head, in standard deviations of its dummies' count."""
STAR_SIGNAL = 6.0
"""The same for star ratings. It is larger than without signs because the mean of a sign is small.
On synthetic users, values from 3 to 9 change the RMSE by at most .002."""
LEAST_STAR_HEAD = 6.5
"""Minimum of `star_head_limit` over the square root of the number of items.

With smaller heads, item means alone have a smaller error. Chosen with MovieLens 1M in view. On
synthetic users, factors improve on item means from about 7."""
MOST_STAR_ITEMS = 1500
"""Maximum number of items with factors. Memory is quadratic in it."""
LEAST_DUMMIES = 20
"""Target minimum of dummies per device in the announced round. Rounding up adds at most 1/20."""


class PairRound(NamedTuple):
    """Round about pairs of the `head` most frequent items."""

    head: int
    round: ShuffledRound


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
    messages M of each. `density`: expected number of dummies per bucket. `signal`: minimum mean
    count of a pair, in standard deviations of its noise. A user with k items of the head sends at
    most k (k - 1) / 2 pairs, where k is estimated by its mean over users. Returns 0 if no head has
    pairs that exceed their noise.
    """
    size = np.arange(2, min(most, len(counts)) + 1)
    if not len(size):
        return 0
    each = np.cumsum(np.sort(np.maximum(counts, 0))[::-1])[size - 1] / people
    sent = people * np.minimum(each * np.maximum(each - 1, 0) / 2, messages)
    clear = sent / (size * (size - 1) / 2) >= signal * np.sqrt(density)
    return int(size[clear].max(initial=0))


def announced_round(
    plan: ShuffledPlan, most_dummies: int, most_items: int = MOST_STAR_ITEMS
) -> ShuffledRound | None:
    """Return the round about pairs of the smallest head that may follow; None if none can.

    A round that follows has at least as many buckets, and at least as many dummies per bucket. The
    certificate of the collection therefore holds for every head that the counts select. For star
    ratings, none follows if pairs would not improve on item means. `most_dummies`: maximum
    number of a device's dummies about pairs. `most_items`: maximum size of a signed head.
    """
    if plan.signed and not star_head_limit(plan, most_dummies, most_items):
        return None
    largest, head = plan.largest_head(most_dummies), plan.least_head
    while head < largest and plan.pair_round(head).dummies < LEAST_DUMMIES:
        head += 1
    return plan.pair_round(head) if largest else None


def following_round(
    counts: NDArray[np.float64],
    announced: ShuffledRound,
    *,
    bundles: int,
    devices: int,
    most_dummies: int,
    signed: bool,
    most_items: int = MOST_STAR_ITEMS,
) -> PairRound | None:
    """Return the round about pairs that the counts select; None if its head is too small.

    The head is too small if it has fewer buckets than the announced round. `counts`: debiased
    counts of items, shape (items,). `bundles`: number of bundles in the batch. `devices`: number of
    honest devices. `most_dummies`, `most_items`: as in `announced_round`. `signed`: whether
    messages have a sign.
    """
    items = min(len(counts), most_items) if signed else len(counts)
    size = head_size(
        counts,
        people=bundles,
        messages=announced.messages,
        density=announced.dummies * devices / announced.buckets,
        most=largest_head(announced, most_dummies, items, signed=signed),
        signal=STAR_SIGNAL if signed else SIGNAL,
    )
    buckets = pair_buckets_of(size, signed=signed)
    if buckets < announced.buckets:
        return None
    dummies = dummies_for(announced, buckets)
    return PairRound(size, replace(announced, buckets=buckets, dummies=dummies))


def star_head_limit(
    plan: ShuffledPlan, most_dummies: int, most_items: int = MOST_STAR_ITEMS
) -> int:
    """Return the largest head of a signed plan, from public numbers; 0 for no round about pairs.

    The limit is the head size that results if every user rates every item. `most_dummies`,
    `most_items`: as in `announced_round`.
    """
    size = head_size(
        np.full(plan.items, float(plan.bundles)),
        people=plan.bundles,
        messages=plan.messages,
        density=plan.pair_density,
        most=min(plan.largest_head(most_dummies), most_items),
        signal=STAR_SIGNAL,
    )
    return size if size >= max(plan.least_head, LEAST_STAR_HEAD * sqrt(plan.items)) else 0


def largest_head(announced: ShuffledRound, most_dummies: int, items: int, *, signed: bool) -> int:
    """Return the size of the largest head within `most_dummies` whose messages fit in a bundle.

    `items`: most items of a head. `signed`: whether messages have a sign.
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
