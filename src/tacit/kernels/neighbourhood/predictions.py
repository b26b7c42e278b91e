"""Neighbourhood predictions, item-based or user-based."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import equal_pieces, over_pieces

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Requests(NamedTuple):
    """Requested predictions of a block of users.

    Those of user `person[r]` are of items `item[start[r] : start[r + 1]]`.
    """

    person: Ints
    start: Longs
    item: Ints


class Profiles(NamedTuple):
    """All ratings, grouped by user.

    `above`: rating minus the mean of its item or its user. `weight`: of the rating.
    """

    start: Longs
    item: Ints
    above: Doubles
    weight: Doubles


class Circle(NamedTuple):
    """Neighbours, one row per item or user that has any; `row` is -1 for others.

    `code`: shape (rows, k), padded with -1. `s`: their similarities. `mean`: of each item or user,
    which predicted differences are added to. `prior`: weight of a zero difference.
    """

    row: Ints
    code: Ints
    s: Doubles
    mean: Doubles
    prior: float


class Shared(NamedTuple):
    """Inputs shared by all blocks."""

    profiles: Profiles
    circle: Circle


class NeighbourPredictions(NamedTuple):
    """Predicted ratings, and whether any neighbour contributed; shapes (asked,)."""

    value: Doubles
    covered: NDArray[np.bool_]


def by_items(requests: Requests, shared: Shared) -> NeighbourPredictions:
    """Return Pred_A(i) = r_i + sum_j s_ij w_Aj (r_Aj - r_j) / (sum_j |s_ij| w_Aj + prior)."""
    answer = NeighbourPredictions(
        np.empty(len(requests.item)), np.zeros(len(requests.item), np.bool_)
    )
    pieces = equal_pieces(len(requests.person), len(shared.circle.row))
    over_pieces(_by_items, pieces, requests, shared.profiles, shared.circle, answer)
    return answer


def by_people(requests: Requests, shared: Shared) -> NeighbourPredictions:
    """Return Pred_A(i) = r_A + sum_B s_AB (r_Bi - r_B) / (sum_B |s_AB| + prior)."""
    answer = NeighbourPredictions(
        np.empty(len(requests.item)), np.zeros(len(requests.item), np.bool_)
    )
    pieces = equal_pieces(len(requests.person), len(shared.circle.row))
    over_pieces(_by_people, pieces, requests, shared.profiles, shared.circle, answer)
    return answer


@njit(nogil=True, cache=True)
def _by_items(
    piece: int,
    pieces: Longs,
    requests: Requests,
    profiles: Profiles,
    circle: Circle,
    answer: NeighbourPredictions,
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        _person_by_items(row, requests, profiles, circle, answer)


@njit(cache=True)
def _person_by_items(
    row: int, requests: Requests, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    above, weight = np.zeros(len(circle.row)), np.zeros(len(circle.row))
    person = requests.person[row]
    for t in range(profiles.start[person], profiles.start[person + 1]):
        above[profiles.item[t]], weight[profiles.item[t]] = profiles.above[t], profiles.weight[t]
    for a in range(requests.start[row], requests.start[row + 1]):
        top, bottom, item = 0.0, 0.0, requests.item[a]
        near = circle.row[item]
        for b in range(circle.code.shape[1] if near >= 0 else 0):
            other = circle.code[near, b]
            if other >= 0 and weight[other] > 0:
                top += circle.s[near, b] * above[other] * weight[other]
                bottom += abs(circle.s[near, b]) * weight[other]
        answer.covered[a] = bottom > 0
        offset = top / (bottom + circle.prior) if bottom > 0 else 0.0
        answer.value[a] = circle.mean[item] + offset


@njit(nogil=True, cache=True)
def _by_people(
    piece: int,
    pieces: Longs,
    requests: Requests,
    profiles: Profiles,
    circle: Circle,
    answer: NeighbourPredictions,
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        _person_by_people(row, requests, profiles, circle, answer)


@njit(cache=True)
def _person_by_people(
    row: int, requests: Requests, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    items = requests.item.max() + 1
    top, bottom = np.zeros(items), np.zeros(items)
    near = circle.row[requests.person[row]]
    for b in range(circle.code.shape[1] if near >= 0 else 0):
        other, s = circle.code[near, b], circle.s[near, b]
        for t in range(profiles.start[other], profiles.start[other + 1] if other >= 0 else 0):
            if profiles.item[t] < items:
                top[profiles.item[t]] += s * profiles.above[t]
                bottom[profiles.item[t]] += abs(s)
    for a in range(requests.start[row], requests.start[row + 1]):
        item = requests.item[a]
        answer.covered[a] = bottom[item] > 0
        offset = top[item] / (bottom[item] + circle.prior) if bottom[item] > 0 else 0.0
        answer.value[a] = circle.mean[requests.person[row]] + offset
