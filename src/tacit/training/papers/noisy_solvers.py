"""The two solvers of Xian et al. and Berlioz et al.: noisy descent, and noisy exact solutions.

Numbers are in stars, a quarter of the scale's range. `NoisyReleases` draws all noise.

Noise of Algorithms 2 and 3 as printed by Xian et al., and the resulting privacy loss.

A row x of one side solves  min sum (c - x . q)^2 + h ||x||^2  over its n ratings, h = l n with a
ridge l per rating. One rating may change by the range Dr. The displayed formulas are lost; these
are Chaudhuri, Monteleoni and Sarwate's (2011), which the text cites, with Lambda = 2 l in their
notation and c = 2, the second derivative of the squared loss.

They hold for losses whose first derivative is at most 1, and rows of norm at most 1. The squared
loss has 2 |c - x . q|, up to 2 Dr, and q is unbounded: see `objective_loss`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels.als import grams
from tacit.kernels.layout import Layout, Side
from tacit.kernels.sgd import Parameters, Rates, descend
from tacit.models.fitted import Fitted
from tacit.models.least_squares.svd import STARS, own_precision
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.accounting import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases

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
    `tacit.training.value.factors.ridge_sensitivity`. `held`: shape (rows,), as S.
    """
    return width * norm / held


Ints = NDArray[np.int64]

RATE, RIDGE = 0.02, 0.05
"""Learning rate, and ridge per rating. Both are ours: neither paper states them."""

START = 0.1
"""Standard deviation of initial row entries, from a public seed: ours."""

MOST = 2.0
"""Clipping bound of noisy errors, in stars: from Berlioz et al., used for Xian et al. too."""

WIDEST = 10.0
"""Norm bound of rows in Algorithm 2, in square roots of a star: ours. The paper has no bound, and
at a small epsilon the rows grow from round to round until they overflow."""

UNIT = 1 << 20
"""Grid steps per unit of declared sensitivity of a noisy row."""


def share(epsilon: str, parts: int | Decimal) -> str:
    """Return epsilon / parts, in nats, rounded down.

    Raises `RequestError` unless epsilon is a positive decimal, large enough to be divided.
    """
    each = shortest((nats(epsilon) / parts).quantize(Decimal("1e-15"), ROUND_FLOOR))
    if each == "0":
        raise RequestError(f"epsilon '{epsilon}' is too small to split; use a larger one.")
    return each


def random_start(layout: Layout, factors: int, *, implicit: bool, rng: int) -> Parameters:
    """Return zero biases, small random rows, and y likewise if `implicit`, else 0.

    `rng` is public.
    """
    draw, m, n = np.random.default_rng(rng), len(layout.users.counts), len(layout.items.counts)
    p, q, y = (START * draw.standard_normal((rows, factors)) for rows in (m, n, n))
    return Parameters(np.zeros(m), np.zeros(n), p, q, y * implicit)


def noisy_descent(
    side: Side,
    at: Parameters,
    looks: list[Callable[[], Doubles]],
    *,
    rate: float,
    ridge: float,
    implicit: bool,
    advance: Callable[[float], None],
) -> None:
    """Run one epoch per query in `looks`, each a fresh noisy copy of the target, in stars.

    e' = clip(r - r^ + noise): since r^ is computed from earlier queries, noise on r is noise on the
    error. Updates `at`.
    """
    rates = Rates(0.0, rate, rate, rate * implicit)
    for epoch, look in enumerate(looks):
        descend(side, look(), at, rates, ridge, MOST)
        advance((epoch + 1) / len(looks))


@dataclass(frozen=True)
class NoisySolve:
    """Noisy solution of one side's rows given the other's, at `epsilon` nats per rating value.

    `ridge`: l, per rating.
    """

    releases: NoisyReleases
    epsilon: str
    ridge: float

    def objective(
        self, name: str, side: Side, design: Doubles, left: Doubles, means: Doubles, all_n: int
    ) -> Doubles:
        """Run Algorithm 2: rows that minimise the objective plus b . x + Delta / 2 ||x||^2.

        `left`: target, canonical order, less the contribution of `means` (rows, K). `all_n`: n of
        every row, or 0 for each row's own count.
        """
        counts = np.maximum(side.counts, 1).astype(np.float64)
        n = np.full(len(counts), float(all_n)) if all_n else counts
        law = objective_law(float(self.epsilon), n, 2 * self.ridge)
        squares = grams(side, design)
        # b / 2 on the right-hand side: half of b has density exp(-epsilon' ||.||).
        right = self._noisy(name, sums_of_rows(side, design, left), law.epsilon)
        held = self.ridge * counts + n * law.extra / 2
        return projected(solved(squares, right - _each(squares, means), held), WIDEST)

    def output(
        self,
        name: str,
        side: Side,
        design: Doubles,
        left: Doubles,
        means: Doubles,
        *,
        sensitivity: Callable[[Doubles], Doubles],
        norm: float,
    ) -> Doubles:
        """Run Algorithm 3: rows solved exactly, with noise, projected to norm at most `norm`.

        `sensitivity`: L2 sensitivity of a row as a function of its ridge h, (rows,).
        """
        held = self.ridge * np.maximum(side.counts, 1)
        squares = grams(side, design)
        right = sums_of_rows(side, design, left) - _each(squares, means)
        rates = float(self.epsilon) / sensitivity(held)
        return projected(self._noisy(name, solved(squares, right, held), rates), norm)

    def _noisy(self, name: str, rows: Doubles, rates: Doubles) -> Doubles:
        """Add noise of density exp(-rate ||.||) to rows, with a rate per row."""
        # In units of epsilon / rate, the sensitivity of a row, all rows are alike.
        steps = UNIT * (rates / float(self.epsilon))[:, None]
        # Rounding moves each of two rows by at most half a step an entry, sqrt K in all.
        declared = UNIT + int(np.ceil(rows.shape[1] ** 0.5)) + 1
        scaled = np.rint(rows * steps).astype(np.int64)
        noisy = self.releases.vectors(name, scaled, sensitivity=declared, epsilon=self.epsilon)
        return noisy / steps


def sums_of_rows(side: Side, design: Doubles, left: Doubles) -> Doubles:
    """Return sum_c left_c q_c over the cells of each row; `left` in canonical order.

    The order of summation is fixed.
    """
    table = csr_array((left[side.cell], side.other, side.start), (len(side.counts), len(design)))
    return np.asarray(table @ design, np.float64)


def solved(squares: Doubles, right: Doubles, held: Doubles) -> Doubles:
    """Return (A + h I)^-1 right, with h per row, (rows,).

    By eigenvalues: the other side's rows are unbounded, and where noise makes them huge, h would be
    lost in A.
    """
    values, basis = np.linalg.eigh(squares)
    inside = np.einsum("rji,rj->ri", basis, right) / (np.maximum(values, 0) + held[:, None])
    return np.einsum("rij,rj->ri", basis, inside)


def projected(rows: Doubles, norm: float) -> Doubles:
    """Project rows to norm at most `norm`, slightly inside to allow for rounding.

    Shape (rows, K).
    """
    lengths = np.sqrt((rows**2).sum(1, keepdims=True))
    return rows * np.minimum(1, norm * (1 - 1e-12) / np.maximum(lengths, 1e-300))


def _each(squares: Doubles, rows: Doubles) -> Doubles:
    return np.einsum("rij,rj->ri", squares, rows)


# Conversion of trained SVD parameters to one bilinear form on the scale of the data.


def fitted_svd(
    name: str, ratings: Ratings, mean: float, people: Doubles, items: Doubles, claim: Guarantee
) -> Fitted:
    """Return a point estimate with the linear link.

    Of `ratings` only presence is read, public here.

    In stars: `mean`, relative to the middle of the scale; `people` and `items`, rows of 1 + K, bias
    first, shapes (users, 1 + K) and (items, 1 + K). Rows of unrated users and items are set to
    zero.
    """
    low, high = ratings.scale.values[0], ratings.scale.values[-1]
    star = (high - low) / STARS
    rated = np.zeros(len(people), np.bool_)
    rated[ratings.users] = True
    known = np.zeros(len(items), np.bool_)
    known[ratings.items] = True
    people, items = people * rated[:, None], items * known[:, None]
    in_stars = np.column_stack([star * items[:, 0], items[:, 1:]])
    return Fitted.point(
        name,
        ratings,
        mu=(low + high) / 2 + star * mean,
        people=star * people,
        items=in_stars,
        precision=own_precision(people[rated]),
        guarantee=ratings.qualified(claim),
    )
