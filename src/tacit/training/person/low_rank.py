"""Item rows from a noisy covariance without its diagonal.

    C_ab = d_a d_b v_a . v_b + noise,    a != b

Rows have the normal prior N(0, T), and the noise of an entry the variance s^2. The posterior is
approximated by independent rows (mean field, as Lim and Teh 2007), each optimal given the others:

    S_a = (T^-1 + (d_a / s)^2 sum over b != a of d_b^2 (v_b v_b' + S_b))^-1
    v_a = S_a (d_a / s^2) sum over b != a of C_ab d_b v_b

and T is the mean of v v' + S. Unlike a cutoff of eigenvalues at the noise edge, this shrinks each
row by its weight: rows of small weight are mostly noise. Post-processing: no rating is read.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Doubles = NDArray[np.float64]
ROUNDS = 60
STEP = 0.5  # damping of each round, because all rows are updated at once
LEAST = 1e-9  # least variance, against division by zero


def low_rank_rows(
    matrix: Doubles, scale: Doubles, deviation: float, factors: int, spread: float
) -> Doubles:
    """Return v, shape (items, K), rotated so that the prior is diagonal, largest column first.

    `matrix`: C with zero diagonal. `scale`: d, shape (items,). `deviation`: s. `factors`: K.
    `spread`: initial standard deviation of a row's norm.
    """
    prior = np.eye(factors) * spread**2 / factors
    rows = _start(matrix, scale, factors, spread)
    doubt: Doubles = np.zeros((len(rows), factors, factors))
    squares = (scale**2)[:, None, None]
    for _ in range(ROUNDS):
        seconds = squares * (rows[:, :, None] * rows[:, None, :] + doubt)
        others = squares * (seconds.sum(0) - seconds) / deviation**2
        held = np.linalg.inv(prior + LEAST * np.eye(factors))
        doubt = np.asarray(np.linalg.inv(others + held), np.float64)
        pull = (scale / deviation**2)[:, None] * (matrix @ (scale[:, None] * rows))
        best = np.einsum("akl,al->ak", doubt, pull)
        rows = (1 - STEP) * rows + STEP * best
        prior = np.mean(rows[:, :, None] * rows[:, None, :] + doubt, 0)
    return rows @ np.linalg.eigh(prior)[1][:, ::-1]


def _start(matrix: Doubles, scale: Doubles, factors: int, spread: float) -> Doubles:
    """Return the leading eigenvectors, as rows of at most the expected norm."""
    last = len(matrix) - 1
    values, axes = linalg.eigh(matrix, subset_by_index=(last + 1 - factors, last))
    leading = np.asarray(axes, np.float64) * np.sqrt(np.maximum(values, 0))
    rows = leading / scale[:, None]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1, spread / np.maximum(norms, LEAST))
