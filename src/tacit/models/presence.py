"""What who-rated-what already says, before any rating: features for the priors.

Under the plan `rated` the list of rated items is public, so learning from it costs no privacy.
Popular items are liked more, heavy raters are harsher, and people who rate the same things like
the same things. None of it says anything without the reports; with them, a report on one item
teaches something about every item that the same people rated.
"""

from dataclasses import asdict, dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

from tacit.kernels.layout import Layout, Side

Floats = NDArray[np.float64]
DAMPING = 10.0  # ratings a profile or an item needs before its direction counts fully


@dataclass(frozen=True, eq=False)
class Presence:
    """Features of items, and the recipe by which a person's own item list becomes hers.

    A person with the item set N has the features
    [(log(1 + |N|) - log_mean) / log_scale, (sum over N of vectors_i) / (|N| + 10) - centre],
    which her device computes at home. `vectors`: shape (items, d); `centre`: shape (d,);
    `item_features`: shape (items, 1 + d), the items' own.
    """

    vectors: Floats
    centre: Floats
    log_mean: float
    log_scale: float
    item_features: Floats

    def people(self, side: Side) -> Floats:
        """Every person's features from her row of items, shape (people, 1 + d).

        A person who rated nothing has zeros: she is the average person.
        """
        counts = side.counts
        cells = (np.ones(len(side.other)), side.other, side.start)
        rated = csr_array(cells, shape=(len(counts), len(self.vectors)))
        sums = np.asarray(rated @ self.vectors)
        activity = (np.log1p(counts) - self.log_mean) / self.log_scale
        features = np.column_stack([activity, sums / (counts + DAMPING)[:, None] - self.centre])
        features[counts == 0] = 0
        return features

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """The features as named arrays."""
        return {name: np.asarray(value, np.float64) for name, value in asdict(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Floats]) -> Self:
        """The features that `to_arrays` wrote."""
        return cls(
            arrays["vectors"],
            arrays["centre"],
            float(arrays["log_mean"]),
            float(arrays["log_scale"]),
            arrays["item_features"],
        )


def presence(cells: Layout, directions: int = 20) -> Presence:
    """Leading directions of the degree-normalised presence matrix, standardised.

    With A the 0/1 matrix of who rated what and D_u, D_i its damped degrees, B = D_u^-1/2 A D_i^-1/2
    has singular triplets (U, s, V). An item's vector is V / sqrt(s D_i), so that a person's mean
    over her items is sqrt(s) U / sqrt(D_u): both sides in one space.
    """
    user_degree = cells.users.counts + DAMPING
    item_degree = cells.items.counts + DAMPING
    shape = (len(user_degree), len(item_degree))
    A = csr_array((np.ones(len(cells.order)), cells.users.other, cells.users.start), shape=shape)
    B = diags_array(user_degree**-0.5) @ A @ diags_array(item_degree**-0.5)
    rank = min(directions, min(shape) - 1)
    _, s, Vt = svds(B, k=rank, v0=np.ones(min(shape)) / np.sqrt(min(shape)))
    real = s > 1e-9 * s.max()
    V, s = Vt[real].T, s[real]
    mirror = np.sign(V.sum(0)) + (V.sum(0) == 0)
    # The solver leaves each direction's sign open; a public rule makes runs agree.
    vectors = V * mirror / np.sqrt(s * item_degree[:, None])
    return _standardised(cells, vectors, V * mirror * np.sqrt(s / item_degree[:, None]))


def _standardised(cells: Layout, vectors: Floats, own: Floats) -> Presence:
    activity, popularity = np.log1p(cells.users.counts), np.log1p(cells.items.counts)
    raw = Presence(vectors, np.zeros_like(vectors[0]), 0.0, 1.0, own).people(cells.users)[:, 1:]
    spread = np.asarray(raw.std(0), np.float64) + 1e-12
    mean = raw.sum(0) / len(raw)
    item_features = np.column_stack([popularity, own])
    return Presence(
        # Rounded to what a device gets, so that provider and device compute the same features.
        vectors=_single(vectors / spread),
        centre=_single(mean / spread),
        log_mean=float(activity.mean()),
        log_scale=float(activity.std() + 1e-12),
        item_features=(item_features - item_features.mean(0)) / (item_features.std(0) + 1e-12),
    )


def _single(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)
