"""The two engines of Xian et al. and of Berlioz et al.: noisy descent, and noisy exact solves.

Numbers are in stars, a star being a quarter of the scale's range. `NoisyReleases` draws all noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels.layout import Layout, Side
from tacit.kernels.normal import grams
from tacit.kernels.sgd import Parameters, Rates, descend
from tacit.scale import shortest
from tacit.training.mechanism.epsilon import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases
from tacit.training.papers.xian_noise import objective_law

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

RATE, RIDGE = 0.02, 0.05
"""Of learning, and on each rating: both ours, since neither paper's are known."""

START = 0.1
"""Deviation of the entries of every row at the start, drawn in public: ours."""

MOST = 2.0
"""Where a noisy error is cut, in stars: Berlioz et al.'s figure, taken for Xian et al.'s too."""

WIDEST = 10.0
"""The norm that rows of Algorithm 2 are brought to, in roots of a star: ours. Nothing holds them in
the paper, and at a small epsilon they grow from round to round until no number holds them."""

UNIT = 1 << 20
"""Grid steps to what a noisy row is declared to move by."""


def share(epsilon: str, parts: int | Decimal) -> str:
    """epsilon / parts, in nats, rounded down.

    Raises `RequestError` unless epsilon is a positive decimal, large enough to be shared.
    """
    each = shortest((nats(epsilon) / parts).quantize(Decimal("1e-15"), ROUND_FLOOR))
    if each == "0":
        raise RequestError(f"epsilon '{epsilon}' is too small to split; use a larger one.")
    return each


def random_start(layout: Layout, factors: int, *, implicit: bool, rng: int) -> Parameters:
    """Levels of zero, small random rows, and y beside them or zero; `rng` is public."""
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
    """One epoch for each look: a look is a fresh noisy copy of what is to be explained, in stars.

    e' = cut(r - r^ + noise): since r^ comes from earlier looks, noise on r is noise on the error.
    Changes `at`.
    """
    rates = Rates(0.0, rate, rate, rate * implicit)
    for epoch, look in enumerate(looks):
        descend(side, look(), at, rates, ridge, MOST)
        advance((epoch + 1) / len(looks))


@dataclass(frozen=True)
class NoisySolve:
    """How rows of one side are had from the other's, at `epsilon` nats per rating value a solve.

    `ridge`: l, on each rating.
    """

    releases: NoisyReleases
    epsilon: str
    ridge: float

    def objective(
        self, name: str, side: Side, design: Doubles, left: Doubles, means: Doubles, all_n: int
    ) -> Doubles:
        """Algorithm 2: rows that minimise the objective with b . x + Delta / 2 ||x||^2 added.

        `left`: what is to be explained, canonical order, less what `means` (rows, K) explain
        already. `all_n`: taken for every row's n, or 0 for its own.
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
        """Algorithm 3: rows solved exactly, with noise, brought to at most `norm`.

        `sensitivity`: how far a row may move in L2, given the weight h of its ridge, (rows,).
        """
        held = self.ridge * np.maximum(side.counts, 1)
        squares = grams(side, design)
        right = sums_of_rows(side, design, left) - _each(squares, means)
        rates = float(self.epsilon) / sensitivity(held)
        return projected(self._noisy(name, solved(squares, right, held), rates), norm)

    def _noisy(self, name: str, rows: Doubles, rates: Doubles) -> Doubles:
        """Rows plus noise of density exp(-rate ||.||), each row its own rate."""
        # In units of epsilon / rate, which is what a row may move by, all rows are alike.
        steps = UNIT * (rates / float(self.epsilon))[:, None]
        # Rounding moves each of two rows by at most half a step an entry, sqrt K in all.
        declared = UNIT + int(np.ceil(rows.shape[1] ** 0.5)) + 1
        given = np.rint(rows * steps).astype(np.int64)
        noisy = self.releases.vectors(name, given, sensitivity=declared, epsilon=self.epsilon)
        return noisy / steps


def sums_of_rows(side: Side, design: Doubles, left: Doubles) -> Doubles:
    """sum_c left_c q_c over the cells of each row, in a fixed order; `left` in canonical order."""
    table = csr_array((left[side.cell], side.other, side.start), (len(side.counts), len(design)))
    return np.asarray(table @ design, np.float64)


def solved(squares: Doubles, right: Doubles, held: Doubles) -> Doubles:
    """(A + h I)^-1 right, each row with its own h, (rows,).

    By eigenvalues: nothing holds the other side's rows, and where noise has made them huge, h would
    be lost in A.
    """
    values, basis = np.linalg.eigh(squares)
    inside = np.einsum("rji,rj->ri", basis, right) / (np.maximum(values, 0) + held[:, None])
    return np.einsum("rij,rj->ri", basis, inside)


def projected(rows: Doubles, norm: float) -> Doubles:
    """Rows brought to at most `norm`, a hair inside, so that no rounding takes them over it.

    Shape (rows, K).
    """
    lengths = np.sqrt((rows**2).sum(1, keepdims=True))
    return rows * np.minimum(1, norm * (1 - 1e-12) / np.maximum(lengths, 1e-300))


def _each(squares: Doubles, rows: Doubles) -> Doubles:
    return np.einsum("rij,rj->ri", squares, rows)
