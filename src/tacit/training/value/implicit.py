"""The implicit part of SVD++ as post-processing: tastes foretold by who rated what.

z_u = |N(u)|^-1/2 sum over j in N(u) of y_j. Who rated what is public at the unit `value`, and so
are released rows x_u; y is the ridge regression of these rows on the public table, and reads no
rating.
How the paper learns y is lost; that it does so from raw ratings is part of why its claim fails.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]

SHARE = 0.5
"""The share of people's taste that who-rated-what is taken to foretell, before anything is seen."""


def prior_rows(side: Side, items: int, rows: Doubles, prior: float) -> Doubles:
    """z of everybody, shape (people, K). `rows`: released; `prior`: the variance of an entry.

    Minimises sum ||x_u - z_u||^2 / v + ||y||^2 / w by conjugate gradients, w = `SHARE` of the prior
    and v what is left of it: N(u) has unit norm in z, so that z_u has variance w.
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
