"""Signs of a device's messages about star ratings: drawn for items, computed for pairs.

The sign of an item is + with the probability k / (L - 1) for level k of L, counted from 0, so its
mean is the rating on a scale from -1 to 1. The sign of a pair is that of the product of its
residuals, and - for a product of 0. A rating of one of the m items of the task that the user has
rated deviates by d from the item's mean in the task. The pair (i, j) has the residuals

    d_i - l and d_j - l,    l = sum over k other than i and j of d_k / (m - 2 + PRIOR)

with the user's level l, damped by PRIOR ratings without a deviation. It is that on all other items:
a level that contained d_i or d_j would lower the product by about 1 / m of their variance.
Multiplied by m - 2 + PRIOR and the denominator of the scale, residuals are integers: all devices
compute the same signs. `tacit.training.shuffled.signed_simulation` has the same definition.

Each item and each pair has one bucket of two, so the own buckets of a device are distinct, as the
bound of the certificate requires. It holds for every outcome of the signs, and by joint convexity
for their mixture: signs may depend on ratings in any way.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TypeGuard

from tacit.channels.table import Words
from tacit.device.profile import Item
from tacit.device.shuffled.bundle import below, completed, sampled, sampled_pairs
from tacit.errors import RequestError
from tacit.scale import RatingScale
from tacit.wire.shuffled.round_terms import THOUSANDTHS
from tacit.wire.shuffled.task import ITEMS, ShuffledTask

Rating = str | int | Decimal
OwnItems = Iterable[Item] | Mapping[Item, Rating]
"""A user's item ids, or ratings by item id."""
PRIOR = 5
"""Ratings that damp a user's level, as `tacit.scale.OWN_BIAS_RIDGE` does in predictions."""


def are_ratings(items: OwnItems) -> TypeGuard[Mapping[Item, Rating]]:
    """Return whether these are ratings by item id."""
    return isinstance(items, Mapping)


def check_kind(task: ShuffledTask, items: OwnItems) -> None:
    """Raise `RequestError` unless `items` are ratings exactly if the task has a scale."""
    if are_ratings(items) == (task.scale is not None):
        return
    if task.scale is None:
        raise RequestError("The task is about items; pass a collection of ids, as in [17, 42].")
    raise RequestError(
        f"The task is about ratings on the scale {task.scale}; pass ratings by item id, as in "
        "{17: '4'}."
    )


def signed_bundle(
    task: ShuffledTask, scale: RatingScale, ratings: Mapping[Item, Rating], words: Words
) -> list[int]:
    """Return the messages of one device to a task about star ratings, in random order.

    `scale`: of the task. `ratings`: by item id; those of items that are not in the task are
    omitted. The number of messages does not depend on them. Raises `RequestError`, before any draw,
    for a rating off the scale, and for two ratings of an item.
    """
    levels = levels_of(task, scale, ratings)
    draw = signed_items if task.about == ITEMS else signed_pairs
    return completed(draw(task, scale, levels, words), task.round, words)


def levels_of(
    task: ShuffledTask, scale: RatingScale, ratings: Mapping[Item, Rating]
) -> dict[int, int]:
    """Return the level of each rated item of the task by the item's index, in ascending order.

    Raises `RequestError` as `signed_bundle`.
    """
    indices = {str(item): index for index, item in enumerate(task.items)}
    known = [
        (indices[str(item)], scale.level_of(rating))
        for item, rating in ratings.items()
        if str(item) in indices
    ]
    if len({index for index, _ in known}) < len(known):
        # One sign per item: two messages about it would have two ratings' signs.
        raise RequestError("ratings contain an item twice, as a number and as a string.")
    return dict(sorted(known))


def signed_items(
    task: ShuffledTask, scale: RatingScale, levels: Mapping[int, int], words: Words
) -> list[int]:
    """Draw at most M rated items of a task, then a sign for each; return their buckets.

    `levels`: by index of the item, in ascending order.
    """
    chosen = sampled(list(levels), task.round.messages, words)
    # Exact, from secret words. Drawn once per task: signs of many draws would average to the
    # rating. The bound of the bundle covers one sign of any law, and which words are redrawn does
    # not depend on the rating.
    positive = [below(scale.n_levels - 1, words) < levels[item] for item in chosen]
    return [item + len(task.items) * sign for item, sign in zip(chosen, positive, strict=True)]


def signed_pairs(
    task: ShuffledTask, scale: RatingScale, levels: Mapping[int, int], words: Words
) -> list[int]:
    """Draw at most M pairs of the rated items of a task; return their buckets, each with its sign.

    `levels`: by index of the item, in ascending order.
    """
    apart = deviations(task, scale, levels)
    total, count = sum(apart.values()), len(apart) - 2 + PRIOR
    pairs = len(task.items) * (len(task.items) - 1) // 2

    def is_positive(one: int, other: int) -> bool:
        """Return whether the product of the residuals is positive, which are times `count`."""
        level = total - one - other
        return (one * count - level) * (other * count - level) > 0

    return [
        high * (high - 1) // 2 + low + pairs * is_positive(apart[high], apart[low])
        for high, low in sampled_pairs(list(levels), task.round.messages, words)
    ]


def deviations(task: ShuffledTask, scale: RatingScale, levels: Mapping[int, int]) -> dict[int, int]:
    """Return the deviation of each rated item from its mean, times a positive constant."""
    low, step = (Fraction(each) * THOUSANDTHS for each in (scale.low, scale.step))
    unit, means = lcm(low.denominator, step.denominator), task.means or ()
    return {
        index: int((low + level * step - means[index]) * unit) for index, level in levels.items()
    }
