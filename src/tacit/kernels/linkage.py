"""Linkage scores of all users against the known items of victims, and ranks of the victims."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import Longs, equal_pieces, over_pieces

Columns = NDArray[np.unsignedinteger[Any]]
Codes = NDArray[np.int32]
Doubles = NDArray[np.float64]
TIE = 1e-9
"""Tolerance of ties: equal terms in another order add up to slightly different sums."""


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
    """Count the users with higher and with equal scores (including itself) for each victim.

        score(v) = sum over the first stops[s] known items i of weights[i, row, columns[i, v]]

    `victims`: codes, shape (victims,). `known`: item codes, padded with -1, and `rows` of `weights`
    (items, rows, columns), shapes (victims, any). `columns`: shape (items, users). `better`,
    `ties`: outputs, shape (victims, stops); 0 ties where a victim has fewer items.
    """
    pieces = equal_pieces(len(victims), columns.shape[1])
    over_pieces(
        _known_places,
        pieces,
        victims,
        known,
        rows,
        stops,
        columns,
        weights,
        better,
        ties,
    )


@njit(nogil=True, cache=True)
def _known_places(
    piece: int,
    pieces: Longs,
    victims: Codes,
    known: Codes,
    rows: Codes,
    stops: Codes,
    columns: Columns,
    weights: Doubles,
    better: Codes,
    ties: Codes,
) -> None:
    people = columns.shape[1]
    for p in range(pieces[piece], pieces[piece + 1]):
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
                _rank(score, victims[p], better[p], ties[p], stop)
                stop += 1


def task_places(
    victims: Codes, first: Columns, second: Columns, weights: Doubles, better: Codes, ties: Codes
) -> None:
    """Count the names of a second task with higher and equal scores for a victim in the first.

        score(v) = sum over items i of weights[i, first[victim, i], second[i, v]]

    `first`: shape (users, items), `second`: (items, users), `weights`: (items, columns, columns),
    `better`, `ties`: outputs, (victims, 1).
    """
    pieces = equal_pieces(len(victims), second.size)
    over_pieces(_task_places, pieces, victims, first, second, weights, better, ties)


@njit(nogil=True, cache=True)
def _task_places(
    piece: int,
    pieces: Longs,
    victims: Codes,
    first: Columns,
    second: Columns,
    weights: Doubles,
    better: Codes,
    ties: Codes,
) -> None:
    items, people = second.shape
    for p in range(pieces[piece], pieces[piece + 1]):
        score = np.zeros(people)
        for item in range(items):
            gains = weights[item, first[victims[p], item]]
            seen = second[item]
            for v in range(people):
                score[v] += gains[seen[v]]
        _rank(score, victims[p], better[p], ties[p], 0)


@njit(cache=True)
def _rank(score: Doubles, victim: int, better: Codes, ties: Codes, stop: int) -> None:
    higher = 0
    equal = 0
    for v in range(len(score)):
        if score[v] > score[victim] + TIE:
            higher += 1
        elif score[v] >= score[victim] - TIE:
            equal += 1
    better[stop] = higher
    ties[stop] = equal
