"""What presence would say of items that nobody rated, told from what everybody knows of them.

Where an item stands among presence directions is most of what a prior has of it, and a table's
features are weighed beside it: a weight says what a genre means *given* how popular its items are.
An item that nobody rated has no presence, so that this weight alone would mislead. Its presence is
expected to be what items described alike have: a ridge regression over those that were rated,

    W = (D' D + ridge)^-1 D' F,

each column's ridge the one of least generalised cross-validation (Golub, Heath and Wahba 1979),
||F - D W||^2 / (n - tr(D (D' D + ridge)^-1 D'))^2.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tacit.models.channel_mf.row_prior import Features

Doubles = NDArray[np.float64]
RIDGES = 10.0 ** np.arange(6)
"""In items: a feature's variance over items is about 1."""


def with_expected_presence(
    features: Doubles, told: NDArray[np.bool_], described: Sequence[Features]
) -> Doubles:
    """Presence features, shape (items, d), with what is expected where an item is not `told` of."""
    if told.all() or not told.any() or not described:
        return features
    table = np.hstack([each.values / np.sqrt(each.order) for each in described])
    weights = _weights(table[told], features[told])
    return np.where(told[:, None], features, table @ weights)


def _weights(D: Doubles, F: Doubles) -> Doubles:
    squares, vectors = eigh(D.T @ D)
    squares = np.maximum(squares, 0)
    turned = vectors.T @ (D.T @ F)
    errors: list[Doubles] = []
    found: list[Doubles] = []
    for ridge in RIDGES:
        weights = vectors @ (turned / (squares + ridge)[:, None])
        left = len(D) - (squares / (squares + ridge)).sum()
        errors.append(((F - D @ weights) ** 2).sum(0) / left**2)
        found.append(weights)
    best = np.argmin(errors, axis=0)
    return np.stack(found)[best, :, np.arange(F.shape[1])].T
