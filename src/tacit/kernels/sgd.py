"""Stochastic gradient descent for SVD++, user by user, at O(K) per rating.

    r^_ui = mu + b_u + b_i + q_i . (p_u + z_u)        z_u = |N(u)|^-1/2 sum over j in N(u) of y_j

Koren (2008), equation 15; N(u) are u's rated items. A rating with error e updates, simultaneously,

    b_u += g (e - l b_u)       p_u += g (e q_i - l p_u)       q_i += g (e (p_u + z_u) - l q_i)
    b_i += g (e - l b_i)       y_j += g (e |N(u)|^-1/2 q_i - l y_j)   for every j in N(u)

The last is O(|N(u)| K) per rating as printed. But all y_j of a user receive the same update, so
that z_u obeys

    z_u += g (e q_i - l z_u)

and, after u's n ratings, y_j = a^n y_j + (z_u - a^n z_u before) / sqrt n, a = 1 - g l. These are
the same updates in the same order, not an approximation.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.dense import FAST
from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]


class Parameters(NamedTuple):
    """Parameters: `b_u` (users,), `b_i` (items,), `p` (users, K), `q` and `y` (items, K)."""

    b_u: Doubles
    b_i: Doubles
    p: Doubles
    q: Doubles
    y: Doubles


class Rates(NamedTuple):
    """Learning rates g by kind of parameter; 0 keeps it fixed."""

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
    """Run one epoch over all ratings, user by user, on one thread, deterministically.

    `side`: ratings by user. `centred`: r - mu in the order of `side`, shape (n,). Errors are
    clipped to [-most, most]. Updates `at`.
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
    """Return z_u of all users, shape (users, K); zero without ratings."""
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
    """Process one user's ratings in turn."""
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
            person, item, shared = p[k], q[k], z[k]
            p[k] += rates.people * (e * item - ridge * person)
            q[k] += rates.items * (e * (person + shared) - ridge * item)
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
    """Apply the updates of one user's ratings to each y_j, all equal."""
    retained = decay ** len(rated)
    moved = (z - retained * before) / np.sqrt(len(rated))
    for j in rated:
        for k in range(len(z)):
            y[j, k] = retained * y[j, k] + moved[k]
