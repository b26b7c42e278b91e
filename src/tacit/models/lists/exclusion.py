"""Exclusion of known items from recommendations, by the data of the recommending party.

A device holds its user's items and a curator those of all users. A provider holds the reports: it
can exclude the reported items if presence is public, and no items if the plan protects presence.
Metrics of lists that exclude more are not attainable by the provider.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError, shown
from tacit.kernels.layout import Side, by_user, starts
from tacit.kernels.ranking.topk import Scorer
from tacit.models.evidence.presence_matrix import PresenceMatrix, cells
from tacit.privacy.guarantee import Guarantee, Unit
from tacit.ratings import Codes, Ratings

Floats = NDArray[np.float32]
UserScorer = Callable[[slice | Codes], Floats]
"""Scores of all items for some users of a model, a slice or codes; shape (users, items)."""
Where = Literal["provider", "curator", "device"]
"""The party that recommends."""
PRESENCE_PUBLIC: tuple[Unit, ...] = ("none", "value")
"""The units under which presence (which items a user rated) is public."""


class Exclusion(NamedTuple):
    """Users with a list and their excluded items.

    `users`: codes, ascending, shape (m,). `items`: excluded items, one row per user.
    """

    users: Codes
    items: Side


def exclusion(items: Side, guarantee: Guarantee, where: Where) -> Exclusion:
    """Return the users with a list and the items to exclude from it.

    `items`: known items, one row for every user of the model: the reported ones for the "provider",
    the true ones elsewhere. Users without any known item get no list. A provider that does not
    observe presence excludes no item and has a list for every user. Raises `RequestError` for
    another `where`.
    """
    _check_where(where)
    if where == "provider" and guarantee.unit not in PRESENCE_PUBLIC:
        users = np.arange(len(items.counts), dtype=np.int32)
        return Exclusion(users, _no_items(len(users)))
    users = np.flatnonzero(items.counts).astype(np.int32)
    return Exclusion(users, Side(starts(items.counts[users]), items.other, items.cell))


def maker_exclusion(
    own_items: Side, presence: PresenceMatrix, guarantee: Guarantee, where: Where
) -> Exclusion:
    """Return the exclusion by own items or, for the provider, by the reports in `presence`."""
    _check_where(where)
    # Under plans that protect presence nothing is excluded, so the reports need not be sorted.
    by_reports = where == "provider" and guarantee.unit in PRESENCE_PUBLIC
    items = reported_items(presence.reported) if by_reports else own_items
    return exclusion(items, guarantee, where)


def _check_where(where: object) -> None:
    if not isinstance(where, str) or where not in get_args(Where):
        known = ", ".join(get_args(Where))
        raise RequestError(f"where must be one of {known}, got {shown(where)}.")


def items_by_user(own: Ratings) -> Side:
    """Return the items of each user in `own`, a row for every user of its vocabulary."""
    return by_user(own.users, own.items, own.n_users, own.n_items)[0]


def reported_items(reported: csr_array) -> Side:
    """Return the items of each user's reports; `reported`: 1 at each, shape (users, items)."""
    rows = reported.sorted_indices()
    cell = np.arange(rows.nnz, dtype=np.int32)
    return Side(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), cell)


def with_reported(excluded: Side, users: Codes, presence: PresenceMatrix) -> Side:
    """Add each user's reported items to the excluded ones, if presence is public.

    `users`: codes, -1 for users without reports; `excluded`: one row for each of them.
    """
    if presence.protected:
        return excluded
    rows = csr_array(presence.reported[np.maximum(users, 0)])
    rows.data = np.repeat(users >= 0, np.diff(rows.indptr)).astype(np.int8)
    rows.eliminate_zeros()
    return reported_items(csr_array(rows + cells(excluded, rows.shape[1])))


def users_of(users: Codes, score: UserScorer) -> Scorer:
    """Return the scorer of these users alone, for slices of them."""
    return lambda some: score(users[some])


def _no_items(users: int) -> Side:
    none: NDArray[np.int32] = np.empty(0, np.int32)
    return Side(np.zeros(users + 1, np.int64), none, none)
