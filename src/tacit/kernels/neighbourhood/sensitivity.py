"""Sensitivity of a similarity to one witness, by the formula of X-Map's Theorem 2.

    SS(a, b) = max over x of x_a x_b / (|a'| |b'|), and of (a.b / (|a'| |b'|) - a.b / (|a| |b|))

x: a witness of both; a', b': without that witness. It is not an upper bound (see the page about
papers). Where |a'| or |b'| is 0 the formula tends to infinity, and SS is 2, the largest change of a
cosine.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import over_pieces, thread_pieces
from tacit.kernels.neighbourhood.similar import Things

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
SMALLEST = 1e-6
LARGEST = 2.0
"""SS where a norm without a witness is 0."""
ZERO = 1e-9
"""The share of a squared norm up to which the rest without a witness is rounding."""


class Pairs(NamedTuple):
    """Values for every row and column, shape (rows, columns).

    `s`: adjusted cosine. `moved`: |SS|. Both 0 without a common witness.
    """

    s: Doubles
    moved: Doubles


def pairs(rows: Things, columns: Things) -> Pairs:
    """Return similarities, and |SS|, at least 10^-6. |SS| is 2 if a norm without a witness is 0."""
    shape = (len(rows.code), len(columns.code))
    result = Pairs(np.zeros(shape), np.zeros(shape))
    pieces = thread_pieces(rows.start)
    over_pieces(_pairs, pieces, rows, columns, result)
    return result


@njit(nogil=True, cache=True)
def _pairs(piece: int, pieces: Longs, rows: Things, columns: Things, result: Pairs) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        _row(row, rows, columns, result)


@njit(cache=True)
def _row(row: int, rows: Things, columns: Things, result: Pairs) -> None:
    n = len(columns.code)
    dots, seen = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    alone, least, most = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n)
    endless = np.zeros(n, np.bool_)
    for t in range(rows.start[row], rows.start[row + 1]):
        x, witness = np.int64(rows.value[t]), rows.other[t]
        left = _rest(rows.root[row], x)
        for c in range(columns.start[witness], columns.start[witness + 1]):
            j, y = columns.other[c], np.int64(columns.value[c])
            rest = np.sqrt(left * _rest(columns.root[j], y))
            dots[j] += x * y
            seen[j] = True
            if rest > 0:
                alone[j] = max(alone[j], x * y / rest)
                least[j], most[j] = min(least[j], rest), max(most[j], rest)
            elif x * y != 0:
                endless[j] = True
    for j in range(n):
        norms = rows.root[row] * columns.root[j]
        if seen[j] and norms > 0 and columns.code[j] != rows.code[row]:
            result.s[row, j] = dots[j] / norms
            if endless[j]:
                result.moved[row, j] = LARGEST
            else:
                result.moved[row, j] = _moved(dots[j], norms, alone[j], least[j], most[j])


@njit(cache=True)
def _rest(root: Any, value: Any) -> float:
    """Return the square of a norm without a value, 0 where only rounding is left; of scalars."""
    rest = root**2 - float(value) ** 2
    return rest if rest > ZERO * root**2 else 0.0


@njit(cache=True)
def _moved(dot: int, norms: float, alone: float, least: float, most: float) -> float:
    if most == 0:
        return SMALLEST
    nearest = least if dot > 0 else most
    return max(abs(max(alone, dot / nearest - dot / norms)), SMALLEST)
