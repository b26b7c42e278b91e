"""How often two items belong to the same person: second moments of presence, unbiased.

    G_ij = sum_u C_ui C_uj  (i != j),    G_ii = sum_u C_ui

Slots are drawn independently, so E[C_ui C_uj] = A_ui A_uj for two of them; on the diagonal A = A^2
makes the count itself unbiased. Where K of n slots of a person are asked about, without
replacement, two of them are asked together a little less often than if each were asked alone:

    E[asked_i asked_j] = (K / n)^2 b,    b = n (K - 1) / (K (n - 1)),

and G is divided by b.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
BLOCK_BYTES = 64 << 20
"""Of people's rows laid out at a time."""


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """`gram`: G, shape (items, items). `edge`: 2 s sqrt(n) for entries with noise of size s,
    beyond which few directions are noise; 0 where there is none."""

    gram: Doubles
    edge: float

    def __add__(self, other: "CoOccurrence") -> "CoOccurrence":
        """Of both sets of people; their noise is independent."""
        return CoOccurrence(self.gram + other.gram, float(np.hypot(self.edge, other.edge)))


def co_occurrence(presence: PresenceMatrix) -> CoOccurrence:
    """Second moments of all the people in `presence`.

    Raises `RequestError` where one slot a person was asked about: nothing is known of pairs.
    """
    m, n = presence.shape
    together = _together(presence)
    gram = np.zeros((n, n), np.float32)
    for rows in dense_rows(presence):
        gram += rows.T @ rows
    found = gram.astype(np.float64) / together
    counts = presence.over_people(np.ones(m))
    np.fill_diagonal(found, counts)
    return CoOccurrence(found, _edge(presence, found, counts))


def dense_rows(presence: PresenceMatrix) -> Iterator[Floats]:
    """C laid out, in blocks of people, each of shape (people of the block, items)."""
    m, n = presence.shape
    size = max(1, BLOCK_BYTES // (4 * n))
    up = presence.gain.astype(np.float32)
    down = (presence.gain * presence.unrated).astype(np.float32)
    for first in range(0, m, size):
        some = slice(first, first + size)
        rows = _dense(presence.reported[some]) * up[some, None]
        asked = 1.0 if presence.asked is None else _dense(presence.asked[some])
        yield np.asarray(rows - asked * down[some, None], np.float32)


def _dense(rows: csr_array) -> Floats:
    return rows.astype(np.float32).toarray()


def _together(presence: PresenceMatrix) -> float:
    """b: how much less often two slots are asked together than their shares say."""
    if presence.asked is None:
        return 1.0
    n, asked = presence.shape[1], presence.share * presence.shape[1]
    if asked <= 1:
        raise RequestError(
            "One slot a person was asked about, and two are needed to see what goes together; "
            "ask about more slots, or choose the model popularity."
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
