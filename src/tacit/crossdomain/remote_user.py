"""remote-user (Berkovsky, Kuflik and Ricci 2007): neighbours found in the sources, asked about the
target.

    t(A, B) = sum over source items of both (r_Ai - m_i)(r_Bi - m_i) / (|A| |B|)
    r_Ai    = own_A + sum over B of t(A, B) (r_Bi - own_B) / sum over B of t(A, B)

m is the mean of an item, |.| the norm over all of a person's source ratings, own her mean over all
that is known of her. Neighbours are the k people of highest t, above 0, among those who rated
anything in the target, ties to the lower code; B runs over those of them who rated i. Where nobody
did, the item's mean is told.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.crossdomain.engine import Engine, cut
from tacit.crossdomain.item_means import item_means
from tacit.crossdomain.trial import Doubles, Predicted, Told, Trial
from tacit.errors import RequestError
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.ratings import Codes, Mask

AT_ONCE = 256  # people whose similarities to everybody are in memory


@dataclass(frozen=True, kw_only=True)
class RemoteUser:
    """`k`: neighbours. Raises `RequestError` for fewer than one."""

    k: int = 50

    name = "remote-user"
    variant = "user"
    mode = "none"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise RequestError(f"{self.k} neighbours tell nothing; give 1 or more.")

    def tell(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> Told:
        """As `System.tell`."""
        del epsilon  # neighbours' ratings are read as they are: nothing is promised
        means = item_means(trial.domains)
        order = np.argsort(trial.users, kind="stable")
        users, items = trial.users[order], trial.items[order]
        ends = _ends(users)
        blocks = [
            Asked(
                users[ends[part.start] : ends[part.stop]], items[ends[part.start] : ends[part.stop]]
            )
            for part in cut(len(ends) - 1, engine.blocks)
        ]
        found = engine.over(told, blocks, _everybody(trial, means, self.k))
        covered = np.concatenate([part.covered for part in found])
        values = np.concatenate([part.values for part in found])
        back = np.argsort(order, kind="stable")
        values = np.where(covered, values, means[items])
        return Told(Predicted(values[back], covered[back]), NO_PRIVACY)


class Asked(NamedTuple):
    """Cells of a block of people, ascending by person; shape (n,)."""

    users: Codes
    items: Codes


class Rows(NamedTuple):
    """A matrix (people, items) as compressed sparse rows."""

    data: Doubles
    items: NDArray[np.int32]
    start: NDArray[np.int64]
    columns: int

    def matrix(self) -> "sparse.csr_array[np.float64]":
        """The same for scipy."""
        shape = (len(self.start) - 1, self.columns)
        return sparse.csr_array((self.data, self.items, self.start), shape=shape, dtype=np.float64)


class Everybody(NamedTuple):
    """`source`: ratings less the item's mean, a person's norm 1. `target`: ratings less the
    person's mean `own`, shape (people,)."""

    source: Rows
    target: Rows
    own: Doubles
    k: int


def told(block: Asked, shared: Everybody) -> Predicted:
    """The block's cells, a few people at a time; what is not covered is 0."""
    ends = _ends(block.users)
    firsts = [*range(0, len(ends) - 1, AT_ONCE), len(ends) - 1]
    cells = [slice(ends[first], ends[last]) for first, last in pairwise(firsts)]
    parts = [_told(Asked(block.users[some], block.items[some]), shared) for some in cells]
    values, covered = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Predicted(values, covered)


def _told(asked: Asked, shared: Everybody) -> Predicted:
    people, rows = np.unique(asked.users, return_inverse=True)
    source, target = shared.source.matrix(), shared.target.matrix()
    similar = (source[people] @ source.T).toarray()
    similar[:, np.diff(shared.target.start) == 0] = 0
    similar[np.arange(len(people)), people] = 0
    weights = sparse.csr_array(nearest(similar, shared.k))
    ones = shared.target._replace(data=np.ones(len(shared.target.data))).matrix()
    sums = (weights @ target).toarray()[rows, asked.items]
    mass = (weights @ ones).toarray()[rows, asked.items]
    covered = mass > 0
    values = shared.own[asked.users] + sums / np.where(covered, mass, 1)
    return Predicted(np.where(covered, values, 0), covered)


def nearest(similar: Doubles, k: int) -> Doubles:
    """The k largest of each row where they are above 0, zeros elsewhere; ties to lower columns."""
    order = np.argsort(-similar, axis=1, kind="stable")[:, :k]
    kept = np.zeros_like(similar)
    best = np.take_along_axis(similar, order, axis=1)
    np.put_along_axis(kept, order, np.maximum(best, 0), axis=1)
    return kept


def _everybody(trial: Trial, means: Doubles, k: int) -> Everybody:
    ratings, values = trial.domains.ratings, trial.domains.ratings.values.astype(np.float64)
    users, count = ratings.users, ratings.n_users
    own = np.bincount(users, values, count) / np.maximum(np.bincount(users, minlength=count), 1)
    around = values - means[ratings.items]
    around[trial.in_target] = 0
    norms = np.sqrt(np.bincount(users, around**2, count))
    normed = around / np.where(norms > 0, norms, 1)[users]
    source = _rows(trial, normed, ~trial.in_target)
    return Everybody(source, _rows(trial, values - own[users], trial.in_target), own, k)


def _rows(trial: Trial, values: Doubles, mask: Mask) -> Rows:
    ratings = trial.domains.ratings
    users, items = ratings.users[mask], ratings.items[mask]
    order = np.lexsort((items, users))
    start = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=ratings.n_users))])
    return Rows(values[mask][order], items[order], start.astype(np.int64), ratings.n_items)


def _ends(users: Codes) -> NDArray[np.int64]:
    """Where each person's run begins among ascending `users`, and where the last one ends."""
    changes = np.flatnonzero(users[1:] != users[:-1]) + 1
    return np.concatenate([[0], changes, [len(users)]]).astype(np.int64)
