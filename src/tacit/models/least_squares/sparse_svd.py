"""Singular values and vectors of sparse and factored matrices, by products with few columns.

Dense algebra is limited to K x K matrices and products with them. Decompositions of tall matrices
and reorthogonalized Lanczos vectors would synchronize all cores at every small step.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array

Doubles = NDArray[np.float64]
STEPS = 60  # most Lanczos steps
ROUNDS, SPARE = 3, 8  # subspace iterations, and oversampled columns
TINY = 1e-12  # squared lengths below this fraction of the largest are rounding errors


def norm(R: csr_array) -> float:
    """Return the largest singular value by Lanczos on R'R, a lower bound up to rounding.

    Loss of orthogonality repeats values but does not change the largest one.
    """
    v, before, b = _start(R.shape[1], 1)[:, 0], np.zeros(R.shape[1]), 0.0
    v, diagonal, off_diagonal = v / np.linalg.norm(v), list[float](), list[float]()
    for _ in range(min(STEPS, R.shape[1])):
        w = R.T @ (R @ v) - b * before
        diagonal.append(float(v @ w))
        w -= diagonal[-1] * v
        b = float(np.linalg.norm(w))
        off_diagonal.append(b)
        if b * b <= TINY * diagonal[0]:
            break
        before, v = v, w / b
    if len(diagonal) == 1:
        return float(np.sqrt(diagonal[0]))
    values = eigh_tridiagonal(diagonal, off_diagonal[: len(diagonal) - 1], eigvals_only=True)
    return float(np.sqrt(values[-1]))


def outside(R: csr_array, A: Doubles, B: Doubles, count: int) -> tuple[Doubles, Doubles, Doubles]:
    """Return leading left vectors, values and right vectors of (I - A A') R (I - B B').

    R: shape (m, n). A: (m, K), B: (n, K), with orthonormal columns. `count`: about how many.
    """

    def forth(x: Doubles) -> Doubles:
        return _without(A, R @ _without(B, x))

    def back(x: Doubles) -> Doubles:
        return _without(B, R.T @ _without(A, x))

    x = _orthonormal(_start(R.shape[1], count + SPARE))
    for _ in range(ROUNDS):
        x = _orthonormal(back(forth(x)))
    y = forth(x)
    squares, turn = _spectrum(y, count)
    values = np.sqrt(squares)
    return y @ (turn / values), values, x @ turn


def balanced(U: Doubles, V: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return U2, the singular values D of U V', and V2, with U2 V2' = U V', U2'U2 = V2'V2 = D.

    With S = (U'U)^1/2 and S V'V S = P D^2 P': U2 = U S^-1 P D^1/2, V2 = V S P D^-1/2. U: shape (m,
    K), V: (n, K).
    """
    squares, Q = _spectrum(U, U.shape[1])
    root = np.sqrt(squares)
    turned = (V @ Q) * root
    fourths, P = _spectrum(turned, turned.shape[1])
    D = np.sqrt(fourths)
    return U @ ((Q / root) @ P) * np.sqrt(D), D, turned @ P / np.sqrt(D)


def _start(rows: int, columns: int) -> Doubles:
    return np.random.default_rng(0).standard_normal((rows, min(rows, columns)))


def _without(basis: Doubles, x: Doubles) -> Doubles:
    return x - basis @ (basis.T @ x)


def _orthonormal(X: Doubles) -> Doubles:
    squares, turn = _spectrum(X, X.shape[1])
    return X @ (turn / np.sqrt(squares))


def _spectrum(X: Doubles, count: int) -> tuple[Doubles, Doubles]:
    """Return the `count` largest eigenvalues of X'X, decreasing, and their vectors; no zeros."""
    values, vectors = np.linalg.eigh(X.T @ X)
    there = values > TINY * values.max(initial=0)
    return values[there][::-1][:count], vectors[:, there][:, ::-1][:, :count]
