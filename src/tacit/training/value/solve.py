"""Rows from noisy normal equations: the paper's ridge solution, and the posterior mean.

A release equals  c x + error  in the eigenbasis of the Gram matrix A, whose eigenvalues are a:

    objective perturbation   c = a             error variance  s^2 a + v
    output perturbation      c = a / (a + l)   error variance  s^2 a / (a + l)^2 + v

s^2 is the variance of a rating around x . q, v that of the added noise in each entry: both public.
With x ~ Normal(z, t^2) the posterior mean is z + (release - c z) c / (c^2 + error variance / t^2).
It is post-processing without privacy cost, and shrinks noise.
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
    """Return (A + l I)^-1 right, row by row; shapes (rows, K, K) and (rows, K)."""
    held = grams + ridge * np.eye(grams.shape[1])
    return np.asarray(np.linalg.solve(held, right[:, :, None])[:, :, 0], np.float64)


def posterior_rows(
    grams: Doubles, released: Doubles, means: Doubles, law: Law, where: Where
) -> Doubles:
    """Return the posterior mean of each row, shape (rows, K). `means`: z.

    `grams`: shape (rows, K, K). `released`, `means`: shape (rows, K).
    """
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
    """Return the L2 change of (Q'Q + l I)^-1 Q'r when one entry of r changes by `change`.

    At most change t / (l + t^2) with t = min(norm, sqrt l), for any Q with rows of norm at most
    `norm`: Sherman and Morrison give ||M^-1 q|| <= sqrt(s / l) / (1 + s), s = q' M_-q^-1 q <=
    norm^2 / l. This is at most change / (2 sqrt l), where the paper's bound is change norm / l.
    """
    return float(ridge_sensitivities(change, norm, np.array([ridge]))[0])


def ridge_sensitivities(change: float, norm: float, ridges: Doubles) -> Doubles:
    """Return `ridge_sensitivity` for each of `ridges`, (rows,)."""
    t = np.minimum(norm, np.sqrt(ridges))
    return change * t / (ridges + t * t)


def _turned(basis: Doubles, rows: Doubles) -> Doubles:
    return np.einsum("rij,rj->ri", basis, rows)
