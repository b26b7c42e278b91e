"""Expected presence features of unrated items, predicted from public item metadata.

Presence directions carry most of an item prior's information, and metadata features are weighted
conditionally on them: a weight is the effect of a genre *given* the popularity of its items. An
unrated item has no presence, so this weight alone would mislead. Its presence is predicted from
items with similar metadata by ridge regression over the rated items,

    W = (D' D + ridge)^-1 D' F,

where each column's ridge minimizes generalised cross-validation (Golub, Heath and Wahba 1979), ||F
- D W||^2 / (n - tr(D (D' D + ridge)^-1 D'))^2.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tacit.models.channel_mf.row_prior import Features

Doubles = NDArray[np.float64]
RIDGES = 10.0 ** np.arange(6)
"""Unit: items. A feature's variance over items is about 1."""


def with_expected_presence(
    features: Doubles, observed: NDArray[np.bool_], described: Sequence[Features]
) -> Doubles:
    """Return presence features, shape (items, d), predicted where `observed` is False."""
    if observed.all() or not observed.any() or not described:
        return features
    table = np.hstack([each.values / np.sqrt(each.order) for each in described])
    weights = _weights(table[observed], features[observed])
    return np.where(observed[:, None], features, table @ weights)


def _weights(D: Doubles, F: Doubles) -> Doubles:
    squares, vectors = eigh(D.T @ D)
    squares = np.maximum(squares, 0)
    turned = vectors.T @ (D.T @ F)
    errors: list[Doubles] = []
    solutions: list[Doubles] = []
    for ridge in RIDGES:
        weights = vectors @ (turned / (squares + ridge)[:, None])
        left = len(D) - (squares / (squares + ridge)).sum()
        errors.append(((F - D @ weights) ** 2).sum(0) / left**2)
        solutions.append(weights)
    best = np.argmin(errors, axis=0)
    return np.stack(solutions)[best, :, np.arange(F.shape[1])].T
