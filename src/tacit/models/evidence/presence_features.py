"""Features for the priors from presence alone, without any rating value.

Popular items are liked more, heavy raters are harsher, and users who rate the same items have
similar preferences. Combined with the reports, a report on one item informs the estimates of all
items that the same users rated. Under the plan `rated` the list of rated items is public. Where a
channel protects it, it is estimated from the reports. Either way this is post-processing of the
reports.
"""

from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.kernels.layout import Side
from tacit.models.evidence.presence_matrix import DAMPING, PresenceMatrix
from tacit.models.evidence.presence_spectrum import Spectrum
from tacit.models.rounded import halved

Floats = NDArray[np.float64]
LEAST = 0.05  # least fraction of a feature's variance attributed to signal


@dataclass(frozen=True, eq=False)
class Presence:
    """Features of items, and the map from a user's rated items to the user's features.

    A user with the item set N has the features [(log(1 + |N|) - log_mean) / log_scale, (sum over N
    of vectors_i) / (|N| + 10) - centre], which are computed on the device. `vectors`: shape (items,
    d + k), for d presence directions and k public features. `centre`: shape (d + k,).
    `item_features`: shape (items, 1 + d), presence features of the items.
    """

    vectors: Floats
    centre: Floats
    log_mean: float
    log_scale: float
    item_features: Floats

    @property
    def directions(self) -> int:
        """Number of presence directions, d."""
        return self.item_features.shape[1] - 1

    def people(self, side: Side) -> Floats:
        """Return every user's features from their rated items, shape (users, 1 + d + k).

        A user without ratings has zeros, like the average user.
        """
        counts = side.counts
        cells = (np.ones(len(side.other)), side.other, side.start)
        rated = csr_array(cells, shape=(len(counts), len(self.vectors)))
        return self._features(counts.astype(np.float64), np.asarray(rated @ self.vectors))

    def supposed(self, matrix: PresenceMatrix) -> Floats:
        """Return every user's features as the provider estimates them, shape (users, 1 + d + k).

        Where presence is protected the sums carry noise of known size and are shrunk to the average
        user (posterior mean). Weights learnt on these features then hold for the true ones on a
        device.
        """
        counts = matrix.of_people
        features = self._features(counts, matrix.over_items(self.vectors))
        seen, noise = features[:, 1:], _noise(matrix, self.vectors)
        signal = _signal(seen, noise)
        total = signal + noise  # 0 for a feature that all users share
        features[:, 1:] = seen * (signal / np.where(total > 0, total, 1))
        return features

    def with_means_of(self, values: Floats, matrix: PresenceMatrix) -> Self:
        """Append user features: damped means of public `values` over rated items.

        `values`: shape (items, k). `item_features` are unchanged.
        """
        more, centre = _over_profiles(matrix, values)
        vectors = np.hstack([self.vectors, more])
        return replace(self, vectors=vectors, centre=np.concatenate([self.centre, centre]))

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the features as named arrays."""
        return {name: np.asarray(value, np.float64) for name, value in asdict(self).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Floats]) -> Self:
        """Restore features from `to_arrays`."""
        return cls(
            arrays["vectors"],
            arrays["centre"],
            float(arrays["log_mean"]),
            float(arrays["log_scale"]),
            arrays["item_features"],
        )

    def _features(self, counts: Floats, sums: Floats) -> Floats:
        activity = (np.log1p(counts) - self.log_mean) / self.log_scale
        features = np.column_stack([activity, _means(counts, sums) - self.centre])
        return np.asarray(features * (counts > 0)[:, None], np.float64)


def presence(matrix: PresenceMatrix, spectrum: Spectrum) -> Presence:
    """Return features along the leading directions of the degree-normalised presence matrix.

    With singular triplets (U, s, V) of B = D_u^-1/2 C D_i^-1/2 an item's vector is V / sqrt(s D_i),
    so that a user's mean over rated items is sqrt(s) U / sqrt(D_u): both sides in one space.
    """
    degree = matrix.degrees[1]
    V, s = spectrum.items, spectrum.values
    vectors = V / np.sqrt(s * degree[:, None])
    return _standardised(matrix, vectors, V * np.sqrt(s / degree[:, None]))


def _standardised(matrix: PresenceMatrix, vectors: Floats, directions: Floats) -> Presence:
    activity, popularity = np.log1p(matrix.of_people), np.log1p(matrix.of_items)
    item_features = _standard(np.column_stack([popularity, directions]), matrix.is_observed)
    vectors, centre = _over_profiles(matrix, vectors)
    return Presence(
        vectors=vectors,
        centre=centre,
        log_mean=float(activity.mean()),
        # The deviation of shrunk counts is too small a unit for the true counts on a device.
        log_scale=1.0 if matrix.protected else float(activity.std() + 1e-12),
        item_features=item_features,
    )


def _over_profiles(matrix: PresenceMatrix, vectors: Floats) -> tuple[Floats, Floats]:
    """Return vectors scaled so that users' damped means have variance 1, and the average mean."""
    raw = _means(matrix.of_people, matrix.over_items(vectors))
    spread = np.sqrt(_signal(raw, _noise(matrix, vectors))) + 1e-12
    # Rounded as on the device, so that provider and device compute the same features.
    scaled = halved(vectors / spread)
    return scaled, _single(_means(matrix.of_people, matrix.over_items(scaled)).mean(0))


def _standard(features: Floats, observed: NDArray[np.bool_]) -> Floats:
    """Standardize features over the items where `observed` holds; 0 elsewhere."""
    known = features[observed]
    scaled = (features - known.mean(0)) / (known.std(0) + 1e-12)
    return np.asarray(scaled * observed[:, None], np.float64)


def _means(counts: Floats, sums: Floats) -> Floats:
    """Return damped means of item vectors over each user's rated items, shape (users, d)."""
    return np.asarray(sums / (counts + DAMPING)[:, None], np.float64)


def _noise(matrix: PresenceMatrix, vectors: Floats) -> Floats:
    """Return the variance that protected presence adds to those means, shape (users, d)."""
    slots = matrix.variance / matrix.share / (matrix.of_people + DAMPING) ** 2
    return np.asarray(slots[:, None] * (vectors**2).sum(0), np.float64)


def _signal(seen: Floats, noise: Floats) -> Floats:
    """Return the variance of the means without noise, shape (d,)."""
    total = np.asarray(seen.var(0), np.float64)
    return np.maximum(total - noise.sum(0) / len(noise), LEAST * total)


def _single(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)
