"""How often two items belong to the same person: second moments of presence, unbiased.

    G_ij = sum_u C_ui C_uj  (i != j),    G_ii = sum_u C_ui

Slots are drawn independently, so E[C_ui C_uj] = A_ui A_uj for two of them; on the diagonal A = A^2
makes the count itself unbiased. Where K of n slots of a person are asked about, without
replacement, two of them are asked together a little less often than if each were asked alone:

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
    """`gram`: G, shape (items, items). `edge`: 2 s sqrt(n) for entries with noise of size s,
    beyond which few directions are noise; 0 where there is none."""

    gram: Doubles
    edge: float

    def __add__(self, other: "CoOccurrence") -> "CoOccurrence":
        """Of both sets of people; their noise is independent."""
        return CoOccurrence(self.gram + other.gram, float(np.hypot(self.edge, other.edge)))


def co_occurrence(presence: PresenceMatrix, engine: Engine, tables: Tables) -> CoOccurrence:
    """Second moments of all the people in `presence`, summed on an engine.

    Raises `RequestError` where one slot a person was asked about: nothing is known of pairs.
    """
    together = _together(presence)
    found = pair_sums(presence, engine, tables) / together
    counts = presence.over_people(np.ones(presence.shape[0]))
    np.fill_diagonal(found, counts)
    return CoOccurrence(found, _edge(presence, found, counts))


def _together(presence: PresenceMatrix) -> float:
    """b: how much less often two slots are asked together than their shares say."""
    if presence.asked is None:
        return 1.0
    n, asked = presence.shape[1], presence.share * presence.shape[1]
    if asked <= 1:
        raise RequestError(
            "Co-occurrence requires at least two slots per user, but the reports "
            "have one; sample more slots, or choose the model popularity."
        )
    return n * (asked - 1) / (asked * (n - 1)) if n > 1 else 1.0


def _edge(presence: PresenceMatrix, gram: Doubles, counts: Doubles) -> float:
    """2 s sqrt(n), s^2 the mean variance of an entry off the diagonal.

    With E[C^2] = v at a slot that is empty and v + k at one that is not, an entry's variance is
    sum_u (v_u + k_u A_ui) (v_u + k_u A_uj) - A_ui A_uj.
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
