"""Ratings predicted from neighbours: of an item among those a person rated, or of the person."""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Asked(NamedTuple):
    """A block of people, and the items asked of each: `item[start[r] : start[r + 1]]`."""

    person: Ints
    start: Longs
    item: Ints


class Profiles(NamedTuple):
    """Everybody's ratings, grouped by person: `above` the mean that belongs to the rating (of its
    item or of its person), and `weight`, how much it still counts."""

    start: Longs
    item: Ints
    above: Doubles
    weight: Doubles


class Circle(NamedTuple):
    """Neighbours, in a row for each thing that has any; `row` is -1 for what has none.

    `code`: shape (rows, k), -1 where there are fewer. `s`: their similarities. `mean`: to which a
    predicted difference is added, by item or by person. `prior`: weight of no difference at all.
    """

    row: Ints
    code: Ints
    s: Doubles
    mean: Doubles
    prior: float


class Shared(NamedTuple):
    """What every block needs."""

    profiles: Profiles
    circle: Circle


class NeighbourPredictions(NamedTuple):
    """The predicted ratings, shape (asked,), and whether a neighbour had any part in them."""

    value: Doubles
    covered: NDArray[np.bool_]


def by_items(asked: Asked, shared: Shared) -> NeighbourPredictions:
    """Pred_A(i) = r_i + sum_j s_ij w_Aj (r_Aj - r_j) / (sum_j |s_ij| w_Aj + prior)."""
    answer = NeighbourPredictions(np.empty(len(asked.item)), np.zeros(len(asked.item), np.bool_))
    _by_items(asked, shared.profiles, shared.circle, answer)
    return answer


def by_people(asked: Asked, shared: Shared) -> NeighbourPredictions:
    """Pred_A(i) = r_A + sum_B s_AB (r_Bi - r_B) / (sum_B |s_AB| + prior)."""
    answer = NeighbourPredictions(np.empty(len(asked.item)), np.zeros(len(asked.item), np.bool_))
    _by_people(asked, shared.profiles, shared.circle, answer)
    return answer


@njit(parallel=True, cache=True)
def _by_items(
    asked: Asked, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    for row in prange(len(asked.person)):
        _person_by_items(row, asked, profiles, circle, answer)


@njit(cache=True)
def _person_by_items(
    row: int, asked: Asked, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    above, weight = np.zeros(len(circle.row)), np.zeros(len(circle.row))
    person = asked.person[row]
    for t in range(profiles.start[person], profiles.start[person + 1]):
        above[profiles.item[t]], weight[profiles.item[t]] = profiles.above[t], profiles.weight[t]
    for a in range(asked.start[row], asked.start[row + 1]):
        top, bottom, item = 0.0, 0.0, asked.item[a]
        near = circle.row[item]
        for b in range(circle.code.shape[1] if near >= 0 else 0):
            other = circle.code[near, b]
            if other >= 0 and weight[other] > 0:
                top += circle.s[near, b] * above[other] * weight[other]
                bottom += abs(circle.s[near, b]) * weight[other]
        answer.covered[a] = bottom > 0
        offset = top / (bottom + circle.prior) if bottom > 0 else 0.0
        answer.value[a] = circle.mean[item] + offset


@njit(parallel=True, cache=True)
def _by_people(
    asked: Asked, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    for row in prange(len(asked.person)):
        _person_by_people(row, asked, profiles, circle, answer)


@njit(cache=True)
def _person_by_people(
    row: int, asked: Asked, profiles: Profiles, circle: Circle, answer: NeighbourPredictions
) -> None:
    items = asked.item.max() + 1
    top, bottom = np.zeros(items), np.zeros(items)
    near = circle.row[asked.person[row]]
    for b in range(circle.code.shape[1] if near >= 0 else 0):
        other, s = circle.code[near, b], circle.s[near, b]
        for t in range(profiles.start[other], profiles.start[other + 1] if other >= 0 else 0):
            if profiles.item[t] < items:
                top[profiles.item[t]] += s * profiles.above[t]
                bottom[profiles.item[t]] += abs(s)
    for a in range(asked.start[row], asked.start[row + 1]):
        item = asked.item[a]
        answer.covered[a] = bottom[item] > 0
        offset = top[item] / (bottom[item] + circle.prior) if bottom[item] > 0 else 0.0
        answer.value[a] = circle.mean[asked.person[row]] + offset
