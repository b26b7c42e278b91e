"""Singular values and directions of sparse and of factored matrices, by products with few columns.

Dense algebra is of K x K matrices and of products with them: decompositions of tall matrices, and
Lanczos vectors kept orthogonal, would wait for all of a machine's cores at every small step.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array

Doubles = NDArray[np.float64]
STEPS = 60  # of Lanczos, at most
ROUNDS, SPARE = 3, 8  # of subspace iteration, and columns beyond those asked for
TINY = 1e-12  # a squared length below this share of the largest is rounding


def norm(R: csr_array) -> float:
    """The largest singular value, by Lanczos on R'R; never above it but for rounding.

    Orthogonality that is lost on the way repeats values, and leaves the largest as it is.
    """
    v, before, b = _start(R.shape[1], 1)[:, 0], np.zeros(R.shape[1]), 0.0
    v, diagonal, beside = v / np.linalg.norm(v), list[float](), list[float]()
    for _ in range(min(STEPS, R.shape[1])):
        w = R.T @ (R @ v) - b * before
        diagonal.append(float(v @ w))
        w -= diagonal[-1] * v
        b = float(np.linalg.norm(w))
        beside.append(b)
        if b * b <= TINY * diagonal[0]:
            break
        before, v = v, w / b
    if len(diagonal) == 1:
        return float(np.sqrt(diagonal[0]))
    values = eigh_tridiagonal(diagonal, beside[: len(diagonal) - 1], eigvals_only=True)
    return float(np.sqrt(values[-1]))


def outside(R: csr_array, A: Doubles, B: Doubles, count: int) -> tuple[Doubles, Doubles, Doubles]:
    """About the `count` leading left directions, values and right directions of
    (I - A A') R (I - B B'), A and B with orthonormal columns.

    R: shape (m, n), A: (m, K), B: (n, K).
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
    """U2, the singular values D of U V', and V2, with U2 V2' = U V' and U2'U2 = V2'V2 = D.

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
    """The `count` largest eigenvalues of X'X, falling, and their vectors; no zeros."""
    values, vectors = np.linalg.eigh(X.T @ X)
    there = values > TINY * values.max(initial=0)
    return values[there][::-1][:count], vectors[:, there][:, ::-1][:, :count]
