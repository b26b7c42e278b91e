"""Co-occurrence counts of item pairs: unbiased second moments of presence.

    G_ij = sum_u C_ui C_uj  (i != j),    G_ii = sum_u C_ui

Slots are randomized independently, so E[C_ui C_uj] = A_ui A_uj for two of them. On the diagonal A =
A^2 makes the count itself unbiased. Where K of n slots of a user are sampled without replacement,
two of them are sampled together slightly less often than independent ones:

    E[asked_i asked_j] = (K / n)^2 b,    b = n (K - 1) / (K (n - 1)),

and G is divided by b. Where items are queried in blocks that not every user has answered, this is
done per pair of blocks (`exact_block_factors`).

Sums of C_ui C_uj over users, block by block of items, from pair counts.

With R_ui whether slot (u, i) was reported and A_ui whether it was queried, for users whose channels
are of one kind,

    sum_u C_ui C_uj = gain^2 (R'R - q (R'A + A'R) + q^2 A'A)_ij,    C = gain (R - q A)

and the products are counts, so results are identical in any order of summation.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.engine import Engine, cut
from tacit.engines.side_rows import SideRows, of_matrix
from tacit.engines.tables import Tables
from tacit.errors import RequestError
from tacit.models.evidence.presence_matrix import PresenceMatrix

Doubles = NDArray[np.float64]
BLOCK_BYTES = 64 << 20
"""Bytes of dense user rows at a time."""
SPARSE = 0.05
"""Density below which a sparse product is faster."""


class ItemRange(NamedTuple):
    """A block: items `first` to `end`."""

    first: int
    end: int


class Kind(NamedTuple):
    """Users whose channels have this gain and P(reported | not rated).

    `reported`: reported slots. `asked`: queried slots, None for all.
    """

    reported: SideRows
    asked: SideRows | None
    gain: float
    unrated: float


class Everybody(NamedTuple):
    """All users, by kind. `items`: number of items."""

    items: int
    kinds: tuple[Kind, ...]


class PairSums(NamedTuple):
    """Sums for pairs of an item of the block and any item, shape (items of the block, items)."""

    of_pairs: Doubles


def pair_sums(presence: PresenceMatrix, engine: Engine, tables: Tables) -> Doubles:
    """Return sum_u C_ui C_uj, shape (items, items)."""
    n = presence.shape[1]
    blocks = [ItemRange(part.start, part.stop) for part in cut(n, engine.blocks)]
    everybody = Everybody(n, _kinds(presence, tables))
    return np.vstack([each.of_pairs for each in engine.over(sum_pairs, blocks, everybody)])


def sum_pairs(block: ItemRange, everybody: Everybody) -> PairSums:
    """Return the sums of the block's items."""
    items = slice(block.first, block.end)
    total = np.zeros((block.end - block.first, everybody.items))
    for kind in everybody.kinds:
        R = kind.reported.ones(everybody.items, np.float32)
        sums = _counts(R, R, items)
        if kind.unrated:
            sums -= kind.unrated * _queried_pairs(R, kind, items)
        total += kind.gain**2 * sums
    return PairSums(total)


def _queried_pairs(R: csr_array, kind: Kind, items: slice) -> Doubles:
    """Return (R'A + A'R - q A'A)_ij."""
    if kind.asked is None:
        of_item = np.asarray(R.sum(0), np.float64)
        both = of_item[items, None] + of_item
        return both - kind.unrated * R.shape[0]
    A = kind.asked.ones(R.shape[1], np.float32)
    return _counts(R, A, items) + _counts(A, R, items) - kind.unrated * _counts(A, A, items)


def _kinds(presence: PresenceMatrix, tables: Tables) -> tuple[Kind, ...]:
    """Group users by the kind of their channels, each kind in separate tables."""
    pairs = np.stack([presence.gain, presence.unrated], 1)
    kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
    return tuple(
        Kind(*_slots(presence.where(kind == number), f"kind-{number}", tables), gain, unrated)
        for number, (gain, unrated) in enumerate(kinds.tolist())
    )


def _slots(some: PresenceMatrix, name: str, tables: Tables) -> tuple[SideRows, SideRows | None]:
    """Return the reported and the queried slots of these users."""
    (reported,) = of_matrix(f"{name}-reported", some.reported, 1, tables)
    if some.asked is None:
        return reported, None
    (queried,) = of_matrix(f"{name}-asked", some.asked, 1, tables)
    return reported, queried


def _counts(left: csr_array, right: csr_array, items: slice) -> Doubles:
    """Return left' right for some items of `left`, shape (items of the slice, items)."""
    m, n = right.shape
    left = csr_array(left[:, items])
    if right.nnz < SPARSE * m * n:
        return (left.T @ right).toarray().astype(np.float64)
    counts = np.zeros((left.shape[1], n))
    size = max(1, BLOCK_BYTES // (4 * n))
    for first in range(0, m, size):
        some = slice(first, first + size)
        counts += left[some].toarray().T @ right[some].toarray()
    return counts


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """Second moments.

    `gram`: G, shape (items, items). `edge`: 2 s sqrt(n) for entries with noise of deviation s,
    above which few eigenvalues are noise; 0 without noise. `people`: number of users. `variance`:
    sum over users of Var[C] at an empty slot.
    """

    gram: Doubles
    edge: float
    people: int
    variance: float

    def __add__(self, other: "CoOccurrence") -> "CoOccurrence":
        """Combine two disjoint sets of users, whose noise is independent."""
        return CoOccurrence(
            self.gram + other.gram,
            float(np.hypot(self.edge, other.edge)),
            self.people + other.people,
            self.variance + other.variance,
        )

    def __sub__(self, some: "CoOccurrence") -> "CoOccurrence":
        """Remove some of the users."""
        return CoOccurrence(
            self.gram - some.gram,
            float(np.sqrt(max(self.edge**2 - some.edge**2, 0.0))),
            self.people - some.people,
            self.variance - some.variance,
        )

    @property
    def counts(self) -> Doubles:
        """Users per item, shape (items,)."""
        return np.diag(self.gram)

    @property
    def spectral_edge(self) -> float:
        """v (2 sqrt(m n) + n): the largest eigenvalue of noise summed over m users.

        Entries share their users, so it exceeds `edge` (Marchenko and Pastur).
        """
        return self.edge * (1 + np.sqrt(len(self.gram) / max(self.people, 1)) / 2)


def co_occurrence(presence: PresenceMatrix, engine: Engine, tables: Tables) -> CoOccurrence:
    """Compute second moments of all users in `presence`, summed on an engine.

    Raises `RequestError` if each user has one queried slot, which carries no information on pairs.
    """
    gram = pair_sums(presence, engine, tables)
    if presence.blocks is None:
        gram /= sampled_together(presence)
    else:
        gram *= block_factors(presence)
    people = presence.shape[0]
    np.fill_diagonal(gram, presence.over_people(np.ones(people)))
    variance = float(presence.variance.sum()) / presence.share
    return CoOccurrence(gram, _edge(presence, gram), people, variance)


def sampled_together(presence: PresenceMatrix) -> float:
    """Return b, the probability of sampling two slots together relative to independent sampling.

    Raises `RequestError` as `co_occurrence`.
    """
    if presence.asked is None:
        return 1.0
    n, queried = presence.shape[1], presence.share * presence.shape[1]
    if queried <= 1:
        raise RequestError(
            "Co-occurrence requires at least two slots per user, but the reports "
            "have one; sample more slots, or choose the popularity model."
        )
    return n * (queried - 1) / (queried * (n - 1)) if n > 1 else 1.0


def block_factors(presence: PresenceMatrix) -> Doubles:
    """Return lift_i lift_j / b_ij, damped, for items in blocks; shape (items, items).

    The factor makes an entry unbiased, and multiplies the variance of its noise by about itself.
    Where it exceeds 1, its root is returned: noise is then as large as `_edge` assumes, and the
    items of a block that few users have answered count as less related than they are. The factor
    is 0 for pairs of which no user was queried about both.

    Raises `RequestError` as `co_occurrence`.
    """
    assert presence.blocks is not None, "the reports have no blocks"
    sampled_together(presence)
    exact = exact_block_factors(presence)
    damped = np.where(exact > 1, np.sqrt(exact), exact)
    return damped[np.ix_(presence.blocks, presence.blocks)]


def exact_block_factors(presence: PresenceMatrix) -> Doubles:
    """Return lift lift' / b for pairs of blocks, shape (blocks, blocks).

    With N_ub queried slots of user u in block b, of n_b, both items of a pair are queried with the
    frequency sum_u N_ub N_uc / (m n_b n_c), or sum_u N_ub (N_ub - 1) / (m n_b (n_b - 1)) within a
    block. The factor is the squared overall fraction over this frequency.
    """
    blocks = np.zeros(presence.shape[1], np.int32) if presence.blocks is None else presence.blocks
    queried, m = presence.queried_of_blocks, presence.shape[0]
    sizes = np.bincount(blocks, minlength=queried.shape[1]).astype(np.float64)
    pairs = queried.T @ queried - np.diag(queried.sum(0))
    possible = m * (np.outer(sizes, sizes) - np.diag(sizes))
    rates = np.divide(pairs, possible, out=np.zeros_like(pairs), where=possible > 0)
    share = np.full_like(rates, presence.share**2)
    return np.divide(share, rates, out=np.zeros_like(rates), where=rates > 0)


def _edge(presence: PresenceMatrix, gram: Doubles) -> float:
    """Return 2 s sqrt(n), s^2 the mean variance of an off-diagonal entry.

    With E[C^2] = v at an empty slot and v + k at a filled one, an entry's variance is sum_u (v_u +
    k_u A_ui) (v_u + k_u A_uj) - A_ui A_uj.
    """
    n, counts = presence.shape[1], np.diag(gram)
    if not presence.noisy:
        return 0.0
    v = presence.variance / presence.share
    p, q = presence.rated, presence.unrated
    filled = (p * (1 - q) ** 2 + (1 - p) * q**2) / ((p - q) ** 2 * presence.share)
    k = filled - v
    both = max(float(gram.sum() - counts.sum()) / max(1, n * (n - 1)), 0.0)
    one = max(float(counts.mean()), 0.0)
    squares = float(v @ v) + 2 * float((v * k).mean()) * one + (float((k * k).mean()) - 1) * both
    return 2 * float(np.sqrt(max(squares, 0.0) * n))
