"""Implicit part of SVD++ as post-processing: user factors predicted from presence.

z_u = |N(u)|^-1/2 sum over j in N(u) of y_j. Presence is public at the unit `value`, and the rows
x_u are released; y is the ridge regression of these rows on the public table, and reads no rating.
The paper's estimate of y is lost; its use of raw ratings is one reason why the claim fails.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]

SHARE = 0.5
"""Prior fraction of the variance of user rows that presence explains."""


def prior_rows(side: Side, items: int, rows: Doubles, prior: float) -> Doubles:
    """Return z of all users, shape (users, K). `rows`: released. `prior`: variance of an entry.

    Minimises sum ||x_u - z_u||^2 / v + ||y||^2 / w by conjugate gradients, w = `SHARE` of the prior
    and v the rest of it: N(u) has unit norm in z, so that z_u has variance w.
    """
    table = _table(side, items)
    ridge = (1 - SHARE) / SHARE
    system = LinearOperator(
        (items, items), matvec=lambda y: table.T @ (table @ y) + ridge * y, dtype=np.float64
    )
    right = table.T @ rows
    y = np.column_stack([cg(system, column, rtol=1e-6, maxiter=200)[0] for column in right.T])
    return table @ y


def _table(side: Side, items: int) -> csr_array:
    weights = np.repeat(1 / np.sqrt(np.maximum(side.counts, 1)), side.counts)
    return csr_array((weights, side.other, side.start), shape=(len(side.counts), items))
