"""Exposure: which items a user is likely to interact with, from presence alone.

A top-N model of presence, for rankings by expected gain:

    gain_uj = s_uj (r_uj - lo) / (hi - lo)   where s_uj > 0,   else s_uj

s_uj: exposure, r_uj: predicted rating, lo and hi the ends of the scale. The models of presence are
EASE and, for large catalogues, the graph filter. Their item weights W are approximated in few
directions, so that devices can download them with the item model:

    V: K leading right singular vectors of X W,    W ~ V sym(V' W V) V',    sym(M) = (M + M') / 2

X: presence where it is public, else the identity. Entries of V are rounded to c(v) times a scale
per direction, c(v) = v |v| for an integer v from -127 to 127 (`tacit.wire.exposure`): relative
errors are then small for rare items too.

Where a channel protects presence, exposure is post-processing of the reports. Where presence is
public, it has no noise: everyone who downloads the model learns statistics of co-ratings.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import identity

from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.baselines import Popularity
from tacit.models.lists.ease import EASE, MOST_ITEMS
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.graph_filter import GraphFilter
from tacit.models.lists.interactions import Interactions, interactions, is_informative, presence_of
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.models.lists.shrinkage import FOLDS
from tacit.ratings import Ratings
from tacit.reports import Reports

Floats = NDArray[np.float32]
DIRECTIONS = 44
"""K: 44 bytes per item, three tenths of the item row of channel-mf."""
LARGEST = 127
ROUNDS, SPARE = 4, 10
"""Subspace iterations, and their columns beyond K."""


def exposure_of(
    data: Ratings | Reports, *, rng: int = 0, warm: FittedLists | None = None
) -> FittedLists | None:
    """Fit exposure to the presence in reports or ratings.

    Parameters
    ----------
    data
        Reports, or ratings, whose presence is used without noise.
    rng
        Seed of held-out users and initial values.
    warm
        Earlier exposure, of fewer reports, whose search is reused (`tacit.models.lists.ease`).

    Returns
    -------
    FittedLists or None
        Its weights have at most `DIRECTIONS` directions, rounded as devices download them. None if
        the reports do not depend on presence.

    Raises
    ------
    RequestError
        For data without rows, and for other types.
    """
    if not is_informative(presence_of(data)):
        return None
    known = interactions(data)
    return compressed(_model(known, warm).fit(known, rng=rng))


def _model(data: Interactions, warm: FittedLists | None) -> EASE | GraphFilter | Popularity:
    people, items = data.presence.shape
    if people < FOLDS or data.presence.share * items <= 1:
        return Popularity()  # without pairs of slots or held-out users
    model = EASE() if items <= MOST_ITEMS else GraphFilter()
    if warm is None or warm.model != model.name:
        return model
    return replace(model, warm=warm)


def compressed(fitted: FittedLists) -> FittedLists:
    """Return the model with its item weights in at most `DIRECTIONS` rounded directions."""
    weights, (people, items) = fitted.weights, fitted.presence.shape
    if min(people, items) <= 1 or not weights.products(_start(items, 1)).any():
        return replace(fitted, weights=ItemWeights(popularity=weights.popularity))
    basis = _basis(weights, fitted.presence)
    middle = basis.T @ weights.products(basis)
    values, turn = eigh((middle + middle.T) / 2)
    directions = _rounded(basis @ turn.astype(np.float32), values.astype(np.float32))
    return replace(
        fitted, weights=ItemWeights(popularity=weights.popularity, directions=directions)
    )


def _basis(weights: ItemWeights, presence: PresenceMatrix) -> Floats:
    """Return V by subspace iteration, shape (items, K)."""
    n = presence.shape[1]
    rows: Any = identity(n, np.float32) if presence.protected else presence.reported
    K = min(DIRECTIONS, *presence.shape)
    vectors = _start(n, min(K + SPARE, *presence.shape))
    for _ in range(ROUNDS):
        scores = rows @ weights.products(vectors)
        vectors = qr(weights.transposed_products(rows.T @ scores), mode="economic")[0]
    scores = rows @ weights.products(vectors)
    turn = np.asarray(eigh(scores.T @ scores)[1], np.float32)[:, ::-1]
    return np.asarray(vectors @ turn[:, :K], np.float32)


def _start(n: int, columns: int) -> Floats:
    """Return fixed columns that lie in no subspace, shape (n, columns)."""
    return np.random.default_rng(0).standard_normal((n, columns), np.float32)


def _rounded(vectors: Floats, spectrum: Floats) -> Directions:
    """Return V diag(spectrum) V' with entries c(v)."""
    scale = np.maximum(np.abs(vectors).max(0), np.finfo(np.float32).tiny)
    steps = np.rint(LARGEST * np.sqrt(np.abs(vectors) / scale))
    even = np.ones(len(vectors), np.float32)
    return Directions(
        vectors=(np.sign(vectors) * steps**2).astype(np.float32),
        spectrum=(spectrum * (scale / LARGEST**2) ** 2).astype(np.float32),
        left=even,
        right=even,
    )


def steps(directions: Directions) -> NDArray[np.int8]:
    """Return the integers v of rounded directions, shape (items, K)."""
    vectors = directions.vectors
    return np.rint(np.sign(vectors) * np.sqrt(np.abs(vectors))).astype(np.int8)
