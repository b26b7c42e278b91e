"""Matrix completion with the nuclear norm, by alternating least squares.

    min over M  ||P(Z - M)||_F^2 / 2 + lambda ||M||_*,     ||M||_* = min (||U||^2 + ||V||^2) / 2

over M = U V' (Hastie, Mazumder, Lee and Zadeh 2015), P the reported cells: with enough columns it
is the ridge problem that every least-squares model here solves, so the one kernel solves it. Where
biases are fitted they are held by lambda / 2 and cost lambda (||b_u||^2 + ||b_i||^2) / 4 more.

The residual R = P(Z - M) tells how far off a fit is. At the least M = U D V' it is lambda U V' + W
with W orthogonal to U and V and no singular value beyond lambda: directions of W that are beyond
it are those in which M should grow. And no M does better than `objective - slack`, the dual at
Y = R min(1, lambda / ||R||_2). M and R are never laid out.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, svds

from tacit.models.evidence import Evidence
from tacit.models.least_squares import FREE, Factors

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
SWEEPS, LOOKS = 3, 300  # sweeps between two looks at the residual, and looks at most
ENTER = 8  # directions that enter at a look, or as many as there are
SMALL = 64  # a matrix with a side so short is decomposed whole
FAINT = 1e-4  # a singular value below this share of lambda is rounding


@dataclass(eq=False)
class SoftImpute:
    """The problem and the best M so far, from which the next solve starts.

    `target`: Z, canonical order, shape (n,). `factors`: M, as balanced U and V beside the biases.
    `rank`: of M, at most. `shrinkage`: lambda, in units of Z.
    """

    data: Evidence
    target: Floats
    factors: Factors
    rank: int
    shrinkage: float = np.inf

    @classmethod
    def start(cls, data: Evidence, target: Floats, *, rank: int, biases: bool) -> Self:
        """M = 0. With `biases` Z is centred by its mean, without by nothing."""
        mu = float(target.mean(dtype=np.float64)) if biases else 0.0
        people, items = np.zeros((len(data.user_ids), 1)), np.zeros((len(data.item_ids), 1))
        ridge = np.array([0 if biases else FREE], np.float32)
        factors = Factors(mu, people.astype(np.float32), items.astype(np.float32), ridge)
        return cls(data, target, factors, min(rank, len(people), len(items)))

    def solve(self, shrinkage: float, gap: float) -> None:
        """Minimise at lambda = `shrinkage`, to within the share `gap` of the objective.

        At the cap on the rank it ends when a round of sweeps gains less than that.
        """
        self.shrinkage, even, last = shrinkage, np.ones(len(self.target), np.float32), np.inf
        for _ in range(LOOKS):
            self._hold()
            for _ in range(SWEEPS):
                self.factors.sweep(self.data, self.target, even)
            self._balance()
            now, full = self.objective, len(self.values) == self.rank
            if self.slack <= gap * now or (full and last - now <= gap * now):
                return
            last = now
            self._grow()

    @property
    def balanced(self) -> tuple[Doubles, Doubles]:
        """U and V, shapes (people, K) and (items, K), with U'U = V'V diagonal and M = U V'."""
        people, items = self.factors.people, self.factors.items
        return people[:, 1:].astype(np.float64), items[:, 1:].astype(np.float64)

    @property
    def values(self) -> Doubles:
        """The singular values of M, shape (K,)."""
        return np.square(self.balanced[0]).sum(0)

    @property
    def residual(self) -> Doubles:
        """R at the reported cells, shape (n,)."""
        return (self.target - self.factors.predict(self.data)).astype(np.float64)

    @property
    def distance(self) -> float:
        """||R||_F: what equation (4) of Zheng holds to rho."""
        return float(np.linalg.norm(self.residual))

    @property
    def norm(self) -> float:
        """||R||_2."""
        R = self._matrix(self.residual)
        operator = LinearOperator(
            R.shape, dtype=R.dtype, matvec=R.__matmul__, rmatvec=R.T.__matmul__
        )
        return float(_leading(operator, 1)[1][0])

    @property
    def objective(self) -> float:
        """||R||_F^2 / 2 + lambda (||M||_* + (||b_u||^2 + ||b_i||^2) / 4)."""
        levels = np.concatenate([self.factors.people[:, 0], self.factors.items[:, 0]])
        held = float(self.values.sum() + np.square(levels, dtype=np.float64).sum() / 4)
        return self.distance**2 / 2 + self.shrinkage * held

    @property
    def slack(self) -> float:
        """How far above the least objective this one is, at most.

        The dual is <Y, Z> - ||Y||_F^2 / 2 - (||Y 1||^2 + ||Y' 1||^2) / lambda, ||Y||_2 <= lambda,
        its last term with biases only.
        """
        R = self.residual
        Y = self._matrix(R * (self.shrinkage / max(self.norm, self.shrinkage)))
        dual = float(Y.data @ (self.target - self.factors.mu)) - float(Y.data @ Y.data) / 2
        if self._biases:
            dual -= float(np.sum(Y.sum(0) ** 2) + np.sum(Y.sum(1) ** 2)) / self.shrinkage
        return self.objective - dual

    @property
    def _biases(self) -> bool:
        return self.factors.ridge[0] != FREE

    def _hold(self) -> None:
        bias = self.shrinkage / 2 if self._biases else float(FREE)
        columns = self.factors.people.shape[1] - 1
        self.factors.ridge = np.array([bias] + [self.shrinkage] * columns, np.float32)

    def _balance(self) -> None:
        """M = (A sqrt(D)) (B sqrt(D))' with A and B orthonormal, without what is rounding."""
        (A, left), (B, right) = (np.linalg.qr(columns) for columns in self.balanced)
        turn, D, back = _decomposed(left @ right.T)
        kept = FAINT * self.shrinkage < D
        root = np.sqrt(D[kept])
        self._replace(A @ turn[:, kept] * root, B @ back[kept].T * root)

    def _grow(self) -> None:
        """A soft-impute step where M has no direction: W's singular values, shrunk by lambda."""
        columns = len(self.values)
        room = min(max(ENTER, columns), self.rank - columns)
        if room == 0:
            return
        left, found, right = _leading(self._complement(), room)
        root = np.sqrt(np.maximum(found - self.shrinkage, 0))
        new = root > 0
        U, V = self.balanced
        self._replace(
            np.hstack([U, left[:, new] * root[new]]), np.hstack([V, right[:, new] * root[new]])
        )

    def _complement(self) -> LinearOperator:
        """W = (I - A A') R (I - B B')."""
        R, root = self._matrix(self.residual), np.sqrt(self.values)
        A, B = (columns / root for columns in self.balanced)
        return LinearOperator(
            R.shape,
            dtype=R.dtype,
            matvec=lambda x: _without(A, R @ _without(B, x)),
            rmatvec=lambda x: _without(B, R.T @ _without(A, x)),
        )

    def _replace(self, U: Doubles, V: Doubles) -> None:
        levels = self.factors.people[:, :1], self.factors.items[:, :1]
        self.factors.people = np.hstack([levels[0], U]).astype(np.float32)
        self.factors.items = np.hstack([levels[1], V]).astype(np.float32)

    def _matrix(self, cells: Doubles) -> csr_array:
        side = self.data.layout.users
        shape = len(self.data.user_ids), len(self.data.item_ids)
        return csr_array((cells, side.other, side.start), shape=shape)


def _without(basis: Doubles, x: Doubles) -> Doubles:
    return x - basis @ (basis.T @ x)


def _leading(operator: LinearOperator, count: int) -> tuple[Doubles, Doubles, Doubles]:
    """The `count` largest singular values with their vectors, left and right, as columns."""
    if min(operator.shape) <= max(SMALL, 2 * count):
        left, found, right = _decomposed(operator @ np.eye(operator.shape[1]))
        return left[:, :count], found[:count], right[:count].T
    even = np.ones(min(operator.shape)) / np.sqrt(min(operator.shape))
    left, found, right = svds(operator, k=count, v0=even, tol=1e-3)
    return left, np.asarray(found, np.float64), right.T


def _decomposed(dense: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    # The faster driver at times gives up on sound matrices of less than full rank, which W is.
    return svd(dense, full_matrices=False, lapack_driver="gesvd")
