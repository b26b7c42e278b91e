"""The item side of a whole chain in one draw, for devices: posterior means, not their draws.

In draw d a person's factors are N(f W_d, diag(1 / p_d)), so that tastes of items covary by
Q_d diag(1 / p_d) Q_d'. Draws rotate and mirror the factors among themselves; this covariance they
leave alone. Its mean over the chain is nearly of low rank,

    C = mean_d Q_d diag(1 / p_d) Q_d'  =  A A' + rest,     A: the R leading eigenvectors' columns,

and in terms of A everybody's factors have unit variance. What people do beside their ratings says
G = mean_d W_d Q_d' of tastes, in terms of A: the weights W with W A' nearest to G. The mean of the
chain says more of an item than any of its draws, whose noise a device would take for taste.

Draws differ in the weights, too: what people do is said with an uncertainty that all people who do
alike share, and that their own ratings resolve. Over people with features f it adds

    mean_d G_d' F G_d - G' F G,     G_d = W_d Q_d',  F = mean f f'

to C. It is large where reports tell little: without it a device would trust G too much.

A device's own ratings are no news to A where its reports told of them. Joint draws of people and
items know that; a mean does not, and follows own ratings too closely. Variational inference says
how far: were reports the ratings themselves, the precision of the factors would grow by an item's
posterior variance per factor over sigma^2 with each rating. They tell the share `told` of it.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, eigh, solve

from tacit.models.rounded import halved

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
MOST_COLUMNS = 32
"""R. With presence along 40 directions an item's row is 152 bytes then."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CondensedItems:
    """One draw of the item side with R factors, as a `Fitted` has D of them with K.

    `items`: shape (items, 1 + R), bias first. `precision`: shape (1 + R,). `prior_weights`: shape
    (features, 1 + R). `shrinkage`: shape (items,), what a person's own rating of the item adds to
    the precision of their factors.
    """

    mu: float
    items: Floats
    precision: Floats
    prior_weights: Floats
    shrinkage: Floats

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The draw as named arrays."""
        return {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The draw that `to_arrays` wrote."""
        rest = {name: value for name, value in arrays.items() if name != "mu"}
        return cls(mu=float(arrays["mu"]), **rest)


def condensed(
    mu: Doubles,
    items: Floats,
    precision: Floats,
    weights: Floats,
    features: Doubles,
    sigma: float,
    told: float,
) -> CondensedItems:
    """The D draws of a chain in one, with R = min(D K, 32) factors.

    `mu`: shape (D,). `items`: shape (D, items, 1 + K). `precision`: shape (D, 1 + K). `weights`:
    shape (D, features, 1 + K). `features`: F, shape (features, features). `told`: how much of a
    rating's information its report carries, from 0 to 1.
    """
    spread = 1 / np.sqrt(precision[:, 1:].astype(np.float64))
    said = weights[:, :, 1:] / spread[:, None]
    Z, S = _beside(items[:, :, 1:] * spread[:, None]), _with_uncertain_weights(said, features)
    basis = _leading(Z, S)
    A, W = Z @ basis, _beside(said) @ solve(S, basis, assume_a="pos")
    whole = (Z**2).sum(1) + _disagreement(items[:, :, 1:], weights[:, :, 1:], features)
    rest = np.maximum(whole - (A**2).sum(1), 0)
    variance = _variance_of_levels(precision[:, 0], weights[:, :, 0], features)
    bias = items[:, :, 0].mean(0, dtype=np.float64)
    return CondensedItems(
        mu=float(mu.mean()),
        items=np.column_stack([bias, halved(A)]).astype(np.float32),
        precision=np.r_[1 / variance, np.ones(A.shape[1])].astype(np.float32),
        prior_weights=np.column_stack([weights[:, :, 0].mean(0), W]).astype(np.float32),
        shrinkage=(told * rest / spread.shape[1] / sigma**2).astype(np.float32),
    )


def _variance_of_levels(precision: Floats, weights: Floats, features: Doubles) -> float:
    """Of people's own levels about what is expected of them."""
    away = weights - weights.mean(0, dtype=np.float64)
    own = 1 / precision.astype(np.float64)
    return float((own + (away @ features * away).sum(1)).mean())


def _with_uncertain_weights(said: Doubles, features: Doubles) -> Doubles:
    """S, shape (D K, D K), with C = Z S Z' for the draws' factors Z side by side, over sqrt(D).

    G_d' = sqrt(D) Z_d said_d', so that both terms of the uncertainty are products within Z.
    """
    mean = _beside(said)
    each = np.asarray(block_diag(*(one.T @ features @ one for one in said)), np.float64)
    return np.eye(len(each)) + each - mean.T @ features @ mean


def _disagreement(Q: Floats, W: Floats, features: Doubles) -> Doubles:
    """The diagonal of mean_d G_d' F G_d - G' F G, shape (items,), from each draw's Q and W."""
    mean, total = np.einsum("dik,dpk->ip", Q, W, optimize=True) / len(Q), 0.0
    for q, w in zip(Q, W, strict=True):
        away = q @ w.T - mean
        total = total + (away @ features * away).sum(1)
    return np.asarray(total / len(Q), np.float64)


def _beside(draws: Doubles) -> Doubles:
    """Draws of shape (D, rows, K) side by side, (rows, D K), over the root of D."""
    D, rows, K = draws.shape
    return np.asarray(draws.transpose(1, 0, 2).reshape(rows, D * K) / np.sqrt(D), np.float64)


def _leading(Z: Doubles, S: Doubles) -> Doubles:
    """Y with Z Y = A, of Z S Z' the R leading eigenvectors times the roots of their eigenvalues:
    S Z'Z y = lambda y and y' S^-1 y = 1, strongest first, shape (columns, R)."""
    wide = Z.shape[1]
    least = wide - min(wide, MOST_COLUMNS)
    found = eigh(Z.T @ Z, S, type=3, subset_by_index=(least, wide - 1))[1]
    vectors = np.asarray(found, np.float64)[:, ::-1]
    # The solver leaves each vector's sign open; a public rule makes runs agree.
    return vectors * np.where((Z @ vectors).sum(0) < 0, -1.0, 1.0)
