"""Distil the item side of all posterior draws into one draw, for devices.

In draw d a user's factors are N(f W_d, diag(1 / p_d)), so that preferences for items have the
covariance Q_d diag(1 / p_d) Q_d'. Draws rotate and mirror the factors; this covariance is
invariant. Its mean over the chain is nearly of low rank,

    C = mean_d Q_d diag(1 / p_d) Q_d'  =  A A' + rest,     A: the R leading eigenvectors' columns,

and in terms of A every user's factors have unit variance. Presence predicts preferences by G =
mean_d W_d Q_d', in terms of A by the weights W with W A' nearest to G. The mean over the chain is
more accurate than any single draw, whose noise a device would fit as preference.

Draws differ in the weights, too. Users with equal presence share this uncertainty, and their own
ratings resolve it. Over users with features f it adds

    mean_d G_d' F G_d - G' F G,     G_d = W_d Q_d',  F = mean f f'

to C. It is large where reports carry little information: without it a device would trust G too
much.

Where the reports already contain a user's ratings, the ratings add no new information to A. Joint
draws of users and items account for that; a mean does not, and overfits the user's own ratings.
Variational inference gives the correction: if reports were the ratings, each rating would add an
item's posterior variance per factor over sigma^2 to the precision of the factors. Reports carry the
fraction `information_fraction` of it.
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
"""R. With 40 presence directions an item's row is 152 bytes then."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CondensedItems:
    """One distilled draw of the item side with R factors; `Fitted` has D draws with K factors.

    `items`: shape (items, 1 + R), bias first. `precision`: shape (1 + R,). `prior_weights`: shape
    (features, 1 + R). `shrinkage`: shape (items,), added to the precision of a user's factors for
    each rated item.
    """

    mu: float
    items: Floats
    precision: Floats
    prior_weights: Floats
    shrinkage: Floats

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the draw as named arrays."""
        return {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore a draw from `to_arrays`."""
        rest = {name: value for name, value in arrays.items() if name != "mu"}
        return cls(mu=float(arrays["mu"]), **rest)


def condensed(
    mu: Doubles,
    items: Floats,
    precision: Floats,
    weights: Floats,
    features: Doubles,
    sigma: float,
    information_fraction: float,
) -> CondensedItems:
    """Distil the D draws of a chain into one with R = min(D K, 32) factors.

    `mu`: shape (D,). `items`: shape (D, items, 1 + K). `precision`: shape (D, 1 + K). `weights`:
    shape (D, features, 1 + K). `features`: F, shape (features, features).
    `information_fraction`: the share of a rating's information in its report, 0 to 1.
    """
    spread = 1 / np.sqrt(precision[:, 1:].astype(np.float64))
    scaled = weights[:, :, 1:] / spread[:, None]
    Z, S = (
        _concatenated(items[:, :, 1:] * spread[:, None]),
        _with_uncertain_weights(scaled, features),
    )
    basis = _leading(Z, S)
    A, W = Z @ basis, _concatenated(scaled) @ solve(S, basis, assume_a="pos")
    total = (Z**2).sum(1) + _disagreement(items[:, :, 1:], weights[:, :, 1:], features)
    rest = np.maximum(total - (A**2).sum(1), 0)
    variance = _variance_of_levels(precision[:, 0], weights[:, :, 0], features)
    bias = items[:, :, 0].mean(0, dtype=np.float64)
    return CondensedItems(
        mu=float(mu.mean()),
        items=np.column_stack([bias, halved(A)]).astype(np.float32),
        precision=np.r_[1 / variance, np.ones(A.shape[1])].astype(np.float32),
        prior_weights=np.column_stack([weights[:, :, 0].mean(0), W]).astype(np.float32),
        shrinkage=(information_fraction * rest / spread.shape[1] / sigma**2).astype(np.float32),
    )


def _variance_of_levels(precision: Floats, weights: Floats, features: Doubles) -> float:
    """Return the variance of user biases around their expectation."""
    away = weights - weights.mean(0, dtype=np.float64)
    residual = 1 / precision.astype(np.float64)
    return float((residual + (away @ features * away).sum(1)).mean())


def _with_uncertain_weights(scaled: Doubles, features: Doubles) -> Doubles:
    """Return S, shape (D K, D K), with C = Z S Z' for the concatenated factors Z over sqrt(D).

    G_d' = sqrt(D) Z_d said_d', so both terms of the uncertainty are products within Z.
    """
    mean = _concatenated(scaled)
    each = np.asarray(block_diag(*(one.T @ features @ one for one in scaled)), np.float64)
    return np.eye(len(each)) + each - mean.T @ features @ mean


def _disagreement(Q: Floats, W: Floats, features: Doubles) -> Doubles:
    """Return the diagonal of mean_d G_d' F G_d - G' F G, shape (items,).

    `Q`, `W`: of each draw.
    """
    mean, total = np.einsum("dik,dpk->ip", Q, W, optimize=True) / len(Q), 0.0
    for q, w in zip(Q, W, strict=True):
        away = q @ w.T - mean
        total = total + (away @ features * away).sum(1)
    return np.asarray(total / len(Q), np.float64)


def _concatenated(draws: Doubles) -> Doubles:
    """Concatenate draws of shape (D, rows, K) to (rows, D K), over sqrt(D)."""
    D, rows, K = draws.shape
    return np.asarray(draws.transpose(1, 0, 2).reshape(rows, D * K) / np.sqrt(D), np.float64)


def _leading(Z: Doubles, S: Doubles) -> Doubles:
    """Return Y, shape (columns, R), with Z Y = A: the R leading eigenvectors of Z S Z', scaled.

    A's columns are scaled by the roots of their eigenvalues, in decreasing order; Y solves S Z'Z y
    = lambda y with y' S^-1 y = 1.
    """
    wide = Z.shape[1]
    least = wide - min(wide, MOST_COLUMNS)
    solution = eigh(Z.T @ Z, S, type=3, subset_by_index=(least, wide - 1))[1]
    vectors = np.asarray(solution, np.float64)[:, ::-1]
    # The solver leaves each vector's sign open; a fixed rule makes runs reproducible.
    return vectors * np.where((Z @ vectors).sum(0) < 0, -1.0, 1.0)
