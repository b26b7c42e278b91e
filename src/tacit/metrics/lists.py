"""How good lists are: what people had held out, found among what is recommended to them.

A list is of the whole catalogue less what the person had in training, best first, ties by item code
(lower first), as `tacit.kernels.lists.topk` makes them. All of it is arithmetic on places: no table
of people by items is ever laid out.
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
"""Places of lists looked at together."""


@dataclass(frozen=True)
class ListFigures:
    """Means over the `people` who have a test item; those without one are left out and counted.

    With a list cut after k, h of whose items are among the person's R > 0 test items:

        recall      h / R
        ndcg        sum over hits of 1 / log2(rank + 1), over the same sum of the ranks 1 to
                    min(k, R): gains are 0 or 1, and the ideal list is cut at k too
        mrr         1 / rank of the first hit in the *whole* list, 0 without one
        hit_rate    1 where h > 0, else 0
        coverage    share of the catalogue's items that are in somebody's list
        popularity  mean over all places of all lists of the item's share of people: in how many
                    of everybody's training parts it is, over the number of people

    The first four are NaN when nobody has a test item, the last when nothing is recommended.
    Coverage and popularity speak of everybody's lists, with a test item or without. A rank is a
    place counted from 1.
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
    """The figures of `lists`, cut after `length`, against the test rows.

    `lists`: item codes, best first, no item twice, -1 from where a list is shorter, shape (people,
    any). `users`, `items`: the test rows, each pair once, shape (n,). `counts`: in how many
    people's training parts each item is, shape (items,); `counted`: of how many people, where it is
    not as many as there are lists. Raises `RequestError` for a length below 1 and for a test row of
    nobody's list.
    """
    if length < 1:
        raise RequestError(f"length must be an integer of at least 1, got {length}.")
    if len(users) and int(users.max()) >= len(lists):
        raise RequestError(
            f"lists must contain one list per user: user {int(users.max())} has test rows, got "
            f"{len(lists)} lists."
        )
    wanted = np.bincount(users, minlength=len(lists))
    found = _Found.of(lists, users, items, len(counts), length)
    some = wanted > 0
    ideal = np.cumsum(_discounts(length))[np.minimum(wanted[some], length) - 1]
    cut = lists[:, :length]
    shown = np.bincount(cut[cut >= 0], minlength=len(counts))
    places = int(shown.sum())
    known = max(1, len(lists) if counted is None else counted)
    return ListFigures(
        recall=_mean(found.hits[some] / wanted[some]),
        ndcg=_mean(found.gain[some] / ideal),
        mrr=_mean(found.reciprocal[some]),
        hit_rate=_mean((found.hits[some] > 0).astype(np.float64)),
        coverage=int(np.count_nonzero(shown)) / max(1, len(counts)),
        popularity=int(shown @ counts) / places / known if places else float("nan"),
        people=int(some.sum()),
        left_out=int((~some).sum()),
    )


def gains(lists: Codes, users: Codes, items: Codes, n_items: int, length: int) -> Doubles:
    """What each list holds of the test rows, discounted by rank: sums of 1 / log2(rank + 1).

    Arguments as of `list_figures`; shape (people,).
    """
    return _Found.of(lists, users, items, n_items, length).gain


@dataclass(frozen=True, eq=False)
class _Found:
    """Of each person: hits in the list as cut, their discounted gain, and the reciprocal rank of
    the first hit in the whole list; shapes (people,)."""

    hits: NDArray[np.int64]
    gain: Doubles
    reciprocal: Doubles

    @classmethod
    def of(cls, lists: Codes, users: Codes, items: Codes, n_items: int, length: int) -> "_Found":
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
    """Which places hold a test item of their person, in blocks of people."""
    if lists.shape[1] == 0:
        return
    pairs = np.sort(users.astype(np.int64) * n_items + items)
    pairs = np.append(pairs, -2)  # nobody asks for it, and a pair beyond the last one meets it
    size = max(1, BLOCK // lists.shape[1])
    for start in range(0, len(lists), size):
        block = lists[start : start + size]
        people = np.arange(start, start + len(block), dtype=np.int64)[:, None]
        asked = np.where(block >= 0, people * n_items + block, -1)
        hit = pairs[np.searchsorted(pairs[:-1], asked)] == asked
        yield slice(start, start + len(block)), hit


def _discounts(length: int) -> Doubles:
    """1 / log2(rank + 1) for the ranks 1 to `length`."""
    return 1 / np.log2(np.arange(2, length + 2))


def _mean(values: Doubles) -> float:
    return float(values.mean()) if len(values) else float("nan")
