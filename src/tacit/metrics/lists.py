"""Top-N metrics: held-out items of users in the lists recommended to them.

A list is of the complete catalogue except the user's training items, best first, ties by item code
(lower first), as from `tacit.kernels.ranking.topk`. Computed from ranks, without a dense table of
users by items.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.ratings import Codes, Mask

Doubles = NDArray[np.float64]

LENGTH = 20
BLOCK = 1 << 20
"""List entries per block."""


@dataclass(frozen=True)
class ListFigures:
    """Means over the `people` with a test item; users without one are excluded (`left_out`).

    With a list cut after k, h of whose items are among the user's R > 0 test items:

        recall      h / R
        ndcg        sum over hits of 1 / log2(rank + 1), over the same sum of the ranks 1 to
                    min(k, R): gains are 0 or 1, and the ideal list is cut at k too
        mrr         1 / rank of the first hit in the *complete* list, 0 without one
        hit_rate    1 where h > 0, else 0
        coverage    fraction of the catalogue's items that are in any list
        popularity  mean over all entries of all lists of the item's fraction of users: the number
                    of training profiles with the item over the number of users

    The first four are NaN without users with a test item, the last without recommendations.
    Coverage and popularity are over all lists, with a test item or without. Ranks start at 1.
    """

    recall: float
    ndcg: float
    mrr: float
    hit_rate: float
    coverage: float
    popularity: float
    people: int
    left_out: int


def list_figures(
    lists: Codes,
    users: Codes,
    items: Codes,
    counts: NDArray[Any],
    *,
    length: int = LENGTH,
    counted: int | None = None,
) -> ListFigures:
    """Return the metrics of `lists`, cut after `length`, on the test rows.

    `lists`: item codes, best first, without duplicates, padded with -1, shape (users, any).
    `users`, `items`: the test rows, each pair once, shape (n,). `counts`: number of training
    profiles with each item, shape (items,). `counted`: number of these profiles, default: the
    number of lists. Raises `RequestError` for a length below 1 and for a test row of a user without
    a list.
    """
    if length < 1:
        raise RequestError(f"length must be an integer of at least 1, got {length}.")
    if len(users) and int(users.max()) >= len(lists):
        raise RequestError(
            f"lists must contain one list per user: user {int(users.max())} has test rows, got "
            f"{len(lists)} lists."
        )
    wanted = np.bincount(users, minlength=len(lists))
    hits_by_user = _Hits.of(lists, users, items, len(counts), length)
    some = wanted > 0
    ideal = np.cumsum(_discounts(length))[np.minimum(wanted[some], length) - 1]
    cut = lists[:, :length]
    shown = np.bincount(cut[cut >= 0], minlength=len(counts))
    entries = int(shown.sum())
    known = max(1, len(lists) if counted is None else counted)
    return ListFigures(
        recall=_mean(hits_by_user.hits[some] / wanted[some]),
        ndcg=_mean(hits_by_user.gain[some] / ideal),
        mrr=_mean(hits_by_user.reciprocal[some]),
        hit_rate=_mean((hits_by_user.hits[some] > 0).astype(np.float64)),
        coverage=int(np.count_nonzero(shown)) / max(1, len(counts)),
        popularity=int(shown @ counts) / entries / known if entries else float("nan"),
        people=int(some.sum()),
        left_out=int((~some).sum()),
    )


NICHE = 0.25
"""Share of users in the niche."""


def niche_users(users: Codes, items: Codes, counts: NDArray[Any], n_users: int) -> Mask:
    """Return the quarter of users whose items are least popular, shape (users,).

    `users`, `items`: training rows, shape (n,). `counts`: training profiles per item. A user's
    popularity is the mean count of their items; users without a row are not in the niche.
    """
    sums = np.bincount(users, weights=counts[items], minlength=n_users)
    rows = np.bincount(users, minlength=n_users)
    mean = np.where(rows > 0, sums / np.maximum(rows, 1), np.inf)
    return mean <= np.quantile(mean[rows > 0], NICHE)


def ndcg_of(some: Mask, lists: Codes, users: Codes, items: Codes, n_items: int) -> float:
    """Return the NDCG of some users, a mask; other arguments as in `list_figures`.

    NaN if none of them has a test item.
    """
    wanted = np.bincount(users, minlength=len(lists))
    some = some & (wanted > 0)
    ideal = np.cumsum(_discounts(LENGTH))[np.minimum(wanted[some], LENGTH) - 1]
    return _mean(gains(lists, users, items, n_items, LENGTH)[some] / ideal)


def gains(lists: Codes, users: Codes, items: Codes, n_items: int, length: int) -> Doubles:
    """Return the discounted cumulative gain of each list: sums of 1 / log2(rank + 1) over hits.

    Arguments as in `list_figures`; shape (users,).
    """
    return _Hits.of(lists, users, items, n_items, length).gain


@dataclass(frozen=True, eq=False)
class _Hits:
    """Per user: hits in the cut list, their discounted gain, and the reciprocal rank.

    The latter is of the first hit in the complete list. Shapes (users,).
    """

    hits: NDArray[np.int64]
    gain: Doubles
    reciprocal: Doubles

    @classmethod
    def of(cls, lists: Codes, users: Codes, items: Codes, n_items: int, length: int) -> "_Hits":
        hits = np.zeros(len(lists), np.int64)
        gain, reciprocal = np.zeros(len(lists)), np.zeros(len(lists))
        discounts = _discounts(min(length, lists.shape[1]))
        for some, hit in _hits(lists, users, items, n_items):
            hits[some] = hit[:, :length].sum(1)
            gain[some] = hit[:, :length] @ discounts
            first = hit.argmax(1)
            reciprocal[some] = np.where(hit.any(1), 1 / (first + 1), 0.0)
        return cls(hits, gain, reciprocal)


def _hits(lists: Codes, users: Codes, items: Codes, n_items: int) -> Iterator[tuple[slice, Mask]]:
    """Yield which entries are a test item of their user, in blocks of users."""
    if lists.shape[1] == 0:
        return
    pairs = np.sort(users.astype(np.int64) * n_items + items)
    pairs = np.append(pairs, -2)  # a sentinel for pairs beyond the last one
    size = max(1, BLOCK // lists.shape[1])
    for start in range(0, len(lists), size):
        block = lists[start : start + size]
        people = np.arange(start, start + len(block), dtype=np.int64)[:, None]
        keys = np.where(block >= 0, people * n_items + block, -1)
        hit = pairs[np.searchsorted(pairs[:-1], keys)] == keys
        yield slice(start, start + len(block)), hit


def _discounts(length: int) -> Doubles:
    """Return 1 / log2(rank + 1) for the ranks 1 to `length`."""
    return 1 / np.log2(np.arange(2, length + 2))


def _mean(values: Doubles) -> float:
    return float(values.mean()) if len(values) else float("nan")
