"""Second moments without noise: the few eigenvectors above the noise edge, shrunk.

Entries of a debiased G have noise of similar deviation s. If it were independent between entries,
no eigenvalue of pure noise in W G W, W the diagonal of item weights w, would exceed

    edge = s min_y y sqrt(sum_i w_i^2 / (y - w_i^2)),    y > max w^2,

which is 2 s sqrt(n) for equal weights (Wigner), and in general follows from Dyson's equation for
entries of the variance s^2 w_i^2 w_j^2: with c(z) = s^2 sum_i w_i^2 / (z - w_i^2 c) and y = z / c,
z is this function of y, and the spectrum ends at its minimum. An eigenvalue e above the edge
corresponds to a true one of sqrt(e^2 - edge^2): exactly so for equal weights, where it is the
shrinkage of least squared error (Gavish and Donoho, "Optimal shrinkage of singular values", 2017,
for the symmetric case). Entries share their users, so a few noise directions, more for fewer users
per item, exceed the edge by up to a factor sqrt(n / m) / 2 and keep a small value. The bound for
sums over users (Marchenko and Pastur, `CoOccurrence.spectral_edge`) drops them, and more of the
signal: devices use the first, the provider, whose own rows are noisy, the second.

An item's weight is its count to the power of an *emphasis*. Directions of popular items then exceed
their noise further, which helps where noise is strong; where it is weak, others are lost.

Leading directions of debiased presence, each entry scaled to equal noise.

with degrees that include the noise of a slot (`PresenceMatrix.degrees`), or the plain ones without
noise. Directions are computed by block power iteration (Halko, Martinsson and Tropp, "Finding
structure with randomness", 2011): a product with C costs as much as the number of reports, and the
users x items cells are never materialized.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.optimize import minimize_scalar

from tacit.models.evidence.presence_matrix import PresenceMatrix

Array = NDArray[Any]
Precision = type[np.float32] | type[np.float64]
Doubles = NDArray[np.float64]
LEAST = 0.05
"""Least weight base, as a fraction of the mean count; a count below it is mostly noise."""


@dataclass(frozen=True, eq=False)
class CoOccurrenceSpectrum:
    """Eigenpairs of W G W above the edge of its noise, W = diag(`weights`).

    `values`: shape (d,), ascending. `vectors`: shape (items, d). `widening`: noise edge of W G W
    over that of G.
    """

    weights: Doubles
    values: Doubles
    vectors: Doubles
    widening: float

    def denoised(self, edge: float) -> Doubles:
        """Return F with F F' = G without its noise, shape (items, d); d may be 0.

        `edge`: noise edge of G, at least the one that the pairs were computed for.
        """
        bound = edge * self.widening
        above = self.values > bound
        sizes = (self.values[above] ** 2 - bound**2) ** 0.25
        return np.asarray(self.vectors[:, above] / self.weights[:, None] * sizes, np.float64)


def spectrum(
    gram: Doubles, edge: float, emphasis: float = 0.0, *, precision: Precision = np.float64
) -> CoOccurrenceSpectrum:
    """Compute the eigenpairs of G above its noise edge. `precision`: type of the computation."""
    weights = emphasised(np.diag(gram).astype(np.float64), emphasis)
    widening = widened(weights)
    weighted: Array = (weights[:, None] * gram * weights).astype(precision)
    bounds = (edge * widening, np.inf)
    values, vectors = eigh(weighted, subset_by_value=bounds, driver="evr", overwrite_a=True)
    return CoOccurrenceSpectrum(weights, values, vectors, widening)


def emphasised(counts: Doubles, emphasis: float) -> Doubles:
    """Return the items' weights, shape (items,): 1 at the mean count."""
    mean = max(float(counts.mean()), 1.0)
    return np.maximum(counts / mean, LEAST) ** emphasis


def widened(weights: Doubles) -> float:
    """Return the noise edge of weighted items over that of unit weights."""
    squares = weights**2
    top = float(squares.max())

    def end(part: float) -> float:
        """Return z at y = top / part, over s."""
        return float(top / part * np.sqrt((squares / (top / part - squares)).sum()))

    least = minimize_scalar(end, bounds=(0.0, 1.0), method="bounded")
    return float(least.fun) / (2 * np.sqrt(len(weights)))


Floats = NDArray[np.float32]
MORE, ROUNDS, WARM_ROUNDS = 32, 6, 1
"""Oversampled directions, power iterations, and those from the directions of an earlier model."""


@dataclass(frozen=True, eq=False)
class ScaledPresence:
    """B as an operator. `people`, `items`: D^-1/2 of each side, shapes (users,), (items,)."""

    presence: PresenceMatrix
    people: Doubles
    items: Doubles

    def over_items(self, x: Floats) -> Floats:
        """Return B x, shape (users, K)."""
        scaled, (reported, queried) = _scaled(x, self._columns), self.presence.operands
        silent = scaled.sum(0)[None] if queried is None else queried @ scaled
        return _scaled(reported @ scaled, self._up) - _scaled(silent, self._down)

    def over_people(self, x: Floats) -> Floats:
        """Return B' x, shape (items, K)."""
        (reported, queried), down = self.presence.operands, _scaled(x, self._down)
        silent = down.sum(0)[None] if queried is None else queried.T @ down
        return _scaled(reported.T @ _scaled(x, self._up) - silent, self._columns)

    @cached_property
    def _columns(self) -> Doubles:
        return self.items * self.presence.lift

    @cached_property
    def _up(self) -> Doubles:
        return self.people * self.presence.gain

    @cached_property
    def _down(self) -> Doubles:
        return self._up * self.presence.unrated


def leading_items(
    scaled: ScaledPresence,
    count: int,
    *,
    rng: int = 0,
    start: Floats | None = None,
    advance: Callable[[float], None] = lambda done: None,
) -> tuple[Floats, Doubles]:
    """Return the leading right singular vectors of B, shape (items, K), and values (K,).

    K is `count`, or fewer if B has fewer rows or columns. `rng`: seed of the initial block.
    `start`: its first columns, vectors of a similar matrix, shape (items, d). One power iteration
    is enough for as many as K.
    """
    m, n = scaled.presence.shape
    wide = min(count + MORE, m, n)
    block = np.random.default_rng(rng).standard_normal((n, wide), np.float32)
    rounds = ROUNDS
    if start is not None:
        known = start[:, :wide]
        block[:, : known.shape[1]] = known
        rounds = WARM_ROUNDS if known.shape[1] >= min(count, wide) else ROUNDS
    for done in range(rounds):
        block = _orthonormal(scaled.over_people(scaled.over_items(block)))
        advance((done + 1) / (rounds + 1))
    block = _orthonormal(block)
    image = scaled.over_items(block)
    squares, turn = eigh((image.T @ image).astype(np.float64))
    order = np.argsort(-squares)[: min(count, wide)]
    return (block @ turn[:, order].astype(np.float32)), np.sqrt(np.maximum(squares[order], 0))


def _orthonormal(block: Floats) -> Floats:
    """Return an orthonormal basis of the block's columns, also where they are dependent."""
    return np.ascontiguousarray(qr(block, mode="economic", check_finite=False)[0])


def _scaled(x: Floats, factor: Doubles) -> Floats:
    return x * factor.astype(np.float32)[:, None]
