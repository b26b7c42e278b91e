"""Noise of Algorithms 2 and 3 as printed by Xian et al., and the resulting privacy loss.

A row x of one side solves  min sum (c - x . q)^2 + h ||x||^2  over its n ratings, h = l n with a
ridge l per rating. One rating may change by the range Dr. The displayed formulas are lost; these
are Chaudhuri, Monteleoni and Sarwate's (2011), which the text cites, with Lambda = 2 l in their
notation and c = 2, the second derivative of the squared loss.

They hold for losses whose first derivative is at most 1, and rows of norm at most 1. The squared
loss has 2 |c - x . q|, up to 2 Dr, and q is unbounded: see `objective_loss`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

CURVATURE = 2.0
"""c: the bound on the second derivative of the squared loss, as printed."""


class ObjectiveLaw(NamedTuple):
    """Terms that Algorithm 2 adds to each row's J(x) = 1/n sum (..)^2 + Lambda/2 ||x||^2:

        b . x / n + extra / 2 ||x||^2,       b of density exp(-epsilon / 2 ||b||)

    Shapes (rows,): `epsilon` is epsilon', in nats, `extra` is Delta.
    """

    epsilon: Doubles
    extra: Doubles


def objective_law(epsilon: float, counts: Doubles, ridge: float) -> ObjectiveLaw:
    """Return epsilon' and Delta of Algorithm 2 for rows of `counts` ratings; Lambda is `ridge`.

        epsilon' = epsilon - ln(1 + 2 c / (n Lambda) + c^2 / (n Lambda)^2),     Delta = 0

    or, if that is not above zero, epsilon / 2 and c / (n (e^(epsilon / 4) - 1)) - Lambda.

    `counts`: shape (rows,), as of both results. `epsilon`: nats per rating value, as claimed.

    >>> law = objective_law(1.0, np.array([20.0, 100.0, 500.0]), 0.1)
    >>> law.epsilon.round(3).tolist(), law.extra.round(3).tolist()
    ([0.5, 0.635, 0.922], [0.252, 0.0, 0.0])
    """
    share = CURVATURE / (counts * ridge)
    left = epsilon - 2 * np.log1p(share)
    extra = CURVATURE / (counts * np.expm1(min(epsilon / 4, 600.0))) - ridge
    enough = left > 0
    return ObjectiveLaw(np.where(enough, left, epsilon / 2), np.where(enough, 0.0, extra))


def objective_loss(
    epsilon: float, counts: Doubles, ridge: float, norm: float, width: float
) -> Doubles:
    """Return the exact privacy loss of one rating in a row of Algorithm 2: epsilon' Dr ||q||.

    x and b determine each other by an affine map, which for all ratings is the same up to a shift.
    So the loss is that of b, which moves by 2 q Dr, at epsilon' / 2 (`norm`: of q; `width`: Dr). In
    nats. The bound is attained where b is parallel to q.

    >>> objective_loss(1.0, np.array([20.0, 100.0, 500.0, 3000.0]), 0.1, 1.0, 4.0).round(2).tolist()
    [2.0, 2.54, 3.69, 3.95]
    """
    return objective_law(epsilon, counts, ridge).epsilon * norm * width


def output_sensitivity(width: float, norm: float, held: Doubles) -> Doubles:
    """Return S of Algorithm 3, Dr q_max / h: gradient change 2 Dr q_max over curvature 2 h.

    Sufficient where norms are bounded. The required value is
    `tacit.training.value.solve.ridge_sensitivity`. `held`: shape (rows,), as S.
    """
    return width * norm / held
