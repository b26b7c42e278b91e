"""Matrix completion with the nuclear norm, by alternating least squares.

    min over M  ||P(Z - M)||_F^2 / 2 + lambda ||M||_*,     ||M||_* = min (||U||^2 + ||V||^2) / 2

over M = U V' (Hastie, Mazumder, Lee and Zadeh 2015), P the reported cells. With enough columns it
is a ridge problem, solved by the kernel of all least-squares models. Biases, if fitted, have the
ridge lambda / 2 and add lambda (||b_u||^2 + ||b_i||^2) / 4 to the objective.

The residual R = P(Z - M) measures the distance from the optimum. At the optimum M = U D V' it is
lambda U V' + W with W orthogonal to U and V and no singular value above lambda: M should grow along
directions of W that exceed it. No M has an objective below `objective - slack`, the dual at Y = R
min(1, lambda / ||R||_2). M and R are never materialized.

Singular values and vectors of sparse and factored matrices, by products with few columns.

Dense algebra is limited to K x K matrices and products with them. Decompositions of tall matrices
and reorthogonalized Lanczos vectors would synchronize all cores at every small step.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array

from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.half_steps import FREE, Factors

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


Floats = NDArray[np.float32]
SWEEPS, LOOKS = 3, 300  # sweeps between convergence checks, and most checks
NEAR, SEED = 0.05, 0.1  # fractions of lambda: tolerance of entering directions, and their value
ENTER = 8  # directions added per check, or as many as M has
FAR = 0.01  # relative slack above which the fit is far from convergence
FAINT = 1e-4  # singular values below this fraction of lambda are rounding errors


@dataclass(eq=False)
class SoftImpute:
    """The problem and the best M so far, which is the next solve's initial value.

    `target`: Z, canonical order, shape (n,). `factors`: M, as balanced U and V, and the biases.
    `rank`: most of M. `biases`: whether to fit biases. `shrinkage`: lambda, in units of Z.
    """

    data: Evidence
    target: Floats
    factors: Factors
    rank: int
    biases: bool
    shrinkage: float = np.inf

    @classmethod
    def start(
        cls, data: Evidence, target: Floats, *, rank: int, biases: bool, centre: float = 0.0
    ) -> Self:
        """Return M = 0. Z is centred by its mean with `biases`, otherwise by `centre`."""
        mu = float(target.mean(dtype=np.float64)) if biases else centre
        people, items = np.zeros((len(data.user_ids), 1)), np.zeros((len(data.item_ids), 1))
        ridge = np.array([FREE], np.float32)  # the bias ridge of an infinite lambda
        factors = Factors(mu, people.astype(np.float32), items.astype(np.float32), ridge)
        return cls(data, target, factors, min(rank, len(people), len(items)), biases)

    def solve(self, shrinkage: float, gap: float) -> None:
        """Minimise at lambda = `shrinkage`, up to the relative duality gap `gap`.

        At the cap on the rank it stops when a round of sweeps gains a hundredth of that.
        """
        self.shrinkage, even, last = shrinkage, np.ones(len(self.target), np.float32), np.inf
        self._hold()
        for _ in range(LOOKS):
            for _ in range(SWEEPS):
                self.factors.sweep(self.data, self.target, even)
            self._balance()
            now, full = self.objective, len(self.values) == self.rank
            off = self.slack / now if now > 0 else 0.0
            if off <= gap or (full and last - now <= 0.01 * gap * now):
                return
            last = now
            self._grow(min(off / FAR, 1))

    @property
    def balanced(self) -> tuple[Doubles, Doubles]:
        """U and V, shapes (users, K) and (items, K), with U'U = V'V diagonal and M = U V'."""
        people, items = self.factors.people, self.factors.items
        return people[:, 1:].astype(np.float64), items[:, 1:].astype(np.float64)

    @property
    def values(self) -> Doubles:
        """Singular values of M, shape (K,)."""
        return np.square(self.balanced[0]).sum(0)

    @property
    def residual(self) -> Doubles:
        """R at the reported cells, shape (n,)."""
        return (self.target - self.factors.predict(self.data)).astype(np.float64)

    @property
    def distance(self) -> float:
        """||R||_F, which equation (4) of Zheng bounds by rho."""
        return float(np.linalg.norm(self.residual))

    @property
    def norm(self) -> float:
        """||R||_2."""
        return norm(self._matrix(self.residual))

    @property
    def objective(self) -> float:
        """||R||_F^2 / 2 + lambda (||M||_* + (||b_u||^2 + ||b_i||^2) / 4)."""
        levels = np.concatenate([self.factors.people[:, 0], self.factors.items[:, 0]])
        held = float(self.values.sum() + np.square(levels, dtype=np.float64).sum() / 4)
        return self.distance**2 / 2 + self.shrinkage * held

    @property
    def slack(self) -> float:
        """Duality gap, an upper bound on the distance from the least objective.

        The dual is <Y, Z> - ||Y||_F^2 / 2 - (||Y 1||^2 + ||Y' 1||^2) / lambda, ||Y||_2 <= lambda,
        its last term with biases only.
        """
        R = self.residual
        Y = self._matrix(R * (self.shrinkage / max(self.norm, self.shrinkage)))
        dual = float(Y.data @ (self.target - self.factors.mu)) - float(Y.data @ Y.data) / 2
        if self.biases:
            dual -= float(np.sum(Y.sum(0) ** 2) + np.sum(Y.sum(1) ** 2)) / self.shrinkage
        return self.objective - dual

    def _hold(self) -> None:
        bias = self.shrinkage / 2 if self.biases else float(FREE)
        columns = self.factors.people.shape[1] - 1
        self.factors.ridge = np.array([bias] + [self.shrinkage] * columns, np.float32)

    def _balance(self) -> None:
        """Rebalance the columns of M and drop those at rounding level."""
        U, D, V = balanced(*self.balanced)
        retained = FAINT * self.shrinkage < D
        self._replace(U[:, retained], V[:, retained])

    def _grow(self, share: float) -> None:
        """Take a soft-impute step in new directions: W's singular values, shrunk by lambda.

        The values are lower bounds, so those slightly below lambda enter with a small value, and
        the following sweeps grow or shrink them. `share`: how small, 1 far from convergence.
        """
        columns, (U, V) = len(self.values), self.balanced
        room = min(max(ENTER, columns), self.rank - columns)
        if room == 0:
            return
        root = np.sqrt(self.values)
        left, values, right = outside(self._matrix(self.residual), U / root, V / root, room)
        over = values / self.shrinkage - 1
        new = over > -NEAR * share
        size = np.sqrt(self.shrinkage * np.maximum(over, SEED * share))
        self._replace(
            np.hstack([U, left[:, new] * size[new]]), np.hstack([V, right[:, new] * size[new]])
        )

    def _replace(self, U: Doubles, V: Doubles) -> None:
        levels = self.factors.people[:, :1], self.factors.items[:, :1]
        self.factors.people = np.hstack([levels[0], U]).astype(np.float32, order="C")
        self.factors.items = np.hstack([levels[1], V]).astype(np.float32, order="C")
        self._hold()

    def _matrix(self, cells: Doubles) -> csr_array:
        side = self.data.layout.users
        shape = len(self.data.user_ids), len(self.data.item_ids)
        return csr_array((cells, side.other, side.start), shape=shape)
