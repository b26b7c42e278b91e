"""Item rows from noisy sums: h_j = A_j v_j + noise, with one normal prior for all v_j.

Noise of covariance N_j and the prior N(0, T) give

    v_j = (A_j N_j^-1 A_j + T^-1)^-1 A_j N_j^-1 h_j,

and T is the mean of v v' plus its posterior covariance over the items, iterated (EM). Items that
are dominated by noise are shrunk close to zero. Post-processing: no rating is read.
"""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST = 1e-9  # least variance, against division by zero


def item_rows(gram: Doubles, pull: Doubles, noise: Doubles, spread: float) -> Doubles:
    """Return v, shape (items, K), rotated so that the prior is diagonal, largest column first.

    `gram`: A, shape (items, K, K), positive semidefinite. `pull`: h, shape (items, K). `noise`: N,
    of A's shape. `spread`: initial standard deviation of a row's norm.
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
    """Return the nearest positive semidefinite matrices in Frobenius norm; shape (items, K, K)."""
    values, axes = np.linalg.eigh(matrices)
    return (axes * np.maximum(values, 0)[:, None, :]) @ axes.swapaxes(1, 2)


def pooled(vectors: Doubles, weights: Doubles, noise: float) -> tuple[Doubles, Doubles]:
    """Shrink noisy packed sums of x x' towards weight x mean. Returns them and the mean x x'.

    `vectors`: shape (items, D), every entry with noise of standard deviation `noise`. Deviations
    from the pool are shrunk by the fraction that noise explains (James-Stein).
    """
    mean = vectors.sum(0) / weights.sum()
    apart = vectors - weights[:, None] * mean
    energy = np.maximum((apart**2).sum(1), LEAST)
    retained = np.maximum(1 - noise**2 * vectors.shape[1] / energy, 0)
    return weights[:, None] * mean + retained[:, None] * apart, mean


def _inverse(matrices: Doubles) -> Doubles:
    return np.asarray(np.linalg.inv(matrices), np.float64)
