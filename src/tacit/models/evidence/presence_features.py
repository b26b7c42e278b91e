"""What who-rated-what already says, before any rating: features for the priors.

Popular items are liked more, heavy raters are harsher, and people who rate the same things like
the same things. None of it says anything without the reports; with them, a report on one item
teaches something about every item that the same people rated. Under the plan `rated` the list of
rated items is public; where a channel protects it, it is read off the reports as far as they tell.
Either way this is post-processing of what was sent.
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
LEAST = 0.05  # share of a feature's variance that is taken for signal, however large the noise


@dataclass(frozen=True, eq=False)
class Presence:
    """Features of items, and the recipe that turns a person's own item list into features.

    A person with the item set N has the features
    [(log(1 + |N|) - log_mean) / log_scale, (sum over N of vectors_i) / (|N| + 10) - centre],
    which the device computes at home. `vectors`: shape (items, d + k), of d directions of presence
    and k public features; `centre`: shape (d + k,); `item_features`: shape (items, 1 + d), what
    presence says of the items.
    """

    vectors: Floats
    centre: Floats
    log_mean: float
    log_scale: float
    item_features: Floats

    @property
    def directions(self) -> int:
        """d, how many directions of presence there are."""
        return self.item_features.shape[1] - 1

    def people(self, side: Side) -> Floats:
        """Every person's features from their row of items, shape (people, 1 + d + k).

        A person who rated nothing has zeros, like the average person.
        """
        counts = side.counts
        cells = (np.ones(len(side.other)), side.other, side.start)
        rated = csr_array(cells, shape=(len(counts), len(self.vectors)))
        return self._features(counts.astype(np.float64), np.asarray(rated @ self.vectors))

    def supposed(self, matrix: PresenceMatrix) -> Floats:
        """Every person's features as far as a provider can tell, shape (people, 1 + d + k).

        Where presence is protected the sums carry noise of known size: they are drawn to the
        average person by it (a posterior mean), so that weights learnt on these features hold for
        the true ones, which a device knows.
        """
        counts = matrix.of_people
        features = self._features(counts, matrix.over_items(self.vectors))
        seen, noise = features[:, 1:], _noise(matrix, self.vectors)
        features[:, 1:] = seen * (_signal(seen, noise) / (_signal(seen, noise) + noise))
        return features

    def with_means_of(self, values: Floats, matrix: PresenceMatrix) -> Self:
        """The recipe with features of people further on: damped means of public `values`, shape
        (items, k), over what they rated; their `item_features` stay as they are."""
        more, centre = _over_profiles(matrix, values)
        vectors = np.hstack([self.vectors, more])
        return replace(self, vectors=vectors, centre=np.concatenate([self.centre, centre]))

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

    def _features(self, counts: Floats, sums: Floats) -> Floats:
        activity = (np.log1p(counts) - self.log_mean) / self.log_scale
        features = np.column_stack([activity, _means(counts, sums) - self.centre])
        return np.asarray(features * (counts > 0)[:, None], np.float64)


def presence(matrix: PresenceMatrix, spectrum: Spectrum) -> Presence:
    """Features along the leading directions of the degree-normalised presence matrix.

    With singular triplets (U, s, V) of B = D_u^-1/2 C D_i^-1/2 an item's vector is V / sqrt(s D_i),
    so that a person's mean over their items is sqrt(s) U / sqrt(D_u): both sides in one space.
    """
    degree = matrix.degrees[1]
    V, s = spectrum.items, spectrum.values
    vectors = V / np.sqrt(s * degree[:, None])
    return _standardised(matrix, vectors, V * np.sqrt(s / degree[:, None]))


def _standardised(matrix: PresenceMatrix, vectors: Floats, own: Floats) -> Presence:
    activity, popularity = np.log1p(matrix.of_people), np.log1p(matrix.of_items)
    item_features = _standard(np.column_stack([popularity, own]), matrix.told_of)
    vectors, centre = _over_profiles(matrix, vectors)
    return Presence(
        vectors=vectors,
        centre=centre,
        log_mean=float(activity.mean()),
        # A spread seen through noise is too small a yardstick for the true counts a device has.
        log_scale=1.0 if matrix.protected else float(activity.std() + 1e-12),
        item_features=item_features,
    )


def _over_profiles(matrix: PresenceMatrix, vectors: Floats) -> tuple[Floats, Floats]:
    """The vectors, scaled so that their damped means over people's items have the variance 1, and
    the average of these means."""
    raw = _means(matrix.of_people, matrix.over_items(vectors))
    spread = np.sqrt(_signal(raw, _noise(matrix, vectors))) + 1e-12
    # Rounded to what a device gets, so that provider and device compute the same features.
    scaled = halved(vectors / spread)
    return scaled, _single(_means(matrix.of_people, matrix.over_items(scaled)).mean(0))


def _standard(features: Floats, told: NDArray[np.bool_]) -> Floats:
    """Features of mean 0 and variance 1 over the items `told` of, and 0 elsewhere."""
    known = features[told]
    scaled = (features - known.mean(0)) / (known.std(0) + 1e-12)
    return np.asarray(scaled * told[:, None], np.float64)


def _means(counts: Floats, sums: Floats) -> Floats:
    """Damped means of item vectors over what each person rated, shape (people, d)."""
    return np.asarray(sums / (counts + DAMPING)[:, None], np.float64)


def _noise(matrix: PresenceMatrix, vectors: Floats) -> Floats:
    """Variance that protected presence adds to those means, shape (people, d)."""
    slots = matrix.variance / matrix.share / (matrix.of_people + DAMPING) ** 2
    return np.asarray(slots[:, None] * (vectors**2).sum(0), np.float64)


def _signal(seen: Floats, noise: Floats) -> Floats:
    """Variance of the means themselves, shape (d,): what was seen less the noise."""
    total = np.asarray(seen.var(0), np.float64)
    return np.maximum(total - noise.sum(0) / len(noise), LEAST * total)


def _single(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)
