"""Rows from noisy normal equations: the ridge of the paper, and the posterior mean.

A release says  c x + error  in the eigenbasis of the Gram matrix A, whose eigenvalues are a:

    objective perturbation   c = a             error variance  s^2 a + v
    output perturbation      c = a / (a + l)   error variance  s^2 a / (a + l)^2 + v

s^2 is the variance of a rating around x . q, v that of the added noise in each entry: both public.
With x ~ Normal(z, t^2) the posterior mean is z + (release - c z) c / (c^2 + error variance / t^2):
post-processing, which costs nothing, and does not mistake noise for taste.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Where = Literal["objective", "output"]


@dataclass(frozen=True)
class Law:
    """`rating`: s^2. `noise`: v. `prior`: t^2. `ridge`: l. In units of the residual's bound."""

    rating: float
    noise: float
    prior: float
    ridge: float


def ridge_rows(grams: Doubles, right: Doubles, ridge: float) -> Doubles:
    """(A + l I)^-1 right, row by row; shapes (rows, K, K) and (rows, K)."""
    held = grams + ridge * np.eye(grams.shape[1])
    return np.asarray(np.linalg.solve(held, right[:, :, None])[:, :, 0], np.float64)


def posterior_rows(
    grams: Doubles, released: Doubles, means: Doubles, law: Law, where: Where
) -> Doubles:
    """The posterior mean of each row, `means` z; shapes (rows, K, K), (rows, K), (rows, K)."""
    eigenvalues, basis = np.linalg.eigh(grams)
    a = np.maximum(eigenvalues, 0)
    held = a + law.ridge if where == "output" else 1.0
    c = a / held
    error = law.rating * a / held**2 + law.noise
    gain = c / np.maximum(c**2 + error / law.prior, 1e-300)
    inside = _turned(basis.transpose(0, 2, 1), released) - c * _turned(
        basis.transpose(0, 2, 1), means
    )
    return means + _turned(basis, gain * inside)


def ridge_sensitivity(change: float, norm: float, ridge: float) -> float:
    """How far (Q'Q + l I)^-1 Q'r moves, in L2, when one entry of r moves by `change`.

    At most change t / (l + t^2) with t = min(norm, sqrt l), whatever Q with rows of at most `norm`:
    Sherman and Morrison give ||M^-1 q|| <= sqrt(s / l) / (1 + s), s = q' M_-q^-1 q <= norm^2 / l.
    Never more than change / (2 sqrt l), where the paper's bound is change norm / l.
    """
    return float(ridge_sensitivities(change, norm, np.array([ridge]))[0])


def ridge_sensitivities(change: float, norm: float, ridges: Doubles) -> Doubles:
    """`ridge_sensitivity` for each of `ridges`, (rows,)."""
    t = np.minimum(norm, np.sqrt(ridges))
    return change * t / (ridges + t * t)


def _turned(basis: Doubles, rows: Doubles) -> Doubles:
    return np.einsum("rij,rj->ri", basis, rows)
