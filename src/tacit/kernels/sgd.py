"""Stochastic gradient descent for SVD++, one person after the other, at O(K) a rating.

    r^_ui = mu + b_u + b_i + q_i . (p_u + z_u)        z_u = |N(u)|^-1/2 sum over j in N(u) of y_j

Koren (2008), equation 15; N(u) is what u rated. A rating with error e moves, all at once,

    b_u += g (e - l b_u)       p_u += g (e q_i - l p_u)       q_i += g (e (p_u + z_u) - l q_i)
    b_i += g (e - l b_i)       y_j += g (e |N(u)|^-1/2 q_i - l y_j)   for every j in N(u)

The last is O(|N(u)| K) a rating as it stands. But all y_j of a person move alike, so that z_u obeys

    z_u += g (e q_i - l z_u)

and, once u's n ratings are through, y_j = a^n y_j + (z_u - a^n z_u before) / sqrt n, a = 1 - g l.
These are the same updates in the same order, not an approximation of them.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.dense import FAST
from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]


class Parameters(NamedTuple):
    """What is learnt: `b_u` (people,), `b_i` (items,), `p` (people, K), `q` and `y` (items, K)."""

    b_u: Doubles
    b_i: Doubles
    p: Doubles
    q: Doubles
    y: Doubles


class Rates(NamedTuple):
    """The learning rate g of each kind of parameter; 0 leaves it where it is."""

    biases: float
    people: float
    items: float
    implicit: float


@njit(cache=True, fastmath=FAST | {"reassoc"})
def descend(
    side: Side,
    centred: Doubles,
    at: Parameters,
    rates: Rates,
    ridge: float,
    most: float = np.inf,
) -> None:
    """One epoch over all ratings, person by person, on one thread: the same digits every time.

    `side`: ratings by person. `centred`: r - mu in the order of `side`, shape (n,). Errors are cut
    to [-most, most]. Changes `at`.
    """
    K = at.p.shape[1]
    z, before = np.empty(K), np.empty(K)
    for u in range(len(at.p)):
        first, end = side.start[u], side.start[u + 1]
        if first == end:
            continue
        _gather(side.other[first:end], at.y, z)
        before[:] = z
        _ratings(side.other[first:end], centred[first:end], u, at, z, rates, ridge, most)
        _scatter(side.other[first:end], z, before, 1 - rates.implicit * ridge, at.y)


@njit(cache=True, fastmath=FAST | {"reassoc"})
def implicit(side: Side, y: Doubles) -> Doubles:
    """z_u of everybody, shape (people, K); zero for somebody without ratings."""
    z = np.zeros((len(side.start) - 1, y.shape[1]))
    for u in range(len(z)):
        if side.start[u] < side.start[u + 1]:
            _gather(side.other[side.start[u] : side.start[u + 1]], y, z[u])
    return z


@njit(cache=True, fastmath=FAST | {"reassoc"})
def _ratings(
    rated: NDArray[np.int32],
    centred: Doubles,
    u: int,
    at: Parameters,
    z: Doubles,
    rates: Rates,
    ridge: float,
    most: float,
) -> None:
    """One person's ratings in turn."""
    p = at.p[u]
    for t in range(len(rated)):
        i = rated[t]
        q = at.q[i]
        e = centred[t] - at.b_u[u] - at.b_i[i]
        for k in range(len(p)):
            e -= q[k] * (p[k] + z[k])
        e = min(max(e, -most), most)
        at.b_u[u] += rates.biases * (e - ridge * at.b_u[u])
        at.b_i[i] += rates.biases * (e - ridge * at.b_i[i])
        for k in range(len(p)):
            own, item, shared = p[k], q[k], z[k]
            p[k] += rates.people * (e * item - ridge * own)
            q[k] += rates.items * (e * (own + shared) - ridge * item)
            z[k] += rates.implicit * (e * item - ridge * shared)


@njit(cache=True, fastmath=FAST | {"reassoc"})
def _gather(rated: NDArray[np.int32], y: Doubles, z: Doubles) -> None:
    z[:] = 0
    for j in rated:
        for k in range(len(z)):
            z[k] += y[j, k]
    z /= np.sqrt(len(rated))


@njit(cache=True, fastmath=FAST | {"reassoc"})
def _scatter(
    rated: NDArray[np.int32], z: Doubles, before: Doubles, decay: float, y: Doubles
) -> None:
    """What the ratings of one person did to each y_j, all of which moved alike."""
    kept = decay ** len(rated)
    moved = (z - kept * before) / np.sqrt(len(rated))
    for j in rated:
        for k in range(len(z)):
            y[j, k] = kept * y[j, k] + moved[k]
