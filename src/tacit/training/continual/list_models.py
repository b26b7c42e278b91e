"""dp-popularity and dp-ease in several releases."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training.continual.contributions import (
    Contributions,
    count_sensitivity,
    pair_sensitivity,
)
from tacit.training.continual.series import Series
from tacit.training.continual.state_file import SeriesState
from tacit.training.lists import FEWEST, DPEase
from tacit.training.person.fitted_model import without_rows
from tacit.training.person.head_weights import NoisyPairs, head_weights
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
MOST_RATINGS = 512
"""M: later ratings of a user do not contribute."""
SETTINGS = DPEase(counts=0.25)
SQUARES = 0.75
"""Typical sum of a user's squared weights, which approaches 1 with every further rating."""
ROOM = 1.5
"""Most items with pairs, relative to those of `DPEase.head_size`: items that become frequent later
join the earlier ones."""
SIGNIFICANT = 3.0
"""Least count of an item of the first head, in deviations of its noise."""
MOST_WEIGHTS, MOST_PRODUCTS = 1 << 14, 1 << 20
"""Largest norm of a user's weights, and its largest square for pairs, in steps: finer than the
noise needs."""


def popularity(series: Series) -> tuple[FittedLists, SeriesState]:
    """Release item counts, and rank by their prefix sums."""
    series.account.allot({"counts": 1.0})
    counts, _, _ = item_counts(series)
    return _lists(series, ItemWeights(popularity=counts.astype(np.float32))), series.after()


def ease(series: Series) -> tuple[FittedLists, SeriesState]:
    """Release item counts, and products of the most frequent items (the head).

    Pairs begin once the counts of the head are significant. An item stays in the head, and a rating
    contributes to the pairs from the first release on at which its item is in it.

    Raises `RequestError` if the users of the first release are too few for pairs.
    """
    size = _head_size(series)
    if size < FEWEST and not series.state.done:
        raise RequestError(
            f"{series.ratings.n_users:,} users are too few for dp-ease in "
            f"{series.prefix.releases} releases at epsilon {series.account.epsilon} per user; "
            "choose dp-popularity, or declare users who will join with --people."
        )
    series.account.allot({"counts": SETTINGS.counts, "pairs": 1 - SETTINGS.counts})
    counts, noise, _ = item_counts(series)
    head = _head(series, counts, noise, size)
    if len(head):
        weights = _head_weights(counts, head, _pairs(series, counts, head))
    else:
        weights = ItemWeights(popularity=counts.astype(np.float32))
    return _lists(series, weights), series.after(head=head)


def item_counts(
    series: Series, labels: Doubles | None = None, bound: int | None = None
) -> tuple[Doubles, float, Contributions]:
    """Release `counts`. Returns sums of weights, (items,), their noise, and the contributions.

    `labels`: of the ratings, from -1 to 1, shape (n,). `bound`: norm of a user's weights in steps.
    """
    ratings, bound = series.ratings, bound or weight_bound(series.room("counts", 2))
    labels = np.zeros(len(ratings)) if labels is None else labels
    added = series.contributions("counts", ratings, labels, bound=bound, most=MOST_RATINGS)
    totals = added.totals(added.steps, series.prefix, series.state.done, ratings.n_items)
    sensitivity = count_sensitivity(bound, series.prefix)
    sums, noise = series.measure("counts", totals, sensitivity=sensitivity)
    return sums / bound, noise / bound, added


def weight_bound(room: int) -> int:
    """Return the bound on the norm of a user's weights, in steps: the finest that noise allows."""
    return min(room, MOST_WEIGHTS)


def _head_size(series: Series) -> int:
    """Return the number of items whose pairs exceed the noise of the last release."""
    share = 1 - SETTINGS.counts
    noise = series.account.alone / math.sqrt(share) * series.final_deviation
    return SETTINGS.head_size(series.ratings.n_users, series.ratings.n_items, noise)


def _head(series: Series, counts: Doubles, noise: float, size: int) -> Ints:
    """Return the items with pairs: earlier ones, then others that are frequent now.

    None before the counts of `size` items are significant, or noise would choose the first ones.
    """
    head = series.state.head
    frequent = np.argsort(-counts, kind="stable")[:size].astype(np.int32)
    if not len(head):
        return frequent if counts[frequent].min(initial=np.inf) > SIGNIFICANT * noise else head
    new = frequent[~np.isin(frequent, head)]
    return np.concatenate([head, new[: max(int(ROOM * size) - len(head), 0)]])


def _pairs(series: Series, counts: Doubles, head: Ints) -> NoisyPairs:
    """Release `pairs`: products of the items of `head`, in its order."""
    size, people = len(head), series.ratings.n_users
    bound = math.isqrt(min(series.room("pairs", 1), MOST_PRODUCTS))
    few = _renumbered(series.ratings, head)
    labels = np.zeros(len(few))
    added = series.contributions("pairs", few, labels, bound=bound, most=MOST_RATINGS)
    totals = added.pair_totals(series.prefix, series.state.done, size)
    sensitivity = pair_sensitivity(bound, series.prefix)
    sums, noise = series.measure("pairs", totals, sensitivity=sensitivity)
    # Sampling noise of users: their products, of norm 1 each, spread over all entries.
    drawn = math.hypot(noise / bound**2, math.sqrt(people) / size)
    squares = np.maximum(counts[head], 0)
    squares *= SQUARES * people / max(float(squares.sum()), 1.0)
    upper = sums / bound**2
    return NoisyPairs(pairs=upper + upper.T, edge=2 * drawn * math.sqrt(size), squares=squares)


def _renumbered(ratings: Ratings, head: Ints) -> Ratings:
    """Return the ratings of the items of `head`, item `head[k]` renumbered to k."""
    column = np.full(ratings.n_items, -1, np.int32)
    column[head] = np.arange(len(head), dtype=np.int32)
    few = ratings.where(column[ratings.items] >= 0)
    ids = Vocabulary(ratings.item_ids.ids.gather(head))
    return replace(few, items=column[few.items], item_ids=ids)


def _head_weights(counts: Doubles, head: Ints, noisy: NoisyPairs) -> ItemWeights:
    """Return the weights of EASE between the items of `head`, in the order of their codes."""
    order, mask = np.argsort(head), np.zeros(len(counts), np.bool_)
    mask[head] = True
    pairs = noisy.pairs[np.ix_(order, order)]
    return head_weights(
        counts, mask, NoisyPairs(pairs=pairs, edge=noisy.edge, squares=noisy.squares[order])
    )


def _lists(series: Series, weights: ItemWeights) -> FittedLists:
    name, guarantee = series.state.terms.model, series.closed()
    return without_rows(name, series.ratings, weights, guarantee)
