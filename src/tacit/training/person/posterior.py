"""Item rows behind noisy sums: h_j = A_j v_j + noise, v_j of one normal prior. Post-processing.

Noise of covariance N_j and the prior N(0, T) give

    v_j = (A_j N_j^-1 A_j + T^-1)^-1 A_j N_j^-1 h_j,

and T is the mean of v v' + its posterior covariance over the items, again and again (EM). Items
that the noise drowns come out near zero by themselves. No rating is looked at here.
"""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST = 1e-9  # of a variance: keeps what is divided by away from zero


def item_rows(gram: Doubles, pull: Doubles, noise: Doubles, spread: float) -> Doubles:
    """v, shape (items, K), rotated so that the columns' prior is diagonal, largest first.

    `gram`: A, shape (items, K, K), positive semidefinite. `pull`: h, shape (items, K). `noise`: N,
    of A's shape. `spread`: standard deviation that a row's norm is expected to have at first.
    """
    K = pull.shape[1]
    small = LEAST * np.eye(K)
    gains = np.linalg.solve(noise + small, gram).swapaxes(1, 2)  # A N^-1
    information = gains @ gram
    pulled = np.einsum("jkl,jl->jk", gains, pull)
    prior = np.eye(K) * spread**2 / K
    rows = np.zeros_like(pull)
    for _ in range(ROUNDS):
        covariance = _inverse(information + _inverse(prior + small))
        rows = np.einsum("jkl,jl->jk", covariance, pulled)
        prior = np.mean(rows[:, :, None] * rows[:, None, :] + covariance, 0)
    axes = np.linalg.eigh(prior)[1][:, ::-1]
    return rows @ axes


def semidefinite(matrices: Doubles) -> Doubles:
    """The nearest positive semidefinite matrices, in Frobenius norm; shape (items, K, K)."""
    values, axes = np.linalg.eigh(matrices)
    return (axes * np.maximum(values, 0)[:, None, :]) @ axes.swapaxes(1, 2)


def pooled(vectors: Doubles, weights: Doubles, noise: float) -> tuple[Doubles, Doubles]:
    """Noisy packed sums of x x', and the mean x x' of all: each drawn towards weight x mean.

    `vectors`: shape (items, D), every entry with noise of standard deviation `noise`. What differs
    from the pool is kept by the share of it that noise cannot explain (James and Stein).
    """
    mean = vectors.sum(0) / weights.sum()
    apart = vectors - weights[:, None] * mean
    energy = np.maximum((apart**2).sum(1), LEAST)
    kept = np.maximum(1 - noise**2 * vectors.shape[1] / energy, 0)
    return weights[:, None] * mean + kept[:, None] * apart, mean


def _inverse(matrices: Doubles) -> Doubles:
    return np.asarray(np.linalg.inv(matrices), np.float64)
