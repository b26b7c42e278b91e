"""Co-occurrence counts of item pairs: unbiased second moments of presence.

    G_ij = sum_u C_ui C_uj  (i != j),    G_ii = sum_u C_ui

Slots are randomized independently, so E[C_ui C_uj] = A_ui A_uj for two of them. On the diagonal A =
A^2 makes the count itself unbiased. Where K of n slots of a user are sampled without replacement,
two of them are sampled together slightly less often than independent ones:

    E[asked_i asked_j] = (K / n)^2 b,    b = n (K - 1) / (K (n - 1)),

and G is divided by b.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.tables import Tables
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.pair_counts import pair_sums

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """Second moments.

    `gram`: G, shape (items, items). `edge`: 2 s sqrt(n) for entries with noise of deviation s,
    above which few eigenvalues are noise; 0 without noise.
    """

    gram: Doubles
    edge: float

    def __add__(self, other: "CoOccurrence") -> "CoOccurrence":
        """Combine two disjoint sets of users, whose noise is independent."""
        return CoOccurrence(self.gram + other.gram, float(np.hypot(self.edge, other.edge)))


def co_occurrence(presence: PresenceMatrix, engine: Engine, tables: Tables) -> CoOccurrence:
    """Compute second moments of all users in `presence`, summed on an engine.

    Raises `RequestError` if each user has one queried slot, which carries no information on pairs.
    """
    together = _together(presence)
    gram = pair_sums(presence, engine, tables) / together
    counts = presence.over_people(np.ones(presence.shape[0]))
    np.fill_diagonal(gram, counts)
    return CoOccurrence(gram, _edge(presence, gram, counts))


def _together(presence: PresenceMatrix) -> float:
    """Return b, the probability of sampling two slots together relative to independent sampling."""
    if presence.asked is None:
        return 1.0
    n, queried = presence.shape[1], presence.share * presence.shape[1]
    if queried <= 1:
        raise RequestError(
            "Co-occurrence requires at least two slots per user, and the reports have one; "
            "sample more slots, or choose the model popularity."
        )
    return n * (queried - 1) / (queried * (n - 1)) if n > 1 else 1.0


def _edge(presence: PresenceMatrix, gram: Doubles, counts: Doubles) -> float:
    """Return 2 s sqrt(n), s^2 the mean variance of an off-diagonal entry.

    With E[C^2] = v at an empty slot and v + k at a filled one, an entry's variance is sum_u (v_u +
    k_u A_ui) (v_u + k_u A_uj) - A_ui A_uj.
    """
    n = presence.shape[1]
    if not presence.protected and presence.asked is None:
        return 0.0
    v = presence.variance / presence.share
    p, q = presence.rated, presence.unrated
    filled = (p * (1 - q) ** 2 + (1 - p) * q**2) / ((p - q) ** 2 * presence.share)
    k = filled - v
    both = max(float(gram.sum() - counts.sum()) / max(1, n * (n - 1)), 0.0)
    one = max(float(counts.mean()), 0.0)
    squares = float(v @ v) + 2 * float((v * k).mean()) * one + (float((k * k).mean()) - 1) * both
    return 2 * float(np.sqrt(max(squares, 0.0) * n))
