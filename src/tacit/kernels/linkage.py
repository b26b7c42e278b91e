"""Scores of every person against what is known of one, a victim after another, and their places."""

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Columns = NDArray[np.unsignedinteger[Any]]
Codes = NDArray[np.int32]
Doubles = NDArray[np.float64]
TIE = 1e-9
"""Sums that differ by no more are equal: the same terms add up differently in another order."""


@njit(parallel=True, cache=True)
def known_places(
    victims: Codes,
    known: Codes,
    rows: Codes,
    stops: Codes,
    columns: Columns,
    weights: Doubles,
    better: Codes,
    ties: Codes,
) -> None:
    """How many score higher than each victim given their first `stops[s]` known items, and how many
    as high, themselves included.

        score(v) = sum over known items i of weights[i, row, columns[i, v]]

    `victims`: codes, shape (victims,). `known`: item codes, -1 from where there are no more, and
    `rows` of `weights` (items, rows, columns), shapes (victims, any). `columns`: shape (items,
    people). `better`, `ties`: shape (victims, stops); 0 ties where a victim has fewer items.
    """
    people = columns.shape[1]
    for p in prange(len(victims)):
        score = np.zeros(people)
        stop = 0
        for j in range(known.shape[1]):
            item = known[p, j]
            if item < 0 or stop == len(stops):
                break
            gains = weights[item, rows[p, j]]
            seen = columns[item]
            for v in range(people):
                score[v] += gains[seen[v]]
            if j + 1 == stops[stop]:
                _place(score, victims[p], better[p], ties[p], stop)
                stop += 1


@njit(parallel=True, cache=True)
def task_places(
    victims: Codes, first: Columns, second: Columns, weights: Doubles, better: Codes, ties: Codes
) -> None:
    """How many names of a second task fit a victim's name in the first better, and as well.

        score(v) = sum over items i of weights[i, first[victim, i], second[i, v]]

    `first`: shape (people, items), `second`: (items, people), `weights`: (items, columns, columns),
    `better`, `ties`: (victims, 1).
    """
    items, people = second.shape
    for p in prange(len(victims)):
        score = np.zeros(people)
        for item in range(items):
            gains = weights[item, first[victims[p], item]]
            seen = second[item]
            for v in range(people):
                score[v] += gains[seen[v]]
        _place(score, victims[p], better[p], ties[p], 0)


@njit(cache=True)
def _place(score: Doubles, own: int, better: Codes, ties: Codes, stop: int) -> None:
    higher = 0
    equal = 0
    for v in range(len(score)):
        if score[v] > score[own] + TIE:
            higher += 1
        elif score[v] >= score[own] - TIE:
            equal += 1
    better[stop] = higher
    ties[stop] = equal
